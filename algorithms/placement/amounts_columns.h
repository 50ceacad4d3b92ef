/* placement/amounts_columns.h - names of amounts in requirements and ranks.
 *
 * cpus_total, cpus_free_now, memory_total_bytes, memory_free_now_bytes,
 * disk_free_now_bytes, capacity.NAME, free_now.NAME. Free now is what running jobs,
 * reservations that have begun and used slots leave of it. They hide attributes of the
 * same name where the resource says the amount.
 *
 * Source: world-model.md 2.1.
 */
#ifndef GRIDPLAN_PLACEMENT_AMOUNTS_COLUMNS_H
#define GRIDPLAN_PLACEMENT_AMOUNTS_COLUMNS_H

#include "algorithms/placement/problem.h"
#include "models/expr.h"

/* Fills the values by position, where there are some; false: it is no such name. `name`
 * as written. O(m + rows of what is taken). */
bool amounts_column(const struct placement_problem *p, const char *name,
                    struct expr_value *values);

#endif

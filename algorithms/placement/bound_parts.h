/* placement/bound_parts.h - what the parts of the lower bound share. */
#ifndef GRIDPLAN_PLACEMENT_BOUND_PARTS_H
#define GRIDPLAN_PLACEMENT_BOUND_PARTS_H

#include "algorithms/placement/plan.h"
#include "algorithms/placement/ticks.h"

enum {
    ROWS_MAX = 1 << 22, /* numbers of a matrix that is copied */
    CLASSES_MAX = 64,   /* with more, all resources are one column */
};

/* Slots that count, and the sum of min(time until free, bound) over them. More free
 * slots than jobs cannot all be used. */
void bound_slots(const struct placement_plan *plan, size_t pos, double bound_s,
                 double *slots, double *wait_s);

/* The classes that may use a resource, a bit each; 1 beyond CLASSES_MAX classes. */
uint64_t bound_classes(const struct placement_problem *p, size_t pos);

bool bound_is_member(uint64_t members, size_t class_index);

/* Raises *bound_s to the bound that cpus and memory give, if they are short. */
enum error_code bound_of_needs(struct placement_plan *plan, double *bound_s,
                               struct ticks *ticks);

#endif

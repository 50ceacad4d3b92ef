/* placement/due_order.h - priorities and deadlines where they cost nothing.
 *
 * Jobs that run on a slot one right behind the other may change places without any other
 * job, or the makespan, seeing it: those with the larger fixed priority come first, then
 * those with the earlier deadline.
 */
#ifndef GRIDPLAN_PLACEMENT_DUE_ORDER_H
#define GRIDPLAN_PLACEMENT_DUE_ORDER_H

#include "algorithms/placement/plan.h"

/* Brings the plan's jobs into that order. O(n log n), nothing where no job has a deadline
 * or a priority. */
void due_order(struct placement_plan *plan);

#endif

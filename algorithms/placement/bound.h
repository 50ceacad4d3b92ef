/* placement/bound.h - what no plan of these jobs can beat. */
#ifndef GRIDPLAN_PLACEMENT_BOUND_H
#define GRIDPLAN_PLACEMENT_BOUND_H

#include "algorithms/placement/plan.h"

/* Fills plan->bounds: lower bounds of the makespan of the placed jobs, in seconds; once.
 * When the time is up it looks at no more than a few jobs. */
enum error_code bound_of(struct placement_plan *plan, struct error *err);

#endif

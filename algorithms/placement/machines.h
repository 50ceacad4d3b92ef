/* placement/machines.h - a request as jobs on machines, for the makespan kernel. */
#ifndef GRIDPLAN_PLACEMENT_MACHINES_H
#define GRIDPLAN_PLACEMENT_MACHINES_H

#include "algorithms/placement/plan.h"

/* Completion times follow from the assignment of jobs to slots alone (no files, no
 * outputs, no release times, no limited cpus or memory), and the matrix of jobs and
 * slots has at most a few million entries. */
bool machines_apply(const struct placement_problem *p);

/* Searches from the plan `start` (makespan.h) and leaves the best plan found in *plan,
 * with its bound, steps and whether the time cut it. `steps` 0: as the clock says, or
 * MAKESPAN_STEPS without one. */
enum error_code machines_search(struct placement_plan *plan,
                                const struct plan_copy *start, size_t steps,
                                struct error *err);

#endif

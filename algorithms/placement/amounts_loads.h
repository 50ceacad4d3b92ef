/* placement/amounts_loads.h - what a plan of amounts means for each resource. */
#ifndef GRIDPLAN_PLACEMENT_AMOUNTS_LOADS_H
#define GRIDPLAN_PLACEMENT_AMOUNTS_LOADS_H

#include "algorithms/placement/problem.h"
#include "algorithms/world/world.h"

/* Fills out->loads, all but the shares of the makespan, and the slot of each job
 * (UINT64_MAX: none: jobs are not counted there, or it has several nodes, or lasts no
 * time). O(jobs log + slots of jobs). */
void amounts_loads(struct placement_problem *p, const struct world *w,
                   const struct world_plan *plan, uint64_t *slots,
                   struct placement_out *out);

/* The shares, when out->objective.makespan_s is known. */
void amounts_finish_loads(const struct world *w, struct placement_out *out);

#endif

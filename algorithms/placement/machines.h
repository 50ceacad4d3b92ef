/* placement/machines.h - a request as jobs on machines, for the makespan kernel. */
#ifndef GRIDPLAN_PLACEMENT_MACHINES_H
#define GRIDPLAN_PLACEMENT_MACHINES_H

#include "algorithms/placement/plan.h"
#include "algorithms/placement/ticks.h"

/* Completion times follow from the assignment of jobs to slots alone (no files, no
 * outputs, no release times, no limited cpus or memory), and the matrix of jobs and
 * slots has at most a few million entries. */
bool machines_apply(const struct placement_problem *p);

/* The same for bounds: limited cpus and memory only make plans longer, as long as nothing
 * that runs now holds them. */
bool machines_bound_applies(const struct placement_problem *p);

/* Slots that are free at some time; of the free ones of a resource as many as there are
 * jobs. O(m). */
size_t machines_count(const struct placement_problem *p);

/* What a search is asked: see struct makespan_ask. */
struct machines_ask {
    const struct plan_copy *known;
    const struct plan_copy *initial; /* NULL: none */
    enum bound_effort effort;
    bool limited;
    size_t max_steps; /* 0: as the clock says, or MAKESPAN_STEPS without one */
};

/* Searches, and leaves the plan found in *plan, with its bounds, steps and whether the
 * time cut it; *plan stays as it is when there was no time at all. */
enum error_code machines_search(struct placement_plan *plan,
                                const struct machines_ask *ask, struct error *err);

/* Adds the bounds of the kernel to plan->bounds; with elimination if upper_s, the
 * makespan of a plan, is finite. Where machines_bound_applies(). */
enum error_code machines_bound(struct placement_plan *plan, double upper_s,
                               struct ticks *ticks);

#endif

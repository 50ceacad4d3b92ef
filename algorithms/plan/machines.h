/* plan/machines.h - a cluster's machines as the source of a plan's times.
 *
 * t(a,b) is what a policy of algorithms/parallel finds for the sum of the models of
 * the phases a..b; a schedule is a set of machines. A planner asks often, so that the
 * time left is shared out among the questions that may come.
 *
 * Source: spec rescheduling-plans.md 1, 3.1; parallel-scheduling.md 2.
 */
#ifndef GRIDPLAN_PLAN_MACHINES_H
#define GRIDPLAN_PLAN_MACHINES_H

#include "algorithms/parallel/parallel.h"
#include "algorithms/plan/site_plan.h"

struct plan_machines_in {
    const struct parallel_machines *machines; /* may change between questions, in number
                                                 too: call plan_machines_forget() then */
    const double *queue_wait_s;               /* W(P); NULL: no batch site */
    const struct perf_terms *phases;          /* models of phases 1.., on this hardware */
    size_t phase_count;
    size_t min_procs;
    const struct policy *scheduler;
    const double *scheduler_param; /* as policy_bind() fills it */
    const struct policy *fallback; /* when the time for `scheduler` is over;
                                               NULL: none. It has no options */
    double scheduler_share;        /* of the budget, for scheduler: 0..1 */
    bool repeatable;               /* a question may take all of the budget instead:
                                      so its answer does not depend on the clock */
    size_t questions;              /* how many may come, of all clusters */
    uint64_t *asked;               /* how many came, of all clusters */
    bool keeps_answers;            /* for several planners one after the other */
    const char *site_id;
    uint64_t seed;
    struct budget *budget;
    struct arena *scratch; /* emptied after each question; not the one for results */
};

struct plan_machines;

/* A source. What it keeps lives in `a`. */
void plan_machines_create(const struct plan_machines_in *in,
                          struct plan_machines **machines, struct plan_source *source,
                          struct arena *a);

/* Loads have changed: schedules are the same machines as before, their times not. */
void plan_machines_forget(struct plan_machines *m);

/* Adds a schedule, distinct machines by index: the one an application is on. */
void plan_machines_add(struct plan_machines *m, const size_t *members, size_t count,
                       size_t *schedule);

/* The machines of a schedule, ascending. */
const size_t *plan_machines_members(const struct plan_machines *m, size_t schedule,
                                    size_t *count);

#endif

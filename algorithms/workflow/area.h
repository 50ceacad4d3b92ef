/* workflow/area.h - no schedule ends before the processors have done all the work.
 *
 * With weights y(p) >= 0 of sum 1, task i takes at least v(i) = min over p of
 * y(p) w(i,p) of the weighted time of all processors, so a set of tasks takes at least
 * the sum of its v(i). The best weights are the dual of "every task a share of each
 * processor"; some steps of multiplicative weights come near them. A set whose tasks all
 * begin after h and are all followed by t ends at least at h + sum v(i) + t; sets are cut
 * out by thresholds for both. What is blocked counts as work.
 *
 * Source: ours; the dual is that of gridway.md 5.4, the sets Fernandez and Bussell 1973.
 */
#ifndef GRIDPLAN_WORKFLOW_AREA_H
#define GRIDPLAN_WORKFLOW_AREA_H

#include "algorithms/workflow/heads.h"

struct workflow_area {
    double area_s;   /* the bound */
    double *weight;  /* [processor]: y */
    double *share_s; /* [task]: v; 0: has begun, or runs nowhere */
};

/* heads->head_s may be NULL: then all tasks are one set. O(tasks * processors * steps),
 * at most about AREA_WORK_MOST looks at a time beyond the first. The best weights when
 * the time is up count. */
#define AREA_WORK_MOST  1e7
#define AREA_STEPS_MOST 100
void workflow_area_make(const struct workflow_problem *problem,
                        const struct workflow_heads *heads, size_t steps,
                        struct workflow_clock *clock, struct workflow_area *area,
                        struct arena *a);

/* workflow_bound_make(), and what it made it from. Effort `none`: critical path and area,
 * one look at each pair; `fast`: heads and tails, and a few steps for the prices; `full`:
 * many steps. Nothing is rounded up with `none`. */
enum error_code workflow_bound_parts(const struct workflow_problem *problem,
                                     enum bound_effort effort,
                                     struct workflow_clock *clock,
                                     struct workflow_bound *bound,
                                     struct workflow_heads *heads,
                                     struct workflow_area *area, struct arena *a);

#endif

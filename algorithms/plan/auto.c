/* plan/auto.c - cheap planners first, then the optimum, and the best of all.
 *
 * The optimum needs an answer for each interval of phases. When the time ends before,
 * the best plan of the planners that need few is the answer: all share the table of
 * t(a,b), so that what they ask is not asked again. Of plans with the same total the one
 * of fewer moves is the answer, then that of the planner that ran before. With `start`
 * only single_schedule and that planner run before the optimum.
 *
 * Source: spec search.md 9, rescheduling-plans.md 9.
 */
#include "algorithms/plan/plan_run.h"

enum error_code plan_auto(struct plan_run *run, struct error *err)
{
    const char *last = run->in->site_count > 1 ? "mcrp_optimal" : "optimal";
    size_t start = (size_t)run->option[PLAN_START_LIST];

    for (size_t i = 1; plan_start_names[i]; i++)
        if (i == 1 || start == 0 || i == start)
            TRY(plan_compete(run, policy_find(plan_policies, plan_start_names[i]), err));
    TRY(plan_compete(run, policy_find(plan_policies, last), err));
    run->algorithm = run->finder;
    return OK;
}

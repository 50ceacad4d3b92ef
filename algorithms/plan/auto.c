/* plan/auto.c - cheap planners first, then the optimum, and the best of all.
 *
 * The optimum needs an answer for each interval of phases. When the time ends before,
 * the best plan of the planners that need few is the answer: all share the table of
 * t(a,b), so that what they ask is not asked again. Of plans with the same total the one
 * of fewer moves is the answer, then that of the planner that ran before.
 *
 * Source: spec search.md 9, rescheduling-plans.md 9.
 */
#include "algorithms/plan/plan_run.h"

enum error_code plan_auto(struct plan_run *run, struct error *err)
{
    const char *portfolio[] = {
        "single_schedule",
        "incremental",
        "incremental_lookahead",
        "division",
        run->in->site_count > 1 ? "mcrp_optimal" : "optimal",
    };

    for (size_t i = 0; i < sizeof(portfolio) / sizeof(portfolio[0]); i++)
        TRY(plan_compete(run, policy_find(plan_policies, portfolio[i]), err));
    run->algorithm = run->finder;
    return OK;
}

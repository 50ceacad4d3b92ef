/* plan/auto.c - cheap planners first, then the optimum, and the best of all.
 *
 * The optimum needs an answer for each interval of phases. When the time ends before,
 * the best plan of the planners that need few is the answer: all share the table of
 * t(a,b), so that what they ask is not asked again.
 *
 * Source: spec search.md 9, rescheduling-plans.md 9. Deviation: where the optimum was
 * found it is the answer, though a planner of before had the same total; its questions
 * come in its own order.
 */
#include "algorithms/plan/plan_run.h"

enum error_code plan_auto(struct plan_run *run, struct error *err)
{
    static const char *const first[] = {"single_schedule", "incremental",
                                        "incremental_lookahead", "division"};
    const char *last = run->in->site_count > 1 ? "mcrp_optimal" : "optimal";
    struct plan_run found = *run;
    bool cut = run->cut, better;

    found.algorithm = NULL;
    for (size_t i = 0; i < sizeof(first) / sizeof(first[0]); i++) {
        found.cut = cut;
        TRY(plan_compete(&found, policy_find(plan_policies, first[i]), &better, err));
        if (better)
            found.algorithm = first[i];
    }
    TRY(plan_compete(run, policy_find(plan_policies, last), &better, err));
    run->algorithm = last;
    if (found.count > 0 &&
        (run->count == 0 || plan_total_s(found.intervals, found.count) <
                                plan_total_s(run->intervals, run->count))) {
        found.cut = run->cut;
        found.proven = false;
        *run = found;
    }
    return OK;
}

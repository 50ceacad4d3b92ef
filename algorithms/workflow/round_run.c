/* workflow/round_run.c - one round on numbers: the plan of now, step 2, step 3.
 *
 * Source: spec workflows.md 5.2.
 */
#include "algorithms/workflow/round_plan.h"

enum error_code wf_decide(struct wf_plan *plan, const struct policy *policy,
                          enum workflow_round_steps steps)
{
    if ((steps & WORKFLOW_STEP_MOVE) != 0 && policy->flags & WORKFLOW_ROUND_MOVES)
        wf_step_move(plan);
    if ((steps & WORKFLOW_STEP_START) != 0)
        TRY(policy->flags & WORKFLOW_ROUND_FASTEST ? wf_step_fastest(plan)
                                                   : wf_step_start(plan));
    return OK;
}

enum error_code workflow_round_run(const struct workflow_plain *plain,
                                   const struct policy *policy, const double *param,
                                   enum workflow_round_steps steps,
                                   struct workflow_plain_out *out, struct arena *a,
                                   struct error *err)
{
    struct workflow_plain_out found = {0};
    struct wf_plan plan;

    wf_plan_make(plain, param, &plan, &found, a, err);
    TRY(wf_decide(&plan, policy, steps));
    *out = found;
    return OK;
}

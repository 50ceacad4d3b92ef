/* reschedule_workflow.c - reschedules of kind "workflow_round": which running tasks of
 * workflows to move (step 2 of a round), without starting any.
 *
 * Source: spec workflows.md 13.
 */
#include "handlers/rescheduling/reschedule_kinds.h"

#include "handlers/placement/run_times.h"
#include "handlers/workflow/workflow_round_answer.h"

#include <string.h>

struct round_request {
    struct workflow_body body;
    int kind; /* only "workflow_round" */
};

static const struct json_field request_rows[] = {
    JSON_CHOICE(struct round_request, kind, workflow_round_kind, 0, 0,
                "workflow_round: tasks of workflows run; what the algorithms of the "
                "family workflow_round mean"),
    WORKFLOW_GRID_ROWS,
    DECISION_REQUEST_ROWS(struct workflow_body),
    {0},
};
const struct json_object workflow_round_request_json = {
    "WorkflowRoundRequest", "Workflows that run, and the resources that they run on",
    sizeof(struct round_request), request_rows};

enum error_code reschedule_workflow_round(struct request *rq, const void *in, void *out)
{
    const struct round_request *request = in;
    const struct workflow_body *body = &request->body;
    const struct decision_request *decision = &body->decision;
    bool choose = !decision->algorithm || strcmp(decision->algorithm, "auto") == 0;
    const char *name = choose ? WORKFLOW_ROUND_AUTO : decision->algorithm;
    const struct policy *policy = policy_find(workflow_round_policies, name);
    const struct named_value *options = decision->options;
    size_t option_count = decision->option_count;
    struct workflow_round_answer *answer = out;
    struct workflow_call call;
    struct run_times *times;

    TRY(decision_begin(rq, decision, &answer->decision));
    if (!policy)
        decision_unknown_policy(name, workflow_round_policies, rq->err);
    if (choose) {
        answer->because =
            "without an algorithm: " WORKFLOW_ROUND_AUTO ", which moves the longest only";
        workflow_round_auto_options(decision, &options, &option_count, rq->arena);
    }
    TRY(workflow_call_begin(&call, rq, body));
    TRY(workflow_call_models(&call, &times));
    return workflow_round_answer_fill(&call, times, policy, options, option_count,
                                      WORKFLOW_STEP_MOVE, answer);
}

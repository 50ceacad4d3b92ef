/* fault_tolerance_plans.c - POST /v1/fault-tolerance-plans: checkpoints, copies, both. */
#include "handlers/fault_tolerance/routes.h"

#include "algorithms/fault_tolerance/fault_tolerance.h"
#include "handlers/common/snapshot_json.h"
#include "handlers/fault_tolerance/rounds.h"

#define T struct round_request
static const struct json_field request_rows[] = {
    ROUND_REQUEST_ROWS(T),
    JSON_OBJECT(T, checkpoint, const struct round_checkpoint_request *,
                &round_checkpoint_json, JSON_POINTER,
                "How often jobs are checkpointed when they are; then checkpoint_on says "
                "how to begin"),
    JSON_OBJECT(
        T, verify, const struct round_verify *, &round_verify_json,
        JSON_POINTER | JSON_NULLABLE | JSON_OR_BOOLEAN,
        "joint, expected_time: play the answered copies event by event and say so "
        "in choices[].verified: true, or an object with trial_count and seed"),
    {0},
};
#undef T
const struct json_object fault_tolerance_plans_request_json = {
    "FaultTolerancePlansRequest", "Jobs, their copies, and how to checkpoint them",
    sizeof(struct round_request), request_rows};

enum error_code post_fault_tolerance_plans(struct request *rq, const void *in, void *out)
{
    return round_answer_request(rq, in, fault_tolerance_policies, "expected_time", out);
}

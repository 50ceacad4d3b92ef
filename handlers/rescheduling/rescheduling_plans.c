/* rescheduling_plans.c - POST /v1/rescheduling-plans: phases to machines, and moves. */
#include "handlers/rescheduling/routes.h"

#include "handlers/operations/policy_words.h"
#include "handlers/pictures/pictures.h"
#include "handlers/rescheduling/plan_parts.h"

struct rescheduling_plans_answer {
    struct decision_answer decision;
    struct plan_answer_part part;
};

#define T struct plan_job_request
static const struct json_field job_rows[] = {
    PLAN_JOB_ROWS(T),
    JSON_INTEGER(T, first_phase, 1, PLAN_PHASES_MAX, 1, 0,
                 "The next phase to run; default 1"),
    JSON_OBJECT(T, current, const struct plan_current_request *, &plan_current_json,
                JSON_POINTER | JSON_NULLABLE,
                "Where it runs; default: it has not started"),
    {0},
};
#undef T
static const struct json_object job_json = {
    "PlanJob", "An application of several phases, and how far it is",
    sizeof(struct plan_job_request), job_rows};

#define T struct plan_request
static const struct json_field request_rows[] = {
    PLAN_SNAPSHOT_ROWS(T),
    JSON_LIST(T, jobs, job_count, struct plan_job_request, &job_json, 1, JSON_REQUIRED,
              "The application: one"),
    JSON_LIST(T, initial, initial_count, struct plan_answer_interval, &plan_initial_json,
              PLAN_PHASES_MAX, 0,
              "A plan to start from, as an answer has it: the plan is no worse. Not with "
              "single_schedule, incremental, incremental_lookahead, division"),
    DECISION_REQUEST_ROWS(T),
    {0},
};
#undef T
const struct json_object rescheduling_plans_request_json = {
    "ReschedulingPlanRequest", "A multi-phase application and the sites it may run on",
    sizeof(struct plan_request), request_rows};

#define T struct rescheduling_plans_answer
static const struct json_field answer_rows[] = {
    DECISION_ANSWER_ROWS(T, DECISION_BY_OF(plan_words)),
    PLAN_ANSWER_ROWS(T),
    DECISION_END_ROWS(T),
    {0},
};
#undef T
const struct json_object rescheduling_plans_answer_json = {
    "ReschedulingPlanAnswer", "Intervals of phases, and where each runs",
    sizeof(struct rescheduling_plans_answer), answer_rows};

static const struct policy *find_policy(const char *name, struct error *err)
{
    const struct policy *policy = policy_find(plan_policies, name ? name : "auto");

    if (!policy)
        decision_unknown_policy(name, plan_policies, err);
    return policy;
}

static enum error_code decide(struct plan_call *call,
                              struct rescheduling_plans_answer *out)
{
    struct request *rq = call->rq;
    struct plan_out plan;

    TRY(plan_decide(&call->in, call->policy, call->option, &plan, rq->arena, rq->err));
    TRY(plan_call_answer(call, &plan, &out->part, &out->decision));
    rq->gap_ratio = plan.gap_ratio;
    if (plan.status == DECISION_OPTIMAL &&
        (call->extrapolation_ratio > PLAN_UNKNOWN_RATIO || call->is_approximate))
        plan.status = DECISION_FEASIBLE;
    decision_end(rq, plan.algorithm, plan.status, &out->decision);
    return OK;
}

enum error_code post_rescheduling_plans(struct request *rq, const void *in, void *out)
{
    const struct plan_request *body = in;
    struct rescheduling_plans_answer *answer = out;
    const struct policy *policy;
    struct plan_call call;
    enum error_code code;

    TRY(decision_begin(rq, &body->decision, &answer->decision));
    policy = find_policy(body->decision.algorithm, rq->err);
    code = plan_call_begin(&call, rq, body, policy ? policy : &plan_policies[0],
                           &(struct plan_call_options){NULL, NULL},
                           body->job_count ? body->jobs[0].first_phase : 1);
    if (code == OK)
        code = decide(&call, answer);
    plan_call_end(&call);
    return code == OK ? picture_answer(rq, out) : code;
}

/* evaluations.c - POST /v1/evaluations: what a plan or a schedule is worth. */
#include "handlers/evaluation/routes.h"

#include "handlers/common/kinds.h"
#include "handlers/evaluation/evaluation_coallocation.h"
#include "handlers/evaluation/evaluation_placement.h"
#include "handlers/evaluation/evaluation_workflow.h"

/* Every kind of evaluation: name, body, answer, handler. */
#define EVALUATION_KINDS(X)                                                           \
    X(coallocation, coallocation_evaluation_request_json,                             \
      coallocation_evaluation_answer_json, evaluate_coallocation)                     \
    X(placement, placement_evaluation_request_json, placement_evaluation_answer_json, \
      evaluate_placement)                                                             \
    X(workflow, workflow_evaluation_request_json, workflow_evaluation_answer_json,    \
      evaluate_workflow)

static const struct json_kind request_kinds[] = {
#define X(name, request, answer, run) {#name, &request},
    EVALUATION_KINDS(X)
#undef X
        {0},
};
static const struct json_kind answer_kinds[] = {
#define X(name, request, answer, run) {#name, &answer},
    EVALUATION_KINDS(X)
#undef X
        {0},
};
static handler_fn *const runs[] = {
#define X(name, request, answer, run) run,
    EVALUATION_KINDS(X)
#undef X
};

struct evaluation_of_kind {
    struct json_of_kind of;
};

#define T struct evaluation_of_kind
static const struct json_field request_rows[] = {
    JSON_KIND(T, of, request_kinds, "What is evaluated"),
    {0},
};
static const struct json_field answer_rows[] = {
    JSON_KIND(T, of, answer_kinds, "What was evaluated"),
    {0},
};
#undef T
const struct json_object any_evaluation_request_json = {
    "AnyEvaluationRequest", "A plan or a schedule; its member kind says of what",
    sizeof(struct evaluation_of_kind), request_rows};
const struct json_object any_evaluation_answer_json = {
    "AnyEvaluationAnswer", "What it is worth, by its kind",
    sizeof(struct evaluation_of_kind), answer_rows};

enum error_code post_evaluation(struct request *rq, const void *in, void *out)
{
    const struct evaluation_of_kind *body = in;
    struct evaluation_of_kind *answer = out;

    return answer_by_kind(rq, &body->of, answer_kinds, runs, &answer->of);
}

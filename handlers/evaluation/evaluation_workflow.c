/* evaluation_workflow.c - evaluations of kind "workflow": what a schedule of tasks that
 * depend on each other is worth.
 *
 * A schedule that breaks rules still has a makespan; repaired_makespan_s is what comes
 * of the same places in the same order when each task starts as soon as it can.
 */
#include "handlers/evaluation/evaluation_workflow.h"

#include "algorithms/workflow/amounts.h"
#include "algorithms/workflow/check.h"
#include "handlers/workflow/workflow_given.h"
#include "handlers/workflow/workflow_json.h"

#include <string.h>

enum { ROWS_MAX = 1000000 };

static const char *const kinds[] = {"workflow", NULL};

/* ---- the request ---- */

struct evaluation_request {
    struct workflow_body body;
    int kind; /* only "workflow" */
    const struct workflow_given_row *schedule;
    size_t schedule_count;
};

#define T struct evaluation_request
static const struct json_field request_rows[] = {
    JSON_CHOICE(T, kind, kinds, 0, JSON_REQUIRED, "workflow"),
    WORKFLOW_GRID_ROWS,
    WORKFLOW_FILE_ROWS,
    JSON_LIST(T, schedule, schedule_count, struct workflow_given_row,
              &workflow_evaluation_row_json, ROWS_MAX, JSON_REQUIRED,
              "Your schedule, in any order"),
    DECISION_REQUEST_ROWS(struct workflow_body),
    {0},
};
#undef T
const struct json_object workflow_evaluation_request_json = {
    "WorkflowEvaluationRequest", "Workflows, resources and a schedule",
    sizeof(struct evaluation_request), request_rows};

/* ---- the answer ---- */

struct evaluation_answer {
    int kind;
    struct decision_answer decision;
    struct workflow_check_out of;
    double repaired_gap_ratio; /* NAN: there is no repaired one, or the bound is 0 */
    const struct workflow_import *import;
};

#define T struct workflow_violation
static const struct json_field violation_rows[] = {
    {.name = "kind",
     .doc = "missing: the task is not in the schedule; twice; too_short: less than its "
            "run time; precedence: before a parent is done; transfer: before its output "
            "is there; capacity: the resource has another task then; not_available; "
            "release; cannot_run",
     .type = JSON_TYPE_TEXT,
     .offset = JSON_AT(T, kind, const char *)},
    JSON_TEXT(T, workflow_id, JSON_OPTIONAL, "Its workflow, if that has a name"),
    JSON_TEXT(T, task_id, JSON_OPTIONAL, "The task"),
    JSON_TEXT(T, other_task_id, JSON_OPTIONAL, "The other one: its parent, or neighbour"),
    JSON_TEXT(T, resource_id, JSON_OPTIONAL, "The resource"),
    JSON_NUMBER(T, by_s, 0, 0, 0, JSON_OPTIONAL, "How much time is missing"),
    {0},
};
#undef T
static const struct json_object violation_json = {
    "WorkflowViolation", "A rule that the schedule breaks",
    sizeof(struct workflow_violation), violation_rows};

#define T struct evaluation_answer
static const struct json_field answer_rows[] = {
    DECISION_ANSWER_ROWS(T, DECISION_BY("workflow")),
    JSON_CHOICE(T, kind, kinds, 0, 0, "workflow"),
    {.name = "valid",
     .doc = "It can be run as it is",
     .type = JSON_TYPE_BOOLEAN,
     .offset = JSON_AT(T, of.valid, bool)},
    {.name = "violations",
     .doc = "Rules that it breaks",
     .type = JSON_TYPE_LIST,
     .offset = JSON_AT(T, of.violations, const struct workflow_violation *),
     .count_offset = JSON_AT(T, of.violation_count, size_t),
     .of = &violation_json},
    {.name = "objective",
     .doc = "How good it is, as given",
     .type = JSON_TYPE_OBJECT,
     .offset = JSON_AT(T, of.objective, struct workflow_objective),
     .of = &workflow_objective_json},
    {.name = "repaired_makespan_s",
     .doc = "Same places, same order, each task as soon as it can; null: some task has "
            "no place",
     .type = JSON_TYPE_NUMBER,
     .offset = JSON_AT(T, of.repaired_makespan_s, double),
     .flags = JSON_MAY_BE_NULL},
    JSON_NUMBER(T, repaired_gap_ratio, 0, 0, 0, JSON_MAY_BE_NULL,
                "Of that: repaired_makespan_s / lower_bound_s - 1; null: no repaired "
                "schedule, or no bound"),
    JSON_OBJECT(T, import, const struct workflow_import *, &workflow_import_json,
                JSON_POINTER | JSON_OPTIONAL, "What was read from another tool's file"),
    DECISION_END_ROWS(T),
    {0},
};
#undef T
const struct json_object workflow_evaluation_answer_json = {
    "WorkflowEvaluationAnswer", "What the schedule is worth",
    sizeof(struct evaluation_answer), answer_rows};

/* ---- one request ---- */

static void check_algorithm(const struct decision_request *decision, struct error *err)
{
    if (decision->algorithm && strcmp(decision->algorithm, "auto") != 0)
        invalid(err, "/algorithm", ITEM_UNKNOWN_ALGORITHM, "nothing is to be chosen");
}

/* Options: only what changes what a schedule may be. */
static enum error_code read_slots(const struct decision_request *decision, bool *slots,
                                  struct error *err)
{
    struct param rows[2] = {0};
    double value = 0;

    for (size_t i = 0; workflow_common_params[i].name; i++)
        if (strcmp(workflow_common_params[i].name, "slots") == 0)
            rows[0] = workflow_common_params[i];
    TRY(params_bind(rows, decision->options, decision->option_count, &value, err));
    *slots = value != 0;
    return OK;
}

static enum error_code check_schedule(const struct evaluation_request *request,
                                      const struct workflow_problem *problem,
                                      struct workflow_amounts *amounts,
                                      struct workflow_check_out *out, struct request *rq)
{
    const struct workflow_given *rows =
        workflow_given_of(request->schedule, request->schedule_count, rq->arena);

    return workflow_check(problem, amounts, rows, request->schedule_count, out, rq->arena,
                          rq->err);
}

/* What of the request changes nothing. */
static void warn_unused(const struct evaluation_request *request,
                        const struct workflow_check_out *of,
                        struct workflow_problem *problem)
{
    const struct decision_request *decision = &request->body.decision;

    if (of->begun_rows)
        workflow_warn(
            problem,
            "ignored: /schedule: %zu row%s of tasks that have begun not looked at: "
            "these are where the workflow says",
            of->begun_rows, of->begun_rows == 1 ? "" : "s");
    if (isfinite(decision->time_limit_s))
        workflow_warn(problem, "ignored: /time_limit_s: nothing is searched for");
}

/* infeasible: it breaks rules; optimal: it ends with the lower bound. */
static enum decision_status status_of(const struct workflow_check_out *of)
{
    if (of->cut)
        return DECISION_CUT;
    if (!of->valid)
        return DECISION_INFEASIBLE;
    return of->objective.makespan_s <= of->objective.lower_bound_s * (1 + 1e-9)
               ? DECISION_OPTIMAL
               : DECISION_FEASIBLE;
}

enum error_code evaluate_workflow(struct request *rq, const void *in, void *out)
{
    const struct evaluation_request *request = in;
    const struct decision_request *decision = &request->body.decision;
    struct evaluation_answer *answer = out;
    struct workflow_amounts *amounts = NULL;
    struct workflow_problem *problem;
    struct workflow_call call;
    struct run_times *times;
    bool slots = false;
    double bound_s;

    TRY(decision_begin(rq, decision, &answer->decision));
    check_algorithm(decision, rq->err);
    read_slots(decision, &slots, rq->err);
    TRY(workflow_call_begin(&call, rq, &request->body));
    TRY(workflow_call_models(&call, &times));
    if (workflow_amounts_asked(&call.in)) {
        TRY(workflow_problem_make(&call.in, false, &problem, rq->arena, rq->err));
        TRY(workflow_amounts_make(problem, &amounts, rq->arena, rq->err));
    } else {
        TRY(workflow_problem_make(&call.in, slots, &problem, rq->arena, rq->err));
    }
    TRY(check_schedule(request, problem, amounts, &answer->of, rq));
    warn_unused(request, &answer->of, problem);
    bound_s = answer->of.objective.lower_bound_s;
    answer->repaired_gap_ratio =
        bound_s > 0 ? answer->of.repaired_makespan_s / bound_s - 1 : (double)NAN;
    answer->import = call.import;
    workflow_call_warnings(&call, problem->warnings, problem->warning_count,
                           &answer->decision);
    run_times_warn(rq, times, &answer->decision);
    rq->gap_ratio = answer->of.objective.gap_ratio;
    decision_end(rq, "workflow", status_of(&answer->of), &answer->decision);
    return OK;
}

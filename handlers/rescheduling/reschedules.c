/* reschedules.c - POST /v1/reschedules: what to do with running jobs after an event; of
 * the kinds of events that a table lists here the end of a phase of a multi-phase
 * application.
 *
 * To add a kind: its two tables of members and its handler, in a file of its own with a
 * header; a row in RESCHEDULE_EVENTS; its name as the only choice of the member `kind`
 * in both tables (not required in the request if an algorithm implies it). Algorithms
 * that imply the kind when a body has no `kind` get a row each in RESCHEDULE_ALGORITHMS:
 * X(NAME, KIND). Their policies have rows in algorithms/migration/migration.h, so that
 * GET /v1/algorithms lists them, and an example each.
 */
#include "handlers/rescheduling/routes.h"

#include "algorithms/migration/multi_phase.h"
#include "handlers/common/kinds.h"
#include "handlers/pictures/pictures.h"
#include "handlers/rescheduling/plan_parts.h"
#include "handlers/rescheduling/reschedule_kinds.h"
#include "models/base/plural.h"

#include <string.h>

struct phase_end_request {
    struct plan_request plan;
    int kind;
};

struct reschedules_answer {
    struct decision_answer decision;
    int kind;
    enum migration_decision verdict;
    const char *reason;
    const struct plan_answer_interval *target; /* NULL: it stays */
    double predicted_keep_s, predicted_move_s, saving_s, expectation_factor;
    struct plan_answer_part part;
};

static const char *const phase_end_kind[] = {"phase_end", NULL};

/* ---- the body ---- */

#define T struct plan_history_request
static const struct json_field history_rows[] = {
    JSON_INTEGER(T, phase, 1, PLAN_PHASES_MAX, 0, JSON_REQUIRED, "Its number"),
    JSON_NUMBER(T, predicted_s, 0, JSON_LARGEST, 0, JSON_REQUIRED | JSON_ABOVE_MIN,
                "What was predicted for the machines that it ran on"),
    JSON_NUMBER(T, actual_s, 0, JSON_LARGEST, 0, JSON_REQUIRED, "What it took"),
    {0},
};
#undef T
static const struct json_object history_json = {"PhaseDone", "A phase that is done",
                                                sizeof(struct plan_history_request),
                                                history_rows};

#define T struct plan_job_request
static const struct json_field job_rows[] = {
    PLAN_JOB_ROWS(T),
    JSON_OBJECT(T, current, const struct plan_current_request *, &plan_current_json,
                JSON_POINTER | JSON_REQUIRED, "Where it runs"),
    JSON_INTEGER(T, phases_done, 0, PLAN_PHASES_MAX, 0, JSON_REQUIRED,
                 "Phases that are done"),
    JSON_NUMBER(T, stop_phase, 0, PLAN_PHASES_MAX, NAN, JSON_NULLABLE,
                "stop_phase of its plan; default: it has none"),
    JSON_NUMBER(T, since_last_move_s, 0, JSON_LARGEST, NAN, JSON_NULLABLE,
                "Time since it last moved; default: it never did"),
    JSON_NUMBER(T, since_plan_s, 0, JSON_LARGEST, NAN, JSON_NULLABLE,
                "Age of its plan; default: it has none"),
    JSON_LIST(T, phase_history, history_count, struct plan_history_request, &history_json,
              PLAN_PHASES_MAX, 0, "Phases that are done, oldest first"),
    {0},
};
#undef T
static const struct json_object job_json = {"RunningPlanJob",
                                            "An application of several phases that runs",
                                            sizeof(struct plan_job_request), job_rows};

#define T struct plan_request
static const struct json_field request_rows[] = {
    PLAN_SNAPSHOT_ROWS(T),
    JSON_LIST(T, jobs, job_count, struct plan_job_request, &job_json, 1, JSON_REQUIRED,
              "The application: one"),
    DECISION_REQUEST_ROWS(T),
    JSON_CHOICE(struct phase_end_request, kind, phase_end_kind, 0, 0,
                "phase_end, the default: a phase of a multi-phase application is over"),
    {0},
};
#undef T
static const struct json_object phase_end_request_json = {
    "PhaseEndRequest", "A running job at the end of a phase",
    sizeof(struct phase_end_request), request_rows};

/* ---- the answer ---- */

#define T struct reschedules_answer
static const struct json_field answer_rows[] = {
    JSON_CHOICE(T, kind, phase_end_kind, 0, 0, "phase_end"),
    DECISION_ANSWER_ROWS(T, DECISION_BY("multi_phase")),
    {.name = "decision",
     .doc = "keep: go on; replan: go on by the new plan; migrate: stop, and go on at the "
            "target",
     .type = JSON_TYPE_CHOICE,
     .offset = JSON_AT(T, verdict, enum migration_decision),
     .choices = migration_decision_names},
    JSON_WORD(T, reason, multi_phase_rule_names, 0,
              "The rule that decided: finished, forced, plan_marker, min_interval, "
              "contract, periodic, none"),
    JSON_OBJECT(T, target, const struct plan_answer_interval *, &plan_interval_json,
                JSON_POINTER | JSON_MAY_BE_NULL, "Where to go; null: it stays"),
    JSON_NUMBER(T, predicted_keep_s, 0, 0, 0, JSON_MAY_BE_NULL,
                "Time of the next interval on the current machines; null: impossible, or "
                "not asked"),
    JSON_NUMBER(T, predicted_move_s, 0, 0, 0, JSON_MAY_BE_NULL,
                "The same at the best other place, with the move; null: likewise"),
    JSON_NUMBER(T, saving_s, 0, 0, 0, JSON_MAY_BE_NULL,
                "predicted_keep_s - predicted_move_s; null: one of them is"),
    JSON_NUMBER(T, expectation_factor, 0, 0, 0, JSON_MAY_BE_NULL,
                "Later predictions are to be multiplied by it: they have failed, and "
                "there is no better place; null: they stand"),
    PLAN_ANSWER_ROWS(T),
    DECISION_END_ROWS(T),
    {0},
};
#undef T
static const struct json_object phase_end_answer_json = {
    "PhaseEndAnswer", "Whether the job stays or moves, and why",
    sizeof(struct reschedules_answer), answer_rows};

/* ---- one request ---- */

static double finite_or_null(double number)
{
    return number < HUGE_VAL ? number : (double)NAN;
}

/* What was not said of the past did not happen. */
static double given_or_never(double time_s)
{
    return isnan(time_s) ? HUGE_VAL : time_s;
}

static enum error_code fill_answer(struct plan_call *call,
                                   const struct multi_phase_out *decided,
                                   struct reschedules_answer *out)
{
    struct plan_answer_interval *target =
        NEW(call->rq->arena, struct plan_answer_interval, 1);
    struct plan_out none = {
        .algorithm = "multi_phase",
        .status = DECISION_FEASIBLE,
        .total_s = HUGE_VAL,
        .single_s = HUGE_VAL,
        .gap_ratio = NAN,
    };
    const struct plan_out *plan = decided->has_plan ? &decided->plan : &none;

    out->verdict = decided->decision;
    out->reason = decided->reason;
    out->predicted_keep_s = finite_or_null(decided->keep_s);
    out->predicted_move_s = finite_or_null(decided->move_s);
    out->saving_s = out->predicted_keep_s - out->predicted_move_s;
    out->expectation_factor = decided->expectation_factor;
    TRY(plan_call_answer(call, plan, &out->part, &out->decision));
    if (decided->decision == MIGRATION_MIGRATE) {
        plan_call_interval(call, call->in.current.site, &plan->intervals[0], target);
        out->target = target;
    }
    call->rq->gap_ratio = plan->gap_ratio;
    decision_end(call->rq, "multi_phase", plan->status, &out->decision);
    return OK;
}

static enum error_code decide(struct plan_call *call, const double *param,
                              struct reschedules_answer *out)
{
    struct request *rq = call->rq;
    const struct plan_job_request *job = call->job;
    struct multi_phase_done *history =
        NEW(rq->arena, struct multi_phase_done, job->history_count);
    struct multi_phase_in in = {
        .plan = &call->in,
        .plan_option = call->option,
        .phases_done = job->phases_done,
        .stop_phase = job->stop_phase > 0 ? (size_t)job->stop_phase : 0,
        .since_last_move_s = given_or_never(job->since_last_move_s),
        .since_plan_s = given_or_never(job->since_plan_s),
        .machine_gone = call->current_gone,
        .history = history,
        .history_count = job->history_count,
    };
    struct multi_phase_out decided;

    for (size_t i = 0; i < job->history_count; i++)
        history[i] = (struct multi_phase_done){job->phase_history[i].predicted_s,
                                               job->phase_history[i].actual_s};
    TRY(migration_multi_phase(&in, param, &decided, rq->arena, rq->err));
    return fill_answer(call, &decided, out);
}

/* Notes what the tables cannot see. */
static void check_job(const struct plan_request *body, struct error *err)
{
    const struct plan_job_request *job = body->jobs;

    if (body->job_count == 0)
        return;
    if (job->phases_done > job->phases)
        invalid(err, "/jobs/0/phases_done", ITEM_OUT_OF_BOUNDS, "the job has %s",
                counted(job->phases, "phase").text);
    if (job->stop_phase > 0 && job->stop_phase != floor(job->stop_phase))
        invalid(err, "/jobs/0/stop_phase", ITEM_WRONG_TYPE, "not a whole number");
}

static void check_algorithm(const char *name, struct error *err)
{
    const char *const known = "multi_phase";

    if (name && strcmp(name, "auto") != 0 && strcmp(name, known) != 0)
        decision_unknown_algorithm(name, &known, 1, err);
}

static enum error_code reschedule_phase_end(struct request *rq, const void *in, void *out)
{
    const struct plan_request *body = in; /* first member of what the table describes */
    struct reschedules_answer *answer = out;
    double param[MULTI_PHASE_OPTION_COUNT];
    struct plan_call call;
    size_t next = 1;
    enum error_code code;

    TRY(decision_begin(rq, &body->decision, &answer->decision));
    check_algorithm(body->decision.algorithm, rq->err);
    check_job(body, rq->err);
    if (body->job_count && body->jobs[0].phases_done < body->jobs[0].phases)
        next = body->jobs[0].phases_done + 1;
    code = plan_call_begin(
        &call, rq, body, NULL,
        &(struct plan_call_options){migration_multi_phase_params, param}, next);
    if (code == OK)
        code = decide(&call, param, answer);
    plan_call_end(&call);
    return code;
}

/* ---- events ---- */

/* Every event: name, body, answer, handler; a body without `kind` means the one that its
 * algorithm implies, else the first. */
#define RESCHEDULE_EVENTS(X)                                                          \
    X(phase_end, phase_end_request_json, phase_end_answer_json, reschedule_phase_end) \
    X(component_error, component_error_request_json, component_error_answer_json,     \
      reschedule_component_error)                                                     \
    X(runner_liveness, runner_liveness_request_json, runner_liveness_answer_json,     \
      reschedule_runner_liveness)                                                     \
    X(running_jobs, running_jobs_request_json, running_jobs_answer_json,              \
      reschedule_running_jobs)                                                        \
    X(workflow_round, workflow_round_request_json, workflow_moves_answer_json,        \
      reschedule_workflow_round)

/* Every algorithm that implies an event: its name, the event. */
#define RESCHEDULE_ALGORITHMS(X)                 \
    X(gridway, running_jobs)                     \
    X(balanced, workflow_round)                  \
    X(balanced_grouped, workflow_round)          \
    X(balanced_reduced_overhead, workflow_round) \
    X(balanced_static, workflow_round)           \
    X(workflow_fastest, workflow_round)

static const struct json_kind request_kinds[] = {
#define X(name, request, answer, run) {#name, &request},
    RESCHEDULE_EVENTS(X)
#undef X
        {0},
};
static const struct json_kind answer_kinds[] = {
#define X(name, request, answer, run) {#name, &answer},
    RESCHEDULE_EVENTS(X)
#undef X
        {0},
};
static const struct json_hint request_hints[] = {
#define X(algorithm, event) {#algorithm, #event},
    RESCHEDULE_ALGORITHMS(X)
#undef X
        {0},
};
static handler_fn *const runs[] = {
#define X(name, request, answer, run) run,
    RESCHEDULE_EVENTS(X)
#undef X
};

struct reschedule {
    struct json_of_kind of;
};

#define T struct reschedule
static const struct json_field any_request_rows[] = {
    JSON_KIND_HINTED(T, of, request_kinds, algorithm, request_hints,
                     "What happened; default: what the algorithm is for, else phase_end",
                     JSON_WAS({"event", 0})),
    {0},
};
static const struct json_field any_answer_rows[] = {
    JSON_KIND(T, of, answer_kinds, "What happened"),
    {0},
};
#undef T
const struct json_object reschedules_request_json = {
    "RescheduleRequest",
    "What happened to running jobs; its member kind says what, else its algorithm",
    sizeof(struct reschedule), any_request_rows};
const struct json_object reschedules_answer_json = {
    "RescheduleAnswer", "What to do, by the kind", sizeof(struct reschedule),
    any_answer_rows};

enum error_code post_reschedules(struct request *rq, const void *in, void *out)
{
    const struct reschedule *body = in;
    struct reschedule *answer = out;

    TRY(answer_by_kind(rq, &body->of, answer_kinds, runs, &answer->of));
    return picture_answer(rq, out);
}

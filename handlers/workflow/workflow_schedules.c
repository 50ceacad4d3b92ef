/* workflow_schedules.c - POST /v1/workflow-schedules: where and when the tasks of
 * workflows run; one round for workflows that run already.
 *
 * Source: spec workflows.md 13.
 */
#include "handlers/workflow/workflow_schedules.h"

#include "algorithms/workflow/heads.h"
#include "algorithms/workflow/words.h"
#include "handlers/common/decision.h"
#include "handlers/operations/policy_words.h"
#include "handlers/pictures/pictures.h"
#include "handlers/placement/search_json.h"
#include "handlers/workflow/workflow_given.h"
#include "handlers/workflow/workflow_round_answer.h"
#include "models/base/names.h"
#include "models/base/plural.h"

#include <string.h>

static const double CELL_BYTES = 32; /* of a task on a resource: 26 were measured */

/* ---- the body ---- */

static const char *const request_kinds[] = {"schedule", "round", NULL};

static const struct json_field request_rows[] = {
    JSON_CHOICE(
        struct workflow_body, kind, request_kinds, -1, 0,
        "schedule: all tasks to the end; round: what to do now. Default: what the "
        "algorithm does; auto with neither it nor option moves: a schedule"),
    WORKFLOW_GRID_ROWS,
    WORKFLOW_FILE_ROWS,
    WORKFLOW_CARRY_ROWS,
    JSON_LIST(struct workflow_body, initial, initial_count, struct workflow_given_row,
              &workflow_initial_row_json, WORKFLOW_TASKS_MAX, 0,
              "A schedule to start the search from: that of an answer as it stands; for "
              "search and auto"),
    DECISION_REQUEST_ROWS(struct workflow_body),
    {0},
};
const struct json_object workflow_schedules_request_json = {
    "WorkflowScheduleRequest", "Workflows and the resources to run them on",
    sizeof(struct workflow_body), request_rows};

/* JSON_OPTIONAL: as they are printed, to become members of a body. */
#define T struct workflow_body
static const struct json_field query_rows[] = {
    JSON_ID(T, snapshot_id, JSON_NULLABLE | JSON_OPTIONAL, "A stored snapshot"),
    WORKFLOW_IMPORT_FORMAT_ROW(T),
    WORKFLOW_IMPORT_QUERY_ROWS(T),
    WORKFLOW_LATENCY_ROW,
    {.name = "algorithm",
     .doc = "Name of a policy; default and 'auto': the service chooses",
     .type = JSON_TYPE_TEXT,
     .offset = JSON_AT(T, decision.algorithm, const char *),
     .max = 64,
     .flags = JSON_OPTIONAL},
    {.name = "seed",
     .doc = "Same request and seed, same answer; default 1",
     .type = JSON_TYPE_INTEGER,
     .offset = JSON_AT(T, decision.seed, uint64_t),
     .max = JSON_EXACT,
     .preset = 1},
    {.name = "time_limit_s",
     .doc = "Seconds that the decision may take; what was found by then is the answer"
            "; at most time_limit_max_s of the service, 600 unless set otherwise",
     .type = JSON_TYPE_NUMBER,
     .offset = JSON_AT(T, decision.time_limit_s, double),
     .max = JSON_LARGEST,
     .preset = NAN,
     .flags = JSON_NULLABLE | JSON_ABOVE_MIN | JSON_OPTIONAL | JSON_TIME_LIMIT},
    {.name = "store",
     .doc = "Keep request and answer, to be read and replayed later",
     .type = JSON_TYPE_BOOLEAN,
     .offset = JSON_AT(T, decision.store, bool)},
    {0},
};
#undef T
const struct json_object workflow_schedules_query_json = {
    "WorkflowScheduleQuery", "Settings of a body that is another tool's file",
    sizeof(struct workflow_body), query_rows};

/* ---- the answer ---- */

static const char *const schedule_kind[] = {"schedule", NULL};

#define T struct workflow_placement
static const struct json_field placement_rows[] = {
    JSON_TEXT(T, workflow_id, JSON_OPTIONAL, "Its workflow, if that has a name"),
    JSON_TEXT(T, task_id, 0, "The task"),
    JSON_TEXT(T, resource_id, JSON_MAY_BE_NULL,
              "Where it runs; null: it is done, and nothing says where"),
    JSON_TEXTS(T, resource_ids, resource_id_count, 0, JSON_OPTIONAL,
               "Of a task of several nodes: all of them"),
    JSON_TEXT(T, partition_id, JSON_OPTIONAL, "The partition that it uses"),
    JSON_INTEGER(
        T, slot, 0, JSON_EXACT, 0, 0,
        "Slot of the resource, from 0; where tasks need amounts a number that no "
        "other task of the resource has at the same time"),
    JSON_NUMBER(T, start_s, 0, 0, 0, JSON_MAY_BE_NULL,
                "When it starts, seconds from now; null: it has begun, and nothing says "
                "when"),
    JSON_NUMBER(T, finish_s, 0, 0, 0, JSON_MAY_BE_NULL,
                "When it is done; null: it is, and nothing says when"),
    JSON_NUMBER(T, data_ready_s, 0, 0, 0, JSON_OPTIONAL,
                "When the last of its inputs is there; missing: it needs none"),
    JSON_NUMBER(T, transfer_from_s, 0, 0, 0, JSON_OPTIONAL,
                "When that is sent by the task it comes from; missing: it is not moved"),
    JSON_CHOICE(T, status, workflow_status_names, 0, 0, "What it is now"),
    JSON_BOOLEAN(T, next, 0, 0,
                 "It has not begun, its parents are done, and nothing that has yet to "
                 "start comes before it on its slot: start it when that is free"),
    JSON_WORD(T, remaining_source, workflow_source_names, JSON_OPTIONAL,
              "Of a running one, what its finish_s follows from: finish_s, progress, "
              "stored progress, work, elapsed, estimate or guess"),
    RUN_TIME_BASIS_ROWS(T),
    {0},
};
#undef T
const struct json_object workflow_placement_json = {
    "WorkflowPlacement", "Where and when a task runs", sizeof(struct workflow_placement),
    placement_rows};

#define T struct workflow_best_list
static const struct json_field best_list_rows[] = {
    JSON_WORD_OF(T, algorithm, workflow_words, 0, "heft, peft or cpop"),
    JSON_NUMBER(T, value, 0, 0, 0, 0, "The makespan of its schedule, in seconds"),
    {0},
};
#undef T
static const struct json_object best_list_json = {
    "WorkflowBestList", "The best schedule of a list algorithm that was tried",
    sizeof(struct workflow_best_list), best_list_rows};

#define T struct workflow_critical
static const struct json_field critical_rows[] = {
    JSON_TEXT(T, task_id, 0, "The task"),
    {.name = "reason",
     .doc = "Why it does not start earlier: start: it starts with the plan; data: the "
            "task before it ends then; transfer: its output is there then; resource: it "
            "was on the same slot; waits: none of these",
     .type = JSON_TYPE_TEXT,
     .choices = workflow_wait_names,
     .offset = JSON_AT(T, reason, const char *),
     .flags = JSON_OPEN},
    JSON_NUMBER(
        T, wait_s, 0, 0, 0, 0,
        "Of transfer how long it takes; of waits how long all it needs was there"),
    {0},
};
#undef T
static const struct json_object critical_json = {
    "WorkflowCriticalTask", "A task of the chain that ends last",
    sizeof(struct workflow_critical), critical_rows};

#define T struct workflow_schedule_answer
static const struct json_field schedule_rows[] = {
    DECISION_ANSWER_ROWS(T, DECISION_BY_OF(workflow_words)),
    JSON_CHOICE(T, kind, schedule_kind, 0, 0, "schedule: of all tasks to the end"),
    {.name = "because",
     .doc = "Why 'auto' chose this algorithm",
     .type = JSON_TYPE_TEXT,
     .offset = JSON_AT(T, plan.because, const char *),
     .flags = JSON_OPTIONAL},
    {.name = "schedule",
     .doc = "Where and when each task runs, by start",
     .type = JSON_TYPE_LIST,
     .offset = JSON_AT(T, plan.schedule, const struct workflow_placement *),
     .count_offset = JSON_AT(T, plan.schedule_count, size_t),
     .of = &workflow_placement_json},
    JSON_LIST(T, unplaced, unplaced_count, struct workflow_unplaced_answer,
              &workflow_unplaced_json, 0, 0, "Tasks without a place, and why"),
    {.name = "reschedules",
     .doc =
         "Running tasks whose move pays, by option moves; the schedule is without them",
     .type = JSON_TYPE_LIST,
     .offset = JSON_AT(T, plan.reschedules, const struct workflow_action *),
     .count_offset = JSON_AT(T, plan.reschedule_count, size_t),
     .of = &workflow_action_json},
    {.name = "critical_tasks",
     .doc = "The chain of tasks, each waiting for the one before, that ends last",
     .type = JSON_TYPE_TEXTS,
     .offset = JSON_AT(T, plan.critical_tasks, const char *const *),
     .count_offset = JSON_AT(T, plan.critical_count, size_t)},
    {.name = "critical_path",
     .doc = "The same chain, with why each task does not start earlier",
     .type = JSON_TYPE_LIST,
     .offset = JSON_AT(T, plan.critical_path, const struct workflow_critical *),
     .count_offset = JSON_AT(T, plan.critical_count, size_t),
     .of = &critical_json},
    {.name = "objective",
     .doc = "How good the schedule is",
     .type = JSON_TYPE_OBJECT,
     .offset = JSON_AT(T, plan.objective, struct workflow_objective),
     .of = &workflow_objective_json},
    {.name = "steps",
     .doc = "Steps of the search; options.max_steps replays them",
     .type = JSON_TYPE_INTEGER,
     .offset = JSON_AT(T, plan.steps, uint64_t),
     .max = JSON_EXACT},
    {.name = "bounds",
     .doc = "Lower bounds of the makespan that were computed, largest first",
     .type = JSON_TYPE_LIST,
     .offset = JSON_AT(T, plan.bounds, const struct proven_bound *),
     .count_offset = JSON_AT(T, plan.bound_count, size_t),
     .of = &proven_bound_json},
    SEARCH_ROWS(T, struct workflow_best_list),
    JSON_OBJECT(T, import, const struct workflow_import *, &workflow_import_json,
                JSON_POINTER | JSON_OPTIONAL, "What was read from another tool's file"),
    RUN_TIMES_ROW(T),
    DECISION_END_ROWS(T),
    {0},
};
#undef T
const struct json_object workflow_schedule_answer_json = {
    "WorkflowSchedule", "Where and when the tasks run, and how good that is",
    sizeof(struct workflow_schedule_answer), schedule_rows};

static const struct json_kind answer_kinds[] = {
    [WORKFLOW_SCHEDULE] = {"schedule", &workflow_schedule_answer_json},
    [WORKFLOW_ROUND] = {"round", &workflow_round_answer_json},
    {0},
};

struct any_answer {
    struct json_of_kind of;
};

#define T struct any_answer
static const struct json_field answer_rows[] = {
    JSON_KIND(T, of, answer_kinds, "Of a static algorithm, or of a dynamic one"),
    {0},
};
#undef T
const struct json_object workflow_schedules_answer_json = {
    "WorkflowScheduleAnswer", "A schedule to the end, or what to do now",
    sizeof(struct any_answer), answer_rows};

/* ---- which algorithm ---- */

/* What decides: one of the two. */
struct choice {
    const struct policy *policy;
    const struct policy *round;
    const struct named_value *options;
    size_t option_count;
    const char *because; /* NULL: it was named */
};

static enum error_code unknown_algorithm(const char *name, struct error *err)
{
    const struct policy *const tables[] = {workflow_policies, workflow_round_policies,
                                           NULL};

    decision_no_policy("/algorithm", name, "algorithm", tables, err);
    return ERR_INVALID;
}

/* Whether an option has this text. */
static bool option_is(const struct decision_request *decision, const char *name,
                      const char *text)
{
    for (size_t i = 0; i < decision->option_count; i++) {
        const struct named_value *o = &decision->options[i];

        if (strcmp(o->name, name) == 0)
            return o->type == VALUE_TEXT && strcmp(o->text, text) == 0;
    }
    return false;
}

static bool is_auto(const struct choice *choice)
{
    return choice->policy && strcmp(choice->policy->name, "auto") == 0;
}

/* The kind that is asked for is the algorithm's. */
static void check_kind(const struct workflow_body *body, const struct choice *choice,
                       struct error *err)
{
    if (body->kind == WORKFLOW_SCHEDULE && choice->round)
        invalid(err, "/kind", ITEM_CONFLICT,
                "%s decides a round; leave out kind, or name an algorithm that plans to "
                "the end",
                choice->round->name);
    else if (body->kind == WORKFLOW_ROUND && choice->policy && !is_auto(choice))
        invalid(
            err, "/kind", ITEM_CONFLICT,
            "%s plans all tasks to the end; leave out kind, or name an algorithm that "
            "decides a round",
            choice->policy->name);
    else if (body->kind == WORKFLOW_SCHEDULE && is_auto(choice) &&
             option_is(&body->decision, "moves", "rounds"))
        invalid(err, "/kind", ITEM_CONFLICT,
                "option moves asks for a round; leave out one of the two");
}

/* What the request names; `auto` stays open until settle_auto(). */
static void choose_by_name(const struct workflow_body *body, struct choice *out,
                           struct error *err)
{
    const struct decision_request *decision = &body->decision;
    const char *name = decision->algorithm ? decision->algorithm : "auto";

    *out = (struct choice){
        .policy = policy_find(workflow_policies, name),
        .round = policy_find(workflow_round_policies, name),
        .options = decision->options,
        .option_count = decision->option_count,
    };
    if (!out->policy && !out->round)
        unknown_algorithm(name, err);
    check_kind(body, out, err);
    if (body->carry_count && out->policy && strcmp(name, "auto") != 0)
        invalid(err, "/carry_over", ITEM_CONFLICT,
                "%s plans all tasks to the end; carry_over is for rounds of dynamic "
                "algorithms",
                name);
    if (body->initial_count && out->round)
        invalid(err, "/initial", ITEM_CONFLICT,
                "%s does not start from a schedule; search and auto do", name);
}

/* Options of `auto` that a round does not have. */
static bool is_of_auto(const char *option)
{
    for (const struct param *p = workflow_auto_common_params; p->name; p++)
        if (strcmp(p->name, option) == 0)
            return strcmp(option, "restart_s") != 0;
    return strcmp(option, "max_steps") == 0;
}

/* `auto` with moves: rounds is a round. What only schedules have of its options is not
 * used. */
static void choose_round(const struct workflow_body *body, struct workflow_call *call,
                         struct choice *out)
{
    struct request *rq = call->rq;
    struct decision_request left = body->decision;
    struct named_value *list = NEW(rq->arena, struct named_value, left.option_count);
    const char *unused = "";

    left.options = list;
    left.option_count = 0;
    for (size_t i = 0; i < body->decision.option_count; i++) {
        const struct named_value *o = &body->decision.options[i];

        if (!is_of_auto(o->name))
            list[left.option_count++] = *o;
        else if (strcmp(o->name, "moves") != 0)
            unused = arena_printf(rq->arena, "%s /options/%s", unused, o->name);
    }
    if (body->initial_count)
        unused = arena_printf(rq->arena, "%s /initial (%s)", unused,
                              counted(body->initial_count, "row").text);
    if (*unused)
        workflow_call_warn(call, "ignored: a round does not use:%s", unused);
    out->because = body->kind == WORKFLOW_ROUND
                       ? "kind round: a round of " WORKFLOW_ROUND_AUTO
                         ", which moves the longest only"
                       : "option moves: a round of " WORKFLOW_ROUND_AUTO
                         ", which moves the longest only";
    out->policy = NULL;
    out->round = policy_find(workflow_round_policies, WORKFLOW_ROUND_AUTO);
    workflow_round_auto_options(&left, &out->options, &out->option_count, rq->arena);
}

/* What `auto` is, and what it leaves out. */
static void settle_auto(const struct workflow_body *body, struct workflow_call *call,
                        struct choice *out)
{
    if (!is_auto(out))
        return;
    if (body->kind == WORKFLOW_ROUND || option_is(&body->decision, "moves", "rounds")) {
        choose_round(body, call, out);
        return;
    }
    if (body->carry_count) {
        workflow_call_warn(call,
                           "ignored: /carry_over: the schedule places every task "
                           "(%s)",
                           counted(body->carry_count, "list").text);
    }
}

/* ---- one request ---- */

/* Tables of tasks and resources are most of what a schedule takes; of more than
 * HEADS_MOST cells none is made. */
static enum error_code reserve_tables(const struct workflow_call *call)
{
    double task_count = 0, cells;

    for (size_t w = 0; w < call->in.workflow_count; w++)
        task_count += (double)call->in.workflows[w].task_count;
    cells = task_count * (double)call->in.snapshot->resource_count;
    return cells > HEADS_MOST ? OK : request_reserve(call->rq, CELL_BYTES * cells);
}

/* Where the times of tasks come from that models have told. */
static void tell_times(const struct workflow_call *call, const struct run_times *times,
                       struct workflow_schedule_answer *out)
{
    struct request *rq = call->rq;
    struct run_time_teller *teller =
        run_time_teller_create(rq, times, call->in.snapshot, NULL, 0, false);
    struct workflow_placement *rows;

    run_times_warn(rq, times, &out->decision);
    if (!teller)
        return;
    rows = NEW(rq->arena, struct workflow_placement, out->plan.schedule_count);
    for (size_t i = 0; i < out->plan.schedule_count; i++) {
        struct workflow_placement *p = &rows[i];

        *p = out->plan.schedule[i];
        budget_step(&rq->finish, p->resource_id_count + 1);
        if (p->status == WORKFLOW_DONE || !p->resource_id)
            continue;
        run_time_tell(teller, p->task,
                      p->resource_id_count ? p->resource_ids : &p->resource_id,
                      p->resource_id_count ? p->resource_id_count : 1, &p->run_time_basis,
                      &p->run_time_index);
    }
    out->plan.schedule = rows;
    out->plan.reschedules = workflow_tell_moves(rq, teller, out->plan.reschedules,
                                                out->plan.reschedule_count);
    out->run_times = run_time_list(teller, &out->run_time_count);
}

static enum error_code schedule(const struct workflow_call *call,
                                const struct choice *choice,
                                const struct run_times *times,
                                struct workflow_schedule_answer *out)
{
    struct request *rq = call->rq;

    TRY(workflow_decide(&call->in, choice->policy, choice->options, choice->option_count,
                        &out->plan, rq->arena, rq->err));
    if (out->plan.check_failure)
        decision_check_failed(rq);
    workflow_call_warnings(call, out->plan.warnings, out->plan.warning_count,
                           &out->decision);
    tell_times(call, times, out);
    TRY(workflow_unplaced_answer(call, out->plan.unplaced, out->plan.unplaced_count,
                                 &out->unplaced, &out->unplaced_count));
    out->import = call->import;
    rq->gap_ratio = out->plan.objective.gap_ratio;
    decision_end(rq, out->plan.algorithm, out->plan.status, &out->decision);
    return OK;
}

/* The answer's struct of a kind; *decision is its envelope. */
static void *new_answer(struct any_answer *answer, enum workflow_answer_kind kind,
                        const struct decision_answer *decision, struct arena *a)
{
    struct workflow_schedule_answer *plan;
    struct workflow_round_answer *round;

    answer->of.kind = kind;
    if (kind == WORKFLOW_SCHEDULE) {
        plan = NEW(a, struct workflow_schedule_answer, 1);
        plan->decision = *decision;
        answer->of.value = plan;
    } else {
        round = NEW(a, struct workflow_round_answer, 1);
        round->decision = *decision;
        answer->of.value = round;
    }
    return answer->of.value;
}

enum error_code post_workflow_schedules(struct request *rq, const void *in, void *out)
{
    const struct workflow_body *body = in;
    struct decision_answer decision = {0};
    struct workflow_round_answer *round;
    struct workflow_call call;
    struct run_times *times = NULL;
    struct choice choice;
    void *answer;

    TRY(decision_begin(rq, &body->decision, &decision));
    choose_by_name(body, &choice, rq->err);
    TRY(workflow_call_begin(&call, rq, body));
    settle_auto(body, &call, &choice);
    TRY(workflow_call_models(&call, &times));
    TRY(reserve_tables(&call));
    answer = new_answer(out, choice.policy ? WORKFLOW_SCHEDULE : WORKFLOW_ROUND,
                        &decision, rq->arena);
    if (choice.policy) {
        TRY(schedule(&call, &choice, times, answer));
        TRY(picture_graph(rq, &call.in,
                          &((struct workflow_schedule_answer *)answer)->plan));
        return picture_answer(rq, out);
    }
    round = answer;
    round->because = choice.because;
    TRY(workflow_round_answer_fill(&call, times, choice.round, choice.options,
                                   choice.option_count, WORKFLOW_STEPS_ALL, round));
    return picture_answer(rq, out);
}

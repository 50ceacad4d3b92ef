/* workflow_round_answer.c - the answer of a round of dynamic workflow scheduling. */
#include "handlers/workflow/workflow_round_answer.h"

#include "algorithms/workflow/words.h"
#include "handlers/operations/policy_words.h"
#include "service/json_holds.h"

#include <string.h>

static const char *const kinds[] = {"round", NULL};
const char *const workflow_round_kind[] = {"workflow_round", NULL};

#define TASK_ROWS(T)                                                              \
    JSON_TEXT(T, workflow_id, JSON_OPTIONAL, "Its workflow, if that has a name"), \
        JSON_TEXT(T, task_id, 0, "The task")

#define T struct workflow_action
static const struct json_field action_rows[] = {
    JSON_INTEGER(T, seq, 0, JSON_EXACT, 0, 0, "Order of the moves, from 1"),
    JSON_INTEGER(T, group, 0, JSON_EXACT, 0, 0,
                 "Moves of a group belong together: checkpoint and cancel all of them, "
                 "then submit"),
    {.name = "action",
     .doc = "migrate; evict: it makes room for another one; postpone: back to the queue",
     .type = JSON_TYPE_CHOICE,
     .offset = JSON_AT(T, action, int),
     .choices = workflow_action_names},
    TASK_ROWS(T),
    JSON_TEXT(T, from_resource_id, 0, "Where it runs"),
    JSON_TEXT(T, to_resource_id, JSON_MAY_BE_NULL,
              "Where it goes; null: back to the queue"),
    JSON_NUMBER(T, remaining_before_s, 0, 0, 0, JSON_MAY_BE_NULL,
                "Time that it still needs where it is; null: it stands still, or is not "
                "known"),
    JSON_NUMBER(T, remaining_after_s, 0, 0, 0, JSON_MAY_BE_NULL,
                "The same with the move; null: not known"),
    JSON_NUMBER(T, gain_s, 0, 0, 0, JSON_MAY_BE_NULL,
                "The difference; below 0: slower, for the sake of others; null: one of "
                "the two is"),
    JSON_NUMBER(T, transfer_s, 0, 0, 0, 0, "Part of it that the move takes"),
    JSON_NUMBER(T, transfer_bytes, 0, 0, 0, 0, "Input and checkpoint"),
    JSON_TEXT(T, role, JSON_OPTIONAL | JSON_OPEN,
              "longest: of its parent set; balanced: it may be slower; root: in the "
              "way; missing: its move pays",
              JSON_KNOWN("longest", "balanced", "root")),
    JSON_TEXTS(T, parent_set, parent_count, 0, 0,
               "The parent set that asked for it; empty: none"),
    JSON_TEXT(T, reason, JSON_OPTIONAL, "In words"),
    RUN_TIME_BASIS_ROWS(T),
    {0},
};
const struct json_object workflow_action_json = {
    "WorkflowAction", "A running task that is to be moved",
    sizeof(struct workflow_action), action_rows};
static const struct json_field postponed_rows[] = {
    TASK_ROWS(T),
    JSON_TEXT(T, from_resource_id, 0, "Where it runs"),
    JSON_INTEGER(T, group, 0, JSON_EXACT, 0, 0,
                 "Group of the move that it makes room for"),
    JSON_TEXT(T, reason, JSON_OPTIONAL, "In words"),
    {0},
};
static const struct json_object postponed_json = {
    "WorkflowPostponed", "A running task that goes back to the queue",
    sizeof(struct workflow_action), postponed_rows};
#undef T

#define T struct workflow_start
static const struct json_field start_rows[] = {
    TASK_ROWS(T),
    JSON_TEXT(T, resource_id, JSON_OPTIONAL,
              "Where it starts; missing: on several, see resource_ids"),
    JSON_TEXTS(T, resource_ids, resource_id_count, 0, JSON_OPTIONAL,
               "All of them, where it needs several nodes"),
    JSON_NUMBER(T, expected_s, 0, 0, 0, JSON_MAY_BE_NULL,
                "Until it is done, with its stage-in; null: no estimate"),
    JSON_NUMBER(T, stage_in_s, 0, 0, 0, 0, "Until its input is there"),
    JSON_WORD(
        T, how, workflow_how_names, 0,
        "longest: of its parent set, where it ends first; balanced: to end just "
        "before that; fastest; least: where it ends first, although that delays a "
        "set or passes the longest; random: no estimate; in_turn: the time limit came "
        "before more than the next resource with room was looked at"),
    RUN_TIME_BASIS_ROWS(T),
    {0},
};
#undef T
static const struct json_object start_json = {"WorkflowStart",
                                              "A ready task that is to be started",
                                              sizeof(struct workflow_start), start_rows};

#define T                struct workflow_skip
#define X(name, meaning) #name " (" meaning "), "
static const struct json_field skip_rows[] = {
    TASK_ROWS(T),
    JSON_TEXT(T, reason, JSON_OPEN,
              "The first that holds: " WORKFLOW_SKIP_REASONS(X) "in this order",
              .choices = workflow_skip_names),
    {0},
};
#undef X
#undef T
static const struct json_object skip_json = {"WorkflowSkip",
                                             "A running task that stays, and why",
                                             sizeof(struct workflow_skip), skip_rows};

#define T struct workflow_set
static const struct json_field set_rows[] = {
    JSON_TEXT(T, workflow_id, JSON_OPTIONAL, "Its workflow, if that has a name"),
    JSON_TEXTS(T, members, member_count, 0, 0, "Tasks whose outputs the children need"),
    JSON_TEXTS(T, children, child_count, 0, 0, "Tasks with these parents"),
    JSON_TEXT(T, state, JSON_OPEN,
              "running: all members run or are done; roots: none has a parent; waiting; "
              "done",
              JSON_KNOWN("running", "roots", "waiting", "done")),
    JSON_NUMBER(T, max_remaining_before_s, 0, 0, 0, JSON_MAY_BE_NULL,
                "Time until its last member is done; null: not known"),
    JSON_NUMBER(T, max_remaining_after_s, 0, 0, 0, JSON_MAY_BE_NULL,
                "The same with the moves; null: not known"),
    {0},
};
#undef T
static const struct json_object set_json = {"WorkflowParentSet",
                                            "Tasks that other tasks wait for together",
                                            sizeof(struct workflow_set), set_rows};

#define T struct workflow_estimate
static const struct json_field estimate_rows[] = {
    TASK_ROWS(T),
    JSON_NUMBER(T, estimate_ref_s, 0, 0, 0, JSON_MAY_BE_NULL,
                "Work of the whole task in reference seconds; null: not known"),
    JSON_NUMBER(T, remaining_ref_s, 0, 0, 0, JSON_MAY_BE_NULL,
                "What is left of it; null: not known"),
    JSON_NUMBER(T, work_done_ref_s, 0, 0, 0, JSON_MAY_BE_NULL,
                "What is done; null: not known"),
    JSON_WORD(T, source, workflow_estimate_source_names, 0,
              "Where it comes from: estimate, extrapolation, work_integral, fit ..."),
    JSON_NUMBER(T, low_ref_s, 0, 0, 0, JSON_OPTIONAL, "Interval of a fit: from"),
    JSON_NUMBER(T, high_ref_s, 0, 0, 0, JSON_OPTIONAL, "To"),
    JSON_NUMBER(
        T, remaining_ratio, 0, 0, 0, JSON_OPTIONAL,
        "Of a task with etc_s or estimate_s instead of these: the part of its run "
        "time that is left"),
    JSON_WORD(
        T, remaining_source, workflow_source_names, JSON_OPTIONAL,
        "Of a running one: progress, its reports of the request; stored, those that "
        "were stored; with remaining_ratio also work, elapsed, estimate or guess"),
    {0},
};
#undef T
static const struct json_object estimate_json = {
    "WorkflowEstimate", "The run time that the round counted on",
    sizeof(struct workflow_estimate), estimate_rows};

#define T struct workflow_round_objective
static const struct json_field objective_rows[] = {
    JSON_NUMBER(T, makespan_before_s, 0, 0, 0, JSON_MAY_BE_NULL,
                "Longest remaining time of what runs; null: something stands still"),
    JSON_NUMBER(T, makespan_s, 0, 0, 0, 0,
                "The same after the round, with what it starts"),
    JSON_NUMBER(T, lower_bound_s, 0, 0, 0, 0,
                "Of that: each of these tasks alone on its best resource"),
    JSON_NUMBER(T, gap_ratio, 0, 0, 0, JSON_MAY_BE_NULL,
                "makespan_s / lower_bound_s - 1; null: the bound is 0"),
    JSON_NUMBER(T, transfer_bytes, 0, 0, 0, 0, "What the moves transfer"),
    {0},
};
#undef T
static const struct json_object objective_json = {
    "WorkflowRoundObjective", "What the round achieves",
    sizeof(struct workflow_round_objective), objective_rows};

#define T struct workflow_round_answer
#define ROUND_LIST(m, counter, ctype, table, text)                     \
    {                                                                  \
        .name = #m, .doc = text, .type = JSON_TYPE_LIST,               \
        .offset = JSON_AT(T, round.m, const ctype *),                  \
        .count_offset = JSON_AT(T, round.counter, size_t), .of = table \
    }
#define MOVE_ROWS                                                                       \
    JSON_TEXT(T, because, JSON_OPTIONAL, "Why 'auto' chose this algorithm"),            \
        ROUND_LIST(reschedules, reschedule_count, struct workflow_action,               \
                   &workflow_action_json, "Running tasks to move, in this order"),      \
        ROUND_LIST(postponed, postponed_count, struct workflow_action, &postponed_json, \
                   "Running tasks that go back to the queue"),                          \
        ROUND_LIST(parent_sets, set_count, struct workflow_set, &set_json,              \
                   "Sets of tasks that others wait for"),                               \
        ROUND_LIST(skipped, skip_count, struct workflow_skip, &skip_json,               \
                   "Running tasks that stay, and why"),                                 \
        ROUND_LIST(estimates, estimate_count, struct workflow_estimate, &estimate_json, \
                   "Run times that the round counted on"),                              \
        {.name = "stale_resources",                                                     \
         .doc = "Resources whose state is older than options.max_age_s: not used",      \
         .type = JSON_TYPE_INTEGER,                                                     \
         .offset = JSON_AT(T, round.stale_resources, uint64_t),                         \
         .max = JSON_EXACT},                                                            \
        {.name = "objective",                                                           \
         .doc = "What the round achieves",                                              \
         .type = JSON_TYPE_OBJECT,                                                      \
         .offset = JSON_AT(T, round.objective, struct workflow_round_objective),        \
         .of = &objective_json},                                                        \
        RUN_TIMES_ROW(T)
static const struct json_field answer_rows[] = {
    DECISION_ANSWER_ROWS(T, DECISION_BY_OF(workflow_round_words)),
    JSON_CHOICE(T, kind, kinds, 0, 0, "round: what to do now"),
    MOVE_ROWS,
    ROUND_LIST(placements, placement_count, struct workflow_start, &start_json,
               "Ready tasks to start"),
    ROUND_LIST(carry_over, carry_count, struct workflow_carry, &workflow_carry_json,
               "Ready tasks without a place: carry_over of the next request"),
    JSON_LIST(T, unplaced, unplaced_count, struct workflow_unplaced_answer,
              &workflow_unplaced_json, 0, 0, "The same one by one, and why"),
    JSON_OBJECT(T, import, const struct workflow_import *, &workflow_import_json,
                JSON_POINTER | JSON_OPTIONAL, "What was read from another tool's file"),
    DECISION_END_ROWS(T),
    {0},
};
static const struct json_field moves_rows[] = {
    DECISION_ANSWER_ROWS(T, DECISION_BY_OF(workflow_round_words)),
    {.name = "kind",
     .doc = "workflow_round",
     .type = JSON_TYPE_CHOICE,
     .offset = JSON_AT(T, kind, int),
     .choices = workflow_round_kind},
    MOVE_ROWS,
    DECISION_END_ROWS(T),
    {0},
};
#undef MOVE_ROWS
#undef ROUND_LIST
#undef T
const struct json_object workflow_round_answer_json = {
    "WorkflowRound", "What to do now with tasks that run, and which to start",
    sizeof(struct workflow_round_answer), answer_rows};
const struct json_object workflow_moves_answer_json = {
    "WorkflowMoves", "What to do now with tasks that run",
    sizeof(struct workflow_round_answer), moves_rows};

void workflow_round_auto_options(const struct decision_request *decision,
                                 const struct named_value **options, size_t *option_count,
                                 struct arena *a)
{
    size_t count = decision->option_count;
    struct named_value *list = NEW(a, struct named_value, count + 1);
    bool given = false;

    for (size_t i = 0; i < count; i++) {
        list[i] = decision->options[i];
        given = given || strcmp(list[i].name, "balance") == 0;
    }
    if (!given)
        list[count++] = (struct named_value){
            .name = "balance", .type = VALUE_TEXT, .text = "longest_only"};
    *options = list;
    *option_count = count;
}

const struct workflow_action *workflow_tell_moves(struct request *rq,
                                                  struct run_time_teller *teller,
                                                  const struct workflow_action *moves,
                                                  size_t count)
{
    struct workflow_action *rows;

    if (!teller)
        return moves;
    rows = NEW(rq->arena, struct workflow_action, count);
    for (size_t i = 0; i < count; i++) {
        struct workflow_action *m = &rows[i];

        *m = moves[i];
        budget_step(&rq->finish, 1);
        if (m->to_resource_id)
            run_time_tell(teller, m->task, &m->to_resource_id, 1, &m->run_time_basis,
                          &m->run_time_index);
    }
    return rows;
}

/* Where the times of tasks come from that models have told. */
static void tell_times(const struct workflow_call *call, const struct run_times *times,
                       struct workflow_round_answer *out)
{
    struct request *rq = call->rq;
    struct workflow_round_out *round = &out->round;
    struct run_time_teller *teller =
        run_time_teller_create(rq, times, call->in.snapshot, NULL, 0, false);
    struct workflow_start *rows;

    run_times_warn(rq, times, &out->decision);
    if (!teller)
        return;
    rows = NEW(rq->arena, struct workflow_start, round->placement_count);
    for (size_t i = 0; i < round->placement_count; i++) {
        struct workflow_start *s = &rows[i];

        *s = round->placements[i];
        budget_step(&rq->finish, s->resource_id_count + 1);
        run_time_tell(teller, s->task,
                      s->resource_ids ? s->resource_ids : &s->resource_id,
                      s->resource_ids ? s->resource_id_count : 1, &s->run_time_basis,
                      &s->run_time_index);
    }
    round->placements = rows;
    round->reschedules =
        workflow_tell_moves(rq, teller, round->reschedules, round->reschedule_count);
    out->run_times = run_time_list(teller, &out->run_time_count);
}

enum error_code workflow_round_answer_fill(
    const struct workflow_call *call, const struct run_times *times,
    const struct policy *policy, const struct named_value *options, size_t option_count,
    enum workflow_round_steps steps, struct workflow_round_answer *out)
{
    struct request *rq = call->rq;

    TRY(workflow_round(&call->in, policy, options, option_count, steps, &out->round,
                       rq->arena, rq->err));
    workflow_call_warnings(call, out->round.warnings, out->round.warning_count,
                           &out->decision);
    TRY(workflow_unplaced_answer(call, out->round.unplaced, out->round.unplaced_count,
                                 &out->unplaced, &out->unplaced_count));
    tell_times(call, times, out);
    out->import = call->import;
    rq->gap_ratio = out->round.objective.gap_ratio;
    decision_end(rq, out->round.algorithm, out->round.status, &out->decision);
    return OK;
}

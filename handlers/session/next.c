/* next.c - GET .../next, POST .../starts, GET .../request and .../plan of a run. */
#include "handlers/session/next.h"

#include "handlers/operations/policy_words.h"
#include "handlers/pictures/pictures.h"
#include "handlers/workflow/workflow_schedules.h"
#include "models/base/names.h"
#include "service/etag.h"
#include "service/json_holds.h"
#include "service/session_watch.h"

#include <string.h>

static const double DUE_S = 1e-3; /* what is due sooner or later by less is not written */

enum { QUEUE_DEPTH = 8, QUEUE_DEPTH_MAX = 1000, CANDIDATES_MAX = 1000000 };

/* ---- what is asked ---- */

struct at_query {
    double now_at_s;
    uint64_t revision;
};

struct next_query {
    struct at_query at;
    double wait_s;
    uint64_t queue_depth;
    const char *const *resource_ids;
    size_t resource_id_count;
};

struct starts_body {
    const char *holder;
    double hold_s;
    uint64_t max_count, queue_depth;
    const char *const *resource_ids, *const *candidate_task_ids;
    size_t resource_id_count, candidate_task_id_count;
    const struct session_event *events;
    size_t event_count;
};

#define AT_ROWS(T, at)                                                           \
    {.name = "now",                                                              \
     .doc = "Replay: as if it were this instant; default: the database's clock", \
     .type = JSON_TYPE_INSTANT,                                                  \
     .offset = JSON_AT(T, at now_at_s, double),                                  \
     .preset = NAN},                                                             \
    {                                                                            \
        .name = "revision",                                                      \
        .doc = "Replay: as it was at this revision; default: the last",          \
        .type = JSON_TYPE_INTEGER, .offset = JSON_AT(T, at revision, uint64_t),  \
        .max = JSON_EXACT, .preset = JSON_EXACT                                  \
    }
#define QUEUE_ROW(T)                                        \
    JSON_INTEGER(                                           \
        T, queue_depth, 0, QUEUE_DEPTH_MAX, QUEUE_DEPTH, 0, \
        "Tasks of each resource that are to be started next, at most; default 8")

#define T struct next_query
static const struct json_field next_query_rows[] = {
    AT_ROWS(T, at.),
    JSON_NUMBER(T, wait_s, 0, 60, 0, 0,
                "With If-None-Match: seconds to wait for another answer; default 0"),
    QUEUE_ROW(T),
    JSON_TEXTS(T, resource_ids, resource_id_count, 100000, 0,
               "Only what these resources are to start"),
    {0},
};
#undef T
const struct json_object session_next_query_json = {
    "SessionNextQuery", "What is to be answered", sizeof(struct next_query),
    next_query_rows};

#define T struct at_query
static const struct json_field at_query_rows[] = {AT_ROWS(T, ), {0}};
#undef T
const struct json_object session_at_query_json = {"SessionAtQuery", "As of when",
                                                  sizeof(struct at_query), at_query_rows};

#define T struct starts_body
static const struct json_field starts_rows[] = {
    {.name = "holder",
     .doc = "Who asks: what it was told and has not begun is told again to it alone",
     .type = JSON_TYPE_TEXT,
     .offset = JSON_AT(T, holder, const char *),
     .min = 1,
     .max = 200,
     .flags = JSON_REQUIRED},
    JSON_NUMBER(T, hold_s, 1, 3600, 60, 0,
                "What is not begun within so many seconds others may start; default 60"),
    {.name = "max_count",
     .doc = "Tasks to start at most; default: all",
     .type = JSON_TYPE_INTEGER,
     .offset = JSON_AT(T, max_count, uint64_t),
     .min = 1,
     .max = JSON_EXACT,
     .flags = JSON_NULLABLE | JSON_BOUND_ONLY},
    QUEUE_ROW(T),
    JSON_TEXTS(T, resource_ids, resource_id_count, 100000, JSON_NULLABLE,
               "Only what these resources are to start"),
    JSON_TEXTS(T, candidate_task_ids, candidate_task_id_count, CANDIDATES_MAX,
               JSON_NULLABLE,
               "What the engine has in its hands: no other task is told, and none holds "
               "a resource from these"),
    JSON_LIST(T, events, event_count, struct session_event, &session_event_json,
              SESSION_EVENTS_MAX, 0, "Stored first, as by POST .../events"),
    {0},
};
#undef T
const struct json_object session_starts_json = {
    "SessionStarts", "What an engine can start", sizeof(struct starts_body), starts_rows};

/* ---- what is answered ---- */

static const char *const run_statuses[] = {"running", "finished", "stuck", NULL};
static const char *const unstartable_statuses[] = {
    "unknown", "done", "failed", "running", "cancelled", "blocked", NULL};

#define T struct session_basis
static const struct json_field basis_rows[] = {
    JSON_WORD(T, source, session_source_names, 0,
              "etc, estimate: the task's own; model: what earlier runs have taught; "
              "session: attempts of its class there; scaled: elsewhere, by the speeds; "
              "default: nothing is known"),
    JSON_TEXT(T, model_id, JSON_OPTIONAL, "Of model: which"),
    JSON_INTEGER(T, model_version, 0, JSON_EXACT, 0, JSON_OPTIONAL, "Of model: which"),
    JSON_NUMBER(T, low_s, 0, 0, 0, JSON_OPTIONAL, "Of model: lower end of its interval"),
    JSON_NUMBER(T, high_s, 0, 0, 0, JSON_OPTIONAL, "Of model: upper end of its interval"),
    JSON_NUMBER(T, level, 0, 0, 0, JSON_OPTIONAL,
                "Share of the runs that are to fall into the interval"),
    {0},
};
#undef T
static const struct json_object basis_json = {"SessionRunTimeBasis",
                                              "Where a run time comes from",
                                              sizeof(struct session_basis), basis_rows};

#define T struct session_start
static const struct json_field start_rows[] = {
    JSON_TEXT(T, task_id, 0, "The task"),
    JSON_INTEGER(T, attempt, 1, JSON_EXACT, 1, 0, "Number of the attempt"),
    JSON_TEXT(T, resource_id, 0, "Where it is to start"),
    JSON_TEXTS(T, resource_ids, resource_id_count, 0, JSON_OPTIONAL,
               "Of a task of several nodes: all of them; resource_id is the first"),
    JSON_NUMBER(T, run_time_s, 0, 0, 0, 0, "Expected run time there, seconds"),
    JSON_NUMBER(T, finish_s, 0, 0, 0, 0, "When it is done, seconds from now"),
    JSON_OBJECT(T, run_time_basis, struct session_basis, &basis_json, 0,
                "Where the run time comes from"),
    JSON_INSTANT(T, hold_until_at, JSON_OPTIONAL,
                 "Of POST starts: until then nobody else is told to start it"),
    {0},
};
#undef T
static const struct json_object start_json = {"SessionStart", "A task to start now",
                                              sizeof(struct session_start), start_rows};

#define T struct session_move
static const struct json_field move_rows[] = {
    JSON_TEXT(T, task_id, 0, "A running task"),
    JSON_INTEGER(T, attempt, 1, JSON_EXACT, 1, 0, "Number of the attempt"),
    JSON_TEXT(T, from_resource_id, 0, "Where it runs"),
    JSON_TEXT(T, to_resource_id, 0, "Where it would be done earlier"),
    JSON_NUMBER(T, gain_s, 0, 0, 0, JSON_MAY_BE_NULL,
                "By how many seconds; null: not known"),
    {0},
};
#undef T
static const struct json_object move_json = {"SessionMove", "A move that pays",
                                             sizeof(struct session_move), move_rows};

#define T struct session_cancel_row
static const struct json_field cancel_rows[] = {
    JSON_TEXT(T, task_id, 0, "The task"),
    JSON_INTEGER(T, attempt, 1, JSON_EXACT, 1, 0, "Number of the attempt"),
    JSON_TEXT(T, resource_id, 0, "Where it runs"),
    {0},
};
#undef T
static const struct json_object cancel_json = {
    "SessionCancel", "A process that nobody needs", sizeof(struct session_cancel_row),
    cancel_rows};

#define T struct session_unstartable
static const struct json_field unstartable_rows[] = {
    JSON_TEXT(T, task_id, 0, "The candidate"),
    JSON_WORD(T, status, unstartable_statuses, 0, "What it is here"),
    {0},
};
#undef T
static const struct json_object unstartable_json = {
    "SessionNotStartable", "A candidate that the run does not take for ready",
    sizeof(struct session_unstartable), unstartable_rows};

#define T struct session_queued
static const struct json_field queued_rows[] = {
    JSON_TEXT(T, task_id, 0, "The task"),
    JSON_NUMBER(T, start_s, 0, 0, 0, 0, "When it is to start, seconds from now"),
    JSON_NUMBER(T, finish_s, 0, 0, 0, 0, "When it is done, seconds from now"),
    {0},
};
#undef T
static const struct json_object queued_json = {
    "SessionQueuedTask", "A task that comes later", sizeof(struct session_queued),
    queued_rows};

#define T struct session_queue
static const struct json_field queue_rows[] = {
    JSON_TEXT(T, resource_id, 0, "The resource"),
    JSON_LIST(T, tasks, task_count, struct session_queued, &queued_json, 0, 0,
              "What it is to start next, in this order"),
    {0},
};
#undef T
static const struct json_object queue_json = {"SessionQueue", "What to stage next",
                                              sizeof(struct session_queue), queue_rows};

#define T struct session_plan_info
static const struct json_field info_rows[] = {
    JSON_INTEGER(T, revision, 0, JSON_EXACT, 0, 0, "Of the session, when it was made"),
    JSON_INSTANT(T, planned_at, 0, "When it was made"),
    JSON_WORD_OF(T, algorithm, workflow_words, 0, "Policy that decided"),
    JSON_WORD(T, status, decision_status_names, 0, "As of any decision"),
    JSON_RAW(T, objective, 0, "How good it is: the objective of a workflow schedule",
             JSON_HOLDS(&workflow_objective_json)),
    {0},
};
#undef T
static const struct json_object info_json = {"SessionPlanInfo", "The plan in force",
                                             sizeof(struct session_plan_info), info_rows};

#define T struct session_answer
static const struct json_field answer_rows[] = {
    JSON_TEXT(T, session_id, 0, "The session"),
    JSON_INTEGER(T, revision, 0, JSON_EXACT, 0, 0, "Its revision"),
    JSON_WORD(
        T, status, run_statuses, 0,
        "finished: all tasks are done or cancelled; stuck: nothing runs, is granted "
        "or may start; running otherwise"),
    JSON_INSTANT(T, now, 0, "From when all seconds count"),
    JSON_LIST(T, start, start_count, struct session_start, &start_json, 0, 0,
              "Tasks to start now"),
    JSON_LIST(T, move, move_count, struct session_move, &move_json, 0, 0,
              "Running tasks whose move pays; with moves: paying"),
    JSON_LIST(T, cancel, cancel_count, struct session_cancel_row, &cancel_json, 0, 0,
              "Processes that nobody needs: until they are over they hold their amounts"),
    JSON_LIST(T, not_startable, not_startable_count, struct session_unstartable,
              &unstartable_json, 0, 0,
              "Candidates that the run does not take for ready: the engine knows better"),
    JSON_LIST(T, queues, queue_count, struct session_queue, &queue_json, 0, 0,
              "What each resource is to start next"),
    JSON_OBJECT(T, plan, struct session_plan_info, &info_json, 0, "The plan in force"),
    JSON_NUMBER(T, ask_again_in_s, 0, 0, 0, 0,
                "When the answer could be another one without any event, seconds"),
    JSON_OBJECT(T, counts, struct session_counts, &session_counts_json, 0,
                "Tasks of each status"),
    JSON_OBJECT(T, events, const struct session_events_answer *,
                &session_events_answer_json, JSON_POINTER | JSON_OPTIONAL,
                "What became of the events that came with it"),
    JSON_TEXTS(T, warnings, warning_count, 0, 0, "What the caller should know"),
    {0},
};
#undef T
const struct json_object session_answer_json = {
    "SessionNext", "What a run's engine is to do now", sizeof(struct session_answer),
    answer_rows};

#define T struct session_plan
#define PLAN_ROWS                                                                       \
    JSON_INTEGER(T, revision, 0, JSON_EXACT, 0, 0, "Of the session, when it was made"), \
        JSON_INSTANT(T, planned_at, 0, "From when its seconds count"),                  \
        JSON_TEXT(T, algorithm, 0, "Policy that decided"),                              \
        JSON_TEXT(T, status, 0, "As of any decision"),                                  \
        JSON_RAW(T, objective, 0, "As of a workflow schedule")
#define R struct session_plan_row
static const struct json_field kept_row_rows[] = {
    JSON_TEXT(R, task_id, 0, ""),
    JSON_TEXT(R, resource_id, 0, ""),
    JSON_TEXTS(R, resource_ids, resource_id_count, JOB_NODES_MAX, JSON_OPTIONAL, ""),
    JSON_NUMBER(R, start_s, -JSON_LARGEST, JSON_LARGEST, 0, 0, ""),
    JSON_NUMBER(R, finish_s, -JSON_LARGEST, JSON_LARGEST, 0, 0, ""),
    JSON_NUMBER(R, rank_s, -JSON_LARGEST, JSON_LARGEST, 0, 0, ""),
    JSON_BOOLEAN(R, many, false, 0, ""),
    {0},
};
#undef R
static const struct json_object kept_row_json = {
    "SessionKeptRow", "", sizeof(struct session_plan_row), kept_row_rows};
#define R struct session_plan_move
static const struct json_field kept_move_rows[] = {
    JSON_TEXT(R, task_id, 0, ""),
    JSON_TEXT(R, from_resource_id, 0, ""),
    JSON_TEXT(R, to_resource_id, 0, ""),
    JSON_NUMBER(R, gain_s, -JSON_LARGEST, JSON_LARGEST, NAN, JSON_OPTIONAL, ""),
    {0},
};
#undef R
static const struct json_object kept_move_json = {
    "SessionKeptMove", "", sizeof(struct session_plan_move), kept_move_rows};

static const struct json_field kept_rows[] = {
    PLAN_ROWS,
    {.name = "candidates",
     .doc = "",
     .type = JSON_TYPE_TEXT,
     .offset = JSON_AT(T, candidates, const char *),
     .max = JSON_LARGEST,
     .flags = JSON_OPTIONAL},
    JSON_LIST(T, rows, row_count, struct session_plan_row, &kept_row_json,
              WORKFLOW_TASKS_MAX, 0, ""),
    JSON_LIST(T, moves, move_count, struct session_plan_move, &kept_move_json,
              WORKFLOW_TASKS_MAX, 0, ""),
    JSON_NUMBER(T, over_s, 0, JSON_LARGEST, NAN, JSON_OPTIONAL, ""),
    JSON_TEXTS(T, warnings, warning_count, 1000, 0, ""),
    {0},
};
const struct json_object session_plan_json = {"SessionKeptPlan", "A plan as it is stored",
                                              sizeof(struct session_plan), kept_rows};
#undef T

struct plan_answer {
    const char *session_id;
    struct session_plan plan;
};

#define T struct plan_answer
static const struct json_field plan_answer_rows[] = {
    JSON_TEXT(T, session_id, 0, "The session"),
    {.name = "revision",
     .doc = "Of the session, when it was made",
     .type = JSON_TYPE_INTEGER,
     .offset = JSON_AT(T, plan.revision, uint64_t),
     .max = JSON_EXACT},
    {.name = "planned_at",
     .doc = "From when its seconds count",
     .type = JSON_TYPE_INSTANT,
     .offset = JSON_AT(T, plan.planned_at_s, double)},
    {.name = "algorithm",
     .doc = "Policy that decided",
     .type = JSON_TYPE_TEXT,
     .offset = JSON_AT(T, plan.algorithm, const char *),
     .words = &workflow_words},
    {.name = "status",
     .doc = "As of any decision",
     .type = JSON_TYPE_TEXT,
     .choices = decision_status_names,
     .offset = JSON_AT(T, plan.status, const char *),
     .flags = JSON_OPEN},
    {.name = "objective",
     .doc = "As of a workflow schedule",
     .type = JSON_TYPE_RAW,
     JSON_HOLDS(&workflow_objective_json),
     .offset = JSON_AT(T, plan.objective, const char *)},
    {.name = "schedule",
     .doc = "As of a workflow schedule",
     .type = JSON_TYPE_RAW,
     JSON_HOLDS_LIST(&workflow_placement_json),
     .offset = JSON_AT(T, plan.schedule, const char *)},
    {.name = "unplaced",
     .doc = "As of a workflow schedule",
     .type = JSON_TYPE_RAW,
     JSON_HOLDS_LIST(&workflow_unplaced_json),
     .offset = JSON_AT(T, plan.unplaced, const char *)},
    {.name = "warnings",
     .doc = "Of the decision",
     .type = JSON_TYPE_TEXTS,
     .offset = JSON_AT(T, plan.warnings, const char *const *),
     .count_offset = JSON_AT(T, plan.warning_count, size_t)},
    {0},
};
#undef T
const struct json_object session_plan_answer_json = {
    "SessionPlan", "The plan of a run", sizeof(struct plan_answer), plan_answer_rows};

/* ---- filling it ---- */

static void list_cancels(const struct session_run *run, struct session_answer *out)
{
    struct session_cancel_row *list =
        NEW(run->rq->arena, struct session_cancel_row, run->state.cancel_count);

    for (size_t i = 0; i < run->state.cancel_count; i++) {
        const struct session_cancel *c = &run->state.cancel[i];

        list[i] = (struct session_cancel_row){run->graph[c->task].id, c->attempt->number,
                                              c->resource_id};
    }
    out->cancel = list;
    out->cancel_count = run->state.cancel_count;
}

/* Of those that the plan has found the ones that still run where they did. */
static void list_moves(const struct session_run *run, const struct session_plan *plan,
                       struct session_answer *out)
{
    struct session_move *list =
        NEW(run->rq->arena, struct session_move, plan->move_count);

    for (size_t i = 0; i < plan->move_count; i++) {
        const struct session_plan_move *m = &plan->moves[i];
        size_t task = name_index_find(&run->ids, m->task_id);
        const struct session_task_state *of =
            task == NAME_NOT_FOUND ? NULL : &run->state.of[task];

        if (of && of->status == SESSION_TASK_RUNNING &&
            strcmp(of->shown->started->resource_id, m->from_resource_id) == 0)
            list[out->move_count++] =
                (struct session_move){m->task_id, of->shown->number, m->from_resource_id,
                                      m->to_resource_id, m->gain_s};
    }
    out->move = list;
}

static void fill(struct session_run *run, const struct session_choice *choice,
                 struct session_answer *out)
{
    const struct session_plan *plan = &choice->plan;

    for (size_t i = 0; i < plan->warning_count; i++)
        session_warn(run, "%s", plan->warnings[i]);
    out->session_id = run->row.session_id;
    out->revision = run->revision;
    out->status =
        session_status_names[session_status_of(&run->state, run->granted_count)];
    out->now_s = run->now_s;
    out->start = choice->starts;
    out->start_count = choice->start_count;
    list_moves(run, plan, out);
    list_cancels(run, out);
    out->not_startable = choice->not_startable;
    out->not_startable_count = choice->not_startable_count;
    out->queues = choice->queues;
    out->queue_count = choice->queue_count;
    out->plan =
        (struct session_plan_info){plan->revision, plan->planned_at_s, plan->algorithm,
                                   plan->status, plan->objective};
    out->ask_again_in_s = choice->ask_again_in_s;
    out->counts = session_counts_of(&run->state);
    out->warnings = run->warnings;
    out->warning_count = run->warning_count;
}

/* ---- ETag ---- */

static const char *etag_of(const struct store_session *row, struct arena *a)
{
    return arena_printf(a, "\"%llu-%llu-%llu\"", (unsigned long long)row->revision,
                        (unsigned long long)row->world_version,
                        (unsigned long long)row->plan_revision);
}

/* What becomes of a request that names an ETag. */
enum condition { ANOTHER, SAME, LATER };

/* From one row: nothing has happened, and nothing is due. */
static enum error_code check_condition(struct request *rq, double wait_s,
                                       enum condition *condition)
{
    struct store_session head;
    struct request_wait what;
    struct db_session *db;
    const char *tag;

    *condition = ANOTHER;
    if (!rq->message->if_none_match || request_has_waited(rq))
        return OK;
    TRY(request_db(rq, &db));
    TRY(store_session_head(db, rq->principal.tenant, rq->path_value[0], &head, rq->arena,
                           rq->err));
    TRY(session_check_expiry(&head, rq->err));
    tag = etag_of(&head, rq->arena);
    if (!etag_matches_weakly(rq->message->if_none_match, tag) ||
        !(head.due_at_s > head.now_s)) {
        if (request_wait_over(rq))
            *condition = LATER;
        return OK;
    }
    what = (struct request_wait){head.session_id, head.revision, head.world_version,
                                 head.plan_revision, head.due_at_s - head.now_s};
    *condition = wait_s > 0 && request_wait(rq, &what, wait_s) ? LATER : SAME;
    if (*condition == SAME)
        reply_header_add(rq->reply, "ETag", tag);
    return OK;
}

/* What was due has another ETag: a start that was planned for now is news. */
static enum error_code write_due(struct session_run *run,
                                 const struct session_choice *choice)
{
    double due_at_s = run->now_s + choice->ask_again_in_s;
    bool was_due = !choice->is_fresh && run->row.due_at_s <= run->now_s;
    struct db_session *db;

    if (fabs(run->row.due_at_s - due_at_s) < DUE_S)
        return OK;
    TRY(request_db(run->rq, &db));
    TRY(store_session_due(db, run->rq->principal.tenant, run->row.session_id, due_at_s,
                          run->row.plan_revision, was_due, run->rq->err));
    run->row.plan_revision += was_due;
    return OK;
}

/* ---- what is finished ---- */

/* Of a run that is finished, with a plan of its last revision: none of its tasks and
 * events is read, as nothing but a new one changes the answer. *answered false: it is
 * another run, or there is more to say of it. */
static enum error_code answer_over(struct request *rq, struct store_session *row,
                                   struct session_answer *out, bool *answered)
{
    struct session_run run = {.rq = rq};
    struct session_choice choice = {0};
    const char *tenant = rq->principal.tenant;
    struct db_session *db;

    TRY(request_db(rq, &db));
    TRY(store_session_over(db, tenant, rq->path_value[0], row, answered, rq->arena,
                           rq->err));
    if (!*answered)
        return OK;
    TRY(session_check_expiry(row, rq->err));
    TRY(json_read(&session_plan_json, row->plan, strlen(row->plan), &choice.plan, NULL,
                  rq->arena, rq->err));
    *answered = !isnan(choice.plan.over_s);
    if (!*answered)
        return OK;
    run.row = *row;
    run.revision = row->revision;
    run.now_s = row->now_s;
    run.state.task_count = row->done_count + row->stopped_count;
    run.state.counts[SESSION_TASK_DONE] = row->done_count;
    run.state.counts[SESSION_TASK_CANCELLED] = row->stopped_count;
    choice.ask_again_in_s = choice.plan.over_s;
    fill(&run, &choice, out);
    if (!(row->due_at_s > row->now_s))
        TRY(store_session_due(db, tenant, row->session_id,
                              row->now_s + choice.plan.over_s, row->plan_revision, false,
                              rq->err));
    return OK;
}

/* ---- handlers ---- */

static struct session_at at_of(const struct at_query *query)
{
    return (struct session_at){.now_s = query->now_at_s,
                               .revision = query->revision == (uint64_t)JSON_EXACT
                                               ? JSON_NO_INTEGER
                                               : query->revision};
}

enum error_code get_session_next(struct request *rq, const void *in, void *out)
{
    const struct next_query *query = rq->query;
    struct session_at at = at_of(&query->at);
    struct session_wish wish = {.queue_depth = query->queue_depth,
                                .resource_ids = query->resource_ids,
                                .resource_id_count = query->resource_id_count};
    struct session_choice choice;
    struct session_run run;
    enum condition condition = ANOTHER;
    struct store_session row;
    bool is_answered = false;

    (void)in;
    if (isnan(at.now_s) && at.revision == JSON_NO_INTEGER)
        TRY(check_condition(rq, query->wait_s, &condition));
    if (condition == SAME)
        rq->reply->status = 304;
    if (condition != ANOTHER)
        return OK;
    if (isnan(at.now_s) && at.revision == JSON_NO_INTEGER && !wish.resource_ids)
        TRY(answer_over(rq, &row, out, &is_answered));
    if (is_answered) {
        reply_header_add(rq->reply, "ETag", etag_of(&row, rq->arena));
        return OK;
    }
    TRY(session_run_read(&run, rq, &at, false));
    TRY(session_choose(&run, &wish, &choice));
    fill(&run, &choice, out);
    if (run.is_replay)
        return OK;
    TRY(write_due(&run, &choice));
    reply_header_add(rq->reply, "ETag", etag_of(&run.row, rq->arena));
    return OK;
}

enum error_code post_session_starts(struct request *rq, const void *in, void *out)
{
    const struct starts_body *body = in;
    struct session_wish wish = {
        .candidates = {body->candidate_task_ids, body->candidate_task_id_count},
        .resource_ids = body->resource_ids,
        .resource_id_count = body->resource_id_count,
        .max_count = body->max_count,
        .queue_depth = body->queue_depth,
        .holder = body->holder};
    struct session_events_answer *events = NULL;
    struct session_answer *answer = out;
    struct session_choice choice;
    struct session_run run, read;
    struct store_session row;
    bool is_answered = false;

    if (body->event_count) {
        struct json_lines lines = {.items = body->events, .count = body->event_count};

        events = NEW(rq->arena, struct session_events_answer, 1);
        TRY(session_events_store(rq, &lines, "/events", events, &read));
    }
    if (!wish.candidates.ids && !wish.resource_ids)
        TRY(answer_over(rq, &row, out, &is_answered));
    if (is_answered) {
        answer->events = events;
        return session_asked(rq, row.session_id);
    }
    TRY(session_run_after(&run, rq, events ? &read : NULL));
    TRY(session_choose(&run, &wish, &choice));
    TRY(session_grant(&run, &choice, body->holder, body->hold_s));
    fill(&run, &choice, out);
    answer->events = events;
    return OK;
}

enum error_code get_session_request(struct request *rq, const void *in, void *out)
{
    const struct at_query *query = rq->query;
    struct session_at at = at_of(query);
    struct session_candidates all = {0};
    struct workflow_body body;
    struct session_run run;
    const char *text;

    (void)in;
    (void)out;
    TRY(session_run_read(&run, rq, &at, false));
    TRY(session_world(&run));
    TRY(session_request(&run, session_times_of(&run), &all, &body));
    text = session_request_text(&body, rq->arena);
    rq->reply->body = text;
    rq->reply->body_length = strlen(text);
    rq->reply->content_type = "application/json";
    return OK;
}

/* The plan in force if nothing else was asked for, else one as of then. */
enum error_code get_session_plan(struct request *rq, const void *in, void *out)
{
    const struct at_query *query = rq->query;
    struct session_at at = at_of(query);
    struct session_wish wish = {.any_candidates = true};
    struct session_choice choice;
    struct plan_answer *answer = out;
    struct session_run run;

    (void)in;
    TRY(session_run_read(&run, rq, &at, false));
    TRY(session_choose(&run, &wish, &choice));
    TRY(session_plan_schedule(&run, &choice.plan));
    answer->session_id = run.row.session_id;
    answer->plan = choice.plan;
    return picture_answer(rq, out);
}

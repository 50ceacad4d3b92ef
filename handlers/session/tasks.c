/* tasks.c - POST and GET .../tasks: tasks that come while a workflow runs, and all of
 * them with what became of them.
 */
#include "handlers/session/sessions.h"

#include "handlers/history/bulk.h"
#include "handlers/session_run/plan.h"
#include "models/base/names.h"
#include "models/base/plural.h"
#include "models/base/pointer.h"
#include "service/config.h"
#include "service/service.h"
#include "service/session_watch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- POST ---- */

struct tasks_answer {
    uint64_t revision, received, stored, duplicates, refused;
    const struct session_mistake *errors;
    size_t error_count;
};

#define T struct tasks_answer
static const struct json_field answer_rows[] = {
    JSON_INTEGER(T, revision, 0, JSON_EXACT, 0, 0, "Of the session now"),
    JSON_INTEGER(T, received, 0, JSON_EXACT, 0, 0, "Tasks in the body"),
    JSON_INTEGER(T, stored, 0, JSON_EXACT, 0, 0, "Tasks added, replaced or removed"),
    JSON_INTEGER(T, duplicates, 0, JSON_EXACT, 0, 0, "Tasks that were as they are sent"),
    JSON_INTEGER(T, refused, 0, JSON_EXACT, 0, 0, "Tasks that were not stored"),
    JSON_LIST(T, errors, error_count, struct session_mistake, &session_task_mistake_json,
              0, 0, "Why those were not"),
    {0},
};
#undef T
const struct json_object session_tasks_answer_json = {
    "SessionTasksAnswer", "What became of tasks", sizeof(struct tasks_answer),
    answer_rows};

struct adding {
    struct request *rq;
    const struct bulk_items *items;
    struct tasks_answer *out;
    struct session_mistake *mistakes;
    size_t mistake_count, refused_before;
    struct session_run run;
    struct store_session_task *list; /* to be written */
    size_t count;
    struct name_index written; /* by id: positions in the list */
};

static const struct session_task_body *item(const struct adding *x, size_t i)
{
    return (const struct session_task_body *)x->items->list + i;
}

static void refuse(struct adding *x, size_t i, enum item_code code, const char *detail)
{
    const char *pointer = "/id";
    uint64_t line = x->items->line ? x->items->line[i] : JSON_NO_INTEGER;

    if (!x->items->line && !x->items->is_single)
        pointer = pointer_keep("", i, "id", x->rq->arena);
    x->mistakes[x->mistake_count++] = (struct session_mistake){
        item(x, i)->task.id, line, item_kinds[code].name, detail, pointer};
}

static const char *text_of(const struct session_task_body *body, struct arena *a)
{
    struct text_buffer b = {.arena = a, .prints_request = true};
    struct session_task_body printed = *body;

    if (printed.task.nodes == 0)
        printed.task.nodes = JSON_NO_INTEGER;
    json_print(&session_task_json, &printed, &b);
    text_add(&b, "", 1);
    return text_end(&b);
}

/* As it is now: with what came before in this batch. */
static const char *known_text(const struct adding *x, const char *id, bool *removed)
{
    size_t at = name_index_find(&x->written, id);

    *removed = false;
    if (at != NAME_NOT_FOUND) {
        *removed = x->list[at].removed_seq > 0;
        return x->list[at].document;
    }
    at = name_index_find(&x->run.ids, id);
    if (at == NAME_NOT_FOUND)
        return NULL;
    *removed = x->run.graph[at].removed;
    return text_of(&x->run.tasks[at], x->rq->arena);
}

/* One number for each change; of the same task in one batch the last counts. */
static void put(struct adding *x, const char *id, const char *document, bool removed)
{
    size_t at = name_index_add(&x->written, id, x->count);
    uint64_t seq = x->out->revision + 1;
    struct store_session_task *task;

    x->out->revision = seq;
    x->out->stored++;
    if (at == NAME_NOT_FOUND) {
        at = x->count++;
        x->list[at].first_seq = seq;
    }
    task = &x->list[at];
    task->session_id = x->run.row.session_id;
    task->task_id = id;
    task->seq = seq;
    task->document = document;
    task->removed_seq = removed ? seq : 0;
}

static void add_one(struct adding *x, size_t i)
{
    const struct session_task_body *body = item(x, i);
    bool removed;
    const char *known = known_text(x, body->task.id, &removed);
    const char *text = text_of(body, x->rq->arena);

    if (body->remove && !known)
        refuse(x, i, ITEM_UNKNOWN_ID, "there is no such task to remove");
    else if (body->remove && removed)
        x->out->duplicates++;
    else if (body->remove)
        put(x, body->task.id, known, true);
    else if (!known || (body->replace && (removed || strcmp(known, text) != 0)))
        put(x, body->task.id, text, false);
    else if (strcmp(known, text) == 0)
        x->out->duplicates++;
    else
        refuse(x, i, ITEM_CONFLICT,
               "it is there with other members; replace: true takes its place");
}

/* Where in the body a task of the whole is; NULL: it did not come with it. */
static const char *place_of(const struct adding *x, const char *id)
{
    for (size_t i = x->items->count; i-- > 0;) {
        if (strcmp(item(x, i)->task.id, id) != 0)
            continue;
        if (x->items->line || x->items->is_single)
            return "";
        return arena_printf(x->rq->arena, "/%zu", i);
    }
    return NULL;
}

/* Where the body closes a cycle that the whole has at a task which was there before: at
 * the first of its tasks that the cycle's text names. */
static const char *place_in_cycle(const struct adding *x, const char *text)
{
    for (size_t i = 0; i < x->items->count; i++) {
        const char *id = item(x, i)->task.id;

        if (strstr(text, arena_printf(x->rq->arena, " %s -> ", id)))
            return place_of(x, id);
    }
    return NULL;
}

/* What is wrong with the whole stands where the body has it. */
static void point_at_body(const struct adding *x, const struct session_run *run)
{
    static const char tasks[] = "/workflow/tasks/";
    struct error *err = x->rq->err;

    for (struct error_item *e = err->first; e; e = e->next) {
        const char *at = e->pointer, *place;
        char *rest;
        size_t k;

        if (strncmp(at, tasks, sizeof(tasks) - 1) != 0)
            continue;
        k = (size_t)strtoull(at + sizeof(tasks) - 1, &rest, 10);
        place = k < run->task_count ? place_of(x, run->tasks[k].task.id) : NULL;
        if (!place && e->code == ITEM_CYCLE)
            place = place_in_cycle(x, e->detail);
        e->pointer = place ? arena_printf(x->rq->arena, "%s%s", place, rest) : "";
    }
    if (err->first)
        snprintf(err->field, sizeof(err->field), "%s", err->first->pointer);
}

/* With the tasks as they will be: a cycle refuses the whole batch. */
static enum error_code check_graph(struct adding *x)
{
    enum error_code code;
    struct session_run run = {.rq = x->rq, .row = x->run.row};

    run.definition = x->run.definition;
    run.revision = INT64_MAX;
    run.now_s = run.row.now_s;
    TRY(session_tasks_read(&run));
    session_fold_begin(&run.fold, 0, NULL, x->rq->arena); /* nothing has happened */
    session_state_of(run.graph, run.task_count, &run.fold, &run.state, &x->rq->finish,
                     x->rq->arena);
    TRY(session_world(&run));
    code = session_request_check(&run);
    if (code == ERR_INVALID)
        point_at_body(x, &run);
    return code;
}

/* Tasks that nobody has heard of run nowhere yet. */
static enum error_code stand(struct adding *x, struct db_session *db)
{
    struct store_session row = x->run.row;
    bool known = row.status_revision == row.revision &&
                 row.counts_revision == row.revision && row.running_count > 0;

    for (size_t i = 0; i < x->count; i++)
        known &= name_index_find(&x->run.ids, x->list[i].task_id) == NAME_NOT_FOUND;
    row.revision = x->out->revision;
    if (!known)
        return session_stand(x->rq, db, &row);
    return store_session_stand(db, x->rq->principal.tenant, &row,
                               session_status_names[SESSION_IS_RUNNING], x->rq->err);
}

static enum error_code add_locked(struct db_session *db, void *context, struct error *err)
{
    struct adding *x = context;
    struct request *rq = x->rq;
    const char *tenant = rq->principal.tenant, *id = rq->path_value[0];
    size_t most = rq->service->config->workflow_session_tasks;
    bool found;

    *x->out =
        (struct tasks_answer){.received = x->out->received, .refused = x->out->refused};
    x->mistake_count = x->refused_before;
    x->count = 0;
    x->run = (struct session_run){.rq = rq, .revision = INT64_MAX};
    x->list = NEW(rq->arena, struct store_session_task, x->items->count);
    name_index_create(&x->written, x->items->count, rq->arena);
    TRY(store_session_lock(db, tenant, id, &x->run.row, &found, rq->arena, err));
    if (!found)
        return fail(err, ERR_NOT_FOUND, "/session_id",
                    "there is no workflow session '%.200s'", id);
    TRY(session_check_expiry(&x->run.row, err));
    TRY(json_read(&session_definition_json, x->run.row.definition,
                  strlen(x->run.row.definition), &x->run.definition, NULL, rq->arena,
                  err));
    TRY(session_tasks_read(&x->run));
    x->out->revision = x->run.row.revision;
    for (size_t i = 0; i < x->items->count; i++)
        add_one(x, i);
    if (x->run.task_count + x->count > most)
        return fail(err, ERR_TOO_LARGE, "", "a session has %s at most",
                    counted(most, "task").text);
    if (x->count == 0)
        return OK;
    TRY(store_session_tasks_write(db, tenant, x->list, x->count, rq->arena, err));
    TRY(check_graph(x));
    TRY(store_session_advance(db, tenant, id, x->out->revision, x->run.row.event_count,
                              false, err));
    return stand(x, db);
}

enum error_code post_session_tasks(struct request *rq, const void *in, void *out)
{
    struct bulk_answer form = {0};
    struct bulk_items items;
    struct tasks_answer *answer = out;
    struct adding x = {.rq = rq, .items = &items, .out = answer};

    TRY(bulk_accept(rq, in, sizeof(struct session_task_body), NULL, &items, &form));
    x.mistakes = NEW(rq->arena, struct session_mistake, form.error_count + items.count);
    for (size_t i = 0; i < form.error_count; i++)
        x.mistakes[x.mistake_count++] =
            (struct session_mistake){NULL, form.errors[i].line, form.errors[i].code,
                                     form.errors[i].detail, form.errors[i].pointer};
    x.refused_before = x.mistake_count;
    answer->received = form.received;
    answer->refused = form.refused;
    TRY(session_transaction(rq, add_locked, &x));
    session_watch_look(rq->service->watch);
    answer->refused += x.mistake_count - x.refused_before;
    answer->errors = x.mistakes;
    answer->error_count = x.mistake_count;
    rq->ingested =
        (struct metrics_rows){answer->stored, answer->duplicates, answer->refused};
    return OK;
}

/* ---- GET ---- */

struct tasks_query {
    int status;
};

struct task_row {
    const char *task_id, *status;
    uint64_t attempt; /* JSON_NO_INTEGER: none */
    const char *resource_id, *holder;
    const char *const *resource_ids; /* of several nodes: all of them */
    size_t resource_id_count;
    double started_at_s, ended_at_s, run_time_s, expected_end_at_s;
    double progress_ratio, overdue_ratio, hold_until_at_s;
    uint64_t attempt_count;
};

static const double OVERDUE_RATIO = 10; /* what is told of is longer */

struct tasks_page {
    const struct task_row *items;
    size_t item_count;
};

#define T struct tasks_query
static const struct json_field query_rows[] = {
    JSON_CHOICE(T, status, session_task_status_names, -1, 0, "Only those of this status"),
    {0},
};
#undef T
const struct json_object session_tasks_query_json = {
    "SessionTasksQuery", "Which tasks", sizeof(struct tasks_query), query_rows};

#define T struct task_row
static const struct json_field task_row_rows[] = {
    JSON_TEXT(T, task_id, 0, "The task"),
    JSON_WORD(T, status, session_task_status_names, 0,
              "idle: it waits for others; blocked: for one that failed or was cancelled"),
    JSON_INTEGER(T, attempt, 1, JSON_EXACT, 1, JSON_OPTIONAL,
                 "The attempt that the next members are of"),
    JSON_TEXT(T, resource_id, JSON_OPTIONAL,
              "Where it ran, or runs; of one that was granted where it is to start"),
    JSON_TEXTS(T, resource_ids, resource_id_count, 0, JSON_OPTIONAL,
               "On several nodes: all of them; resource_id is the first"),
    JSON_INSTANT(T, started_at, JSON_OPTIONAL, "When it started"),
    JSON_INSTANT(T, ended_at, JSON_OPTIONAL, "When it ended, failed or was cancelled"),
    JSON_NUMBER(T, run_time_s, 0, 0, 0, JSON_OPTIONAL, "How long it ran, seconds"),
    JSON_INSTANT(T, expected_end_at, JSON_OPTIONAL, "Of a running one: when it may end"),
    JSON_NUMBER(T, progress_ratio, 0, 0, 0, JSON_OPTIONAL,
                "Share of its work that was done when it was last reported"),
    JSON_NUMBER(T, overdue_ratio, 0, 0, 0, JSON_OPTIONAL,
                "Of one that has run for more than 10 times as long as was expected: how "
                "many times; its engine may be gone"),
    JSON_TEXT(T, holder, JSON_OPTIONAL,
              "Of one that was granted: who was told to start it (POST starts)"),
    JSON_INSTANT(T, hold_until_at, JSON_OPTIONAL, "Until then nobody else is told"),
    JSON_INTEGER(T, attempt_count, 0, JSON_EXACT, 0, 0, "Attempts so far"),
    {0},
};
#undef T
static const struct json_object task_row_json = {"SessionTaskState",
                                                 "A task and what became of it",
                                                 sizeof(struct task_row), task_row_rows};

#define T struct tasks_page
static const struct json_field page_rows[] = {
    JSON_LIST(T, items, item_count, struct task_row, &task_row_json, 0, 0,
              "The tasks in the order of the definition"),
    {0},
};
#undef T
const struct json_object session_tasks_page_json = {"SessionTasksPage", "Tasks of a run",
                                                    sizeof(struct tasks_page), page_rows};

/* When a running one may end, and whether it should have long ago. */
static void expect_end(const struct session_run *run, const struct session_times *times,
                       size_t i, struct task_row *row)
{
    const struct session_attempt *t = run->state.of[i].shown;
    enum session_source source;
    double total_s, elapsed_s;

    if (!t || !t->started ||
        !session_places_known(run, session_places_started(t->started)))
        return;
    total_s = session_total_s(session_started_s(times, i, t->started, &source), t);
    elapsed_s = fmax(0, run->now_s - t->started->observed_at_s);
    row->expected_end_at_s = run->now_s + session_remaining_s(total_s, elapsed_s);
    if (total_s > 0 && elapsed_s > OVERDUE_RATIO * total_s)
        row->overdue_ratio = elapsed_s / total_s;
}

static struct task_row row_of(const struct session_run *run,
                              const struct session_times *times, size_t i)
{
    const struct session_task_state *of = &run->state.of[i];
    const struct session_attempt *t = of->shown;
    const struct store_session_grant *grant = run->granted[i];
    struct task_row row = {.task_id = run->graph[i].id,
                           .status = session_task_status_names[of->status],
                           .attempt = t ? t->number : JSON_NO_INTEGER,
                           .started_at_s = NAN,
                           .ended_at_s = NAN,
                           .run_time_s = NAN,
                           .expected_end_at_s = NAN,
                           .progress_ratio = NAN,
                           .overdue_ratio = NAN,
                           .hold_until_at_s = NAN,
                           .attempt_count = of->attempt_count};

    if (t && t->started) {
        row.resource_id = t->started->resource_id;
        row.resource_ids = t->started->resource_ids;
        row.resource_id_count = t->started->resource_id_count;
        row.started_at_s = t->started->observed_at_s;
    }
    if (t && t->terminal) {
        row.ended_at_s = t->terminal->observed_at_s;
        row.run_time_s = t->terminal->run_time_s;
        if (isnan(row.run_time_s) && t->started)
            row.run_time_s = fmax(0, row.ended_at_s - row.started_at_s);
    }
    if (t && t->progress)
        row.progress_ratio = t->progress->progress_ratio;
    if (of->status == SESSION_TASK_RUNNING)
        expect_end(run, times, i, &row);
    if (grant) {
        row.resource_id = grant->resource_id;
        row.resource_ids = grant->places;
        row.resource_id_count = grant->place_count;
        row.holder = grant->holder;
        row.hold_until_at_s = grant->expires_at_s;
    }
    return row;
}

enum error_code get_session_tasks(struct request *rq, const void *in, void *out)
{
    const struct tasks_query *query = rq->query;
    struct session_at now = {NAN, JSON_NO_INTEGER, false};
    const struct session_times *times;
    struct tasks_page *page = out;
    struct session_run run;
    struct task_row *items;

    (void)in;
    TRY(session_run_read(&run, rq, &now, false));
    TRY(session_world(&run));
    times = session_times_of(&run);
    items = NEW(rq->arena, struct task_row, run.task_count);
    for (size_t i = 0; i < run.task_count; i++)
        if (query->status < 0 || (int)run.state.of[i].status == query->status)
            items[page->item_count++] = row_of(&run, times, i);
    page->items = items;
    return OK;
}

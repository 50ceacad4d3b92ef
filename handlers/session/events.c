/* events.c - POST and GET .../events: what engines report of a run.
 *
 * One transaction: the session's row is locked first, so that batches come one after
 * another, and their numbers, too. What an event of a task or a resource that there is
 * not says is lost: it is refused, and may be sent again when that is there.
 */
#include "handlers/session/events.h"

#include "handlers/history/bulk.h"
#include "models/base/names.h"
#include "models/base/plural.h"
#include "models/base/pointer.h"
#include "service/config.h"
#include "service/metrics.h"
#include "service/records/execution.h"
#include "service/service.h"
#include "service/session_cache.h"
#include "service/session_watch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double AHEAD_S = 1; /* a clock that is right */

/* ---- what is wrong with one ---- */

/* Members that a kind needs. */
static void check_needed(struct record_check *check, const struct session_event *e)
{
    bool of_task = session_is_of_task(e->kind);

    if (of_task && !e->task_id)
        record_mistake(check, "task_id", ITEM_REQUIRED, "%s is of a task",
                       session_kind_names[e->kind]);
    if ((!of_task || e->kind == SESSION_STARTED) && !e->resource_id &&
        !(of_task && e->resource_id_count))
        record_mistake(check, "resource_id", ITEM_REQUIRED, "%s names its resource",
                       session_kind_names[e->kind]);
    if (e->kind == SESSION_PROGRESS && isnan(e->progress_ratio))
        record_mistake(check, "progress_ratio", ITEM_REQUIRED,
                       "it says how much is done");
    if (e->kind == SESSION_HOST_SPEED && isnan(e->mips_total))
        record_mistake(check, "mips_total", ITEM_REQUIRED, "it says the speed");
}

static int by_text(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

static bool has_twice(const struct session_event *e, struct arena *a)
{
    const char **list = NEW(a, const char *, e->resource_id_count);

    memcpy(list, e->resource_ids, e->resource_id_count * sizeof(*list));
    qsort(list, e->resource_id_count, sizeof(*list), by_text);
    for (size_t k = 1; k < e->resource_id_count; k++)
        if (strcmp(list[k], list[k - 1]) == 0)
            return true;
    return false;
}

/* Several nodes. */
static void check_places(struct record_check *check, const struct session_event *e)
{
    if (e->resource_id_count == 0 || e->kind != SESSION_STARTED)
        return;
    if (e->resource_id && strcmp(e->resource_id, e->resource_ids[0]) != 0)
        record_mistake(check, "resource_id", ITEM_CONFLICT,
                       "it is not the first of resource_ids; leave it out");
    if (has_twice(e, check->err->arena))
        record_mistake(check, "resource_ids", ITEM_DUPLICATE,
                       "each of its resources stands there once");
}

static void check_event(struct record_check *check, const void *item)
{
    const struct session_event *e = item;

    check_needed(check, e);
    check_places(check, e);
    if (e->observed_at_s > check->now_s + STORE_FUTURE_MAX_S)
        record_mistake(check, "observed_at", ITEM_OUT_OF_BOUNDS,
                       "more than a day ahead of the service's clock; seconds, not "
                       "milliseconds, are meant");
}

/* ---- storing ---- */

struct storing {
    struct request *rq;
    const struct bulk_items *items;
    const char *pointer; /* of the list */
    struct session_events_answer *out;
    struct session_mistake *mistakes;
    size_t mistake_count, refused_before;
    struct session_run run; /* definition and tasks: those that events are of, or all */
    bool may_be_part, is_part;
    struct name_index resources;
    struct store_session_event *fresh; /* to be stored */
    size_t fresh_count;
};

static const struct session_event *item(const struct storing *s, size_t i)
{
    return (const struct session_event *)s->items->list + i;
}

__attribute__((format(printf, 5, 6))) static void refuse(struct storing *s, size_t i,
                                                         const char *member,
                                                         enum item_code code,
                                                         const char *format, ...)
{
    struct arena *a = s->rq->arena;
    const char *pointer = member, *detail;
    uint64_t line = s->items->line ? s->items->line[i] : JSON_NO_INTEGER;
    va_list args;

    if (!s->items->line && !s->items->is_single)
        pointer = arena_printf(a, "%s/%zu%s", s->pointer, i, member);
    va_start(args, format);
    detail = arena_vprintf(a, format, args);
    va_end(args);
    s->mistakes[s->mistake_count++] = (struct session_mistake){
        item(s, i)->event_id, line, item_kinds[code].name, detail, pointer};
}

/* With a host all that ran there is lost: of any task. */
static enum error_code read_tasks(struct storing *s)
{
    const char **ids = NEW(s->rq->arena, const char *, s->items->count);
    size_t count = 0;

    for (size_t i = 0; i < s->items->count; i++) {
        s->is_part = s->is_part && item(s, i)->kind != SESSION_HOST_DOWN;
        if (session_is_of_task(item(s, i)->kind))
            ids[count++] = item(s, i)->task_id;
    }
    if (s->is_part)
        return session_definition_read(&s->run, ids, count);
    if (!session_hold_keeps(s->rq->held))
        return session_definition_read(&s->run, NULL, 0);
    s->run.revision = s->run.row.revision;
    return session_read_whole(&s->run, true);
}

static enum error_code read_names(struct storing *s)
{
    struct session_run *run = &s->run;
    struct request *rq = s->rq;
    const struct snapshot *snapshot;
    struct store_snapshot stored;
    struct db_session *db;
    struct snapshot read;

    if (!run->kept)
        TRY(read_tasks(s));
    snapshot = run->definition.snapshot;
    if (run->row.snapshot_id) {
        TRY(request_db(rq, &db));
        TRY(store_snapshot_read(db, rq->principal.tenant, run->row.snapshot_id, &stored,
                                rq->arena, rq->err));
        TRY(json_read(&snapshot_json, stored.document, strlen(stored.document), &read,
                      NULL, rq->arena, rq->err));
        snapshot = &read;
    }
    name_index_create(&s->resources, snapshot->resource_count, rq->arena);
    for (size_t i = 0; i < snapshot->resource_count; i++)
        name_index_add(&s->resources, snapshot->resources[i].id, i);
    return OK;
}

/* The first that there is not is told. */
static void places_known(struct storing *s, size_t i)
{
    const struct session_event *e = item(s, i);

    for (size_t k = 0; k < e->resource_id_count; k++)
        if (name_index_find(&s->resources, e->resource_ids[k]) == NAME_NOT_FOUND) {
            refuse(s, i, arena_printf(s->rq->arena, "/resource_ids/%zu", k),
                   ITEM_UNKNOWN_ID, "the snapshot has no resource '%.100s'",
                   e->resource_ids[k]);
            return;
        }
}

static bool names_known(struct storing *s, size_t i)
{
    const struct session_event *e = item(s, i);
    size_t before = s->mistake_count;

    if (session_is_of_task(e->kind) &&
        name_index_find(&s->run.ids, e->task_id) == NAME_NOT_FOUND)
        refuse(s, i, "/task_id", ITEM_UNKNOWN_ID, "the session has no task '%.100s'",
               e->task_id);
    else if (e->kind == SESSION_STARTED && e->resource_id_count)
        places_known(s, i);
    else if ((!session_is_of_task(e->kind) || e->kind == SESSION_STARTED) &&
             name_index_find(&s->resources, e->resource_id) == NAME_NOT_FOUND)
        refuse(s, i, "/resource_id", ITEM_UNKNOWN_ID,
               "the snapshot has no resource '%.100s'", e->resource_id);
    return s->mistake_count == before;
}

/* As it is kept: what is not of its kind is not looked at. */
static struct session_event kept(const struct session_event *e)
{
    struct session_event out = *e;

    out.observed_at_s = round(e->observed_at_s * 1e6) / 1e6;
    if (!session_is_of_task(e->kind))
        out.task_id = NULL;
    if (e->kind == SESSION_STARTED && e->resource_id_count)
        out.resource_id = e->resource_ids[0];
    if (e->kind != SESSION_STARTED || e->resource_id_count == 1) {
        out.resource_ids = NULL;
        out.resource_id_count = 0;
    }
    return out;
}

static const char *text_of(const struct session_event *e, struct arena *a)
{
    struct text_buffer b = {.arena = a};

    json_print(&session_event_json, e, &b);
    text_add(&b, "", 1);
    return text_end(&b);
}

/* Stored ones of these ids, and those that come before in the batch. */
struct known {
    struct name_index ids;
    const struct session_event **events;
    size_t count;
};

static void know(struct known *k, const struct session_event *e)
{
    if (name_index_add(&k->ids, e->event_id, k->count) == NAME_NOT_FOUND)
        k->events[k->count++] = e;
}

static enum error_code find_known(struct storing *s, struct db_session *db,
                                  struct known *known)
{
    const struct store_session_event *list;
    struct store_session_event *asked;
    struct request *rq = s->rq;
    size_t count;

    asked = NEW(rq->arena, struct store_session_event, s->items->count);
    for (size_t i = 0; i < s->items->count; i++)
        asked[i] = (struct store_session_event){.session_id = s->run.row.session_id,
                                                .event = *item(s, i)};
    TRY(store_session_events_known(db, rq->principal.tenant, asked, s->items->count,
                                   &list, &count, rq->arena, rq->err));
    known->events = NEW(rq->arena, const struct session_event *, count + s->items->count);
    name_index_create(&known->ids, count + s->items->count, rq->arena);
    for (size_t i = 0; i < count; i++)
        know(known, &list[i].event);
    return OK;
}

/* Runs are stored with one of these. */
static bool knows_failure(const struct session_event *e)
{
    if (e->kind != SESSION_FAILED || !e->failure_kind)
        return true;
    for (size_t i = 0; run_failure_names[i]; i++)
        if (strcmp(run_failure_names[i], e->failure_kind) == 0)
            return true;
    return false;
}

static void sort_out(struct storing *s, struct known *known)
{
    struct arena *a = s->rq->arena;
    const char *failure = NULL;
    size_t ahead = 0, odd = 0;

    s->fresh = NEW(a, struct store_session_event, s->items->count);
    for (size_t i = 0; i < s->items->count; i++) {
        struct session_event e = kept(item(s, i));
        size_t at = name_index_find(&known->ids, e.event_id);
        struct store_session_event *made;

        if (at != NAME_NOT_FOUND &&
            strcmp(text_of(&e, a), text_of(known->events[at], a)) == 0) {
            s->out->duplicates++;
            continue;
        }
        if (at != NAME_NOT_FOUND) {
            refuse(s, i, "/event_id", ITEM_CONFLICT,
                   "it is stored already, with other members; the first stays");
            continue;
        }
        if (!names_known(s, i))
            continue;
        ahead += e.observed_at_s > s->run.row.now_s + AHEAD_S;
        if (!knows_failure(&e) && odd++ == 0)
            failure = e.failure_kind;
        made = &s->fresh[s->fresh_count++];
        *made = (struct store_session_event){
            .session_id = s->run.row.session_id, .event = e, .kind = (uint64_t)e.kind};
        made->event.seq = s->run.row.revision + s->fresh_count;
        know(known, &made->event);
    }
    if (ahead)
        session_warn(&s->run, "clock_ahead: %s %s later than now",
                     counted(ahead, "event").text, plural(ahead, "happens", "happen"));
    if (odd)
        session_warn(
            &s->run,
            "guessed: %s %s a failure_kind that is not known, the first '%.64s': "
            "error, in executions",
            counted(odd, "event").text, plural(odd, "has", "have"), failure);
}

/* ---- what follows from them ---- */

static bool has_host_down(const struct storing *s)
{
    for (size_t i = 0; i < s->fresh_count; i++)
        if (s->fresh[i].event.kind == SESSION_HOST_DOWN)
            return true;
    return false;
}

static void list_superseded(struct storing *s, const struct session_fold *fold,
                            const struct session_event *all, size_t count)
{
    const char **list = NEW(s->rq->arena, const char *, s->fresh_count);
    struct name_index fresh;

    name_index_create(&fresh, s->fresh_count, s->rq->arena);
    for (size_t i = 0; i < s->fresh_count; i++)
        name_index_add(&fresh, s->fresh[i].event.event_id, i);
    for (size_t i = 0; i < count; i++)
        if (name_index_find(&fresh, all[i].event_id) != NAME_NOT_FOUND &&
            !session_fold_counts(fold, &all[i]))
            list[s->out->superseded_count++] = all[i].event_id;
    s->out->superseded = list;
}

/* Tasks by what they are alone. */
struct tally {
    uint64_t running, done, stopped;
};

/* Of those tasks that the fold has all events of; but for removed ones, which are
 * cancelled with events and without. */
static struct tally tally_of(const struct session_run *run,
                             const struct session_fold *fold)
{
    struct tally out = {0};

    budget_step(&run->rq->finish, fold->task_count);
    for (size_t i = 0; i < fold->task_count; i++) {
        const struct session_attempt *attempts = fold->first[i];
        size_t task = name_index_find(&run->ids, attempts->task_id);
        enum session_task_status alone;

        if (task == NAME_NOT_FOUND || run->graph[task].removed)
            continue;
        alone = session_task_alone(&run->graph[task], attempts);
        out.running += alone == SESSION_TASK_RUNNING;
        out.done += alone == SESSION_TASK_DONE;
        out.stopped += alone == SESSION_TASK_FAILED || alone == SESSION_TASK_CANCELLED;
    }
    return out;
}

/* The same before the new ones came. */
static struct tally tally_before(const struct storing *s, const struct session_event *all,
                                 size_t count)
{
    struct request *rq = s->rq;
    struct session_event *before = NEW(rq->arena, struct session_event, count);
    struct session_fold fold;
    size_t kept = 0;

    for (size_t i = 0; i < count; i++)
        if (all[i].seq <= s->run.row.revision)
            before[kept++] = all[i];
    session_fold_all(before, kept, &fold, &rq->finish, rq->arena);
    return tally_of(&s->run, &fold);
}

/* What is stored of all tasks, moved on by what has become of these. False: it is not of
 * this revision. */
static bool move_on(struct store_session *row, const struct tally *before,
                    const struct tally *after)
{
    if (row->status_revision != row->revision || row->counts_revision != row->revision ||
        row->running_count + after->running < before->running ||
        row->done_count + after->done < before->done ||
        row->stopped_count + after->stopped < before->stopped)
        return false;
    row->running_count += after->running - before->running;
    row->done_count += after->done - before->done;
    row->stopped_count += after->stopped - before->stopped;
    return true;
}

/* Every task can be done some day: none is gone, and none waits for one that is not
 * there. Tasks have no cycles. */
static bool is_whole(const struct session_run *run)
{
    for (size_t i = 0; i < run->task_count; i++) {
        const struct session_task *task = &run->graph[i];

        budget_step(&run->rq->finish, task->parent_count + 1);
        if (task->removed)
            return false;
        for (size_t k = 0; k < task->parent_count; k++)
            if (task->parents[k] == SESSION_NO_TASK)
                return false;
    }
    return run->task_count > 0;
}

/* While a task runs that is all there is to say of the session, and while none has failed
 * either one can start or all are done; else all of its tasks are looked at. */
static enum error_code stand(struct storing *s, struct db_session *db,
                             const struct session_touched *t)
{
    struct store_session row = s->run.row;
    struct tally before, after = tally_of(&s->run, t->fold);
    enum session_status status = SESSION_IS_RUNNING;
    bool known = false;

    if (!has_host_down(s)) {
        before = tally_before(s, t->events, t->event_count);
        known = move_on(&row, &before, &after);
    }
    row.revision = s->out->revision;
    row.event_count += s->fresh_count;
    if (s->is_part && (!known || row.running_count == 0)) {
        if (session_hold_keeps(s->rq->held))
            return session_stand(s->rq, db, &row);
        TRY(session_definition_read(&s->run, NULL, 0));
    }
    if (!known ||
        (row.running_count == 0 && (row.stopped_count > 0 || !is_whole(&s->run))))
        return session_stand_of(&s->run, db, &row);
    if (row.running_count == 0 && row.done_count == s->run.task_count)
        status = SESSION_IS_FINISHED;
    return store_session_stand(db, s->rq->principal.tenant, &row,
                               session_status_names[status], s->rq->err);
}

/* With a host gone all that ran there is lost; else only these tasks have changed. */
static enum error_code follow(struct storing *s, struct db_session *db)
{
    const struct store_session_event *near;
    struct request *rq = s->rq;
    struct session_event *all;
    struct session_fold fold;
    struct session_touched touched = {.run = &s->run, .db = db, .fold = &fold};
    size_t count, overcommitted = 0;

    if (has_host_down(s))
        TRY(store_session_events_read(db, rq->principal.tenant, s->run.row.session_id, 0,
                                      INT64_MAX, INT64_MAX, &near, &count, rq->arena,
                                      rq->err));
    else
        TRY(store_session_events_near(db, rq->principal.tenant, s->run.row.session_id,
                                      s->fresh, s->fresh_count, &near, &count, rq->arena,
                                      rq->err));
    all = NEW(rq->arena, struct session_event, count);
    for (size_t i = 0; i < count; i++)
        all[i] = near[i].event;
    session_fold_all(all, count, &fold, &rq->finish, rq->arena);
    list_superseded(s, &fold, all, count);
    touched.events = all;
    touched.event_count = count;
    touched.fresh = s->fresh;
    touched.fresh_count = s->fresh_count;
    TRY(session_learn(&touched));
    TRY(session_sync_leases(&touched, &overcommitted));
    if (overcommitted)
        session_warn(&s->run, "overcommitted: %s %s",
                     counted(overcommitted, "attempt").text,
                     plural(overcommitted, "runs on a resource that has no room for it",
                            "run on resources that have no room for them"));
    return stand(s, db, &touched);
}

/* Without its definition if that is kept. */
static enum error_code lock(struct storing *s, struct db_session *db)
{
    struct request *rq = s->rq;
    const char *tenant = rq->principal.tenant, *id = rq->path_value[0];
    bool found = true, is_kept = false;

    s->run = (struct session_run){.rq = rq};
    if (session_is_kept(rq, id)) {
        TRY(store_session_lock_head(db, tenant, id, &s->run.row, &found, rq->arena,
                                    rq->err));
        s->run.revision = s->run.row.revision;
        if (found)
            TRY(session_kept_find(&s->run, &is_kept));
    }
    if (found && !is_kept)
        TRY(store_session_lock(db, tenant, id, &s->run.row, &found, rq->arena, rq->err));
    s->is_part = s->may_be_part && !is_kept;
    return found ? OK
                 : fail(rq->err, ERR_NOT_FOUND, "/session_id",
                        "there is no workflow session '%.200s'", id);
}

static enum error_code store_locked(struct db_session *db, void *context,
                                    struct error *err)
{
    struct storing *s = context;
    struct request *rq = s->rq;
    const char *tenant = rq->principal.tenant, *id = rq->path_value[0];
    const struct config *config = rq->service->config;
    struct known known = {0};

    *s->out = (struct session_events_answer){.received = s->out->received,
                                             .refused = s->out->refused};
    s->mistake_count = s->refused_before;
    s->fresh_count = 0;
    TRY(lock(s, db));
    TRY(session_check_expiry(&s->run.row, err));
    TRY(read_names(s));
    TRY(find_known(s, db, &known));
    sort_out(s, &known);
    if (s->run.row.event_count + s->fresh_count > config->workflow_session_events)
        return fail(err, ERR_TOO_LARGE, "", "a session has %s at most",
                    counted(config->workflow_session_events, "event").text);
    s->out->stored = s->fresh_count;
    s->out->revision = s->run.row.revision + s->fresh_count;
    if (s->fresh_count == 0)
        return OK;
    TRY(store_session_events_add(db, tenant, s->fresh, s->fresh_count, rq->arena, err));
    TRY(store_session_advance(db, tenant, id, s->out->revision,
                              s->run.row.event_count + s->fresh_count, true, err));
    return follow(s, db);
}

static void count_events(const struct storing *s)
{
    struct metrics *m = s->rq->service->metrics;

    for (size_t i = 0; i < s->fresh_count; i++)
        metrics_session_event(m, session_kind_names[s->fresh[i].kind], "stored", 1);
    metrics_session_event(m, "any", "duplicate", s->out->duplicates);
    metrics_session_event(m, "any", "refused", s->out->refused);
}

/* Mistakes of form that lines of NDJSON have. */
static void keep_form_mistakes(struct storing *s, const struct bulk_answer *form)
{
    for (size_t i = 0; i < form->error_count; i++)
        s->mistakes[s->mistake_count++] =
            (struct session_mistake){NULL, form->errors[i].line, form->errors[i].code,
                                     form->errors[i].detail, form->errors[i].pointer};
    s->refused_before = s->mistake_count;
}

/* Mistakes have their places in the body. */
static enum error_code accept(struct request *rq, const struct json_lines *in,
                              const char *pointer, struct bulk_items *items,
                              struct bulk_answer *form)
{
    struct error found = {.arena = rq->arena};
    struct request aside = *rq;
    enum error_code code;

    aside.err = &found;
    code =
        bulk_accept(&aside, in, sizeof(struct session_event), check_event, items, form);
    rq->ingested = aside.ingested;
    if (code == OK)
        return OK;
    if (!found.first) {
        *rq->err = found;
        return code;
    }
    for (const struct error_item *i = found.first; i; i = i->next)
        invalid_again(rq->err, pointer, i);
    rq->err->item_count += found.item_count - rq->err->item_count;
    return rq->err->code;
}

enum error_code session_events_store(struct request *rq, const struct json_lines *in,
                                     const char *pointer,
                                     struct session_events_answer *answer,
                                     struct session_run *read)
{
    struct bulk_answer form = {0};
    struct bulk_items items;
    struct storing s = {.rq = rq,
                        .items = &items,
                        .pointer = pointer,
                        .out = answer,
                        .may_be_part = !read};

    if (in->count + in->refused_count > SESSION_EVENTS_MAX)
        return fail(rq->err, ERR_TOO_LARGE, "", "more than %d events",
                    SESSION_EVENTS_MAX);
    TRY(accept(rq, in, pointer, &items, &form));
    s.mistakes = NEW(rq->arena, struct session_mistake, form.error_count + items.count);
    keep_form_mistakes(&s, &form);
    answer->received = form.received;
    answer->refused = form.refused;
    TRY(session_transaction(rq, store_locked, &s));
    answer->refused += s.mistake_count - s.refused_before;
    answer->errors = s.mistakes;
    answer->error_count = s.mistake_count;
    answer->warnings = s.run.warnings;
    answer->warning_count = s.run.warning_count;
    rq->ingested =
        (struct metrics_rows){answer->stored, answer->duplicates, answer->refused};
    count_events(&s);
    if (s.fresh_count > 0)
        session_watch_look(rq->service->watch);
    if (read) {
        *read = s.run;
        read->revision = answer->revision;
    }
    return OK;
}

/* ---- how long each is ---- */

/* Of the names of its resources, which may be as many as a task has nodes, each counts
 * apart: as many bytes as a name may have when all of it is escaped. */
static size_t event_bytes_max(const struct session_event *e)
{
    enum { NAME_BYTES = 6 * 256 + 8 };

    return SESSION_EVENT_BYTES_MAX + e->resource_id_count * NAME_BYTES;
}

/* The bytes from `at` to the end of the value that begins there, which is JSON. */
static size_t value_bytes(const char *at, const char *end)
{
    const char *from = at;
    size_t depth = 0;
    bool in_text = false;

    for (; at < end; at++) {
        if (in_text && *at == '\\')
            at++;
        else if (*at == '"')
            in_text = !in_text;
        else if (!in_text && (*at == '{' || *at == '['))
            depth++;
        else if (!in_text && (*at == '}' || *at == ']') && --depth == 0)
            return (size_t)(at - from) + 1;
    }
    return (size_t)(end - from);
}

static enum error_code too_long(struct request *rq, size_t bytes, const char *pointer,
                                const char *which)
{
    return fail(
        rq->err, ERR_TOO_LARGE, pointer,
        "an event%s has %zu bytes, more than %d; leave out the blanks between its "
        "members",
        which, bytes, SESSION_EVENT_BYTES_MAX);
}

static enum error_code check_lines(struct request *rq, const struct json_lines *in)
{
    const char *at = rq->body, *end = at + rq->body_length;
    uint64_t line = 1;

    for (size_t i = 0; i < in->count; line++) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        size_t bytes = (size_t)((stop ? stop : end) - at);

        if (line == in->line[i] &&
            bytes > event_bytes_max((const struct session_event *)in->items + i))
            return too_long(
                rq, bytes, "",
                arena_printf(rq->arena, ", in line %llu,", (unsigned long long)line));
        i += line == in->line[i];
        at = stop ? stop + 1 : end;
    }
    return OK;
}

/* Of an event, or a list of them, each. */
static enum error_code check_elements(struct request *rq, const struct json_lines *in)
{
    const char *at = rq->body, *end = at + rq->body_length;
    struct pointer pointer;

    for (size_t i = 0; i < in->count; i++) {
        size_t bytes;

        while (at < end && *at != '{')
            at++;
        bytes = value_bytes(at, end);
        pointer = pointer_in("", i, NULL);
        if (bytes > event_bytes_max((const struct session_event *)in->items + i))
            return too_long(rq, bytes, in->is_single ? "" : pointer.text, "");
        at += bytes;
    }
    return OK;
}

enum error_code post_session_events(struct request *rq, const void *in, void *out)
{
    const struct json_lines *lines = in;

    TRY(lines->line ? check_lines(rq, lines) : check_elements(rq, lines));
    return session_events_store(rq, lines, "", out, NULL);
}

/* ---- reading them ---- */

struct events_query {
    uint64_t after_seq, page_size;
};

struct events_page {
    const struct store_session_event *items;
    size_t item_count;
};

enum error_code get_session_events(struct request *rq, const void *in, void *out)
{
    const struct events_query *query = rq->query;
    struct events_page *page = out;
    struct store_session head;
    struct db_session *db;

    (void)in;
    TRY(request_db(rq, &db));
    TRY(store_session_head(db, rq->principal.tenant, rq->path_value[0], &head, rq->arena,
                           rq->err));
    TRY(session_check_expiry(&head, rq->err));
    return store_session_events_read(db, rq->principal.tenant, rq->path_value[0],
                                     query->after_seq, head.revision, query->page_size,
                                     &page->items, &page->item_count, rq->arena, rq->err);
}

#define T struct events_query
static const struct json_field query_rows[] = {
    JSON_INTEGER(T, after_seq, 0, JSON_EXACT, 0, 0, "Those behind this seq; default 0"),
    JSON_INTEGER(T, page_size, 1, 10000, 1000, 0, "So many at most; default 1000"),
    {0},
};
#undef T
const struct json_object session_events_query_json = {
    "SessionEventsQuery", "Which events", sizeof(struct events_query), query_rows};

#define T struct events_page
static const struct json_field page_rows[] = {
    JSON_LIST(T, items, item_count, struct store_session_event,
              &session_stored_event_json, 0, 0, "By seq"),
    {0},
};
#undef T
const struct json_object session_events_page_json = {
    "SessionEventsPage", "What was reported of a run", sizeof(struct events_page),
    page_rows};

#define T struct session_events_answer
static const struct json_field answer_rows[] = {
    JSON_INTEGER(T, revision, 0, JSON_EXACT, 0, 0, "Of the session now"),
    JSON_INTEGER(T, received, 0, JSON_EXACT, 0, 0, "Events in the body"),
    JSON_INTEGER(T, stored, 0, JSON_EXACT, 0, 0, "Events stored and committed"),
    JSON_INTEGER(T, duplicates, 0, JSON_EXACT, 0, 0, "Events that were stored already"),
    JSON_INTEGER(T, refused, 0, JSON_EXACT, 0, 0, "Events that were not stored"),
    JSON_LIST(T, errors, error_count, struct session_mistake, &session_event_mistake_json,
              0, 0, "Why those were not"),
    JSON_TEXTS(T, superseded, superseded_count, 0, 0,
               "Stored events that change nothing: others came before or behind them"),
    {.name = "warnings",
     .doc = "What the caller should know",
     .type = JSON_TYPE_TEXTS,
     .offset = offsetof(T, warnings),
     .count_offset = JSON_AT(T, warning_count, size_t)},
    {0},
};
#undef T
const struct json_object session_events_answer_json = {
    "SessionEventsAnswer", "What became of events", sizeof(struct session_events_answer),
    answer_rows};

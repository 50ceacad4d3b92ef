/* sessions.c - /v1/workflow-sessions: runs of workflows, stored under a name. */
#include "handlers/session/sessions.h"

#include "handlers/common/page.h"
#include "handlers/session_run/plan.h"
#include "models/base/plural.h"
#include "service/config.h"
#include "service/etag.h"
#include "service/json_holds.h"
#include "service/service.h"
#include "service/session_watch.h"

#include <string.h>

enum { ID_MAX_BYTES = 200 };
#define ID_CHARACTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._:-"

struct session_info {
    const char *session_id, *application_id;
    uint64_t revision;
    const char *status;
    struct session_counts counts;
    double created_at_s, last_event_at_s, expires_at_s;
    const char *definition; /* JSON; NULL in lists */
    const char *const *warnings;
    size_t warning_count;
};

static const char *const status_names[] = {"running", "finished", "stuck", "expired",
                                           NULL};

#define T struct session_info
static const struct json_field info_rows[] = {
    JSON_TEXT(T, session_id, 0, "Its name"),
    JSON_TEXT(T, application_id, 0, "Under which its run times are learnt"),
    JSON_INTEGER(T, revision, 0, JSON_EXACT, 0, 0,
                 "Number of changes: events, tasks, definitions"),
    JSON_WORD(
        T, status, status_names, 0,
        "finished: all tasks are done or cancelled; stuck: nothing runs, is granted "
        "or may start; expired: PUT starts it anew"),
    JSON_OBJECT(T, counts, struct session_counts, &session_counts_json, 0,
                "Tasks of each status"),
    JSON_INSTANT(T, created_at, 0, "When it was made"),
    JSON_INSTANT(T, last_event_at, JSON_OPTIONAL, "When the last event came"),
    JSON_INSTANT(T, expires_at, 0, "When it ends without a further event"),
    JSON_RAW(T, definition, JSON_OPTIONAL, "As it was sent; left out in lists",
             JSON_HOLDS(&json_any_object)),
    JSON_TEXTS(T, warnings, warning_count, 0, 0, "What the caller should know"),
    {0},
};
#undef T
const struct json_object session_info_json = {"WorkflowSession", "A run of a workflow",
                                              sizeof(struct session_info), info_rows};

static struct session_info info_of(const struct session_run *run, bool whole)
{
    return (struct session_info){
        .session_id = run->row.session_id,
        .application_id = run->row.application_id,
        .revision = run->revision,
        .status = session_status_name(run),
        .counts = session_counts_of(&run->state),
        .created_at_s = run->row.created_at_s,
        .last_event_at_s = run->row.last_event_at_s,
        .expires_at_s = run->row.expires_at_s,
        .definition = whole ? run->row.definition : NULL,
        .warnings = run->warnings,
        .warning_count = run->warning_count,
    };
}

static void add_etag(struct request *rq, const struct store_session *row)
{
    reply_header_add(rq->reply, "ETag",
                     arena_printf(rq->arena, "\"s%llu-%llx\"",
                                  (unsigned long long)row->revision,
                                  (unsigned long long)llround(row->created_at_s * 1e6)));
}

/* ---- PUT ---- */

/* What is put, checked as the plan would be. */
struct putting {
    struct request *rq;
    struct store_session wanted;
    bool made, is_same;
};

static enum error_code check_id(struct request *rq)
{
    const char *id = rq->path_value[0];

    if (strlen(id) > ID_MAX_BYTES)
        return invalid(rq->err, "", ITEM_TOO_LONG,
                       "a session's name has %d characters "
                       "at most",
                       ID_MAX_BYTES);
    if (!*id || id[strspn(id, ID_CHARACTERS)])
        return invalid(rq->err, "", ITEM_BAD_CHARACTERS,
                       "a session's name has only A-Z a-z 0-9 . _ : -");
    return OK;
}

/* Members that only events say. */
static void warn_of_ignored(struct session_run *run)
{
    const struct session_workflow *w = run->definition.workflow;
    size_t count = 0, first = 0;

    for (size_t i = w->task_count; i-- > 0;)
        if (w->tasks[i].task.status != WORKFLOW_IDLE || w->tasks[i].task.resource_id ||
            !isnan(w->tasks[i].task.start_s) || !isnan(w->tasks[i].task.finish_s)) {
            count++;
            first = i;
        }
    if (count)
        session_warn(run,
                     "ignored: what %s %s (first "
                     "/workflow/tasks/%zu): events say it",
                     counted(count, "task").text,
                     plural(count, "says of where it is", "say of where they are"),
                     first);
}

static enum error_code check_definition(struct session_run *run,
                                        const struct raw_body *body)
{
    struct session_definition *d = &run->definition;
    struct request *rq = run->rq;
    const struct snapshot *snapshot;

    TRY(json_read(&session_definition_json, body->length ? body->text : "", body->length,
                  d, &rq->renames, rq->arena, rq->err));
    TRY(request_check_time_limit(rq, d->time_limit_s));
    TRY(decision_world_snapshot(rq, d->snapshot, d->snapshot_id, true, &snapshot));
    run->row.session_id = rq->path_value[0];
    run->row.snapshot_id = d->snapshot_id;
    run->row.application_id = d->application_id ? d->application_id : rq->path_value[0];
    run->base = run->world = *snapshot;
    return OK;
}

/* One definition is another one that has the same members and values. */
static enum error_code is_same(struct request *rq, const char *left, const char *right,
                               bool *same)
{
    static const char *const all[] = {NULL};
    const char *const *pointers;
    size_t count;

    TRY(json_differences(left, right, all, 1, &pointers, &count, rq->arena, rq->err));
    *same = count == 0;
    return OK;
}

static enum error_code check_conditions(struct request *rq,
                                        const struct store_session *row)
{
    const struct message *m = rq->message;
    const char *tag =
        arena_printf(rq->arena, "\"s%llu-%llx\"", (unsigned long long)row->revision,
                     (unsigned long long)llround(row->created_at_s * 1e6));

    if (m->if_none_match && strcmp(m->if_none_match, "*") == 0)
        return etag_refuse_double(rq->err, "session", row->session_id);
    if (m->if_match && strcmp(m->if_match, "*") != 0 && !etag_matches(m->if_match, tag))
        return etag_refuse_stale(rq->err, "session", m->if_match, tag);
    return OK;
}

static enum error_code make_new(struct putting *p, struct db_session *db,
                                struct error *err)
{
    struct request *rq = p->rq;
    uint64_t count;

    if (rq->message->if_match)
        return fail(err, ERR_STALE, "", "there is no session '%.200s' to replace",
                    p->wanted.session_id);
    TRY(store_session_count(db, rq->principal.tenant, &count, rq->arena, err));
    if (count >= rq->service->config->workflow_sessions)
        return fail(err, ERR_CONFLICT, "", "there %s %s already; delete what has ended",
                    plural(count, "is", "are"), counted(count, "workflow session").text);
    return store_session_create(db, rq->principal.tenant, &p->wanted, &p->made, err);
}

/* What the session, as it is stored now, comes to. */
static enum error_code stand(struct putting *p, struct db_session *db, struct error *err)
{
    struct request *rq = p->rq;
    struct store_session row;
    bool found;

    TRY(store_session_lock(db, rq->principal.tenant, p->wanted.session_id, &row, &found,
                           rq->arena, err));
    return session_stand(rq, db, &row);
}

static enum error_code put_locked(struct db_session *db, void *context, struct error *err)
{
    struct putting *p = context;
    struct request *rq = p->rq;
    const char *tenant = rq->principal.tenant;
    struct store_session row;
    bool found;

    p->made = p->is_same = false;
    TRY(store_session_lock(db, tenant, p->wanted.session_id, &row, &found, rq->arena,
                           err));
    if (found && row.expires_at_s <= row.now_s) {
        TRY(store_session_delete(db, tenant, row.session_id, rq->arena, err));
        found = false;
    }
    if (!found)
        TRY(make_new(p, db, err));
    if (p->made)
        return stand(p, db, err);
    if (!found) /* somebody else has just made it */
        return fail(err, ERR_BUSY, "", "the session is being made");
    TRY(check_conditions(rq, &row));
    TRY(is_same(rq, row.definition, p->wanted.definition, &p->is_same));
    if (p->is_same)
        return OK;
    p->wanted.revision = row.revision + 1;
    TRY(store_session_redefine(db, tenant, &p->wanted, err));
    return stand(p, db, err);
}

/* The graph with the tasks that came later may have cycles that the definition has not.
 */
static enum error_code check_graph(struct session_run *run)
{
    run->revision = INT64_MAX;
    TRY(session_tasks_read(run));
    warn_of_ignored(run);
    return session_request_check(run);
}

enum error_code put_session(struct request *rq, const void *in, void *out)
{
    const struct raw_body *body = in;
    struct putting p = {.rq = rq};
    struct session_at now = {NAN, JSON_NO_INTEGER, false};
    struct session_run run = {.rq = rq}, made;

    TRY(check_id(rq));
    TRY(check_definition(&run, body));
    TRY(check_graph(&run));
    p.wanted = run.row;
    p.wanted.definition = arena_text(rq->arena, body->text, body->length);
    p.wanted.expires_after_s = run.definition.expires_after_s;
    TRY(session_transaction(rq, put_locked, &p));
    session_watch_look(rq->service->watch);
    TRY(session_run_read(&made, rq, &now, false));
    for (size_t i = 0; i < run.warning_count; i++)
        session_warn(&made, "%s", run.warnings[i]);
    *(struct session_info *)out = info_of(&made, true);
    add_etag(rq, &made.row);
    if (p.made)
        rq->reply->status = 201;
    return OK;
}

/* ---- reading and deleting ---- */

enum error_code get_session(struct request *rq, const void *in, void *out)
{
    struct session_at now = {NAN, JSON_NO_INTEGER, false};
    struct session_run run;

    (void)in;
    TRY(session_run_read(&run, rq, &now, true));
    *(struct session_info *)out = info_of(&run, true);
    add_etag(rq, &run.row);
    return OK;
}

enum error_code delete_session(struct request *rq, const void *in, void *out)
{
    struct db_session *db;

    (void)in;
    (void)out;
    TRY(request_db(rq, &db));
    TRY(store_session_delete(db, rq->principal.tenant, rq->path_value[0], rq->arena,
                             rq->err));
    rq->reply->status = 204;
    return OK;
}

struct sessions_query {
    const char *application_id;
    int status;
    struct page_query page;
};

struct sessions_page {
    const struct session_info *items;
    size_t item_count;
    const char *next_page_token;
};

#define T struct sessions_query
static const struct json_field query_rows[] = {
    JSON_ID(T, application_id, 0, "Only those of this application"),
    JSON_CHOICE(T, status, status_names, -1, 0,
                "Only those of this status: a page may have fewer then, and yet not be "
                "the last"),
    PAGE_ROWS(T),
    {0},
};
#undef T
const struct json_object sessions_query_json = {
    "WorkflowSessionsQuery", "Which sessions", sizeof(struct sessions_query), query_rows};

#define T struct sessions_page
static const struct json_field page_rows[] = {
    JSON_LIST(T, items, item_count, struct session_info, &session_info_json, 0, 0,
              "The sessions by name, without their definitions"),
    NEXT_PAGE_ROW(T),
    {0},
};
#undef T
const struct json_object sessions_page_json = {"WorkflowSessionsPage",
                                               "A page of workflow sessions",
                                               sizeof(struct sessions_page), page_rows};

enum error_code get_sessions(struct request *rq, const void *in, void *out)
{
    const struct sessions_query *query = rq->query;
    struct session_at now = {NAN, JSON_NO_INTEGER, true};
    struct store_page part;
    const struct store_session *rows;
    struct sessions_page *page = out;
    struct session_info *items;
    struct db_session *db;
    size_t count;

    (void)in;
    TRY(page_of(rq, &query->page, &part));
    TRY(request_db(rq, &db));
    TRY(store_sessions_list(db, rq->principal.tenant, query->application_id, &part, &rows,
                            &count, &page->next_page_token, rq->arena, rq->err));
    items = NEW(rq->arena, struct session_info, count);
    for (size_t i = 0; i < count; i++) {
        struct session_run run;

        TRY(session_run_of(&run, rq, &rows[i], &now));
        if (query->status >= 0 &&
            strcmp(session_status_name(&run), status_names[query->status]) != 0)
            continue;
        items[page->item_count++] = info_of(&run, false);
    }
    page->items = items;
    return page_link(rq, &page->next_page_token);
}

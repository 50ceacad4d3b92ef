/* store_session.c - runs of workflows: definition, events, later tasks, grants, plan. */
#include "service/store_session.h"

#include "service/json.h"
#include "service/store_token.h"

#include <assert.h>

/* ---- sessions ---- */

#define T struct store_session
#define HEAD_COLUMNS                                                                     \
    DB_COLUMN(T, session_id, DB_TEXT), DB_COLUMN(T, application_id, DB_TEXT),            \
        DB_COLUMN(T, snapshot_id, DB_TEXT), DB_COLUMN(T, definition_seq, DB_INTEGER),    \
        DB_COLUMN(T, revision, DB_INTEGER), DB_COLUMN(T, lease_revision, DB_INTEGER),    \
        DB_COLUMN(T, plan_revision, DB_INTEGER), DB_COLUMN(T, planned_seq, DB_INTEGER),  \
        DB_COLUMN(T, seen_leases, DB_INTEGER), DB_COLUMN(T, planned_at_s, DB_INSTANT),   \
        DB_COLUMN(T, due_at_s, DB_INSTANT), DB_COLUMN(T, expires_after_s, DB_NUMBER),    \
        DB_COLUMN(T, created_at_s, DB_INSTANT), DB_COLUMN(T, defined_at_s, DB_INSTANT),  \
        DB_COLUMN(T, last_event_at_s, DB_INSTANT),                                       \
        DB_COLUMN(T, expires_at_s, DB_INSTANT), DB_COLUMN(T, now_s, DB_INSTANT),         \
        DB_COLUMN(T, event_count, DB_INTEGER),                                           \
        DB_COLUMN(T, status_revision, DB_INTEGER),                                       \
        DB_COLUMN(T, running_count, DB_INTEGER),                                         \
        DB_COLUMN(T, counts_revision, DB_INTEGER), DB_COLUMN(T, done_count, DB_INTEGER), \
        DB_COLUMN(T, stopped_count, DB_INTEGER), DB_COLUMN(T, world_version, DB_INTEGER)
static const struct db_column head_columns[] = {HEAD_COLUMNS, {0}};
static const struct db_column full_columns[] = {HEAD_COLUMNS,
                                                DB_COLUMN(T, no_tasks, DB_BOOLEAN),
                                                DB_COLUMN(T, no_grants, DB_BOOLEAN),
                                                DB_COLUMN(T, definition, DB_TEXT),
                                                DB_COLUMN(T, plan, DB_TEXT),
                                                {0}};
#undef T

/* A snapshot's generation and lease_revision only rise, so their sum does with each
 * change of one. Without a stored snapshot the session's own grants are all there is. */
#define WORLD_VERSION                                                                   \
    "w.lease_revision + coalesce((SELECT n.generation + n.lease_revision FROM snapshot" \
    " AS n WHERE n.tenant = w.tenant AND n.snapshot_id = w.snapshot_id), 0)"
#define HEAD                                                                         \
    "w.session_id, w.application_id, w.snapshot_id, w.definition_seq, w.revision,"   \
    " w.lease_revision, w.plan_revision, coalesce(w.planned_seq, w.revision),"       \
    " w.seen_leases, w.planned_at, w.due_at,"                                        \
    " w.expires_after_s, w.created_at, w.defined_at, w.last_event_at, w.expires_at," \
    " clock_timestamp(), w.event_count, w.status_revision, "                         \
    "w.running_count, w.counts_revision, w.done_count, w.stopped_count, " WORLD_VERSION
#define FROM_SESSION \
    " FROM workflow_session AS w WHERE w.tenant = $1 AND w.session_id = $2"

static const struct db_statement select_head = {
    "select_session_head", "SELECT " HEAD FROM_SESSION, DB_REPEATABLE};

#define HAS_NONE                                                                     \
    "NOT EXISTS (SELECT FROM workflow_session_task AS t"                             \
    " WHERE t.tenant = w.tenant AND t.session_id = w.session_id),"                   \
    " NOT EXISTS (SELECT FROM workflow_session_grant AS g WHERE g.tenant = w.tenant" \
    " AND g.session_id = w.session_id)"

static const struct db_statement select_session = {
    "select_session", "SELECT " HEAD ", " HAS_NONE ", w.definition, w.plan" FROM_SESSION,
    DB_REPEATABLE};

static const struct db_statement select_light = {
    "select_session_light",
    "SELECT " HEAD ", " HAS_NONE ", NULL::text, w.plan" FROM_SESSION, DB_REPEATABLE};

/* Other tables are seen as they were before the lock: they tell nothing. */
static const struct db_statement lock_session = {
    "lock_session",
    "SELECT " HEAD ", false, false, w.definition, NULL::text" FROM_SESSION " FOR UPDATE",
    0};

static const struct db_statement lock_head = {
    "lock_session_head", "SELECT " HEAD FROM_SESSION " FOR UPDATE", 0};

/* What has a plan of its last revision, in which all tasks were done or cancelled. */
static const struct db_statement select_over = {
    "select_session_over",
    "SELECT " HEAD ", false, false, NULL::text, w.plan" FROM_SESSION
    " AND w.status = 'finished' AND w.status_revision = w.revision"
    " AND w.counts_revision = w.revision AND w.planned_seq = w.revision"
    " AND w.plan IS NOT NULL",
    DB_REPEATABLE};

static const struct db_statement select_sessions = {
    "select_sessions",
    "SELECT " HEAD ", " HAS_NONE ", w.definition, NULL::text"
    " FROM workflow_session AS w WHERE w.tenant = $1 AND w.session_id > $2"
    " AND ($3::text IS NULL OR w.application_id = $3) ORDER BY w.session_id LIMIT $4",
    DB_REPEATABLE};

static const struct db_statement count_sessions = {
    "count_sessions",
    "SELECT count(*) FROM workflow_session WHERE tenant = $1 AND expires_at >"
    " clock_timestamp()",
    DB_REPEATABLE};

static const struct db_statement insert_session = {
    "insert_session",
    "INSERT INTO workflow_session (tenant, session_id, application_id, snapshot_id,"
    " definition, definition_seq, revision, expires_after_s, created_at, defined_at,"
    " expires_at) SELECT $1, $2, $3, $4, $5, 0, 0, $6, n.now, n.now,"
    " n.now + $6 * interval '1 second' FROM (SELECT clock_timestamp() AS now) AS n"
    " ON CONFLICT DO NOTHING",
    0};

static const struct db_statement redefine_session = {
    "redefine_session",
    "UPDATE workflow_session SET application_id = $3, snapshot_id = $4, definition = $5,"
    " definition_seq = $6, revision = $6, expires_after_s = $7, plan = NULL,"
    " plan_schedule = NULL, planned_seq = NULL,"
    " plan_revision = plan_revision + 1, planned_at = NULL, due_at = NULL,"
    " defined_at = clock_timestamp(), expires_at = clock_timestamp() + $7 * interval"
    " '1 second' WHERE tenant = $1 AND session_id = $2",
    0};

static const struct db_statement delete_session = {
    "delete_session",
    "WITH gone AS (DELETE FROM workflow_session WHERE tenant = $1 AND session_id = $2"
    " RETURNING snapshot_id), leases AS (DELETE FROM snapshot_lease AS l USING gone"
    " WHERE l.tenant = $1 AND l.snapshot_id = gone.snapshot_id"
    " AND l.owner = 'session:' || $2), raised AS (UPDATE snapshot AS n"
    " SET lease_revision = lease_revision + 1 FROM gone WHERE n.tenant = $1"
    " AND n.snapshot_id = gone.snapshot_id) SELECT count(*) FROM gone",
    0};

static const struct db_statement advance_session = {
    "advance_session",
    "UPDATE workflow_session SET revision = $3, event_count = $4,"
    " last_event_at = CASE WHEN $5 AND $3 > revision THEN clock_timestamp()"
    " ELSE last_event_at END, expires_at = CASE WHEN $5 THEN clock_timestamp()"
    " + expires_after_s * interval '1 second' ELSE expires_at END"
    " WHERE tenant = $1 AND session_id = $2",
    0};

static const struct db_statement write_standing = {
    "write_session_standing",
    "UPDATE workflow_session SET status_revision = $3, status = $4, running_count = $5,"
    " counts_revision = $3, done_count = $6, stopped_count = $7"
    " WHERE tenant = $1 AND session_id = $2",
    0};

static const struct db_statement write_plan = {
    "write_session_plan",
    "UPDATE workflow_session SET plan = $3, plan_revision = $4, planned_at = $5,"
    " due_at = $6, seen_leases = $7, plan_schedule = $8, planned_seq = $9"
    " WHERE tenant = $1 AND session_id = $2 AND plan_revision = $4 - 1",
    0};

static const struct db_statement write_due = {
    "write_session_due",
    "UPDATE workflow_session SET due_at = $3,"
    " plan_revision = plan_revision + CASE WHEN $5 THEN 1 ELSE 0 END WHERE tenant = $1 "
    "AND session_id = $2 AND plan_revision = $4",
    0};

static const struct db_statement write_seen = {
    "write_session_seen",
    "UPDATE workflow_session SET seen_leases = $3"
    " WHERE tenant = $1 AND session_id = $2 AND plan_revision = $4",
    0};

struct count_row {
    uint64_t count;
};

static const struct db_column count_columns[] = {
    DB_COLUMN(struct count_row, count, DB_INTEGER),
    {0},
};

static enum error_code fail_no_session(const char *session_id, struct error *err)
{
    return fail(err, ERR_NOT_FOUND, "/session_id",
                "there is no workflow session '%.200s'", session_id);
}

static enum error_code read_one(struct db_session *s,
                                const struct db_statement *statement,
                                const struct db_column *columns, const char *tenant,
                                const char *session_id, struct store_session *out,
                                bool *found, struct arena *a, struct error *err)
{
    *out = (struct store_session){0};
    return db_row(s, statement, DB_PARAMS(db_text(tenant), db_text(session_id)), columns,
                  sizeof(*out), out, found, a, err);
}

enum error_code store_session_head(struct db_session *s, const char *tenant,
                                   const char *session_id, struct store_session *out,
                                   struct arena *a, struct error *err)
{
    bool found;

    TRY(read_one(s, &select_head, head_columns, tenant, session_id, out, &found, a, err));
    return found ? OK : fail_no_session(session_id, err);
}

enum error_code store_session_read(struct db_session *s, const char *tenant,
                                   const char *session_id, struct store_session *out,
                                   struct arena *a, struct error *err)
{
    bool found;

    TRY(read_one(s, &select_session, full_columns, tenant, session_id, out, &found, a,
                 err));
    return found ? OK : fail_no_session(session_id, err);
}

enum error_code store_session_read_light(struct db_session *s, const char *tenant,
                                         const char *session_id,
                                         struct store_session *out, struct arena *a,
                                         struct error *err)
{
    bool found;

    TRY(read_one(s, &select_light, full_columns, tenant, session_id, out, &found, a,
                 err));
    return found ? OK : fail_no_session(session_id, err);
}

enum error_code store_session_lock(struct db_session *s, const char *tenant,
                                   const char *session_id, struct store_session *out,
                                   bool *found, struct arena *a, struct error *err)
{
    assert(db_in_transaction(s));
    return read_one(s, &lock_session, full_columns, tenant, session_id, out, found, a,
                    err);
}

enum error_code store_session_lock_head(struct db_session *s, const char *tenant,
                                        const char *session_id, struct store_session *out,
                                        bool *found, struct arena *a, struct error *err)
{
    assert(db_in_transaction(s));
    return read_one(s, &lock_head, head_columns, tenant, session_id, out, found, a, err);
}

enum error_code store_session_over(struct db_session *s, const char *tenant,
                                   const char *session_id, struct store_session *out,
                                   bool *found, struct arena *a, struct error *err)
{
    return read_one(s, &select_over, full_columns, tenant, session_id, out, found, a,
                    err);
}

enum error_code store_session_create(struct db_session *s, const char *tenant,
                                     const struct store_session *session, bool *made,
                                     struct error *err)
{
    size_t written;

    TRY(db_run(s, &insert_session,
               DB_PARAMS(db_text(tenant), db_text(session->session_id),
                         db_text(session->application_id), db_text(session->snapshot_id),
                         db_text(session->definition),
                         db_number(session->expires_after_s)),
               &written, err));
    *made = written > 0;
    return OK;
}

enum error_code store_session_count(struct db_session *s, const char *tenant,
                                    uint64_t *count, struct arena *a, struct error *err)
{
    struct count_row row = {0};
    bool found;

    TRY(db_row(s, &count_sessions, DB_PARAMS(db_text(tenant)), count_columns, sizeof(row),
               &row, &found, a, err));
    *count = row.count;
    return OK;
}

enum error_code store_session_redefine(struct db_session *s, const char *tenant,
                                       const struct store_session *session,
                                       struct error *err)
{
    assert(db_in_transaction(s));
    return db_run(s, &redefine_session,
                  DB_PARAMS(db_text(tenant), db_text(session->session_id),
                            db_text(session->application_id),
                            db_text(session->snapshot_id), db_text(session->definition),
                            db_integer(session->revision),
                            db_number(session->expires_after_s)),
                  NULL, err);
}

enum error_code store_session_delete(struct db_session *s, const char *tenant,
                                     const char *session_id, struct arena *a,
                                     struct error *err)
{
    struct count_row row = {0};
    bool found;

    TRY(db_row(s, &delete_session, DB_PARAMS(db_text(tenant), db_text(session_id)),
               count_columns, sizeof(row), &row, &found, a, err));
    return row.count ? OK : fail_no_session(session_id, err);
}

enum error_code store_sessions_list(struct db_session *s, const char *tenant,
                                    const char *application_id,
                                    const struct store_page *page,
                                    const struct store_session **list, size_t *count,
                                    const char **next_token, struct arena *a,
                                    struct error *err)
{
    const char *after = "", *next = NULL;
    struct store_session *rows;
    size_t row_count;
    double ignored_s;

    if (page->token)
        TRY(token_read(page->token, &ignored_s, &after, a, err));
    TRY(db_rows(s, &select_sessions,
                DB_PARAMS(db_text(tenant), db_text(after), db_text(application_id),
                          db_integer(page->limit + 1)),
                full_columns, sizeof(*rows), (void **)&rows, &row_count, a, err));
    if (row_count > page->limit)
        TRY(token_make(0, rows[page->limit - 1].session_id, &next, a, err));
    *list = rows;
    *count = page_count(page, row_count);
    *next_token = next;
    return OK;
}

enum error_code store_session_advance(struct db_session *s, const char *tenant,
                                      const char *session_id, uint64_t revision,
                                      uint64_t event_count, bool event, struct error *err)
{
    assert(db_in_transaction(s));
    return db_run(s, &advance_session,
                  DB_PARAMS(db_text(tenant), db_text(session_id), db_integer(revision),
                            db_integer(event_count), db_boolean(event)),
                  NULL, err);
}

enum error_code store_session_stand(struct db_session *s, const char *tenant,
                                    const struct store_session *session,
                                    const char *status, struct error *err)
{
    assert(db_in_transaction(s));
    return db_run(s, &write_standing,
                  DB_PARAMS(db_text(tenant), db_text(session->session_id),
                            db_integer(session->revision), db_text(status),
                            db_integer(session->running_count),
                            db_integer(session->done_count),
                            db_integer(session->stopped_count)),
                  NULL, err);
}

/* $1, the tenant of the service itself, is not looked at: they are of many. */
static const struct db_statement select_census = {
    "select_session_census",
    "SELECT count(*) FILTER (WHERE q.status = 'running'),"
    " count(*) FILTER (WHERE q.status = 'finished'),"
    " count(*) FILTER (WHERE q.status = 'stuck'),"
    " count(*) FILTER (WHERE q.status = 'expired') FROM (SELECT CASE WHEN expires_at <="
    " clock_timestamp() THEN 'expired' ELSE status END AS status FROM workflow_session"
    " WHERE $1::text IS NOT NULL) AS q",
    DB_REPEATABLE};

static const struct db_column census_columns[] = {
    DB_COLUMN(struct store_session_census, running, DB_INTEGER),
    DB_COLUMN(struct store_session_census, finished, DB_INTEGER),
    DB_COLUMN(struct store_session_census, stuck, DB_INTEGER),
    DB_COLUMN(struct store_session_census, expired, DB_INTEGER),
    {0},
};

enum error_code store_session_census(struct db_session *s,
                                     struct store_session_census *out, struct arena *a,
                                     struct error *err)
{
    bool found;

    return db_row(s, &select_census, DB_PARAMS(db_text("")), census_columns, sizeof(*out),
                  out, &found, a, err);
}

enum error_code store_session_plan(struct db_session *s, const char *tenant,
                                   const struct store_session *session, bool *written,
                                   struct error *err)
{
    size_t count;

    TRY(db_run(s, &write_plan,
               DB_PARAMS(db_text(tenant), db_text(session->session_id),
                         db_text(session->plan), db_integer(session->plan_revision),
                         db_instant(session->planned_at_s), db_instant(session->due_at_s),
                         db_integer(session->seen_leases), db_text(session->schedule),
                         db_integer(session->planned_seq)),
               &count, err));
    *written = count > 0;
    return OK;
}

struct schedule_row {
    const char *schedule;
};

static const struct db_column schedule_columns[] = {
    DB_COLUMN(struct schedule_row, schedule, DB_TEXT),
    {0},
};

static const struct db_statement select_schedule = {
    "select_session_schedule",
    "SELECT plan_schedule FROM workflow_session WHERE tenant = $1 AND session_id = $2",
    DB_REPEATABLE};

enum error_code store_session_schedule(struct db_session *s, const char *tenant,
                                       const char *session_id, const char **schedule,
                                       struct arena *a, struct error *err)
{
    struct schedule_row row = {NULL};
    bool found;

    TRY(db_row(s, &select_schedule, DB_PARAMS(db_text(tenant), db_text(session_id)),
               schedule_columns, sizeof(row), &row, &found, a, err));
    *schedule = row.schedule;
    return OK;
}

enum error_code store_session_due(struct db_session *s, const char *tenant,
                                  const char *session_id, double due_at_s,
                                  uint64_t plan_revision, bool raise, struct error *err)
{
    return db_run(s, &write_due,
                  DB_PARAMS(db_text(tenant), db_text(session_id), db_instant(due_at_s),
                            db_integer(plan_revision), db_boolean(raise)),
                  NULL, err);
}

enum error_code store_session_seen(struct db_session *s, const char *tenant,
                                   const char *session_id, uint64_t seen_leases,
                                   uint64_t plan_revision, struct error *err)
{
    return db_run(s, &write_seen,
                  DB_PARAMS(db_text(tenant), db_text(session_id), db_integer(seen_leases),
                            db_integer(plan_revision)),
                  NULL, err);
}

/* ---- who waits ---- */

#define T struct store_session_version
static const struct db_column asked_columns[] = {DB_COLUMN(T, tenant, DB_TEXT),
                                                 DB_COLUMN(T, session_id, DB_TEXT),
                                                 DB_COLUMN(T, number, DB_INTEGER),
                                                 {0}};
static const struct db_column version_columns[] = {
    DB_COLUMN(T, number, DB_INTEGER),
    DB_COLUMN(T, revision, DB_INTEGER),
    DB_COLUMN(T, world_version, DB_INTEGER),
    DB_COLUMN(T, plan_revision, DB_INTEGER),
    {0}};
#undef T

/* $1, the tenant of the service itself, is not looked at: they are of many. */
static const struct db_statement select_versions = {
    "select_session_versions",
    "SELECT q.number, w.revision, " WORLD_VERSION ", w.plan_revision FROM unnest($2, $3,"
    " $4) AS q(tenant, session_id, number) JOIN workflow_session AS w"
    " ON w.tenant = q.tenant AND w.session_id = q.session_id WHERE $1::text IS NOT NULL",
    DB_REPEATABLE};

enum error_code store_session_versions(struct db_session *s,
                                       const struct store_session_version *asked,
                                       size_t count, struct store_session_version **list,
                                       size_t *found, struct arena *a, struct error *err)
{
    return db_list_rows(s, &select_versions, "", asked_columns, sizeof(*asked), asked,
                        count, version_columns, sizeof(**list), (void **)list, found, a,
                        err);
}

/* ---- lists of resources ---- */

struct places {
    const char *const *ids;
    size_t count;
};

static const struct json_field places_rows[] = {
    JSON_TEXTS(struct places, ids, count, JSON_LARGEST, JSON_REQUIRED, ""),
    {0},
};
static const struct json_object places_json = {"SessionPlaces", "", sizeof(struct places),
                                               places_rows};

/* NULL: it is one. */
static const char *places_text(const char *const *ids, size_t count, struct arena *a)
{
    struct places list = {ids, count};
    struct text_buffer b = {.arena = a};

    if (count == 0)
        return NULL;
    json_print(&places_json, &list, &b);
    text_add(&b, "", 1); /* the NUL */
    return text_end(&b);
}

static enum error_code read_places(const char *text, const char *const **ids,
                                   size_t *count, struct arena *a, struct error *err)
{
    struct places list;

    *ids = NULL;
    *count = 0;
    if (!text)
        return OK;
    TRY(json_read(&places_json, text, strlen(text), &list, NULL, a, err));
    *ids = list.ids;
    *count = list.count;
    return OK;
}

/* ---- events ---- */

#define T struct store_session_event
#define EVENT_COLUMN(m, type)                                   \
    {                                                           \
#m, type, offsetof(struct store_session_event, event.m) \
    }
#define EVENT_COLUMNS                                                                    \
    EVENT_COLUMN(event_id, DB_TEXT), EVENT_COLUMN(seq, DB_INTEGER),                      \
        DB_COLUMN(T, kind, DB_INTEGER),                                                  \
        {"observed_at", DB_INSTANT, offsetof(T, event.observed_at_s)},                   \
        EVENT_COLUMN(task_id, DB_TEXT), EVENT_COLUMN(attempt, DB_INTEGER),               \
        EVENT_COLUMN(resource_id, DB_TEXT), EVENT_COLUMN(running_id, DB_TEXT),           \
        EVENT_COLUMN(run_time_s, DB_NUMBER), EVENT_COLUMN(memory_peak_bytes, DB_NUMBER), \
        EVENT_COLUMN(output_bytes, DB_NUMBER), EVENT_COLUMN(exit_code, DB_NUMBER),       \
        EVENT_COLUMN(failure_kind, DB_TEXT), EVENT_COLUMN(final, DB_BOOLEAN),            \
        EVENT_COLUMN(progress_ratio, DB_NUMBER), EVENT_COLUMN(mips_total, DB_NUMBER),    \
        DB_COLUMN(T, resource_ids, DB_TEXT)
static const struct db_column event_columns[] = {
    EVENT_COLUMNS, DB_COLUMN(T, received_at_s, DB_INSTANT), {0}};
static const struct db_column new_event_columns[] = {
    DB_COLUMN(T, session_id, DB_TEXT), EVENT_COLUMNS, {0}};
static const struct db_column id_columns[] = {
    DB_COLUMN(T, session_id, DB_TEXT), EVENT_COLUMN(event_id, DB_TEXT), {0}};
static const struct db_column task_id_columns[] = {
    DB_COLUMN(T, session_id, DB_TEXT), EVENT_COLUMN(task_id, DB_TEXT), {0}};
#undef T

#define EVENT_NAMES                                                                 \
    "event_id, seq, kind, observed_at, task_id, attempt, resource_id, running_id,"  \
    " run_time_s, memory_peak_bytes, output_bytes, exit_code, failure_kind, final," \
    " progress_ratio, mips_total, resource_ids"
#define OF_EVENT(e)                                                                     \
    e ".event_id, " e ".seq, " e ".kind, " e ".observed_at, " e ".task_id, " e          \
      ".attempt, " e ".resource_id, " e ".running_id, " e ".run_time_s, " e             \
      ".memory_peak_bytes, " e ".output_bytes, " e ".exit_code, " e ".failure_kind, " e \
      ".final, " e ".progress_ratio, " e ".mips_total, " e ".resource_ids, " e          \
      ".received_at"

static const struct db_statement insert_events = {
    "insert_session_events",
    "INSERT INTO workflow_session_event (tenant, session_id, " EVENT_NAMES
    ", received_at) SELECT $1, q.*, clock_timestamp() FROM unnest($2, $3, $4, $5, $6, $7,"
    " $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19) AS q",
    0};

/* All rows of a list are of one session, the first row's. A plan that the server kept
 * from when the table was small would go through all of it. */
static const struct db_statement select_known = {
    "select_known_session_events",
    "SELECT " OF_EVENT(
        "e") " FROM workflow_session_event AS e WHERE e.tenant = $1"
             " AND e.session_id = ($2::text[])[1] AND e.event_id = ANY ($3::text[])",
    DB_REPEATABLE | DB_ONCE};

static const struct db_statement select_near = {
    "select_near_session_events",
    "SELECT " OF_EVENT(
        "e") " FROM workflow_session_event AS e WHERE e.tenant = $1"
             " AND e.session_id = ($2::text[])[1] AND e.task_id = ANY ($3::text[])",
    DB_REPEATABLE | DB_ONCE};

static const struct db_statement select_of_hosts = {
    "select_session_events_of_hosts",
    "SELECT " OF_EVENT("e") " FROM workflow_session_event AS e WHERE e.tenant = $1"
                            " AND e.session_id = $2 AND e.task_id IS NULL",
    DB_REPEATABLE};

static const struct db_statement select_events = {
    "select_session_events",
    "SELECT " OF_EVENT("e") " FROM workflow_session_event AS e WHERE e.tenant = $1"
                            " AND e.session_id = $2 AND e.seq > $3 AND e.seq <= $4 ORDER "
                            "BY e.seq LIMIT $5",
    DB_REPEATABLE};

static enum error_code settle_events(struct store_session_event *list, size_t count,
                                     struct arena *a, struct error *err)
{
    for (size_t i = 0; i < count; i++) {
        struct session_event *e = &list[i].event;

        e->kind = (int)list[i].kind;
        TRY(read_places(list[i].resource_ids, &e->resource_ids, &e->resource_id_count, a,
                        err));
    }
    return OK;
}

enum error_code store_session_events_add(struct db_session *s, const char *tenant,
                                         const struct store_session_event *list,
                                         size_t count, struct arena *a, struct error *err)
{
    struct store_session_event *rows;

    assert(db_in_transaction(s));
    if (count == 0)
        return OK;
    rows = TRY_NEW(a, struct store_session_event, count);
    if (!rows)
        return fail_memory(err);
    for (size_t i = 0; i < count; i++) {
        rows[i] = list[i];
        rows[i].resource_ids =
            places_text(list[i].event.resource_ids, list[i].event.resource_id_count, a);
    }
    return db_run_list(s, &insert_events, tenant, new_event_columns, sizeof(*rows), rows,
                       count, NULL, a, err);
}

enum error_code store_session_events_known(struct db_session *s, const char *tenant,
                                           const struct store_session_event *ids,
                                           size_t count,
                                           const struct store_session_event **list,
                                           size_t *found, struct arena *a,
                                           struct error *err)
{
    void *rows = NULL;

    *found = 0;
    if (count > 0)
        TRY(db_list_rows(s, &select_known, tenant, id_columns, sizeof(*ids), ids, count,
                         event_columns, sizeof(**list), &rows, found, a, err));
    *list = rows;
    return settle_events(rows, *found, a, err);
}

enum error_code
store_session_events_near(struct db_session *s, const char *tenant,
                          const char *session_id, const struct store_session_event *of,
                          size_t count, const struct store_session_event **list,
                          size_t *found, struct arena *a, struct error *err)
{
    struct store_session_event *of_tasks = NULL, *of_hosts, *all;
    size_t task_count = 0, host_count;

    if (count > 0)
        TRY(db_list_rows(s, &select_near, tenant, task_id_columns, sizeof(*of), of, count,
                         event_columns, sizeof(*of), (void **)&of_tasks, &task_count, a,
                         err));
    TRY(db_rows(s, &select_of_hosts, DB_PARAMS(db_text(tenant), db_text(session_id)),
                event_columns, sizeof(*of_hosts), (void **)&of_hosts, &host_count, a,
                err));
    all = TRY_NEW(a, struct store_session_event, task_count + host_count);
    if (!all)
        return fail_memory(err);
    for (size_t i = 0; i < task_count; i++)
        all[i] = of_tasks[i];
    for (size_t i = 0; i < host_count; i++)
        all[task_count + i] = of_hosts[i];
    *list = all;
    *found = task_count + host_count;
    return settle_events(all, *found, a, err);
}

enum error_code store_session_events_read(struct db_session *s, const char *tenant,
                                          const char *session_id, uint64_t after_seq,
                                          uint64_t to_seq, uint64_t limit,
                                          const struct store_session_event **list,
                                          size_t *count, struct arena *a,
                                          struct error *err)
{
    void *rows;

    TRY(db_rows(s, &select_events,
                DB_PARAMS(db_text(tenant), db_text(session_id), db_integer(after_seq),
                          db_integer(to_seq), db_integer(limit)),
                event_columns, sizeof(**list), &rows, count, a, err));
    *list = rows;
    return settle_events(rows, *count, a, err);
}

/* ---- tasks that came later ---- */

#define T struct store_session_task
#define TASK_COLUMNS                                                     \
    DB_COLUMN(T, task_id, DB_TEXT), DB_COLUMN(T, first_seq, DB_INTEGER), \
        DB_COLUMN(T, seq, DB_INTEGER), DB_COLUMN(T, document, DB_TEXT),  \
        DB_COLUMN(T, removed_seq, DB_INTEGER)
static const struct db_column task_columns[] = {TASK_COLUMNS, {0}};
static const struct db_column new_task_columns[] = {
    DB_COLUMN(T, session_id, DB_TEXT), TASK_COLUMNS, {0}};
static const struct db_column near_task_columns[] = {
    DB_COLUMN(T, session_id, DB_TEXT), DB_COLUMN(T, task_id, DB_TEXT), {0}};
#undef T

static const struct db_statement select_tasks = {
    "select_session_tasks",
    "SELECT task_id, first_seq, seq, document, coalesce(removed_seq, 0)"
    " FROM workflow_session_task WHERE tenant = $1 AND session_id = $2"
    " ORDER BY first_seq, task_id",
    DB_REPEATABLE};

/* As select_near. */
static const struct db_statement select_tasks_near = {
    "select_near_session_tasks",
    "SELECT task_id, first_seq, seq, document, coalesce(removed_seq, 0)"
    " FROM workflow_session_task WHERE tenant = $1 AND session_id = ($2::text[])[1]"
    " AND task_id = ANY ($3::text[]) ORDER BY first_seq, task_id",
    DB_REPEATABLE | DB_ONCE};

static const struct db_statement upsert_tasks = {
    "upsert_session_tasks",
    "INSERT INTO workflow_session_task (tenant, session_id, task_id, first_seq, seq,"
    " document, removed_seq) SELECT $1, q.a, q.b, q.c, q.d, q.e, nullif(q.f, 0)"
    " FROM unnest($2, $3, $4, $5, $6, $7) AS q(a, b, c, d, e, f)"
    " ON CONFLICT (tenant, session_id, task_id) DO UPDATE SET seq = excluded.seq,"
    " document = excluded.document, removed_seq = excluded.removed_seq",
    0};

enum error_code store_session_tasks_read(struct db_session *s, const char *tenant,
                                         const char *session_id,
                                         const struct store_session_task **list,
                                         size_t *count, struct arena *a,
                                         struct error *err)
{
    void *rows;

    TRY(db_rows(s, &select_tasks, DB_PARAMS(db_text(tenant), db_text(session_id)),
                task_columns, sizeof(**list), &rows, count, a, err));
    *list = rows;
    return OK;
}

enum error_code store_session_tasks_near(struct db_session *s, const char *tenant,
                                         const struct store_session_task *of,
                                         size_t of_count,
                                         const struct store_session_task **list,
                                         size_t *count, struct arena *a,
                                         struct error *err)
{
    void *rows = NULL;

    *count = 0;
    if (of_count > 0)
        TRY(db_list_rows(s, &select_tasks_near, tenant, near_task_columns, sizeof(*of),
                         of, of_count, task_columns, sizeof(**list), &rows, count, a,
                         err));
    *list = rows;
    return OK;
}

enum error_code store_session_tasks_write(struct db_session *s, const char *tenant,
                                          const struct store_session_task *list,
                                          size_t count, struct arena *a,
                                          struct error *err)
{
    assert(db_in_transaction(s));
    if (count == 0)
        return OK;
    return db_run_list(s, &upsert_tasks, tenant, new_task_columns, sizeof(*list), list,
                       count, NULL, a, err);
}

/* ---- grants ---- */

#define T struct store_session_grant
#define GRANT_COLUMNS                                                                   \
    DB_COLUMN(T, task_id, DB_TEXT), DB_COLUMN(T, attempt, DB_INTEGER),                  \
        DB_COLUMN(T, resource_id, DB_TEXT), DB_COLUMN(T, holder, DB_TEXT),              \
        DB_COLUMN(T, granted_at_s, DB_INSTANT), DB_COLUMN(T, expires_at_s, DB_INSTANT), \
        DB_COLUMN(T, run_time_s, DB_NUMBER), DB_COLUMN(T, resource_ids, DB_TEXT)
static const struct db_column grant_columns[] = {GRANT_COLUMNS, {0}};
static const struct db_column new_grant_columns[] = {
    DB_COLUMN(T, session_id, DB_TEXT), GRANT_COLUMNS, {0}};
#undef T

static const struct db_statement select_grants = {
    "select_session_grants",
    "SELECT task_id, attempt, resource_id, holder, granted_at, expires_at, run_time_s,"
    " resource_ids FROM workflow_session_grant WHERE tenant = $1 AND session_id = $2"
    " AND expires_at > $3 ORDER BY task_id",
    DB_REPEATABLE};

static const struct db_statement upsert_grants = {
    "upsert_session_grants",
    "INSERT INTO workflow_session_grant SELECT $1, q.* FROM unnest($2, $3, $4, $5, $6, "
    "$7,"
    " $8, $9, $10) AS q ON CONFLICT (tenant, session_id, task_id) DO UPDATE SET"
    " attempt = excluded.attempt, resource_id = excluded.resource_id,"
    " holder = excluded.holder, granted_at = excluded.granted_at,"
    " expires_at = excluded.expires_at, run_time_s = excluded.run_time_s,"
    " resource_ids = excluded.resource_ids",
    0};

static const struct db_statement raise_leases = {
    "raise_session_leases",
    "UPDATE workflow_session SET lease_revision = lease_revision + 1"
    " WHERE tenant = $1 AND session_id = $2",
    0};

enum error_code store_session_grants_read(struct db_session *s, const char *tenant,
                                          const char *session_id, double now_s,
                                          const struct store_session_grant **list,
                                          size_t *count, struct arena *a,
                                          struct error *err)
{
    struct store_session_grant *rows;

    TRY(db_rows(s, &select_grants,
                DB_PARAMS(db_text(tenant), db_text(session_id), db_instant(now_s)),
                grant_columns, sizeof(**list), (void **)&rows, count, a, err));
    for (size_t i = 0; i < *count; i++)
        TRY(read_places(rows[i].resource_ids, &rows[i].places, &rows[i].place_count, a,
                        err));
    *list = rows;
    return OK;
}

enum error_code store_session_grants_write(struct db_session *s, const char *tenant,
                                           const char *session_id,
                                           const struct store_session_grant *list,
                                           size_t count, struct arena *a,
                                           struct error *err)
{
    struct store_session_grant *rows;

    assert(db_in_transaction(s));
    if (count == 0)
        return OK;
    rows = TRY_NEW(a, struct store_session_grant, count);
    if (!rows)
        return fail_memory(err);
    for (size_t i = 0; i < count; i++) {
        rows[i] = list[i];
        rows[i].resource_ids = places_text(list[i].places, list[i].place_count, a);
    }
    TRY(db_run_list(s, &upsert_grants, tenant, new_grant_columns, sizeof(*rows), rows,
                    count, NULL, a, err));
    return db_run(s, &raise_leases, DB_PARAMS(db_text(tenant), db_text(session_id)), NULL,
                  err);
}

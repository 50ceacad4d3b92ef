/* store_simulation.c - the queue of simulations that run without a client. */
#include "service/store_simulation.h"

#include "service/store_token.h"
#include "service/uuid.h"

#include <math.h>
#include <string.h>

#define HEAD                                                                  \
    "s.tenant, s.simulation_id, s.name, s.kind, s.status, s.progress_ratio, " \
    "s.event_count, s.run_count, s.attempt_count, s.cancel_requested, "       \
    "s.created_at, s.started_at, s.finished_at, s.error"

#define HEAD_COLUMNS                                                          \
    DB_COLUMN(struct store_simulation, tenant, DB_TEXT),                      \
        DB_COLUMN(struct store_simulation, simulation_id, DB_UUID),           \
        DB_COLUMN(struct store_simulation, name, DB_TEXT),                    \
        DB_COLUMN(struct store_simulation, kind, DB_TEXT),                    \
        DB_COLUMN(struct store_simulation, status, DB_TEXT),                  \
        DB_COLUMN(struct store_simulation, progress.ratio, DB_NUMBER),        \
        DB_COLUMN(struct store_simulation, progress.event_count, DB_INTEGER), \
        DB_COLUMN(struct store_simulation, progress.run_count, DB_INTEGER),   \
        DB_COLUMN(struct store_simulation, attempt_count, DB_INTEGER),        \
        DB_COLUMN(struct store_simulation, cancel_requested, DB_BOOLEAN),     \
        DB_COLUMN(struct store_simulation, created_at_s, DB_INSTANT),         \
        DB_COLUMN(struct store_simulation, started_at_s, DB_INSTANT),         \
        DB_COLUMN(struct store_simulation, finished_at_s, DB_INSTANT),        \
        DB_COLUMN(struct store_simulation, error, DB_TEXT)

static const struct db_column head_columns[] = {HEAD_COLUMNS, {0}};

static const struct db_column full_columns[] = {
    HEAD_COLUMNS,
    DB_COLUMN(struct store_simulation, result, DB_TEXT),
    {0},
};

static const struct db_column claimed_columns[] = {
    HEAD_COLUMNS,
    DB_COLUMN(struct store_simulation, route, DB_TEXT),
    DB_COLUMN(struct store_simulation, request, DB_TEXT),
    DB_COLUMN(struct store_simulation, snapshot_document, DB_TEXT),
    DB_COLUMN(struct store_simulation, history_document, DB_TEXT),
    {0},
};

static const struct db_statement insert_simulation = {
    "insert_simulation",
    "INSERT INTO simulation AS s (tenant, simulation_id, created_at, name, route,"
    " request, request_sha256, snapshot_document, history_document, status,"
    " progress_ratio, event_count, run_count, attempt_count, cancel_requested, kind)"
    " SELECT $1, $2, now(), $3, $4, $5, $6, $7, $8, 'queued', 0, 0, 0, 0, false, $10"
    " WHERE (SELECT count(*) FROM simulation WHERE tenant = $1 AND finished_at IS NULL)"
    " < $9 RETURNING " HEAD,
    0};

static const struct db_statement select_simulation = {
    "select_simulation",
    "SELECT " HEAD ", s.result FROM simulation s WHERE tenant = $1"
    " AND simulation_id = $2",
    DB_REPEATABLE};

static const struct db_statement select_simulations = {
    "select_simulations",
    "SELECT " HEAD " FROM simulation s WHERE tenant = $1"
    " AND (created_at, simulation_id) < ($2, $3) AND ($4::text IS NULL OR status = $4)"
    " AND ($6::text IS NULL OR kind = $6)"
    " ORDER BY created_at DESC, simulation_id DESC LIMIT $5",
    DB_REPEATABLE};

/* Nobody runs it: it was not claimed yet, or its owner is dead. */
#define IS_IDLE "(status = 'queued' OR lease_until < now())"

static const struct db_statement cancel_simulation = {
    "cancel_simulation",
    "WITH s AS (UPDATE simulation s SET cancel_requested = true,"
    " status = CASE WHEN " IS_IDLE " THEN 'cancelled' ELSE status END,"
    " finished_at = CASE WHEN " IS_IDLE " THEN now() END,"
    " owner_id = CASE WHEN " IS_IDLE " THEN NULL ELSE owner_id END,"
    " lease_until = CASE WHEN " IS_IDLE " THEN NULL ELSE lease_until END"
    " WHERE tenant = $1 AND simulation_id = $2 AND finished_at IS NULL RETURNING s.*),"
    " gone AS (DELETE FROM simulation_part p USING s WHERE p.tenant = s.tenant"
    " AND p.simulation_id = s.simulation_id AND s.finished_at IS NOT NULL)"
    " SELECT " HEAD " FROM s",
    DB_REPEATABLE};

static const struct db_statement delete_simulation = {
    "delete_simulation",
    "DELETE FROM simulation WHERE tenant = $1 AND simulation_id = $2"
    " AND finished_at IS NOT NULL",
    0};

/* How far it is when nobody runs it: where it was, if that is kept. */
#define KEPT_OR_ZERO(column)                                    \
    column " = CASE WHEN EXISTS (SELECT FROM simulation_part p" \
           " WHERE p.tenant = s.tenant"                         \
           " AND p.simulation_id = s.simulation_id)"            \
           " THEN s." column " ELSE 0 END"
#define PROGRESS_KEPT              \
    KEPT_OR_ZERO("progress_ratio") \
    ", " KEPT_OR_ZERO("event_count") ", " KEPT_OR_ZERO("run_count")

static const struct db_statement claim_simulation = {
    "claim_simulation",
    "WITH next AS MATERIALIZED (SELECT tenant, simulation_id FROM simulation"
    " WHERE finished_at IS NULL AND " IS_IDLE
    " ORDER BY created_at LIMIT 1 FOR UPDATE SKIP LOCKED)"
    " UPDATE simulation s SET status = 'running', owner_id = $1,"
    " lease_until = now() + make_interval(secs => $2), started_at = now(),"
    " attempt_count = attempt_count + 1, " PROGRESS_KEPT
    " FROM next WHERE s.tenant = next.tenant AND s.simulation_id = next.simulation_id"
    " RETURNING " HEAD ", s.route, s.request, s.snapshot_document, s.history_document",
    0};

#define IS_OWNED                                                  \
    " WHERE tenant = $1 AND simulation_id = $2 AND owner_id = $3" \
    " AND finished_at IS NULL"

/* It never goes back: who takes a simulation up is behind what was told of it last, by
 * what had not been kept yet. */
static const struct db_statement renew_simulation = {
    "renew_simulation",
    "UPDATE simulation SET lease_until = now() + make_interval(secs => $4),"
    " progress_ratio = greatest(progress_ratio, $5),"
    " event_count = greatest(event_count, $6), run_count = greatest(run_count, "
    "$7)" IS_OWNED " RETURNING cancel_requested",
    DB_REPEATABLE};

static const struct db_statement release_simulation = {
    "release_simulation",
    "UPDATE simulation s SET status = 'queued', owner_id = NULL, lease_until = NULL,"
    " started_at = NULL, attempt_count = attempt_count - 1, " PROGRESS_KEPT IS_OWNED,
    DB_REPEATABLE};

static const struct db_statement finish_simulation = {
    "finish_simulation",
    "WITH ended AS (UPDATE simulation SET status = CASE WHEN cancel_requested AND $4 = "
    "'cut'"
    " THEN 'cancelled' ELSE $4 END, result = $5, error = $6, progress_ratio = $7,"
    " event_count = $8, run_count = $9, finished_at = now(), owner_id = NULL,"
    " lease_until = NULL" IS_OWNED " RETURNING tenant, simulation_id)"
    " DELETE FROM simulation_part p USING ended e WHERE p.tenant = e.tenant"
    " AND p.simulation_id = e.simulation_id",
    DB_REPEATABLE};

static const struct db_column part_columns[] = {
    DB_COLUMN(struct store_part, number, DB_INTEGER),
    DB_COLUMN(struct store_part, content, DB_BYTES),
    {0},
};

static const struct db_statement select_parts = {
    "select_parts",
    "SELECT part_number, content FROM simulation_part WHERE tenant = $1"
    " AND simulation_id = $2 ORDER BY part_number",
    DB_REPEATABLE};

/* Locked, as an end or a new owner at the same time must come before or after it. */
static const struct db_statement insert_part = {
    "insert_part",
    "INSERT INTO simulation_part (tenant, simulation_id, part_number, content)"
    " SELECT tenant, simulation_id, $4, $5 FROM simulation" IS_OWNED
    " FOR NO KEY UPDATE ON CONFLICT DO NOTHING",
    DB_REPEATABLE};

static enum error_code fail_no_simulation(const char *simulation_id, struct error *err)
{
    return fail(err, ERR_NOT_FOUND, "", "there is no simulation '%.100s'", simulation_id);
}

enum error_code store_simulation_create(struct db_session *s, const char *tenant,
                                        const struct store_simulation *simulation,
                                        struct db_bytes request_sha256,
                                        struct store_simulation *out, struct arena *a,
                                        struct error *err)
{
    bool found;

    TRY(db_row(s, &insert_simulation,
               DB_PARAMS(db_text(tenant), db_uuid(simulation->simulation_id),
                         db_text(simulation->name), db_text(simulation->route),
                         db_text(simulation->request),
                         db_bytes(request_sha256.data, request_sha256.length),
                         db_text(simulation->snapshot_document),
                         db_text(simulation->history_document),
                         db_integer(STORE_SIMULATIONS_WAITING_MAX),
                         db_text(simulation->kind)),
               head_columns, sizeof(*out), out, &found, a, err));
    if (found)
        return OK;
    err->retry_after_s = 60;
    return fail(err, ERR_BUSY, "",
                "%d simulations wait or run already; cancel some of them, or try later",
                STORE_SIMULATIONS_WAITING_MAX);
}

enum error_code store_simulation_read(struct db_session *s, const char *tenant,
                                      const char *simulation_id,
                                      struct store_simulation *out, struct arena *a,
                                      struct error *err)
{
    bool found = false;

    if (uuid_is(simulation_id))
        TRY(db_row(s, &select_simulation,
                   DB_PARAMS(db_text(tenant), db_uuid(simulation_id)), full_columns,
                   sizeof(*out), out, &found, a, err));
    return found ? OK : fail_no_simulation(simulation_id, err);
}

enum error_code store_simulations_list(struct db_session *s, const char *tenant,
                                       const char *status, const char *kind,
                                       const struct store_page *page,
                                       const struct store_simulation **list,
                                       size_t *count, const char **next_token,
                                       struct arena *a, struct error *err)
{
    double before_at_s;
    const char *before_id;
    const char *next = NULL;
    struct store_simulation *rows;
    size_t row_count;

    TRY(token_read_before(page, &before_at_s, &before_id, a, err));
    TRY(db_rows(s, &select_simulations,
                DB_PARAMS(db_text(tenant), db_instant(before_at_s), db_uuid(before_id),
                          db_text(status), db_integer(page->limit + 1), db_text(kind)),
                head_columns, sizeof(*rows), (void **)&rows, &row_count, a, err));
    if (row_count > page->limit) {
        const struct store_simulation *last = &rows[page->limit - 1];

        TRY(token_make(last->created_at_s, last->simulation_id, &next, a, err));
    }
    *list = rows;
    *count = page_count(page, row_count);
    *next_token = next;
    return OK;
}

enum error_code store_simulation_cancel(struct db_session *s, const char *tenant,
                                        const char *simulation_id, bool *found,
                                        struct store_simulation *out, struct arena *a,
                                        struct error *err)
{
    *found = false;
    if (!uuid_is(simulation_id))
        return OK;
    return db_row(s, &cancel_simulation,
                  DB_PARAMS(db_text(tenant), db_uuid(simulation_id)), head_columns,
                  sizeof(*out), out, found, a, err);
}

enum error_code store_simulation_delete(struct db_session *s, const char *tenant,
                                        const char *simulation_id, struct arena *a,
                                        struct error *err)
{
    struct store_simulation now = {0};
    size_t deleted = 0;

    if (uuid_is(simulation_id))
        TRY(db_run(s, &delete_simulation,
                   DB_PARAMS(db_text(tenant), db_uuid(simulation_id)), &deleted, err));
    if (deleted)
        return OK;
    TRY(store_simulation_read(s, tenant, simulation_id, &now, a, err));
    return fail(err, ERR_CONFLICT, "", "the simulation is %s; cancel it first",
                now.status);
}

/* ---- for who runs them ---- */

enum error_code store_simulation_claim(struct db_session *s, const char *owner_id,
                                       double lease_s, bool *found,
                                       struct store_simulation *out, struct arena *a,
                                       struct error *err)
{
    return db_row(s, &claim_simulation, DB_PARAMS(db_uuid(owner_id), db_number(lease_s)),
                  claimed_columns, sizeof(*out), out, found, a, err);
}

struct renewed {
    bool cancel_requested;
};

static const struct db_column renewed_columns[] = {
    DB_COLUMN(struct renewed, cancel_requested, DB_BOOLEAN),
    {0},
};

enum error_code store_simulation_renew(struct db_session *s, const char *owner_id,
                                       const struct store_simulation *claimed,
                                       double lease_s,
                                       const struct store_progress *progress, bool *held,
                                       bool *cancel_requested, struct arena *a,
                                       struct error *err)
{
    struct renewed row = {false};

    TRY(db_row(s, &renew_simulation,
               DB_PARAMS(db_text(claimed->tenant), db_uuid(claimed->simulation_id),
                         db_uuid(owner_id), db_number(lease_s),
                         db_number(progress->ratio), db_integer(progress->event_count),
                         db_integer(progress->run_count)),
               renewed_columns, sizeof(row), &row, held, a, err));
    *cancel_requested = row.cancel_requested;
    return OK;
}

enum error_code store_simulation_release(struct db_session *s, const char *owner_id,
                                         const struct store_simulation *claimed,
                                         struct error *err)
{
    return db_run(s, &release_simulation,
                  DB_PARAMS(db_text(claimed->tenant), db_uuid(claimed->simulation_id),
                            db_uuid(owner_id)),
                  NULL, err);
}

enum error_code store_simulation_finish(struct db_session *s, const char *owner_id,
                                        const struct store_simulation *claimed,
                                        const char *status, const char *result,
                                        const char *error,
                                        const struct store_progress *progress,
                                        struct error *err)
{
    return db_run(s, &finish_simulation,
                  DB_PARAMS(db_text(claimed->tenant), db_uuid(claimed->simulation_id),
                            db_uuid(owner_id), db_text(status), db_text(result),
                            db_text(error), db_number(progress->ratio),
                            db_integer(progress->event_count),
                            db_integer(progress->run_count)),
                  NULL, err);
}

const struct store_part *store_parts_find(const struct store_parts *parts,
                                          uint64_t number)
{
    for (size_t i = 0; parts && i < parts->found_count; i++)
        if (parts->found[i].number == number)
            return &parts->found[i];
    return NULL;
}

enum error_code store_simulation_parts(struct db_session *s,
                                       const struct store_simulation *claimed,
                                       const struct store_part **list, size_t *count,
                                       struct arena *a, struct error *err)
{
    struct store_part *rows;

    TRY(db_rows(s, &select_parts,
                DB_PARAMS(db_text(claimed->tenant), db_uuid(claimed->simulation_id)),
                part_columns, sizeof(*rows), (void **)&rows, count, a, err));
    *list = rows;
    return OK;
}

enum error_code store_simulation_keep(struct db_session *s, const char *owner_id,
                                      const struct store_simulation *claimed,
                                      const struct store_part *part, struct error *err)
{
    return db_run(s, &insert_part,
                  DB_PARAMS(db_text(claimed->tenant), db_uuid(claimed->simulation_id),
                            db_uuid(owner_id), db_integer(part->number),
                            db_bytes(part->content.data, part->content.length)),
                  NULL, err);
}

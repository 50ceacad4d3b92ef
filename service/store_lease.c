/* store_lease.c - leases of stored snapshots: what an owner holds of one for a while. */
#include "service/store_lease.h"

#include "service/store_token.h"
#include "service/uuid.h"

#include <assert.h>

static const struct db_column columns[] = {
    DB_COLUMN(struct store_lease, lease_id, DB_UUID),
    DB_COLUMN(struct store_lease, owner, DB_TEXT),
    DB_COLUMN(struct store_lease, created_at_s, DB_INSTANT),
    DB_COLUMN(struct store_lease, expires_at_s, DB_INSTANT),
    DB_COLUMN(struct store_lease, generation, DB_INTEGER),
    DB_COLUMN(struct store_lease, rows, DB_JSON),
    {0},
};

struct clock_row {
    double now_s;
};

static const struct db_column clock_columns[] = {
    DB_COLUMN(struct clock_row, now_s, DB_INSTANT),
    {0},
};

struct locked_row {
    uint64_t generation;
};

static const struct db_column locked_columns[] = {
    DB_COLUMN(struct locked_row, generation, DB_INTEGER),
    {0},
};

static const struct db_statement lock_for_lease = {
    "lock_for_lease",
    "SELECT generation FROM snapshot WHERE tenant = $1 AND snapshot_id = $2 FOR UPDATE",
    0};

static const struct db_statement select_clock = {
    "select_clock", "SELECT clock_timestamp()", DB_REPEATABLE};

#define LEASE_COLUMNS "lease_id, owner, created_at, expires_at, generation, rows"

static const struct db_statement select_live = {
    "select_live_leases",
    "SELECT " LEASE_COLUMNS " FROM snapshot_lease WHERE tenant = $1 AND snapshot_id = $2"
    " AND (expires_at IS NULL OR expires_at > $3) ORDER BY lease_id",
    DB_REPEATABLE};

static const struct db_statement select_page = {
    "select_leases",
    "SELECT " LEASE_COLUMNS " FROM snapshot_lease WHERE tenant = $1 AND snapshot_id = $2"
    " AND (expires_at IS NULL OR expires_at > clock_timestamp())"
    " AND ($3::text IS NULL OR owner = $3) AND ($4::uuid IS NULL OR lease_id > $4)"
    " ORDER BY lease_id LIMIT $5",
    DB_REPEATABLE};

static const struct db_statement select_lease = {
    "select_lease",
    "SELECT " LEASE_COLUMNS " FROM snapshot_lease WHERE tenant = $1 AND snapshot_id = $2"
    " AND lease_id = $3 AND (expires_at IS NULL OR expires_at > clock_timestamp())",
    DB_REPEATABLE};

static const struct db_statement insert_lease = {
    "insert_lease",
    "WITH raised AS (UPDATE snapshot SET lease_revision = lease_revision + 1"
    " WHERE tenant = $1 AND snapshot_id = $2)"
    " INSERT INTO snapshot_lease VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
    0};

static const struct db_statement extend_lease = {
    "extend_lease",
    "UPDATE snapshot_lease SET expires_at = $4"
    " WHERE tenant = $1 AND snapshot_id = $2 AND lease_id = $3",
    0};

static const struct db_statement rewrite_lease = {
    "rewrite_lease",
    "UPDATE snapshot_lease SET rows = $4"
    " WHERE tenant = $1 AND snapshot_id = $2 AND lease_id = $3",
    0};

static const struct db_statement delete_lease = {
    "delete_lease",
    "DELETE FROM snapshot_lease WHERE tenant = $1 AND snapshot_id = $2 AND lease_id = $3",
    0};

static const struct db_statement confirm_lease = {
    "confirm_lease",
    "WITH raised AS (UPDATE snapshot SET lease_revision = lease_revision + 1"
    " WHERE tenant = $1 AND snapshot_id = $2)"
    " DELETE FROM snapshot_lease WHERE tenant = $1 AND snapshot_id = $2 AND lease_id = "
    "$3",
    0};

enum error_code store_lease_lock(struct db_session *s, const char *tenant,
                                 const char *snapshot_id, struct arena *a,
                                 struct error *err)
{
    struct locked_row row;
    bool found;

    assert(db_in_transaction(s));
    TRY(db_row(s, &lock_for_lease, DB_PARAMS(db_text(tenant), db_text(snapshot_id)),
               locked_columns, sizeof(row), &row, &found, a, err));
    return found ? OK
                 : fail(err, ERR_NOT_FOUND, "/snapshot_id", "there is no snapshot '%s'",
                        snapshot_id);
}

enum error_code store_clock(struct db_session *s, double *now_s, struct arena *a,
                            struct error *err)
{
    struct clock_row row = {0};
    bool found;

    TRY(db_row(s, &select_clock, NULL, clock_columns, sizeof(row), &row, &found, a, err));
    *now_s = row.now_s;
    return OK;
}

enum error_code store_leases_live(struct db_session *s, const char *tenant,
                                  const char *snapshot_id, double now_s,
                                  const struct store_lease **list, size_t *count,
                                  struct arena *a, struct error *err)
{
    void *rows;

    TRY(db_rows(s, &select_live,
                DB_PARAMS(db_text(tenant), db_text(snapshot_id), db_instant(now_s)),
                columns, sizeof(struct store_lease), &rows, count, a, err));
    *list = rows;
    return OK;
}

enum error_code store_leases_list(struct db_session *s, const char *tenant,
                                  const char *snapshot_id, const char *owner,
                                  const struct store_page *page,
                                  const struct store_lease **list, size_t *count,
                                  const char **next_token, struct arena *a,
                                  struct error *err)
{
    const char *after = NULL, *next = NULL;
    struct store_lease *rows;
    size_t row_count;
    double ignored_s;

    if (page->token)
        TRY(token_read(page->token, &ignored_s, &after, a, err));
    if (after && !uuid_is(after))
        return invalid(err, "?/page_token", ITEM_PAGE_TOKEN, "it is of another list");
    TRY(db_rows(s, &select_page,
                DB_PARAMS(db_text(tenant), db_text(snapshot_id), db_text(owner),
                          db_uuid(after), db_integer(page->limit + 1)),
                columns, sizeof(*rows), (void **)&rows, &row_count, a, err));
    if (row_count > page->limit)
        TRY(token_make(0, rows[page->limit - 1].lease_id, &next, a, err));
    *list = rows;
    *count = page_count(page, row_count);
    *next_token = next;
    return OK;
}

static const struct db_column view_columns[] = {
    DB_COLUMN(struct store_snapshot_view, document, DB_TEXT),
    DB_COLUMN(struct store_snapshot_view, written_at_s, DB_INSTANT),
    DB_COLUMN(struct store_snapshot_view, now_s, DB_INSTANT),
    DB_COLUMN(struct store_snapshot_view, generation, DB_INTEGER),
    DB_COLUMN(struct store_snapshot_view, lease_revision, DB_INTEGER),
    DB_COLUMN(struct store_snapshot_view, leases, DB_JSON),
    {0},
};

/* One statement sees one state of all rows. */
static const struct db_statement select_view = {
    "select_snapshot_view",
    "SELECT s.document, coalesce(s.written_at, s.updated_at), n.now, s.generation,"
    " s.lease_revision, jsonb_build_object('leases', coalesce((SELECT jsonb_agg("
    "jsonb_build_object('owner', l.owner, 'placements', l.rows) ORDER BY l.lease_id)"
    " FROM snapshot_lease AS l WHERE l.tenant = $1 AND l.snapshot_id = $2"
    " AND (l.expires_at IS NULL OR l.expires_at > n.now)), '[]'))"
    " FROM snapshot AS s, (SELECT clock_timestamp() AS now) AS n"
    " WHERE s.tenant = $1 AND s.snapshot_id = $2",
    DB_REPEATABLE};

enum error_code store_snapshot_view(struct db_session *s, const char *tenant,
                                    const char *snapshot_id,
                                    struct store_snapshot_view *out, struct arena *a,
                                    struct error *err)
{
    bool found;

    TRY(db_row(s, &select_view, DB_PARAMS(db_text(tenant), db_text(snapshot_id)),
               view_columns, sizeof(*out), out, &found, a, err));
    return found ? OK
                 : fail(err, ERR_NOT_FOUND, "/snapshot_id", "there is no snapshot '%s'",
                        snapshot_id);
}

static enum error_code fail_no_lease(const char *snapshot_id, const char *lease_id,
                                     struct error *err)
{
    return fail(err, ERR_NOT_FOUND, "/lease_id",
                "snapshot '%.100s' has no lease '%.100s', or it has expired", snapshot_id,
                lease_id);
}

enum error_code store_lease_read(struct db_session *s, const char *tenant,
                                 const char *snapshot_id, const char *lease_id,
                                 struct store_lease *out, struct arena *a,
                                 struct error *err)
{
    bool found = false;

    if (uuid_is(lease_id))
        TRY(db_row(s, &select_lease,
                   DB_PARAMS(db_text(tenant), db_text(snapshot_id), db_uuid(lease_id)),
                   columns, sizeof(*out), out, &found, a, err));
    return found ? OK : fail_no_lease(snapshot_id, lease_id, err);
}

enum error_code store_lease_create(struct db_session *s, const char *tenant,
                                   const char *snapshot_id,
                                   const struct store_lease *lease, struct error *err)
{
    assert(db_in_transaction(s));
    return db_run(s, &insert_lease,
                  DB_PARAMS(db_text(tenant), db_text(snapshot_id),
                            db_uuid(lease->lease_id), db_text(lease->owner),
                            db_instant(lease->created_at_s),
                            db_instant(lease->expires_at_s),
                            db_integer(lease->generation), db_json(lease->rows)),
                  NULL, err);
}

enum error_code store_lease_extend(struct db_session *s, const char *tenant,
                                   const char *snapshot_id, const char *lease_id,
                                   double expires_at_s, struct error *err)
{
    assert(db_in_transaction(s));
    return db_run(s, &extend_lease,
                  DB_PARAMS(db_text(tenant), db_text(snapshot_id), db_uuid(lease_id),
                            db_instant(expires_at_s)),
                  NULL, err);
}

enum error_code store_lease_rewrite(struct db_session *s, const char *tenant,
                                    const char *snapshot_id, const char *lease_id,
                                    const char *rows, struct error *err)
{
    assert(db_in_transaction(s));
    return db_run(s, &rewrite_lease,
                  DB_PARAMS(db_text(tenant), db_text(snapshot_id), db_uuid(lease_id),
                            db_json(rows)),
                  NULL, err);
}

enum error_code store_lease_remove(struct db_session *s, const char *tenant,
                                   const char *snapshot_id, const char *lease_id,
                                   bool confirmed, struct error *err)
{
    assert(db_in_transaction(s));
    return db_run(s, confirmed ? &confirm_lease : &delete_lease,
                  DB_PARAMS(db_text(tenant), db_text(snapshot_id), db_uuid(lease_id)),
                  NULL, err);
}

/* store_snapshot.c - stored snapshots. */
#include "service/store_token.h"

#include <assert.h>

#define SNAPSHOT_HEAD                                                                  \
    "snapshot_id, generation, octet_length(document)::bigint, created_at, updated_at," \
    " coalesce(written_at, updated_at), lease_revision"

#define HEAD_COLUMNS                                                  \
    DB_COLUMN(struct store_snapshot, snapshot_id, DB_TEXT),           \
        DB_COLUMN(struct store_snapshot, generation, DB_INTEGER),     \
        DB_COLUMN(struct store_snapshot, document_bytes, DB_INTEGER), \
        DB_COLUMN(struct store_snapshot, created_at_s, DB_INSTANT),   \
        DB_COLUMN(struct store_snapshot, updated_at_s, DB_INSTANT),   \
        DB_COLUMN(struct store_snapshot, written_at_s, DB_INSTANT),   \
        DB_COLUMN(struct store_snapshot, lease_revision, DB_INTEGER)

static const struct db_column columns[] = {HEAD_COLUMNS, {0}};

static const struct db_column full_columns[] = {
    HEAD_COLUMNS,
    DB_COLUMN(struct store_snapshot, document, DB_TEXT),
    {0},
};

static const struct db_statement insert_snapshot = {
    "insert_snapshot",
    "INSERT INTO snapshot VALUES ($1, $2, 1, $3, now(), now(), now())"
    " ON CONFLICT DO NOTHING RETURNING " SNAPSHOT_HEAD,
    0};

static const struct db_statement select_snapshot = {
    "select_snapshot",
    "SELECT " SNAPSHOT_HEAD
    ", document FROM snapshot WHERE tenant = $1 AND snapshot_id = $2",
    DB_REPEATABLE};

static const struct db_statement lock_snapshot = {
    "lock_snapshot",
    "SELECT " SNAPSHOT_HEAD
    ", document FROM snapshot WHERE tenant = $1 AND snapshot_id = $2 FOR UPDATE",
    0};

static const struct db_statement select_snapshot_head = {
    "select_snapshot_head",
    "SELECT " SNAPSHOT_HEAD " FROM snapshot WHERE tenant = $1 AND snapshot_id = $2",
    DB_REPEATABLE};

static const struct db_statement select_snapshots = {
    "select_snapshots",
    "SELECT " SNAPSHOT_HEAD " FROM snapshot WHERE tenant = $1 AND snapshot_id > $2"
    " ORDER BY snapshot_id LIMIT $3",
    DB_REPEATABLE};

static const struct db_statement update_snapshot = {
    "update_snapshot",
    "UPDATE snapshot SET generation = generation + 1, document = $4, updated_at = now(),"
    " written_at = now()"
    " WHERE tenant = $1 AND snapshot_id = $2 AND ($3 = 0 OR generation = $3)"
    " RETURNING " SNAPSHOT_HEAD,
    0};

/* A part of it only: what it counts its seconds from stays. */
static const struct db_statement change_snapshot = {
    "change_snapshot",
    "UPDATE snapshot SET generation = generation + 1, document = $3, updated_at = now(),"
    " written_at = coalesce(written_at, updated_at)"
    " WHERE tenant = $1 AND snapshot_id = $2 RETURNING " SNAPSHOT_HEAD,
    0};

static const struct db_statement delete_snapshot = {
    "delete_snapshot",
    "DELETE FROM snapshot"
    " WHERE tenant = $1 AND snapshot_id = $2 AND ($3 = 0 OR generation = $3)",
    0};

static enum error_code fail_no_snapshot(const char *snapshot_id, struct error *err)
{
    return fail(err, ERR_NOT_FOUND, "/snapshot_id", "there is no snapshot '%s'",
                snapshot_id);
}

enum error_code store_snapshot_create(struct db_session *s, const char *tenant,
                                      const char *snapshot_id, const char *document,
                                      struct store_snapshot *out, struct arena *a,
                                      struct error *err)
{
    bool found;

    TRY(db_row(s, &insert_snapshot,
               DB_PARAMS(db_text(tenant), db_text(snapshot_id), db_text(document)),
               columns, sizeof(*out), out, &found, a, err));
    if (!found)
        return fail(err, ERR_CONFLICT, "/snapshot_id", "there is a snapshot '%s' already",
                    snapshot_id);
    return OK;
}

enum error_code store_snapshot_read(struct db_session *s, const char *tenant,
                                    const char *snapshot_id, struct store_snapshot *out,
                                    struct arena *a, struct error *err)
{
    bool found;

    TRY(db_row(s, &select_snapshot, DB_PARAMS(db_text(tenant), db_text(snapshot_id)),
               full_columns, sizeof(*out), out, &found, a, err));
    return found ? OK : fail_no_snapshot(snapshot_id, err);
}

enum error_code store_snapshot_head(struct db_session *s, const char *tenant,
                                    const char *snapshot_id, struct store_snapshot *out,
                                    struct arena *a, struct error *err)
{
    bool found;

    TRY(db_row(s, &select_snapshot_head, DB_PARAMS(db_text(tenant), db_text(snapshot_id)),
               columns, sizeof(*out), out, &found, a, err));
    return found ? OK : fail_no_snapshot(snapshot_id, err);
}

enum error_code store_snapshot_lock(struct db_session *s, const char *tenant,
                                    const char *snapshot_id, struct store_snapshot *out,
                                    struct arena *a, struct error *err)
{
    bool found;

    assert(db_in_transaction(s));
    TRY(db_row(s, &lock_snapshot, DB_PARAMS(db_text(tenant), db_text(snapshot_id)),
               full_columns, sizeof(*out), out, &found, a, err));
    return found ? OK : fail_no_snapshot(snapshot_id, err);
}

enum error_code store_snapshots_list(struct db_session *s, const char *tenant,
                                     const struct store_page *page,
                                     const struct store_snapshot **list, size_t *count,
                                     const char **next_token, struct arena *a,
                                     struct error *err)
{
    const char *after = "";
    const char *next = NULL;
    struct store_snapshot *rows;
    size_t row_count;
    double ignored_s;

    if (page->token)
        TRY(token_read(page->token, &ignored_s, &after, a, err));
    TRY(db_rows(s, &select_snapshots,
                DB_PARAMS(db_text(tenant), db_text(after), db_integer(page->limit + 1)),
                columns, sizeof(*rows), (void **)&rows, &row_count, a, err));
    if (row_count > page->limit)
        TRY(token_make(0, rows[page->limit - 1].snapshot_id, &next, a, err));
    *list = rows;
    *count = page_count(page, row_count);
    *next_token = next;
    return OK;
}

/* Why nothing was changed. */
static enum error_code explain_no_change(struct db_session *s, const char *tenant,
                                         const char *snapshot_id, uint64_t expected,
                                         struct arena *a, struct error *err)
{
    struct store_snapshot now;
    bool found;

    TRY(db_row(s, &select_snapshot_head, DB_PARAMS(db_text(tenant), db_text(snapshot_id)),
               columns, sizeof(now), &now, &found, a, err));
    if (!found)
        return fail_no_snapshot(snapshot_id, err);
    return fail(err, ERR_STALE, "",
                "snapshot '%s' has generation %zu, not %zu; read it again", snapshot_id,
                (size_t)now.generation, (size_t)expected);
}

enum error_code store_snapshot_update(struct db_session *s, const char *tenant,
                                      const char *snapshot_id, uint64_t expected,
                                      const char *document, struct store_snapshot *out,
                                      struct arena *a, struct error *err)
{
    bool found;

    TRY(db_row(s, &update_snapshot,
               DB_PARAMS(db_text(tenant), db_text(snapshot_id), db_integer(expected),
                         db_text(document)),
               columns, sizeof(*out), out, &found, a, err));
    if (!found)
        return explain_no_change(s, tenant, snapshot_id, expected, a, err);
    return OK;
}

enum error_code store_snapshot_change(struct db_session *s, const char *tenant,
                                      const char *snapshot_id, const char *document,
                                      struct store_snapshot *out, struct arena *a,
                                      struct error *err)
{
    bool found;

    TRY(db_row(s, &change_snapshot,
               DB_PARAMS(db_text(tenant), db_text(snapshot_id), db_text(document)),
               columns, sizeof(*out), out, &found, a, err));
    return found ? OK : fail_no_snapshot(snapshot_id, err);
}

enum error_code store_snapshot_delete(struct db_session *s, const char *tenant,
                                      const char *snapshot_id, uint64_t expected,
                                      struct arena *a, struct error *err)
{
    size_t deleted;

    TRY(db_run(s, &delete_snapshot,
               DB_PARAMS(db_text(tenant), db_text(snapshot_id), db_integer(expected)),
               &deleted, err));
    if (deleted == 0)
        return explain_no_change(s, tenant, snapshot_id, expected, a, err);
    return OK;
}

/* store_coallocation.c - where copies of files are, and the history table of
 * Close-to-Files.
 *
 * Lists are written in the order of the key, so that two statements cannot wait for each
 * other.
 */
#include "service/store_coallocation.h"

#include "service/store_token.h"

#include <stdlib.h>
#include <string.h>

/* ---- catalogue of replicas ---- */

static const struct db_column replica_columns[] = {
    DB_COLUMN(struct store_replica, file_id, DB_TEXT),
    DB_COLUMN(struct store_replica, site_id, DB_TEXT),
    DB_COLUMN(struct store_replica, url, DB_TEXT),
    DB_COLUMN(struct store_replica, bytes, DB_NUMBER),
    {0},
};

static const struct db_column read_columns[] = {
    DB_COLUMN(struct store_replica, file_id, DB_TEXT),
    DB_COLUMN(struct store_replica, site_id, DB_TEXT),
    DB_COLUMN(struct store_replica, url, DB_TEXT),
    DB_COLUMN(struct store_replica, bytes, DB_NUMBER),
    DB_COLUMN(struct store_replica, updated_at_s, DB_INSTANT),
    {0},
};

static const struct db_statement upsert_replicas = {
    "upsert_replicas",
    "INSERT INTO replica SELECT $1, file_id, site_id, physical_url, size_bytes, now()"
    " FROM (SELECT DISTINCT ON (file_id COLLATE \"C\", site_id COLLATE \"C\") *"
    " FROM unnest($2, $3, $4, $5) WITH ORDINALITY"
    " AS r (file_id, site_id, physical_url, size_bytes, place)"
    " ORDER BY file_id COLLATE \"C\", site_id COLLATE \"C\", place DESC) AS latest"
    " ON CONFLICT (tenant, file_id, site_id) DO UPDATE SET"
    " physical_url = excluded.physical_url, size_bytes = excluded.size_bytes,"
    " updated_at = excluded.updated_at",
    DB_REPEATABLE};

enum error_code store_replicas(struct db_session *s, const char *tenant,
                               const struct store_replica *list, size_t count,
                               size_t *stored, struct arena *a, struct error *err)
{
    return db_run_list(s, &upsert_replicas, tenant, replica_columns, sizeof(*list), list,
                       count, stored, a, err);
}

#define REPLICA_COLUMNS "file_id, site_id, physical_url, size_bytes, updated_at"

/* $1 tenant, $2 and $3 file and site that the page before ended with, $4 site or null,
 * $5 limit. */
static const struct db_statement select_replicas = {
    "select_replicas",
    "SELECT " REPLICA_COLUMNS " FROM replica WHERE tenant = $1"
    " AND (file_id, site_id) > ($2, $3) AND ($4::text IS NULL OR site_id = $4)"
    " ORDER BY file_id, site_id LIMIT $5",
    DB_REPEATABLE};

/* The same, of one file: $2. */
static const struct db_statement select_replicas_of_file = {
    "select_replicas_of_file",
    "SELECT " REPLICA_COLUMNS " FROM replica WHERE tenant = $1"
    " AND file_id = $2 AND site_id > $3 AND ($4::text IS NULL OR site_id = $4)"
    " ORDER BY site_id LIMIT $5",
    DB_REPEATABLE};

/* Names may have any characters: a token is "LENGTH FILESITE", with the length of FILE
 * in bytes. */
static enum error_code token_of(const struct store_replica *last, const char **token,
                                struct arena *a, struct error *err)
{
    return token_make(0,
                      arena_try_printf(a, "%zu %s%s", strlen(last->file_id),
                                       last->file_id, last->site_id),
                      token, a, err);
}

static enum error_code read_token(const char *token, const char **file_id,
                                  const char **site_id, struct arena *a,
                                  struct error *err)
{
    unsigned long long length;
    double ignored_s;
    const char *id;
    char *end, *file;

    TRY(token_read(token, &ignored_s, &id, a, err));
    length = strtoull(id, &end, 10);
    if (end == id || *end != ' ' || length > strlen(end + 1))
        return invalid(err, "?/page_token", ITEM_PAGE_TOKEN, "of another list");
    file = arena_try_printf(a, "%.*s", (int)length, end + 1);
    if (!file)
        return fail_memory(err);
    *file_id = file;
    *site_id = end + 1 + length;
    return OK;
}

enum error_code store_replicas_read(struct db_session *s, const char *tenant,
                                    const char *file_id, const char *site_id,
                                    const struct store_page *page,
                                    const struct store_replica **list, size_t *count,
                                    const char **next_token, struct arena *a,
                                    struct error *err)
{
    const char *after_file = "", *after_site = "", *next = NULL;
    struct store_replica *rows;
    size_t row_count;

    if (page->token)
        TRY(read_token(page->token, &after_file, &after_site, a, err));
    TRY(db_rows(s, file_id ? &select_replicas_of_file : &select_replicas,
                DB_PARAMS(db_text(tenant), db_text(file_id ? file_id : after_file),
                          db_text(after_site), db_text(site_id),
                          db_integer(page->limit + 1)),
                read_columns, sizeof(*rows), (void **)&rows, &row_count, a, err));
    if (row_count > page->limit)
        TRY(token_of(&rows[page->limit - 1], &next, a, err));
    *list = rows;
    *count = page_count(page, row_count);
    *next_token = next;
    return OK;
}

static const struct db_statement delete_replicas = {
    "delete_replicas",
    "DELETE FROM replica WHERE tenant = $1 AND ($2::text IS NULL OR file_id = $2)"
    " AND ($3::text IS NULL OR site_id = $3)",
    0};

enum error_code store_replicas_delete(struct db_session *s, const char *tenant,
                                      const char *file_id, const char *site_id,
                                      size_t *deleted, struct error *err)
{
    return db_run(s, &delete_replicas,
                  DB_PARAMS(db_text(tenant), db_text(file_id), db_text(site_id)), deleted,
                  err);
}

static const struct db_column location_columns[] = {
    DB_COLUMN(struct store_location, file, DB_INTEGER),
    DB_COLUMN(struct store_location, site_id, DB_TEXT),
    DB_COLUMN(struct store_location, url, DB_TEXT),
    DB_COLUMN(struct store_location, bytes, DB_NUMBER),
    {0},
};

/* $1 tenant, $2 ids. */
static const struct db_statement select_locations = {
    "replicas_of_files",
    "SELECT f.place - 1, r.site_id, r.physical_url, r.size_bytes"
    " FROM jsonb_array_elements_text($2) WITH ORDINALITY AS f (id, place)"
    " JOIN replica AS r ON r.tenant = $1 AND r.file_id = f.id"
    " ORDER BY f.place, r.site_id",
    DB_REPEATABLE};

enum error_code store_replicas_find(struct db_session *s, const char *tenant,
                                    const char *ids, const struct store_location **list,
                                    size_t *count, struct arena *a, struct error *err)
{
    void *rows;

    TRY(db_rows(s, &select_locations, DB_PARAMS(db_text(tenant), db_json(ids)),
                location_columns, sizeof(struct store_location), &rows, count, a, err));
    *list = rows;
    return OK;
}

/* ---- history table of Close-to-Files ---- */

static const struct db_column pair_columns[] = {
    DB_COLUMN(struct store_pair, execution, DB_INTEGER),
    DB_COLUMN(struct store_pair, file, DB_INTEGER),
    {0},
};

/* $1 tenant, $2 ids. */
static const struct db_statement select_pairs = {
    "history_pairs_of_sites",
    "WITH site AS (SELECT id, place FROM jsonb_array_elements_text($2) WITH ORDINALITY"
    " AS s (id, place))"
    " SELECT e.place - 1, f.place - 1 FROM co_history_pair AS p"
    " JOIN site AS e ON e.id = p.execution_site_id"
    " JOIN site AS f ON f.id = p.file_site_id WHERE p.tenant = $1"
    " ORDER BY e.place, f.place",
    DB_REPEATABLE};

enum error_code store_history_pairs_find(struct db_session *s, const char *tenant,
                                         const char *ids, const struct store_pair **list,
                                         size_t *count, struct arena *a,
                                         struct error *err)
{
    void *rows;

    TRY(db_rows(s, &select_pairs, DB_PARAMS(db_text(tenant), db_json(ids)), pair_columns,
                sizeof(struct store_pair), &rows, count, a, err));
    *list = rows;
    return OK;
}

static const struct db_column uses_columns[] = {
    DB_COLUMN(struct store_pair_uses, execution_site_id, DB_TEXT),
    DB_COLUMN(struct store_pair_uses, file_site_id, DB_TEXT),
    DB_COLUMN(struct store_pair_uses, uses, DB_INTEGER),
    {0},
};

static const struct db_statement upsert_pairs = {
    "upsert_history_pairs",
    "INSERT INTO co_history_pair AS known"
    " SELECT $1, execution_site_id, file_site_id, uses FROM unnest($2, $3, $4)"
    " AS p (execution_site_id, file_site_id, uses)"
    " ORDER BY execution_site_id COLLATE \"C\", file_site_id COLLATE \"C\""
    " ON CONFLICT (tenant, execution_site_id, file_site_id) DO UPDATE SET"
    " uses = known.uses + excluded.uses WHERE excluded.uses > 0",
    0};

enum error_code store_history_pairs(struct db_session *s, const char *tenant,
                                    const struct store_pair_uses *list, size_t count,
                                    struct arena *a, struct error *err)
{
    size_t written;

    return db_run_list(s, &upsert_pairs, tenant, uses_columns, sizeof(*list), list, count,
                       &written, a, err);
}

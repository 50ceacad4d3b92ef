/* store_reliability.c - stored failures of many resources at once. */
#include "service/store_reliability.h"

/* LATERAL: the index gives the newest rows of each resource, and no others are read.
 * $1 tenant, $2 ids, $3 now, $4 limit. */
static const struct db_statement select_failures = {
    "failures_of_resources",
    "SELECT r.place - 1, f.down_at, f.up_at"
    " FROM jsonb_array_elements_text($2) WITH ORDINALITY AS r (id, place)"
    " CROSS JOIN LATERAL (SELECT down_at, up_at FROM failure WHERE tenant = $1"
    " AND resource_id = r.id AND down_at <= $3 ORDER BY down_at DESC LIMIT $4) AS f",
    DB_REPEATABLE};

static const struct db_column failure_columns[] = {
    DB_COLUMN(struct store_failure_of, resource, DB_INTEGER),
    DB_COLUMN(struct store_failure_of, down_at_s, DB_INSTANT),
    DB_COLUMN(struct store_failure_of, up_at_s, DB_INSTANT),
    {0},
};

enum error_code store_failures_of(struct db_session *s, const char *tenant,
                                  const char *ids, double now_s, size_t limit,
                                  const struct store_failure_of **list, size_t *count,
                                  struct arena *a, struct error *err)
{
    void *rows;

    TRY(db_rows(
        s, &select_failures,
        DB_PARAMS(db_text(tenant), db_json(ids), db_instant(now_s), db_integer(limit)),
        failure_columns, sizeof(struct store_failure_of), &rows, count, a, err));
    *list = rows;
    return OK;
}

static const struct db_statement select_first_seen = {
    "first_seen_of_resources",
    "SELECT r.place - 1, LEAST("
    "(SELECT min(observed_at) FROM load_sample WHERE tenant = $1"
    " AND resource_id = r.id AND observed_at <= $3),"
    " (SELECT min(down_at) FROM failure WHERE tenant = $1 AND resource_id = r.id"
    " AND down_at <= $3))"
    " FROM jsonb_array_elements_text($2) WITH ORDINALITY AS r (id, place)",
    DB_REPEATABLE};

static const struct db_column first_seen_columns[] = {
    DB_COLUMN(struct store_first_seen, resource, DB_INTEGER),
    DB_COLUMN(struct store_first_seen, seen_at_s, DB_INSTANT),
    {0},
};

enum error_code store_first_seen(struct db_session *s, const char *tenant,
                                 const char *ids, double now_s,
                                 const struct store_first_seen **list, size_t *count,
                                 struct arena *a, struct error *err)
{
    void *rows;

    TRY(db_rows(s, &select_first_seen,
                DB_PARAMS(db_text(tenant), db_json(ids), db_instant(now_s)),
                first_seen_columns, sizeof(struct store_first_seen), &rows, count, a,
                err));
    *list = rows;
    return OK;
}

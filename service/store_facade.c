/* store_facade.c - what other tools tell of a run once, and need again later. */
#include "service/store_facade.h"

static const struct db_statement put_run = {
    "put_ingest_run",
    "INSERT INTO ingest_run (tenant, run_id, application_id, expires_at)"
    " VALUES ($1, $2, $3, $4) ON CONFLICT (tenant, run_id) DO UPDATE"
    " SET application_id = excluded.application_id, expires_at = excluded.expires_at",
    DB_REPEATABLE};

static const struct db_statement get_run = {
    "get_ingest_run",
    "SELECT application_id FROM ingest_run WHERE tenant = $1 AND run_id = $2",
    DB_REPEATABLE};

struct run {
    const char *application_id;
};

static const struct db_column run_columns[] = {
    DB_COLUMN(struct run, application_id, DB_TEXT),
    {0},
};

enum error_code store_run_put(struct db_session *s, const char *tenant,
                              const char *run_id, const char *application_id,
                              double expires_at_s, struct error *err)
{
    return db_run(s, &put_run,
                  DB_PARAMS(db_text(tenant), db_text(run_id), db_text(application_id),
                            db_instant(expires_at_s)),
                  NULL, err);
}

enum error_code store_run_get(struct db_session *s, const char *tenant,
                              const char *run_id, const char **application_id,
                              struct arena *a, struct error *err)
{
    struct run run = {0};
    bool found;

    TRY(db_row(s, &get_run, DB_PARAMS(db_text(tenant), db_text(run_id)), run_columns,
               sizeof(run), &run, &found, a, err));
    *application_id = run.application_id;
    return OK;
}

/* Of the newest runs, so that what has changed counts. */
static const struct db_statement run_times = {
    "facade_run_times",
    "SELECT place, avg(run_time_s) AS run_time_s, coalesce(avg(queue_wait_s), 0) AS "
    "wait_s"
    " FROM (SELECT coalesce(site_id, resource_id) AS place, run_time_s, queue_wait_s"
    " FROM execution WHERE tenant = $1 AND application_id = $2"
    " AND coalesce(exit_code, 0) = 0 AND coalesce(site_id, resource_id) IS NOT NULL"
    " ORDER BY started_at DESC LIMIT 1000) newest GROUP BY place ORDER BY place",
    DB_REPEATABLE};

static const struct db_column time_columns[] = {
    DB_COLUMN(struct store_place_times, place, DB_TEXT),
    DB_COLUMN(struct store_place_times, run_time_s, DB_NUMBER),
    DB_COLUMN(struct store_place_times, wait_s, DB_NUMBER),
    {0},
};

enum error_code store_place_times(struct db_session *s, const char *tenant,
                                  const char *application_id,
                                  const struct store_place_times **list, size_t *count,
                                  struct arena *a, struct error *err)
{
    void *rows;

    TRY(db_rows(s, &run_times, DB_PARAMS(db_text(tenant), db_text(application_id)),
                time_columns, sizeof(struct store_place_times), &rows, count, a, err));
    *list = rows;
    return OK;
}

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

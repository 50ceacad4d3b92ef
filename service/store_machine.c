/* store_machine.c - effects of machines on run times. */
#include "service/store_machine.h"

#include "service/store_token.h"

static const struct db_statement select_effects = {
    "select_machine_effects",
    "SELECT machine, effect, run_count, is_alone FROM machine_effect WHERE tenant = $1"
    " AND machine > $2 ORDER BY machine LIMIT $3",
    DB_REPEATABLE};

static const struct db_column effect_columns[] = {
    DB_COLUMN(struct store_machine_effect, machine, DB_TEXT),
    DB_COLUMN(struct store_machine_effect, effect, DB_NUMBER),
    DB_COLUMN(struct store_machine_effect, run_count, DB_INTEGER),
    DB_COLUMN(struct store_machine_effect, is_alone, DB_BOOLEAN),
    {0},
};

enum error_code store_machine_effects(struct db_session *s, const char *tenant,
                                      const struct store_page *page,
                                      const struct store_machine_effect **list,
                                      size_t *count, const char **next_token,
                                      struct arena *a, struct error *err)
{
    const char *after = "", *next = NULL;
    struct store_machine_effect *rows;
    size_t row_count;
    double ignored_s;

    if (page->token)
        TRY(token_read(page->token, &ignored_s, &after, a, err));
    TRY(db_rows(s, &select_effects,
                DB_PARAMS(db_text(tenant), db_text(after), db_integer(page->limit + 1)),
                effect_columns, sizeof(*rows), (void **)&rows, &row_count, a, err));
    if (row_count > page->limit)
        TRY(token_make(0, rows[page->limit - 1].machine, &next, a, err));
    *list = rows;
    *count = page_count(page, row_count);
    *next_token = next;
    return OK;
}

struct due {
    double made_at_s;
};
static const struct db_column due_columns[] = {
    DB_COLUMN(struct due, made_at_s, DB_INSTANT), {0}};

/* Of several that ask at once one is told to. */
static const struct db_statement claim_effects = {
    "claim_machine_effects",
    "INSERT INTO machine_effect_made AS m (tenant, made_at) VALUES ($1, now())"
    " ON CONFLICT (tenant) DO UPDATE SET made_at = now(), is_stale = false"
    " WHERE m.made_at < now() - make_interval(secs => $2) RETURNING made_at",
    0};

enum error_code store_machine_effects_due(struct db_session *s, const char *tenant,
                                          double age_s, bool *ours, struct arena *a,
                                          struct error *err)
{
    struct due row;

    return db_row(s, &claim_effects, DB_PARAMS(db_text(tenant), db_number(age_s)),
                  due_columns, sizeof(row), &row, ours, a, err);
}

/* Most have been told already, and are left in peace. */
static const struct db_statement effects_stale = {
    "machine_effects_stale",
    "UPDATE machine_effect_made SET is_stale = true WHERE tenant = $1 AND NOT is_stale",
    0};

enum error_code store_machine_effects_stale(struct db_session *s, const char *tenant,
                                            struct error *err)
{
    return db_run(s, &effects_stale, DB_PARAMS(db_text(tenant)), NULL, err);
}

static const struct db_column run_columns[] = {
    DB_COLUMN(struct store_machine_run, machine, DB_TEXT),
    DB_COLUMN(struct store_machine_run, model_id, DB_TEXT),
    DB_COLUMN(struct store_machine_run, cell, DB_TEXT),
    DB_COLUMN(struct store_machine_run, run_time_s, DB_NUMBER),
    {0},
};

static const struct db_statement select_runs = {
    "select_machine_runs",
    "SELECT coalesce(s.resource_class, s.site_id), s.model_id, md5(concat_ws('|', "
    "m.application_id,"
    " s.problem_size, s.processors, s.parameters)), s.run_time_s"
    " FROM model_sample AS s JOIN model AS m ON m.tenant = s.tenant"
    " AND m.model_id = s.model_id WHERE s.tenant = $1 AND m.kind = 'auto'"
    " AND m.target = 'run_time_s' AND m.site_id IS NULL AND m.phase_index = -1"
    " AND s.verdict IN ('fit', 'new') AND coalesce(s.resource_class, s.site_id)"
    " IS NOT NULL ORDER BY s.started_at DESC, s.execution_id LIMIT $2",
    0};

enum error_code store_machine_runs(struct db_session *s, const char *tenant, size_t limit,
                                   const struct store_machine_run **list, size_t *count,
                                   struct arena *a, struct error *err)
{
    void *rows;

    TRY(db_rows(s, &select_runs, DB_PARAMS(db_text(tenant), db_integer(limit)),
                run_columns, sizeof(struct store_machine_run), &rows, count, a, err));
    *list = rows;
    return OK;
}

static const struct db_statement write_effects = {
    "write_machine_effects",
    "WITH wanted AS (SELECT * FROM jsonb_to_recordset($2::jsonb)"
    " AS r (machine text, effect double precision, run_count bigint,"
    " is_alone boolean)),"
    " gone AS (DELETE FROM machine_effect WHERE tenant = $1"
    " AND machine NOT IN (SELECT machine FROM wanted))"
    " INSERT INTO machine_effect (tenant, machine, effect, run_count, is_alone)"
    " SELECT $1, machine, effect, run_count, is_alone FROM wanted"
    " ON CONFLICT (tenant, machine) DO UPDATE SET effect = excluded.effect,"
    " run_count = excluded.run_count, is_alone = excluded.is_alone",
    0};

enum error_code store_machine_effects_write(struct db_session *s, const char *tenant,
                                            const char *rows, struct error *err)
{
    return db_run(s, &write_effects, DB_PARAMS(db_text(tenant), db_json(rows)), NULL,
                  err);
}

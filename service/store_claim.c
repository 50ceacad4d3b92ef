/* store_claim.c - what became of claims, of components on their sites, of transfers. */
#include "service/store_claim.h"

/* ---- tries to claim ---- */

static const struct db_column outcome_columns[] = {
    DB_COLUMN(struct store_claim_outcome, same_sites, DB_BOOLEAN),
    DB_COLUMN(struct store_claim_outcome, step, DB_INTEGER),
    DB_COLUMN(struct store_claim_outcome, end_count, DB_INTEGER),
    DB_COLUMN(struct store_claim_outcome, success_count, DB_INTEGER),
    {0},
};

#define ENDED                                                      \
    " FROM claim_attempt WHERE tenant = $1 AND attempted_at >= $3" \
    " AND attempted_at < $4"                                       \
    " AND decision IN ('start_all', 'requeue_placement', 'fail')"

/* 20 is STORE_L_STEPS. $1 tenant, $2 site ids, $3 from, $4 to. */
static const struct db_statement select_outcomes = {
    "claim_outcomes",
    "SELECT same, round(l_value * 20)::bigint AS step, count(*),"
    " count(*) FILTER (WHERE decision = 'start_all')"
    " FROM ((SELECT true AS same, l_value, decision" ENDED
    " AND md5(site_ids::text) = md5($2::jsonb::text)"
    " ORDER BY attempted_at DESC LIMIT 1000)"
    " UNION ALL (SELECT false, l_value, decision" ENDED
    " ORDER BY attempted_at DESC LIMIT 10000)) AS ended"
    " GROUP BY 1, 2 ORDER BY 1, 2",
    DB_REPEATABLE};
_Static_assert(STORE_L_STEPS == 20, "the statement says so");

enum error_code store_claim_outcomes(struct db_session *s, const char *tenant,
                                     const char *site_ids, double from_at_s,
                                     double to_at_s,
                                     const struct store_claim_outcome **list,
                                     size_t *count, struct arena *a, struct error *err)
{
    void *rows;

    TRY(db_rows(s, &select_outcomes,
                DB_PARAMS(db_text(tenant), db_json(site_ids), db_instant(from_at_s),
                          db_instant(to_at_s)),
                outcome_columns, sizeof(struct store_claim_outcome), &rows, count, a,
                err));
    *list = rows;
    return OK;
}

/* ---- errors of sites ---- */

static const struct db_column starts_columns[] = {
    DB_COLUMN(struct store_site_starts, site, DB_NUMBER),
    DB_COLUMN(struct store_site_starts, error_count, DB_NUMBER),
    DB_COLUMN(struct store_site_starts, start_count, DB_NUMBER),
    {0},
};

/* $1 tenant, $2 ids, $3 from, $4 to. */
static const struct db_statement select_starts = {
    "starts_of_sites",
    "SELECT (i.place - 1)::float8, r.errors::float8, r.starts::float8"
    " FROM jsonb_array_elements_text($2) WITH ORDINALITY AS i (id, place)"
    " CROSS JOIN LATERAL (SELECT sum(error_count) AS errors, sum(start_count) AS starts"
    " FROM (SELECT error_count, start_count FROM site_error WHERE tenant = $1"
    " AND site_id = i.id AND observed_at >= $3 AND observed_at < $4"
    " ORDER BY observed_at DESC LIMIT 1000) AS latest) AS r WHERE r.errors IS NOT NULL"
    " UNION ALL SELECT null, sum(error_count)::float8, sum(start_count)::float8"
    " FROM (SELECT error_count, start_count FROM site_error WHERE tenant = $1"
    " AND observed_at >= $3 AND observed_at < $4"
    " ORDER BY observed_at DESC LIMIT 10000) AS latest HAVING count(*) > 0 ORDER BY 1",
    DB_REPEATABLE};

enum error_code store_site_starts_find(struct db_session *s, const char *tenant,
                                       const char *ids, double from_at_s, double to_at_s,
                                       const struct store_site_starts **list,
                                       size_t *count, struct arena *a, struct error *err)
{
    void *rows;

    TRY(db_rows(s, &select_starts,
                DB_PARAMS(db_text(tenant), db_json(ids), db_instant(from_at_s),
                          db_instant(to_at_s)),
                starts_columns, sizeof(struct store_site_starts), &rows, count, a, err));
    *list = rows;
    return OK;
}

/* ---- transfers ---- */

static const struct db_column bias_columns[] = {
    DB_COLUMN(struct store_link_bias, from, DB_INTEGER),
    DB_COLUMN(struct store_link_bias, to, DB_INTEGER),
    DB_COLUMN(struct store_link_bias, transfer_count, DB_INTEGER),
    DB_COLUMN(struct store_link_bias, mean_log_ratio, DB_NUMBER),
    {0},
};

/* $1 tenant, $2 ids, $3 from, $4 to. */
static const struct db_statement select_biases = {
    "biases_of_links",
    "WITH site AS (SELECT id, place FROM jsonb_array_elements_text($2) WITH ORDINALITY"
    " AS s (id, place))"
    " SELECT f.place - 1, t.place - 1, count(*), avg(ln(l.actual_s / l.estimated_s))"
    " FROM site AS f CROSS JOIN LATERAL (SELECT to_site_id, actual_s, estimated_s"
    " FROM transfer_actual WHERE tenant = $1 AND from_site_id = f.id"
    " AND finished_at >= $3 AND finished_at < $4"
    " ORDER BY finished_at DESC LIMIT 10000) AS l"
    " JOIN site AS t ON t.id = l.to_site_id GROUP BY f.place, t.place ORDER BY 1, 2",
    DB_REPEATABLE};

enum error_code store_link_biases(struct db_session *s, const char *tenant,
                                  const char *ids, double from_at_s, double to_at_s,
                                  const struct store_link_bias **list, size_t *count,
                                  struct arena *a, struct error *err)
{
    void *rows;

    TRY(db_rows(s, &select_biases,
                DB_PARAMS(db_text(tenant), db_json(ids), db_instant(from_at_s),
                          db_instant(to_at_s)),
                bias_columns, sizeof(struct store_link_bias), &rows, count, a, err));
    *list = rows;
    return OK;
}

/* ---- run times ---- */

static const struct db_column run_time_columns[] = {
    DB_COLUMN(struct store_run_time, processors, DB_NUMBER),
    DB_COLUMN(struct store_run_time, run_time_s, DB_NUMBER),
    {0},
};

/* $1 tenant, $2 application, $3 from, $4 to, $5 limit. */
static const struct db_statement select_run_times = {
    "run_times_of_application",
    "SELECT processors::float8, run_time_s FROM execution WHERE tenant = $1"
    " AND application_id = $2 AND started_at >= $3 AND started_at < $4"
    " AND phase_index = -1 AND coalesce(exit_code, 0) = 0"
    " ORDER BY started_at DESC, row_id DESC LIMIT $5",
    DB_REPEATABLE};

enum error_code store_run_times(struct db_session *s, const char *tenant,
                                const char *application_id, double from_at_s,
                                double to_at_s, size_t limit,
                                const struct store_run_time **list, size_t *count,
                                struct arena *a, struct error *err)
{
    void *rows;

    TRY(db_rows(s, &select_run_times,
                DB_PARAMS(db_text(tenant), db_text(application_id), db_instant(from_at_s),
                          db_instant(to_at_s), db_integer(limit)),
                run_time_columns, sizeof(struct store_run_time), &rows, count, a, err));
    *list = rows;
    return OK;
}

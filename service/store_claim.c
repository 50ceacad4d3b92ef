/* store_claim.c - what became of claims, of components on their sites, of transfers. */
#include "service/store_claim.h"

#include "service/store_read.h"

/* ---- tries to claim ---- */

#define ATTEMPT_COLUMNS                                                             \
    "job_id, attempted_at, site_ids, processors, l_value, claim_tries, fraction_f," \
    " ftt_s, decision"

struct attempt_row {
    struct store_claim_attempt attempt;
    uint64_t row_id;
};

#define ATTEMPT_COLUMN_ROWS                                                \
    DB_COLUMN(struct store_claim_attempt, job_id, DB_TEXT),                \
        DB_COLUMN(struct store_claim_attempt, attempted_at_s, DB_INSTANT), \
        DB_COLUMN(struct store_claim_attempt, site_ids, DB_JSON),          \
        DB_COLUMN(struct store_claim_attempt, processors, DB_WHOLE),       \
        DB_COLUMN(struct store_claim_attempt, l_value, DB_NUMBER),         \
        DB_COLUMN(struct store_claim_attempt, claim_tries, DB_WHOLE),      \
        DB_COLUMN(struct store_claim_attempt, fraction_f, DB_NUMBER),      \
        DB_COLUMN(struct store_claim_attempt, ftt_s, DB_NUMBER),           \
        DB_COLUMN(struct store_claim_attempt, decision, DB_TEXT)

static const struct db_column attempt_columns[] = {ATTEMPT_COLUMN_ROWS, {0}};
static const struct db_column attempt_row_columns[] = {
    ATTEMPT_COLUMN_ROWS, DB_COLUMN(struct attempt_row, row_id, DB_INTEGER), {0}};

static const struct db_statement insert_attempts = {
    "insert_claim_attempts",
    "INSERT INTO claim_attempt (tenant, " ATTEMPT_COLUMNS ")"
    " SELECT $1, * FROM unnest($2, $3, $4, $5, $6, $7, $8, $9, $10)"
    " ON CONFLICT DO NOTHING",
    DB_REPEATABLE};

static const struct db_statement attempt_reads[HISTORY_READ_KINDS] =
    HISTORY_READS("claim_attempt", ATTEMPT_COLUMNS, "attempted_at", "job_id",
                  " AND ($8::text IS NULL OR site_ids ? $8)");

static const struct history attempt_history = {
    attempt_reads,
    attempt_row_columns,
    sizeof(struct attempt_row),
    sizeof(struct store_claim_attempt),
    offsetof(struct attempt_row, attempt.attempted_at_s),
    offsetof(struct attempt_row, row_id),
};

enum error_code store_claim_attempts(struct db_session *s, const char *tenant,
                                     const struct store_claim_attempt *list, size_t count,
                                     size_t *stored, struct arena *a, struct error *err)
{
    return db_run_list(s, &insert_attempts, tenant, attempt_columns, sizeof(*list), list,
                       count, stored, a, err);
}

enum error_code store_claim_attempts_read(struct db_session *s, const char *tenant,
                                          const struct store_filter *filter,
                                          const struct store_page *page,
                                          const struct store_claim_attempt **list,
                                          size_t *count, const char **next_token,
                                          struct arena *a, struct error *err)
{
    const char *const more[] = {filter->site_id, NULL};
    void *rows;

    TRY(history_read_page(s, tenant, &attempt_history, filter, filter->job_id, more, page,
                          &rows, count, next_token, a, err));
    *list = rows;
    return OK;
}

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

#define ERROR_COLUMNS                                                     \
    "site_id, observed_at, error_count, start_count, consecutive_errors," \
    " unusable, job_id, message"

struct error_row {
    struct store_site_error report;
    uint64_t row_id;
};

#define ERROR_COLUMN_ROWS                                                 \
    DB_COLUMN(struct store_site_error, site_id, DB_TEXT),                 \
        DB_COLUMN(struct store_site_error, observed_at_s, DB_INSTANT),    \
        DB_COLUMN(struct store_site_error, error_count, DB_WHOLE),        \
        DB_COLUMN(struct store_site_error, start_count, DB_WHOLE),        \
        DB_COLUMN(struct store_site_error, consecutive_errors, DB_WHOLE), \
        DB_COLUMN(struct store_site_error, unusable, DB_BOOLEAN),         \
        DB_COLUMN(struct store_site_error, job_id, DB_TEXT),              \
        DB_COLUMN(struct store_site_error, message, DB_TEXT)

static const struct db_column error_columns[] = {ERROR_COLUMN_ROWS, {0}};
static const struct db_column error_row_columns[] = {
    ERROR_COLUMN_ROWS, DB_COLUMN(struct error_row, row_id, DB_INTEGER), {0}};

static const struct db_statement copy_errors = {
    "copy_site_errors",
    "COPY site_error (tenant, " ERROR_COLUMNS ") FROM STDIN (FORMAT binary)", 0};

static const struct db_statement error_reads[HISTORY_READ_KINDS] =
    HISTORY_READS("site_error", ERROR_COLUMNS, "observed_at", "site_id",
                  " AND ($8::text IS NULL OR job_id = $8)");

static const struct history error_history = {
    error_reads,
    error_row_columns,
    sizeof(struct error_row),
    sizeof(struct store_site_error),
    offsetof(struct error_row, report.observed_at_s),
    offsetof(struct error_row, row_id),
};

enum error_code store_site_errors(struct db_session *s, const char *tenant,
                                  const struct store_site_error *list, size_t count,
                                  struct error *err)
{
    return db_copy(s, &copy_errors, tenant, error_columns, sizeof(*list), list, count,
                   err);
}

enum error_code store_site_errors_read(struct db_session *s, const char *tenant,
                                       const struct store_filter *filter,
                                       const struct store_page *page,
                                       const struct store_site_error **list,
                                       size_t *count, const char **next_token,
                                       struct arena *a, struct error *err)
{
    const char *const more[] = {filter->job_id, NULL};
    void *rows;

    TRY(history_read_page(s, tenant, &error_history, filter, filter->site_id, more, page,
                          &rows, count, next_token, a, err));
    *list = rows;
    return OK;
}

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

#define TRANSFER_COLUMNS                                                       \
    "from_site_id, to_site_id, file_id, job_id, bytes, estimated_s, actual_s," \
    " finished_at"

struct transfer_row {
    struct store_transfer transfer;
    uint64_t row_id;
};

#define TRANSFER_COLUMN_ROWS                                      \
    DB_COLUMN(struct store_transfer, from_site_id, DB_TEXT),      \
        DB_COLUMN(struct store_transfer, to_site_id, DB_TEXT),    \
        DB_COLUMN(struct store_transfer, file_id, DB_TEXT),       \
        DB_COLUMN(struct store_transfer, job_id, DB_TEXT),        \
        DB_COLUMN(struct store_transfer, bytes, DB_NUMBER),       \
        DB_COLUMN(struct store_transfer, estimated_s, DB_NUMBER), \
        DB_COLUMN(struct store_transfer, actual_s, DB_NUMBER),    \
        DB_COLUMN(struct store_transfer, finished_at_s, DB_INSTANT)

static const struct db_column transfer_columns[] = {TRANSFER_COLUMN_ROWS, {0}};
static const struct db_column transfer_row_columns[] = {
    TRANSFER_COLUMN_ROWS, DB_COLUMN(struct transfer_row, row_id, DB_INTEGER), {0}};

static const struct db_statement copy_transfers = {
    "copy_transfers",
    "COPY transfer_actual (tenant, " TRANSFER_COLUMNS ") FROM STDIN (FORMAT binary)", 0};

static const struct db_statement transfer_reads[HISTORY_READ_KINDS] =
    HISTORY_READS("transfer_actual", TRANSFER_COLUMNS, "finished_at", "from_site_id",
                  " AND ($8::text IS NULL OR to_site_id = $8)");

static const struct history transfer_history = {
    transfer_reads,
    transfer_row_columns,
    sizeof(struct transfer_row),
    sizeof(struct store_transfer),
    offsetof(struct transfer_row, transfer.finished_at_s),
    offsetof(struct transfer_row, row_id),
};

enum error_code store_transfers(struct db_session *s, const char *tenant,
                                const struct store_transfer *list, size_t count,
                                struct error *err)
{
    return db_copy(s, &copy_transfers, tenant, transfer_columns, sizeof(*list), list,
                   count, err);
}

enum error_code store_transfers_read(struct db_session *s, const char *tenant,
                                     const struct store_filter *filter,
                                     const struct store_page *page,
                                     const struct store_transfer **list, size_t *count,
                                     const char **next_token, struct arena *a,
                                     struct error *err)
{
    const char *const more[] = {filter->to_site_id, NULL};
    void *rows;

    TRY(history_read_page(s, tenant, &transfer_history, filter, filter->from_site_id,
                          more, page, &rows, count, next_token, a, err));
    *list = rows;
    return OK;
}

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

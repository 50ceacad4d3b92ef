/* store_history.c - what is worked out of load samples, failures, executions, checkpoint
 * logs and moves. Storing, pages and corrections are in records/. */
#include "service/records/records.h"

/* ---- load samples ---- */

static const struct db_column interval_columns[] = {
    DB_COLUMN(struct load_interval, start_at_s, DB_INSTANT),
    DB_COLUMN(struct load_interval, sample_count, DB_INTEGER),
    DB_COLUMN(struct load_interval, mean, DB_NUMBER),
    DB_COLUMN(struct load_interval, min, DB_NUMBER),
    DB_COLUMN(struct load_interval, max, DB_NUMBER),
    DB_COLUMN(struct load_interval, p05, DB_NUMBER),
    DB_COLUMN(struct load_interval, p25, DB_NUMBER),
    DB_COLUMN(struct load_interval, p50, DB_NUMBER),
    DB_COLUMN(struct load_interval, p75, DB_NUMBER),
    DB_COLUMN(struct load_interval, p95, DB_NUMBER),
    {0},
};

#define INTERVALS(measure)                                                            \
    {                                                                                 \
        "intervals_" measure,                                                         \
            "SELECT start, n, mean, low, high, p[1], p[2], p[3], p[4], p[5] FROM ("   \
            "SELECT date_bin($5 * interval '1 second', observed_at, $3) AS start,"    \
            " count(*) AS n, avg(" measure ") AS mean, min(" measure ") AS low,"      \
            " max(" measure ") AS high,"                                              \
            " percentile_cont(ARRAY[0.05, 0.25, 0.5, 0.75, 0.95])"                    \
            " WITHIN GROUP (ORDER BY " measure ") AS p"                               \
            " FROM load_sample WHERE tenant = $1 AND resource_id = $2"                \
            " AND observed_at >= $3 AND observed_at < $4 AND " measure " IS NOT NULL" \
            " AND ($6::text IS NULL OR to_resource_id = $6)"                          \
            " GROUP BY 1) AS bins ORDER BY start",                                    \
            DB_REPEATABLE                                                             \
    }

static const struct db_statement select_intervals[] = {
    [LOAD_CPU_AVAILABLE_RATIO] = INTERVALS("cpu_available_ratio"),
    [LOAD_MEMORY_AVAILABLE_BYTES] = INTERVALS("memory_available_bytes"),
    [LOAD_BANDWIDTH_MBPS] = INTERVALS("bandwidth_mbps"),
    [LOAD_LATENCY_S] = INTERVALS("latency_s"),
};

enum error_code store_load_intervals(struct db_session *s, const char *tenant,
                                     const struct store_filter *filter,
                                     enum load_measure measure, double step_s,
                                     const struct load_interval **list, size_t *count,
                                     struct arena *a, struct error *err)
{
    void *rows;

    if (!((filter->to_at_s - filter->from_at_s) / step_s <= STORE_INTERVALS_MAX))
        return fail(err, ERR_INVALID, "?/step_s",
                    "at most %d intervals at once: take longer ones or a shorter time",
                    STORE_INTERVALS_MAX);
    TRY(db_rows(s, &select_intervals[measure],
                DB_PARAMS(db_text(tenant), db_text(filter->resource_id),
                          db_instant(filter->from_at_s), db_instant(filter->to_at_s),
                          db_number(step_s), db_text(filter->to_resource_id)),
                interval_columns, sizeof(struct load_interval), &rows, count, a, err));
    *list = rows;
    return OK;
}

/* ---- failures ---- */

static const struct db_statement close_failures = {
    "close_failures",
    "UPDATE failure SET up_at = $3"
    " WHERE tenant = $1 AND resource_id = $2 AND up_at IS NULL AND down_at <= $3",
    DB_REPEATABLE};

enum error_code store_failure_close(struct db_session *s, const char *tenant,
                                    const char *resource_id, double up_at_s,
                                    size_t *closed, struct error *err)
{
    return db_run(s, &close_failures,
                  DB_PARAMS(db_text(tenant), db_text(resource_id), db_instant(up_at_s)),
                  closed, err);
}

#define OVERLAPS "down_at < $3 AND (up_at IS NULL OR up_at > $2 OR down_at >= $2)"

enum error_code store_failures_overlapping(struct db_session *s, const char *tenant,
                                           const char *resource_id, double from_at_s,
                                           double to_at_s, const struct failure **list,
                                           size_t *count, bool *cut, struct arena *a,
                                           struct error *err)
{
    const struct db_param any[] = {db_instant(from_at_s), db_instant(to_at_s), {0}};
    const struct db_param one[] = {
        db_instant(from_at_s), db_instant(to_at_s), db_text(resource_id), {0}};
    size_t row_count;
    void *rows;

    TRY(record_select(s, tenant, &failure_record,
                      resource_id ? OVERLAPS " AND resource_id = $4" : OVERLAPS,
                      resource_id ? one : any, STORE_PAGE_MAX + 1, &rows, &row_count, a,
                      err));
    *cut = row_count > STORE_PAGE_MAX;
    *count = *cut ? STORE_PAGE_MAX : row_count;
    *list = rows;
    return OK;
}

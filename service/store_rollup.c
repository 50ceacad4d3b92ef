/* store_rollup.c - rows of roll-ups as they are stored. */
#include "service/store_rollup.h"

#include "service/store_token.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

/* Bytes of a sketch are read and written where the model has them. */
_Static_assert(offsetof(struct db_bytes, length) - offsetof(struct db_bytes, data) ==
                   offsetof(struct rollup_measure, sketch_bytes) -
                       offsetof(struct rollup_measure, sketch),
               "the model's bytes look as those of the database do");

#define MEASURE_NAMES(m) \
#m "_count," #m "_mean," #m "_m2," #m "_min," #m "_max," #m "_sketch"

#define ALL_NAMES                                                                                  \
    "resource_id,to_resource_id,level_s,at," MEASURE_NAMES(cpu_available_ratio) "," MEASURE_NAMES( \
        memory_available_bytes) "," MEASURE_NAMES(bandwidth_mbps) "," MEASURE_NAMES(latency_s)

const char store_rollup_names[] = ALL_NAMES;

#define AT_MEASURE(i) \
    (offsetof(struct load_rollup, measure) + (i) * sizeof(struct rollup_measure))
#define MEASURE_COLUMNS(m, base)                                                         \
    {#m "_count", DB_WHOLE, (base) + offsetof(struct rollup_measure, moments.count)},    \
        {#m "_mean", DB_NUMBER, (base) + offsetof(struct rollup_measure, moments.mean)}, \
        {#m "_m2", DB_NUMBER, (base) + offsetof(struct rollup_measure, moments.m2)},     \
        {#m "_min", DB_NUMBER, (base) + offsetof(struct rollup_measure, moments.min)},   \
        {#m "_max", DB_NUMBER, (base) + offsetof(struct rollup_measure, moments.max)},   \
    {                                                                                    \
#m "_sketch", DB_BYTES, (base) + offsetof(struct rollup_measure, sketch)         \
    }

const struct db_column store_rollup_columns[] = {
    DB_COLUMN(struct load_rollup, resource_id, DB_TEXT),
    DB_COLUMN(struct load_rollup, to_resource_id, DB_TEXT),
    DB_COLUMN(struct load_rollup, level_s, DB_WHOLE),
    DB_COLUMN(struct load_rollup, at_s, DB_INSTANT),
    MEASURE_COLUMNS(cpu_available_ratio, AT_MEASURE(LOAD_CPU_AVAILABLE_RATIO)),
    MEASURE_COLUMNS(memory_available_bytes, AT_MEASURE(LOAD_MEMORY_AVAILABLE_BYTES)),
    MEASURE_COLUMNS(bandwidth_mbps, AT_MEASURE(LOAD_BANDWIDTH_MBPS)),
    MEASURE_COLUMNS(latency_s, AT_MEASURE(LOAD_LATENCY_S)),
    {0},
};

static const struct db_statement copy_rollups = {
    "copy_load_rollup",
    "COPY load_rollup (tenant," ALL_NAMES ") FROM STDIN (FORMAT binary)", 0};

enum error_code store_rollup_copy(struct db_session *s, const char *tenant,
                                  const struct load_rollup *rows, size_t count,
                                  struct error *err)
{
    return db_copy(s, &copy_rollups, tenant, store_rollup_columns, sizeof(*rows), rows,
                   count, err);
}

/* ---- what there is ---- */

static const struct db_statement select_kept = {
    "rollup_kept",
    "SELECT max(kept_from) FILTER (WHERE level_s = 0),"
    " max(kept_from) FILTER (WHERE level_s = 60),"
    " max(kept_from) FILTER (WHERE level_s = 3600),"
    " max(kept_from) FILTER (WHERE level_s = 86400), max(known_until),"
    " (SELECT count(*) FROM rollup_due WHERE tenant = $1"
    " AND at > $3::timestamptz - interval '1 hour' AND at < $4"
    " AND shard = hashtext($2) & 63) FROM rollup_progress",
    DB_REPEATABLE};

static const struct db_column kept_columns[] = {
    DB_COLUMN(struct store_rollup_kept, samples_from_s, DB_INSTANT),
    DB_COLUMN(struct store_rollup_kept, minutes_from_s, DB_INSTANT),
    DB_COLUMN(struct store_rollup_kept, hours_from_s, DB_INSTANT),
    DB_COLUMN(struct store_rollup_kept, days_from_s, DB_INSTANT),
    DB_COLUMN(struct store_rollup_kept, known_until_s, DB_INSTANT),
    DB_COLUMN(struct store_rollup_kept, due_count, DB_INTEGER),
    {0},
};

enum error_code store_rollup_kept(struct db_session *s, const char *tenant,
                                  const struct store_filter *filter,
                                  struct store_rollup_kept *out, struct arena *a,
                                  struct error *err)
{
    bool found;

    *out = (struct store_rollup_kept){-HUGE_VAL, -HUGE_VAL, -HUGE_VAL,
                                      -HUGE_VAL, -HUGE_VAL, 0};
    return db_row(s, &select_kept,
                  DB_PARAMS(db_text(tenant), db_text(filter->resource_id),
                            db_instant(filter->from_at_s), db_instant(filter->to_at_s)),
                  kept_columns, sizeof(*out), out, &found, a, err);
}

struct sum {
    uint64_t count;
};
static const struct db_column sum_columns[] = {
    DB_COLUMN(struct sum, count, DB_INTEGER),
    {0},
};

#define ESTIMATE(m)                                                          \
    {                                                                        \
        "rollup_estimate_" #m,                                               \
            "SELECT coalesce(sum(" #m "_count), 0)::bigint FROM load_rollup" \
            " WHERE tenant = $1 AND resource_id = $2 AND level_s = 3600"     \
            " AND at >= $3 AND at < $4"                                      \
            " AND ($5::text IS NULL OR to_resource_id = $5)",                \
            DB_REPEATABLE                                                    \
    }

static const struct db_statement estimates[] = {
    [LOAD_CPU_AVAILABLE_RATIO] = ESTIMATE(cpu_available_ratio),
    [LOAD_MEMORY_AVAILABLE_BYTES] = ESTIMATE(memory_available_bytes),
    [LOAD_BANDWIDTH_MBPS] = ESTIMATE(bandwidth_mbps),
    [LOAD_LATENCY_S] = ESTIMATE(latency_s),
};

enum error_code store_rollup_estimate(struct db_session *s, const char *tenant,
                                      const struct store_filter *filter,
                                      enum load_measure measure, uint64_t *count,
                                      struct arena *a, struct error *err)
{
    struct sum sum = {0};
    bool found;

    TRY(db_row(s, &estimates[measure],
               DB_PARAMS(db_text(tenant), db_text(filter->resource_id),
                         db_instant(filter->from_at_s), db_instant(filter->to_at_s),
                         db_text(filter->to_resource_id)),
               sum_columns, sizeof(sum), &sum, &found, a, err));
    *count = sum.count;
    return OK;
}

/* ---- one measure ---- */

#define POINTS(m)                                                                        \
    {                                                                                    \
        "rollup_points_" #m,                                                             \
            "SELECT at," MEASURE_NAMES(                                                  \
                m) " FROM load_rollup WHERE tenant = $1"                                 \
                   " AND resource_id = $2 AND level_s = $6 AND at >= $3 AND at < $4"     \
                   " AND ($5::text IS NULL OR to_resource_id = $5) AND " #m "_count > 0" \
                   " ORDER BY at, to_resource_id",                                       \
            DB_REPEATABLE                                                                \
    }

static const struct db_statement points[] = {
    [LOAD_CPU_AVAILABLE_RATIO] = POINTS(cpu_available_ratio),
    [LOAD_MEMORY_AVAILABLE_BYTES] = POINTS(memory_available_bytes),
    [LOAD_BANDWIDTH_MBPS] = POINTS(bandwidth_mbps),
    [LOAD_LATENCY_S] = POINTS(latency_s),
};

static const struct db_column point_columns[] = {
    DB_COLUMN(struct store_rollup_point, at_s, DB_INSTANT),
    MEASURE_COLUMNS(of, offsetof(struct store_rollup_point, of)),
    {0},
};

enum error_code store_rollup_points(struct db_session *s, const char *tenant,
                                    const struct store_filter *filter,
                                    enum load_measure measure, double level_s,
                                    const struct store_rollup_point **list, size_t *count,
                                    struct arena *a, struct error *err)
{
    void *rows;

    TRY(db_rows(s, &points[measure],
                DB_PARAMS(db_text(tenant), db_text(filter->resource_id),
                          db_instant(filter->from_at_s), db_instant(filter->to_at_s),
                          db_text(filter->to_resource_id), db_integer((uint64_t)level_s)),
                point_columns, sizeof(struct store_rollup_point), &rows, count, a, err));
    *list = rows;
    return OK;
}

/* ---- pages ---- */

/* $1 tenant, $2 resource, $3 link or NULL, $4 level, $5 from, $6 to; after ($7, $8). */
static const struct db_statement select_page = {
    "rollup_page",
    "SELECT " ALL_NAMES " FROM load_rollup WHERE tenant = $1 AND resource_id = $2"
    " AND ($3::text IS NULL OR to_resource_id = $3) AND level_s = $4 AND at >= $5"
    " AND at < $6 AND (at, to_resource_id) > ($7, $8) ORDER BY at, to_resource_id LIMIT "
    "$9",
    DB_REPEATABLE};

enum error_code store_rollups_list(struct db_session *s, const char *tenant,
                                   const struct store_filter *filter, double level_s,
                                   const struct store_page *page,
                                   const struct load_rollup **list, size_t *count,
                                   const char **next_token, struct arena *a,
                                   struct error *err)
{
    double from_s = isnan(filter->from_at_s) ? -HUGE_VAL : filter->from_at_s;
    double to_s = isnan(filter->to_at_s) ? HUGE_VAL : filter->to_at_s;
    double after_s = -HUGE_VAL;
    const char *after = "";
    struct load_rollup *rows;
    size_t row_count;

    if (page->token)
        TRY(token_read(page->token, &after_s, &after, a, err));
    TRY(db_rows(s, &select_page,
                DB_PARAMS(db_text(tenant), db_text(filter->resource_id),
                          db_text(filter->to_resource_id), db_integer((uint64_t)level_s),
                          db_instant(fmax(from_s, after_s)), db_instant(to_s),
                          db_instant(after_s), db_text(after),
                          db_integer(page->limit + 1)),
                store_rollup_columns, sizeof(*rows), (void **)&rows, &row_count, a, err));
    *count = page_count(page, row_count);
    *list = rows;
    *next_token = NULL;
    if (row_count > page->limit) {
        const struct load_rollup *last = &rows[*count - 1];

        *next_token = token_make(last->at_s, last->to_resource_id, a);
        if (!*next_token)
            return fail_memory(err);
    }
    return OK;
}

/* load_samples.c - /v1/load-samples/aggregates: what samples say together. */
#include "handlers/load/load_samples.h"

#include "handlers/common/page.h"
#include "service/clock.h"
#include "service/store_rollup.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DAY_S = 86400, SAMPLES_READ_MAX = 1000000 };

enum source { SOURCE_AUTO, SOURCE_RAW, SOURCE_ROLLUP };
static const char *const sources[] = {"auto", "raw", "rollup", NULL};
static const double levels_s[] = {ROLLUP_DAY_S, ROLLUP_HOUR_S, ROLLUP_MINUTE_S};
enum { LEVEL_COUNT = sizeof(levels_s) / sizeof(levels_s[0]) };

static const char *const measures[] = {"cpu_available_ratio", "memory_available_bytes",
                                       "bandwidth_mbps", "latency_s", NULL};

struct aggregates_query {
    struct range_query range;
    const char *resource_id, *to_resource_id;
    int measure; /* enum load_measure */
    double interval_s;
    int source; /* enum source */
};

struct aggregates {
    const char *resource_id, *to_resource_id;
    int measure;
    double from_at_s, to_at_s;
    double interval_s;
    uint64_t level_s; /* 0: of the samples */
    double quantile_error_ratio;
    const struct load_interval *intervals;
    size_t interval_count;
};

#define T struct aggregates_query
static const struct json_field aggregates_query_rows[] = {
    JSON_ID(T, resource_id, JSON_REQUIRED, "The resource, or where the link begins"),
    JSON_ID(T, to_resource_id, 0, "Where the link ends; default: any samples"),
    JSON_CHOICE(T, measure, measures, LOAD_CPU_AVAILABLE_RATIO, 0,
                "The measure; default cpu_available_ratio"),
    {.name = "from",
     .doc = "Begin of the first interval; default: a day before `to`",
     .type = JSON_TYPE_INSTANT,
     .offset = JSON_AT(T, range.from_at_s, double),
     .preset = NAN},
    {.name = "to",
     .doc = "End of the last interval; default: now",
     .type = JSON_TYPE_INSTANT,
     .offset = JSON_AT(T, range.to_at_s, double),
     .preset = NAN},
    JSON_NUMBER(T, interval_s, 0.001, 1e10, 3600, 0,
                "Length of an interval in seconds; default 3600"),
    JSON_CHOICE(
        T, source, sources, SOURCE_AUTO, 0,
        "raw: the samples; rollup: what is kept of minutes, hours and days, whose "
        "percentiles are within 1 %; auto: the samples while they are kept, unless "
        "there are more than a million; default auto"),
    {0},
};
#undef T
const struct json_object load_aggregates_query_json = {
    "LoadAggregatesQuery", "Which statistics of load samples",
    sizeof(struct aggregates_query), aggregates_query_rows};

#define T struct load_interval
static const struct json_field interval_rows[] = {
    JSON_INSTANT(T, start_at, 0, "Begin of the interval"),
    JSON_INTEGER(T, sample_count, 1, JSON_EXACT, 1, 0, "Samples with the measure"),
    JSON_NUMBER(T, mean, 0, 0, 0, 0, "Mean, in the unit of the measure"),
    JSON_NUMBER(T, min, 0, 0, 0, 0, "Least"),
    JSON_NUMBER(T, max, 0, 0, 0, 0, "Greatest"),
    JSON_NUMBER(T, p05, 0, 0, 0, 0,
                "5th percentile, interpolated unless it is of roll-ups"),
    JSON_NUMBER(T, p25, 0, 0, 0, 0, "25th percentile"),
    JSON_NUMBER(T, p50, 0, 0, 0, 0, "Median"),
    JSON_NUMBER(T, p75, 0, 0, 0, 0, "75th percentile"),
    JSON_NUMBER(T, p95, 0, 0, 0, 0, "95th percentile"),
    {0},
};
#undef T
static const struct json_object interval_json = {
    "LoadInterval", "Statistics of a measure in one interval",
    sizeof(struct load_interval), interval_rows};

#define T struct aggregates
static const struct json_field aggregates_rows[] = {
    JSON_TEXT(T, resource_id, 0, "The resource, or where the link begins"),
    JSON_TEXT(T, to_resource_id, JSON_OPTIONAL, "Where the link ends"),
    JSON_CHOICE(T, measure, measures, 0, 0, "The measure"),
    JSON_INSTANT(T, from_at, 0, "Begin of the first interval"),
    JSON_INSTANT(T, to_at, 0, "End of the last interval"),
    JSON_NUMBER(T, interval_s, 0, 0, 0, 0, "Length of an interval"),
    JSON_INTEGER(T, level_s, 0, JSON_EXACT, 0, 0,
                 "Length of the roll-ups it was read from, at most: 60, 3600 or 86400; "
                 "what is not made yet is read from samples; 0: all of it is"),
    JSON_NUMBER(T, quantile_error_ratio, 0, 0, 0, 0,
                "How far off percentiles may be, relative to their value: 0 or 0.01"),
    JSON_LIST(T, intervals, interval_count, struct load_interval, &interval_json, 0, 0,
              "Intervals that have samples, by time"),
    {0},
};
#undef T
const struct json_object load_aggregates_json = {
    "LoadAggregates", "Statistics of load samples", sizeof(struct aggregates),
    aggregates_rows};

static bool is_multiple(double x, double of)
{
    return !(fabs(fmod(x, of)) > 0);
}

/* The longest level of which whole rows make the intervals; 0: none does. */
static double level_of(const struct aggregates_query *query,
                       const struct store_filter *filter,
                       const struct store_rollup_kept *kept)
{
    const double kept_from_s[] = {kept->days_from_s, kept->hours_from_s,
                                  kept->minutes_from_s};

    for (size_t i = 0; i < LEVEL_COUNT; i++)
        if (is_multiple(query->interval_s, levels_s[i]) &&
            is_multiple(filter->from_at_s, levels_s[i]) &&
            filter->from_at_s >= kept_from_s[i])
            return levels_s[i];
    return 0;
}

/* No level fits: names the nearest interval of the shortest one that is kept. */
static enum error_code refuse_interval(const struct aggregates_query *query,
                                       const struct store_filter *filter,
                                       const struct store_rollup_kept *kept,
                                       struct error *err)
{
    double level_s = filter->from_at_s >= kept->minutes_from_s ? ROLLUP_MINUTE_S
                     : filter->from_at_s >= kept->hours_from_s ? ROLLUP_HOUR_S
                                                               : ROLLUP_DAY_S;
    double nearest_s = fmax(1, round(query->interval_s / level_s)) * level_s;

    invalid(err, "?/interval_s", ITEM_NOT_ALIGNED,
            "of that time only roll-ups of %.0f s are kept: interval_s and from must be "
            "multiples of that, for instance interval_s=%.0f and from=%.0f",
            level_s, nearest_s, floor(filter->from_at_s / level_s) * level_s);
    return err->code;
}

/* From which level the answer is made; 0: from the samples. */
static enum error_code choose_level(struct request *rq, struct db_session *db,
                                    const struct store_filter *filter,
                                    const struct store_rollup_kept *kept, double *level_s)
{
    const struct aggregates_query *query = rq->query;
    bool raw_gone = filter->from_at_s < kept->samples_from_s;
    uint64_t count;

    *level_s = 0;
    if (query->source == SOURCE_RAW)
        return OK;
    *level_s = level_of(query, filter, kept);
    if (query->source == SOURCE_ROLLUP || raw_gone)
        return *level_s > 0 ? OK : refuse_interval(query, filter, kept, rq->err);
    if (!(*level_s > 0))
        return OK;
    TRY(store_rollup_estimate(db, rq->principal.tenant, filter,
                              (enum load_measure)query->measure, &count, rq->arena,
                              rq->err));
    if (count <= SAMPLES_READ_MAX)
        *level_s = 0;
    return OK;
}

static int compare_points(const void *x, const void *y)
{
    const struct store_rollup_point *a = x, *b = y;

    return (a->at_s > b->at_s) - (a->at_s < b->at_s);
}

static struct load_interval interval_of(const struct rollup_cell *cell,
                                        const struct sketch_bounds *bounds,
                                        double start_at_s)
{
    const struct moments *m = &cell->moments;
    struct load_interval out = {.start_at_s = start_at_s,
                                .sample_count = (uint64_t)m->count,
                                .mean = m->mean,
                                .min = m->min,
                                .max = m->max};

    out.p05 = sketch_quantile(&cell->sketch, bounds, m->min, m->max, 0.05);
    out.p25 = sketch_quantile(&cell->sketch, bounds, m->min, m->max, 0.25);
    out.p50 = sketch_quantile(&cell->sketch, bounds, m->min, m->max, 0.5);
    out.p75 = sketch_quantile(&cell->sketch, bounds, m->min, m->max, 0.75);
    out.p95 = sketch_quantile(&cell->sketch, bounds, m->min, m->max, 0.95);
    return out;
}

/* Rows and samples, by time, to intervals. */
static enum error_code merge_points(struct request *rq,
                                    const struct store_rollup_point *list, size_t count,
                                    double from_s, struct aggregates *answer)
{
    struct sketch_bounds *bounds = NEW(rq->arena, struct sketch_bounds, 1);
    struct rollup_cell *cell = NEW(rq->arena, struct rollup_cell, 1);
    struct load_interval *out =
        NEW(rq->arena, struct load_interval, STORE_INTERVALS_MAX + 1);
    size_t out_count = 0, bin = SIZE_MAX;

    sketch_bounds_make(bounds);
    rollup_cell_init(cell);
    for (size_t i = 0; i <= count; i++) {
        size_t next = i == count
                          ? SIZE_MAX
                          : (size_t)floor((list[i].at_s - from_s) / answer->interval_s);

        budget_step(&rq->budget, SKETCH_BUCKETS);
        if (next != bin && bin != SIZE_MAX) {
            out[out_count++] =
                interval_of(cell, bounds, from_s + (double)bin * answer->interval_s);
            rollup_cell_clear(cell);
        }
        bin = next;
        if (i == count)
            break;
        if (!list[i].of.sketch)
            rollup_cell_add(cell, bounds, list[i].of.moments.mean);
        else if (!rollup_cell_merge(cell, &list[i].of))
            return fail(rq->err, ERR_INTERNAL, "",
                        "a sketch that is stored cannot be read");
    }
    answer->intervals = out;
    answer->interval_count = out_count;
    return OK;
}

static enum error_code read_intervals(struct request *rq,
                                      const struct store_filter *filter,
                                      struct aggregates *answer)
{
    const struct aggregates_query *query = rq->query;
    enum load_measure measure = (enum load_measure)query->measure;
    const char *tenant = rq->principal.tenant;
    const struct store_rollup_point *points;
    struct store_rollup_point *sorted;
    struct store_rollup_kept kept;
    struct db_session *db;
    double level_s;
    size_t count;

    TRY(request_db(rq, &db));
    TRY(store_rollup_kept(db, &kept, rq->arena, rq->err));
    TRY(choose_level(rq, db, filter, &kept, &level_s));
    if (!(level_s > 0))
        return store_load_intervals(db, tenant, filter, measure, query->interval_s,
                                    &answer->intervals, &answer->interval_count,
                                    rq->arena, rq->err);
    TRY(store_rollup_points(db, tenant, filter, measure, level_s, &kept, &points, &count,
                            rq->arena, rq->err));
    sorted = NEW(rq->arena, struct store_rollup_point, count + 1);
    memcpy(sorted, points, sizeof(*sorted) * count);
    qsort(sorted, count, sizeof(*sorted), compare_points);
    answer->level_s = (uint64_t)level_s;
    answer->quantile_error_ratio = SKETCH_ERROR_RATIO;
    return merge_points(rq, sorted, count, filter->from_at_s, answer);
}

enum error_code get_load_aggregates(struct request *rq, const void *in, void *out)
{
    const struct aggregates_query *query = rq->query;
    struct aggregates *answer = out;
    struct range_query range = query->range;
    struct store_filter filter = {.resource_id = query->resource_id,
                                  .to_resource_id = query->to_resource_id};

    (void)in;
    if (isnan(range.to_at_s))
        range.to_at_s = clock_wall_s();
    if (isnan(range.from_at_s))
        range.from_at_s = range.to_at_s - DAY_S;
    TRY(range_check(&range, rq->err));
    if ((range.to_at_s - range.from_at_s) / query->interval_s > STORE_INTERVALS_MAX)
        return invalid(rq->err, "?/interval_s", ITEM_OUT_OF_BOUNDS,
                       "more than %d intervals; take longer ones or a shorter range",
                       STORE_INTERVALS_MAX);
    filter.from_at_s = range.from_at_s;
    filter.to_at_s = range.to_at_s;
    answer->resource_id = query->resource_id;
    answer->to_resource_id = query->to_resource_id;
    answer->measure = query->measure;
    answer->from_at_s = range.from_at_s;
    answer->to_at_s = range.to_at_s;
    answer->interval_s = query->interval_s;
    return read_intervals(rq, &filter, answer);
}

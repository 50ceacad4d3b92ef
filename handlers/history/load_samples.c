/* load_samples.c - /v1/load-samples/aggregates: what samples say together. */
#include "handlers/history/load_samples.h"

#include "handlers/common/page.h"
#include "service/clock.h"

enum { DAY_S = 86400 };

static const char *const measures[] = {"cpu_available_ratio", "memory_available_bytes",
                                       "bandwidth_mbps", "latency_s", NULL};

struct aggregates_query {
    struct range_query range;
    const char *resource_id, *to_resource_id;
    int measure; /* enum load_measure */
    double interval_s;
};

struct aggregates {
    const char *resource_id, *to_resource_id;
    int measure;
    double from_at_s, to_at_s;
    double interval_s;
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
    JSON_NUMBER(T, p05, 0, 0, 0, 0, "5th percentile, interpolated"),
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
    JSON_LIST(T, intervals, interval_count, struct load_interval, &interval_json, 0, 0,
              "Intervals that have samples, by time"),
    {0},
};
#undef T
const struct json_object load_aggregates_json = {
    "LoadAggregates", "Statistics of load samples", sizeof(struct aggregates),
    aggregates_rows};

enum error_code get_load_aggregates(struct request *rq, const void *in, void *out)
{
    const struct aggregates_query *query = rq->query;
    struct aggregates *answer = out;
    struct range_query range = query->range;
    struct store_filter filter = {.resource_id = query->resource_id,
                                  .to_resource_id = query->to_resource_id};
    struct db_session *db;

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
    TRY(request_db(rq, &db));
    TRY(store_load_intervals(db, rq->principal.tenant, &filter,
                             (enum load_measure)query->measure, query->interval_s,
                             &answer->intervals, &answer->interval_count, rq->arena,
                             rq->err));
    answer->resource_id = query->resource_id;
    answer->to_resource_id = query->to_resource_id;
    answer->measure = query->measure;
    answer->from_at_s = range.from_at_s;
    answer->to_at_s = range.to_at_s;
    answer->interval_s = query->interval_s;
    return OK;
}

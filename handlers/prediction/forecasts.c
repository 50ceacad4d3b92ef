/* forecasts.c - GET /v1/forecasts: the load to be expected of resources and links.
 *
 * The next average of 600 s, by the forecaster that was best on the stored ones. The
 * interval takes the errors of that forecaster as Laplace distributed with the mean
 * absolute error it had: value -+ mae * -ln(1 - level), within what is possible.
 */
#include "handlers/prediction/routes.h"

#include "handlers/common/page.h"
#include "handlers/prediction/loads.h"
#include "models/base/plural.h"
#include "service/clock.h"
#include "service/store_model.h"

#include <string.h>

struct forecasts_query {
    const char *resource_id, *to_resource_id;
    double at_s, history_s, interval_level;
    struct page_query page;
};

#define T struct forecasts_query
static const struct json_field query_rows[] = {
    JSON_ID(T, resource_id, 0,
            "This resource and the links that begin there; default: a page of all"),
    JSON_ID(T, to_resource_id, 0, "With resource_id: the link to this resource only"),
    JSON_INSTANT(T, at, 0, "Forecast as of this instant; default: now"),
    JSON_NUMBER(T, history_s, 600, 31536000, LOAD_HISTORY_S, 0,
                "How far a forecast looks back; default 86400"),
    JSON_NUMBER(T, interval_level, 0.01, 0.999, 0.8, 0,
                "Share of the cases that are to fall into the interval; default 0.8"),
    PAGE_ROWS(T),
    {0},
};
#undef T
const struct json_object forecasts_query_json = {
    "ForecastsQuery", "Which resources, and as of when", sizeof(struct forecasts_query),
    query_rows};

static const char *const measures[] = {"cpu_available_ratio", "bandwidth_mbps", NULL};
enum { MEASURE_CPU, MEASURE_BANDWIDTH };

struct forecast_row {
    const char *resource_id, *to_resource_id;
    int measure;
    double value, low, high;
    int forecaster;
    double mae;
    uint64_t bucket_count;
    double last, last_at_s;
};

#define T struct forecast_row
static const struct json_field forecast_rows[] = {
    JSON_TEXT(T, resource_id, 0, "The resource, or where the link begins"),
    JSON_TEXT(T, to_resource_id, JSON_OPTIONAL, "Where the link ends"),
    JSON_CHOICE(T, measure, measures, 0, 0, "What is forecast"),
    JSON_NUMBER(T, value, 0, 0, 0, 0, "The next average, in the unit of the measure"),
    JSON_NUMBER(T, low, 0, 0, 0, JSON_MAY_BE_NULL,
                "Lower end; null: fewer than two averages"),
    JSON_NUMBER(T, high, 0, 0, 0, JSON_MAY_BE_NULL, "Upper end; null: too few values"),
    JSON_CHOICE(T, forecaster, forecaster_names, 0, 0, "That was best so far"),
    JSON_NUMBER(T, mae, 0, 0, 0, JSON_MAY_BE_NULL,
                "Its mean absolute error so far; null: too few values"),
    JSON_INTEGER(T, bucket_count, 0, JSON_EXACT, 0, 0,
                 "Averages of 600 s that were read"),
    JSON_NUMBER(T, last, 0, 0, 0, 0, "The latest average"),
    JSON_INSTANT(T, last_at, 0, "When it began"),
    {0},
};
#undef T
static const struct json_object forecast_json = {
    "Forecast", "The load to be expected of a resource or link",
    sizeof(struct forecast_row), forecast_rows};

struct forecasts_page {
    double at_s, horizon_s, interval_level;
    const struct forecast_row *items;
    size_t item_count;
    const char *const *warnings;
    size_t warning_count;
    const char *next_page_token;
};

#define T struct forecasts_page
static const struct json_field page_rows[] = {
    JSON_INSTANT(T, at, 0, "Instant of the forecasts"),
    JSON_NUMBER(T, horizon_s, 0, 0, 0, 0, "Length of the averages"),
    JSON_NUMBER(T, interval_level, 0, 0, 0, 0, "Share of the cases in the interval"),
    JSON_LIST(T, items, item_count, struct forecast_row, &forecast_json, 0, 0,
              "By resource_id; those without samples in the history are left out"),
    JSON_TEXTS(T, warnings, warning_count, 0, 0, "What was left out, with counts"),
    NEXT_PAGE_ROW(T),
    {0},
};
#undef T
const struct json_object forecasts_page_json = {"ForecastsPage", "A page of forecasts",
                                                sizeof(struct forecasts_page), page_rows};

/* The ids of the page, or the one that was asked for. */
static enum error_code ids_of(struct request *rq, const struct forecasts_query *query,
                              const char *const **ids, size_t *count,
                              const char **next_token)
{
    struct store_page part;
    const struct store_resource_id *list;
    const char **copy;
    struct db_session *db;

    *next_token = NULL;
    if (query->resource_id) {
        *ids = &query->resource_id;
        *count = 1;
        return OK;
    }
    TRY(page_of(rq, &query->page, &part));
    TRY(request_db(rq, &db));
    TRY(store_load_resources(db, rq->principal.tenant, &part, &list, count, next_token,
                             rq->arena, rq->err));
    copy = NEW(rq->arena, const char *, *count);
    for (size_t i = 0; i < *count; i++)
        copy[i] = list[i].resource_id;
    *ids = copy;
    return OK;
}

static bool is_wanted(const struct forecasts_query *query, const struct load_series *s)
{
    return !query->to_resource_id ||
           (s->to_resource_id && strcmp(s->to_resource_id, query->to_resource_id) == 0);
}

static void forecast(const struct load_series *s, double from_s, double end_s,
                     double level, struct forecast_row *out)
{
    struct battery battery = {0};
    struct battery_forecast best;
    bool is_link = s->to_resource_id != NULL;
    const struct load_bucket *last = NULL;
    double reach;

    for (size_t i = 0; i < s->bucket_count; i++) {
        const struct load_bucket *b = &s->buckets[i];

        if (b->start_at_s < from_s || b->start_at_s + LOAD_BUCKET_S > end_s)
            continue;
        battery_add(&battery, b->mean);
        last = b;
    }
    best = battery_forecast(&battery);
    reach = -best.mae * log(1 - level);
    *out = (struct forecast_row){
        .resource_id = s->resource_id,
        .to_resource_id = s->to_resource_id,
        .measure = is_link ? MEASURE_BANDWIDTH : MEASURE_CPU,
        .value = best.value,
        .low = isnan(reach) ? (double)NAN : fmax(0, best.value - reach),
        .high = best.value + reach,
        .forecaster = (int)best.forecaster,
        .mae = best.mae,
        .bucket_count = battery.count,
        .last = last ? last->mean : (double)NAN,
        .last_at_s = last ? last->start_at_s : (double)NAN,
    };
    if (!is_link && out->high > 1)
        out->high = 1;
}

static void fill_warnings(struct request *rq, const struct forecasts_query *query,
                          size_t silent, struct forecasts_page *page)
{
    const char **list = NEW(rq->arena, const char *, 1);

    page->warnings = list;
    if (silent == 0 && (page->item_count > 0 || !query->resource_id))
        return;
    list[0] = silent > 0
                  ? arena_printf(
                        rq->arena,
                        "no_samples: %zu %s no whole block "
                        "of samples in the last %.0f s: %s left out",
                        silent,
                        plural(silent, "resource or link has", "resources or links have"),
                        query->history_s, plural(silent, "it is", "they are"))
                  : arena_printf(rq->arena, "no_samples: '%.100s' has no load samples",
                                 query->resource_id);
    page->warning_count = 1;
}

enum error_code get_forecasts(struct request *rq, const void *in, void *out)
{
    const struct forecasts_query *query = rq->query;
    struct forecasts_page *page = out;
    const struct load_sample *samples;
    struct load_series *series;
    struct forecast_row *rows;
    const char *const *ids = NULL;
    size_t id_count = 0, sample_count, series_count, silent = 0;

    (void)in;
    if (query->to_resource_id && !query->resource_id)
        return invalid(rq->err, "?/to_resource_id", ITEM_CONFLICT,
                       "a link needs resource_id, where it begins");
    page->at_s = isnan(query->at_s) ? clock_wall_s() : query->at_s;
    page->horizon_s = LOAD_BUCKET_S;
    page->interval_level = query->interval_level;
    TRY(ids_of(rq, query, &ids, &id_count, &page->next_page_token));
    TRY(loads_stored(rq, ids, id_count, page->at_s, query->history_s, &samples,
                     &sample_count));
    TRY(load_series_of_samples(samples, sample_count, &series, &series_count, rq->arena,
                               rq->err));
    rows = NEW(rq->arena, struct forecast_row, series_count + 1);
    for (size_t i = 0; i < series_count; i++) {
        struct forecast_row *row = &rows[page->item_count];

        if (!is_wanted(query, &series[i]))
            continue;
        forecast(&series[i], page->at_s - query->history_s, page->at_s,
                 query->interval_level, row);
        loads_count_error(rq, (enum forecaster)row->forecaster, row->value, row->mae);
        page->item_count += row->bucket_count > 0;
        silent += row->bucket_count == 0;
    }
    page->items = rows;
    fill_warnings(rq, query, silent, page);
    return page_link(rq, &page->next_page_token);
}

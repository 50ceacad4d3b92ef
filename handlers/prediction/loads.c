/* loads.c - the load that a job will meet, forecast from samples. */
#include "handlers/prediction/loads.h"

#include "handlers/common/decision.h"
#include "service/clock.h"
#include "service/metrics.h"
#include "service/records/records.h"
#include "service/service.h"
#include "service/store_model.h"

#define T struct load_row
static const struct json_field load_rows[] = {
    JSON_TEXT(T, resource_id, 0, "The resource, or where the link begins"),
    JSON_TEXT(T, to_resource_id, JSON_OPTIONAL, "Where the link ends"),
    JSON_NUMBER(T, value, 0, 0, 0, 0, "Available share of the CPU, or Mbit/s of a link"),
    JSON_CHOICE(T, forecaster, forecaster_names, 0, 0, "That was best so far"),
    JSON_NUMBER(T, mae, 0, 0, 0, JSON_OPTIONAL, "Its mean absolute error so far"),
    JSON_INTEGER(T, bucket_count, 0, JSON_EXACT, 0, 0,
                 "Averages of 600 s that were read"),
    {0},
};
#undef T
static const struct json_object load_row_json = {"LoadForecastRow",
                                                 "Forecast of one resource or link",
                                                 sizeof(struct load_row), load_rows};

#define T struct load_answer
static const struct json_field load_answer_rows[] = {
    JSON_NUMBER(T, cpu_available_ratio, 0, 0, 0, JSON_OPTIONAL,
                "Least available share of the CPU"),
    JSON_NUMBER(T, bandwidth_mbps, 0, 0, 0, JSON_OPTIONAL,
                "Least bandwidth of the links"),
    JSON_CHOICE(T, forecast_mode, forecast_mode_names, 0, 0,
                "How it was forecast: min_of_forecasts where another mode found too "
                "little"),
    JSON_NUMBER(T, horizon_s, 0, 0, 0, 0, "Length of the averages"),
    JSON_LIST(T, resources, resource_count, struct load_row, &load_row_json, 0, 0,
              "Each resource and link by itself"),
    JSON_TEXTS(T, missing, missing_count, 0, JSON_OPTIONAL,
               "Resources and links without any history: the first 20"),
    {0},
};
#undef T
const struct json_object load_answer_json = {"LoadForecast", "The load to be expected",
                                             sizeof(struct load_answer),
                                             load_answer_rows};

/* What a decision looked up. */
struct looked_up {
    double now_at_s;
    const struct load_sample *history;
    size_t history_count;
};

#define T struct looked_up
static const struct json_field looked_up_rows[] = {
    JSON_INSTANT(T, now_at, 0, "The present"),
    JSON_LIST(T, history, history_count, struct load_sample, &load_sample_json,
              LOAD_HISTORY_MAX, 0, "Averages of 600 s"),
    {0},
};
#undef T
static const struct json_object looked_up_json = {
    "LoadsLookedUp", "Load history as it was", sizeof(struct looked_up), looked_up_rows};

enum error_code loads_stored(struct request *rq, const char *const *ids, size_t id_count,
                             double at_s, double history_s,
                             const struct load_sample **samples, size_t *count)
{
    struct text_buffer b = {.arena = rq->arena};
    const struct store_load_mean *means;
    struct load_sample *list;
    struct db_session *db;

    text_add(&b, "[", 1);
    for (size_t i = 0; i < id_count; i++) {
        if (i)
            text_add(&b, ",", 1);
        json_print_text(ids[i], &b);
    }
    text_add(&b, "]", 2); /* with the NUL */
    TRY(request_db(rq, &db));
    TRY(store_load_means(db, rq->principal.tenant, text_end(&b),
                         at_s - history_s - LOAD_BUCKET_S,
                         floor(at_s / LOAD_BUCKET_S) * LOAD_BUCKET_S, LOAD_BUCKET_S,
                         &means, count, rq->arena, rq->err));
    list = NEW(rq->arena, struct load_sample, *count);
    for (size_t i = 0; i < *count; i++)
        list[i] = (struct load_sample){
            .resource_id = means[i].resource_id,
            .to_resource_id = means[i].to_resource_id,
            .observed_at_s = means[i].start_at_s,
            .cpu_available_ratio = means[i].cpu_available_ratio,
            .memory_available_bytes = (double)NAN,
            .bandwidth_mbps = means[i].bandwidth_mbps,
            .latency_s = (double)NAN,
        };
    *samples = list;
    return OK;
}

/* The stored history, or what it was for a replay. */
static enum error_code look_up(struct request *rq, const struct load_request *in,
                               struct looked_up *out)
{
    bool found;

    TRY(decision_lookup(rq, "loads", &looked_up_json, out, &found));
    if (found)
        return OK;
    out->now_at_s = isnan(in->at_s) ? clock_wall_s() : in->at_s;
    TRY(loads_stored(rq, in->resource_ids, in->resource_count, out->now_at_s,
                     in->history_s, &out->history, &out->history_count));
    return decision_keep_lookup(rq, "loads", &looked_up_json, out);
}

enum error_code loads_read(struct request *rq, const struct load_request *in,
                           struct load_history_read *out)
{
    struct looked_up history = {in->at_s, in->history, in->history_count};
    struct load_series *series;

    if (!in->history)
        TRY(look_up(rq, in, &history));
    TRY(load_series_of_samples(history.history, history.history_count, &series,
                               &out->series_count, rq->arena, rq->err));
    out->series = series;
    out->now_at_s = history.now_at_s;
    return OK;
}

enum error_code loads_forecast(struct request *rq, const struct load_request *in,
                               const struct load_history_read *history, double horizon_s,
                               struct load_forecast *out)
{
    struct load_forecast_in question = {
        .series = history->series,
        .series_count = history->series_count,
        .resource_ids = in->resource_ids,
        .resource_count = in->resource_count,
        .now_at_s = history->now_at_s,
        .history_s = in->history_s,
        .mode = (enum forecast_mode)in->forecast_mode,
        .horizon_s = horizon_s,
    };

    if (question.mode == FORECAST_MODE_DURATION_MATCHED && isnan(horizon_s))
        question.mode = FORECAST_MODE_MIN_OF_FORECASTS;
    if (isnan(horizon_s))
        question.horizon_s = LOAD_BUCKET_S;
    return load_forecast(&question, out, rq->arena, rq->err);
}

void loads_answer(const struct load_forecast *forecast, struct load_answer *out,
                  struct arena *a)
{
    struct load_row *rows = NEW(a, struct load_row, forecast->resource_count + 1);

    for (size_t i = 0; i < forecast->resource_count; i++) {
        const struct resource_forecast *r = &forecast->resources[i];

        rows[i] = (struct load_row){r->resource_id, r->to_resource_id,  r->value,
                                    r->mae,         (int)r->forecaster, r->bucket_count};
    }
    *out = (struct load_answer){
        .cpu_available_ratio = forecast->cpu_available_ratio,
        .bandwidth_mbps = forecast->bandwidth_mbps,
        .forecast_mode = (int)forecast->mode_used,
        .horizon_s = forecast->horizon_s,
        .resources = rows,
        .resource_count = forecast->resource_count,
        .missing = forecast->missing,
        .missing_count = forecast->missing_listed,
    };
}

void loads_count_error(const struct request *rq, enum forecaster forecaster, double value,
                       double mae)
{
    if (value > 0)
        metrics_forecast_error(rq->service->metrics, forecaster_names[forecaster],
                               mae / value);
}

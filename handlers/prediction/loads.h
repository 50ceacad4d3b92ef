/* loads.h - the load that a job will meet, forecast from samples in the request or
 * stored ones; shared by predictions and forecasts. */
#ifndef GRIDPLAN_LOADS_H
#define GRIDPLAN_LOADS_H

#include "models/forecast/forecast.h"
#include "service/route.h"

enum { LOAD_RESOURCES_MAX = 2048, LOAD_HISTORY_MAX = 1000000 };

/* What a request says: a struct T has the member `load` and the rows. */
struct load_request {
    const char *const *resource_ids; /* NULL: no forecast is wanted */
    size_t resource_count;
    int forecast_mode; /* enum forecast_mode */
    double history_s, horizon_s;
    double at_s; /* instant; NAN: now */
    const struct load_sample *history;
    size_t history_count;
};

#define LOAD_REQUEST_ROWS(T)                                                             \
    {.name = "resource_ids",                                                             \
     .doc = "Forecast the CPU of these resources and the bandwidth between them",        \
     .type = JSON_TYPE_TEXTS,                                                            \
     .offset = JSON_AT(T, load.resource_ids, const char *const *),                       \
     .count_offset = JSON_AT(T, load.resource_count, size_t),                            \
     .max = LOAD_RESOURCES_MAX},                                                         \
        {.name = "forecast_mode",                                                        \
         .doc =                                                                          \
             "min_of_forecasts: each resource, then the minimum; forecast_of_min: of "   \
             "the minima of each 600 s; duration_matched: of blocks as long as the "     \
             "run; default min_of_forecasts",                                            \
         .type = JSON_TYPE_CHOICE,                                                       \
         .offset = offsetof(T, load.forecast_mode),                                      \
         .choices = forecast_mode_names},                                                \
        {.name = "history_s",                                                            \
         .doc = "How far a forecast looks back; default 86400",                          \
         .type = JSON_TYPE_NUMBER,                                                       \
         .offset = JSON_AT(T, load.history_s, double),                                   \
         .min = 600,                                                                     \
         .max = 31536000,                                                                \
         .preset = LOAD_HISTORY_S},                                                      \
        {.name = "horizon_s",                                                            \
         .doc = "duration_matched: length of the blocks; default: the predicted time, "  \
                "up to whole 120 s, 600 to 7200",                                        \
         .type = JSON_TYPE_NUMBER,                                                       \
         .offset = JSON_AT(T, load.horizon_s, double),                                   \
         .min = 1,                                                                       \
         .max = 1e9,                                                                     \
         .preset = NAN,                                                                  \
         .flags = JSON_NULLABLE},                                                        \
        {.name = "at",                                                                   \
         .doc = "Instant of the forecast; default: now; with history: the end of it",    \
         .type = JSON_TYPE_INSTANT,                                                      \
         .offset = JSON_AT(T, load.at_s, double),                                        \
         .preset = NAN,                                                                  \
         .flags = JSON_NULLABLE},                                                        \
    {                                                                                    \
        .name = "history",                                                               \
        .doc = "Load samples to forecast from; default: the stored ones",                \
        .type = JSON_TYPE_LIST,                                                          \
        .offset = JSON_AT(T, load.history, const struct load_sample *),                  \
        .count_offset = JSON_AT(T, load.history_count, size_t), .of = &load_sample_json, \
        .max = LOAD_HISTORY_MAX                                                          \
    }

/* The history that a forecast reads. */
struct load_history_read {
    double now_at_s; /* NAN: the end of the newest bucket */
    const struct load_series *series;
    size_t series_count;
};

/* Reads it: from the request, from a replay, or the stored averages of `ids`. */
enum error_code loads_read(struct request *rq, const struct load_request *in,
                           struct load_history_read *out);

/* Averages of 600 s that are stored, as samples at their begin, up to `at_s`. */
enum error_code loads_stored(struct request *rq, const char *const *ids, size_t id_count,
                             double at_s, double history_s,
                             const struct load_sample **samples, size_t *count);

/* The forecast of all resources together. horizon_s: of duration_matched; NAN: the mode
 * min_of_forecasts instead. */
enum error_code loads_forecast(struct request *rq, const struct load_request *in,
                               const struct load_history_read *history, double horizon_s,
                               struct load_forecast *out);

/* A forecast in an answer. */
struct load_row {
    const char *resource_id, *to_resource_id;
    double value, mae;
    int forecaster;
    uint64_t bucket_count;
};
struct load_answer {
    double cpu_available_ratio, bandwidth_mbps;
    int forecast_mode;
    double horizon_s;
    const struct load_row *resources;
    size_t resource_count;
    const char *const *missing;
    size_t missing_count;
};
extern const struct json_object load_answer_json;
void loads_answer(const struct load_forecast *forecast, struct load_answer *out,
                  struct arena *a);

/* For the metrics: a forecast of `value`, by a forecaster that was wrong by `mae` so far.
 */
void loads_count_error(const struct request *rq, enum forecaster forecaster, double value,
                       double mae);

#endif

/* forecast/forecast.h - which load a run will meet, from the load history.
 *
 * History is kept as averages of 600 s, aligned to the epoch. A forecast reads
 * the buckets that were complete at its time and began within history_s of it;
 * missing buckets are skipped, not filled.
 *
 * Three readings of "forecast the least average":
 *
 *     min_of_forecasts  forecast each resource and link, then take the minimum;
 *                       optimistic when loads change fast
 *     forecast_of_min   minimum of each interval in which all have a value, then
 *                       forecast that series; pessimistic for long runs
 *     duration_matched  the second, on averages as long as the run: blocks of
 *                       horizon_s that end at the newest bucket's end and go back
 *
 * Where the last two find no common interval, the first answers (mode_used).
 *
 * Source: spec performance-models.md, 9.1 and 9.2. Cost: O(buckets) for each
 * series, O(n log n) in their number.
 */
#ifndef GRIDPLAN_FORECAST_FORECAST_H
#define GRIDPLAN_FORECAST_FORECAST_H

#include "models/base/error.h"
#include "models/forecast/battery.h"
#include "models/load_history.h"

#include <stdbool.h>

#define LOAD_BUCKET_S      600.0   /* length of a bucket */
#define LOAD_HISTORY_S     86400.0 /* how far a forecast looks back unless it is told */
#define LOAD_HISTORY_MAX_S 3.2e8   /* ten years: bounds the work */

/* symbol, name on the wire, meaning */
#define FORECAST_MODES(X)                                                             \
    X(MIN_OF_FORECASTS, min_of_forecasts, "forecast each resource, then the minimum") \
    X(FORECAST_OF_MIN, forecast_of_min, "forecast the minimum of each 600 s")         \
    X(DURATION_MATCHED, duration_matched,                                             \
      "forecast the minimum of blocks of the run's "                                  \
      "length")

enum forecast_mode {
#define X(symbol, name, meaning) FORECAST_MODE_##symbol,
    FORECAST_MODES(X)
#undef X
};

/* Indexed by enum forecast_mode, ended by NULL. */
extern const char *const forecast_mode_names[];

/* The average of [start_at_s, start_at_s + 600). */
struct load_bucket {
    double start_at_s; /* instant, a multiple of 600 */
    double mean;       /* finite */
};

/* One resource's CPU or one link's bandwidth. */
struct load_series {
    const char *resource_id;    /* the resource, or where the link begins */
    const char *to_resource_id; /* where the link ends; NULL: the CPU of the resource */
    const struct load_bucket *buckets; /* ascending, none twice */
    size_t bucket_count;
};

/* Averages raw samples by their own time into buckets [k*600, (k+1)*600): one
 * series for each resource with a cpu_available_ratio and each link with a
 * bandwidth_mbps, in the order of first appearance. Ready averages may be given
 * as samples at their bucket's start. ERR_INVALID: a ratio outside [0, 1], a
 * bandwidth below 0 or not finite, an instant that is not finite (pointer
 * "/history/I/MEMBER"). O(n log n). */
enum error_code load_series_of_samples(const struct load_sample *samples, size_t count,
                                       struct load_series **series, size_t *series_count,
                                       struct arena *a, struct error *err);

struct load_forecast_in {
    const struct load_series *series; /* others than the chosen ones are passed over; of
                                         two for the same thing the first counts */
    size_t series_count;
    const char *const
        *resource_ids; /* the chosen processors, >= 1; equal ids count once */
    size_t resource_count;
    double now_at_s;  /* instant; buckets that end later are not read; NAN: all are
                         complete, and "now" is the end of the newest */
    double history_s; /* > 0, at most LOAD_HISTORY_MAX_S */
    enum forecast_mode mode;
    double horizon_s; /* duration_matched: length of the blocks, > 0; below 600: 600 */
};

struct resource_forecast {
    const char *resource_id, *to_resource_id; /* as in struct load_series */
    double value;                             /* ratio, or Mbit/s */
    double mae;                               /* of its forecaster; NAN: one bucket */
    enum forecaster forecaster;
    size_t bucket_count; /* read */
};

#define FORECAST_NO_HISTORY "no_load_history"

struct load_forecast {
    /* NULL: forecast made; else FORECAST_NO_HISTORY, with the chosen things that have
     * none in `missing`, as texts "n1" and "n1|n2", at most 20. */
    const char *reason;
    const char *const *missing;
    size_t missing_count; /* of them all */
    size_t missing_listed;
    double cpu_available_ratio;   /* NAN with a reason */
    double bandwidth_mbps;        /* NAN: one processor, or a reason */
    enum forecast_mode mode_used; /* min_of_forecasts where others found nothing */
    double horizon_s;             /* of the blocks; 600 otherwise */
    size_t interval_count;        /* common ones of the CPU series; 0: first mode */
    const struct resource_forecast
        *resources; /* processors, then links, each by itself */
    size_t resource_count;
};

/* ERR_INVALID: no processor, history_s or horizon_s out of bounds. A chosen pair needs a
 * series in one direction. */
enum error_code load_forecast(const struct load_forecast_in *in,
                              struct load_forecast *out, struct arena *a,
                              struct error *err);

/* horizon_s for a run of run_time_s seconds: up to whole 120 s, in [600, 7200].
 * Not a number: 600. */
double load_forecast_horizon_s(double run_time_s);

#endif

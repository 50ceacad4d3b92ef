/* forecast/battery.h - the next value of a series, by the forecaster that was best.
 *
 * Eighteen one-step forecasters run side by side. Each new value is compared
 * with what every one of them had said; the one with the least mean absolute
 * error so far answers, ties going to the lowest index. With fewer than two
 * values the answer is the last value. A forecast never leaves the range of the
 * values seen. Same values, same bits.
 *
 * Source: spec performance-models.md, section 9.3, after the forecasters of the
 * Network Weather Service. Adding a value costs some hundreds of steps, whatever
 * the length of the series.
 */
#ifndef GRIDPLAN_FORECAST_BATTERY_H
#define GRIDPLAN_FORECAST_BATTERY_H

#include <stddef.h>
#include <stdint.h>

/* name, kind, window or gain (adaptive ones: their first window), step */
#define FORECASTERS(X)                              \
    X(last, LAST, 0, 0)                             \
    X(run_mean, RUN_MEAN, 0, 0)                     \
    X(exp_05, EXPONENTIAL, 0.05, 0)                 \
    X(exp_10, EXPONENTIAL, 0.10, 0)                 \
    X(exp_15, EXPONENTIAL, 0.15, 0)                 \
    X(exp_20, EXPONENTIAL, 0.20, 0)                 \
    X(exp_30, EXPONENTIAL, 0.30, 0)                 \
    X(exp_40, EXPONENTIAL, 0.40, 0)                 \
    X(exp_50, EXPONENTIAL, 0.50, 0)                 \
    X(exp_75, EXPONENTIAL, 0.75, 0)                 \
    X(median_31, MEDIAN, 31, 0)                     \
    X(median_5, MEDIAN, 5, 0)                       \
    X(mean_31, MEAN, 31, 0)                         \
    X(mean_5, MEAN, 5, 0)                           \
    X(trimmed_31, TRIMMED, 31, 0)                   \
    X(trimmed_51, TRIMMED, 51, 0)                   \
    X(adaptive_median_5_21, ADAPTIVE_MEDIAN, 10, 1) \
    X(adaptive_median_21_51, ADAPTIVE_MEDIAN, 30, 5)

enum forecaster {
#define X(name, kind, setting, step) FORECASTER_##name,
    FORECASTERS(X)
#undef X
        FORECASTER_COUNT
};

/* Indexed by enum forecaster, ended by NULL. */
extern const char *const forecaster_names[];

enum { BATTERY_RECENT_MAX = 56 }; /* the longest window, 51, and one step beyond */

/* Zero it to begin; only battery_add() changes it. */
struct battery {
    size_t count;                        /* values seen */
    double mean;                         /* of all of them */
    double level[FORECASTER_COUNT];      /* of the exponential ones */
    double error_sum[FORECASTER_COUNT];  /* of |forecast - value| */
    double forecast[FORECASTER_COUNT];   /* of the next value; count > 0 */
    size_t window[FORECASTER_COUNT];     /* of the adaptive ones */
    double sorted[BATTERY_RECENT_MAX];   /* the last values, ascending, and when */
    uint64_t serial[BATTERY_RECENT_MAX]; /* each of them came, counted from 0 */
};

struct battery_forecast {
    double value;               /* NAN: no value was added */
    enum forecaster forecaster; /* that answered */
    double mae;                 /* its mean absolute error; NAN: fewer than two values */
};

/* `value` is finite. */
void battery_add(struct battery *b, double value);

struct battery_forecast battery_forecast(const struct battery *b);

/* Mean absolute error of one forecaster; NAN below two values. */
double battery_mae(const struct battery *b, enum forecaster f);

/* The forecast after a whole series; `count` may be 0. */
struct battery_forecast battery_run(const double *value, size_t count);

#endif

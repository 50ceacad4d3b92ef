/* failure_stats.h - what a history of failures says about a resource.
 *
 * A failure is an interval in which a resource was down. From the failures of
 * one resource, or of a group taken together, failure_stats_fit() counts and
 * averages, and fits the gaps between failures by three distributions. Real
 * histories have failures at the same instant, overlapping and open intervals,
 * and repairs of zero length: none of them breaks a figure.
 *
 * Times are seconds; instants may have any origin. What too few data leave
 * unknown is NAN, and each member says how many it needs.
 *
 * Source: spec fault-tolerance.md 2.2 and 3; B. Schroeder, G. Gibson, "A
 * large-scale study of failures in high-performance computing systems" (the
 * three distributions).
 */
#ifndef GRIDPLAN_FAILURE_STATS_H
#define GRIDPLAN_FAILURE_STATS_H

#include "models/base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct failure_interval {
    double down_at_s; /* finite */
    double up_at_s;   /* >= down_at_s; NAN: still down */
};

/* A Weibull shape that is capped here stands for gaps that are equal within
 * about 0.1 %: the likelihood then grows with the shape without limit. */
#define WEIBULL_SHAPE_MAX 1000.0

/* Distributions of positive values, by maximum likelihood. log_likelihood is
 * the sum of log densities with the values in seconds (in another unit u it is
 * greater by count * log(u)). */
struct weibull_fit {
    double shape, scale_s; /* NAN below 2 values */
    double log_likelihood; /* NAN below 2 values */
    bool capped;           /* shape is WEIBULL_SHAPE_MAX */
};

struct exponential_fit {
    double rate_per_s;     /* NAN without a value */
    double log_likelihood; /* NAN without a value */
};

struct lognormal_fit {
    double mu, sigma;      /* of log(seconds); NAN below 2 values or if all are equal */
    double log_likelihood; /* NAN likewise */
};

enum failure_model {
    FAILURE_MODEL_NONE, /* fewer than 3 gaps that are not zero */
    FAILURE_MODEL_EXPONENTIAL,
    FAILURE_MODEL_LOGNORMAL,
    FAILURE_MODEL_WEIBULL,
};

struct failure_stats {
    double from_s, to_s; /* the window that was used; NAN: no failure and no window */
    double window_s;     /* its length; NAN likewise */

    size_t failure_count;     /* intervals that begin in the window */
    size_t outage_count;      /* the same with overlapping and touching ones merged */
    double last_failure_at_s; /* latest begin in the window; NAN: none */
    bool down;                /* down at the window's end */
    double uptime_s;   /* since the last restore, or the window's begin; 0 while down */
    double downtime_s; /* of the window: time in which at least one interval is open */
    double availability_ratio; /* 1 - downtime_s / window_s; NAN: window of length 0 */

    /* Mean time between failures. The first is the mean gap between the begins
     * of consecutive failures, zero gaps included (NAN below 2 failures). The
     * others are the estimators of spec section 3; with no outage in the window
     * all three are the time observed (to the end, not to a last failure). */
    double mean_gap_s;
    double mtbf_censored_s;    /* window_s / outages */
    double mtbf_gap_mean_s;    /* (last_failure_at_s - from_s) / outages */
    double mtbf_uptime_mean_s; /* (window_s - downtime_s) / outages */

    /* Repairs: of failures that begin in the window and end in it. */
    size_t repair_count;
    double mttr_s;               /* mean, zero lengths included; NAN: no repair */
    double repair_median_s;      /* NAN: no repair */
    struct lognormal_fit repair; /* of repairs longer than 0 */

    /* Gaps between the begins of consecutive failures. */
    size_t zero_gap_count; /* simultaneous failures: left out of the fits */
    size_t gap_count;      /* those longer than 0 */
    struct weibull_fit weibull;
    struct exponential_fit exponential;
    struct lognormal_fit lognormal;
    enum failure_model best; /* least Akaike criterion; ties: the first in the enum */
};

/* Figures of the failures that touch the window [from_s, to_s]; either may be
 * NAN: the first begin, and the last begin or end. The intervals may come in
 * any order. What lies outside the window is cut off: a failure that began
 * earlier counts as downtime from from_s on but not as a failure, one that ends
 * later is open. O(n log n). Fails with ERR_INVALID when the window's end lies
 * before its begin. */
enum error_code failure_stats_fit(const struct failure_interval *failures, size_t count,
                                  double from_s, double to_s, struct failure_stats *out,
                                  struct arena *a, struct error *err);

/* The single fits; every value is > 0 and finite, in any order, O(count). Values
 * from 1e-300 to 1e300 are safe. */
struct weibull_fit failure_fit_weibull(const double *value_s, size_t count);
struct exponential_fit failure_fit_exponential(const double *value_s, size_t count);
struct lognormal_fit failure_fit_lognormal(const double *value_s, size_t count);

/* The model of least Akaike criterion; ties: the first in the enum. With *weibull the fit
 * of that name, whichever is best. */
enum failure_model failure_best_model(const double *value_s, size_t count,
                                      struct weibull_fit *weibull);

/* Mean of a Weibull distribution: scale_s * gamma(1 + 1/shape), may be infinite. */
double failure_weibull_mean_s(double shape, double scale_s);

/* Name for JSON: "none", "exponential", "lognormal", "weibull". */
const char *failure_model_name(enum failure_model model);

#endif

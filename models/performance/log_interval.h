/* performance/log_interval.h - intervals from errors of runs that were not fitted to.
 *
 * An error is r = ln(actual / predicted). What a question may be off by depends on how
 * near it is to what was seen, so errors are kept in three groups: of configurations
 * (all inputs equal) that were seen, of others inside the ranges seen, and of those
 * outside. With s0 the shrunk median of a group's errors and q a quantile of
 * |error| / s0, mixed with a table of a heavy tail while few errors are known,
 *
 *     half = q (s0 + u) (1 + 0.3 ln min(d, 1000)) sqrt(1 + 1/n)
 *     interval = time exp(-half) .. time exp(half)
 *
 * u: spread of the members of an ensemble at the question (0: one model); d: how far
 * outside the question lies; n: runs of its configuration (only where it was seen).
 * The coverage is measured, not proven: runs are neither exchangeable nor unseen.
 *
 * Source: spec learning.md 4; the table is Student's t with 3 degrees of freedom at 20
 * middle quantiles over its median. The run not yet seen counts as in conformal
 * prediction (V. Vovk et al., "Algorithmic Learning in a Random World", 2005).
 */
#ifndef GRIDPLAN_PERFORMANCE_LOG_INTERVAL_H
#define GRIDPLAN_PERFORMANCE_LOG_INTERVAL_H

#include "models/base/error.h"

#include <stdbool.h>
#include <stddef.h>

/* symbol, name on the wire, meaning */
#define LOG_GROUPS(X)                                                          \
    X(SAME, same_configuration, "all inputs are those of runs that were seen") \
    X(INSIDE, inside, "inside the ranges of the inputs seen")                  \
    X(OUTSIDE, extrapolation, "outside them, or with an input that is missing")

enum log_group {
#define X(symbol, name, meaning) LOG_##symbol,
    LOG_GROUPS(X)
#undef X
        LOG_GROUP_COUNT
};
extern const char *const log_group_names[]; /* ended by NULL */

enum { LOG_ERRORS_MAX = 500, LOG_RECENT_MAX = 500 };

/* An error of a cross-validation. */
struct log_error {
    double size;   /* ln(actual / predicted); or its size, where no sign is known */
    double spread; /* u there, >= 0 */
    double configuration; /* which, whole, >= 0 */
};

struct log_errors {
    struct log_error *list; /* at most LOG_ERRORS_MAX */
    size_t count;
};

/* Errors of predictions made before their runs were learnt, each over the half-width at
 * q = 1; the latest, in a ring. */
struct log_recent {
    double value[LOG_RECENT_MAX];
    size_t count, next;
};

void log_recent_add(struct log_recent *recent, double value);

/* What the interval of a group is made of. */
struct log_set {
    double scale;  /* s0 */
    double *value; /* ascending */
    double *weight;
    size_t count;       /* of values, without the table */
    double weight_sum;  /* of them */
    size_t error_count; /* errors and recent values that it rests on */
};

/* errors and recent: one of each group. Fails with ERR_TOO_LARGE only. */
void log_set_of(const struct log_errors *errors, const struct log_recent *recent,
                enum log_group group, struct log_set *out, struct arena *a);

/* Errors of the group, and of those that join it, with their signs, each over the scale
 * and its spread; the latest `most` of its own where it has so many. How many go to out.
 */
size_t log_set_errors(const struct log_errors *errors, enum log_group group, double scale,
                      size_t most, double *out, struct arena *a);

/* q of a level in (0, 1). */
double log_set_quantile(const struct log_set *set, double level);

/* Half of the interval, in logarithms. distance: d >= 1; runs: n of a configuration that
 * was seen, 0: it was not; constant_distance: d over the inputs that never varied. */
double log_half(double quantile, double scale, double spread, double distance,
                double runs, double constant_distance);

/* How far x lies outside [low, high]: 1 inside, a ratio of positive ends, 2 where there
 * is none. */
double log_distance(double x, double low, double high);

/* Configuration i of `count` belongs to fold: of each its own while there are fewer than
 * ten, else one of five. */
size_t log_fold_count(size_t count);
size_t log_fold_of(size_t i, size_t count);

#endif

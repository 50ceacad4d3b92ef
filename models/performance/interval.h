/* performance/interval.h - how far a predicted time may be off.
 *
 * The ratios actual / predicted of earlier runs, sorted, are read as a
 * distribution: with level q
 *
 *     low = t * Q((1 - q) / 2)     high = t * Q((1 + q) / 2)
 *
 * where Q(p) interpolates linearly at position p * (n - 1), from 0. The last 50
 * executions that had a prediction count, outliers too. With fewer than 10 of
 * them the ratios of the model's own training rows (of the reference cluster's
 * executions for a ported model) stand in. Fewer than 3: no interval.
 *
 * Source: spec performance-models.md, 9.4. O(n log n).
 */
#ifndef GRIDPLAN_PERFORMANCE_INTERVAL_H
#define GRIDPLAN_PERFORMANCE_INTERVAL_H

#include "models/base/error.h"

#define PREDICTION_LEVEL 0.8 /* unless another is asked for */

enum {
    PREDICTION_RATIOS_MAX = 50, /* executions that count */
    PREDICTION_RATIOS_OWN = 10, /* executions from which on nothing else is needed */
    PREDICTION_RATIOS_MIN = 3,  /* below: no interval */
};

/* symbol, name on the wire, meaning */
#define PREDICTION_BASES(X)                                                      \
    X(NONE, none, "too little is known for an interval")                         \
    X(EXECUTIONS, executions, "actual / predicted of the latest executions")     \
    X(TRAINING, training, "actual / fitted of the runs the model was fitted to") \
    X(REFERENCE, reference, "executions on the reference cluster of a ported model")

enum prediction_basis {
#define X(symbol, name, meaning) PREDICTION_BASIS_##symbol,
    PREDICTION_BASES(X)
#undef X
};

/* Indexed by enum prediction_basis, ended by NULL. */
extern const char *const prediction_basis_names[];

struct prediction_ratios {
    const double *executions; /* actual / predicted, oldest first */
    size_t execution_count;
    const double *others; /* what stands in for them; may be NULL */
    size_t other_count;
    enum prediction_basis others_basis; /* TRAINING or REFERENCE */
};

struct prediction_interval {
    double low_s, high_s; /* NAN with basis NONE */
    double level;
    enum prediction_basis basis;
    size_t ratio_count; /* that were used */
};

/* time_s > 0 and finite, 0 < level < 1. Ratios that are not finite or not > 0
 * are passed over. Fails with ERR_TOO_LARGE only. */
enum error_code prediction_interval(double time_s, double level,
                                    const struct prediction_ratios *ratios,
                                    struct prediction_interval *out, struct arena *a,
                                    struct error *err);

#endif

/* performance/interval.c - how far a predicted time may be off. */
#include "models/performance/interval.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

const char *const prediction_basis_names[] = {
#define X(symbol, name, meaning) #name,
    PREDICTION_BASES(X)
#undef X
        NULL,
};

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

double sorted_quantile(const double *sorted, size_t count, double p)
{
    double at = p * (double)(count - 1);
    size_t below = (size_t)at;

    if (below + 1 >= count)
        return sorted[count - 1];
    return sorted[below] + (sorted[below + 1] - sorted[below]) * (at - (double)below);
}

static bool usable(double ratio)
{
    return ratio > 0 && isfinite(ratio);
}

/* Copies the last `most` usable ratios; their number. */
static size_t take_last(const double *ratio, size_t count, size_t most, double *out)
{
    size_t taken = 0;

    for (size_t i = count; i > 0 && taken < most; i--) {
        if (usable(ratio[i - 1]))
            out[taken++] = ratio[i - 1];
    }
    return taken;
}

enum error_code prediction_interval(double time_s, double level,
                                    const struct prediction_ratios *ratios,
                                    struct prediction_interval *out, struct arena *a,
                                    struct error *err)
{
    struct prediction_interval p = {NAN, NAN, level, PREDICTION_BASIS_NONE, 0};
    double *sorted = NEW(a, double, PREDICTION_RATIOS_MAX + ratios->other_count);

    assert(level > 0 && level < 1);
    if (!sorted)
        return fail_memory(err);
    p.basis = PREDICTION_BASIS_EXECUTIONS;
    p.ratio_count = take_last(ratios->executions, ratios->execution_count,
                              PREDICTION_RATIOS_MAX, sorted);
    if (p.ratio_count < PREDICTION_RATIOS_OWN) {
        p.basis = ratios->others_basis;
        p.ratio_count =
            take_last(ratios->others, ratios->other_count, ratios->other_count, sorted);
    }
    if (p.ratio_count < PREDICTION_RATIOS_MIN) {
        p.basis = PREDICTION_BASIS_NONE;
        *out = p;
        return OK;
    }
    qsort(sorted, p.ratio_count, sizeof(*sorted), compare_doubles);
    p.low_s = time_s * sorted_quantile(sorted, p.ratio_count, (1 - level) / 2);
    p.high_s = time_s * sorted_quantile(sorted, p.ratio_count, (1 + level) / 2);
    *out = p;
    return OK;
}

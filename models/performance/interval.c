/* performance/interval.c - how far a predicted time may be off. */
#include "models/performance/interval.h"

#include "models/base/order.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>

const char *const prediction_basis_names[] = {
#define X(symbol, name, meaning) #name,
    PREDICTION_BASES(X)
#undef X
        NULL,
};

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

    (void)err;
    assert(level > 0 && level < 1);
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
    sort_numbers(sorted, p.ratio_count);
    p.low_s = time_s * sorted_quantile(sorted, p.ratio_count, (1 - level) / 2);
    p.high_s = time_s * sorted_quantile(sorted, p.ratio_count, (1 + level) / 2);
    *out = p;
    return OK;
}

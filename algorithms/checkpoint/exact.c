/* checkpoint/exact.c - the interval of least expected time.
 *
 * Under a constant failure rate 1/M the expected time per second of work is
 * least for
 *
 *     I = M y,  y the root of -(log(1 - y) + y) = C/M in [0, 1),
 *
 * which is M * (1 + W0(-exp(-1 - C/M))) without Lambert's W. The restart time
 * has no part in it.
 *
 * Source: spec fault-tolerance.md 5.4. Deviation: Newton's method from the
 * right, which cannot overshoot, instead of bisection.
 */
#include "algorithms/checkpoint/checkpoint.h"

const struct param checkpoint_exact_params[] = {CHECKPOINT_ROWS(0), {0}};

static double interval_s(double overhead_s, double mean_s)
{
    struct checkpoint_in in = {.checkpoint_overhead_s = overhead_s,
                               .mean_failure_interval_s = mean_s};

    return checkpoint_best_interval_s(&in);
}

enum error_code checkpoint_exact(const struct checkpoint_in *in, const double *param,
                                 struct checkpoint_out *out, struct error *err)
{
    (void)err;
    checkpoint_by_formula(in, param, interval_s, out);
    return OK;
}

/* checkpoint/daly.c - Daly's higher-order interval.
 *
 *     I = sqrt(2 C M) * (1 + sqrt(C/(2 M))/3 + C/(18 M)) - C   if C < 2 M
 *     I = M                                                    otherwise
 *
 * Source: J. T. Daly, "A higher order estimate of the optimum checkpoint
 * interval for restart dumps", Future Generation Computer Systems 22, 2006,
 * equation 37; spec fault-tolerance.md 5.4.
 */
#include "algorithms/checkpoint/checkpoint.h"

const struct param checkpoint_daly_params[] = {CHECKPOINT_ROWS(0), {0}};

static double interval_s(double overhead_s, double mean_s)
{
    if (overhead_s >= 2 * mean_s)
        return mean_s;
    return sqrt(2 * overhead_s * mean_s) *
               (1 + sqrt(overhead_s / (2 * mean_s)) / 3 + overhead_s / (18 * mean_s)) -
           overhead_s;
}

enum error_code checkpoint_daly(const struct checkpoint_in *in, const double *param,
                                struct checkpoint_out *out, struct error *err)
{
    (void)err;
    checkpoint_by_formula(in, param, interval_s, out);
    return OK;
}

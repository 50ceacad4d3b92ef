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

#include <math.h>

const struct param checkpoint_daly_params[] = {
    [CHECKPOINT_MIN_INTERVAL] = CHECKPOINT_MIN_INTERVAL_ROW,
    {0},
};

enum error_code checkpoint_daly(const struct checkpoint_in *in, const double *param,
                                struct checkpoint_out *out, struct error *err)
{
    double cost_s = in->checkpoint_overhead_s;
    double mean_s = in->mean_failure_interval_s;
    double interval_s = mean_s;

    (void)err;
    if (cost_s < 2 * mean_s)
        interval_s = sqrt(2 * cost_s * mean_s) *
                         (1 + sqrt(cost_s / (2 * mean_s)) / 3 + cost_s / (18 * mean_s)) -
                     cost_s;
    checkpoint_set_interval(interval_s, param[CHECKPOINT_MIN_INTERVAL], out);
    return OK;
}

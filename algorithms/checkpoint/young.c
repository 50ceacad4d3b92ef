/* checkpoint/young.c - Young's first-order interval.
 *
 *     I = sqrt(2 C M)
 *
 * A good interval while checkpoints are cheap beside the time between failures,
 * C << M; beyond C = M/2 it is longer than M.
 *
 * Source: J. W. Young, "A first order approximation to the optimum checkpoint
 * interval", Communications of the ACM 17(9), 1974; spec fault-tolerance.md 5.4.
 */
#include "algorithms/checkpoint/checkpoint.h"

const struct param checkpoint_young_params[] = {CHECKPOINT_ROWS(0), {0}};

static double interval_s(double overhead_s, double mean_s)
{
    return sqrt(2 * overhead_s * mean_s);
}

enum error_code checkpoint_young(const struct checkpoint_in *in, const double *param,
                                 struct checkpoint_out *out, struct error *err)
{
    (void)err;
    checkpoint_by_formula(in, param, interval_s, out);
    return OK;
}

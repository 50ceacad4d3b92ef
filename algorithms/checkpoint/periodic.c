/* checkpoint/periodic.c - PeriodicCP: always the initial interval.
 *
 * Takes every checkpoint, whatever is known of the resource: the baseline that
 * the adaptive policies are measured by.
 *
 * Source: 000_168dd5aef5075332.txt, chapter 4 [L756, L1305]; spec
 * fault-tolerance.md 5.1.
 */
#include "algorithms/checkpoint/checkpoint.h"

const struct param checkpoint_periodic_params[] = {CHECKPOINT_ROWS(0), {0}};

enum error_code checkpoint_periodic(const struct checkpoint_in *in, const double *param,
                                    struct checkpoint_out *out, struct error *err)
{
    (void)err;
    checkpoint_set_minimum(in, param, out);
    checkpoint_set_interval(in, checkpoint_initial_s(in, param),
                            CHECKPOINT_REASON_PERIODIC, out);
    return OK;
}

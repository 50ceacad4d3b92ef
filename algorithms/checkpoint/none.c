/* checkpoint/none.c - never checkpoint.
 *
 * What checkpointing is compared with: a job that its resource loses starts anew.
 *
 * Source: spec fault-tolerance.md 5.4.
 */
#include "algorithms/checkpoint/checkpoint.h"

const struct param checkpoint_none_params[] = {CHECKPOINT_ROWS(0), {0}};

enum error_code checkpoint_none(const struct checkpoint_in *in, const double *param,
                                struct checkpoint_out *out, struct error *err)
{
    (void)err;
    checkpoint_set_minimum(in, param, out);
    checkpoint_set_interval(in, HUGE_VAL, CHECKPOINT_REASON_NEVER, out);
    out->action = CHECKPOINT_NONE;
    out->reason = CHECKPOINT_REASON_NEVER;
    out->min_interval_raised = false;
    return OK;
}

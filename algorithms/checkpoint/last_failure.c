/* checkpoint/last_failure.c - LastFailureCP: omit needless checkpoints.
 *
 * A resource that has been up for longer than the whole job takes is deemed
 * stable: the checkpoint is omitted. With the run time E, the last failure LF and
 * the interval I, at a request:
 *
 *     now - LF <= E                       take
 *     as many omitted in a row as may be  take
 *     otherwise                           omit
 *     next request after I, from the checkpoint's end if it is taken
 *
 * E is the time of the whole job, not what remains of it. Until a resource first
 * fails LF is when it was first seen, so that young grids checkpoint everything.
 * Nothing known of failures, or a failure in the future: take. O(1).
 *
 * Source: 000_168dd5aef5075332.txt, 4.3.2 [L1303-1311]; 002_6355fdf65728109f.txt,
 * 3.2 [L113-115]; spec fault-tolerance.md 5.2.
 * Deviation: an upper quantile of E takes its place, if one is given (spec 12).
 */
#include "algorithms/checkpoint/checkpoint.h"

const struct param checkpoint_last_failure_params[] = {CHECKPOINT_ROWS(0), {0}};

enum error_code checkpoint_last_failure(const struct checkpoint_in *in,
                                        const double *param, struct checkpoint_out *out,
                                        struct error *err)
{
    double time_s = fmax(in->execution_time_s, in->execution_time_upper_s);

    if (isnan(time_s))
        return fail(err, ERR_INVALID, "", "last_failure needs the execution time");
    checkpoint_set_minimum(in, param, out);
    checkpoint_set_interval(in, checkpoint_initial_s(in, param),
                            CHECKPOINT_REASON_FAILED_RECENTLY, out);
    if (in->start || !(in->failure_age_s > time_s))
        return OK;
    if ((double)in->consecutive_omissions >= param[CHECKPOINT_OMISSIONS_MAX]) {
        out->reason = CHECKPOINT_REASON_OMISSION_LIMIT;
        return OK;
    }
    out->action = CHECKPOINT_OMIT;
    out->reason = CHECKPOINT_REASON_RESOURCE_STABLE;
    out->consecutive_omissions = in->consecutive_omissions + 1;
    return OK;
}

/* checkpoint/mean_failure.c - MeanFailureCP: move the interval step by step.
 *
 * Repairs an interval that was chosen badly, in either direction. Every request
 * is honoured. With run time E, remaining time RE, mean time between failures MF,
 * interval I_cur, and the least interval I_min:
 *
 *     start       I_cur = I, first request after first_checkpoint_after_s
 *     RE < MF and I_cur < alpha * E     I_cur + step
 *     otherwise                         max(I_min, I_cur - step)
 *
 * The step is I, or interval_step_s, or a share of E. The test looks at the old
 * interval, so that one step may lead beyond alpha * E. O(1).
 *
 * Source: 000_168dd5aef5075332.txt, 4.3.3 [L1313-1317, L1359];
 * 002_6355fdf65728109f.txt, 3.3 [L117-121]; spec fault-tolerance.md 5.3.
 * Deviation: where the sources only ask for an interval above I_min, we stop at
 * I_min: without that an interval equal to I could never become shorter. MF
 * unknown or infinite: the time since the last failure takes its place. An upper
 * quantile of RE takes its place, if one is given (spec 12).
 */
#include "algorithms/checkpoint/checkpoint.h"

const struct param checkpoint_mean_failure_params[] = {CHECKPOINT_ROWS(0.01), {0}};

static double step_s(const struct checkpoint_in *in, const double *param)
{
    double share_s = param[CHECKPOINT_STEP_FRACTION] * in->execution_time_s;

    if (param[CHECKPOINT_STEP] > 0)
        return param[CHECKPOINT_STEP];
    return isfinite(share_s) ? share_s : checkpoint_initial_s(in, param);
}

static void start(const struct checkpoint_in *in, const double *param,
                  struct checkpoint_out *out)
{
    double first_s = param[CHECKPOINT_FIRST_AFTER];

    checkpoint_set_interval(in, checkpoint_initial_s(in, param),
                            CHECKPOINT_REASON_STARTED, out);
    out->next_request_in_s = first_s;
    if (first_s >= in->execution_time_s) {
        out->reason = CHECKPOINT_REASON_TOO_SHORT;
        out->next_request_in_s = HUGE_VAL;
    }
}

enum error_code checkpoint_mean_failure(const struct checkpoint_in *in,
                                        const double *param, struct checkpoint_out *out,
                                        struct error *err)
{
    double remaining_s = fmax(in->remaining_s, in->remaining_upper_s);
    double cur_s =
        in->interval_cur_s > 0 ? in->interval_cur_s : checkpoint_initial_s(in, param);

    if (isnan(in->execution_time_s) || (isnan(remaining_s) && !in->start))
        return fail(err, ERR_INVALID, "",
                    "mean_failure needs the execution and the remaining time");
    checkpoint_set_minimum(in, param, out);
    checkpoint_raise_minimum(in, out);
    if (in->start) {
        start(in, param, out);
        return OK;
    }
    if (remaining_s < checkpoint_mean_s(in) &&
        cur_s < param[CHECKPOINT_ALPHA] * in->execution_time_s) {
        checkpoint_set_interval(in, cur_s + step_s(in, param), CHECKPOINT_REASON_LONGER,
                                out);
        return OK;
    }
    checkpoint_set_interval(in, cur_s - step_s(in, param),
                            cur_s <= out->min_interval_s ? CHECKPOINT_REASON_AT_MINIMUM
                                                         : CHECKPOINT_REASON_SHORTER,
                            out);
    return OK;
}

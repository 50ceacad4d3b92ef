/* checkpoint/weibull.c - Young's interval with the hazard of the moment.
 *
 *     I = sqrt(2 C / h(a)),  h(a) = shape/scale * (a/scale)^(shape - 1)
 *
 * a is the time since the resource was last restored. Real machines mostly have
 * shapes below 1: the longer they live, the less likely they fail soon, and the
 * longer is the interval; at a = 0 it is the least one. Shape 1 is young with
 * M = scale. Shape and scale are the options, else the fit of the resource's own
 * gaps between failures, or of its site's. O(1).
 *
 * Source: spec fault-tolerance.md 5.4.
 * Deviation: for shapes above 1, whose hazard begins at 0, the interval is at most
 * the scale, by which 63 % of such resources have failed. Without shape, scale or
 * age: young, and history_too_short says so.
 */
#include "algorithms/checkpoint/checkpoint.h"

const struct param checkpoint_weibull_params[] = {CHECKPOINT_ROWS(0), {0}};

enum error_code checkpoint_weibull(const struct checkpoint_in *in, const double *param,
                                   struct checkpoint_out *out, struct error *err)
{
    bool given =
        param[CHECKPOINT_WEIBULL_SHAPE] > 0 && param[CHECKPOINT_WEIBULL_SCALE] > 0;
    double shape = given ? param[CHECKPOINT_WEIBULL_SHAPE] : in->weibull_shape;
    double scale_s = given ? param[CHECKPOINT_WEIBULL_SCALE] : in->weibull_scale_s;
    double age_s = isnan(in->uptime_s) ? in->failure_age_s : in->uptime_s;
    double interval_s = 0;

    if (!(shape > 0 && scale_s > 0 && age_s >= 0)) {
        TRY(checkpoint_young(in, param, out, err));
        out->history_too_short = true;
        return OK;
    }
    if (in->checkpoint_overhead_s > 0) /* 1/h, which may be 0 or infinite */
        interval_s = sqrt(2 * in->checkpoint_overhead_s * (scale_s / shape) *
                          pow(age_s / scale_s, 1 - shape));
    if (shape > 1)
        interval_s = fmin(interval_s, scale_s);
    checkpoint_set_minimum(in, param, out);
    checkpoint_set_interval(in, interval_s, CHECKPOINT_REASON_BEST_INTERVAL, out);
    return OK;
}

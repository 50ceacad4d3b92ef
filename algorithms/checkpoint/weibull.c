/* checkpoint/weibull.c - Young's interval with the hazard in its middle.
 *
 *     x = sqrt(2 C / h(t + x/2)),  h(t) = sum over the nodes of
 *         shape/scale * ((age + t)/scale)^(shape - 1)      Weibull, or 1/M
 *
 * found by x <- sqrt(x * sqrt(2 C / h(t + x/2))) from Young's. t is the time that
 * passes before the work does: a restart, if the resource has just been restored. The
 * hazard at age 0, which is infinite for shapes below 1 and 0 above, is never looked
 * at. Of a job that ends the work q that is left is cut into r = q/x, rounded, equal
 * segments while these are few: r <= 1 runs to the end, r <= 4 takes (q - C)/r. Shape
 * and scale are the options, else those of the nodes. O(nodes) for each of some steps.
 *
 * Source: spec reliability.md 3.4 and 2.5.
 * Deviation: without shape, scale or age: young, and history_too_short says so.
 */
#include "algorithms/checkpoint/checkpoint.h"

const struct param checkpoint_weibull_params[] = {CHECKPOINT_ROWS(0), {0}};

/* The nodes, `count` laws. */
struct hazard {
    const struct checkpoint_law *laws;
    size_t count;
};

static double hazard_at(const struct hazard *h, double t_s)
{
    double sum = 0;

    for (size_t i = 0; i < h->count; i++) {
        const struct checkpoint_law *law = &h->laws[i];
        double each = 1 / law->mean_s;

        if (law->shape > 0)
            each = law->shape / law->scale_s *
                   pow((law->age_s + t_s) / law->scale_s, law->shape - 1);
        sum += law->count * each;
    }
    return sum;
}

static double mean_of(const struct hazard *h)
{
    double rate = 0;

    for (size_t i = 0; i < h->count; i++) {
        const struct checkpoint_law *law = &h->laws[i];

        rate += law->count / (law->shape > 0
                                  ? failure_weibull_mean_s(law->shape, law->scale_s)
                                  : law->mean_s);
    }
    return 1 / rate;
}

/* x, 0 if C is. */
static double midpoint_s(const struct hazard *h, double overhead_s, double t_s)
{
    enum { STEPS_MAX = 60 };
    double x = sqrt(2 * overhead_s * mean_of(h));

    for (int step = 0; step < STEPS_MAX && x > 0; step++) {
        double hazard = hazard_at(h, t_s + x / 2);
        double next = hazard > 0 ? sqrt(x * sqrt(2 * overhead_s / hazard)) : x;
        bool is_done = !(fabs(next - x) >= 1e-9 * x);

        x = next;
        if (is_done)
            break;
    }
    return x;
}

/* The laws of the input: its list, or the options, or the fit of its resource. */
static bool find_hazard(const struct checkpoint_in *in, const double *param,
                        struct checkpoint_law *own, struct hazard *out)
{
    bool given =
        param[CHECKPOINT_WEIBULL_SHAPE] > 0 && param[CHECKPOINT_WEIBULL_SCALE] > 0;

    *out = (struct hazard){in->laws, in->law_count};
    if (in->law_count > 0 && !given)
        return true;
    *own = (struct checkpoint_law){
        .shape = given ? param[CHECKPOINT_WEIBULL_SHAPE] : in->weibull_shape,
        .scale_s = given ? param[CHECKPOINT_WEIBULL_SCALE] : in->weibull_scale_s,
        .age_s = isnan(in->uptime_s) ? in->failure_age_s : in->uptime_s,
        .mean_s = (double)NAN,
        .count = 1,
    };
    *out = (struct hazard){own, 1};
    return own->shape > 0 && own->scale_s > 0 && own->age_s >= 0;
}

enum error_code checkpoint_weibull(const struct checkpoint_in *in, const double *param,
                                   struct checkpoint_out *out, struct error *err)
{
    double left_s = in->start ? in->execution_time_s : in->remaining_s;
    bool is_restarted = !in->start && in->uptime_s <= 0;
    struct checkpoint_law own;
    struct hazard hazard;
    double interval_s, pieces;

    if (!find_hazard(in, param, &own, &hazard)) {
        TRY(checkpoint_young(in, param, out, err));
        out->history_too_short = true;
        return OK;
    }
    interval_s =
        midpoint_s(&hazard, in->checkpoint_overhead_s, is_restarted ? in->restart_s : 0);
    pieces = interval_s > 0 ? round(left_s / interval_s) : HUGE_VAL;
    if (pieces > 1 && pieces <= 4)
        interval_s = (left_s - in->checkpoint_overhead_s) / pieces;
    checkpoint_set_minimum(in, param, out);
    checkpoint_set_floored(in, param, interval_s, out);
    if (pieces <= 1) {
        out->next_request_in_s = HUGE_VAL;
        out->reason = in->start ? CHECKPOINT_REASON_TOO_SHORT : out->reason;
    }
    checkpoint_spare(in, out);
    return OK;
}

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
 * For a job that ends on one node the dynamic programme of renewal.h may decide instead
 * (option method), with a bound on what is possible.
 *
 * Source: spec reliability.md 3.4 and 2.5.
 * Deviation: without shape, scale or age: young, and history_too_short says so.
 */
#include "algorithms/checkpoint/checkpoint.h"

const struct param checkpoint_weibull_params[] = {CHECKPOINT_ROWS(0), {0}};

/* x, 0 if C is. */
double checkpoint_midpoint_s(const struct job_hazard *h, double overhead_s, double t_s)
{
    enum { STEPS_MAX = 60 };
    double x = sqrt(2 * overhead_s * job_hazard_mean_s(h));

    for (int step = 0; step < STEPS_MAX && x > 0; step++) {
        double hazard = job_hazard_per_s(h, t_s + x / 2);
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
                        struct failure_law *own, struct job_hazard *out)
{
    bool given =
        param[CHECKPOINT_WEIBULL_SHAPE] > 0 && param[CHECKPOINT_WEIBULL_SCALE] > 0;

    *out = (struct job_hazard){in->laws, in->law_count};
    if (in->law_count > 0 && !given)
        return true;
    *own = (struct failure_law){
        .shape = given ? param[CHECKPOINT_WEIBULL_SHAPE] : in->weibull_shape,
        .scale_s = given ? param[CHECKPOINT_WEIBULL_SCALE] : in->weibull_scale_s,
        .age_s = isnan(in->uptime_s) ? in->failure_age_s : in->uptime_s,
        .mean_s = (double)NAN,
        .count = in->node_count > 0 ? in->node_count : 1,
    };
    *out = (struct job_hazard){own, 1};
    return own->shape > 0 && own->scale_s > 0 && own->age_s >= 0;
}

double checkpoint_midpoint_segment_s(double interval_s, double left_s, double overhead_s)
{
    double pieces = interval_s > 0 ? round(left_s / interval_s) : HUGE_VAL;

    if (pieces <= 1)
        return left_s;
    return pieces <= 4 ? (left_s - overhead_s) / pieces : interval_s;
}

/* ---- the dynamic programme ---- */

/* Intervals in the work that is left, up to which `auto` takes it. */
#define DP_INTERVALS_MAX 100.0

/* ... and up to which its grid is fine enough for who asks for it. */
#define DP_INTERVALS_MOST 500.0

/* The job for it. false: its end is not known. */
static bool renewal_job_of(const struct checkpoint_in *in, const struct failure_law *law,
                           double interval_s, struct renewal_job *out)
{
    bool is_whole = in->start || !in->remaining_is_known;
    double left_s = is_whole ? in->execution_time_s : in->remaining_s;
    double done_s = in->execution_time_s - left_s;
    double since_s = checkpoint_since_s(in, interval_s);
    bool is_weibull = failure_law_is_weibull(law);

    *out = (struct renewal_job){
        .work_s = left_s,
        .since_image_s = is_whole ? 0 : fmin(since_s, fmax(0, done_s)),
        .overhead_s = in->checkpoint_overhead_s,
        .restart_s = in->restart_s,
        .scratch_s = in->restart_from_scratch_s,
        .delay_s = in->reschedule_delay_s,
        .has_image = checkpoint_image(in, interval_s) > 0,
        .shape = is_weibull ? law->shape : 1,
        .scale_s = is_weibull ? law->scale_s : law->mean_s,
        .age_s = law->age_s,
    };
    return left_s > 0 && isfinite(left_s) && isfinite(out->scale_s) &&
           isfinite(out->restart_s);
}

static bool wants_table(const struct checkpoint_in *in, const double *param,
                        const struct job_hazard *h, double left_s, double interval_s)
{
    if (!in->arena || h->count != 1 || h->laws[0].count > 1 ||
        param[CHECKPOINT_METHOD_OPTION] == CHECKPOINT_METHOD_MIDPOINT)
        return false;
    return param[CHECKPOINT_METHOD_OPTION] == CHECKPOINT_METHOD_DP ||
           (in->few_jobs && left_s <= DP_INTERVALS_MAX * interval_s);
}

/* The bound's integrals are known to be right for these shapes. */
#define BOUND_SHAPE_MIN 0.1
#define BOUND_SHAPE_MAX 20.0

static bool wants_bound(const struct checkpoint_in *in, const double *param, double shape)
{
    if (shape < BOUND_SHAPE_MIN || shape > BOUND_SHAPE_MAX)
        return false;
    return param[CHECKPOINT_BOUND_OPTION] == CHECKPOINT_BOUNDS_DP ||
           (param[CHECKPOINT_BOUND_OPTION] == CHECKPOINT_BOUNDS_AUTO && in->few_jobs);
}

/* What it says of a job that asks at an image. */
static void answer_request(const struct checkpoint_in *in,
                           const struct renewal_answer *best, struct checkpoint_out *out)
{
    double left_s = in->remaining_s;

    if (!(best->first_s > 0)) {
        out->next_request_in_s = best->next_s >= left_s ? HUGE_VAL : best->next_s;
        return;
    }
    checkpoint_omit(in, best->first_s >= left_s ? HUGE_VAL : best->first_s, out);
}

/* Decides by the table. false: its end is not known, or there was no time. */
static bool by_table(const struct checkpoint_in *in, const double *param,
                     const struct job_hazard *h, double interval_s,
                     struct checkpoint_out *out)
{
    bool is_whole = in->start || !in->remaining_is_known;
    struct renewal_table *table;
    struct renewal_answer best;
    struct renewal_job job;

    if (!renewal_job_of(in, h->laws, interval_s, &job) ||
        !wants_table(in, param, h, job.work_s, interval_s))
        return false;
    table = NEW(in->arena, struct renewal_table, 1);
    if (job.work_s + job.since_image_s > DP_INTERVALS_MOST * interval_s ||
        !renewal_solve(&job, in->budget, table, in->arena)) {
        out->was_cut = true;
        return false;
    }
    out->has_image = job.has_image;
    best = renewal_decide(table);
    checkpoint_set_floored(in, param, best.first_s > 0 ? best.first_s : best.next_s, out);
    out->table = table;
    if (!is_whole) {
        answer_request(in, &best, out);
        return true;
    }
    out->never_ends = !isfinite(best.value_s);
    if (!out->never_ends)
        out->expected_completion_s = best.value_s;
    if (best.first_s >= job.work_s) {
        out->next_request_in_s = HUGE_VAL;
        out->reason = in->start ? CHECKPOINT_REASON_TOO_SHORT : out->reason;
    }
    if (out->never_ends || !wants_bound(in, param, job.shape))
        return true;
    out->lower_bound_s = renewal_bound_s(&job, in->budget, in->arena);
    out->was_cut = isnan(out->lower_bound_s);
    out->bound = out->was_cut ? CHECKPOINT_BOUND_NONE : CHECKPOINT_BOUND_DP;
    return true;
}

enum error_code checkpoint_weibull(const struct checkpoint_in *in, const double *param,
                                   struct checkpoint_out *out, struct error *err)
{
    double left_s = in->start ? in->execution_time_s : in->remaining_s;
    bool is_restarted = !in->start && in->uptime_s <= 0;
    struct failure_law own;
    struct job_hazard hazard;
    double interval_s, segment_s;
    bool ends;

    if (!find_hazard(in, param, &own, &hazard)) {
        TRY(checkpoint_young(in, param, out, err));
        out->history_too_short = true;
        return OK;
    }
    checkpoint_set_minimum(in, param, out);
    out->by_law = !job_hazard_is_constant(&hazard);
    out->law = hazard.count == 1 ? hazard.laws[0] : (struct failure_law){0, 0, 0, 0, 0};
    out->expected_completion_s = out->lower_bound_s = (double)NAN;
    interval_s = checkpoint_midpoint_s(&hazard, in->checkpoint_overhead_s,
                                       is_restarted ? in->restart_s : 0);
    if (out->by_law && by_table(in, param, &hazard, interval_s, out))
        return OK;
    segment_s =
        checkpoint_midpoint_segment_s(interval_s, left_s, in->checkpoint_overhead_s);
    ends = segment_s >= left_s;
    checkpoint_set_floored(in, param, ends ? interval_s : segment_s, out);
    if (ends) {
        out->next_request_in_s = HUGE_VAL;
        out->reason = in->start ? CHECKPOINT_REASON_TOO_SHORT : out->reason;
    }
    checkpoint_spare(in, out);
    return OK;
}

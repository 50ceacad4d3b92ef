/* simulation/checkpoints.c - when running replicas take checkpoints.
 *
 * A checkpoint policy is asked when the replica begins to run and whenever its interval
 * has run out. If it takes the checkpoint, the replica stands still for C and keeps its
 * share of the resource; then it goes on while the image is on its way.
 *
 * Source: spec fault-tolerance.md 4, 5.
 */
#include "algorithms/simulation/parts.h"

#include <math.h>

/* Mean over the resources of the host's site. */
static double site_mean_s(const struct sim *s, const struct host *h,
                          enum mf_estimator estimator)
{
    double sum = 0;
    size_t count = 0;

    for (size_t i = 0; i < s->host_count; i++) {
        const struct host *other = &s->hosts[i];

        if (other->site != h->site || !other->is_there)
            continue;
        sum += reliability_mean_s(&other->reliability, estimator, sim_now_s(s));
        count++;
    }
    return sum / (double)count;
}

static double mean_failure_s(const struct sim *s, const struct host *h)
{
    const double *param = s->policy->checkpoint_param;
    enum mf_estimator estimator = (enum mf_estimator)param[CHECKPOINT_MF_ESTIMATOR];
    double weight = param[CHECKPOINT_SITE_WEIGHT];

    if (weight > 0)
        return reliability_shrunk_mean_s(&h->reliability, estimator, sim_now_s(s),
                                         site_mean_s(s, h, estimator), weight);
    return reliability_mean_s(&h->reliability, estimator, sim_now_s(s));
}

static struct checkpoint_in input_of(struct sim *s, const struct replica *r, bool start)
{
    struct checkpoint_in in = checkpoint_in_unknown();
    struct host *h = r->host;
    double speed = host_speed(h, r);

    in.checkpoint_overhead_s = r->job->checkpoint_overhead_s;
    in.execution_time_s = speed > 0 ? r->job->length_mi / speed : HUGE_VAL;
    in.remaining_s =
        speed > 0 ? (r->job->length_mi - replica_progress_mi(s, r)) / speed : HUGE_VAL;
    in.mean_failure_interval_s = mean_failure_s(s, h);
    in.failure_age_s = reliability_failure_age_s(&h->reliability, sim_now_s(s));
    in.uptime_s = reliability_uptime_s(&h->reliability, sim_now_s(s));
    hazard_fill(s, h, &in);
    in.start = start;
    in.remaining_is_known = true;
    if (!start) {
        in.interval_cur_s = r->interval_s;
        in.consecutive_omissions = r->omissions;
    }
    return in;
}

/* Asks the policy; false: it failed. */
static bool ask(struct sim *s, struct replica *r, bool start, struct checkpoint_out *out)
{
    struct checkpoint_in in = input_of(s, r, start);
    enum error_code code;

    *out = (struct checkpoint_out){0};
    code = checkpoint_fn_of(s->policy->checkpoint)(&in, s->policy->checkpoint_param, out,
                                                   s->err);
    if (code != OK) {
        s->failed = code;
        return false;
    }
    r->interval_s = out->interval_s;
    r->omissions = out->consecutive_omissions;
    return true;
}

static void post_request(struct sim *s, struct replica *r, double in_s)
{
    r->request_version++;
    if (isfinite(in_s))
        kernel_post(&s->kernel, kernel_after(&s->kernel, fmax(in_s, 1e-3)),
                    EVENT_CHECKPOINT_REQUEST, r, r->request_version);
}

void checkpoints_begin(struct sim *s, struct replica *r)
{
    struct checkpoint_out out;

    if (r->job->length_mi > 0 && ask(s, r, true, &out))
        post_request(s, r, out.next_request_in_s);
}

void checkpoints_turn(struct sim *s, struct replica *r, bool on)
{
    if (r->checkpoints == on || r->stage == STAGE_GHOST)
        return;
    r->checkpoints = on;
    scheduler_touch(s, r->job);
    if (!on)
        r->request_version++;
    else if (r->stage == STAGE_RUN)
        checkpoints_begin(s, r);
}

void checkpoint_on_done(struct sim *s, struct replica *r)
{
    sim_log(s, SIM_LOG_CHECKPOINT_DONE, r->job, r->host, r->progress_mi);
    host_resume(s, r);
    replica_send_image(s, r);
    if (r->checkpoints)
        post_request(s, r, r->next_request_s);
}

void checkpoint_on_request(struct sim *s, struct replica *r)
{
    struct checkpoint_out out;
    double overhead_s = r->job->checkpoint_overhead_s;

    if (r->stage != STAGE_RUN || !ask(s, r, false, &out))
        return;
    sim_log(s, SIM_LOG_CHECKPOINT_REQUEST, r->job, r->host, replica_progress_mi(s, r));
    if (out.action != CHECKPOINT_TAKE) {
        s->totals.omitted += out.action == CHECKPOINT_OMIT;
        post_request(s, r, out.next_request_in_s);
        return;
    }
    s->totals.taken++;
    r->job->checkpoint_count++;
    r->next_request_s = out.next_request_in_s;
    host_pause(s, r);
    if (kernel_ms(overhead_s) > 0)
        kernel_post(&s->kernel, kernel_after(&s->kernel, overhead_s),
                    EVENT_CHECKPOINT_DONE, r, r->version);
    else
        checkpoint_on_done(s, r);
}

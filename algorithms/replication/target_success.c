/* replication/target_success.c - as few copies as a wanted probability takes.
 *
 * A copy on resource i does its work without a failure with probability
 *
 *     p = exp(-E / MF)                                     constant failure rate
 *     p = exp((a / scale)^shape - ((a + E) / scale)^shape) Weibull, up for a s
 *
 * with E the time that it still needs there, under the load it makes. Resources
 * come in the order in which rule 6.1 would place copies; the fewest k with
 *
 *     1 - product of (1 - p) >= target - 1e-12
 *
 * are started, replicas_max at most; copies that run already count. With fewer
 * than needed the job gets what there is, and the answer says what that achieves
 * and how many would do. Failures are taken as independent of each other.
 *
 * Source: spec fault-tolerance.md 7.3, beyond the seeds. A resource of which
 * nothing is known counts as p = 0.
 * Cost: O(jobs + resources + copies * k log resources). Without explain, and where it is
 * kept how many copies each job has, jobs with replicas_max of them are passed by, and so
 * not looked at: the status is of the others.
 */
#include "algorithms/replication/replication.h"
#include "algorithms/replication/work.h"

#include <math.h>

enum {
    OPTION_TARGET,
    OPTION_REPLICAS_MAX,
    OPTION_CAPACITY_UNIT,
    OPTION_DETECTION,
    OPTION_MF_ESTIMATOR,
    OPTION_PRIOR,
    OPTION_MEAN_FLOOR,
    OPTION_FAILURE_DISTRIBUTION,
    OPTION_MAX_RESTARTS,
};

const struct param replication_target_success_params[] = {
    [OPTION_TARGET] = {"target_success", 0, 1, 0.99,
                       "Probability that one copy at least does not fail", PARAM_NUMBER,
                       NULL},
    [OPTION_REPLICAS_MAX] = ROW_REPLICAS_MAX,
    [OPTION_CAPACITY_UNIT] = ROW_CAPACITY_UNIT,
    [OPTION_DETECTION] = ROW_DETECTION,
    [OPTION_MF_ESTIMATOR] = ROW_MF_ESTIMATOR,
    [OPTION_PRIOR] = ROW_PRIOR,
    [OPTION_MEAN_FLOOR] = ROW_MEAN_FLOOR,
    [OPTION_FAILURE_DISTRIBUTION] = ROW_FAILURE_DISTRIBUTION,
    [OPTION_MAX_RESTARTS] = ROW_MAX_RESTARTS,
    {0},
};

/* That `execution_s` pass on the resource without a failure. */
static double survival(const struct round_resource *r, double execution_s)
{
    double p;

    if (execution_s <= 0)
        return 1;
    if (r->weibull_shape > 0 && r->weibull_scale_s > 0) {
        double age_s = r->uptime_s > 0 ? r->uptime_s : 0;

        p = exp(pow(age_s / r->weibull_scale_s, r->weibull_shape) -
                pow((age_s + execution_s) / r->weibull_scale_s, r->weibull_shape));
    } else {
        p = r->mean_failure_interval_s > 0
                ? exp(-execution_s / r->mean_failure_interval_s)
                : 0;
    }
    return p >= 0 && p <= 1 ? p : 0; /* unknown, or beyond what doubles hold */
}

static double time_s(double work_mi, double mips, size_t job_count)
{
    if (work_mi <= 0)
        return 0;
    return mips > 0 ? work_mi * (double)job_count / mips : HUGE_VAL;
}

/* That all active copies of the job fail. */
static double all_fail(const struct round_work *w, size_t job)
{
    const struct round_job *j = &w->in->jobs[job];
    double product = 1;

    for (size_t i = 0; i < j->replica_count; i++) {
        const struct round_replica *r = &j->replicas[i];
        const struct round_resource *resource;
        size_t sharing = w->slots.job_count[r->resource];

        if (!replica_is_active(r))
            continue;
        resource = round_show(w->in, r->resource);
        product *= 1 - survival(resource, time_s(j->length_mi - r->completed_mi,
                                                 resource->mips, sharing ? sharing : 1));
    }
    return product;
}

/* That a copy just put on the resource lives through the whole job. */
static double copy_survival(const struct round_work *w, size_t job, size_t resource)
{
    const struct round_resource *r = round_show(w->in, resource);

    return survival(
        r, time_s(w->in->jobs[job].length_mi, r->mips, w->slots.job_count[resource]));
}

/* How many copies reach the target, those that are active included: further ones
 * are placed on trial and taken back. */
static enum error_code find_needed(struct round_work *w, double allowed, double product,
                                   struct round_success *s)
{
    size_t first = w->held_count, count = s->replica_count, resource;

    for (; product > allowed && count < REPLICAS_MAX; count++) {
        TRY(work_place(w, PLACE_SPREAD, &resource));
        if (resource == NOWHERE)
            break;
        work_take(w, resource);
        product *= 1 - copy_survival(w, s->job, resource);
    }
    for (size_t i = first; i < w->held_count; i++)
        slots_give(&w->slots, w->held[i]);
    w->held_count = first;
    s->needed_count = product <= allowed ? count : 0;
    return OK;
}

static enum error_code decide_job(struct round_work *w, size_t job, const double *param,
                                  struct round_success *s)
{
    double allowed = 1 - param[OPTION_TARGET] + 1e-12;
    double product = all_fail(w, job);
    bool is_stuck = false;

    *s = (struct round_success){.job = job,
                                .replica_count = work_active_count(&w->in->jobs[job])};
    work_hold(w, job);
    for (size_t i = 0; product > allowed && !is_stuck &&
                       s->replica_count < (size_t)param[OPTION_REPLICAS_MAX];
         i++) {
        size_t resource;

        is_stuck = w->starts_max && w->in->jobs[job].started_count + i >= w->starts_max;
        if (is_stuck)
            break;
        TRY(work_place(w, PLACE_SPREAD, &resource));
        is_stuck = resource == NOWHERE;
        if (is_stuck)
            break;
        work_start(w, job, i, resource, false);
        product *= 1 - copy_survival(w, job, resource);
        s->replica_count++;
    }
    s->probability = 1 - product;
    s->reached = product <= allowed;
    if (!s->reached && !is_stuck)
        w->out.status = DECISION_INFEASIBLE;
    return w->in->explain ? find_needed(w, allowed, product, s) : OK;
}

/* A job that waits for room aims at what would do, or else at all it may have. */
static size_t target_of(const struct round_success *s, size_t replicas_max)
{
    size_t wanted = s->needed_count ? s->needed_count : replicas_max;

    if (s->reached)
        return s->replica_count;
    return wanted < replicas_max ? wanted : replicas_max;
}

enum error_code replication_target_success(const struct round_in *in, const double *param,
                                           struct round_out *out, struct arena *a,
                                           struct error *err)
{
    size_t replicas_max = (size_t)param[OPTION_REPLICAS_MAX];
    struct round_success *successes = NULL, one;
    struct round_work w;
    size_t count = 0;

    TRY(work_begin(&w, in, (enum capacity_unit)param[OPTION_CAPACITY_UNIT], a, err));
    w.counts_active = true;
    w.starts_max = work_starts_max(replicas_max, param[OPTION_MAX_RESTARTS]);
    if (in->explain) {
        successes = NEW(a, struct round_success, in->job_count);
        w.targets = NEW(a, size_t, in->job_count);
    }
    for (size_t job = 0; job < in->job_count; job++) {
        struct round_success *s = successes ? &successes[count] : &one;

        if (!in->explain) {
            if (slots_free_cpus(&w.slots) == 0)
                break;
            job = work_next_below(in, true, job, replicas_max);
            if (job == in->job_count)
                break; /* all have as many as they may have */
        }
        if (work_is_finished(in, job))
            continue;
        TRY(decide_job(&w, job, param, s));
        if (!successes)
            continue;
        w.targets[job] = target_of(s, replicas_max);
        count++;
    }
    w.out.successes = successes;
    w.out.success_count = count;
    work_end(&w, out);
    return OK;
}

/* replication/target_success.c - as few copies as a wanted probability takes.
 *
 * A copy on resource i does its work without a failure with probability
 *
 *     p = exp(-E / MF)                                     constant failure rate
 *     p = exp((a / scale)^shape - ((a + E) / scale)^shape) Weibull, up for a s
 *
 * with E the time that it still needs there, under the load it makes; one on several
 * nodes with the product of theirs, E being that of the slowest. For a job with a
 * deadline p is instead the probability that the copy, which begins anew after each
 * failure, is done by then, under a constant failure rate (fault_tolerance/copies.h).
 * Resources come in the order of falling p, ties by id; the fewest k with
 *
 *     1 - product of (1 - p) >= target - 1e-12
 *
 * are started, replicas_max at most; copies that run already count. With fewer
 * than needed the job gets what there is, and the answer says what that achieves
 * and how many would do. Failures are taken as independent of each other.
 *
 * Source: spec fault-tolerance.md 7.3 and reliability.md 6.5, beyond the seeds. A
 * resource of which nothing is known counts as p = 0.
 * Cost: O(jobs), and O(resources) for each job that lacks copies while CPUs are free;
 * with a deadline for each of the resources O(steps) more. Without explain, and where it
 * is kept how many copies each job has, jobs with replicas_max of them are passed by, and
 * so not looked at: the status is of the others.
 */
#include "algorithms/checkpoint/checkpoint.h"
#include "algorithms/fault_tolerance/copies.h"
#include "algorithms/replication/node_sets.h"
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

/* A place for a copy. */
struct place {
    const size_t *nodes; /* rising */
    size_t count;
    double p;
};

/* What finding places takes. */
struct finder {
    struct round_work *w;
    size_t *self;        /* of each resource itself */
    struct copies *work; /* memory of copies.h */
    struct copy known;   /* the copy that was followed last, and what it gave */
    double known_p;
    struct place best[REPLICAS_MAX]; /* for the current job, by falling p */
    size_t count, count_max;
};

/* That one attempt after another, `restart_s` before each but the first, ends within
 * deadline_s. One that is not sure to end in thousands of run times counts by its first
 * attempt alone. */
static double done_by(struct finder *f, const struct round_job *job, double work_s,
                      double mean_s)
{
    struct copy copy = {
        .job = {.work_s = work_s,
                .mean_s = fmin(mean_s, CHECKPOINT_LONGEST_S * CHECKPOINT_LONGEST_S),
                .scratch_s = job->restart_from_scratch_s,
                .delay_s = work_delay_s(job, mean_s),
                .least_s = 1},
        .plan = {.count = 1, .first_s = work_s}};
    bool is_good = false;

    if (work_s > job->deadline_s || !(mean_s > 0))
        return work_s <= 0;
    if (work_s <= 0)
        return 1;
    if (copy.job.work_s == f->known.job.work_s &&
        copy.job.mean_s == f->known.job.mean_s &&
        copy.job.delay_s == f->known.job.delay_s &&
        copy.job.scratch_s == f->known.job.scratch_s)
        return f->known_p;
    copy.plan.expected_s = finite_expected_s(&copy.job, 1);
    if (isfinite(copy.plan.expected_s))
        copies_follow(f->work, &copy, 1, &is_good, f->w->arena);
    f->known = copy;
    f->known_p =
        is_good ? copies_done(f->work, 0, &copy, job->deadline_s) : exp(-work_s / mean_s);
    return f->known_p;
}

/* That a copy of so much work on these nodes, with `more` jobs than are there now,
 * succeeds. */
static double success(struct finder *f, const struct round_job *job, const size_t *nodes,
                      size_t count, double left_mi, size_t more)
{
    double work_s = 0, rate = 0, p = 1;

    for (size_t i = 0; i < count; i++) {
        const struct round_resource *r = round_show(f->w->in, nodes[i]);
        size_t sharing = f->w->slots.job_count[nodes[i]] + more;

        work_s = fmax(work_s, time_s(left_mi, r->mips, sharing ? sharing : 1));
        rate +=
            r->mean_failure_interval_s > 0 ? 1 / r->mean_failure_interval_s : HUGE_VAL;
    }
    if (job->deadline_s > 0)
        return done_by(f, job, work_s,
                       count == 1 ? f->w->in->resources[nodes[0]].mean_failure_interval_s
                                  : 1 / rate);
    for (size_t i = 0; i < count; i++)
        p *= survival(&f->w->in->resources[nodes[i]], work_s);
    return p;
}

/* That all active copies of the job fail. */
static double all_fail(struct finder *f, size_t job)
{
    const struct round_job *j = &f->w->in->jobs[job];
    double product = 1;

    for (size_t i = 0; i < j->replica_count; i++) {
        const struct round_replica *r = &j->replicas[i];
        size_t count;
        const size_t *nodes = replica_nodes(r, &count);

        if (replica_is_active(r))
            product *= 1 - success(f, j, nodes, count, j->length_mi - r->completed_mi, 0);
    }
    return product;
}

/* Puts a place into the list; ties: the one that came first. */
static void offer(struct finder *f, const size_t *nodes, size_t count, double p)
{
    size_t at = f->count;

    while (at > 0 && p > f->best[at - 1].p)
        at--;
    if (at >= f->count_max)
        return;
    if (f->count < f->count_max)
        f->count++;
    for (size_t i = f->count - 1; i > at; i--)
        f->best[i] = f->best[i - 1];
    f->best[at] = (struct place){nodes, count, p};
}

/* Sets of free nodes for copies on several. */
static void find_sets(struct finder *f, const struct round_job *job,
                      struct free_node *nodes, size_t count)
{
    struct round_work *w = f->w;
    struct node_set *sets;
    double left_out_s;
    size_t set_count;

    node_sets_find(nodes, count, job->node_count, REPLICAS_MAX, &sets, &set_count,
                   &left_out_s, w->in->budget, w->arena);
    for (size_t i = 0; i < set_count; i++)
        offer(f, sets[i].nodes, sets[i].count,
              success(f, job, sets[i].nodes, sets[i].count, job->length_mi, 1));
}

/* Only when it is wanted: most rounds of a simulation start nothing. */
static void name_self(struct finder *f)
{
    size_t count = f->w->in->resource_count;

    if (f->self)
        return;
    f->self = NEW(f->w->arena, size_t, count);
    for (size_t r = 0; r < count; r++)
        f->self[r] = r;
}

/* The places where a copy of the job is likeliest to succeed, at most f->count_max. */
static void find_places(struct finder *f, size_t job)
{
    struct round_work *w = f->w;
    const struct round_job *j = &w->in->jobs[job];
    size_t all = j->allowed ? j->allowed_count : w->in->resource_count, count = 0;
    bool is_wide = j->node_count > 1;
    struct free_node *nodes = is_wide ? NEW(w->arena, struct free_node, all) : NULL;

    f->count = 0;
    name_self(f);
    for (size_t i = 0; i < all; i++) {
        size_t r = j->allowed ? j->allowed[i] : i;
        const struct round_resource *resource;

        if (budget_step(w->in->budget, 1 + w->held_count)) {
            w->out.status = DECISION_CUT;
            return;
        }
        if (!slots_is_open(&w->slots, r) || work_holds(w, r))
            continue;
        if (!is_wide) {
            offer(f, &f->self[r], 1, success(f, j, &f->self[r], 1, j->length_mi, 1));
            continue;
        }
        resource = round_show(w->in, r);
        nodes[count++] = (struct free_node){
            .resource = r,
            .site = j->allowed_is_exact ? 0 : resource->site,
            .time_s = time_s(j->length_mi, resource->mips, w->slots.job_count[r] + 1),
            .mean_s = fmax(resource->mean_failure_interval_s, CHECKPOINT_SHORTEST_S)};
    }
    if (is_wide)
        find_sets(f, j, nodes, count);
}

/* How many copies reach the target, those that are active included: those behind the
 * first `used` places would be further ones. */
static void find_needed(const struct finder *f, double allowed, double product,
                        size_t used, struct round_success *s)
{
    size_t count = s->replica_count;

    for (size_t i = used; product > allowed && i < f->count; i++, count++)
        product *= 1 - f->best[i].p;
    s->needed_count = product <= allowed ? count : 0;
}

static void decide_job(struct finder *f, size_t job, const double *param,
                       struct round_success *s)
{
    struct round_work *w = f->w;
    double allowed = 1 - param[OPTION_TARGET] + 1e-12;
    double product = all_fail(f, job);
    bool is_stuck = false;
    size_t i = 0, replicas_max = (size_t)param[OPTION_REPLICAS_MAX], more;

    *s = (struct round_success){.job = job,
                                .replica_count = work_active_count(&w->in->jobs[job])};
    work_hold(w, job);
    f->count = 0;
    more = w->in->explain ? REPLICAS_MAX : replicas_max;
    f->count_max = more > s->replica_count ? more - s->replica_count : 0;
    if (product > allowed && f->count_max > 0 && slots_free_cpus(&w->slots) > 0)
        find_places(f, job);
    for (; product > allowed && !is_stuck && s->replica_count < replicas_max; i++) {
        is_stuck = i == f->count ||
                   (w->starts_max && w->in->jobs[job].started_count + i >= w->starts_max);
        if (is_stuck)
            break;
        work_start_nodes(w, job, i, f->best[i].nodes, f->best[i].count, false);
        product *= 1 - f->best[i].p;
        s->replica_count++;
    }
    s->probability = 1 - product;
    s->reached = product <= allowed;
    if (!s->reached && !is_stuck && w->out.status != DECISION_CUT)
        w->out.status = DECISION_INFEASIBLE;
    find_needed(f, allowed, product, i, s);
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
    struct finder f = {0};
    struct round_work w;
    size_t count = 0;

    TRY(work_begin(&w, in, (enum capacity_unit)param[OPTION_CAPACITY_UNIT], a, err));
    w.counts_active = true;
    w.starts_max = work_starts_max(replicas_max, param[OPTION_MAX_RESTARTS]);
    f.w = &w;
    f.work = NEW(a, struct copies, 1);
    f.work->budget = in->budget;
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
        decide_job(&f, job, param, s);
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

/* fault_tolerance/expected_time.c - for each job the remedy of least expected time.
 *
 * Jobs in the order of arrival. On every resource with a free slot the job has a run
 * time E, under the load that it makes, and that resource's own mean time between
 * failures M: the expected time of one copy there, without checkpoints and with the
 * best ones, ranks the resources twice. Of all remedies (remedy.c) on the first of
 * them, with a cost of max_cost_ratio * E at most, the one of least expected time is
 * taken, where each copy more must save min_gain_ratio of it: its copies are started
 * and checkpointed, or not. A job that has copies keeps them, as the first ones; copies
 * are added, never cancelled. Without a remedy within the limit a job is not started.
 *
 * Source: spec reliability.md 6.5, with the copies on the resources that are best for
 * one; fault-tolerance.md 7.4. Deviation: the specs say nothing of jobs that run.
 * Cost: O(jobs * resources), and for each job O(copies * steps * segments) (copies.h).
 */
#include "algorithms/checkpoint/checkpoint.h"
#include "algorithms/fault_tolerance/fault_tolerance.h"
#include "algorithms/replication/work.h"

#include <math.h>

enum {
    OPTION_REPLICAS_MAX,
    OPTION_MAX_COST_RATIO,
    OPTION_CAPACITY_UNIT,
    OPTION_DETECTION,
    OPTION_MF_ESTIMATOR,
    OPTION_PRIOR,
    OPTION_MEAN_FLOOR,
    OPTION_MIN_GAIN,
};

const struct param fault_tolerance_expected_time_params[] = {
    [OPTION_REPLICAS_MAX] = {"replicas_max", 1, REMEDY_COPIES_MAX, 3,
                             "Most copies of each job", PARAM_INTEGER, NULL},
    [OPTION_MAX_COST_RATIO] = {"max_cost_ratio", 1, 1e9, (double)NAN,
                               "CPU time that may be expected to be used, over the run "
                               "time without failures; not set: no limit",
                               PARAM_NUMBER, NULL},
    [OPTION_CAPACITY_UNIT] = ROW_CAPACITY_UNIT,
    [OPTION_DETECTION] = ROW_DETECTION,
    [OPTION_MF_ESTIMATOR] = ROW_MF_ESTIMATOR,
    [OPTION_PRIOR] = ROW_PRIOR,
    [OPTION_MEAN_FLOOR] = ROW_MEAN_FLOOR,
    [OPTION_MIN_GAIN] = {"min_gain_ratio", 0, 1, 0.01,
                         "Share of the expected time that each copy more must save",
                         PARAM_NUMBER, NULL},
    {0},
};

/* The hosts of a job's copies in one order: active ones, then by rising expected
 * time. */
struct hosts {
    size_t resource[REMEDY_COPIES_MAX];
    struct copy copy[REMEDY_COPIES_MAX];
    size_t count, active;
    size_t count_max;
};

/* What pricing a host takes. */
struct pricing {
    struct round_work *w;
    const struct round_job *job;
    double left_mi;      /* work of a copy that is started now */
    struct copies *work; /* memory of copies.h */
};

/* A copy of the job there: `left_mi` of work, the speed shared by `sharing` jobs. */
static struct finite_job job_on(const struct pricing *p, size_t resource, double left_mi,
                                size_t sharing)
{
    const struct round_resource *r = round_show(p->w->in, resource);
    double c = p->job->checkpoint_overhead_s;
    struct finite_job job = {
        .mean_s = fmax(r->mean_failure_interval_s, CHECKPOINT_SHORTEST_S),
        .overhead_s = c,
        .restart_s = p->job->restart_s,
        .scratch_s =
            p->job->has_checkpoint ? p->job->restart_s : p->job->restart_from_scratch_s,
        .delay_s = p->job->reschedule_delay_s,
        .least_s = fmax(1, c * 1.0001),
    };

    if (left_mi > 0)
        job.work_s = r->mips > 0 ? left_mi * (double)sharing / r->mips : HUGE_VAL;
    if (isinf(r->mean_failure_interval_s)) /* never fails: longer than any job */
        job.mean_s = CHECKPOINT_LONGEST_S * CHECKPOINT_LONGEST_S;
    return job;
}

/* Its most advanced active replica; NULL: it has none. */
static const struct round_replica *leader_of(const struct round_job *job)
{
    const struct round_replica *leader = NULL;

    for (size_t i = 0; i < job->replica_count; i++) {
        const struct round_replica *r = &job->replicas[i];

        if (replica_is_active(r) && (!leader || r->completed_mi > leader->completed_mi))
            leader = r;
    }
    return leader;
}

/* Puts a host into its place; ties: the lower index, which came first. */
static void offer(struct hosts *hosts, size_t resource, const struct copy *copy)
{
    size_t place = hosts->count;

    while (place > hosts->active &&
           copy->plan.expected_s < hosts->copy[place - 1].plan.expected_s)
        place--;
    if (place >= hosts->count_max)
        return;
    if (hosts->count < hosts->count_max)
        hosts->count++;
    for (size_t i = hosts->count - 1; i > place; i--) {
        hosts->resource[i] = hosts->resource[i - 1];
        hosts->copy[i] = hosts->copy[i - 1];
    }
    hosts->resource[place] = resource;
    hosts->copy[place] = *copy;
}

/* The active copies, the most advanced first. */
static void keep_active(const struct pricing *p, bool is_saved, struct hosts *hosts)
{
    const struct round_replica *leader = leader_of(p->job);

    for (size_t i = 0; i < p->job->replica_count; i++) {
        const struct round_replica *r = &p->job->replicas[i];
        size_t sharing = p->w->slots.job_count[r->resource];
        struct finite_job job = job_on(
            p, r->resource, p->job->length_mi - r->completed_mi, sharing ? sharing : 1);
        size_t place = r == leader ? 0 : hosts->count;

        if (!replica_is_active(r) || hosts->count == hosts->count_max)
            continue;
        hosts->resource[hosts->count] = hosts->resource[place];
        hosts->copy[hosts->count] = hosts->copy[place];
        hosts->resource[place] = r->resource;
        hosts->copy[place] = remedy_copy(&job, is_saved);
        hosts->count++;
    }
    hosts->active = hosts->count;
}

static bool is_held(const struct round_work *w, size_t resource)
{
    for (size_t i = 0; i < w->held_count; i++)
        if (w->held[i] == resource)
            return true;
    return false;
}

/* Ranks all open resources by one copy without, and with checkpoints. Equal ones
 * in a row are worked out once. */
static void rank_hosts(const struct pricing *p, struct hosts *plain, struct hosts *saved)
{
    const struct round_work *w = p->w;
    struct finite_job before = {0};
    struct copy copy[2];

    keep_active(p, false, plain);
    keep_active(p, true, saved);
    for (size_t r = 0; r < w->in->resource_count; r++) {
        struct finite_job job;

        if (!slots_is_open(&w->slots, r) || is_held(w, r))
            continue;
        job = job_on(p, r, p->left_mi, w->slots.job_count[r] + 1);
        if (job.work_s != before.work_s || job.mean_s != before.mean_s) {
            copy[0] = remedy_copy(&job, false);
            copy[1] = remedy_copy(&job, true);
        }
        before = job;
        offer(plain, r, &copy[0]);
        offer(saved, r, &copy[1]);
    }
}

/* Starts copies on the hosts behind the active ones. */
static void start_copies(struct round_work *w, size_t job, const struct hosts *hosts,
                         size_t active, size_t wanted, bool is_checkpointed)
{
    const struct round_job *j = &w->in->jobs[job];

    for (size_t i = active; i < wanted; i++) {
        struct round_action action = {.kind = ROUND_START,
                                      .job = job,
                                      .replica = j->replica_count + i - active,
                                      .resource = hosts->resource[i],
                                      .from_checkpoint = j->has_checkpoint};

        work_act(w, action);
        work_take(w, action.resource);
        if (is_checkpointed) {
            action.kind = ROUND_CHECKPOINT_ON;
            action.from_checkpoint = false;
            work_act(w, action);
        }
    }
}

/* Copies that are active already follow the choice. */
static void switch_active(struct round_work *w, size_t job, bool is_checkpointed)
{
    const struct round_job *j = &w->in->jobs[job];

    for (size_t i = 0; i < j->replica_count && j->is_checkpointing != is_checkpointed;
         i++) {
        if (replica_is_active(&j->replicas[i]))
            work_act(w,
                     (struct round_action){.kind = is_checkpointed ? ROUND_CHECKPOINT_ON
                                                                   : ROUND_CHECKPOINT_OFF,
                                           .job = job,
                                           .replica = i,
                                           .resource = j->replicas[i].resource});
    }
}

/* The job has one host at least in each order. */
static void compare(const struct pricing *p, size_t job, const struct hosts *plain,
                    const struct hosts *saved, const double *param,
                    struct round_choice *c)
{
    struct round_work *w = p->w;
    struct remedy_option *options =
        NEW(w->arena, struct remedy_option, REMEDY_OPTIONS_MAX);
    struct remedy_in in = {plain->copy, saved->copy, plain->count, plain->count};
    double limit_s;
    size_t count;

    remedy_compare(&in, p->work, options, &count, w->arena);
    *c = (struct round_choice){
        .job = job,
        .execution_s = plain->copy[0].job.work_s,
        .lower_bound_s = HUGE_VAL,
        .mean_failure_interval_s = plain->copy[0].job.mean_s,
        .options = options,
        .option_count = count,
        .placeable_count = plain->count,
    };
    for (size_t i = 0; i < plain->count; i++)
        c->lower_bound_s = fmin(
            c->lower_bound_s, fmin(plain->copy[i].job.work_s, saved->copy[i].job.work_s));
    limit_s = param[OPTION_MAX_COST_RATIO] * c->execution_s;
    c->chosen =
        remedy_choose(options, count, limit_s, plain->count, param[OPTION_MIN_GAIN]);
    c->cheapest = remedy_cheapest(options, count, plain->count);
}

/* *is_seen: there was a resource to compare remedies for. */
static void decide_job(const struct pricing *p, size_t job, const double *param,
                       struct round_choice *c, bool *is_seen)
{
    struct round_work *w = p->w;
    size_t active = work_active_count(p->job);
    struct hosts plain = {.count_max = (size_t)param[OPTION_REPLICAS_MAX]};
    struct hosts saved = {.count_max = plain.count_max};
    const struct remedy_option *chosen;
    bool is_saved;

    work_hold(w, job);
    rank_hosts(p, &plain, &saved);
    *is_seen = plain.count > 0;
    w->targets[job] = 1;
    if (!*is_seen)
        return;
    compare(p, job, &plain, &saved, param, c);
    if (c->chosen == SIZE_MAX) {
        w->out.status = DECISION_INFEASIBLE;
        w->targets[job] = active;
        return;
    }
    chosen = &c->options[c->chosen];
    is_saved = chosen->remedy == REMEDY_CHECKPOINTING || chosen->remedy == REMEDY_BOTH;
    if (is_saved) {
        c->execution_s = saved.copy[0].job.work_s;
        c->mean_failure_interval_s = saved.copy[0].job.mean_s;
    }
    w->targets[job] = chosen->replicas;
    switch_active(w, job, is_saved);
    start_copies(w, job, is_saved ? &saved : &plain, active, chosen->replicas, is_saved);
}

/* Work of a copy that starts now: from the image, which holds what the leader has
 * done, or all of it. */
static double left_mi(const struct round_job *job)
{
    const struct round_replica *leader = leader_of(job);

    if (job->has_checkpoint && leader)
        return fmax(0, job->length_mi - leader->completed_mi);
    return fmax(0, job->length_mi - (job->has_checkpoint ? job->checkpoint_mi : 0));
}

enum error_code fault_tolerance_expected_time(const struct round_in *in,
                                              const double *param, struct round_out *out,
                                              struct arena *a, struct error *err)
{
    struct round_work w;
    struct round_choice *choices;
    struct copies *work = NEW(a, struct copies, 1);
    size_t count = 0;

    TRY(work_begin(&w, in, (enum capacity_unit)param[OPTION_CAPACITY_UNIT], a, err));
    w.counts_active = true;
    choices = NEW(a, struct round_choice, in->job_count);
    w.targets = NEW(a, size_t, in->job_count);
    work->budget = in->budget;
    for (size_t job = 0; job < in->job_count; job++) {
        struct pricing p = {&w, &in->jobs[job], left_mi(&in->jobs[job]), work};
        bool is_seen = false;

        if (budget_spent(in->budget)) {
            w.out.status = DECISION_CUT;
            break;
        }
        if (!work_is_finished(in, job))
            decide_job(&p, job, param, &choices[count], &is_seen);
        count += is_seen;
    }
    w.out.choices = choices;
    w.out.choice_count = count;
    work_end(&w, out);
    return OK;
}

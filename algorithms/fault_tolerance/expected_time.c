/* fault_tolerance/expected_time.c - for each job the remedy of least expected time.
 *
 * Jobs in the order of arrival. Rule 6.1 picks the resource of a job; E is the run
 * time there under the load that it makes, M its mean time between failures. Of all
 * remedies (remedy.c) with as many copies as rule 6.1 finds room for, and a cost of
 * max_cost_ratio * E at most, the one of least expected time is taken: its copies
 * are started and checkpointed, or not. A job that has copies is looked at again
 * where the most advanced one runs, with what is left to do; copies are added,
 * never cancelled. Without a remedy within the limit a job is not started.
 *
 * Source: spec fault-tolerance.md 7.4, beyond the seeds. Deviation: the spec says
 * nothing of jobs that run already.
 * Cost: O(jobs * k^2 + resources + copies * k log resources).
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
    {0},
};

static double speed_mips(const struct round_work *w, size_t resource)
{
    size_t sharing = w->slots.job_count[resource];

    return w->in->resources[resource].mips / (double)(sharing ? sharing : 1);
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

/* E: work on a resource that the job is on already. */
static double run_time_s(const struct round_work *w, double work_mi, size_t resource)
{
    double mips = speed_mips(w, resource);

    if (work_mi <= 0)
        return 0;
    return mips > 0 ? work_mi / mips : HUGE_VAL;
}

/* Puts copies on trial onto the resources that rule 6.1 gives, `copies_max` with
 * those that are active, as long as CPUs are free. */
static enum error_code try_copies(struct round_work *w, size_t copies_max)
{
    while (w->held_count < copies_max && slots_free_cpus(&w->slots) > 0) {
        size_t resource;

        TRY(work_place(w, PLACE_SPREAD, &resource));
        if (resource == NOWHERE)
            break;
        TRY(work_take(w, resource));
    }
    return OK;
}

/* Starts the first copies of those on trial, gives the slots of the others back. */
static enum error_code start_copies(struct round_work *w, size_t job, size_t active,
                                    size_t wanted, bool is_checkpointed)
{
    const struct round_job *j = &w->in->jobs[job];

    for (size_t i = active; i < w->held_count; i++) {
        struct round_action action = {.kind = ROUND_START,
                                      .job = job,
                                      .replica = j->replica_count + i - active,
                                      .resource = w->held[i],
                                      .from_checkpoint = j->has_checkpoint};

        if (i >= wanted) {
            slots_give(&w->slots, w->held[i]);
            continue;
        }
        TRY(work_act(w, action));
        if (is_checkpointed) {
            action.kind = ROUND_CHECKPOINT_ON;
            action.from_checkpoint = false;
            TRY(work_act(w, action));
        }
    }
    return OK;
}

/* Copies that are active already follow the choice. */
static enum error_code switch_active(struct round_work *w, size_t job,
                                     bool is_checkpointed)
{
    const struct round_job *j = &w->in->jobs[job];

    for (size_t i = 0; i < j->replica_count && j->is_checkpointing != is_checkpointed;
         i++) {
        if (replica_is_active(&j->replicas[i]))
            TRY(work_act(w, (struct round_action){.kind = is_checkpointed
                                                              ? ROUND_CHECKPOINT_ON
                                                              : ROUND_CHECKPOINT_OFF,
                                                  .job = job,
                                                  .replica = i,
                                                  .resource = j->replicas[i].resource}));
    }
    return OK;
}

/* The job holds one resource at least, active or on trial. */
static enum error_code compare(struct round_work *w, size_t job, const double *param,
                               struct round_choice *c)
{
    const struct round_job *j = &w->in->jobs[job];
    const struct round_replica *leader = leader_of(j);
    size_t resource = leader ? leader->resource : w->held[0];
    struct remedy_option *options =
        NEW(w->arena, struct remedy_option, REMEDY_OPTIONS_MAX);
    struct remedy_in in = {
        .execution_s =
            run_time_s(w, j->length_mi - (leader ? leader->completed_mi : 0), resource),
        .mean_failure_interval_s = fmax(
            w->in->resources[resource].mean_failure_interval_s, CHECKPOINT_SHORTEST_S),
        .checkpoint_overhead_s = j->checkpoint_overhead_s,
        .restart_s = j->restart_s,
        .reschedule_delay_s = j->reschedule_delay_s,
        .min_interval_s = CHECKPOINT_SHORTEST_S,
        .copies_max = (size_t)param[OPTION_REPLICAS_MAX],
    };

    if (!options)
        return fail_memory(w->err);
    *c = (struct round_choice){
        .job = job,
        .execution_s = in.execution_s,
        .mean_failure_interval_s = in.mean_failure_interval_s,
        .options = options,
        .option_count = remedy_compare(&in, options),
        .placeable_count = w->held_count,
    };
    c->chosen =
        remedy_choose(options, c->option_count,
                      param[OPTION_MAX_COST_RATIO] * in.execution_s, c->placeable_count);
    c->cheapest = remedy_cheapest(options, c->option_count, c->placeable_count);
    return OK;
}

/* *is_seen: there was a resource to compare remedies for. */
static enum error_code decide_job(struct round_work *w, size_t job, const double *param,
                                  struct round_choice *c, bool *is_seen)
{
    size_t active = work_active_count(&w->in->jobs[job]), copies = 1;
    bool is_checkpointed = false;

    TRY(work_hold(w, job));
    TRY(try_copies(w, (size_t)param[OPTION_REPLICAS_MAX]));
    *is_seen = w->held_count > 0;
    w->targets[job] = 1;
    if (!*is_seen)
        return OK;
    TRY(compare(w, job, param, c));
    if (c->chosen == SIZE_MAX) {
        w->out.status = DECISION_INFEASIBLE;
        w->targets[job] = active;
        return start_copies(w, job, active, 0, false);
    }
    copies = c->options[c->chosen].replicas;
    is_checkpointed = c->options[c->chosen].remedy == REMEDY_CHECKPOINTING ||
                      c->options[c->chosen].remedy == REMEDY_BOTH;
    w->targets[job] = copies;
    TRY(switch_active(w, job, is_checkpointed));
    return start_copies(w, job, active, copies, is_checkpointed);
}

enum error_code fault_tolerance_expected_time(const struct round_in *in,
                                              const double *param, struct round_out *out,
                                              struct arena *a, struct error *err)
{
    struct round_work w;
    struct round_choice *choices;
    size_t count = 0;

    TRY(work_begin(&w, in, (enum capacity_unit)param[OPTION_CAPACITY_UNIT], a, err));
    w.counts_active = true;
    choices = NEW(a, struct round_choice, in->job_count);
    w.targets = NEW(a, size_t, in->job_count);
    if (!choices || !w.targets)
        return fail_memory(err);
    for (size_t job = 0; job < in->job_count; job++) {
        bool is_seen = false;

        if (!work_is_finished(in, job))
            TRY(decide_job(&w, job, param, &choices[count], &is_seen));
        count += is_seen;
    }
    w.out.choices = choices;
    w.out.choice_count = count;
    return work_end(&w, out);
}

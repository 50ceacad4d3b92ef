/* fault_tolerance/combined.c - copies while CPUs are free, checkpoints when not.
 *
 * When a round begins, CA >= CL means replication mode, CA < CL checkpointing mode.
 *
 * Replication mode is failure_dependent. A job under checkpointing that gets a
 * further copy stops checkpointing as soon as that copy runs.
 *
 * Checkpointing mode takes the unfinished jobs in the order of arrival:
 *
 *  1. A job with copies keeps the most advanced one, which is checkpointed; the
 *     others are cancelled.
 *  2. A job without one starts if a CPU is free (rule 6.1), and is checkpointed.
 *  3. If none is free, a random job with several copies gives up all but one, as
 *     by 1, and the waiting job starts.
 *  4. If there is no such job, nothing more is started in this round.
 *
 * Source: 002_6355fdf65728109f.txt, 4.3 [L199-L210]; 000_168dd5aef5075332.txt,
 * 4.4.3 [L1406-L1423], defaults [L1435]; spec fault-tolerance.md 7.2.
 * Deviation: rule 4 ends the round in the source; here rule 1 still serves the jobs
 * that follow, or their single copies would stay without checkpoints. Options
 * mode_decision and switch_hysteresis are ours, and so is a limit that is a share
 * of the grid.
 * Cost: O(jobs + resources + changes * k (log resources + log jobs)); of the jobs only
 * those up to the last with replicas where that is known and no CPU is left, and eight at
 * a time those of which it is known that they are as they should be (round_in.settled).
 */
#include "algorithms/fault_tolerance/fault_tolerance.h"
#include "algorithms/replication/work.h"

#include <assert.h>

enum {
    OPTION_REPLICA_START = LOAD_OPTION_COUNT,
    OPTION_MODE_DECISION,
    OPTION_MODE_BEFORE,
    OPTION_SWITCH_HYSTERESIS,
    OPTION_DETECTION,
};

enum { START_LATEST_CHECKPOINT, START_SCRATCH };
enum { DECIDE_BY_ROUND, DECIDE_BY_ACTION };

static const char *const replica_starts[] = {"latest_checkpoint", "scratch", NULL};
static const char *const mode_decisions[] = {"round", "action", NULL};
static const char *const modes[] = {"none", "replication", "checkpointing", NULL};

const struct param fault_tolerance_combined_params[] = {
    LOAD_ROWS,
    [OPTION_REPLICA_START] = {"replica_start", 0, 1, START_LATEST_CHECKPOINT,
                              "Where a further copy of a job with an image begins",
                              PARAM_CHOICE, replica_starts},
    [OPTION_MODE_DECISION] = {"mode_decision", 0, 1, DECIDE_BY_ROUND,
                              "round: the mode is decided once; action: again after each "
                              "start",
                              PARAM_CHOICE, mode_decisions},
    [OPTION_MODE_BEFORE] = {"mode_before", 0, 2, ROUND_MODE_NONE,
                            "Mode of the last round, for switch_hysteresis", PARAM_CHOICE,
                            modes},
    [OPTION_SWITCH_HYSTERESIS] = {"switch_hysteresis", 0, 1e9, 0,
                                  "CPUs more than free_cpu_limit that must be free to "
                                  "leave the checkpointing mode",
                                  PARAM_INTEGER, NULL},
    [OPTION_DETECTION] = ROW_DETECTION,
    {0},
};

/* The checkpointing mode on its way through the jobs. */
struct pass {
    struct round_work *w;
    size_t job;          /* the current one */
    bool may_start;      /* rule 4 has not come yet */
    size_t *copied_sum;  /* Fenwick tree from 1: later jobs with several active copies,
                            by index; NULL: not needed yet */
    bool *is_reduced;    /* by rule 3; as long as copied_sum */
    size_t copied_count; /* jobs in the tree */
    size_t seen_count;   /* jobs with replicas up to the current one */
};

static size_t active_now(const struct round_work *w, size_t job)
{
    return work_active_count(&w->in->jobs[job]) +
           (w->last_start ? work_started_count(w, job) : 0);
}

/* ---- rule 1 ---- */

/* The most advanced active replica of the input; replica_count: there is none. */
static size_t most_advanced(const struct round_job *j)
{
    size_t best = j->replica_count;

    for (size_t i = 0; i < j->replica_count; i++) {
        const struct round_replica *r = &j->replicas[i];

        if (!replica_is_active(r))
            continue;
        if (best == j->replica_count ||
            r->completed_mi > j->replicas[best].completed_mi ||
            (r->completed_mi == j->replicas[best].completed_mi &&
             r->resource < j->replicas[best].resource))
            best = i;
    }
    return best;
}

static void cancel(struct round_work *w, size_t job, size_t replica, size_t resource,
                   bool is_ghost)
{
    if (!is_ghost)
        slots_give(&w->slots, resource);
    work_act(w, (struct round_action){.kind = ROUND_CANCEL,
                                      .job = job,
                                      .replica = replica,
                                      .resource = resource,
                                      .reason = ROUND_MODE_SWITCH});
}

static void turn_on(struct round_work *w, size_t job, size_t replica, size_t resource)
{
    work_act(w, (struct round_action){.kind = ROUND_CHECKPOINT_ON,
                                      .job = job,
                                      .replica = replica,
                                      .resource = resource});
}

/* Copies that this round has started go, but for one if the job has no older. */
static void reduce_started(struct round_work *w, size_t job, bool has_older)
{
    size_t keep = w->last_start[job]; /* lowest resource: all have done nothing yet */

    for (size_t i = keep; i; i = w->earlier_start[i - 1])
        if (w->actions[i - 1].resource < w->actions[keep - 1].resource)
            keep = i;
    for (size_t i = w->last_start[job]; i; i = w->earlier_start[i - 1]) {
        struct round_action start = w->actions[i - 1];

        if (has_older || i != keep)
            cancel(w, job, start.replica, start.resource, false);
    }
    if (has_older || !keep)
        return;
    turn_on(w, job, w->actions[keep - 1].replica, w->actions[keep - 1].resource);
}

static void reduce(struct round_work *w, size_t job)
{
    const struct round_job *j = &w->in->jobs[job];
    size_t keep = most_advanced(j);
    bool has_older = keep < j->replica_count;

    for (size_t i = 0; i < j->replica_count; i++)
        if (i != keep && replica_is_active(&j->replicas[i]))
            cancel(w, job, i, j->replicas[i].resource, j->replicas[i].is_ghost);
    if (w->last_start)
        reduce_started(w, job, has_older);
    if (!has_older || j->is_checkpointing)
        return;
    turn_on(w, job, keep, j->replicas[keep].resource);
}

/* ---- rule 3 ---- */

static void copied_add(struct pass *p, size_t job, bool is_more)
{
    for (size_t i = job + 1; i <= p->w->in->job_count; i += i & -i) {
        if (is_more)
            p->copied_sum[i]++;
        else
            p->copied_sum[i]--;
    }
    if (is_more)
        p->copied_count++;
    else
        p->copied_count--;
}

static bool is_copied(const struct round_work *w, size_t job)
{
    return !work_is_finished(w->in, job) && active_now(w, job) > 1;
}

/* No job behind those with replicas seen so far has a copy, started in this round or
 * before. */
static bool may_end(const struct round_work *w, size_t seen)
{
    return !w->last_start && work_has_seen_all(w->in, seen);
}

/* The first from `job` on, or one shortly before, that may not be as rule 1 leaves it.
 * Copies that were started in this round may be anybody's. */
static size_t next_to_reduce(const struct round_work *w, size_t job, size_t *seen)
{
    return w->last_start ? job : work_next_unsettled(w->in, ROUND_KEEPS_ONE, job, seen);
}

/* The jobs behind the current one; those before it have one copy at most. */
static void list_copied(struct pass *p)
{
    const struct round_in *in = p->w->in;
    size_t first = p->job + 1, seen = p->seen_count;

    if (p->copied_sum)
        return;
    for (;; first++) {
        first = next_to_reduce(p->w, first, &seen);
        if (first >= in->job_count || may_end(p->w, seen) || is_copied(p->w, first))
            break;
        seen += in->jobs[first].replica_count > 0;
    }
    if (first >= in->job_count || may_end(p->w, seen))
        return; /* none: the usual case under load */
    p->copied_sum = NEW(p->w->arena, size_t, in->job_count + 1);
    p->is_reduced = NEW(p->w->arena, bool, in->job_count);
    for (size_t job = first; job < in->job_count; job++)
        if (is_copied(p->w, job))
            copied_add(p, job, true);
}

/* One of the copied_count > 0 jobs. */
static size_t draw_copied(struct pass *p)
{
    size_t left = round_draw(&p->w->random_state, p->copied_count);
    size_t count = p->w->in->job_count, job = 0, step = 1;

    assert(p->copied_sum);
    while (2 * step <= count)
        step *= 2;
    for (; step > 0; step /= 2) { /* the longest prefix with at most `left` */
        if (job + step <= count && p->copied_sum[job + step] <= left) {
            job += step;
            left -= p->copied_sum[job];
        }
    }
    return job;
}

static void make_room(struct pass *p)
{
    size_t job;

    list_copied(p);
    p->may_start = p->copied_count > 0;
    if (!p->may_start)
        return; /* rule 4 */
    job = draw_copied(p);
    copied_add(p, job, false);
    p->is_reduced[job] = true;
    reduce(p->w, job);
}

/* ---- the modes ---- */

/* Rules 2 to 4. */
static enum error_code start_waiting(struct pass *p)
{
    struct round_work *w = p->w;
    size_t resource;

    if (p->may_start && slots_free_cpus(&w->slots) == 0)
        make_room(p);
    if (!p->may_start || slots_free_cpus(&w->slots) == 0)
        return OK;
    work_hold(w, p->job);
    TRY(work_place(w, PLACE_SPREAD, &resource));
    if (resource == NOWHERE)
        return OK;
    work_start(w, p->job, 0, resource, w->in->jobs[p->job].has_checkpoint);
    turn_on(w, p->job, w->in->jobs[p->job].replica_count, resource);
    return OK;
}

static enum error_code checkpointing_mode(struct round_work *w)
{
    struct pass p = {.w = w, .may_start = true};

    for (; p.job < w->in->job_count; p.job++) {
        size_t active;

        p.job = next_to_reduce(w, p.job, &p.seen_count);
        if (p.job >= w->in->job_count || (!p.may_start && may_end(w, p.seen_count)))
            return OK; /* the others wait, and go on waiting */
        p.seen_count += w->in->jobs[p.job].replica_count > 0;
        if (work_is_finished(w->in, p.job) || (p.copied_sum && p.is_reduced[p.job]))
            continue;
        active = active_now(w, p.job);
        if (p.copied_sum && active > 1)
            copied_add(&p, p.job, false);
        if (active > 0)
            reduce(w, p.job);
        else
            TRY(start_waiting(&p));
    }
    return OK;
}

/* A job under checkpointing has got its second copy. */
static enum error_code turn_off(struct round_work *w, size_t job, size_t active_before)
{
    const struct round_job *j = &w->in->jobs[job];
    size_t kept = most_advanced(j);

    if (!j->is_checkpointing || active_before != 1 || kept == j->replica_count)
        return OK;
    work_act(w, (struct round_action){.kind = ROUND_CHECKPOINT_OFF,
                                      .job = job,
                                      .replica = kept,
                                      .resource = j->replicas[kept].resource,
                                      .when_running = true});
    return OK;
}

/* Jobs under checkpointing whose further copies run. */
static enum error_code turn_off_copied(struct round_work *w)
{
    size_t seen = 0;

    for (size_t job = 0; job < w->in->job_count; job++) {
        const struct round_job *j;
        size_t running = 0, kept;

        job = work_next_unsettled(w->in, ROUND_KEEPS_COPIES, job, &seen);
        if (job >= w->in->job_count || work_has_seen_all(w->in, seen))
            return OK;
        j = &w->in->jobs[job];
        seen += j->replica_count > 0;
        if (!j->is_checkpointing || work_is_finished(w->in, job))
            continue;
        for (size_t i = 0; i < j->replica_count; i++)
            running += j->replicas[i].state == REPLICA_RUNNING;
        kept = most_advanced(j);
        if (running > 1)
            work_act(w, (struct round_action){.kind = ROUND_CHECKPOINT_OFF,
                                              .job = job,
                                              .replica = kept,
                                              .resource = j->replicas[kept].resource});
    }
    return OK;
}

static enum round_mode first_mode(const struct round_work *w, const double *param,
                                  const struct fill_rules *rules)
{
    double needed = (double)rules->free_cpu_limit;
    enum round_mode before = w->in->mode_before != ROUND_MODE_NONE
                                 ? w->in->mode_before
                                 : (enum round_mode)param[OPTION_MODE_BEFORE];

    if (before == ROUND_CHECKPOINTING)
        needed += param[OPTION_SWITCH_HYSTERESIS];
    return (double)w->out.free_cpus >= needed ? ROUND_REPLICATION : ROUND_CHECKPOINTING;
}

static enum error_code replication_mode(struct round_work *w, const double *param,
                                        const struct fill_rules *rules)
{
    bool by_action = param[OPTION_MODE_DECISION] == DECIDE_BY_ACTION;

    if (by_action)
        work_follow(w);
    TRY(work_fill(w, rules, by_action, turn_off));
    if (by_action && slots_free_cpus(&w->slots) < rules->free_cpu_limit)
        w->out.mode = ROUND_CHECKPOINTING;
    return w->out.mode == ROUND_REPLICATION ? turn_off_copied(w) : OK;
}

enum error_code fault_tolerance_combined(const struct round_in *in, const double *param,
                                         struct round_out *out, struct arena *a,
                                         struct error *err)
{
    struct fill_rules rules;
    struct round_work w;

    TRY(work_load_rules(in, param, &rules, err));
    rules.counts_active = true;
    rules.restarts_use_image = true;
    rules.copies_use_image = param[OPTION_REPLICA_START] == START_LATEST_CHECKPOINT;
    TRY(work_begin(&w, in, (enum capacity_unit)param[LOAD_CAPACITY_UNIT], a, err));
    w.counts_active = true;
    w.out.free_cpu_limit = rules.free_cpu_limit;
    w.out.mode = first_mode(&w, param, &rules);
    if (w.out.mode == ROUND_REPLICATION)
        TRY(replication_mode(&w, param, &rules));
    if (w.out.mode == ROUND_CHECKPOINTING)
        TRY(checkpointing_mode(&w));
    w.target = w.out.mode == ROUND_REPLICATION ? rules.replicas_max : 1;
    work_end(&w, out);
    return OK;
}

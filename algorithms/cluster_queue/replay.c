/* replay.c - a log of jobs on a cluster, played by events. */
#include "algorithms/cluster_queue/replay.h"

#include "algorithms/cluster_queue/settings.h"
#include "algorithms/priority/fair_share.h"
#include "models/base/heap.h"

#include <math.h>
#include <string.h>

enum { LOOK_EVENTS = 256 }; /* between two words on the progress */

/* In the order in which they happen at one instant. */
enum kind {
    ENDS,
    ELIGIBLE,
    LATE,
    LEAVES,
    RESERVED,
    NODE_FAILS,
    NODE_RETURNS,
    ARRIVES,
    PLANNED,
    RANKS,
    MAIN,
    FULL,
    BACKFILL
};

struct happening {
    double at_s;
    enum kind kind;
    uint32_t version; /* of the job */
    size_t index;     /* job; or job_count + running job; or node */
};

static bool happens_before(const struct happening *a, const struct happening *b)
{
    if (a->at_s < b->at_s || a->at_s > b->at_s)
        return a->at_s < b->at_s;
    if (a->kind != b->kind)
        return a->kind < b->kind;
    return a->index < b->index;
}
HEAP(happenings, struct happening, happens_before)

enum stage { AHEAD, WAITING, RUNNING, OVER };

struct life {
    enum stage stage;
    uint32_t version; /* of its end */
    size_t first_row, row_count;
    double charged_s; /* its use counts up to then */
    double kill_s;    /* its limit, of the attempt */
    struct cluster_held *held;
};

struct engine {
    const struct cluster_replay_in *in;
    struct cluster of; /* as it is now */
    struct cluster_job *jobs;
    struct cluster_row *rows;
    struct cluster_account *accounts;
    struct cluster_node *nodes; /* with those that are down; NULL: none will be */
    size_t *outages;            /* of each node, now */
    struct cluster_pass pass;
    struct cluster_decision decision;
    struct cluster_line *line; /* NULL: slurm_backfill */
    struct cluster_ranker *ranker;
    struct cluster_replayed *out;
    size_t attempt_room;
    struct life *lives;
    double *limits_s;                   /* of rows: to be killed at */
    size_t *followers, *first_follower; /* who waits for a job */
    struct cluster_after *after;        /* of all jobs */
    double *names;                      /* running jobs of each name */
    struct cluster_held **ran;          /* of running jobs at the begin */
    double *use;                        /* of accounts, without those below */
    double use_at_s;
    struct happening *heap;
    size_t heap_count, heap_room;
    size_t arrived, through;
    double now_s, moved_s; /* moved_s: until when what is idle is counted */
    double last_main_s, last_full_s, last_backfill_s;
    double idle_cpus; /* while it is fragmented; else 0 */
    bool changed;     /* at this instant */
    bool main_posted, full_posted, backfill_posted, ranks_posted;
    bool full_stale, backfill_stale; /* something has changed since the last one */
    bool ended, unsorted;
    struct arena *keep, *run;
    bool cut;
};

/* Nothing happens then any more: ends that nobody knows are given as this. */
static const double NEVER_S = 1e15;

static void post(struct engine *e, double at_s, enum kind kind, size_t index,
                 uint32_t version)
{
    if (!(at_s < NEVER_S))
        return;
    if (e->heap_count == e->heap_room) {
        size_t room = 2 * e->heap_room;

        e->heap = GROW(e->run, e->heap, struct happening, e->heap_room, room);
        e->heap_room = room;
    }
    happenings_push(e->heap, &e->heap_count,
                    (struct happening){fmax(at_s, e->now_s), kind, version, index});
}

static const struct cluster_replay_settings *settings_of(const struct engine *e)
{
    return &e->in->settings;
}

/* ---- who waits for whom ---- */

static void list_followers(struct engine *e)
{
    size_t n = e->of.job_count, sum = 0, *list;
    size_t all = n + e->of.running_count;
    size_t *first = NEW(e->run, size_t, all + 2);

    for (size_t i = 0; i < n; i++) {
        const struct cluster_job *job = &e->jobs[i];

        budget_step(e->of.budget, job->after_count + 1);
        sum += job->after_count;
        for (size_t k = 0; k < job->after_count; k++)
            first[job->after[k].job + (job->after[k].is_running ? n : 0) + 2]++;
    }
    for (size_t i = 1; i <= all; i++)
        first[i + 1] += first[i];
    list = NEW(e->run, size_t, sum);
    e->after = NEW(e->run, struct cluster_after, sum);
    sum = 0;
    for (size_t i = 0; i < n; i++) {
        struct cluster_job *job = &e->jobs[i];

        budget_step(e->of.budget, job->after_count + 1);
        if (job->after_count)
            memcpy(&e->after[sum], job->after, job->after_count * sizeof(*e->after));
        job->after = &e->after[sum];
        for (size_t k = 0; k < job->after_count; k++)
            list[first[job->after[k].job + (job->after[k].is_running ? n : 0) + 1]++] = i;
        sum += job->after_count;
    }
    e->followers = list;
    e->first_follower = first;
}

enum job_change { STARTED, ENDED_WELL, ENDED_BADLY };

/* 1: it is met, 0: not yet, -1: never. */
static int met_by(const struct cluster_after *after, enum job_change change)
{
    if (after->kind == CLUSTER_AFTER_START)
        return 1;
    if (change == STARTED)
        return 0;
    if (after->kind == CLUSTER_AFTER_END)
        return 1;
    return (change == ENDED_WELL) == (after->kind == CLUSTER_AFTER_OK) ? 1 : -1;
}

static void leave_queue(struct engine *e, size_t job, enum cluster_reason reason);

/* What a change of a job settles of the list of one that waits for it. */
struct settled {
    bool met, never;
    double delay_s; /* the longest of what is met */
};

/* What is settled leaves the list. */
static struct settled settle_list(struct engine *e, struct cluster_job *j, size_t of,
                                  bool is_running, enum job_change change)
{
    struct cluster_after *list = (struct cluster_after *)(uintptr_t)j->after;
    struct settled out = {0};

    for (size_t k = 0; k < j->after_count;) {
        int is;

        budget_step(e->of.budget, 1);
        if (list[k].job != of || list[k].is_running != is_running ||
            !(is = met_by(&list[k], change))) {
            k++;
            continue;
        }
        if (is > 0)
            out.delay_s = fmax(out.delay_s, list[k].delay_s);
        out.met |= is > 0;
        out.never |= is < 0;
        list[k] = list[--j->after_count];
    }
    return out;
}

/* Tells a job of the one that it waits for. */
static void tell(struct engine *e, size_t job, size_t of, bool is_running,
                 enum job_change change)
{
    struct cluster_job *j = &e->jobs[job];
    struct settled is = settle_list(e, j, of, is_running, change);

    if (!is.met && !is.never)
        return;
    if (is.met && j->any_after)
        j->after_count = 0;
    if (is.never && (!j->any_after || (!is.met && !j->after_count)))
        j->is_never = true;
    if (!is.met && !j->is_never)
        return;
    if (j->after_count == 0 && !j->is_never) {
        double submit_s = e->lives[job].stage == AHEAD ? j->submit_s : e->now_s;

        j->eligible_s = fmax(j->eligible_s, fmax(submit_s, e->now_s + is.delay_s));
        post(e, j->eligible_s, ELIGIBLE, job, 0);
    }
    e->changed = true;
    if (j->is_never && e->in->jobs[job].ends_if_never && e->lives[job].stage == WAITING)
        leave_queue(e, job, CLUSTER_REASON_DEPENDENCY_NEVER);
}

static void tell_all(struct engine *e, size_t job, bool is_running,
                     enum job_change change)
{
    size_t at = job + (is_running ? e->of.job_count : 0);

    for (size_t k = e->first_follower[at]; k < e->first_follower[at + 1]; k++) {
        budget_step(e->of.budget, 1);
        if (e->lives[e->followers[k]].stage != OVER)
            tell(e, e->followers[k], job, is_running, change);
    }
}

/* ---- use, and priorities ---- */

/* Counts what a running job has used since the last time. */
static void charge(struct engine *e, const struct cluster_held *held, double *from_s)
{
    ptrdiff_t account = held->of.account, qos = held->of.qos;
    size_t amounts = e->of.amount_count;
    double cpus = 0, factor = qos >= 0 ? e->of.qos[qos].usage_factor : 1;

    budget_step(e->of.budget, held->node_count);
    for (size_t i = 0; i < held->node_count; i++)
        cpus += (double)held->taken[i * amounts + CLUSTER_CPUS] / CLUSTER_UNITS;
    if (account >= 0)
        e->use[account] += factor * cpus * (e->now_s - *from_s);
    *from_s = e->now_s;
}

static void advance_use(struct engine *e)
{
    size_t n = e->of.account_count;
    double left = fair_share_left(1, e->now_s - e->use_at_s, settings_of(e)->half_life_s);

    budget_step(e->of.budget, 4 * n + e->pass.state->held_count);
    for (size_t i = 0; i < n; i++)
        e->use[i] *= left;
    e->use_at_s = e->now_s;
    for (size_t i = 0; i < e->pass.state->held_count; i++) {
        const struct cluster_held *held = e->pass.state->held[i];

        if (held->job >= 0)
            charge(e, held, &e->lives[held->job].charged_s);
    }
    for (size_t i = 0; i < n; i++)
        e->accounts[i].used_cpu_s = 0;
    for (size_t i = 0; i < n; i++)
        for (ptrdiff_t k = (ptrdiff_t)i; k >= 0; k = e->accounts[k].parent) {
            e->accounts[k].used_cpu_s += e->use[i];
            budget_step(e->of.budget, 1);
        }
}

/* What accounts had used before, each without those below it. */
static void begin_use(struct engine *e)
{
    size_t n = e->of.account_count;

    e->use = NEW(e->run, double, n);
    for (size_t i = 0; i < n; i++) {
        budget_step(e->of.budget, 1);
        if (isnan(e->accounts[i].used_cpu_s))
            e->accounts[i].used_cpu_s = 0;
        e->use[i] += e->accounts[i].used_cpu_s;
        if (e->accounts[i].parent >= 0)
            e->use[e->accounts[i].parent] -= e->accounts[i].used_cpu_s;
    }
    for (size_t i = 0; i < n; i++)
        e->use[i] = fmax(0, e->use[i]);
    e->use_at_s = e->now_s;
}

static bool is_ranked(const struct engine *e)
{
    return !e->line && e->in->ranking && !e->in->ranking->basic;
}

static void rank(struct engine *e)
{
    struct cluster_pass *p = &e->pass;
    struct arena_mark mark = arena_mark(p->arena);

    if (!is_ranked(e) || !p->row_count)
        return;
    if (e->in->ranking->weights.fair_share > 0 && e->of.account_count) {
        advance_use(e);
        cluster_fair_shares(e->in->ranking, e->in->shares, e->accounts,
                            e->of.account_count, e->of.budget, p->arena);
    }
    cluster_rank_rows(e->ranker, &e->of, e->in->rank_jobs, e->rows, p->out->order,
                      p->row_count, NULL);
    arena_rewind(p->arena, mark);
    e->unsorted = true;
}

/* ---- the queue ---- */

static void sort_queue(struct engine *e)
{
    struct cluster_pass *p = &e->pass;
    struct arena_mark mark = arena_mark(p->arena);
    size_t *before;

    if (!e->unsorted)
        return;
    e->unsorted = false;
    before = NEW(p->arena, size_t, p->row_count);
    if (p->row_count)
        memcpy(before, p->out->order, p->row_count * sizeof(*before));
    if (e->line)
        cluster_line_order(e->line, p->out->order, p->row_count);
    else
        cluster_order(&e->of, p->out->order, p->row_count);
    if (p->row_count &&
        memcmp(before, p->out->order, p->row_count * sizeof(*before)) != 0)
        e->full_stale = e->backfill_stale = true;
    arena_rewind(p->arena, mark);
}

static void reset_verdict(struct engine *e, size_t row)
{
    e->decision.verdicts[row] = (struct cluster_verdict){.start_s = (double)NAN,
                                                         .until_s = (double)NAN,
                                                         .limit_s = e->rows[row].limit_s,
                                                         .behind = CLUSTER_NONE,
                                                         .reservation = CLUSTER_NONE};
}

/* Rows of the job that can run, into the queue. */
static void join_queue(struct engine *e, size_t job)
{
    struct cluster_pass *p = &e->pass;
    struct life *life = &e->lives[job];
    size_t before = p->row_count;

    for (size_t r = life->first_row; r < life->first_row + life->row_count; r++) {
        budget_step(e->of.budget, 1);
        if (e->decision.verdicts[r].outcome != CLUSTER_NEVER)
            p->out->order[p->row_count++] = r;
    }
    life->stage = WAITING;
    e->unsorted = true;
    if (is_ranked(e))
        cluster_rank_rows(e->ranker, &e->of, e->in->rank_jobs, e->rows,
                          p->out->order + before, p->row_count - before, NULL);
}

/* Rows whose jobs do not wait any more leave it. */
static void compact(struct engine *e)
{
    struct cluster_pass *p = &e->pass;
    size_t kept = 0;

    budget_step(e->of.budget, p->row_count);
    for (size_t i = 0; i < p->row_count; i++)
        if (e->lives[e->rows[p->out->order[i]].job].stage == WAITING)
            p->out->order[kept++] = p->out->order[i];
    p->row_count = kept;
}

static void leave_queue(struct engine *e, size_t job, enum cluster_reason reason)
{
    struct cluster_replay_outcome *o = &e->out->outcomes[job];

    if (e->line)
        cluster_line_leave(e->line, job);
    o->state = isnan(o->start_s) ? CLUSTER_JOB_NEVER : CLUSTER_JOB_CANCELLED;
    o->reason = reason;
    e->lives[job].stage = OVER;
    e->pass.started[job] = true; /* nobody waits for it to start */
    e->through++;
    e->changed = true;
    tell_all(e, job, false, ENDED_BADLY);
}

/* ---- running ---- */

static double allocated_of(const struct engine *e, const struct cluster_held *held)
{
    size_t amounts = e->of.amount_count;
    double cpus = 0;

    for (size_t i = 0; i < held->node_count; i++)
        cpus +=
            (double)(held->exclusive ? e->of.nodes[held->nodes[i]].capacity[CLUSTER_CPUS]
                                     : held->taken[i * amounts + CLUSTER_CPUS]);
    budget_step(e->of.budget, held->node_count);
    return cpus / CLUSTER_UNITS;
}

static double asked_of(const struct engine *e, size_t row, size_t nodes)
{
    const struct cluster_job *job = &e->jobs[e->rows[row].job];
    double times = job->tasks ? (double)job->tasks : (double)nodes;

    return times * (double)e->rows[row].need[CLUSTER_CPUS] / CLUSTER_UNITS;
}

static const uint32_t *kept_nodes(struct engine *e, const struct cluster_held *held)
{
    uint32_t *nodes = NEW(e->keep, uint32_t, held->node_count);

    budget_step(e->of.budget, held->node_count);
    if (held->node_count)
        memcpy(nodes, held->nodes, held->node_count * sizeof(*nodes));
    return nodes;
}

/* A job has begun: its end is known. */
static void note_start(struct engine *e, struct cluster_held *held)
{
    size_t job = (size_t)held->job, row = held->row;
    struct life *life = &e->lives[job];
    struct cluster_replay_outcome *o = &e->out->outcomes[job];
    const struct cluster_verdict *v = &e->decision.verdicts[row];
    double limit_s = v->limit_s < e->rows[row].limit_s ? v->limit_s : e->limits_s[row];

    life->stage = RUNNING;
    life->held = held;
    life->charged_s = e->now_s;
    life->kill_s = limit_s + settings_of(e)->over_time_limit_s;
    if (isnan(o->start_s)) {
        o->start_s = e->now_s;
        o->priority = e->rows[row].priority;
    }
    o->last_start_s = e->now_s;
    o->row = row;
    o->cpus = asked_of(e, row, held->node_count);
    o->node_count = held->node_count;
    o->nodes = job < e->in->keeps_nodes ? kept_nodes(e, held) : NULL;
    if (held->of.name >= 0)
        e->names[held->of.name]++;
    post(e, e->now_s + fmin(e->in->jobs[job].run_s, life->kill_s), ENDS, job,
         ++life->version);
    e->full_stale = e->backfill_stale = true;
    tell_all(e, job, false, STARTED);
}

static void keep_attempt(struct engine *e, const struct cluster_held *held)
{
    struct cluster_replayed *out = e->out;

    if (!e->in->keeps_attempts)
        return;
    if (out->attempt_count == e->attempt_room) {
        size_t room = 2 * e->attempt_room + 64;

        out->attempts = arena_extend(e->keep, out->attempts, sizeof(*out->attempts),
                                     e->attempt_room, room);
        e->attempt_room = room;
    }
    out->attempts[out->attempt_count++] = (struct cluster_attempt){
        (size_t)held->job, held->start_s, e->now_s,
        asked_of(e, held->row, held->node_count), allocated_of(e, held)};
}

/* Its nodes are free. */
static void note_gone(struct engine *e, struct cluster_held *held)
{
    if (held->job >= 0) {
        if (e->in->ranking && e->of.account_count)
            charge(e, held, &e->lives[held->job].charged_s);
        keep_attempt(e, held);
    }
    if (held->of.name >= 0) {
        e->names[held->of.name]--;
        e->pass.names_running[held->of.name] = e->names[held->of.name] > 0;
    }
    e->changed = e->ended = true;
}

static void end_job(struct engine *e, size_t job)
{
    struct life *life = &e->lives[job];
    struct cluster_replay_outcome *o = &e->out->outcomes[job];
    bool killed = e->in->jobs[job].run_s > life->kill_s;
    bool well = !killed && !e->in->jobs[job].fails;

    if (e->line)
        cluster_line_end(e->line, life->held, e->now_s);
    note_gone(e, life->held);
    cluster_stop(e->pass.state, life->held);
    life->stage = OVER;
    o->end_s = e->now_s;
    o->state = killed ? CLUSTER_JOB_KILLED : CLUSTER_JOB_DONE;
    e->through++;
    tell_all(e, job, false, well ? ENDED_WELL : ENDED_BADLY);
}

/* Whose job it is does not want it any more. */
static void cancel_job(struct engine *e, size_t job)
{
    struct life *life = &e->lives[job];
    struct cluster_replay_outcome *o = &e->out->outcomes[job];

    if (life->stage == WAITING) {
        if (isnan(o->start_s)) {
            o->end_s = e->now_s;
            o->cpus = asked_of(e, life->first_row, e->jobs[job].nodes);
        }
        leave_queue(e, job, CLUSTER_REASON_NODES);
        compact(e);
    } else if (life->stage == RUNNING) {
        if (e->line)
            cluster_line_end(e->line, life->held, e->now_s);
        note_gone(e, life->held);
        cluster_stop(e->pass.state, life->held);
        life->version++; /* its end does not happen */
        life->stage = OVER;
        o->end_s = e->now_s;
        e->through++;
        tell_all(e, job, false, ENDED_BADLY);
    } else
        return;
    o->state = CLUSTER_JOB_CANCELLED;
}

/* A job that ran when it began. */
static void end_running(struct engine *e, size_t running)
{
    struct cluster_held *held = e->ran[running];

    if (held->gone)
        return;
    if (e->line)
        cluster_line_end(e->line, held, e->now_s);
    note_gone(e, held);
    cluster_stop(e->pass.state, held);
    tell_all(e, running, true, ENDED_WELL);
}

/* Its attempt is over without its end: it waits again, or is lost in that state. */
static void lose(struct engine *e, struct cluster_held *held, bool requeues,
                 enum cluster_job_state state)
{
    size_t job = (size_t)held->job;
    struct life *life;
    struct cluster_replay_outcome *o;

    e->out->lost_core_s += allocated_of(e, held) * (e->now_s - held->start_s);
    note_gone(e, held);
    if (held->job < 0) {
        tell_all(e, (size_t)held->running, true, ENDED_BADLY);
        return;
    }
    life = &e->lives[job];
    o = &e->out->outcomes[job];
    life->version++; /* its end does not happen */
    o->preempted += state == CLUSTER_JOB_CANCELLED;
    o->failed += state == CLUSTER_JOB_LOST;
    o->end_s = e->now_s;
    if (!requeues || !e->in->jobs[job].requeues) {
        life->stage = OVER;
        o->state = state;
        e->through++;
        tell_all(e, job, false, ENDED_BADLY);
        return;
    }
    e->pass.started[job] = false;
    o->state = CLUSTER_JOB_WAITS;
    e->jobs[job].eligible_s = e->now_s + settings_of(e)->requeue_delay_s;
    for (size_t r = life->first_row; r < life->first_row + life->row_count; r++)
        if (e->decision.verdicts[r].outcome != CLUSTER_NEVER)
            reset_verdict(e, r);
    compact(e);
    join_queue(e, job);
    e->changed = true;
    post(e, e->jobs[job].eligible_s, ELIGIBLE, job, 0);
}

/* It was stopped for another one. */
static void note_stopped(struct engine *e, struct cluster_held *held)
{
    e->out->preempted_count++;
    lose(e, held, !settings_of(e)->cancels, CLUSTER_JOB_CANCELLED);
}

/* ---- nodes that fail ---- */

static bool is_on(const struct engine *e, const struct cluster_held *held, size_t node)
{
    budget_step(e->of.budget, held->node_count);
    for (size_t i = 0; i < held->node_count; i++)
        if (held->nodes[i] == node)
            return true;
    return false;
}

static void fail_node(struct engine *e, size_t node)
{
    struct cluster_state *s = e->pass.state;

    if (e->outages[node]++)
        return;
    e->nodes[node].starts = false;
    e->changed = true;
    for (size_t i = s->held_count; i-- > 0;) {
        struct cluster_held *held = s->held[i];

        if (!is_on(e, held, node))
            continue;
        if (e->line)
            cluster_line_end(e->line, held, e->now_s);
        e->out->failed_count++;
        lose(e, held, true, CLUSTER_JOB_LOST);
        cluster_stop(s, held);
    }
}

static void return_node(struct engine *e, size_t node)
{
    if (--e->outages[node])
        return;
    e->nodes[node].starts = e->in->of->nodes[node].starts;
    e->changed = true;
    if (e->line)
        cluster_line_more(e->line);
}

/* Those that have an end ahead; nodes that may change are a copy. */
static void list_outages(struct engine *e)
{
    const struct cluster *c = e->in->of;

    if (!e->in->outage_count)
        return;
    e->outages = NEW(e->run, size_t, c->node_count);
    e->nodes = NEW(e->run, struct cluster_node, c->node_count);
    memcpy(e->nodes, c->nodes, c->node_count * sizeof(*e->nodes));
    e->of.nodes = e->nodes;
    budget_step(c->budget, c->node_count + 4 * e->in->outage_count);
    for (size_t i = 0; i < e->in->outage_count; i++) {
        const struct cluster_outage *o = &e->in->outages[i];

        if (!(o->up_s > fmax(o->down_s, e->now_s)))
            continue;
        post(e, o->down_s, NODE_FAILS, o->node, 0);
        post(e, o->up_s, NODE_RETURNS, o->node, 0);
    }
}

/* ---- deciding ---- */

/* Before a run of the main loop, or a pass. */
static void prepare_pass(struct engine *e)
{
    struct cluster_pass *p = &e->pass;

    e->of.now_s = e->now_s;
    compact(e);
    sort_queue(e);
    budget_step(e->of.budget, p->row_count);
    for (size_t i = 0; i < p->row_count; i++)
        reset_verdict(e, p->out->order[i]);
    p->out->tested_count = 0;
    p->begun = NEW(p->arena, struct cluster_held *, p->row_count);
    p->begun_count = 0;
}

static void take_begun(struct engine *e)
{
    struct cluster_pass *p = &e->pass;

    budget_step(e->of.budget, p->begun_count);
    for (size_t i = 0; i < p->begun_count; i++)
        note_start(e, p->begun[i]);
    for (size_t i = 0; i < p->begun_count; i++) {
        const struct cluster_verdict *v = &e->decision.verdicts[p->begun[i]->row];

        for (size_t k = 0; k < v->stopped_count; k++)
            note_stopped(e, v->stopped[k]);
        budget_step(e->of.budget, v->stopped_count);
    }
    compact(e);
}

static void run_main(struct engine *e, double depth)
{
    struct arena_mark mark = arena_mark(e->pass.arena);

    prepare_pass(e);
    cluster_main_loop(&e->pass, depth);
    take_begun(e);
    e->last_main_s = e->now_s;
    e->out->main_count++;
    arena_rewind(e->pass.arena, mark);
}

static void run_backfill(struct engine *e)
{
    struct arena_mark mark = arena_mark(e->pass.arena);

    e->backfill_stale = false;
    prepare_pass(e);
    cluster_backfill(&e->pass);
    take_begun(e);
    e->out->backfill_count++;
    arena_rewind(e->pass.arena, mark);
}

static void run_line(struct engine *e)
{
    struct arena_mark mark = arena_mark(e->pass.arena);
    double next_s;

    prepare_pass(e);
    next_s = cluster_line_decide(e->line, &e->pass);
    take_begun(e);
    if (next_s > e->now_s)
        post(e, next_s, PLANNED, 0, 0);
    arena_rewind(e->pass.arena, mark);
}

/* The first multiple of `step` behind `from_s` that is not over, and behind last_s; where
 * steps are finer than doubles, the next double. */
static double next_tick(const struct engine *e, double from_s, double step, double last_s)
{
    double k = fmax(0, ceil((fmax(e->now_s, last_s) - from_s) / step));
    double at_s = from_s + k * step;

    for (int i = 0; i < 2 && (at_s < e->now_s || at_s <= last_s); i++)
        at_s = from_s + ++k * step;
    if (at_s >= e->now_s && at_s > last_s)
        return at_s;
    return fmax(e->now_s, nextafter(last_s, HUGE_VAL));
}

static double first_pass_s(const struct engine *e)
{
    return isnan(e->in->first_pass_s) ? e->in->of->now_s : e->in->first_pass_s;
}

/* Posts what is to be run for what has changed. */
static void plan_runs(struct engine *e)
{
    const struct cluster_replay_settings *s = settings_of(e);
    bool waits = e->pass.row_count > 0;

    if (e->changed)
        e->full_stale = e->backfill_stale = true;
    if (e->changed && !e->main_posted) {
        post(e, fmax(e->now_s, e->last_main_s + s->sched_min_interval_s), MAIN, 0, 0);
        e->main_posted = true;
    }
    e->changed = false;
    if (waits && e->full_stale && !e->full_posted) {
        post(e, next_tick(e, e->in->of->now_s, s->sched_interval_s, e->last_full_s), FULL,
             0, 0);
        e->full_posted = true;
    }
    if (waits && e->backfill_stale && !e->backfill_posted &&
        e->of.settings.bf_interval_s > 0) {
        post(e,
             next_tick(e, first_pass_s(e), e->of.settings.bf_interval_s,
                       e->last_backfill_s),
             BACKFILL, 0, 0);
        e->backfill_posted = true;
    }
    /* Without anything to come no order matters. */
    if (waits && is_ranked(e) && !e->ranks_posted && e->heap_count) {
        post(e, next_tick(e, e->in->of->now_s, s->calc_period_s, e->now_s), RANKS, 0, 0);
        e->ranks_posted = true;
    }
}

/* ---- what is idle, and useless ---- */

static double free_cpus(const struct engine *e, const uint64_t *nodes)
{
    size_t amounts = e->of.amount_count;
    double sum = 0;

    budget_step(e->of.budget, e->of.node_count);
    for (size_t i = 0; i < e->of.node_count; i++)
        if (cluster_set_has(nodes, i) && e->of.nodes[i].starts)
            sum += (double)e->pass.state->free[i * amounts + CLUSTER_CPUS];
    return sum;
}

/* Whether some job that is ready would fit in the sum of what is idle, but on no nodes.
 * Rows that ask for the same are asked once, one after the other. */
static double find_fragments(struct engine *e)
{
    struct cluster_pass *p = &e->pass;
    const struct cluster_row *last = NULL;
    double idle = 0;

    for (size_t i = 0; i < p->row_count; i++) {
        const struct cluster_row *row = &e->rows[p->out->order[i]];
        const struct cluster_job *job = &e->jobs[row->job];
        double times = job->tasks ? (double)job->tasks : (double)job->nodes;

        budget_step(e->of.budget, 1);
        if (last && row->partition == last->partition &&
            job->nodes == e->jobs[last->job].nodes &&
            row->need[CLUSTER_CPUS] == last->need[CLUSTER_CPUS])
            continue;
        last = row;
        if (!cluster_ready(p, p->out->order[i]))
            continue;
        idle = free_cpus(e, e->of.partitions[row->partition].nodes);
        if (times * (double)row->need[CLUSTER_CPUS] > idle)
            continue;
        cluster_ask(&p->question, row, NULL, e->of.partitions[row->partition].nodes);
        if (!cluster_enough(&p->question, e->of.partitions[row->partition].nodes, 0))
            return idle / CLUSTER_UNITS;
    }
    return 0;
}

static void move_to(struct engine *e, double at_s)
{
    if (e->in->counts_fragments && at_s > e->moved_s)
        e->out->fragmented_core_s += e->idle_cpus * (at_s - e->moved_s);
    e->moved_s = at_s;
    e->now_s = at_s;
}

/* ---- what happens ---- */

static void arrive(struct engine *e)
{
    size_t job = e->arrived++;
    struct cluster_job *j = &e->jobs[job];

    if (e->arrived < e->of.job_count)
        post(e, e->jobs[e->arrived].submit_s, ARRIVES, e->arrived, 0);
    if (e->lives[job].stage == OVER)
        return;
    if (j->is_never && e->in->jobs[job].ends_if_never) {
        leave_queue(e, job, CLUSTER_REASON_DEPENDENCY_NEVER);
        return;
    }
    join_queue(e, job);
    if (e->in->cancel_s)
        post(e, e->in->cancel_s[job], LEAVES, job, 0);
    e->changed |= !e->of.settings.defer || e->line;
    e->full_stale = e->backfill_stale = true;
    if (j->eligible_s > e->now_s)
        post(e, j->eligible_s, ELIGIBLE, job, 0);
    if (isfinite(j->deadline_s)) {
        const struct life *life = &e->lives[job];
        double least_s = HUGE_VAL;

        for (size_t r = life->first_row; r < life->first_row + life->row_count; r++)
            least_s = fmin(least_s, e->rows[r].limit_s);
        budget_step(e->of.budget, life->row_count);
        if (!isnan(j->limit_min_s))
            least_s = j->limit_min_s;
        post(e, nextafter(j->deadline_s - least_s, HUGE_VAL), LATE, job, 0);
    }
}

static void happen(struct engine *e, const struct happening *h)
{
    size_t n = e->of.job_count;

    switch (h->kind) {
    case ENDS:
        if (h->index >= n)
            end_running(e, h->index - n);
        else if (h->version == e->lives[h->index].version)
            end_job(e, h->index);
        break;
    case ELIGIBLE:
        e->changed |= e->lives[h->index].stage == WAITING;
        e->unsorted |= e->lives[h->index].stage == WAITING;
        break;
    case LATE:
        if (e->lives[h->index].stage == WAITING)
            leave_queue(e, h->index, CLUSTER_REASON_DEADLINE);
        compact(e);
        break;
    case LEAVES:
        cancel_job(e, h->index);
        break;
    case NODE_FAILS:
        fail_node(e, h->index);
        break;
    case NODE_RETURNS:
        return_node(e, h->index);
        break;
    case ARRIVES:
        arrive(e);
        break;
    case RANKS:
        e->ranks_posted = false;
        rank(e);
        break;
    case FULL:
        e->full_posted = e->full_stale = false;
        e->last_full_s = e->now_s;
        run_main(e, HUGE_VAL);
        break;
    case MAIN:
        e->main_posted = false;
        run_main(e, e->of.settings.default_queue_depth);
        break;
    case BACKFILL:
        e->backfill_posted = false;
        e->last_backfill_s = e->now_s;
        run_backfill(e);
        break;
    default: /* reservations, plans */
        e->changed = true;
        break;
    }
}

/* All of an instant, up to the point at which the policy decides. */
static void settle(struct engine *e)
{
    e->of.now_s = e->now_s;
    if (e->line) {
        if (e->changed)
            run_line(e);
        e->changed = false;
        return;
    }
    if (e->ended)
        rank(e);
    e->ended = false;
    plan_runs(e);
}

static bool is_last_of_kind(const struct engine *e, const struct happening *h)
{
    const struct happening *next = e->heap_count ? &e->heap[0] : NULL;

    return !next || next->at_s > e->now_s || h->kind >= MAIN || next->kind >= MAIN;
}

static void loop(struct engine *e)
{
    size_t count = 0;

    while (e->heap_count && !e->cut) {
        struct happening h = happenings_pop(e->heap, &e->heap_count);

        move_to(e, h.at_s);
        e->of.now_s = e->now_s;
        happen(e, &h);
        if (is_last_of_kind(e, &h)) {
            settle(e);
            if (e->in->counts_fragments && (!e->heap_count || e->heap[0].at_s > e->now_s))
                e->idle_cpus = find_fragments(e);
        }
        if (++count % LOOK_EVENTS == 0 && e->in->progress)
            e->in->progress(e->in->context, (double)(e->arrived + e->through) /
                                                (2 * (double)e->of.job_count));
        e->cut = budget_step(e->of.budget, 16) || e->decision.is_cut;
    }
}

/* ---- the begin ---- */

static bool same_amounts(const struct cluster *c, const int64_t *need)
{
    for (size_t k = 0; k < c->amount_count; k++)
        if (need[k] > 0)
            return true;
    return false;
}

/* Who can never run leaves at once, whatever it waits for. */
static void screen(struct engine *e)
{
    struct arena_mark mark = arena_mark(e->run);
    struct arena *own = e->pass.arena;

    e->of.now_s = -HUGE_VAL;
    e->pass.arena = e->run;
    cluster_screen(&e->pass);
    e->pass.arena = own;
    arena_rewind(e->run, mark);
    for (size_t r = 0; r < e->of.row_count; r++) {
        struct cluster_verdict *v = &e->decision.verdicts[r];

        budget_step(e->of.budget, 1);
        if (v->outcome == CLUSTER_WAITS && v->reason == CLUSTER_REASON_RESOURCE_DOWN &&
            same_amounts(&e->of, e->rows[r].need))
            v->outcome = CLUSTER_NEVER;
    }
    for (size_t i = 0; i < e->of.job_count; i++) {
        const struct life *life = &e->lives[i];
        bool any = false;

        budget_step(e->of.budget, life->row_count);
        for (size_t r = life->first_row; r < life->first_row + life->row_count; r++)
            any |= e->decision.verdicts[r].outcome != CLUSTER_NEVER;
        e->out->outcomes[i] = (struct cluster_replay_outcome){.start_s = (double)NAN,
                                                              .last_start_s = (double)NAN,
                                                              .end_s = (double)NAN,
                                                              .row = life->first_row};
        if (!any)
            leave_queue(e, i,
                        life->row_count ? e->decision.verdicts[life->first_row].reason
                                        : CLUSTER_REASON_REQUIREMENT);
    }
}

static void copy_jobs(struct engine *e)
{
    const struct cluster *c = e->in->of;

    e->jobs = NEW(e->run, struct cluster_job, c->job_count);
    e->rows = NEW(e->run, struct cluster_row, c->row_count);
    e->accounts = NEW(e->run, struct cluster_account, c->account_count);
    e->lives = NEW(e->run, struct life, c->job_count);
    e->limits_s = NEW(e->run, double, c->row_count);
    if (c->job_count)
        memcpy(e->jobs, c->jobs, c->job_count * sizeof(*e->jobs));
    if (c->row_count)
        memcpy(e->rows, c->rows, c->row_count * sizeof(*e->rows));
    if (c->account_count)
        memcpy(e->accounts, c->accounts, c->account_count * sizeof(*e->accounts));
    budget_step(c->budget, 4 * (c->job_count + c->row_count + c->account_count));
    for (size_t r = 0; r < c->row_count; r++) {
        struct life *life = &e->lives[c->rows[r].job];

        e->limits_s[r] = c->rows[r].limit_s;
        life->first_row = life->row_count++ ? life->first_row : r;
    }
    e->of.jobs = e->jobs;
    e->of.rows = e->rows;
    e->of.accounts = e->accounts;
}

/* What the policy believes goes for the limit, once it is known who may run. */
static void take_estimates(struct engine *e)
{
    for (size_t r = 0; r < e->of.row_count && e->in->estimate_s; r++) {
        double believed_s = e->in->estimate_s[e->rows[r].job];

        budget_step(e->of.budget, 1);
        if (!isnan(believed_s))
            e->rows[r].limit_s = believed_s;
    }
}

static void begin_running(struct engine *e)
{
    struct cluster_state *s = e->pass.state;

    e->ran = NEW(e->run, struct cluster_held *, e->of.running_count);
    e->names = NEW(e->run, double, e->of.name_count);
    budget_step(e->of.budget, s->held_count);
    for (size_t i = 0; i < s->held_count; i++) {
        struct cluster_held *held = s->held[i];

        e->ran[held->running] = held;
        post(e, held->end_s, ENDS, e->of.job_count + (size_t)held->running, 0);
        if (held->of.name >= 0) {
            e->names[held->of.name]++;
            e->pass.names_running[held->of.name] = true;
        }
    }
}

static void begin(struct engine *e)
{
    const struct cluster *c = &e->of;
    struct cluster_pass *p = &e->pass;

    e->heap_room = 1024;
    e->heap = NEW(e->run, struct happening, e->heap_room);
    copy_jobs(e);
    list_outages(e);
    e->decision = (struct cluster_decision){
        .verdicts = NEW(e->run, struct cluster_verdict, c->row_count),
        .order = NEW(e->run, size_t, c->row_count),
        .tested = NEW(e->run, size_t, c->row_count),
        .state = cluster_state_create(c, e->run),
    };
    *p = (struct cluster_pass){
        .of = c,
        .out = &e->decision,
        .state = e->decision.state,
        .usable = NEW(e->run, uint64_t, cluster_words(c->node_count)),
        .started = NEW(e->run, bool, c->job_count),
        .names_running = NEW(e->run, bool, c->name_count),
        .goes_on = true,
        .arena = arena_create_beside(e->run, arena_cap_bytes(e->run)),
    };
    p->question = cluster_question_create(p->state, e->run);
    list_followers(e);
    begin_running(e);
    screen(e);
    take_estimates(e);
    begin_use(e);
    if (policy_find(cluster_policies, e->in->policy->name) != e->in->policy)
        e->line = cluster_line_create(c, e->in->policy, e->run);
    else if (e->in->ranking)
        e->ranker = cluster_ranker_create(c, e->in->ranking, e->run);
    if (e->line)
        cluster_line_promise(e->line, e->in->promises);
    for (size_t i = 0; i < c->running_count; i++)
        tell_all(e, i, true, STARTED);
    for (size_t i = 0; i < c->reservation_count; i++) {
        budget_step(c->budget, 1);
        if (c->reservations[i].start_s >= e->now_s)
            post(e, c->reservations[i].start_s, RESERVED, i, 0);
        if (c->reservations[i].end_s >= e->now_s)
            post(e, c->reservations[i].end_s, RESERVED, i, 0);
    }
    if (c->job_count)
        post(e, e->jobs[0].submit_s, ARRIVES, 0, 0);
}

/* Who waits when nothing happens any more, and why. */
static void finish(struct engine *e)
{
    struct cluster_pass *p = &e->pass;

    e->of.now_s = e->now_s;
    for (size_t i = 0; i < p->row_count; i++) {
        size_t row = p->out->order[i];
        struct cluster_replay_outcome *o = &e->out->outcomes[e->rows[row].job];

        budget_step(e->of.budget, 1);
        reset_verdict(e, row);
        o->reason = cluster_ready(p, row) ? CLUSTER_REASON_NODES
                                          : e->decision.verdicts[row].reason;
    }
}

void cluster_replay(const struct cluster_replay_in *in, struct cluster_replayed *out,
                    struct arena *a, struct arena *scratch)
{
    struct engine e = {.in = in,
                       .of = *in->of,
                       .out = out,
                       .now_s = in->of->now_s,
                       .moved_s = in->of->now_s,
                       .last_main_s = -HUGE_VAL,
                       .last_full_s = -HUGE_VAL,
                       .last_backfill_s = -HUGE_VAL,
                       .keep = a,
                       .run = scratch};

    *out = (struct cluster_replayed){
        .outcomes = NEW(a, struct cluster_replay_outcome, in->of->job_count),
        .fragmented_core_s = in->counts_fragments ? 0 : (double)NAN};
    e.of.budget = in->budget;
    begin(&e);
    loop(&e);
    if (!e.cut)
        finish(&e);
    out->is_cut = e.cut;
    arena_close(e.pass.arena);
}

/* ---- a decision ---- */

/* What becomes of those that wait when all take their limits. */
static void estimate(const struct cluster *c, const struct policy *policy,
                     const struct cluster_promises *promises,
                     struct cluster_decision *out, struct arena *a)
{
    struct cluster_replay_job *jobs = NEW(a, struct cluster_replay_job, c->job_count);
    struct arena *scratch = arena_create_beside(a, arena_cap_bytes(a));
    struct cluster_replay_in in = {.of = c,
                                   .policy = policy,
                                   .jobs = jobs,
                                   .promises = promises,
                                   .first_pass_s = (double)NAN,
                                   .keeps_nodes = c->job_count,
                                   .budget = c->budget};
    struct cluster_replayed played;

    for (size_t i = 0; i < c->job_count; i++)
        jobs[i] = (struct cluster_replay_job){HUGE_VAL, true, false, false};
    for (size_t r = 0; r < c->row_count; r++)
        jobs[c->rows[r].job].run_s = fmin(jobs[c->rows[r].job].run_s, c->rows[r].limit_s);
    budget_step(c->budget, c->job_count + c->row_count);
    cluster_replay(&in, &played, a, scratch);
    out->is_cut |= played.is_cut;
    for (size_t i = 0; i < c->job_count && !played.is_cut; i++) {
        const struct cluster_replay_outcome *o = &played.outcomes[i];
        struct cluster_verdict *v = &out->verdicts[o->row];

        budget_step(c->budget, o->node_count + 1);
        if (isnan(o->start_s) || v->outcome != CLUSTER_WAITS)
            continue;
        v->start_s = o->start_s;
        v->until_s = o->start_s + v->limit_s;
        v->pick.nodes = NEW(a, uint32_t, o->node_count);
        v->pick.count = o->node_count;
        memcpy(v->pick.nodes, o->nodes, o->node_count * sizeof(*o->nodes));
    }
    arena_close(scratch);
}

void cluster_decide_by(const struct cluster *c, const struct policy *policy,
                       const struct cluster_promises *promises,
                       struct cluster_decision *out, double *plan_s, struct arena *a)
{
    struct cluster_line *l = cluster_line_create(c, policy, a);
    struct cluster_pass p;
    size_t never = c->row_count;

    cluster_pass_begin(&p, c, out, a);
    /* What is for the moment is taken back, plans stay; it goes with `a`. */
    p.arena = arena_create_beside(a, arena_cap_bytes(a));
    cluster_screen(&p);
    for (size_t r = 0; r < c->row_count; r++) {
        const struct cluster_verdict *v = &out->verdicts[r];

        budget_step(c->budget, 1);
        if (v->outcome == CLUSTER_NEVER || v->reason == CLUSTER_REASON_RESOURCE_DOWN)
            out->order[--never] = r;
        else
            out->order[p.row_count++] = r;
    }
    cluster_line_order(l, out->order, p.row_count);
    cluster_line_promise(l, promises);
    cluster_line_decide(l, &p);
    for (size_t i = 0; i < c->job_count; i++)
        plan_s[i] = p.started[i] ? (double)NAN : cluster_line_plan_s(l, i);
    budget_step(c->budget, c->job_count);
    cluster_explain(&p);
    if (!out->is_cut)
        estimate(c, policy, promises, out, a);
}

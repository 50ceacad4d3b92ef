/* cluster_replay/life.c - jobs from their arrival to the end. */
#include "algorithms/cluster_replay/parts.h"

#include <math.h>
#include <string.h>

enum { RUNS_AT_ONCE = 256 };

static const struct replay_job *job_of(const struct engine *e, uint32_t job)
{
    return &e->in->jobs[job];
}

static uint32_t number_of(const struct engine *e, const struct life *life)
{
    return (uint32_t)(life - e->lives);
}

int64_t life_estimate_ms(const struct engine *e, uint32_t job)
{
    const struct replay_job *j = job_of(e, job);
    int64_t work_ms = j->run_ms;
    double speed = HUGE_VAL;

    if (j->estimate_ms >= 0)
        return j->estimate_ms;
    if (j->limit_ms < REPLAY_NEVER)
        return j->limit_ms;
    if (e->rules->estimate_remaining)
        work_ms -= e->lives[job].image_ms;
    for (size_t c = 0; c < e->class_count; c++)
        speed = fmin(speed, e->classes[c].of->speed);
    return speed == 1 ? work_ms : kernel_ms(1e-3 * (double)work_ms / speed);
}

/* ---- who waits for whom ---- */

/* Lists for each job those that name it. */
static void link_dependents(struct engine *e)
{
    size_t count = e->in->job_count, links = 0;

    e->dependents_at = NEW(e->a, uint32_t, count + 2);
    for (size_t j = 0; j < count; j++) {
        for (size_t i = 0; i < e->in->jobs[j].after_count; i++, links++)
            e->dependents_at[e->in->jobs[j].after[i].job + 2]++;
        budget_step(e->budget, 2 + (size_t)e->in->jobs[j].after_count);
    }
    for (size_t j = 2; j < count + 2; j++)
        e->dependents_at[j] += e->dependents_at[j - 1];
    e->dependents = NEW(e->a, uint32_t, links);
    for (size_t j = 0; j < count; j++)
        for (size_t i = 0; i < e->in->jobs[j].after_count; i++)
            e->dependents[e->dependents_at[e->in->jobs[j].after[i].job + 1]++] =
                (uint32_t)j;
}

void life_create(struct engine *e)
{
    e->lives = NEW(e->a, struct life, e->in->job_count);
    for (size_t j = 0; j < e->in->job_count; j++)
        e->lives[j].saved = REPLAY_NONE;
    e->free_saved = REPLAY_NONE;
    for (size_t j = 0; j < e->in->job_count && !e->dependents; j++) {
        if (e->in->jobs[j].after_count)
            link_dependents(e);
        budget_step(e->budget, 2);
    }
}

enum met { MET_NOT_YET, MET, MET_NEVER };

/* Whether a dependency is met, and since when. */
static enum met met_of(const struct engine *e, const struct replay_after *after,
                       int64_t *at_ms)
{
    const struct replay_outcome *o = &e->out->outcomes[after->job];
    bool over = e->lives[after->job].stage == LIFE_OVER;

    *at_ms = later(after->kind == REPLAY_AFTER_START ? o->first_start_ms : o->end_ms,
                   after->delay_ms);
    if (after->kind == REPLAY_AFTER_START && o->first_start_ms < REPLAY_NEVER)
        return MET;
    if (!over)
        return MET_NOT_YET;
    switch (after->kind) {
    case REPLAY_AFTER_START:
        return MET_NEVER;
    case REPLAY_AFTER_OK:
        return o->state == REPLAY_DONE ? MET : MET_NEVER;
    case REPLAY_AFTER_NOT_OK:
        return o->state == REPLAY_DONE ? MET_NEVER : MET;
    default:
        return MET;
    }
}

static enum met dependencies_met(const struct engine *e, uint32_t job, int64_t *at_ms)
{
    const struct replay_job *j = job_of(e, job);
    size_t count[3] = {0};
    int64_t first_ms = REPLAY_NEVER, last_ms = 0;

    for (size_t i = 0; i < j->after_count; i++) {
        int64_t when_ms;
        enum met met = met_of(e, &j->after[i], &when_ms);

        count[met]++;
        if (met != MET)
            continue;
        first_ms = when_ms < first_ms ? when_ms : first_ms;
        last_ms = when_ms > last_ms ? when_ms : last_ms;
    }
    *at_ms = j->any_after && j->after_count ? first_ms : last_ms;
    if (j->any_after && j->after_count)
        return count[MET] ? MET : count[MET_NOT_YET] ? MET_NOT_YET : MET_NEVER;
    return count[MET_NEVER] ? MET_NEVER : count[MET_NOT_YET] ? MET_NOT_YET : MET;
}

/* It arrived: queues it, posts when it may, or leaves it to those it waits for. */
static void consider(struct engine *e, uint32_t job)
{
    struct life *life = &e->lives[job];
    const struct replay_job *j = job_of(e, job);
    int64_t at_ms;
    enum met met = dependencies_met(e, job, &at_ms);

    if (met == MET_NEVER)
        life_over(e, job, REPLAY_NEVER_FITS);
    if (met != MET)
        return;
    at_ms = at_ms > j->begin_ms ? at_ms : j->begin_ms;
    if (at_ms <= e->kernel.now_ms)
        queue_add(e, job);
    else
        kernel_post(&e->kernel, at_ms, EVENT_CHECKPOINT_DONE, life, ++life->version);
}

void life_eligible(struct engine *e, struct life *life, uint32_t version)
{
    if (life->stage != LIFE_HELD || life->version != version)
        return;
    queue_add(e, number_of(e, life));
    e->freed |= life->has_started; /* a requeue */
}

static void tell_dependents(struct engine *e, uint32_t job)
{
    for (uint32_t i = e->dependents_at[job]; i < e->dependents_at[job + 1]; i++)
        if (e->lives[e->dependents[i]].stage == LIFE_HELD)
            consider(e, e->dependents[i]);
}

/* Those that follow of it are told one after the other. */
static void tell(struct engine *e, uint32_t job)
{
    if (!e->dependents)
        return;
    if (e->over_count == e->over_room) {
        size_t room = e->over_room ? 2 * e->over_room : 64;

        e->over = e->over_room ? GROW(e->a, e->over, uint32_t, e->over_room, room)
                               : NEW(e->a, uint32_t, room);
        e->over_room = room;
    }
    e->over[e->over_count++] = job;
    if (e->telling)
        return;
    e->telling = true;
    while (e->over_count && !budget_step(e->budget, 8))
        tell_dependents(e, e->over[--e->over_count]);
    e->telling = false;
}

/* ---- arrivals ---- */

static void arrive(struct engine *e, uint32_t job)
{
    struct life *life = &e->lives[job];
    const struct replay_job *j = job_of(e, job);

    life->stage = LIFE_HELD;
    life->arrival_ms = j->submit_ms;
    e->out->outcomes[job].state = REPLAY_WAITING;
    if (!nodes_could_ever(e, job)) {
        life_over(e, job, REPLAY_NEVER_FITS);
        return;
    }
    if (j->cancel_ms < REPLAY_NEVER)
        kernel_post(&e->kernel,
                    j->cancel_ms > e->kernel.now_ms ? j->cancel_ms : e->kernel.now_ms,
                    EVENT_CHECKPOINT_REQUEST, life, 0);
    consider(e, job);
}

void life_arrive(struct engine *e)
{
    const struct replay_job *jobs = e->in->jobs;

    while (e->arrived < e->in->job_count &&
           jobs[e->arrived].submit_ms <= e->kernel.now_ms) {
        arrive(e, (uint32_t)e->arrived++);
        budget_step(e->budget, 16);
    }
    if (e->arrived < e->in->job_count)
        kernel_post_arrival(&e->kernel, jobs[e->arrived].submit_ms);
}

void life_cancel(struct engine *e, uint32_t job)
{
    struct life *life = &e->lives[job];

    if (life->stage == LIFE_WAITS) {
        queue_take(e, job);
        e->freed = e->irregular = true; /* its place is free */
    }
    if (life->stage == LIFE_WAITS || life->stage == LIFE_HELD)
        life_over(e, job, REPLAY_CANCELLED);
}

/* ---- what work was worth ---- */

static void count(struct engine *e, size_t class, enum replay_time time, wide cpu_ms)
{
    e->classes[class].sums[time] += cpu_ms;
}

static void save(struct engine *e, uint32_t job, uint32_t class, wide cpu_ms,
                 int64_t to_ms)
{
    struct life *life = &e->lives[job];
    uint32_t at = e->free_saved;

    if (at != REPLAY_NONE) {
        e->free_saved = e->saved[at].next;
    } else {
        if (e->saved_count == e->saved_room) {
            size_t room = e->saved_room ? 2 * e->saved_room : 256;

            e->saved = e->saved_room
                           ? GROW(e->a, e->saved, struct saved, e->saved_room, room)
                           : NEW(e->a, struct saved, room);
            e->saved_room = room;
        }
        at = (uint32_t)e->saved_count++;
    }
    e->saved[at] = (struct saved){cpu_ms, life->image_ms, to_ms, class, life->saved};
    life->saved = at;
}

/* What was useful stays so, or is lost. */
static void settle(struct engine *e, uint32_t job, bool lost)
{
    struct life *life = &e->lives[job];

    while (life->saved != REPLAY_NONE) {
        uint32_t at = life->saved;
        struct saved *s = &e->saved[at];

        if (lost) {
            count(e, s->klass, REPLAY_TIME_useful, -s->cpu_ms);
            count(e, s->klass, REPLAY_TIME_lost, s->cpu_ms);
        }
        life->saved = s->next;
        s->next = e->free_saved;
        e->free_saved = at;
    }
}

/* What was useful beyond the image that is left is lost; the last attempt's is first. */
static void unsave(struct engine *e, struct life *life)
{
    uint32_t *link = &life->saved;

    while (*link != REPLAY_NONE && e->saved[*link].to_ms > life->image_ms) {
        struct saved *s = &e->saved[*link];
        int64_t keeps_ms = life->image_ms - s->from_ms, all_ms = s->to_ms - s->from_ms;
        uint32_t at = *link;
        wide kept = 0;

        budget_step(e->budget, 4);
        if (keeps_ms > 0)
            kept = s->cpu_ms / all_ms * keeps_ms + s->cpu_ms % all_ms * keeps_ms / all_ms;
        count(e, s->klass, REPLAY_TIME_useful, kept - s->cpu_ms);
        count(e, s->klass, REPLAY_TIME_lost, s->cpu_ms - kept);
        s->cpu_ms = kept;
        s->to_ms = life->image_ms;
        if (keeps_ms > 0) {
            link = &s->next;
            continue;
        }
        *link = s->next;
        s->next = e->free_saved;
        e->free_saved = at;
    }
}

/* Counts the time of `nodes` nodes of a class. */
static void count_nodes(struct engine *e, const struct run *r, uint32_t class,
                        size_t nodes, const struct progress *p, bool all_useful)
{
    wide cpus = (wide)nodes_cpus(e, r->job, &e->classes[class]) * (int64_t)nodes;
    int64_t useful_ms = p->saved_ms + (all_useful ? p->unsaved_ms : 0);

    count(e, class, REPLAY_TIME_restart, cpus * (p->pause_ms + p->restart_ms));
    count(e, class, REPLAY_TIME_checkpoint, cpus * p->checkpoint_ms);
    count(e, class, REPLAY_TIME_useful, cpus * useful_ms);
    count(e, class, REPLAY_TIME_lost, cpus * (p->saved_ms + p->unsaved_ms - useful_ms));
    if (!p->ended && useful_ms)
        save(e, r->job, class, cpus * useful_ms, p->image_ms);
}

static void count_run(struct engine *e, const struct run *r, const struct progress *p,
                      bool all_useful)
{
    size_t working = r->node_count - r->spare_count;

    if (r->klass != REPLAY_NONE) {
        count_nodes(e, r, r->klass, working, p, all_useful);
    } else {
        for (size_t i = 0; i < working; i++)
            count_nodes(e, r, e->nodes[r->nodes[i]].klass, 1, p, all_useful);
    }
    for (size_t i = working; i < r->node_count; i++) {
        uint32_t class = e->nodes[r->nodes[i]].klass;

        count(e, class, REPLAY_TIME_idle,
              (wide)nodes_cpus(e, r->job, &e->classes[class]) * (p->at_ms - r->begin_ms));
    }
    e->out->outcomes[r->job].checkpoints += p->checkpoints;
    e->out->totals.checkpoints += p->checkpoints;
}

/* Nodes that are cleaned up count as idle. */
static void count_cleaned(struct engine *e, const struct run *r)
{
    for (size_t i = 0; i < r->node_count; i++) {
        uint32_t class = e->nodes[r->nodes[i]].klass;

        count(e, class, REPLAY_TIME_idle,
              (wide)nodes_cpus(e, r->job, &e->classes[class]) *
                  (e->kernel.now_ms - r->begin_ms));
    }
}

/* ---- running ---- */

static struct run *new_run(struct engine *e)
{
    struct run *r = e->free_runs;

    if (!r) {
        r = NEW(e->a, struct run, RUNS_AT_ONCE);
        for (size_t i = 0; i < RUNS_AT_ONCE; i++) {
            r[i].next_free = e->free_runs;
            e->free_runs = &r[i];
        }
        r = e->free_runs;
    }
    e->free_runs = r->next_free;
    return r;
}

static void free_run(struct engine *e, struct run *r)
{
    nodes_list_give(e, r->nodes, r->room);
    r->version++; /* its events are void */
    r->next_free = e->free_runs;
    e->free_runs = r;
}

static int64_t cpus_of(const struct engine *e, const struct run *r)
{
    int64_t cpus = 0;

    if (r->klass != REPLAY_NONE)
        return nodes_cpus(e, r->job, &e->classes[r->klass]) * r->node_count;
    for (size_t i = 0; i < r->node_count; i++)
        cpus += nodes_cpus(e, r->job, &e->classes[e->nodes[r->nodes[i]].klass]);
    return cpus;
}

/* By Jeffreys' prior, and with few failures not below a floor. */
static double history_rate(const struct engine *e, const struct node *n)
{
    double floor_s = e->rules->checkpoint_param[CHECKPOINT_MEAN_FLOOR];
    double at_risk_s = 1e-3 * (double)(e->kernel.now_ms - n->down_sum_ms);
    double mean_s = at_risk_s / ((double)n->failures + 0.5);

    return 1 / (n->failures < 3 ? fmax(mean_s, floor_s) : mean_s);
}

/* What its nodes are like. */
static void know_nodes(struct engine *e, struct run *r)
{
    double rate = 0;
    int64_t up_ms = 0, failed_ms = -1;
    size_t working = r->node_count - r->spare_count;

    r->speed = HUGE_VAL;
    r->klass = e->nodes[r->nodes[0]].klass;
    for (size_t i = 0; i < r->node_count; i++) {
        const struct node *n = &e->nodes[r->nodes[i]];
        const struct klass *k = &e->classes[n->klass];

        if (n->klass != r->klass)
            r->klass = REPLAY_NONE;
        if (i >= working)
            continue;
        r->speed = fmin(r->speed, k->of->speed);
        up_ms = n->up_since_ms > up_ms ? n->up_since_ms : up_ms;
        failed_ms = n->failed_ms > failed_ms ? n->failed_ms : failed_ms;
        if (!e->rules->checkpoint)
            continue;
        if (e->rules->knows == REPLAY_KNOWS_HISTORY)
            rate += history_rate(e, n);
        else if (k->of->failure)
            rate += 1 / k->mean_s;
    }
    r->mean_s = rate > 0 ? 1 / rate : (double)NAN;
    r->uptime_s = 1e-3 * (double)(e->kernel.now_ms - up_ms);
    r->age_s = 1e-3 * (double)(e->kernel.now_ms - (failed_ms > 0 ? failed_ms : 0));
    r->pattern = levels_known(e, r->mean_s, job_of(e, r->job)->delay_ms);
}

/* Works out when it ends. */
static void post_end(struct engine *e, struct run *r)
{
    struct progress p;

    if (e->rules->io.is_shared) {
        attempt_begin(e, r);
        return;
    }
    attempt_walk(e, r, r->limit_at_ms, &p);
    r->version++;
    if (p.ended || r->limit_at_ms < REPLAY_NEVER)
        kernel_post(&e->kernel, p.ended ? p.at_ms : r->limit_at_ms, EVENT_WORK, r,
                    r->version);
}

static void keep_nodes(struct engine *e, const struct run *r)
{
    struct replay_outcome *o = &e->out->outcomes[r->job];
    uint32_t *ids;

    if (!e->in->keep_nodes)
        return;
    ids = NEW(e->keep, uint32_t, o->nodes);
    memcpy(ids, r->nodes, o->nodes * sizeof(*ids));
    o->node_ids = ids;
}

static void fill_outcome(struct engine *e, const struct run *r)
{
    struct replay_outcome *o = &e->out->outcomes[r->job];

    if (o->first_start_ms == REPLAY_NEVER)
        o->first_start_ms = e->kernel.now_ms;
    o->start_ms = e->kernel.now_ms;
    o->state = REPLAY_RUNNING;
    o->nodes = r->node_count - r->spare_count;
    o->set = r->set == e->in->set_count ? REPLAY_NONE : r->set;
    o->cpus = nodes_cpus(e, r->job, &e->classes[e->nodes[r->nodes[0]].klass]);
    keep_nodes(e, r);
}

void life_start(struct engine *e, uint32_t job, uint32_t set)
{
    const struct replay_job *j = job_of(e, job);
    struct life *life = &e->lives[job];
    struct run *r = new_run(e);
    uint32_t version = r->version;
    int64_t start_ms = e->kernel.now_ms;

    queue_take(e, job);
    *r = (struct run){.job = job,
                      .version = version,
                      .node_count = (uint32_t)e->picked_count,
                      .spare_count = j->spare_nodes,
                      .set = set,
                      .exclusive = e->whole || j->exclusive,
                      .start_ms = start_ms,
                      .charged_ms = start_ms,
                      .begin_ms = start_ms,
                      .expected_ms = later(start_ms, life->estimate_ms),
                      .limit_at_ms = later(start_ms, j->limit_ms),
                      .sequence = ++e->sequence};
    r->nodes = nodes_list(e, e->picked_count, &r->room);
    memcpy(r->nodes, e->picked, e->picked_count * sizeof(*r->nodes));
    if (life->has_started) {
        r->restart_ms = levels_restart_ms(e, job);
        e->out->outcomes[job].restarts++;
        e->out->totals.restarts++;
    }
    life->has_started = true;
    life->stage = LIFE_RUNS;
    life->run = r;
    know_nodes(e, r);
    nodes_take(e, r);
    running_add(e, r);
    if (e->rules->io.is_shared && r->limit_at_ms < REPLAY_NEVER)
        kernel_post(&e->kernel, r->limit_at_ms, EVENT_CHECKPOINT_STORED, r,
                    (uint32_t)r->sequence);
    post_end(e, r);
    fill_outcome(e, r);
    e->now.running_count++;
    e->now.busy_cpus += cpus_of(e, r);
    e->now.asked_cpus += j->need[REPLAY_CPUS] * (int64_t)r->node_count;
    tell(e, job);
}

/* Its nodes are free, or are cleaned up. */
static void leave_nodes(struct engine *e, struct run *r, bool clean)
{
    const struct replay_job *j = job_of(e, r->job);

    running_remove(e, r);
    slurm_charge(e, r);
    e->now.running_count--;
    e->now.busy_cpus -= cpus_of(e, r);
    e->now.asked_cpus -= j->need[REPLAY_CPUS] * (int64_t)r->node_count;
    e->lives[r->job].run = NULL;
    e->freed = e->changed = e->flows.is_stale = true;
    if (e->timeline)
        conservative_give(e, r);
    nodes_give(e, r);
    if (clean && e->rules->cleanup_ms > 0) {
        size_t kept = 0;

        for (size_t i = 0; i < r->node_count; i++)
            if (e->nodes[r->nodes[i]].down_depth == 0)
                r->nodes[kept++] = r->nodes[i];
        r->node_count = (uint32_t)kept;
        r->cleans = true;
        r->version++;
        r->begin_ms = e->kernel.now_ms;
        r->expected_ms = later(r->begin_ms, e->rules->cleanup_ms);
        r->sequence = ++e->sequence;
        nodes_take(e, r);
        running_add(e, r);
        e->irregular = true;
        kernel_post(&e->kernel, r->expected_ms, EVENT_WORK, r, r->version);
        return;
    }
    free_run(e, r);
}

static void end_cleaning(struct engine *e, struct run *r)
{
    count_cleaned(e, r);
    e->irregular = true;
    running_remove(e, r);
    nodes_give(e, r);
    e->freed = true;
    free_run(e, r);
}

/* ---- the end, and the way back ---- */

void life_over(struct engine *e, uint32_t job, enum replay_state state)
{
    struct replay_outcome *o = &e->out->outcomes[job];
    struct replay_totals *t = &e->out->totals;

    e->lives[job].stage = LIFE_OVER;
    e->lives[job].version++;
    o->state = (uint8_t)state;
    o->end_ms = e->kernel.now_ms;
    t->done_count += state == REPLAY_DONE;
    t->killed_count += state == REPLAY_KILLED;
    t->lost_count += state == REPLAY_LOST;
    t->cancelled_count += state == REPLAY_CANCELLED;
    t->never_count += state == REPLAY_NEVER_FITS;
    if (state != REPLAY_NEVER_FITS)
        t->last_end_ms = e->kernel.now_ms;
    settle(e, job, state != REPLAY_DONE);
    e->through++;
    tell(e, job);
}

/* It is on its way back to the queue. */
static void hold(struct engine *e, uint32_t job)
{
    struct life *life = &e->lives[job];

    life->stage = LIFE_HELD;
    e->out->outcomes[job].state = REPLAY_WAITING;
    life->in_front = e->rules->requeue == REPLAY_REQUEUE_FRONT;
    life->arrival_ms = e->rules->requeue == REPLAY_REQUEUE_BACK
                           ? e->kernel.now_ms
                           : job_of(e, job)->submit_ms;
    e->freed = true;
}

static void requeue(struct engine *e, uint32_t job, int64_t delay_ms)
{
    struct life *life = &e->lives[job];

    hold(e, job);
    if (delay_ms == 0)
        queue_add(e, job);
    else
        kernel_post(&e->kernel, later(e->kernel.now_ms, delay_ms), EVENT_CHECKPOINT_DONE,
                    life, ++life->version);
}

/* What it has done until now counts; from its image it may go on. */
static void stop(struct engine *e, struct run *r, struct progress *p, bool failed)
{
    struct life *life = &e->lives[r->job];

    attempt_walk(e, r, e->kernel.now_ms, p);
    flows_drop(e, r);
    p->ended = false;
    count_run(e, r, p, false);
    life->image_ms = p->image_ms;
    life->has_image = p->has_image;
    if (e->rules->level_count == 0)
        return;
    levels_lose(e, life, r, p, failed);
    unsave(e, life);
}

static double used_cpu_s(const struct engine *e, const struct run *r)
{
    return 1e-3 * (double)(e->kernel.now_ms - r->start_ms) * (double)cpus_of(e, r);
}

/* At its limit. */
static void kill(struct engine *e, struct run *r)
{
    uint32_t job = r->job;
    struct progress p;

    stop(e, r, &p, false);
    e->out->totals.killed_cpu_s += used_cpu_s(e, r);
    leave_nodes(e, r, true);
    if (e->rules->requeue_at_limit &&
        e->out->outcomes[job].restarts < e->rules->max_restarts)
        requeue(e, job, job_of(e, job)->delay_ms);
    else
        life_over(e, job, REPLAY_KILLED);
}

/* Stopped for another job, it goes on from its last image, if it may. */
void life_preempt(struct engine *e, struct run *r)
{
    uint32_t job = r->job;
    struct life *life = &e->lives[job];
    struct replay_outcome *o = &e->out->outcomes[job];
    struct progress p;

    stop(e, r, &p, false);
    o->preemptions++;
    leave_nodes(e, r, false);
    if (e->rules->preempted_leave || o->restarts >= e->rules->max_restarts) {
        life_over(e, job, e->rules->preempted_leave ? REPLAY_CANCELLED : REPLAY_LOST);
        return;
    }
    hold(e, job);
    /* an event of its own, as the round in hand does not see it any more */
    kernel_post(&e->kernel, later(e->kernel.now_ms, e->rules->preempted_delay_ms),
                EVENT_CHECKPOINT_DONE, life, ++life->version);
}

bool life_limit_holds(const struct engine *e, const struct run *r, uint32_t version)
{
    return (uint32_t)r->sequence == version && !r->cleans && e->lives[r->job].run == r;
}

void life_limit(struct engine *e, struct run *r, uint32_t version)
{
    if (life_limit_holds(e, r, version))
        kill(e, r);
}

void life_end(struct engine *e, struct run *r)
{
    uint32_t job = r->job;
    struct progress p;

    if (r->cleans) {
        end_cleaning(e, r);
        return;
    }
    if (e->rules->io.is_shared && !attempt_step(e, r))
        return;
    attempt_walk(e, r, e->kernel.now_ms, &p);
    if (p.ended) {
        count_run(e, r, &p, true);
        leave_nodes(e, r, false);
        life_over(e, job, REPLAY_DONE);
        return;
    }
    kill(e, r);
}

static bool is_spare(const struct run *r, uint32_t node, size_t *at)
{
    for (*at = 0; r->nodes[*at] != node;)
        ++*at;
    return *at >= r->node_count - r->spare_count;
}

/* A spare goes, or one of them takes over. */
static void use_spare(struct engine *e, struct run *r, uint32_t node)
{
    const struct replay_job *j = job_of(e, r->job);
    struct progress p;
    size_t at;
    bool spare = is_spare(r, node, &at);
    uint32_t class = e->nodes[node].klass;

    e->now.busy_cpus -= cpus_of(e, r);
    if (spare) /* its work goes on */
        count(e, class, REPLAY_TIME_idle,
              nodes_cpus(e, r->job, &e->classes[class]) *
                  (e->kernel.now_ms - r->begin_ms));
    else
        stop(e, r, &p, true); /* of the spares, too, up to now */
    r->nodes[at] = r->nodes[r->node_count - 1];
    r->node_count--;
    r->spare_count--;
    nodes_give_one(e, r, node);
    if (!spare) {
        r->begin_ms = e->kernel.now_ms;
        r->pause_ms = j->delay_ms;
        r->restart_ms = levels_restart_ms(e, r->job);
        e->out->outcomes[r->job].restarts++;
        e->out->totals.restarts++;
        know_nodes(e, r);
        post_end(e, r);
        keep_nodes(e, r);
    }
    e->now.busy_cpus += cpus_of(e, r);
    e->now.asked_cpus -= j->need[REPLAY_CPUS];
}

void life_fail(struct engine *e, struct run *r, uint32_t node)
{
    uint32_t job = r->job;
    struct replay_outcome *o = &e->out->outcomes[job];
    struct progress p;

    if (r->cleans) {
        size_t at;

        is_spare(r, node, &at);
        count(e, e->nodes[node].klass, REPLAY_TIME_idle,
              nodes_cpus(e, job, &e->classes[e->nodes[node].klass]) *
                  (e->kernel.now_ms - r->begin_ms));
        nodes_give_one(e, r, node);
        r->nodes[at] = r->nodes[--r->node_count];
        return;
    }
    if (r->spare_count > 0 && o->restarts < e->rules->max_restarts) {
        use_spare(e, r, node);
        return;
    }
    stop(e, r, &p, true);
    o->failure_kills++;
    e->out->totals.failure_kills++;
    leave_nodes(e, r, true);
    if (e->rules->requeue == REPLAY_REQUEUE_NONE || o->restarts >= e->rules->max_restarts)
        life_over(e, job, REPLAY_LOST);
    else
        requeue(e, job, job_of(e, job)->delay_ms);
}

void life_close(struct engine *e)
{
    for (size_t i = 0; i < e->running_count; i++) {
        struct run *r = e->running[i].run;
        struct progress p;

        if (r->cleans) {
            count_cleaned(e, r);
            continue;
        }
        attempt_walk(e, r, e->kernel.now_ms, &p);
        count_run(e, r, &p, true);
        nodes_count_held(e, r);
    }
    for (size_t c = 0; c < e->class_count; c++)
        nodes_sum(e, &e->classes[c]);
}

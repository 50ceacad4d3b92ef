/* replication/work.c - a round while it is decided: the part all policies share. */
#include "algorithms/replication/work.h"

#include <math.h>
#include <string.h>

const char *const round_capacity_units[] = {"slot", "resource", NULL};
const char *const round_placements[] = {"spread", "random", "earliest", NULL};
const char *const round_detections[] = {"incarnation", "poll", NULL};
const char *const round_failure_distributions[] = {"exponential", "weibull", NULL};

static void follow_start(struct round_work *w, size_t action)
{
    size_t *last = &w->last_start[w->actions[action].job];

    w->earlier_start[action] = *last;
    *last = action + 1;
}

void work_follow(struct round_work *w)
{
    if (w->last_start)
        return;
    w->last_start = NEW(w->arena, size_t, w->in->job_count);
    w->earlier_start = NEW(w->arena, size_t, w->action_size);
    for (size_t i = 0; i < w->action_count; i++)
        if (w->actions[i].kind == ROUND_START)
            follow_start(w, i);
}

size_t work_started_count(const struct round_work *w, size_t job)
{
    size_t count = 0;

    for (size_t i = w->last_start[job]; i; i = w->earlier_start[i - 1])
        count++;
    return count;
}

static void grow_actions(struct round_work *w)
{
    size_t old = w->action_size, size = old ? 2 * old : 16;

    w->actions = GROW(w->arena, w->actions, struct round_action, old, size);
    if (w->last_start)
        w->earlier_start = GROW(w->arena, w->earlier_start, size_t, old, size);
    w->action_size = size;
}

void work_act(struct round_work *w, struct round_action action)
{
    if (w->action_count == w->action_size)
        grow_actions(w);
    w->actions[w->action_count++] = action;
    if (w->last_start && action.kind == ROUND_START)
        follow_start(w, w->action_count - 1);
}

static void cancel_rest(struct round_work *w, size_t job)
{
    const struct round_job *j = &w->in->jobs[job];

    for (size_t i = 0; i < j->replica_count; i++) {
        const struct round_replica *r = &j->replicas[i];
        const size_t *nodes;
        size_t count;

        if (!replica_is_active(r))
            continue;
        work_act(w, (struct round_action){.kind = ROUND_CANCEL,
                                          .job = job,
                                          .replica = i,
                                          .resource = r->resource,
                                          .reason = ROUND_JOB_FINISHED});
        nodes = replica_nodes(r, &count);
        for (size_t n = 0; n < count && !r->is_ghost; n++)
            slots_give(&w->slots, nodes[n]);
    }
}

enum error_code work_begin(struct round_work *w, const struct round_in *in,
                           enum capacity_unit unit, struct arena *a, struct error *err)
{
    *w = (struct round_work){
        .in = in, .arena = a, .err = err, .random_state = in->random_state};
    TRY(slots_create(&w->slots, in, unit == CAPACITY_RESOURCE, a, err));
    for (size_t job = 0; in->has_finished && job < in->job_count; job++)
        if (work_is_finished(in, job))
            cancel_rest(w, job);
    w->out.free_cpus = slots_free_cpus(&w->slots);
    w->out.status = DECISION_FEASIBLE;
    return OK;
}

static void hold_one(struct round_work *w, size_t resource)
{
    if (w->held_count == w->held_size) {
        size_t size = w->held_size ? 2 * w->held_size : 16;

        w->held = GROW(w->arena, w->held, size_t, w->held_size, size);
        w->held_size = size;
    }
    w->held[w->held_count++] = resource;
}

void work_hold(struct round_work *w, size_t job)
{
    const struct round_job *j = &w->in->jobs[job];

    w->held_count = 0;
    w->held_job = job;
    for (size_t i = 0; i < j->replica_count; i++) {
        size_t count;
        const size_t *nodes = replica_nodes(&j->replicas[i], &count);

        for (size_t n = 0; n < count && replica_is_active(&j->replicas[i]); n++)
            hold_one(w, nodes[n]);
    }
    for (size_t i = w->last_start ? w->last_start[job] : 0; i;
         i = w->earlier_start[i - 1]) {
        const struct round_action *start = &w->actions[i - 1];

        hold_one(w, start->resource);
        for (size_t n = 1; n < start->node_count; n++)
            hold_one(w, start->nodes[n]);
    }
}

bool work_holds(const struct round_work *w, size_t resource)
{
    for (size_t i = 0; i < w->held_count; i++)
        if (w->held[i] == resource)
            return true;
    return false;
}

static size_t place_earliest(const struct round_work *w)
{
    const struct round_in *in = w->in;
    size_t best = NOWHERE;
    double best_s = HUGE_VAL;

    for (size_t r = 0; r < in->resource_count; r++) {
        double mips = in->resources[r].mips, time_s;

        if (!slots_is_open(&w->slots, r) || !(mips > 0) || work_holds(w, r))
            continue;
        time_s =
            in->jobs[w->held_job].length_mi * (double)(w->slots.job_count[r] + 1) / mips;
        if (in->transfer_s)
            time_s += in->transfer_s(in->context, w->held_job, r);
        if (time_s < best_s) {
            best = r;
            best_s = time_s;
        }
    }
    return best;
}

enum { LOOKS_BETWEEN = 4096 }; /* two questions: small rounds ask nothing */

/* Counts what it takes to place a replica. */
static bool is_over_time(struct round_work *w, enum placement_rule rule)
{
    size_t held = w->held_count, looks;

    w->looks +=
        1 + (rule == PLACE_EARLIEST ? w->in->resource_count * (1 + held) : held * held);
    if (w->looks < LOOKS_BETWEEN || w->out.status == DECISION_CUT)
        return w->out.status == DECISION_CUT;
    looks = w->looks;
    w->looks = 0;
    return budget_step(w->in->budget, looks);
}

enum error_code work_place(struct round_work *w, enum placement_rule rule,
                           size_t *resource)
{
    if (is_over_time(w, rule)) {
        w->out.status = DECISION_CUT;
        *resource = NOWHERE;
        return OK;
    }
    if (rule == PLACE_EARLIEST) {
        *resource = place_earliest(w);
        return OK;
    }
    TRY(slots_index(&w->slots, w->err));
    *resource = rule == PLACE_RANDOM
                    ? slots_random(&w->slots, work_held(w), &w->random_state)
                    : slots_spread(&w->slots, work_held(w));
    return OK;
}

void work_take(struct round_work *w, size_t resource)
{
    hold_one(w, resource);
    slots_take(&w->slots, resource);
}

void work_start_nodes(struct round_work *w, size_t job, size_t i, const size_t *nodes,
                      size_t count, bool from_checkpoint)
{
    if (count == 1) {
        work_start(w, job, i, nodes[0], from_checkpoint);
        return;
    }
    work_act(w, (struct round_action){.kind = ROUND_START,
                                      .job = job,
                                      .replica = w->in->jobs[job].replica_count + i,
                                      .resource = nodes[0],
                                      .nodes = nodes,
                                      .node_count = count,
                                      .from_checkpoint = from_checkpoint});
    for (size_t n = 0; n < count; n++)
        work_take(w, nodes[n]);
}

void work_start(struct round_work *w, size_t job, size_t i, size_t resource,
                bool from_checkpoint)
{
    work_act(w, (struct round_action){.kind = ROUND_START,
                                      .job = job,
                                      .replica = w->in->jobs[job].replica_count + i,
                                      .resource = resource,
                                      .from_checkpoint = from_checkpoint});
    work_take(w, resource);
}

double work_delay_s(const struct round_job *job, double mean_s)
{
    enum replacement how = job->replacement;
    double x = job->repair_s / mean_s, b = 1;

    if (how == REPLACEMENT_UNKNOWN)
        how = job->spare_count ? REPLACEMENT_SPARE : REPLACEMENT_ANY;
    if (how == REPLACEMENT_ANY || !(job->repair_s > 0))
        return job->reschedule_delay_s;
    for (size_t j = 1; how == REPLACEMENT_SPARE && j <= job->spare_count; j++)
        b = x * b / ((double)j + x * b);
    return job->reschedule_delay_s +
           b * job->repair_s /
               (how == REPLACEMENT_SPARE ? (double)job->spare_count + 1 : 1);
}

/* ---- the loop ---- */

/* Bytes are compared eight at a time: x - n borrows from the top bit of a byte that is
 * less than n (1 .. 128) and has that bit clear. */
size_t work_next_below(const struct round_in *in, bool counts_active, size_t job,
                       size_t limit)
{
    const uint8_t *counts = counts_active ? in->active_counts : in->started_counts;
    const uint64_t each = 0x0101010101010101, top = 0x8080808080808080;
    uint64_t eight;

    if (!counts)
        return job;
    for (; job + sizeof(eight) <= in->job_count; job += sizeof(eight)) {
        memcpy(&eight, counts + job, sizeof(eight));
        if ((eight - each * limit) & ~eight & top)
            break;
    }
    while (job < in->job_count && counts[job] >= limit)
        job++;
    return job;
}

size_t work_next_unsettled(const struct round_in *in, uint8_t bit, size_t job,
                           size_t *seen)
{
    const uint64_t each = 0x0101010101010101 * (uint64_t)bit;
    uint64_t eight;

    for (; in->settled && job + sizeof(eight) <= in->job_count; job += sizeof(eight)) {
        memcpy(&eight, in->settled + job, sizeof(eight));
        if ((eight & each) != each)
            break;
        *seen += sizeof(eight);
    }
    return job;
}

static size_t limit_now(const struct round_work *w, const struct fill_rules *rules)
{
    return slots_free_cpus(&w->slots) >= rules->free_cpu_limit ? rules->replicas_max
                                                               : rules->replicas_min;
}

static bool is_over(const struct round_work *w, const struct fill_rules *rules,
                    bool stop_below_limit)
{
    size_t free_cpus = slots_free_cpus(&w->slots);

    return free_cpus == 0 || (stop_below_limit && free_cpus < rules->free_cpu_limit);
}

static bool from_image(const struct fill_rules *rules, size_t active)
{
    return active > 0 ? rules->copies_use_image : rules->restarts_use_image;
}

/* One job up to the limit. */
static enum error_code fill_job(struct round_work *w, const struct fill_rules *rules,
                                bool stop_below_limit, started_fn *started, size_t job)
{
    const struct round_job *j = &w->in->jobs[job];
    size_t active = work_active_count(j);
    size_t count = rules->counts_active ? active : j->started_count;

    if (count >= limit_now(w, rules))
        return OK;
    work_hold(w, job);
    for (size_t i = 0; count < limit_now(w, rules); i++, count++, active++) {
        size_t resource;

        if (is_over(w, rules, stop_below_limit) ||
            (rules->starts_max && j->started_count + i >= rules->starts_max))
            return OK;
        TRY(work_place(w, rules->placement, &resource));
        if (resource == NOWHERE)
            return OK; /* postponed */
        work_start(w, job, i, resource, j->has_checkpoint && from_image(rules, active));
        if (started)
            TRY(started(w, job, active));
    }
    return OK;
}

/* Starts only take CPUs, so the limit only falls: whoever has been passed stays
 * full, and the loop never goes back. */
enum error_code work_fill(struct round_work *w, const struct fill_rules *rules,
                          bool stop_below_limit, started_fn *started)
{
    for (size_t job = 0; !is_over(w, rules, stop_below_limit); job++) {
        job = work_next_below(w->in, rules->counts_active, job, limit_now(w, rules));
        if (job >= w->in->job_count)
            return OK;
        if (!work_is_finished(w->in, job))
            TRY(fill_job(w, rules, stop_below_limit, started, job));
    }
    return OK;
}

enum error_code work_fill_round(const struct round_in *in, const struct fill_rules *rules,
                                enum capacity_unit unit, struct round_out *out,
                                struct arena *a, struct error *err)
{
    struct round_work w;

    TRY(work_begin(&w, in, unit, a, err));
    w.target = rules->replicas_max;
    w.counts_active = rules->counts_active;
    w.starts_max = rules->starts_max;
    if (rules->free_cpu_limit > 1 || rules->replicas_min < rules->replicas_max)
        w.out.free_cpu_limit = rules->free_cpu_limit;
    TRY(work_fill(&w, rules, false, NULL));
    work_end(&w, out);
    return OK;
}

enum error_code work_load_rules(const struct round_in *in, const double *param,
                                struct fill_rules *rules, struct error *err)
{
    double fraction = param[LOAD_FREE_CPU_LIMIT_FRACTION];
    double limit = param[LOAD_FREE_CPU_LIMIT];
    size_t all = 0;

    if (param[LOAD_REPLICAS_MIN] > param[LOAD_REPLICAS_MAX])
        return invalid(err, "/options/replicas_min", ITEM_OUT_OF_BOUNDS,
                       "%g is more than replicas_max, %g", param[LOAD_REPLICAS_MIN],
                       param[LOAD_REPLICAS_MAX]);
    if (!isnan(fraction)) {
        for (size_t r = 0; r < in->resource_count; r++)
            if (in->resources[r].up)
                all += param[LOAD_CAPACITY_UNIT] == CAPACITY_RESOURCE
                           ? 1
                           : in->resources[r].n_max;
        limit = fmax(1, ceil(fraction * (double)all));
    }
    *rules = (struct fill_rules){
        .replicas_min = (size_t)param[LOAD_REPLICAS_MIN],
        .replicas_max = (size_t)param[LOAD_REPLICAS_MAX],
        .free_cpu_limit = (size_t)limit,
    };
    return OK;
}

/* ---- reasons ---- */

/* The reasons of one job that is below its target; false: it is not. `cancelled`
 * replicas of it are gone. */
static void explain_job(struct round_work *w, size_t job, size_t cancelled,
                        struct round_wait *wait, bool *is_below)
{
    const struct round_job *j = &w->in->jobs[job];
    size_t before = w->counts_active ? work_active_count(j) : j->started_count;
    size_t held_open = 0;

    *is_below = before + work_started_count(w, job) <
                w->out.targets[job] + (w->counts_active ? cancelled : 0);
    if (!*is_below)
        return;
    *wait = (struct round_wait){.job = job};
    if (w->slots.up_count == 0) {
        wait->count[ROUND_NO_RESOURCE_UP] = w->in->resource_count;
        return;
    }
    if (w->starts_max && j->started_count + work_started_count(w, job) >= w->starts_max) {
        wait->count[ROUND_RESTART_LIMIT] = w->slots.up_count;
        return;
    }
    work_hold(w, job);
    for (size_t i = 0; i < w->held_count; i++)
        held_open += slots_is_open(&w->slots, w->held[i]);
    wait->count[ROUND_NO_FREE_SLOT] = w->slots.up_count - w->slots.open_count;
    wait->count[ROUND_HOLDS_REPLICA] = held_open;
    if (held_open < w->slots.open_count)
        wait->count[j->node_count > 1 || j->allowed ? ROUND_TOO_FEW_NODES
                                                    : ROUND_BELOW_LIMIT] =
            w->slots.open_count - held_open;
}

static void explain(struct round_work *w)
{
    size_t count = w->in->job_count, wait_count = 0;
    struct round_wait *waits = NEW(w->arena, struct round_wait, count);
    size_t *targets = w->targets ? w->targets : NEW(w->arena, size_t, count);
    size_t *cancelled = NEW(w->arena, size_t, count);

    work_follow(w);
    for (size_t i = 0; i < w->action_count; i++)
        cancelled[w->actions[i].job] += w->actions[i].kind == ROUND_CANCEL;
    for (size_t job = 0; !w->targets && job < count; job++)
        targets[job] = work_is_finished(w->in, job) ? 0 : w->target;
    w->out.targets = targets;
    for (size_t job = 0; job < count; job++) {
        bool is_below = false;

        if (!work_is_finished(w->in, job))
            explain_job(w, job, cancelled[job], &waits[wait_count], &is_below);
        wait_count += is_below;
    }
    w->out.waits = waits;
    w->out.wait_count = wait_count;
}

/* A job that has no replica waits. */
static bool is_anyone_waiting(const struct round_in *in)
{
    for (size_t job = 0; job < in->job_count; job++)
        if (!work_is_finished(in, job) && work_active_count(&in->jobs[job]) == 0)
            return true;
    return false;
}

void work_end(struct round_work *w, struct round_out *out)
{
    if (w->slots.up_count == 0 && is_anyone_waiting(w->in))
        w->out.status = DECISION_INFEASIBLE;
    if (w->in->explain)
        explain(w);
    w->out.actions = w->actions;
    w->out.action_count = w->action_count;
    w->out.random_state = w->random_state;
    *out = w->out;
}

/* cluster_replay/replay.c - a run: the loop over the events. */
#include "algorithms/cluster_replay/parts.h"

#include <math.h>

enum { LOOK_EVENTS = 4096 };

const char *const replay_requeue_names[] = {"priority", "front", "back", "none", NULL};
const char *const replay_choice_names[] = {"best_fit", "first_fit", "spread", "runs",
                                           NULL};
const char *const replay_knows_names[] = {"law", "history", NULL};
const char *const replay_state_names[] = {"not_arrived", "waiting",    "running",
                                          "done",        "killed",     "lost",
                                          "cancelled",   "never_fits", NULL};

struct replay_rules replay_rules_default(void)
{
    return (struct replay_rules){
        .policy = policy_find(queue_policies, "easy"),
        .max_restarts = UINT64_MAX,
        .backfill_depth = 1000,
    };
}

/* An end of an attempt that has ended otherwise. */
static bool is_void(const struct engine *e, const struct event *event)
{
    const struct run *r = event->target;

    if (event->kind == EVENT_WORK)
        return r->version != event->version;
    return event->kind == EVENT_CHECKPOINT_STORED &&
           !life_limit_holds(e, r, event->version);
}

static void dispatch(struct engine *e, const struct event *event)
{
    struct run *r = event->target;
    struct node *n = event->target;

    switch ((enum event_kind)event->kind) {
    case EVENT_WORK:
        if (r->version == event->version)
            life_end(e, r);
        break;
    case EVENT_CHECKPOINT_DONE:
        life_eligible(e, event->target, event->version);
        break;
    case EVENT_TRANSFER: /* a reservation begins or ends */
        e->freed = true;
        break;
    case EVENT_RESTORE:
        if (!n)
            failures_on_outage(e, event->version, false);
        else if (n->version == event->version)
            failures_on_restore(e, n);
        break;
    case EVENT_FAIL:
        if (!n)
            failures_on_outage(e, event->version, true);
        else if (n->version == event->version)
            failures_on_fail(e, n);
        break;
    case EVENT_CHECKPOINT_REQUEST:
        life_cancel(e, (uint32_t)((struct life *)event->target - e->lives));
        break;
    case EVENT_SUBMIT:
        life_arrive(e);
        break;
    case EVENT_FLOW:
        flows_tick(e, event->version);
        break;
    case EVENT_CHECKPOINT_STORED: /* a time limit */
        life_limit(e, r, event->version);
        break;
    case EVENT_POLL:
        slurm_tick(e);
        break;
    default:
        break;
    }
}

static void round_of(struct engine *e)
{
    if (!e->freed && !e->queue_changed)
        return;
    if (e->slurm)
        slurm_round(e);
    else if (e->discipline->rule == QUEUE_CONSERVATIVE)
        conservative_round(e);
    else
        rules_round(e);
    e->freed = e->queue_changed = false;
    e->fresh_count = 0;
}

static void tell_change(struct engine *e)
{
    if (!e->changed)
        return;
    e->changed = false;
    e->now.at_ms = e->kernel.now_ms;
    if (e->watch && e->watch->change)
        e->watch->change(e->watch->context, &e->now);
}

/* How far it is: by time, where that ends it, else by jobs. */
static double ratio_of(const struct engine *e)
{
    double jobs = e->in->job_count ? (double)e->through / (double)e->in->job_count : 1;

    if (e->in->stop_ms < REPLAY_NEVER)
        return (double)e->kernel.now_ms / (double)e->in->stop_ms;
    return jobs;
}

static bool is_over(struct engine *e)
{
    const struct replay_in *in = e->in;

    if (e->through == in->job_count || (in->stop_jobs && e->through >= in->stop_jobs))
        return true;
    if (in->max_events && e->out->totals.events >= in->max_events)
        e->cut = true;
    if (e->out->totals.events >= e->looked_at + LOOK_EVENTS) {
        e->looked_at = e->out->totals.events;
        if (e->watch && e->watch->progress)
            e->watch->progress(e->watch->context, ratio_of(e), e->out->totals.events);
        e->cut |= budget_spent(e->budget);
    }
    e->cut |= e->budget && e->budget->spent;
    return e->cut;
}

static void loop(struct engine *e)
{
    struct event event;

    while (!is_over(e) && e->failed == OK) {
        int64_t before_ms = e->kernel.now_ms, busy = e->now.busy_cpus;

        if (!kernel_take(&e->kernel, &event)) {
            /* nothing happens any more: without an instant to stop at it is over */
            e->out->is_stuck = e->in->stop_ms == REPLAY_NEVER;
            e->kernel.now_ms = e->out->is_stuck ? e->last_ms : e->in->stop_ms;
            e->out->totals.cpu_busy_ms +=
                (long double)(e->kernel.now_ms - before_ms) * busy;
            return;
        }
        e->out->totals.cpu_busy_ms += (long double)(e->kernel.now_ms - before_ms) * busy;
        e->out->totals.events++;
        if (!is_void(e, &event))
            e->last_ms = e->kernel.now_ms;
        dispatch(e, &event);
        if (kernel_turn_ends(&e->kernel)) {
            round_of(e);
            tell_change(e);
        }
    }
}

static void sum_up(struct engine *e)
{
    struct replay_totals *t = &e->out->totals;

    life_close(e);
    t->end_ms = e->kernel.now_ms;
    t->is_exact = true;
    for (size_t c = 0; c < e->class_count; c++)
        for (int time = 0; time < REPLAY_TIME_COUNT; time++) {
            const struct klass *k = &e->classes[c];

            t->node_s[time] += 1e-3 * (double)k->sums[time] / (double)k->cpus;
            t->node_ms[time] += (int64_t)(k->sums[time] / k->cpus);
            t->is_exact &= k->sums[time] % k->cpus == 0;
        }
}

static void sum_up_held(struct engine *e)
{
    for (size_t g = 0; g < e->in->group_count; g++)
        e->out->held[g] = (struct replay_held){1e-3 * (double)e->held_ms[g],
                                               1e-3 * (double)e->held_cpu_ms[g]};
}

static void post_reservations(struct engine *e)
{
    for (size_t i = 0; i < e->in->reservation_count; i++) {
        const struct replay_reservation *r = &e->in->reservations[i];

        if (r->end_ms > 0)
            kernel_post(&e->kernel, r->end_ms, EVENT_TRANSFER, NULL, 0);
    }
}

enum error_code replay_play(const struct replay_in *in, const struct replay_watch *watch,
                            struct replay_out *out, struct arena *a,
                            struct arena *scratch, struct error *err)
{
    struct engine e = {.in = in,
                       .watch = watch,
                       .rules = &in->rules,
                       .out = out,
                       .amount_count = in->amount_count,
                       .a = scratch,
                       .keep = a,
                       .budget = in->budget,
                       .err = err};

    *out = (struct replay_out){.outcomes = NEW(a, struct replay_outcome, in->job_count),
                               .held = NEW(a, struct replay_held, in->group_count)};
    for (size_t i = 0; i < in->job_count; i++)
        out->outcomes[i] = (struct replay_outcome){.first_start_ms = REPLAY_NEVER,
                                                   .start_ms = REPLAY_NEVER,
                                                   .end_ms = REPLAY_NEVER,
                                                   .planned_ms = REPLAY_NEVER,
                                                   .set = REPLAY_NONE};
    e.discipline = queue_discipline_of(in->rules.policy);
    e.kernel = (struct kernel){.end_ms = in->stop_ms, .arena = scratch};
    nodes_create(&e);
    life_create(&e);
    queue_create(&e);
    flows_create(&e);
    e.class_fitting = NEW(scratch, int64_t, e.class_count);
    if (e.discipline->rule == QUEUE_CONSERVATIVE)
        conservative_create(&e);
    if (in->rules.slurm)
        slurm_create(&e);
    failures_begin(&e);
    post_reservations(&e);
    if (in->job_count)
        kernel_post_arrival(&e.kernel, in->jobs[0].submit_ms);
    loop(&e);
    sum_up(&e);
    sum_up_held(&e);
    slurm_close(&e);
    flows_close(&e);
    out->is_cut = e.cut;
    return e.failed;
}

/* simulation/simulation.c - one run: events until the end. */
#include "algorithms/simulation/simulation.h"

#include "algorithms/simulation/parts.h"

#include <math.h>
#include <string.h>

enum { WORK_BETWEEN_LOOKS = 256 }; /* at the budget; an event is 1, and may take 30 us */

#define WARM_UP_S (8 * 7 * 86400.0) /* spec 7.1 */

const char *const sim_sharing_names[] = {"equal", "fraction", NULL};
const char *const sim_initial_state_names[] = {"up", "stationary", NULL};
const char *const sim_network_mode_names[] = {"none", "fixed", "shared", NULL};
const char *const sim_detection_names[] = {"incarnation", "poll", NULL};
const char *const sim_job_state_names[] = {"waiting", "running",  "done",
                                           "lost",    "rejected", NULL};

const char *const sim_log_kind_names[] = {
#define X(symbol, name) name,
    SIM_LOG_KINDS(X)
#undef X
        NULL};

const struct sim_metric_row sim_metric_rows[] = {
#define X(name, doc) {#name, doc},
    SIM_METRICS(X)
#undef X
        {0},
};

struct sim_scenario sim_scenario_preset(void)
{
    return (struct sim_scenario){
        .warm_up_s = WARM_UP_S,
        .network = {.bandwidth_mbps = 100,
                    .latency_s = 0.01,
                    .lan_mbps = 1000,
                    .lan_latency_s = 0.001,
                    .wan_share_mbps = 5,
                    .wan_latency_s = distribution_uniform(0.003, 0.010)},
        .stop_time_s = 7 * 86400.0,
    };
}

/* ---- arrivals ---- */

/* A run ends when the first job comes that its workload was truncated by: from then on
 * it would be another one. */
static void next_arrival(struct sim *s)
{
    double missed_s;

    s->exhausted = !workload_next(s->source, &s->arrival);
    if (!s->exhausted)
        return;
    missed_s = workload_truncated_s(s->source);
    if (missed_s < HUGE_VAL && kernel_ms(missed_s) < s->kernel.end_ms) {
        s->truncated_s = missed_s;
        s->kernel.end_ms = kernel_ms(missed_s);
    }
}

static void post_arrival(struct sim *s)
{
    next_arrival(s);
    if (!s->exhausted)
        kernel_post_arrival(&s->kernel, kernel_ms(s->arrival.arrival_s));
}

/* All jobs of one instant come together. */
static void on_submit(struct sim *s)
{
    do {
        job_submit(s, &s->arrival);
        next_arrival(s);
    } while (!s->exhausted && !s->failed &&
             kernel_ms(s->arrival.arrival_s) <= s->kernel.now_ms);
    if (!s->exhausted)
        kernel_post_arrival(&s->kernel, kernel_ms(s->arrival.arrival_s));
}

/* ---- events ---- */

static void on_round(struct sim *s)
{
    kernel_post(&s->kernel, kernel_after(&s->kernel, s->scenario->scheduler_interval_s),
                EVENT_ROUND, NULL, 0);
    scheduler_round(s);
}

/* Events of a version that is over are void. */
static bool is_void(const struct event *e)
{
    switch (e->kind) {
    case EVENT_WORK:
        return ((const struct host *)e->target)->version != e->version;
    case EVENT_FAIL:
    case EVENT_RESTORE:
        return ((const struct host *)e->target)->failure_version != e->version;
    case EVENT_STAGE:
    case EVENT_CHECKPOINT_DONE:
        return ((const struct replica *)e->target)->version != e->version;
    case EVENT_CHECKPOINT_REQUEST:
        return ((const struct replica *)e->target)->request_version != e->version;
    case EVENT_TRANSFER:
    case EVENT_FLOW:
    case EVENT_CHECKPOINT_STORED:
        return ((const struct transfer *)e->target)->version != e->version;
    default:
        return false;
    }
}

static void execute(struct sim *s, const struct event *e)
{
    switch ((enum event_kind)e->kind) {
    case EVENT_RESOURCE_ADD:
        failures_start(s, e->target);
        host_serve_queue(s, e->target);
        break;
    case EVENT_TRANSFER:
    case EVENT_CHECKPOINT_STORED:
        replica_on_transfer(s, e->target);
        break;
    case EVENT_FLOW:
        transfer_on_drained(s, e->target);
        break;
    case EVENT_STAGE:
        replica_proceed(s, e->target);
        break;
    case EVENT_WORK:
        host_on_work(s, e->target);
        break;
    case EVENT_CHECKPOINT_DONE:
        checkpoint_on_done(s, e->target);
        break;
    case EVENT_RESTORE:
        host_on_restore(s, e->target);
        break;
    case EVENT_FAIL:
        host_on_fail(s, e->target);
        break;
    case EVENT_LOAD:
        host_on_load(s, e->target);
        break;
    case EVENT_CHECKPOINT_REQUEST:
        checkpoint_on_request(s, e->target);
        break;
    case EVENT_SUBMIT:
        on_submit(s);
        break;
    case EVENT_POLL:
        information_poll(s);
        break;
    case EVENT_ROUND:
        on_round(s);
        break;
    case EVENT_APPLY:
        scheduler_apply(s);
        break;
    case EVENT_STABLE:
        sim_stable(s);
        break;
    case EVENT_KIND_COUNT:
        break;
    }
}

/* ---- the loop ---- */

static bool is_spent(struct sim *s, struct budget *budget, struct sim_progress *progress)
{
    uint64_t limit = s->scenario->max_events;

    if (limit && s->event_count >= limit)
        return true;
    if (budget && budget->max_steps && s->event_count >= budget->max_steps)
        return true;
    if (++s->work < WORK_BETWEEN_LOOKS)
        return false;
    s->work = 0;
    if (progress) {
        progress->events = s->event_count;
        progress->time_ratio = (double)s->kernel.now_ms / (double)s->kernel.end_ms;
    }
    return budget_spent(budget);
}

static void note_event(struct sim *s, const struct event *e)
{
    s->event_count++;
    s->event_hash = (s->event_hash ^ ((uint64_t)e->at_ms << 5 | e->kind)) *
                    0x100000001b3U; /* as FNV-1a */
}

static bool is_over(const struct sim *s)
{
    return s->failed || s->stopped ||
           (s->scenario->stop_when_done && s->exhausted && isnan(s->truncated_s) &&
            s->alive_jobs == 0);
}

/* false: cut. */
static bool play(struct sim *s, struct budget *budget, struct sim_progress *progress)
{
    bool is_continuous = s->policy->round && !(s->scenario->scheduler_interval_s > 0);
    struct event e;

    while (!is_over(s) && kernel_take(&s->kernel, &e)) {
        if (!is_void(&e)) {
            execute(s, &e);
            note_event(s, &e);
            if (is_spent(s, budget, progress))
                return false;
        }
        if (is_continuous && s->is_dirty && kernel_turn_ends(&s->kernel))
            scheduler_round(s);
        if (s->is_cut)
            return false;
    }
    if (!s->failed && !is_over(s))
        s->kernel.now_ms = s->kernel.end_ms; /* nothing more happens until then */
    return true;
}

/* ---- a run ---- */

static enum error_code create_vm(struct sim *s)
{
    double *mips;

    if (!s->policy->vm)
        return OK;
    for (size_t i = 0; i < s->host_count; i++)
        if (!s->hosts[i].is_fraction)
            return fail(s->err, ERR_INVALID, s->hosts[i].group->pointer,
                        "sessions need resources with sharing 'fraction'");
    mips = NEW(s->arena, double, s->host_count);
    for (size_t i = 0; i < s->host_count; i++)
        mips[i] = s->hosts[i].mips_total;
    TRY(vm_pool_create(&s->vm, s->policy->vm, s->policy->vm_param, mips, s->host_count,
                       s->user_count, s->vm_mips, s->vm_session_s, s->arena, s->err));
    for (size_t i = 0; i < s->host_count; i++)
        vm_pool_set_up(&s->vm, i, false); /* until they register */
    return OK;
}

static enum error_code create(struct sim *s)
{
    const struct sim_scenario *c = s->scenario;
    const struct workload *w = c->workload;

    s->kernel.arena = s->arena;
    s->kernel.now_ms = -1; /* what comes at 0 is all of one turn */
    s->kernel.end_ms = kernel_ms(c->stop_time_s);
    s->stable_ms = kernel_ms(c->stable_after_s);
    s->event_hash = 0xcbf29ce484222325U;
    s->truncated_s = (double)NAN;
    TRY(workload_open(w, s->seed, c->stop_time_s, &s->source, s->arena, s->err));
    s->user_count = workload_user_count(s->source);
    s->user_mi = NEW(s->arena, double, s->user_count);
    if (w->mips_required)
        s->vm_mips = distribution_mean(w->mips_required);
    if (w->session_s)
        s->vm_session_s = distribution_mean(w->session_s);
    hosts_create(s);
    TRY(routes_create(s));
    scheduler_create(s);
    hazards_create(s);
    TRY(create_vm(s));
    information_start(s);
    if (c->scheduler_interval_s > 0 && s->policy->round)
        kernel_post(&s->kernel, 0, EVENT_ROUND, NULL, 0);
    if (s->stable_ms > 0)
        kernel_post(&s->kernel, s->stable_ms, EVENT_STABLE, NULL, 0);
    post_arrival(s);
    return OK;
}

static enum error_code run(struct sim *s, struct budget *budget,
                           struct sim_progress *progress, struct sim_run_out *out)
{
    struct sim_run_out o = {.status = DECISION_FEASIBLE};

    TRY(create(s));
    if (!play(s, budget, progress))
        o.status = DECISION_CUT;
    if (s->failed)
        return s->failed;
    if (!isnan(s->truncated_s) && s->kernel.end_ms <= s->stable_ms)
        sim_stable(s); /* nothing of the warm-up counts */
    TRY(sim_close(s, &o));
    o.truncated_s = s->truncated_s;
    if (progress && o.status != DECISION_CUT)
        *progress = (struct sim_progress){s->event_count, 1};
    *out = o;
    return OK;
}

enum error_code sim_run(const struct sim_scenario *scenario,
                        const struct sim_policy *policy, uint64_t seed,
                        struct budget *budget, const struct sim_output *wanted,
                        struct sim_progress *progress, struct sim_run_out *out,
                        struct arena *a, struct error *err)
{
    static const struct sim_output nothing = {0};
    size_t free_bytes = arena_cap_bytes(a) - arena_used_bytes(a);
    struct sim s = {
        .scenario = scenario,
        .policy = policy,
        .wanted = wanted ? wanted : &nothing,
        .seed = seed,
        .budget = budget,
        .arena = arena_create_beside(a, free_bytes),
        .scratch = arena_create_beside(a, free_bytes),
        .rows = a,
        .err = err,
    };
    enum error_code code;

    code = run(&s, budget, progress, out);
    arena_close(s.arena);
    arena_close(s.scratch);
    return code;
}

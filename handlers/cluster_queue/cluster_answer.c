/* cluster_answer.c - POST /v1/queue-orders with a cluster: who starts, and why others
 * wait. */
#include "algorithms/cluster_queue/replay.h"
#include "handlers/cluster_queue/cluster_bind.h"
#include "handlers/common/decision.h"
#include "models/reason_tally.h"
#include "service/metrics.h"
#include "service/service.h"

#include "models/base/plural.h"

#include <math.h>
#include <string.h>

/* A request while it is answered. */
struct telling {
    struct request *rq;
    struct cluster_bound bound;
    const struct policy *policy;
    double *plan_s;    /* what is promised to jobs; NULL: nothing */
    double *promise_s; /* what was promised to them; NULL: nothing */
    size_t broken_count;
    struct cluster_decision out;
    struct queue_orders_answer *answer;
    size_t *row_of; /* the row that speaks for each job; SIZE_MAX: none */
    struct start *starts;
    struct wait *waiting;
    struct unplaced *unplaced;
    double wait_s, makespan_s, bound_s;
};

static const char *const meanings[] = {
#define X(symbol, name, slurm, meaning) meaning,
    CLUSTER_REASONS(X)
#undef X
};

static const char *const scopes[] = {
#define X(name) #name,
    CLUSTER_SCOPES(X)
#undef X
};

/* ---- a job's row ---- */

/* Whether row `a` says more of its job than row `b`: it starts, it has the earlier plan,
 * it waits at all. */
static bool is_better(const struct cluster_verdict *a, const struct cluster_verdict *b)
{
    if (a->outcome != b->outcome)
        return a->outcome == CLUSTER_STARTS || b->outcome == CLUSTER_NEVER;
    if (isnan(a->start_s) != isnan(b->start_s))
        return isnan(b->start_s);
    return a->start_s < b->start_s;
}

static void choose_rows(struct telling *t)
{
    t->row_of = NEW(t->rq->arena, size_t, t->bound.job_count);
    for (size_t i = 0; i < t->bound.job_count; i++)
        t->row_of[i] = SIZE_MAX;
    for (size_t i = 0; i < t->bound.row_count; i++) {
        size_t row = t->out.order[i], job = t->bound.rows[row].job;

        if (t->row_of[job] == SIZE_MAX ||
            is_better(&t->out.verdicts[row], &t->out.verdicts[t->row_of[job]]))
            t->row_of[job] = row;
    }
    budget_step(&t->rq->budget, t->bound.row_count);
}

static uint64_t cpus_asked(const struct telling *t, size_t row)
{
    const struct cluster_row *r = &t->bound.rows[row];
    const struct cluster_job *job = &t->bound.jobs[r->job];
    double times = (double)(job->tasks ? job->tasks : job->nodes);

    return (uint64_t)ceil(
        fmin((double)r->need[CLUSTER_CPUS] / CLUSTER_UNITS * times, 1e15));
}

static const char *array_of(const struct telling *t, size_t job)
{
    const struct cluster_array_in *array =
        t->bound.body->jobs[t->bound.given[job]].cluster.array;

    return array ? array->id : NULL;
}

static const char *const *ids_of(const struct telling *t, const struct cluster_pick *pick)
{
    const char **ids = NEW(t->rq->arena, const char *, pick->count);

    budget_step(&t->rq->budget, pick->count);
    for (size_t i = 0; i < pick->count; i++)
        ids[i] = t->bound.of.nodes[pick->nodes[i]].id;
    return ids;
}

/* ---- who starts ---- */

static void tell_start(struct telling *t, size_t row)
{
    const struct cluster_verdict *v = &t->out.verdicts[row];
    const struct cluster_row *r = &t->bound.rows[row];
    size_t amounts = t->bound.of.amount_count;
    double *cpus = NEW(t->rq->arena, double, v->pick.count);
    int64_t *need = NEW(t->rq->arena, int64_t, amounts);
    double all = 0;

    for (size_t i = 0; i < v->pick.count; i++) {
        cluster_need_on(&t->bound.of, r, v->pick.nodes[i],
                        v->pick.tasks ? v->pick.tasks[i] : 1, need);
        cpus[i] = (double)need[CLUSTER_CPUS] / CLUSTER_UNITS;
        all += cpus[i];
    }
    t->starts[t->answer->start_count++] = (struct start){
        .job_id = t->bound.jobs[r->job].id,
        .processors = (uint64_t)ceil(fmin(all, 1e15)),
        .start_s = v->start_s,
        .resource_id = v->pick.count == 1 ? ids_of(t, &v->pick)[0] : NULL,
        .partition_id = t->bound.of.partitions[r->partition].id,
        .resource_ids = ids_of(t, &v->pick),
        .resource_id_count = v->pick.count,
        .array_id = array_of(t, r->job),
        .cpus_by_resource = cpus,
        .cpus_by_resource_count = v->pick.count,
        .time_limit_s = v->limit_s,
        .run_time_index = JSON_NO_INTEGER,
        .copies = PLACEMENT_NO_COPIES,
    };
}

/* What becomes of a running job when it is preempted: as its quality of service says,
 * else as the cluster does. */
static int preempt_mode_of(const struct telling *t, const struct cluster_running *r)
{
    int own = r->of.qos >= 0 ? t->bound.in->qos[r->of.qos].preempt_mode : -1;

    return own >= 0 ? own : t->bound.in->policy_settings.preempt_mode;
}

/* Those of them that are stopped in this way; none: nothing is told. */
static void tell_stopped(struct telling *t, size_t row, int mode,
                         struct queue_preemption *to)
{
    const struct cluster_verdict *v = &t->out.verdicts[row];
    const char **stop = NEW(t->rq->arena, const char *, v->stopped_count);

    *to = (struct queue_preemption){
        .job_id = t->bound.jobs[t->bound.rows[row].job].id,
        .stop = stop,
        .mode = mode == PREEMPT_CANCEL ? "cancel" : "requeue",
    };
    budget_step(&t->rq->budget, v->stopped_count);
    for (size_t k = 0; k < v->stopped_count; k++) {
        const struct cluster_running *r = &t->bound.of.running[v->stopped[k]->running];

        if ((preempt_mode_of(t, r) == PREEMPT_CANCEL) != (mode == PREEMPT_CANCEL))
            continue;
        stop[to->stop_count++] = r->id;
        to->lost_s += t->bound.of.now_s - r->start_s;
        if (r->of.qos >= 0)
            to->grace_s = fmax(to->grace_s, t->bound.of.qos[r->of.qos].grace_s);
    }
    if (to->stop_count == 0)
        return;
    to->resource_ids = ids_of(t, &v->pick);
    to->resource_id_count = v->pick.count;
    t->answer->preemption_count++;
}

/* The jobs that are stopped for those that start. */
static void tell_preemptions(struct telling *t)
{
    static const int modes[] = {PREEMPT_REQUEUE, PREEMPT_CANCEL};
    struct queue_preemption *list = NULL;

    for (size_t i = 0; i < t->bound.row_count; i++) {
        size_t row = t->out.order[i];
        const struct cluster_verdict *v = &t->out.verdicts[row];

        if (v->outcome != CLUSTER_STARTS || !v->stopped_count)
            continue;
        if (!list) /* and one that may be left over */
            list = NEW(t->rq->arena, struct queue_preemption, 2 * t->bound.row_count + 1);
        for (int k = 0; k < 2; k++)
            tell_stopped(t, row, modes[k], &list[t->answer->preemption_count]);
    }
    t->answer->preemptions = list;
}

/* ---- who waits ---- */

static const struct queue_priority_parts *parts_of(const struct telling *t, size_t row)
{
    const struct priority *p = &t->bound.parts[row];
    const struct cluster_row *r = &t->bound.rows[row];
    ptrdiff_t account = t->bound.jobs[r->job].of.account;
    struct queue_priority_parts *to;

    if (!isnan(t->bound.rank_jobs[r->job].given) || t->bound.ranking.basic)
        return NULL;
    to = NEW(t->rq->arena, struct queue_priority_parts, 1);
    *to = (struct queue_priority_parts){
        p->age,        p->association,
        p->fair_share, p->job_size,
        p->partition,  p->qos,
        p->site,       p->nice,
        p->amounts,    account >= 0 ? t->bound.account_list[account].fair_share : 0};
    return to;
}

static double shown(const struct cluster_limit *limit, double value)
{
    if (limit->amount < 0 || limit->amount == CLUSTER_MEMORY)
        return value;
    return value / CLUSTER_UNITS;
}

static const struct queue_limit *limit_of(const struct telling *t,
                                          const struct cluster_limit *from)
{
    struct queue_limit *to = NEW(t->rq->arena, struct queue_limit, 1);

    *to = (struct queue_limit){
        .scope = scopes[from->scope],
        .id = from->id,
        .name = from->name,
        .amount = from->amount >= 0 ? t->bound.amount_names[from->amount] : NULL,
        .value = shown(from, from->value),
        .used = shown(from, from->used),
    };
    return to;
}

static const char *blocking_job(const struct telling *t, const struct cluster_verdict *v)
{
    if (v->behind >= 0)
        return t->bound.jobs[t->bound.rows[v->behind].job].id;
    if (!v->waits_for)
        return NULL;
    return v->waits_for->running >= 0 ? t->bound.of.running[v->waits_for->running].id
                                      : t->bound.jobs[v->waits_for->job].id;
}

static const char *slurm_name(const struct telling *t, const struct cluster_verdict *v,
                              const struct cluster_job *job)
{
    (void)t;
    if (v->reason == CLUSTER_REASON_HELD && job->held_by_admin)
        return cluster_slurm_reason_names[CLUSTER_SLURM_HELD_ADMIN];
    if (v->reason == CLUSTER_REASON_LIMIT &&
        v->limit.scope <= CLUSTER_SCOPE_partition_qos)
        return cluster_slurm_reason_names[CLUSTER_SLURM_QOS_LIMIT];
    return cluster_slurm_reason_names[v->reason];
}

static const char *detail_of(const struct telling *t, const struct cluster_verdict *v)
{
    const char *who = blocking_job(t, v);
    struct arena *a = t->rq->arena;

    if (v->reason == CLUSTER_REASON_PARTITION_LIMIT && isnan(v->limit.value))
        return arena_printf(a, "%s of partition '%s' keep it out", v->limit.name,
                            v->limit.id);
    if (v->reason == CLUSTER_REASON_PARTITION_LIMIT)
        return arena_printf(a, "%s of partition '%s' is %.15g, it asks for %.15g",
                            v->limit.name, v->limit.id, shown(&v->limit, v->limit.value),
                            shown(&v->limit, v->limit.used));
    if (v->reason == CLUSTER_REASON_LIMIT)
        return arena_printf(a, "%s of %s '%s': %.15g is allowed, %.15g is used",
                            v->limit.name, scopes[v->limit.scope], v->limit.id,
                            shown(&v->limit, v->limit.value),
                            shown(&v->limit, v->limit.used));
    if (who && !isnan(v->start_s))
        return arena_printf(a, "%s; behind job %s, planned for %.15g",
                            meanings[v->reason], who, v->start_s);
    return meanings[v->reason];
}

/* By how much a promise is not kept; who is in the way is not told. */
static const struct promise_broken *broken_of(struct telling *t, size_t job)
{
    struct promise_broken *broken;
    double by_s;

    if (!t->promise_s || !t->plan_s || isnan(t->promise_s[job]) || isnan(t->plan_s[job]))
        return NULL;
    by_s = t->plan_s[job] - fmax(t->promise_s[job], t->bound.of.now_s);
    if (!(by_s > 1e-9 * fmax(1, fabs(t->plan_s[job]))))
        return NULL;
    broken = NEW(t->rq->arena, struct promise_broken, 1);
    broken->by_s = by_s;
    t->broken_count++;
    return broken;
}

static void tell_wait(struct telling *t, size_t row)
{
    const struct cluster_verdict *v = &t->out.verdicts[row];
    const struct cluster_row *r = &t->bound.rows[row];
    bool planned = !isnan(v->start_s);

    t->waiting[t->answer->waiting_count++] = (struct wait){
        .job_id = t->bound.jobs[r->job].id,
        .processors = cpus_asked(t, row),
        .estimated_start_s = v->start_s,
        .planned_start_s = t->plan_s ? t->plan_s[r->job] : (double)NAN,
        .promise_broken = broken_of(t, r->job),
        .reason = queue_wait_reason(cluster_reason_names[v->reason]),
        .detail = detail_of(t, v),
        .blocking_job_id = planned ? blocking_job(t, v) : NULL,
        .until_s = v->start_s,
        .array_id = array_of(t, r->job),
        .partition_id = t->bound.of.partitions[r->partition].id,
        .slurm_reason = slurm_name(t, v, &t->bound.jobs[r->job]),
        .planned_resource_ids = planned ? ids_of(t, &v->pick) : NULL,
        .planned_resource_count = v->pick.count,
        .run_time_index = JSON_NO_INTEGER,
        .priority = r->priority,
        .priority_parts = parts_of(t, row),
        .limit = v->reason == CLUSTER_REASON_LIMIT ? limit_of(t, &v->limit) : NULL,
        .copies = PLACEMENT_NO_COPIES,
    };
}

/* ---- who never runs ---- */

static void tell_never(struct telling *t, size_t job, const char *reason,
                       const char *detail, const struct queue_limit *limit)
{
    struct unplaced_reason *why = NEW(t->rq->arena, struct unplaced_reason, 1);

    *why = (struct unplaced_reason){.reason = reason,
                                    .detail = detail,
                                    .resource_count = JSON_NO_INTEGER,
                                    .limit = limit};
    t->unplaced[t->answer->unplaced_count++] =
        (struct unplaced){t->bound.jobs[job].id, why, 1, PLACEMENT_NO_COPIES};
    metrics_unplaced(t->rq->service->metrics, reason, 1);
}

/* A number of its partition; of a list there is nothing to say but its name. */
static bool names_limit(const struct cluster_verdict *v)
{
    return v->reason == CLUSTER_REASON_PARTITION_LIMIT && !isnan(v->limit.value);
}

static bool is_killed(const struct telling *t, size_t job)
{
    return t->bound.jobs[job].is_never &&
           t->bound.body->jobs[t->bound.given[job]].cluster.kill_on_invalid_dependency;
}

static void measure(struct telling *t, const struct cluster_verdict *v)
{
    double now_s = t->bound.of.now_s;

    if (isnan(v->start_s))
        return;
    t->wait_s += v->start_s - now_s;
    t->makespan_s = fmax(t->makespan_s, v->start_s + v->limit_s - now_s);
    t->bound_s = fmax(t->bound_s, v->limit_s);
}

static void tell_jobs(struct telling *t)
{
    size_t count = t->bound.job_count;

    t->answer->starts = t->starts = NEW(t->rq->arena, struct start, count);
    t->answer->waiting = t->waiting = NEW(t->rq->arena, struct wait, count);
    t->answer->unplaced = t->unplaced = NEW(t->rq->arena, struct unplaced, count);
    for (size_t i = 0; i < t->bound.row_count; i++) {
        size_t row = t->out.order[i], job = t->bound.rows[row].job;
        const struct cluster_verdict *v = &t->out.verdicts[row];

        if (t->row_of[job] != row)
            continue;
        if (is_killed(t, job))
            tell_never(t, job, cluster_reason_names[CLUSTER_REASON_DEPENDENCY_NEVER],
                       meanings[CLUSTER_REASON_DEPENDENCY_NEVER], NULL);
        else if (v->outcome == CLUSTER_NEVER)
            tell_never(t, job, cluster_reason_names[v->reason], detail_of(t, v),
                       names_limit(v) ? limit_of(t, &v->limit) : NULL);
        else if (v->outcome == CLUSTER_STARTS)
            tell_start(t, row);
        else
            tell_wait(t, row);
        measure(t, v);
    }
}

/* ---- the rest ---- */

static double free_cpus(const struct telling *t, const uint64_t *nodes, uint64_t *idle)
{
    const struct cluster_state *s = t->out.state;
    double cpus = 0;

    *idle = 0;
    budget_step(&t->rq->budget, t->bound.of.node_count);
    for (size_t i = 0; i < t->bound.of.node_count; i++) {
        if ((nodes && !cluster_set_has(nodes, i)) || !t->bound.of.nodes[i].starts)
            continue;
        *idle += !s->places[i];
        cpus += fmax(0, (double)s->free[i * t->bound.of.amount_count] / CLUSTER_UNITS);
    }
    return fmin(floor(cpus), 1e15);
}

static void tell_free(struct telling *t)
{
    size_t count = t->bound.of.partition_count;
    struct queue_free *list = NEW(t->rq->arena, struct queue_free, count);

    for (size_t i = 0; i < count; i++) {
        const struct cluster_partition *p = &t->bound.of.partitions[i];

        list[i].partition_id = p->id;
        list[i].cpus = (uint64_t)free_cpus(t, p->nodes, &list[i].nodes);
    }
    t->answer->free = list;
    t->answer->free_count = count;
}

static void tell_objective(struct telling *t)
{
    size_t planned = 0;
    uint64_t idle;

    for (size_t i = 0; i < t->answer->waiting_count; i++)
        planned += isnan(t->waiting[i].estimated_start_s) ? 0 : 1;
    planned += t->answer->start_count;
    for (size_t i = 0; i < t->bound.of.running_count; i++)
        if (t->bound.of.running[i].end_s < 1e15)
            t->makespan_s =
                fmax(t->makespan_s, t->bound.of.running[i].end_s - t->bound.of.now_s);
    t->answer->objective = (struct objective){
        .makespan_s = t->makespan_s,
        .lower_bound_s = t->bound_s,
        .gap_ratio = t->bound_s > 0 ? fmax(0, t->makespan_s / t->bound_s - 1) : 0,
        .mean_wait_s = planned ? t->wait_s / (double)planned : (double)NAN,
        .free_processors = (uint64_t)free_cpus(t, NULL, &idle),
    };
    t->rq->gap_ratio = t->answer->objective.gap_ratio;
}

/* Settings of times between decisions: one decision does not see them. */
static const char *const of_replays[] = {
    "sched_interval_s",       "sched_min_interval_s",
    "default_queue_depth",    "requeue_delay_s",
    "over_time_limit_s",      "kill_wait_s",
    "bf_running_job_reserve", "defer",
};

/* Half-life of use and how often it is reckoned, by default. */
#define HALF_LIFE_PRESET_S   604800.0
#define CALC_PERIOD_PRESET_S 300.0

struct without_effect {
    size_t count;
    const char *first; /* pointer */
};

static void count_unseen(struct without_effect *w, bool is_changed, const char *pointer)
{
    if (is_changed && w->count++ == 0)
        w->first = pointer;
}

/* Of the settings of slurm_backfill those that are not as they are by default: of
 * replays, or all. */
static void count_setting(struct telling *t, struct without_effect *w, bool all,
                          const char *name, bool is_changed)
{
    size_t count = sizeof(of_replays) / sizeof(*of_replays), i = 0;

    if (!is_changed)
        return;
    while (i < count && strcmp(name, of_replays[i]) != 0)
        i++;
    if (all || i < count)
        count_unseen(w, true,
                     arena_printf(t->rq->arena, "/cluster/policy_settings/%s", name));
}

static struct without_effect settings_without_effect(struct telling *t, bool all)
{
    const struct cluster_settings_in *s = &t->bound.in->policy_settings;
    struct without_effect w = {0};

#define X(name, least, most, preset, text) \
    count_setting(t, &w, all, #name, s->name != (preset));
    CLUSTER_NUMBERS(X)
#undef X
#define X(name, preset, text) count_setting(t, &w, all, #name, s->name != (preset));
    CLUSTER_SWITCHES(X)
#undef X
    return w;
}

static enum error_code warn_settings(struct telling *t)
{
    const struct cluster_in *in = t->bound.in;
    const struct cluster_priority_in *p = &in->policy_settings.priority;
    struct without_effect w = settings_without_effect(t, false);
    struct arena *a = t->rq->arena;

    count_unseen(&w, p->decay_half_life_s != HALF_LIFE_PRESET_S,
                 "/cluster/policy_settings/priority/decay_half_life_s");
    count_unseen(&w, p->calc_period_s != CALC_PERIOD_PRESET_S,
                 "/cluster/policy_settings/priority/calc_period_s");
    budget_step(&t->rq->budget, in->partition_count + in->qos_count);
    for (size_t i = 0; i < in->partition_count; i++)
        if (in->partitions[i].over_time_limit_s > 0)
            count_unseen(&w, true,
                         arena_printf(a, "/cluster/partitions/%zu/over_time_limit_s", i));
    for (size_t i = 0; i < in->qos_count; i++)
        if (in->qos[i].usage_factor != 1)
            count_unseen(&w, true, arena_printf(a, "/cluster/qos/%zu/usage_factor", i));
    if (!w.count)
        return OK;
    return decision_warn(t->rq, &t->answer->decision,
                         "without_effect: %s of the policy, first %s, %s "
                         "what happens between decisions; this one does not see %s",
                         counted(w.count, "setting").text, w.first,
                         plural(w.count, "says", "say"), plural(w.count, "it", "them"));
}

/* Other policies read `select` and `priority`. */
static enum error_code warn_settings_of_slurm(struct telling *t)
{
    const struct cluster_settings_in *s = &t->bound.in->policy_settings;
    struct without_effect w = settings_without_effect(t, true);

    count_unseen(
        &w, s->preempt_type != CLUSTER_PREEMPT_NONE && s->preempt_mode != PREEMPT_OFF,
        "/cluster/policy_settings/preempt_type");
    if (!w.count)
        return OK;
    return decision_warn(
        t->rq, &t->answer->decision,
        "without_effect: %s, first %s, %s of slurm_backfill; %s does not "
        "read %s",
        counted(w.count, "setting").text, w.first, plural(w.count, "is", "are"),
        t->policy->name, plural(w.count, "it", "them"));
}

static const char *unplaced_text(const struct telling *t)
{
    struct reason_tally tally = {0};

    for (size_t i = 0; i < t->answer->unplaced_count; i++) {
        budget_step(&t->rq->finish, 1);
        reason_tally_add(&tally, t->answer->unplaced[i].reasons[0].reason);
    }
    return reason_tally_text(&tally, t->rq->arena);
}

/* Starts that were promised: what became of them. */
static enum error_code warn_promises(struct telling *t)
{
    const struct cluster_bound *b = &t->bound;
    struct decision_answer *out = &t->answer->decision;

    if (b->ignored_promise.count && !t->plan_s)
        TRY(decision_warn(t->rq, out,
                          "ignored: planned_start_s of %s, first "
                          "/jobs/%zu/planned_start_s: %s keeps no promises",
                          counted(b->ignored_promise.count, "job").text,
                          b->ignored_promise.first, t->policy->name));
    if (b->gang_promise.count && t->plan_s)
        TRY(decision_warn(t->rq, out,
                          "ignored: planned_start_s of %s of gangs, first "
                          "/jobs/%zu/planned_start_s: nothing is promised to one of them",
                          counted(b->gang_promise.count, "job").text,
                          b->gang_promise.first));
    if (t->broken_count)
        TRY(decision_warn(t->rq, out,
                          "promise_broken: %s %s promised to, by planned_start_s",
                          counted(t->broken_count, "job").text,
                          plural(t->broken_count, "does not start when it was",
                                 "do not start when they were")));
    return OK;
}

static enum error_code warn(struct telling *t)
{
    const struct cluster_bound *b = &t->bound;
    struct decision_answer *out = &t->answer->decision;

    if (b->gone.count)
        TRY(decision_warn(
            t->rq, out,
            "unknown_dependency: %zu, first of /jobs/%zu/after: no such job, "
            "taken to be gone",
            b->gone.count, b->gone.first));
    if (b->endless.count)
        TRY(decision_warn(t->rq, out,
                          "no_time_limit: %s, first /jobs/%zu, and %s "
                          "partition have none; 365 days",
                          counted(b->endless.count, "job").text, b->endless.first,
                          plural(b->endless.count, "its", "their")));
    if (b->later.count)
        TRY(decision_warn(t->rq, out,
                          "submitted_later: %s, first /jobs/%zu/submit_s, %s "
                          "submitted after now_s; that counts as now_s",
                          counted(b->later.count, "job").text, b->later.first,
                          plural(b->later.count, "is", "are")));
    TRY(cluster_warn_bound(t->rq, b, out));
    if (b->reserved.count)
        TRY(decision_warn(t->rq, out,
                          "reserved: %s, first '%s', %s after a "
                          "reservation of %s nodes has begun",
                          counted(b->reserved.count, "running job").text,
                          b->of.running[b->reserved.first].id,
                          plural(b->reserved.count, "ends", "end"),
                          plural(b->reserved.count, "its", "their")));
    if (b->overcommitted)
        TRY(decision_warn(t->rq, out,
                          "overcommitted: running jobs have more than there is: %s",
                          b->overcommitted));
    TRY(warn_promises(t));
    TRY(t->policy == &cluster_policies[0] ? warn_settings(t) : warn_settings_of_slurm(t));
    if (t->answer->unplaced_count)
        TRY(decision_warn(t->rq, out, "%s", unplaced_text(t)));
    if (t->out.is_cut)
        TRY(decision_warn(t->rq, out,
                          "time_limit: the time was up; of %s %zu %s tested by backfill",
                          counted(b->row_count, "row").text, t->out.tested_count,
                          plural(t->out.tested_count, "was", "were")));
    return OK;
}

static enum decision_status status_of(const struct telling *t)
{
    const struct queue_orders_answer *answer = t->answer;

    if (t->out.is_cut)
        return DECISION_CUT;
    if (answer->unplaced_count && !answer->start_count && !answer->waiting_count)
        return DECISION_INFEASIBLE;
    return answer->waiting_count || answer->unplaced_count ? DECISION_FEASIBLE
                                                           : DECISION_OPTIMAL;
}

/* Bytes of the sets of nodes of the intervals ahead, and of rows and nodes. */
static double bytes_of(const struct cluster *c)
{
    double tests = fmin(c->settings.bf_max_job_test, (double)c->row_count);
    double sets = 2 * tests * (double)cluster_words(c->node_count) * sizeof(uint64_t);

    return sets + (double)c->row_count * (sizeof(struct cluster_verdict) + 512) +
           3.0 * (double)c->node_count * (double)c->amount_count * sizeof(int64_t);
}

/* slurm_backfill, or a policy of pools of processors. */
static void find_policy(struct telling *t, const char *name)
{
    static const struct policy *const tables[] = {cluster_policies, queue_policies, NULL};

    t->policy = &cluster_policies[0];
    if (!name || strcmp(name, "auto") == 0)
        return;
    t->policy = policy_find(cluster_policies, name);
    if (!t->policy)
        t->policy = policy_find(queue_policies, name);
    if (!t->policy)
        decision_no_policy("/algorithm", name, "policy of a cluster", tables, t->rq->err);
}

/* What conservative has told before, of jobs that are no arrays. */
static struct cluster_promises promises_of(struct telling *t, const double *options)
{
    size_t count = t->bound.job_count;
    double *list = NEW(t->rq->arena, double, count);

    for (size_t i = 0; i < count; i++) {
        const struct waiting_job *w = &t->bound.body->jobs[t->bound.given[i]];

        list[i] = w->cluster.array ? (double)NAN : w->planned_start_s;
    }
    budget_step(&t->rq->budget, count);
    t->promise_s = list;
    return (struct cluster_promises){list, !(options[QUEUE_COMPRESS] > 0)};
}

/* By a policy of pools of processors. */
static void decide_by(struct telling *t, const double *options)
{
    struct cluster_promises promises;
    bool keeps = queue_discipline_of(t->policy)->rule == QUEUE_CONSERVATIVE;

    t->plan_s = NEW(t->rq->arena, double, t->bound.job_count);
    if (keeps)
        promises = promises_of(t, options);
    cluster_decide_by(&t->bound.of, t->policy, keeps ? &promises : NULL, &t->out,
                      t->plan_s, t->rq->arena);
    if (!keeps)
        t->plan_s = NULL;
}

enum error_code queue_orders_cluster(struct request *rq,
                                     const struct queue_orders_request *body,
                                     struct queue_orders_answer *answer)
{
    struct cluster_in in = *body->cluster;
    struct queue_orders_request with = *body;
    struct telling t = {.rq = rq, .answer = answer};
    double options[QUEUE_OPTION_COUNT];
    bool is_slurm;

    find_policy(&t, body->decision.algorithm);
    is_slurm = !t.policy || t.policy == &cluster_policies[0];
    if (is_slurm)
        cluster_take_options(body->decision.options, body->decision.option_count,
                             &in.policy_settings, rq->err);
    else
        params_bind(queue_conservative_params, body->decision.options,
                    body->decision.option_count, options, rq->err);
    with.cluster = &in;
    t.bound.rq = rq;
    t.bound.body = &with;
    TRY(cluster_bind(&t.bound));
    TRY(request_reserve(rq, bytes_of(&t.bound.of)));
    if (is_slurm)
        cluster_decide(&t.bound.of, &t.out, rq->arena);
    else
        decide_by(&t, options);
    answer->site_id = body->site_id;
    choose_rows(&t);
    tell_jobs(&t);
    tell_preemptions(&t);
    tell_free(&t);
    tell_objective(&t);
    TRY(warn(&t));
    decision_end(rq, t.policy->name, status_of(&t), &answer->decision);
    return OK;
}

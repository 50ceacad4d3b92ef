/* cluster_replay/slurm.c - rounds by Slurm's main loop and backfill, instead of a rule.
 *
 * What waits and what runs is handed to cluster_decide(): its main loop after each
 * instant at which something came or went, with its backfill pass every bf_interval_s as
 * long as something has changed since the one before. Jobs may be of accounts and
 * qualities of service with limits. What an account has used grows with each attempt that
 * ends, and is not forgotten by limits.
 *
 * Priorities are as given, or reckoned at each decision (replay_ranks): age counts from
 * when a job was first eligible, its use up to now with its half-life. Who is preempted
 * leaves its nodes at once and goes on from its last image, or is cancelled.
 *
 * Cost: a round looks at all nodes, at what runs, and at the rows that its settings say:
 * for some thousand nodes.
 *
 * Source: see cluster_queue/decide.h; the times of passes: slurm.conf(5).
 */
#include "algorithms/cluster_queue/decide.h"
#include "algorithms/cluster_replay/parts.h"
#include "algorithms/priority/fair_share.h"

#include <math.h>
#include <string.h>

struct slurm {
    struct arena *arena; /* of a round */
    struct cluster of;   /* what does not change */
    struct cluster_node *nodes;
    bool ticks;                       /* backfill is due */
    bool is_posted;                   /* its next event is on its way */
    bool changed;                     /* since the last pass of it */
    struct cluster_account *accounts; /* with what they have used by now */
    struct ranks *ranks;              /* NULL: priorities are as given */
};

/* Priorities that are reckoned. */
struct ranks {
    struct cluster_ranker *ranker;
    struct cluster_account *accounts; /* with what counts of their use by now */
    double *use;                      /* of each account without those below, cpu s */
    int64_t use_at_ms;
    int64_t *eligible_ms; /* of each job, first; -1: it was not yet */
};

static double seconds(int64_t ms)
{
    return ms == REPLAY_NEVER ? HUGE_VAL : 1e-3 * (double)ms;
}

static struct cluster_limits no_limits(void)
{
    struct cluster_amount_limits none = {NULL, HUGE_VAL, HUGE_VAL, HUGE_VAL, HUGE_VAL};

    return (struct cluster_limits){HUGE_VAL, HUGE_VAL, HUGE_VAL, HUGE_VAL,
                                   none,     none,     none,     none};
}

/* ---- what does not change ---- */

/* What all nodes have together can be added up there, also of what is not limited. */
static const int64_t *capacity_of(struct engine *e, const struct klass *k)
{
    int64_t *units = NEW(e->a, int64_t, e->amount_count);
    int64_t most = CLUSTER_ENDLESS / ((int64_t)e->node_count + 1);

    for (size_t i = 0; i < e->amount_count; i++)
        units[i] = k->amounts[i] < most ? k->amounts[i] : most;
    return units;
}

static void create_slurm_nodes(struct engine *e, struct slurm *s)
{
    const int64_t **capacities = NEW(e->a, const int64_t *, e->class_count);

    s->nodes = NEW(e->a, struct cluster_node, e->node_count);
    for (size_t c = 0; c < e->class_count; c++)
        capacities[c] = capacity_of(e, &e->classes[c]);
    for (size_t i = 0; i < e->node_count; i++) {
        const struct klass *k = &e->classes[e->nodes[i].klass];

        s->nodes[i] = (struct cluster_node){.id = "",
                                            .weight = k->of->weight,
                                            .capacity = capacities[e->nodes[i].klass],
                                            .core_units = 1,
                                            .starts = true,
                                            .may_come_back = true};
        budget_step(e->budget, 4);
    }
}

/* One for each set, and one of all nodes. */
static const struct cluster_partition *create_partitions(struct engine *e)
{
    size_t count = e->in->set_count + 1;
    struct cluster_partition *list = NEW(e->a, struct cluster_partition, count);
    uint64_t *all = NEW(e->a, uint64_t, cluster_words(e->node_count));

    for (size_t i = 0; i < e->node_count; i++)
        cluster_set_add(all, i);
    for (size_t i = 0; i < count; i++)
        list[i] = (struct cluster_partition){
            .id = "",
            .nodes = i < e->in->set_count ? e->in->sets[i].nodes : all,
            .starts = true,
            .tier = i < e->in->set_count ? e->in->sets[i].tier : 0,
            .preemptible_by_tier = true,
            .limit_max_s = HUGE_VAL,
            .nodes_max = HUGE_VAL,
            .cpus_per_node_max = CLUSTER_ENDLESS,
            .qos_id = CLUSTER_NONE,
            .sharing = CLUSTER_SHARES_NO,
            .shared_jobs_max = 1,
            .limits = no_limits()};
    budget_step(e->budget, e->node_count + 16 * count);
    return list;
}

static const struct cluster_reservation *create_slurm_reservations(struct engine *e)
{
    struct cluster_reservation *list =
        NEW(e->a, struct cluster_reservation, e->in->reservation_count);

    for (size_t i = 0; i < e->in->reservation_count; i++) {
        const struct replay_reservation *r = &e->in->reservations[i];

        list[i] = (struct cluster_reservation){.id = "",
                                               .start_s = seconds(r->start_ms),
                                               .end_s = seconds(r->end_ms),
                                               .nodes = e->in->sets[r->set].nodes};
        budget_step(e->budget, 8);
    }
    return list;
}

static void create_owners(struct engine *e, struct slurm *s)
{
    const struct replay_owners *o = e->in->owners;

    s->accounts = NEW(e->a, struct cluster_account, o->account_count + 1);
    if (o->account_count > 0)
        memcpy(s->accounts, o->accounts, o->account_count * sizeof(*s->accounts));
    s->of.accounts = s->accounts;
    s->of.account_count = o->account_count;
    s->of.qos = o->qos;
    s->of.qos_count = o->qos_count;
    s->of.user_count = o->user_count;
}

/* What accounts had used before, each without those below it. */
static void begin_use(struct engine *e, struct ranks *k)
{
    const struct replay_owners *o = e->in->owners;

    for (size_t i = 0; i < o->account_count; i++) {
        k->use[i] += k->accounts[i].used_cpu_s;
        if (k->accounts[i].parent >= 0)
            k->use[k->accounts[i].parent] -= k->accounts[i].used_cpu_s;
    }
    for (size_t i = 0; i < o->account_count; i++)
        k->use[i] = fmax(0, k->use[i]);
    budget_step(e->budget, 4 * o->account_count);
}

static void create_ranks(struct engine *e, struct slurm *s)
{
    struct ranks *k = NEW(e->a, struct ranks, 1);
    size_t accounts = s->of.account_count;

    k->ranker = cluster_ranker_create(&s->of, &e->in->ranks->by, e->a);
    k->accounts = NEW(e->a, struct cluster_account, accounts + 1);
    k->use = NEW(e->a, double, accounts + 1);
    if (accounts > 0) {
        memcpy(k->accounts, s->accounts, accounts * sizeof(*k->accounts));
        begin_use(e, k);
    }
    k->eligible_ms = NEW(e->a, int64_t, e->in->job_count);
    for (size_t i = 0; i < e->in->job_count; i++)
        k->eligible_ms[i] = -1;
    budget_step(e->budget, e->in->job_count);
    s->ranks = k;
}

void slurm_create(struct engine *e)
{
    struct slurm *s = NEW(e->a, struct slurm, 1);

    s->arena = arena_create_beside(e->a, arena_cap_bytes(e->a));
    create_slurm_nodes(e, s);
    s->of = (struct cluster){.amount_count = e->amount_count,
                             .nodes = s->nodes,
                             .node_count = e->node_count,
                             .shared = e->in->shared,
                             .shared_count = e->in->shared_count,
                             .partitions = create_partitions(e),
                             .partition_count = e->in->set_count + 1,
                             .reservations = create_slurm_reservations(e),
                             .reservation_count = e->in->reservation_count,
                             .user_count = 1,
                             .budget = e->budget};
    if (e->in->owners)
        create_owners(e, s);
    if (e->in->ranks)
        create_ranks(e, s);
    e->slurm = s;
}

void slurm_close(struct engine *e)
{
    if (e->slurm)
        arena_close(e->slurm->arena);
    e->slurm = NULL;
}

/* ---- what waits and runs ---- */

static const struct cluster_take *takes_of(const struct replay_job *j, struct arena *a)
{
    struct cluster_take *list = NEW(a, struct cluster_take, j->shared_count);

    for (size_t i = 0; i < j->shared_count; i++)
        list[i] = (struct cluster_take){j->shared[i].name, j->shared[i].amount};
    return list;
}

static ptrdiff_t from_one(uint32_t number)
{
    return number > 0 ? (ptrdiff_t)number - 1 : CLUSTER_NONE;
}

static const struct cluster_owner nobody = {.account = CLUSTER_NONE,
                                            .qos = CLUSTER_NONE,
                                            .partition = CLUSTER_NONE,
                                            .array = CLUSTER_NONE,
                                            .name = CLUSTER_NONE};

static struct cluster_owner owner_of(const struct engine *e, const struct replay_job *j)
{
    struct cluster_owner of = nobody;

    if (!e->in->owners)
        return of;
    of.user = from_one(j->user);
    of.account = from_one(j->account);
    of.qos = from_one(j->qos);
    return of;
}

static double cpus_of(struct engine *e, const struct run *r)
{
    const struct replay_job *j = &e->in->jobs[r->job];
    double cpus = 0;

    for (size_t i = 0; i < r->node_count; i++)
        cpus += (double)(r->exclusive ? e->slurm->nodes[r->nodes[i]].capacity
                                      : j->need)[CLUSTER_CPUS] /
                CLUSTER_UNITS;
    budget_step(e->budget, r->node_count);
    return cpus;
}

/* What counts by now of all use up to the last time. */
static void forget_use(struct engine *e)
{
    struct ranks *k = e->slurm->ranks;
    double since_s = seconds(e->kernel.now_ms) - seconds(k->use_at_ms);
    double left = fair_share_left(1, since_s, e->in->ranks->half_life_s);

    for (size_t i = 0; i < e->slurm->of.account_count && left < 1; i++)
        k->use[i] *= left;
    budget_step(e->budget, e->slurm->of.account_count);
    k->use_at_ms = e->kernel.now_ms;
}

/* What it used since the last time is its account's own: of each second as much as is
 * not forgotten by now. */
static void charge_use(struct engine *e, struct run *r)
{
    const struct replay_job *j = &e->in->jobs[r->job];
    ptrdiff_t account = from_one(j->account), qos = from_one(j->qos);
    double half_s = e->in->ranks->half_life_s;
    double used_s = seconds(e->kernel.now_ms) - seconds(r->charged_ms);

    r->charged_ms = e->kernel.now_ms;
    if (account < 0 || !(used_s > 0))
        return;
    if (half_s > 0)
        used_s = half_s / log(2) * (1 - fair_share_left(1, used_s, half_s));
    if (qos >= 0)
        used_s *= e->slurm->of.qos[qos].usage_factor;
    e->slurm->ranks->use[account] += cpus_of(e, r) * used_s;
}

void slurm_charge(struct engine *e, struct run *r)
{
    const struct replay_job *j = &e->in->jobs[r->job];
    double used_s = seconds(e->kernel.now_ms) - seconds(r->start_ms), cpus;

    if (!e->slurm || !e->in->owners)
        return;
    cpus = cpus_of(e, r);
    if (e->slurm->ranks) {
        forget_use(e);
        charge_use(e, r);
    }
    for (ptrdiff_t a = from_one(j->account); a >= 0; a = e->slurm->accounts[a].parent) {
        e->slurm->accounts[a].used_cpu_s += cpus * used_s;
        budget_step(e->budget, 1);
    }
}

static void list_running(struct engine *e, struct cluster *c, struct arena *a)
{
    struct cluster_running *list = NEW(a, struct cluster_running, e->running_count);
    bool preempts = c->settings.preempt_type != CLUSTER_PREEMPT_NONE;

    for (size_t i = 0; i < e->running_count; i++) {
        const struct run *r = e->running[i].run;
        const struct replay_job *j = &e->in->jobs[r->job];
        int64_t *taken = NEW(a, int64_t, r->node_count * e->amount_count);

        for (size_t k = 0; k < r->node_count; k++)
            memcpy(taken + k * e->amount_count,
                   r->exclusive ? e->slurm->nodes[r->nodes[k]].capacity : j->need,
                   e->amount_count * sizeof(*taken));
        list[i] = (struct cluster_running){
            .id = preempts ? arena_printf(a, "%010u", r->job) : "",
            .of = r->cleans ? nobody : owner_of(e, j),
            .nodes = r->nodes,
            .node_count = r->node_count,
            .taken = taken,
            .shared = r->cleans ? NULL : takes_of(j, a),
            .shared_count = r->cleans ? 0 : j->shared_count,
            .exclusive = r->exclusive,
            .start_s = seconds(r->start_ms),
            .end_s = seconds(running_end_ms(e, &e->running[i])),
            .priority = e->slurm->ranks ? e->lives[r->job].rank : j->priority};
        list[i].of.partition = (ptrdiff_t)r->set;
        budget_step(e->budget, 16 + (size_t)r->node_count * e->amount_count);
    }
    c->running = list;
    c->running_count = e->running_count;
}

/* Rows of the waiting jobs; numbers[job of the cluster] is that of ours. */
static void list_waiting(struct engine *e, struct cluster *c, uint32_t *numbers,
                         struct arena *a)
{
    struct cluster_job *jobs = NEW(a, struct cluster_job, e->line.count);
    struct cluster_row *rows;
    struct line_place place = {0};
    size_t passed = 0, row_count = 0, count = 0;

    for (const struct line_entry *x; (x = line_at(&e->line, &place, UINT32_MAX, &passed));
         place.entry++, passed++) {
        const struct replay_job *j = &e->in->jobs[x->job];

        numbers[count] = x->job;
        jobs[count++] = (struct cluster_job){.id = "",
                                             .number = (double)x->job,
                                             .task = (double)NAN,
                                             .of = owner_of(e, j),
                                             .nodes = j->nodes + j->spare_nodes,
                                             .nodes_max = j->nodes + j->spare_nodes,
                                             .shared = takes_of(j, a),
                                             .shared_count = j->shared_count,
                                             .exclusive = e->whole || j->exclusive,
                                             .reservation = CLUSTER_NONE,
                                             .submit_s = seconds(x->arrival_ms),
                                             .eligible_s = seconds(x->arrival_ms),
                                             .limit_min_s = (double)NAN,
                                             .deadline_s = HUGE_VAL};
        row_count += nodes_set_count(e, x->job);
        budget_step(e->budget, 32);
    }
    rows = NEW(a, struct cluster_row, row_count);
    row_count = 0;
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < nodes_set_count(e, numbers[i]); k++)
            rows[row_count++] =
                (struct cluster_row){i,
                                     nodes_set(e, numbers[i], k),
                                     e->in->jobs[numbers[i]].need,
                                     seconds(e->lives[numbers[i]].estimate_ms),
                                     e->in->jobs[numbers[i]].priority,
                                     NULL};
        budget_step(e->budget, 8);
    }
    c->jobs = jobs;
    c->job_count = count;
    c->rows = rows;
    c->row_count = row_count;
}

/* ---- priorities ---- */

/* Up to now, with what is forgotten. */
static void advance_use(struct engine *e, struct ranks *k)
{
    size_t n = e->slurm->of.account_count;

    forget_use(e);
    for (size_t i = 0; i < e->running_count; i++)
        if (!e->running[i].run->cleans)
            charge_use(e, e->running[i].run);
    for (size_t i = 0; i < n; i++)
        k->accounts[i].used_cpu_s = 0;
    for (size_t i = 0; i < n; i++)
        for (ptrdiff_t up = (ptrdiff_t)i; up >= 0; up = k->accounts[up].parent) {
            k->accounts[up].used_cpu_s += k->use[i];
            budget_step(e->budget, 1);
        }
    budget_step(e->budget, 4 * n + e->running_count);
}

/* Of all rows that wait. */
static void rank(struct engine *e, struct cluster *c, const uint32_t *numbers,
                 struct arena *a)
{
    struct ranks *k = e->slurm->ranks;
    const struct replay_ranks *ranks = e->in->ranks;
    struct cluster_job *jobs = NEW(a, struct cluster_job, c->job_count);
    struct cluster_row *rows = NEW(a, struct cluster_row, c->row_count);
    struct cluster_rank_job *of = NEW(a, struct cluster_rank_job, c->job_count);
    size_t *which = NEW(a, size_t, c->row_count);

    if (ranks->by.weights.fair_share > 0 && c->account_count) {
        advance_use(e, k);
        cluster_fair_shares(&ranks->by, ranks->shares, k->accounts, c->account_count,
                            e->budget, a);
        for (size_t i = 0; i < c->account_count; i++)
            e->slurm->accounts[i].fair_share = k->accounts[i].fair_share;
    }
    memcpy(jobs, c->jobs, c->job_count * sizeof(*jobs));
    memcpy(rows, c->rows, c->row_count * sizeof(*rows));
    for (size_t i = 0; i < c->job_count; i++) {
        int64_t *since_ms = &k->eligible_ms[numbers[i]];

        if (*since_ms < 0)
            *since_ms = e->kernel.now_ms;
        jobs[i].eligible_s = seconds(*since_ms);
        of[i].given = e->in->jobs[numbers[i]].given;
    }
    for (size_t i = 0; i < c->row_count; i++)
        which[i] = i;
    c->jobs = jobs;
    c->rows = rows;
    cluster_rank_rows(k->ranker, c, of, rows, which, c->row_count, NULL);
    for (size_t i = 0; i < c->row_count; i++)
        e->lives[numbers[rows[i].job]].rank = rows[i].priority;
    budget_step(e->budget, 8 * (c->job_count + c->row_count));
}

/* ---- rounds ---- */

static void start_rows(struct engine *e, const struct cluster *c,
                       const struct cluster_decision *d, const uint32_t *numbers)
{
    struct run **runs = NEW(e->slurm->arena, struct run *, c->running_count);

    for (size_t i = 0; i < c->running_count; i++)
        runs[i] = e->running[i].run;
    for (size_t i = 0; i < c->row_count; i++) {
        const struct cluster_verdict *v = &d->verdicts[d->order[i]];

        for (size_t k = 0; v->outcome == CLUSTER_STARTS && k < v->stopped_count; k++)
            life_preempt(e, runs[v->stopped[k]->running]);
    }
    for (size_t i = 0; i < c->row_count; i++) {
        size_t row = d->order[i];
        const struct cluster_verdict *v = &d->verdicts[row];

        if (v->outcome != CLUSTER_STARTS)
            continue;
        memcpy(e->picked, v->pick.nodes, v->pick.count * sizeof(*e->picked));
        e->picked_count = v->pick.count;
        life_start(e, numbers[c->rows[row].job], (uint32_t)c->rows[row].partition);
        budget_step(e->budget, 8);
    }
}

/* The next pass of backfill is at a multiple of its interval. */
static void post_tick(struct engine *e, struct slurm *s)
{
    int64_t every_ms = kernel_ms(e->rules->slurm->bf_interval_s);

    if (s->is_posted || !s->changed || every_ms <= 0 || e->line.count == 0)
        return;
    s->is_posted = true;
    kernel_post(&e->kernel, (e->kernel.now_ms / every_ms + 1) * every_ms, EVENT_POLL,
                NULL, 0);
}

void slurm_tick(struct engine *e)
{
    e->slurm->is_posted = false;
    e->slurm->ticks = e->queue_changed = true;
}

void slurm_round(struct engine *e)
{
    struct slurm *s = e->slurm;
    struct cluster c = s->of;
    struct cluster_decision d;
    uint32_t *numbers;

    e->out->totals.rounds++;
    s->changed = !s->ticks;
    if (e->line.count > 0) {
        arena_reset(s->arena);
        for (size_t i = 0; i < e->node_count; i++)
            s->nodes[i].starts = e->nodes[i].down_depth == 0;
        budget_step(e->budget, e->node_count);
        c.now_s = seconds(e->kernel.now_ms);
        c.settings = *e->rules->slurm;
        if (!s->ticks && c.settings.bf_interval_s > 0)
            c.settings.bf_interval_s = -1; /* only the main loop */
        numbers = NEW(s->arena, uint32_t, e->line.count);
        list_running(e, &c, s->arena);
        list_waiting(e, &c, numbers, s->arena);
        if (s->ranks)
            rank(e, &c, numbers, s->arena);
        cluster_decide(&c, &d, s->arena);
        start_rows(e, &c, &d, numbers);
    }
    s->ticks = false;
    post_tick(e, s);
}

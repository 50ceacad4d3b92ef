/* decide.c - which jobs start now, when the others will, and why they wait. */
#include "algorithms/cluster_queue/decide.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const cluster_reason_names[] = {
#define X(symbol, name, slurm, meaning) #name,
    CLUSTER_REASONS(X)
#undef X
        NULL,
};

const char *const cluster_slurm_reason_names[] = {
#define X(symbol, name, slurm, meaning) slurm,
    CLUSTER_REASONS(X)
#undef X
        [CLUSTER_SLURM_HELD_ADMIN] = "JobHeldAdmin",
    [CLUSTER_SLURM_QOS_LIMIT] = "QOSMaxJobsPerUserLimit", NULL};

/* ---- the order of the queue ---- */

static int compare(double a, double b)
{
    return (a > b) - (a < b);
}

static int by_id(const struct cluster_job *a, const struct cluster_job *b)
{
    bool numbers = !isnan(a->number) && !isnan(b->number);
    int order = numbers ? compare(a->number, b->number) : strcmp(a->id, b->id);

    return order || !numbers ? order : compare(a->task, b->task);
}

int cluster_compare_rows(const struct cluster *c, size_t i, size_t k)
{
    const struct cluster_row *r = &c->rows[i], *q = &c->rows[k];
    const struct cluster_job *a = &c->jobs[r->job], *b = &c->jobs[q->job];
    int order = (b->reservation >= 0) - (a->reservation >= 0);

    if (!order)
        order =
            compare(c->partitions[q->partition].tier, c->partitions[r->partition].tier);
    if (!order)
        order = compare(q->priority, r->priority);
    if (!order)
        order = compare(a->submit_s, b->submit_s);
    if (!order)
        order = by_id(a, b);
    return order ? order : (i > k) - (i < k);
}

static int in_order(const void *x, const void *y, void *context)
{
    return cluster_compare_rows(context, *(const size_t *)x, *(const size_t *)y);
}

void cluster_order(const struct cluster *c, size_t *rows, size_t count)
{
    qsort_r(rows, count, sizeof(*rows), in_order, (void *)(uintptr_t)c);
    budget_step(c->budget, 16 * count);
}

/* ---- ready or not ---- */

static bool is_met(const struct cluster_pass *p, const struct cluster_after *after)
{
    const struct cluster *c = p->of;
    double started_s;

    if (after->kind != CLUSTER_AFTER_START)
        return false;
    if (after->is_running)
        started_s = c->running[after->job].start_s;
    else if (p->started[after->job])
        started_s = c->now_s;
    else
        return false;
    return started_s + after->delay_s <= c->now_s;
}

static bool depends(const struct cluster_pass *p, const struct cluster_job *job)
{
    budget_step(p->of->budget, job->after_count);
    for (size_t i = 0; i < job->after_count; i++)
        if (is_met(p, &job->after[i]) == job->any_after)
            return !job->any_after;
    return job->after_count > 0 && job->any_after;
}

bool cluster_ready(const struct cluster_pass *p, size_t row)
{
    const struct cluster *c = p->of;
    const struct cluster_row *r = &c->rows[row];
    const struct cluster_job *job = &c->jobs[r->job];
    struct cluster_verdict *v = &p->out->verdicts[row];
    ptrdiff_t array = job->of.array, name = job->of.name;

    if (job->held)
        v->reason = CLUSTER_REASON_HELD;
    else if (job->is_never)
        v->reason = CLUSTER_REASON_DEPENDENCY_NEVER;
    else if (depends(p, job) || (job->singleton && name >= 0 && p->names_running[name]))
        v->reason = CLUSTER_REASON_DEPENDENCY;
    else if (job->eligible_s > c->now_s)
        v->reason = CLUSTER_REASON_BEGIN;
    else if (!c->partitions[r->partition].starts)
        v->reason = CLUSTER_REASON_PARTITION_DOWN;
    else if (array >= 0 && p->state->array_running[array] >= c->arrays[array].running_max)
        v->reason = CLUSTER_REASON_ARRAY_LIMIT;
    else if (!cluster_within_limits(p->state, r, &v->limit))
        v->reason = CLUSTER_REASON_LIMIT;
    else
        return true;
    return false;
}

static bool may_use(const bool *who, ptrdiff_t i)
{
    return !who || (i >= 0 && who[i]);
}

/* What of the partition keeps the row out of it, in `limit`, if anything does. */
static bool keeps_out(const struct cluster_partition *p, const char *name,
                      ptrdiff_t amount, double value, double asked, bool is_within,
                      struct cluster_limit *limit)
{
    if (is_within)
        return false;
    *limit = (struct cluster_limit){.scope = CLUSTER_SCOPE_partition,
                                    .id = p->id,
                                    .name = name,
                                    .amount = amount,
                                    .value = value,
                                    .used = asked};
    return true;
}

static bool is_admitted(const struct cluster *c, const struct cluster_row *row,
                        struct cluster_limit *limit)
{
    const struct cluster_partition *p = &c->partitions[row->partition];
    const struct cluster_job *job = &c->jobs[row->job];
    double nodes = (double)job->nodes, none = (double)NAN;
    int64_t cpus = row->need[CLUSTER_CPUS];

    if (job->of.qos >= 0 && c->qos[job->of.qos].overrides_partition)
        return true;
    return !keeps_out(p, "time_limit_max_s", CLUSTER_NONE, p->limit_max_s, row->limit_s,
                      row->limit_s <= p->limit_max_s, limit) &&
           !keeps_out(p, "nodes_per_job_min", CLUSTER_NONE, p->nodes_min, nodes,
                      nodes >= p->nodes_min, limit) &&
           !keeps_out(p, "nodes_per_job_max", CLUSTER_NONE, p->nodes_max, nodes,
                      job->tasks || nodes <= p->nodes_max, limit) &&
           !keeps_out(p, "cpus_per_node_max", CLUSTER_CPUS, (double)p->cpus_per_node_max,
                      (double)cpus, job->tasks || cpus <= p->cpus_per_node_max, limit) &&
           !keeps_out(p, "memory_per_node_max_bytes", CLUSTER_MEMORY,
                      (double)p->memory_per_node_max, (double)row->need[CLUSTER_MEMORY],
                      p->memory_per_node_max == 0 || job->memory_by_cpu ||
                          row->need[CLUSTER_MEMORY] <= p->memory_per_node_max,
                      limit) &&
           !keeps_out(p, "users_allowed", CLUSTER_NONE, none, none,
                      may_use(p->users, job->of.user), limit) &&
           !keeps_out(p, "qos_allowed", CLUSTER_NONE, none, none,
                      may_use(p->qos, job->of.qos), limit) &&
           !keeps_out(p, "accounts_allowed", CLUSTER_NONE, none, none,
                      may_use(p->accounts, job->of.account), limit);
}

static bool may_reserve(const struct cluster *c, const struct cluster_job *job)
{
    const struct cluster_reservation *r;

    if (job->reservation < 0)
        return true;
    r = &c->reservations[job->reservation];
    return (!r->users && !r->accounts) || (r->users && may_use(r->users, job->of.user)) ||
           (r->accounts && may_use(r->accounts, job->of.account));
}

/* ---- what can never run ---- */

/* The cluster without what runs, in two forms: with all nodes, with those that start
 * jobs. Rows alike are asked once: a table of rows by what they ask. */
struct screen {
    const struct cluster *of;
    struct cluster all;
    struct cluster_question whole, up;
    uint64_t *set;
    size_t *table, table_size;
};

static struct screen make_screen(const struct cluster *c, struct arena *a)
{
    struct screen x = {.of = c, .all = *c, .table_size = 2 * c->row_count + 1};
    struct cluster_node *nodes = NEW(a, struct cluster_node, c->node_count);
    struct cluster *up = NEW(a, struct cluster, 1), *all = NEW(a, struct cluster, 1);

    for (size_t i = 0; i < c->node_count; i++) {
        nodes[i] = c->nodes[i];
        nodes[i].starts = true;
    }
    *up = *all = *c;
    up->running_count = all->running_count = 0;
    all->nodes = nodes;
    x.whole = cluster_question_create(cluster_state_create(all, a), a);
    x.up = cluster_question_create(cluster_state_create(up, a), a);
    x.set = NEW(a, uint64_t, cluster_words(c->node_count));
    x.table = NEW(a, size_t, x.table_size); /* row + 1; 0: free */
    return x;
}

static bool is_plain(const struct cluster_job *job)
{
    return !job->feature_count && !job->allowed && !job->required;
}

static bool are_alike(const struct cluster *c, const struct cluster_row *x,
                      const struct cluster_row *y)
{
    const struct cluster_job *a = &c->jobs[x->job], *b = &c->jobs[y->job];

    return x->partition == y->partition && a->nodes == b->nodes && a->tasks == b->tasks &&
           !memcmp(x->need, y->need, c->amount_count * sizeof(*x->need));
}

/* The slot of the row's likes in the table. */
static size_t *likes_of(struct screen *x, size_t row)
{
    const struct cluster *c = x->of;
    const struct cluster_row *r = &c->rows[row];
    const struct cluster_job *job = &c->jobs[r->job];
    uint64_t hash = r->partition + 31 * job->nodes + 997 * job->tasks;
    size_t at;

    for (size_t k = 0; k < c->amount_count; k++)
        hash = (hash ^ (uint64_t)r->need[k]) * UINT64_C(0x9e3779b97f4a7c15);
    at = (size_t)(hash >> 17) % x->table_size;
    while (x->table[at] && !are_alike(c, r, &c->rows[x->table[at] - 1]))
        at = (at + 1) % x->table_size;
    return &x->table[at];
}

static bool is_enough(struct screen *x, struct cluster_question *q,
                      const struct cluster_row *r)
{
    const struct cluster_job *job = &x->of->jobs[r->job];
    size_t words = q->s->words;

    memcpy(x->set, x->of->partitions[r->partition].nodes, words * sizeof(*x->set));
    if (job->allowed)
        cluster_set_keep(x->set, job->allowed, words);
    cluster_ask(q, r, NULL, x->set);
    return cluster_enough(q, x->set, 0);
}

static bool has_licences(const struct cluster *c, const struct cluster_job *job)
{
    for (size_t i = 0; i < job->shared_count; i++)
        if (c->shared[job->shared[i].what] < job->shared[i].units)
            return false;
    return true;
}

/* No nodes are enough: of themselves, or for the cpus that its memory brings with it. */
static struct cluster_verdict not_enough(struct screen *x, const struct cluster_row *r)
{
    const struct cluster_partition *p = &x->of->partitions[r->partition];
    struct cluster_verdict v = {.outcome = CLUSTER_NEVER,
                                .reason = CLUSTER_REASON_REQUIREMENT};
    struct cluster_row asked = *r;
    double cpus;

    if (!r->asked)
        return v;
    asked.need = r->asked;
    if (!is_enough(x, &x->whole, &asked))
        return v;
    cpus = fmax((double)asked.need[CLUSTER_CPUS] / CLUSTER_UNITS, 1e-9);
    v.reason = CLUSTER_REASON_PARTITION_LIMIT;
    keeps_out(p, "memory_per_cpu_max_bytes", CLUSTER_MEMORY, p->memory_per_cpu_max,
              (double)asked.need[CLUSTER_MEMORY] / cpus, false, &v.limit);
    return v;
}

static void screen_row(struct screen *x, size_t row, struct cluster_verdict *verdicts)
{
    const struct cluster *c = x->of;
    const struct cluster_row *r = &c->rows[row];
    const struct cluster_job *job = &c->jobs[r->job];
    struct cluster_verdict *v = &verdicts[row];
    size_t *likes = is_plain(job) ? likes_of(x, row) : NULL;
    struct cluster_limit limit = {0};

    budget_step(c->budget, c->amount_count);
    if (c->now_s + (isnan(job->limit_min_s) ? r->limit_s : job->limit_min_s) >
        job->deadline_s)
        *v = (struct cluster_verdict){.outcome = CLUSTER_NEVER,
                                      .reason = CLUSTER_REASON_DEADLINE};
    else if (!is_admitted(c, r, &limit))
        *v = (struct cluster_verdict){.outcome = CLUSTER_NEVER,
                                      .reason = CLUSTER_REASON_PARTITION_LIMIT,
                                      .limit = limit};
    else if (!may_reserve(c, job))
        *v = (struct cluster_verdict){.outcome = CLUSTER_NEVER,
                                      .reason = CLUSTER_REASON_RESERVATION};
    else if (job->of.account >= 0 && job->of.qos >= 0 &&
             !may_use(c->accounts[job->of.account].qos, job->of.qos))
        *v = (struct cluster_verdict){.outcome = CLUSTER_NEVER,
                                      .reason = CLUSTER_REASON_QOS};
    else if (!has_licences(c, job))
        *v = (struct cluster_verdict){.outcome = CLUSTER_NEVER,
                                      .reason = CLUSTER_REASON_LICENCE};
    else if (likes && *likes)
        *v = verdicts[*likes - 1];
    else if (!is_enough(x, &x->whole, r))
        *v = not_enough(x, r);
    else if (!is_enough(x, &x->up, r))
        v->reason = CLUSTER_REASON_RESOURCE_DOWN;
    if (likes && !*likes && v->reason != CLUSTER_REASON_DEADLINE &&
        v->reason != CLUSTER_REASON_PARTITION_LIMIT &&
        v->reason != CLUSTER_REASON_LICENCE)
        *likes = row + 1;
}

void cluster_screen(struct cluster_pass *p)
{
    struct screen x = make_screen(p->of, p->arena);

    for (size_t i = 0; i < p->of->row_count; i++) {
        struct cluster_verdict *v = &p->out->verdicts[i];

        p->out->is_cut |= budget_step(p->of->budget, 1);
        if (!p->out->is_cut)
            screen_row(&x, i, p->out->verdicts);
        v->start_s = v->until_s = (double)NAN;
        v->limit_s = p->of->rows[i].limit_s;
        v->behind = v->reservation = CLUSTER_NONE;
    }
    cluster_gang_screen(p);
}

/* ---- starting ---- */

void cluster_begin(struct cluster_pass *p, size_t row, const struct cluster_pick *pick,
                   double limit_s, bool by_backfill)
{
    const struct cluster_row *r = &p->of->rows[row];
    struct cluster_verdict *v = &p->out->verdicts[row];
    ptrdiff_t name = p->of->jobs[r->job].of.name;
    struct cluster_held *held;

    held = cluster_start(p->state, r, pick, p->of->now_s, limit_s);
    held->row = row;
    if (p->begun)
        p->begun[p->begun_count++] = held;
    p->started[r->job] = true;
    if (name >= 0)
        p->names_running[name] = true;
    v->outcome = CLUSTER_STARTS;
    v->start_s = p->of->now_s;
    v->until_s = p->of->now_s + limit_s;
    v->limit_s = limit_s;
    v->pick = *pick;
    v->by_backfill = by_backfill;
}

/* ---- the main loop ---- */

enum { ROWS_AT_ANY_RATE = 64 }; /* that it tries, even without time */

struct loop {
    struct cluster_pass *p;
    bool *closed;        /* [partition_count] */
    double *tried;       /* rows of each partition, [partition_count] */
    uint64_t *withdrawn; /* nodes of closed partitions */
    double starts;
};

/* No row behind gets nodes of it, in whatever partition. */
static void close_partition(struct loop *l, size_t partition)
{
    size_t words = l->p->state->words;

    l->closed[partition] = true;
    for (size_t w = 0; w < words; w++)
        l->withdrawn[w] |= l->p->of->partitions[partition].nodes[w];
    budget_step(l->p->of->budget, words);
}

static void try_row(struct loop *l, size_t row)
{
    struct cluster_pass *p = l->p;
    const struct cluster *c = p->of;
    const struct cluster_row *r = &c->rows[row];
    const struct cluster_job *job = &c->jobs[r->job];
    struct cluster_verdict *v = &p->out->verdicts[row];
    struct cluster_pick pick;

    if (!cluster_ready(p, row)) {
        if (v->reason == CLUSTER_REASON_LIMIT && c->settings.assoc_limit_stop)
            close_partition(l, r->partition);
        return;
    }
    if (!cluster_has_shared(p->state, job)) {
        v->reason = CLUSTER_REASON_LICENCE;
        return;
    }
    cluster_usable(p->state, r, c->now_s, c->now_s + r->limit_s, p->usable);
    cluster_set_drop(p->usable, l->withdrawn, p->state->words);
    cluster_ask(&p->question, r, NULL, p->usable);
    if (cluster_enough(&p->question, p->usable, 0)) {
        cluster_choose(&p->question, p->usable, 0, &pick, p->arena);
        cluster_begin(p, row, &pick, r->limit_s, false);
        l->starts++;
    } else if (c->settings.preempt_type != CLUSTER_PREEMPT_NONE &&
               cluster_preempt(p, row, &pick)) {
        cluster_begin(p, row, &pick, r->limit_s, false);
        l->starts++;
    } else if (job->reservation < 0) {
        close_partition(l, r->partition);
    }
}

/* A gang that is ready and waits for the backfill pass closes the partitions of its jobs.
 */
static void pass_over(struct loop *l, size_t gang)
{
    const struct cluster_gang *g = &l->p->of->gangs[gang - 1];

    if (l->p->of->settings.bf_interval_s < 0 || !cluster_gang_ready(l->p, gang))
        return;
    budget_step(l->p->of->budget, g->count);
    for (size_t i = 0; i < g->count; i++) {
        size_t partition = l->p->of->rows[g->members[i].row].partition;

        if (!l->p->started[g->members[i].job] && !l->closed[partition])
            close_partition(l, partition);
    }
}

void cluster_main_loop(struct cluster_pass *p, double depth)
{
    const struct cluster *c = p->of;
    struct loop l = {
        .p = p,
        .closed = NEW(p->arena, bool, c->partition_count),
        .tried = NEW(p->arena, double, c->partition_count),
        .withdrawn = NEW(p->arena, uint64_t, p->state->words),
    };
    double partition_depth = c->settings.partition_job_depth;

    for (size_t i = 0; i < p->row_count && (double)i < depth; i++) {
        size_t row = p->out->order[i], partition = c->rows[row].partition;
        const struct cluster_verdict *v = &p->out->verdicts[row];

        p->out->is_cut |= budget_step(c->budget, 1);
        if (p->out->is_cut && i >= ROWS_AT_ANY_RATE)
            return;
        if (l.starts >= c->settings.sched_max_job_start)
            return;
        if (v->outcome != CLUSTER_WAITS || v->reason == CLUSTER_REASON_RESOURCE_DOWN ||
            p->started[c->rows[row].job] || l.closed[partition])
            continue;
        if (c->jobs[c->rows[row].job].gang) {
            pass_over(&l, c->jobs[c->rows[row].job].gang);
            continue;
        }
        if (partition_depth > 0 && l.tried[partition]++ >= partition_depth)
            continue;
        try_row(&l, row);
    }
}

/* ---- why the others wait ---- */

static enum cluster_reason lack_reason(ptrdiff_t lack)
{
    if (lack == CLUSTER_CPUS)
        return CLUSTER_REASON_PROCESSORS;
    if (lack == CLUSTER_MEMORY)
        return CLUSTER_REASON_MEMORY;
    return lack >= CLUSTER_NAMED ? CLUSTER_REASON_NEEDS : CLUSTER_REASON_NODES;
}

/* What most of the nodes that do not fit lack; if enough fit, whether a reservation or
 * jobs before it are in the way. */
static void explain(struct cluster_pass *p, size_t row)
{
    const struct cluster *c = p->of;
    const struct cluster_row *r = &c->rows[row];
    struct cluster_verdict *v = &p->out->verdicts[row];
    const uint64_t *nodes = c->partitions[r->partition].nodes;
    size_t *lacks = NEW(p->arena, size_t, c->amount_count + 2), best = 0;

    if (!cluster_ready(p, row))
        return;
    if (!cluster_has_shared(p->state, &c->jobs[r->job])) {
        v->reason = CLUSTER_REASON_LICENCE;
        return;
    }
    cluster_usable(p->state, r, c->now_s, c->now_s + r->limit_s, p->usable);
    cluster_ask(&p->question, r, NULL, nodes);
    if (cluster_enough(&p->question, p->usable, 0)) {
        v->reason =
            c->jobs[r->job].gang ? CLUSTER_REASON_GROUP_GANG : CLUSTER_REASON_WOULD_DELAY;
        return;
    }
    if (c->jobs[r->job].reservation >= 0 &&
        c->reservations[c->jobs[r->job].reservation].start_s > c->now_s) {
        v->reason = CLUSTER_REASON_RESERVATION_WAIT;
        return;
    }
    memcpy(p->usable, nodes, p->state->words * sizeof(*nodes));
    if (c->jobs[r->job].allowed)
        cluster_set_keep(p->usable, c->jobs[r->job].allowed, p->state->words);
    if (cluster_enough(&p->question, p->usable, 0)) {
        v->reason = CLUSTER_REASON_RESERVATION;
        return;
    }
    for (size_t node = 0; node < c->node_count; node++) {
        budget_step(c->budget, c->amount_count);
        if (cluster_set_has(nodes, node) && c->nodes[node].starts)
            lacks[cluster_lack(p->state, r, node) + 2]++;
    }
    for (size_t k = 0; k < c->amount_count + 2; k++)
        if (k != CLUSTER_NONE + 2 && (!best || lacks[k] > lacks[best - 1]))
            best = k + 1;
    v->reason = lack_reason((ptrdiff_t)best - 3);
}

void cluster_explain(struct cluster_pass *p)
{
    const struct cluster *c = p->of;

    for (size_t i = 0; i < p->row_count; i++) {
        size_t row = p->out->order[i];
        struct cluster_verdict *v = &p->out->verdicts[row];

        if (v->outcome != CLUSTER_WAITS || p->started[c->rows[row].job])
            continue;
        if (budget_step(c->budget, 1) || p->out->is_cut) {
            p->out->is_cut = true;
            v->reason = CLUSTER_REASON_TIME_LIMIT;
            continue;
        }
        if (v->reason != CLUSTER_REASON_NOT_TESTED &&
            v->reason != CLUSTER_REASON_RESOURCE_DOWN &&
            v->reason != CLUSTER_REASON_BEYOND_WINDOW)
            explain(p, row);
    }
}

void cluster_pass_begin(struct cluster_pass *p, const struct cluster *c,
                        struct cluster_decision *out, struct arena *a)
{
    *out = (struct cluster_decision){
        .verdicts = NEW(a, struct cluster_verdict, c->row_count),
        .order = NEW(a, size_t, c->row_count),
        .tested = NEW(a, size_t, c->row_count),
        .state = cluster_state_create(c, a),
    };
    *p = (struct cluster_pass){.of = c,
                               .out = out,
                               .state = out->state,
                               .question = cluster_question_create(out->state, a),
                               .usable = NEW(a, uint64_t, out->state->words),
                               .started = NEW(a, bool, c->job_count),
                               .names_running = NEW(a, bool, c->name_count),
                               .arena = a};
    budget_step(c->budget, c->running_count);
    for (size_t i = 0; i < c->running_count; i++)
        if (c->running[i].of.name >= 0)
            p->names_running[c->running[i].of.name] = true;
}

void cluster_decide(const struct cluster *c, struct cluster_decision *out,
                    struct arena *a)
{
    struct cluster_pass p;

    cluster_pass_begin(&p, c, out, a);
    for (size_t i = 0; i < c->row_count; i++)
        out->order[i] = i;
    p.row_count = c->row_count;
    cluster_order(c, out->order, c->row_count);
    cluster_screen(&p);
    cluster_main_loop(&p, HUGE_VAL);
    if (c->settings.bf_interval_s >= 0 && !out->is_cut)
        cluster_backfill(&p);
    cluster_explain(&p);
}

/* state.c - what runs on a cluster, and what is left. */
#include "algorithms/cluster_queue/state.h"

#include <math.h>
#include <string.h>

/* ---- what a node gives ---- */

void cluster_need_on(const struct cluster *c, const struct cluster_row *row, size_t node,
                     size_t tasks, int64_t *need)
{
    int64_t core = c->nodes[node].core_units;

    for (size_t k = 0; k < c->amount_count; k++)
        need[k] = row->need[k] * (int64_t)tasks;
    if (c->jobs[row->job].memory_per_node)
        need[CLUSTER_MEMORY] = row->need[CLUSTER_MEMORY];
    need[CLUSTER_CPUS] = (need[CLUSTER_CPUS] + core - 1) / core * core;
    if (!c->settings.memory_counts)
        need[CLUSTER_MEMORY] = 0;
}

bool cluster_has_shared(const struct cluster_state *s, const struct cluster_job *job)
{
    for (size_t i = 0; i < job->shared_count; i++)
        if (s->shared[job->shared[i].what] < job->shared[i].units)
            return false;
    return true;
}

/* ---- who uses what ---- */

/* Accounts, qualities of service and partitions are counted by one number each. */
static uint64_t scope_number(const struct cluster *c, enum cluster_scope scope, size_t i)
{
    if (scope == CLUSTER_SCOPE_user || scope == CLUSTER_SCOPE_account)
        return i;
    if (scope == CLUSTER_SCOPE_partition)
        return c->account_count + c->qos_count + i;
    return c->account_count + i;
}

/* Of all of it: member 0; of a user in it; of an account in it. */
static uint64_t usage_key(const struct cluster *c, uint64_t scope, ptrdiff_t user,
                          ptrdiff_t account)
{
    uint64_t members = 1 + c->user_count + c->account_count, member = 0;

    if (user >= 0)
        member = 1 + (uint64_t)user;
    else if (account >= 0)
        member = 1 + c->user_count + (uint64_t)account;
    return scope * members + member + 1;
}

static struct cluster_usage *usage_slot(const struct cluster_state *s, uint64_t key)
{
    size_t at = (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 20) % s->usage_room;

    while (s->usage[at].key && s->usage[at].key != key)
        at = (at + 1) % s->usage_room;
    return &s->usage[at];
}

static void usage_grow(struct cluster_state *s)
{
    struct cluster_usage *old = s->usage;
    size_t room = s->usage_room;

    s->usage_room = 2 * room + 64;
    s->usage = NEW(s->arena, struct cluster_usage, s->usage_room);
    for (size_t i = 0; i < room; i++)
        if (old[i].key)
            *usage_slot(s, old[i].key) = old[i];
}

static void usage_add(struct cluster_state *s, uint64_t key,
                      const struct cluster_held *held, int sign)
{
    size_t amounts = s->of->amount_count;
    struct cluster_usage *u;

    if (2 * s->usage_count >= s->usage_room)
        usage_grow(s);
    u = usage_slot(s, key);
    if (!u->key) {
        *u = (struct cluster_usage){.key = key,
                                    .amounts = NEW(s->arena, int64_t, amounts)};
        s->usage_count++;
    }
    u->jobs += sign;
    u->nodes += sign * (double)held->node_count;
    u->cpu_s += sign * held->cpu_s;
    for (size_t i = 0; i < held->node_count; i++)
        for (size_t k = 0; k < amounts; k++)
            u->amounts[k] += sign * held->taken[i * amounts + k];
}

static void count_scope(struct cluster_state *s, enum cluster_scope scope, ptrdiff_t i,
                        const struct cluster_held *held, int sign)
{
    uint64_t number;

    if (i < 0)
        return;
    number = scope_number(s->of, scope, (size_t)i);
    usage_add(s, usage_key(s->of, number, CLUSTER_NONE, CLUSTER_NONE), held, sign);
    if (held->of.user >= 0)
        usage_add(s, usage_key(s->of, number, held->of.user, CLUSTER_NONE), held, sign);
    if (held->of.account >= 0)
        usage_add(s, usage_key(s->of, number, CLUSTER_NONE, held->of.account), held,
                  sign);
}

static void count(struct cluster_state *s, const struct cluster_held *held, int sign)
{
    const struct cluster *c = s->of;
    ptrdiff_t partition = held->of.partition;

    count_scope(s, CLUSTER_SCOPE_qos, held->of.qos, held, sign);
    count_scope(s, CLUSTER_SCOPE_partition, partition, held, sign);
    if (partition >= 0 && c->partitions[partition].qos_id != held->of.qos)
        count_scope(s, CLUSTER_SCOPE_partition_qos, c->partitions[partition].qos_id, held,
                    sign);
    for (ptrdiff_t i = held->of.account; i >= 0; i = c->accounts[i].parent) {
        count_scope(s, CLUSTER_SCOPE_account, i, held, sign);
        budget_step(c->budget, 1);
    }
    if (held->of.array >= 0)
        s->array_running[held->of.array] += sign;
}

/* ---- starting and stopping ---- */

static void take(struct cluster_state *s, const struct cluster_held *held, int sign)
{
    size_t amounts = s->of->amount_count;

    budget_step(s->of->budget, held->node_count * amounts);
    for (size_t i = 0; i < held->node_count; i++)
        for (size_t k = 0; k < amounts; k++)
            s->free[held->nodes[i] * amounts + k] -= sign * held->taken[i * amounts + k];
    for (size_t i = 0; i < held->shared_count; i++)
        s->shared[held->shared[i].what] -= sign * held->shared[i].units;
    count(s, held, sign);
}

/* Puts it among the jobs on its nodes. */
void cluster_resume(struct cluster_state *s, struct cluster_held *held)
{
    size_t amounts = s->of->amount_count;

    if (s->held_count == s->held_room) {
        size_t room = 2 * s->held_room + 64;

        s->held = arena_grow(s->arena, s->held, sizeof(*s->held), s->held_room, room);
        s->held_room = room;
    }
    held->index = s->held_count;
    held->gone = false;
    s->held[s->held_count++] = held;
    for (size_t i = 0; i < held->node_count; i++) {
        struct cluster_place *place =
            s->spare ? s->spare : NEW(s->arena, struct cluster_place, 1);
        struct cluster_place **at = &s->places[held->nodes[i]];

        s->spare = s->spare ? s->spare->next : NULL;

        while (*at && (*at)->held->end_s <= held->end_s)
            at = &(*at)->next;
        *place = (struct cluster_place){held, &held->taken[i * amounts], *at};
        *at = place;
        budget_step(s->of->budget, 1);
    }
    take(s, held, 1);
}

static struct cluster_held *hold(struct cluster_state *s, struct cluster_held given)
{
    struct cluster_held *held = NEW(s->arena, struct cluster_held, 1);
    size_t amounts = s->of->amount_count;

    *held = given;
    for (size_t i = 0; i < held->node_count; i++)
        held->cpu_s += (double)held->taken[i * amounts + CLUSTER_CPUS] / CLUSTER_UNITS *
                       fmax(held->end_s - held->start_s, 0);
    cluster_resume(s, held);
    return held;
}

struct cluster_held *cluster_start(struct cluster_state *s, const struct cluster_row *row,
                                   const struct cluster_pick *pick, double start_s,
                                   double limit_s)
{
    const struct cluster *c = s->of;
    const struct cluster_job *job = &c->jobs[row->job];
    int64_t *taken = NEW(s->arena, int64_t, pick->count * c->amount_count);
    uint32_t *nodes = NEW(s->arena, uint32_t, pick->count);
    struct cluster_held held = {
        .running = CLUSTER_NONE,
        .job = (ptrdiff_t)row->job,
        .of = job->of,
        .nodes = nodes,
        .node_count = pick->count,
        .taken = taken,
        .shared = job->shared,
        .shared_count = job->shared_count,
        .exclusive = job->exclusive || c->settings.whole_nodes ||
                     c->partitions[row->partition].sharing == CLUSTER_SHARES_NEVER,
        .exclusive_user = job->exclusive_user,
        .start_s = start_s,
        .end_s = start_s + limit_s,
        .priority = row->priority,
    };

    held.of.partition = (ptrdiff_t)row->partition;
    memcpy(nodes, pick->nodes, pick->count * sizeof(*nodes));
    for (size_t i = 0; i < pick->count; i++)
        cluster_need_on(c, row, pick->nodes[i], pick->tasks ? pick->tasks[i] : 1,
                        &taken[i * c->amount_count]);
    return hold(s, held);
}

void cluster_stop(struct cluster_state *s, struct cluster_held *held)
{
    for (size_t i = 0; i < held->node_count; i++) {
        struct cluster_place **at = &s->places[held->nodes[i]];

        while (*at && (*at)->held != held)
            at = &(*at)->next;
        if (*at) {
            struct cluster_place *gone = *at;

            *at = gone->next;
            gone->next = s->spare;
            s->spare = gone;
        }
        budget_step(s->of->budget, 1);
    }
    take(s, held, -1);
    held->gone = true;
    s->held[held->index] = s->held[--s->held_count];
    s->held[held->index]->index = held->index;
}

struct cluster_state *cluster_state_create(const struct cluster *c, struct arena *a)
{
    struct cluster_state *s = NEW(a, struct cluster_state, 1);

    *s = (struct cluster_state){
        .of = c,
        .arena = a,
        .words = cluster_words(c->node_count),
        .free = NEW(a, int64_t, c->node_count * c->amount_count),
        .shared = NEW(a, int64_t, c->shared_count),
        .places = NEW(a, struct cluster_place *, c->node_count),
        .array_running = NEW(a, double, c->array_count),
    };
    for (size_t i = 0; i < c->node_count; i++)
        memcpy(&s->free[i * c->amount_count], c->nodes[i].capacity,
               c->amount_count * sizeof(int64_t));
    if (c->shared_count)
        memcpy(s->shared, c->shared, c->shared_count * sizeof(int64_t));
    usage_grow(s);
    budget_step(c->budget, c->node_count * c->amount_count);
    for (size_t i = 0; i < c->running_count; i++) {
        const struct cluster_running *r = &c->running[i];

        hold(s, (struct cluster_held){
                    .running = (ptrdiff_t)i,
                    .job = CLUSTER_NONE,
                    .of = r->of,
                    .nodes = r->nodes,
                    .node_count = r->node_count,
                    .taken = r->taken,
                    .shared = r->shared,
                    .shared_count = r->shared_count,
                    .exclusive = r->exclusive,
                    .exclusive_user = r->exclusive_user,
                    .preemptible = r->preemptible,
                    .start_s = r->start_s,
                    .end_s = r->end_s,
                    .priority = r->priority,
                });
    }
    return s;
}

/* ---- limits ---- */

/* A row against the limits of one scope. */
struct asking {
    const struct cluster_state *s;
    const struct cluster_row *row;
    double nodes, cpu_s;
    int64_t *need; /* of all its nodes */
    struct cluster_limit *limit;
};

static bool breaks(const struct asking *q, const char *name, ptrdiff_t amount,
                   double value, double used, double more)
{
    if (used + more <= value)
        return false;
    q->limit->name = name;
    q->limit->amount = amount;
    q->limit->value = value;
    q->limit->used = used;
    return true;
}

/* `used` NULL: nobody uses any of it. */
static bool breaks_amounts(const struct asking *q, const char *name,
                           const struct cluster_amount_limits *most,
                           const struct cluster_usage *used)
{
    const struct cluster *c = q->s->of;

    for (size_t k = 0; k < c->amount_count && most->amounts; k++)
        if (breaks(q, name, (ptrdiff_t)k, (double)most->amounts[k],
                   used ? (double)used->amounts[k] : 0, (double)q->need[k]))
            return true;
    return breaks(q, name, CLUSTER_NONE, most->nodes, used ? used->nodes : 0, q->nodes) ||
           breaks(q, name, CLUSTER_NONE, most->jobs, used ? used->jobs : 0, 1) ||
           breaks(q, name, CLUSTER_NONE, most->cpu_s_running, used ? used->cpu_s : 0,
                  q->cpu_s);
}

static bool breaks_node(const struct asking *q, const struct cluster_limits *most)
{
    for (size_t k = 0; k < q->s->of->amount_count && most->per_node.amounts; k++)
        if (breaks(q, "per_node", (ptrdiff_t)k, (double)most->per_node.amounts[k], 0,
                   (double)q->row->need[k]))
            return true;
    return false;
}

static const struct cluster_usage *used_by(const struct asking *q, uint64_t scope,
                                           ptrdiff_t user, ptrdiff_t account)
{
    const struct cluster_usage *u =
        usage_slot(q->s, usage_key(q->s->of, scope, user, account));

    return u->key ? u : NULL;
}

static bool breaks_scope(const struct asking *q, enum cluster_scope scope, ptrdiff_t i,
                         const char *id, const struct cluster_limits *most, double before)
{
    const struct cluster_owner *of = &q->s->of->jobs[q->row->job].of;
    uint64_t number = scope_number(q->s->of, scope, (size_t)i);
    const struct cluster_usage *all = used_by(q, number, CLUSTER_NONE, CLUSTER_NONE);
    const struct cluster_usage *user = used_by(q, number, of->user, CLUSTER_NONE);
    const struct cluster_usage *account = used_by(q, number, CLUSTER_NONE, of->account);

    q->limit->scope = scope;
    q->limit->id = id;
    return breaks(q, "wall_s_max", CLUSTER_NONE, most->wall_s, 0, q->row->limit_s) ||
           breaks(q, "jobs_running_max", CLUSTER_NONE, most->jobs, all ? all->jobs : 0,
                  1) ||
           breaks_node(q, most) || breaks_amounts(q, "per_job", &most->per_job, NULL) ||
           breaks_amounts(q, "group", &most->group, all) ||
           breaks(q, "group", CLUSTER_NONE, most->group.cpu_s, before,
                  (all ? all->cpu_s : 0) + q->cpu_s) ||
           (of->user >= 0 && (breaks(q, "jobs_running_per_user_max", CLUSTER_NONE,
                                     most->jobs_per_user, user ? user->jobs : 0, 1) ||
                              breaks_amounts(q, "per_user", &most->per_user, user))) ||
           (of->account >= 0 &&
            breaks(q, "jobs_running_per_account_max", CLUSTER_NONE,
                   most->jobs_per_account, account ? account->jobs : 0, 1));
}

static void measure(struct asking *q)
{
    const struct cluster *c = q->s->of;
    const struct cluster_job *job = &c->jobs[q->row->job];
    double times = job->tasks ? (double)job->tasks : (double)job->nodes;

    q->nodes = (double)job->nodes;
    q->need[CLUSTER_CPUS] = 0;
    for (size_t k = 0; k < c->amount_count; k++)
        q->need[k] =
            (int64_t)fmin((double)q->row->need[k] * times, (double)CLUSTER_ENDLESS);
    q->cpu_s = (double)q->need[CLUSTER_CPUS] / CLUSTER_UNITS * q->row->limit_s;
}

bool cluster_within_limits(const struct cluster_state *s, const struct cluster_row *row,
                           struct cluster_limit *limit)
{
    const struct cluster *c = s->of;
    const struct cluster_partition *p = &c->partitions[row->partition];
    const struct cluster_owner *of = &c->jobs[row->job].of;
    int64_t need[64];
    struct asking q = {.s = s, .row = row, .need = need, .limit = limit};

    measure(&q);
    budget_step(c->budget, 8 * c->amount_count);
    if (of->qos >= 0 && breaks_scope(&q, CLUSTER_SCOPE_qos, of->qos, c->qos[of->qos].id,
                                     &c->qos[of->qos].limits, 0))
        return false;
    if (p->qos_id >= 0 && p->qos_id != of->qos &&
        breaks_scope(&q, CLUSTER_SCOPE_partition_qos, p->qos_id, c->qos[p->qos_id].id,
                     &c->qos[p->qos_id].limits, 0))
        return false;
    for (ptrdiff_t i = of->account; i >= 0; i = c->accounts[i].parent) {
        const struct cluster_account *a = &c->accounts[i];

        budget_step(c->budget, c->amount_count);
        if (breaks_scope(&q, a->is_user ? CLUSTER_SCOPE_user : CLUSTER_SCOPE_account, i,
                         a->id, &a->limits, a->used_cpu_s))
            return false;
    }
    return !breaks_scope(&q, CLUSTER_SCOPE_partition, (ptrdiff_t)row->partition, p->id,
                         &p->limits, 0);
}

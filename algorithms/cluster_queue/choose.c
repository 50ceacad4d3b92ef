/* choose.c - on which nodes a row fits, and which of them it gets. */
#include "algorithms/cluster_queue/choose.h"

#include <stdlib.h>
#include <string.h>

#define NEVER UINT32_MAX

struct cluster_question cluster_question_create(const struct cluster_state *s,
                                                struct arena *a)
{
    return (struct cluster_question){
        .s = s,
        .fits = NEW(a, uint64_t, s->words),
        .first = NEW(a, uint32_t, s->of->node_count),
        .work = NEW(a, uint64_t, s->words),
    };
}

/* ---- a node ---- */

/* A node while its jobs are released one after the other. */
struct seen {
    int64_t free[64];
    const struct cluster_place *left; /* jobs that are still there */
};

static void release(struct seen *n, size_t amounts)
{
    for (size_t k = 0; k < amounts; k++)
        n->free[k] += n->left->taken[k];
    n->left = n->left->next;
}

/* Whether the row's job may be beside those that are there. */
static bool is_compatible(const struct cluster_state *s, const struct cluster_row *row,
                          const struct cluster_place *there)
{
    const struct cluster *c = s->of;
    const struct cluster_job *job = &c->jobs[row->job];
    bool alone = job->exclusive || c->settings.whole_nodes ||
                 c->partitions[row->partition].sharing == CLUSTER_SHARES_NEVER;

    for (; there; there = there->next) {
        bool same = there->held->of.user == job->of.user && job->of.user >= 0;

        if (alone || there->held->exclusive)
            return false;
        if ((job->exclusive_user || there->held->exclusive_user) && !same)
            return false;
        budget_step(c->budget, 1);
    }
    return true;
}

/* What the row may use of an amount. */
static int64_t usable(const struct cluster_state *s, const struct cluster_row *row,
                      size_t node, const int64_t *free, size_t k)
{
    const struct cluster *c = s->of;
    const struct cluster_partition *p = &c->partitions[row->partition];
    int64_t units = free[k], capacity = c->nodes[node].capacity[k];

    if (k == CLUSTER_MEMORY && !c->settings.memory_counts)
        return CLUSTER_ENDLESS;
    if (k != CLUSTER_CPUS)
        return units;
    if (p->sharing == CLUSTER_SHARES_MANY && capacity < CLUSTER_ENDLESS / 1000000)
        units += (int64_t)((p->shared_jobs_max - 1) * (double)capacity);
    units = units < capacity ? units : capacity;
    units -= units > 0 ? units % c->nodes[node].core_units : 0;
    return units < p->cpus_per_node_max ? units : p->cpus_per_node_max;
}

size_t cluster_room(const struct cluster_state *s, const struct cluster_row *row,
                    size_t node, const int64_t *free, size_t most)
{
    for (size_t k = 0; k < s->of->amount_count && most > 0; k++) {
        int64_t units;

        if (row->need[k] <= 0)
            continue;
        units = usable(s, row, node, free, k);
        if (units < row->need[k])
            return 0;
        if (k == CLUSTER_MEMORY && s->of->jobs[row->job].memory_per_node)
            continue;
        if (units / row->need[k] < (int64_t)most)
            most = (size_t)(units / row->need[k]);
    }
    return most;
}

static struct seen see(const struct cluster_question *q, size_t node)
{
    const struct cluster_state *s = q->s;
    struct seen n = {.left = s->places[node]};
    size_t amounts = s->of->amount_count;

    memcpy(n.free, &(q->then ? q->then : s->free)[node * amounts],
           amounts * sizeof(int64_t));
    n.left = q->then ? NULL : n.left;
    for (size_t k = 0; k < amounts && q->withheld; k++)
        n.free[k] -= q->withheld[node * amounts + k];
    return n;
}

/* Whether a node of which something is withheld is no place for the row's job. */
static bool is_taken(const struct cluster_question *q, size_t node)
{
    const struct cluster *c = q->s->of;

    if (!q->withheld || !c->jobs[q->row->job].exclusive)
        return false;
    for (size_t k = 0; k < c->amount_count; k++)
        if (q->withheld[node * c->amount_count + k] > 0)
            return true;
    return false;
}

/* The first group in which a task of the row fits. */
static uint32_t first_group(const struct cluster_question *q, size_t node)
{
    const struct cluster_state *s = q->s;
    struct seen n = see(q, node);
    uint32_t group = 0;

    if (is_taken(q, node))
        return NEVER;
    for (;;) {
        budget_step(s->of->budget, s->of->amount_count);
        if (is_compatible(s, q->row, n.left) && cluster_room(s, q->row, node, n.free, 1))
            return group;
        if (!n.left || !q->groups)
            return NEVER;
        group = q->groups->of[n.left->held->index];
        release(&n, s->of->amount_count);
    }
}

static size_t tasks_at(const struct cluster_question *q, size_t node, size_t k)
{
    const struct cluster_state *s = q->s;
    struct seen n = see(q, node);

    while (n.left && q->groups && q->groups->of[n.left->held->index] <= k)
        release(&n, s->of->amount_count);
    budget_step(s->of->budget, s->of->amount_count);
    return cluster_room(s, q->row, node, n.free, s->of->jobs[q->row->job].tasks);
}

ptrdiff_t cluster_lack(const struct cluster_state *s, const struct cluster_row *row,
                       size_t node)
{
    const int64_t *free = &s->free[node * s->of->amount_count];

    for (size_t k = 0; k < s->of->amount_count; k++)
        if (row->need[k] > 0 && usable(s, row, node, free, k) < row->need[k])
            return (ptrdiff_t)k;
    return is_compatible(s, row, s->places[node]) ? CLUSTER_NONE : CLUSTER_SHARED;
}

/* ---- which nodes ---- */

static bool meets(const struct cluster_reservation *r, double from_s, double to_s)
{
    return r->start_s < to_s && from_s < r->end_s;
}

void cluster_usable(const struct cluster_state *s, const struct cluster_row *row,
                    double from_s, double to_s, uint64_t *set)
{
    const struct cluster *c = s->of;
    const struct cluster_job *job = &c->jobs[row->job];

    memcpy(set, c->partitions[row->partition].nodes, s->words * sizeof(*set));
    if (job->allowed)
        cluster_set_keep(set, job->allowed, s->words);
    for (size_t i = 0; i < c->reservation_count; i++) {
        const struct cluster_reservation *r = &c->reservations[i];
        bool own = job->reservation == (ptrdiff_t)i;

        budget_step(c->budget, s->words);
        if (own && r->nodes)
            cluster_set_keep(set, r->nodes, s->words);
        if (own && !r->is_flexible && (from_s < r->start_s || to_s > r->end_s))
            memset(set, 0, s->words * sizeof(*set));
        if (!own && r->nodes && meets(r, from_s, to_s))
            cluster_set_drop(set, r->nodes, s->words);
    }
}

void cluster_ask(struct cluster_question *q, const struct cluster_row *row,
                 const struct cluster_groups *groups, const uint64_t *within)
{
    q->row = row;
    q->groups = groups;
    memset(q->fits, 0, q->s->words * sizeof(*q->fits));
    for (size_t w = 0; w < q->s->words; w++)
        for (uint64_t bits = within[w]; bits; bits &= bits - 1) {
            size_t node = w * 64 + (size_t)__builtin_ctzll(bits);

            q->first[node] = q->s->of->nodes[node].starts ? first_group(q, node) : NEVER;
            if (q->first[node] != NEVER)
                cluster_set_add(q->fits, node);
        }
}

/* Those of `within` that fit once group k has ended, in q->work. */
static void gather(struct cluster_question *q, const uint64_t *within, size_t k)
{
    size_t words = q->s->words;

    budget_step(q->s->of->budget, words);
    for (size_t w = 0; w < words; w++)
        q->work[w] = within[w] & q->fits[w];
    if (q->groups && k >= q->groups->count)
        return;
    for (size_t w = 0; w < words; w++)
        for (uint64_t bits = q->work[w]; bits; bits &= bits - 1) {
            size_t node = w * 64 + (size_t)__builtin_ctzll(bits);

            budget_step(q->s->of->budget, 1);
            if (q->first[node] > k)
                q->work[w] &= ~(UINT64_C(1) << node % 64);
        }
}

static size_t count_both(const uint64_t *x, const uint64_t *y, size_t words)
{
    size_t count = 0;

    for (size_t w = 0; w < words; w++)
        count += (size_t)__builtin_popcountll(x[w] & y[w]);
    return count;
}

/* Whether the nodes of q->work are enough: in number, and with those it names. */
static bool is_enough(const struct cluster_question *q, size_t k)
{
    const struct cluster_job *job = &q->s->of->jobs[q->row->job];
    size_t words = q->s->words, tasks = 0;

    if (job->required)
        for (size_t w = 0; w < words; w++)
            if (job->required[w] & ~q->work[w])
                return false;
    for (size_t i = 0; i < job->feature_count && !job->features_alike; i++)
        if (count_both(q->work, job->features[i].nodes, words) < job->features[i].count)
            return false;
    if (!job->tasks)
        return cluster_set_count(q->work, words) >= job->nodes;
    for (size_t w = 0; w < words; w++)
        for (uint64_t bits = q->work[w]; bits && tasks < job->tasks; bits &= bits - 1)
            tasks += tasks_at(q, w * 64 + (size_t)__builtin_ctzll(bits), k);
    return tasks >= job->tasks;
}

/* Leaves in q->work those of the i-th feature, for jobs all of whose nodes are alike. */
static void narrow(struct cluster_question *q, const struct cluster_job *job, size_t i)
{
    if (job->features_alike || !job->features[i].count)
        cluster_set_keep(q->work, job->features[i].nodes, q->s->words);
}

/* The feature that serves a job whose nodes are to be alike; false: none. */
static bool find_alike(struct cluster_question *q, const uint64_t *within, size_t k)
{
    const struct cluster_job *job = &q->s->of->jobs[q->row->job];

    for (size_t i = 0; i < job->feature_count; i++) {
        gather(q, within, k);
        narrow(q, job, i);
        if (is_enough(q, k))
            return true;
    }
    return false;
}

/* Leaves the nodes to choose from in q->work. */
bool cluster_enough(struct cluster_question *q, const uint64_t *within, size_t k)
{
    const struct cluster_job *job = &q->s->of->jobs[q->row->job];

    if (job->features_alike)
        return find_alike(q, within, k);
    gather(q, within, k);
    for (size_t i = 0; i < job->feature_count; i++)
        narrow(q, job, i);
    return is_enough(q, k);
}

/* ---- choosing ---- */

struct run {
    size_t from, length, room;
    double weight;
};

/* The nodes of q->work that are still to be had, and what is missing. */
struct choice {
    struct cluster_question *q;
    struct cluster_pick *pick;
    struct run *runs;
    size_t run_count;
    size_t k;
    bool in_tasks;
};

static size_t room_of(const struct choice *x, size_t node)
{
    return x->in_tasks ? tasks_at(x->q, node, x->k) : 1;
}

/* The runs of q->work, of a part of it if `of` is not NULL. */
static void find_runs(struct choice *x, const uint64_t *of)
{
    const struct cluster *c = x->q->s->of;
    struct run *last = NULL;

    x->run_count = 0;
    for (size_t w = 0; w < x->q->s->words; w++)
        for (uint64_t bits = x->q->work[w] & (of ? of[w] : ~UINT64_C(0)); bits;
             bits &= bits - 1) {
            size_t node = w * 64 + (size_t)__builtin_ctzll(bits);
            double weight = c->nodes[node].weight;
            bool joins = last && last->from + last->length == node &&
                         last->weight <= weight && weight <= last->weight;

            budget_step(c->budget, 1);
            if (!joins) {
                last = &x->runs[x->run_count++];
                *last = (struct run){.from = node, .weight = weight};
            }
            last->length++;
            last->room += room_of(x, node);
        }
}

static bool is_better(const struct run *a, const struct run *b, size_t missing)
{
    bool a_enough = a->room >= missing, b_enough = b->room >= missing;

    if (a->weight < b->weight || a->weight > b->weight)
        return a->weight < b->weight;
    if (a_enough != b_enough)
        return a_enough;
    if (a_enough)
        return a->length < b->length;
    return a->length > b->length;
}

static void take_node(struct choice *x, size_t node, size_t tasks)
{
    x->pick->nodes[x->pick->count] = (uint32_t)node;
    if (x->in_tasks)
        x->pick->tasks[x->pick->count] = (uint32_t)tasks;
    x->pick->count++;
    x->q->work[node / 64] &= ~(UINT64_C(1) << node % 64);
}

/* Takes from the runs of q->work, of a part of it if `of` is not NULL. */
static void take_runs(struct choice *x, const uint64_t *of, size_t missing)
{
    find_runs(x, of);
    while (missing > 0 && x->run_count > 0) {
        size_t best = 0;

        budget_step(x->q->s->of->budget, x->run_count);
        for (size_t i = 1; i < x->run_count; i++)
            if (is_better(&x->runs[i], &x->runs[best], missing))
                best = i;
        for (size_t i = 0; i < x->runs[best].length && missing > 0; i++) {
            size_t node = x->runs[best].from + i, gives = room_of(x, node);

            gives = gives < missing ? gives : missing;
            take_node(x, node, gives);
            missing -= gives;
        }
        memmove(&x->runs[best], &x->runs[best + 1],
                (x->run_count - best - 1) * sizeof(struct run));
        x->run_count--;
    }
}

static void take_required(struct choice *x, const uint64_t *required, size_t *missing)
{
    for (size_t w = 0; w < x->q->s->words; w++)
        for (uint64_t bits = required[w]; bits && *missing > 0; bits &= bits - 1) {
            size_t node = w * 64 + (size_t)__builtin_ctzll(bits),
                   gives = room_of(x, node);

            gives = gives < *missing ? gives : *missing;
            take_node(x, node, gives);
            *missing -= gives;
        }
}

static int by_index(const void *x, const void *y, void *context)
{
    uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;

    (void)context;
    return (a > b) - (a < b);
}

void cluster_choose(struct cluster_question *q, const uint64_t *within, size_t k,
                    struct cluster_pick *pick, struct arena *a)
{
    const struct cluster_job *job = &q->s->of->jobs[q->row->job];
    struct choice x = {.q = q, .pick = pick, .k = k, .in_tasks = job->tasks > 0};
    size_t there, missing;

    cluster_enough(q, within, k);
    there = cluster_set_count(q->work, q->s->words);
    x.runs = NEW(a, struct run, there);
    pick->count = 0;
    pick->nodes = NEW(a, uint32_t, there);
    pick->tasks = x.in_tasks ? NEW(a, uint32_t, there) : NULL;
    missing = x.in_tasks ? job->tasks : job->nodes_max < there ? job->nodes_max : there;
    if (job->required)
        take_required(&x, job->required, &missing);
    for (size_t i = 0; i < job->feature_count && !job->features_alike; i++) {
        size_t had = pick->count, count = job->features[i].count;

        count = count < missing ? count : missing;
        take_runs(&x, job->features[i].nodes, count);
        missing -= pick->count - had;
    }
    take_runs(&x, NULL, missing);
    if (!x.in_tasks)
        qsort_r(pick->nodes, pick->count, sizeof(*pick->nodes), by_index, NULL);
}

/* cluster_replay/nodes.c - nodes by classes: which are free, and which a job gets.
 *
 * Nodes that are alike and in the same sets are a class. Of each class there is the set
 * of idle nodes and, where nodes are shared, a set for each number of free cpus: who has
 * room is found from the fullest node up, and jobs with further needs pass by the nodes
 * that lack those. Numbers of cpus beyond CPU_LEVELS_MAX are in levels of several, within
 * which the lower number comes first.
 *
 * Cost: O(1) for a node that is taken or given back, without memory and the like also for
 * a node that is found.
 */
#include "algorithms/cluster_replay/parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CPU_LEVELS_MAX = 1024, RUNS_FIRST = 1 };

/* Nodes of a class that are alike in what they have free. */
struct cursor {
    const struct bits *bits;
    const struct klass *klass;
    int64_t free_cpus;
    size_t next; /* local; BITS_NONE: none is left */
};

/* ---- classes ---- */

static bool group_is(const struct engine *e, const struct replay_nodes *a,
                     const struct replay_nodes *b)
{
    return a->speed == b->speed && a->weight == b->weight && a->failure == b->failure &&
           a->restore == b->restore && a->burst == b->burst &&
           a->expected_repair_ms == b->expected_repair_ms &&
           memcmp(a->amounts, b->amounts, e->amount_count * sizeof(int64_t)) == 0;
}

/* A table of pairs (first, second) that numbers them as they come. */
struct pairs {
    uint64_t *keys; /* + 1; 0: free */
    uint32_t *numbers;
    size_t mask, count;
};

static struct pairs pairs_create(size_t most, struct arena *a)
{
    struct pairs p = {.mask = 15};

    while (p.mask < 2 * most)
        p.mask = 2 * p.mask + 1;
    p.keys = NEW(a, uint64_t, p.mask + 1);
    p.numbers = NEW(a, uint32_t, p.mask + 1);
    return p;
}

static uint32_t pairs_number(struct pairs *p, uint64_t key)
{
    uint64_t state = key;
    size_t at = splitmix64(&state) & p->mask;

    while (p->keys[at] && p->keys[at] != key + 1)
        at = (at + 1) & p->mask;
    if (!p->keys[at]) {
        p->keys[at] = key + 1;
        p->numbers[at] = (uint32_t)p->count++;
    }
    return p->numbers[at];
}

/* The kind of each group: the first one that is like it. Groups with equal amounts and
 * speeds meet in a table by a hash of them. */
static void find_kinds(struct engine *e, uint32_t *kinds)
{
    size_t mask = 15;
    uint32_t *first;

    while (mask < 2 * e->in->group_count)
        mask = 2 * mask + 1;
    first = NEW(e->a, uint32_t, mask + 1); /* group + 1 */
    for (size_t g = 0; g < e->in->group_count; g++) {
        const struct replay_nodes *group = &e->in->groups[g];
        uint64_t state = (uint64_t)(group->speed * 1e3) ^ (uint64_t)(group->weight * 1e6);
        size_t at;

        for (size_t i = 0; i < e->amount_count; i++) {
            state ^= (uint64_t)group->amounts[i];
            state = splitmix64(&state);
        }
        for (at = state & mask; first[at]; at = (at + 1) & mask)
            if (group_is(e, group, &e->in->groups[first[at] - 1]))
                break;
        if (!first[at])
            first[at] = (uint32_t)g + 1;
        kinds[g] = first[at] - 1;
        budget_step(e->budget, 16);
    }
}

/* Numbers the classes: class_of[node]. */
static size_t refine(struct engine *e, const uint32_t *kinds, uint32_t *class_of)
{
    struct arena_mark mark = arena_mark(e->a);
    size_t node = 0, count = 0;

    for (size_t s = 0; s <= e->in->set_count; s++) {
        struct pairs p = pairs_create(2 * e->node_count, e->a);

        node = 0;
        for (size_t g = 0; s == 0 && g < e->in->group_count; g++)
            for (size_t i = 0; i < e->in->groups[g].count; i++)
                class_of[node++] = pairs_number(&p, kinds[g]);
        for (node = 0; s > 0 && node < e->node_count; node++)
            class_of[node] =
                pairs_number(&p, 2 * (uint64_t)class_of[node] +
                                     cluster_set_has(e->in->sets[s - 1].nodes, node));
        count = p.count;
        budget_step(e->budget, 16 * e->node_count);
        arena_rewind(e->a, mark);
    }
    return count;
}

static int64_t greatest_divisor(int64_t a, int64_t b)
{
    while (b) {
        int64_t rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

static void create_class(struct engine *e, struct klass *k, int64_t unit)
{
    const struct replay_nodes *group = k->of;

    k->amounts = group->amounts;
    k->cpus = group->amounts[REPLAY_CPUS];
    k->nodes = NEW(e->a, uint32_t, k->count);
    k->idle = bits_create(k->count, e->a);
    k->mean_s = group->failure ? distribution_mean(group->failure) : (double)NAN;
    k->repair_ms = group->expected_repair_ms >= 0 ? group->expected_repair_ms
                   : group->restore ? kernel_ms(distribution_mean(group->restore))
                                    : REPLAY_NEVER;
    if (e->whole)
        return;
    k->level_cpus = unit;
    if (k->cpus / unit > CPU_LEVELS_MAX)
        k->level_cpus = k->cpus / CPU_LEVELS_MAX + 1;
    k->level_count = (size_t)(k->cpus / k->level_cpus) + 1;
    k->levels = NEW(e->a, struct bits, k->level_count);
    k->at_least = NEW(e->a, uint32_t, k->level_count + 1);
    for (size_t i = 0; i < k->level_count; i++)
        k->levels[i] = bits_create(k->count, e->a);
}

/* Whether nobody shares a node; and the greatest number that all cpus are multiples of.
 */
static int64_t look_at_jobs(struct engine *e)
{
    int64_t unit = 0, most = 0;

    e->whole = true;
    for (size_t g = 0; g < e->in->group_count; g++) {
        int64_t cpus = e->in->groups[g].amounts[REPLAY_CPUS];

        unit = greatest_divisor(cpus, unit);
        most = cpus > most ? cpus : most;
    }
    for (size_t j = 0; j < e->in->job_count; j++) {
        const struct replay_job *job = &e->in->jobs[j];

        if (!job->exclusive && job->need[REPLAY_CPUS] < most)
            e->whole = false;
        if (unit > 1 && job->need[REPLAY_CPUS] > 0)
            unit = greatest_divisor(job->need[REPLAY_CPUS], unit);
        budget_step(e->budget, 4);
    }
    return unit > 0 ? unit : 1;
}

static void shift_level(struct klass *k, size_t local, int64_t from, int64_t to)
{
    size_t old = (size_t)(from / k->level_cpus), new = (size_t)(to / k->level_cpus);

    if (from >= 0)
        bits_remove(&k->levels[old], local);
    if (to >= 0)
        bits_add(&k->levels[new], local);
    for (size_t i = to >= 0 ? new + 1 : 0; from >= 0 && i <= old; i++)
        k->at_least[i]--;
    for (size_t i = from >= 0 ? old + 1 : 0; to >= 0 && i <= new; i++)
        k->at_least[i]++;
}

static void create_nodes(struct engine *e, const uint32_t *class_of)
{
    for (size_t i = 0; i < e->node_count; i++) {
        struct klass *k = &e->classes[class_of[i]];
        struct node *n = &e->nodes[i];

        n->klass = class_of[i];
        n->local = (uint32_t)k->idle.count;
        n->failed_ms = -1;
        k->nodes[n->local] = (uint32_t)i;
        bits_add(&k->idle, n->local);
        k->free_cpus += k->cpus;
        if (e->whole)
            continue;
        memcpy(e->free + i * e->amount_count, k->amounts,
               e->amount_count * sizeof(int64_t));
        shift_level(k, n->local, -1, k->cpus);
    }
}

/* ---- sets ---- */

/* By choice; equal ones are looked at together. */
static double choice_key(const struct engine *e, const struct klass *k)
{
    if (e->rules->choice == REPLAY_BEST_FIT)
        return (double)k->cpus;
    return e->rules->choice == REPLAY_SPREAD ? -(double)k->cpus : 0;
}

static bool class_before(const struct engine *e, uint32_t a, uint32_t b)
{
    const struct klass *x = &e->classes[a], *y = &e->classes[b];

    if (x->of->weight != y->of->weight)
        return x->of->weight < y->of->weight;
    if (choice_key(e, x) != choice_key(e, y))
        return choice_key(e, x) < choice_key(e, y);
    return a < b;
}

static void create_sets(struct engine *e)
{
    size_t set_count = e->in->set_count;
    uint32_t *order = NEW(e->a, uint32_t, e->class_count);

    for (uint32_t c = 0; c < e->class_count; c++) { /* insertion: classes are few */
        size_t at = c;

        for (; at > 0 && class_before(e, c, order[at - 1]); at--)
            order[at] = order[at - 1];
        order[at] = c;
    }
    e->set_classes = NEW(e->a, uint32_t *, set_count + 1);
    e->set_class_count = NEW(e->a, size_t, set_count + 1);
    for (size_t s = 0; s <= set_count; s++) {
        e->set_classes[s] = NEW(e->a, uint32_t, e->class_count);
        for (size_t i = 0; i < e->class_count; i++)
            if (s == set_count ||
                cluster_set_has(e->in->sets[s].nodes, e->classes[order[i]].nodes[0]))
                e->set_classes[s][e->set_class_count[s]++] = order[i];
        budget_step(e->budget, e->class_count);
    }
}

static void create_reservations(struct engine *e)
{
    e->class_reservations = NEW(e->a, const struct replay_reservation *, e->class_count);
    e->class_reservation_count = NEW(e->a, size_t, e->class_count);
    for (size_t c = 0; c < e->class_count && e->in->reservation_count; c++) {
        struct replay_reservation *list =
            NEW(e->a, struct replay_reservation, e->in->reservation_count);

        for (size_t i = 0; i < e->in->reservation_count; i++)
            if (cluster_set_has(e->in->sets[e->in->reservations[i].set].nodes,
                                e->classes[c].nodes[0]))
                list[e->class_reservation_count[c]++] = e->in->reservations[i];
        budget_step(e->budget, e->in->reservation_count);
        e->class_reservations[c] = list;
    }
}

void nodes_create(struct engine *e)
{
    uint32_t *class_of, *kinds = NEW(e->a, uint32_t, e->in->group_count);
    int64_t unit = look_at_jobs(e);
    size_t levels = 1;

    for (size_t g = 0; g < e->in->group_count; g++)
        e->node_count += e->in->groups[g].count;
    class_of = NEW(e->a, uint32_t, e->node_count);
    find_kinds(e, kinds);
    e->class_count = refine(e, kinds, class_of);
    e->classes = NEW(e->a, struct klass, e->class_count);
    e->nodes = NEW(e->a, struct node, e->node_count);
    e->held_ms = NEW(e->a, wide, e->in->group_count);
    e->held_cpu_ms = NEW(e->a, wide, e->in->group_count);
    if (!e->whole) {
        e->free = NEW(e->a, int64_t, e->node_count * e->amount_count);
        e->shadow_free = NEW(e->a, int64_t, e->node_count * e->amount_count);
        e->shadow_stamp = NEW(e->a, uint64_t, e->node_count);
    }
    for (size_t g = 0, node = 0; g < e->in->group_count; g++)
        for (size_t i = 0; i < e->in->groups[g].count; i++, node++) {
            struct klass *k = &e->classes[class_of[node]];

            k->of = k->of ? k->of : &e->in->groups[g];
            k->count++;
            e->nodes[node].group = (uint32_t)g;
        }
    for (size_t c = 0; c < e->class_count; c++) {
        create_class(e, &e->classes[c], unit);
        levels += e->classes[c].level_count + 1;
    }
    create_nodes(e, class_of);
    create_sets(e);
    create_reservations(e);
    e->cursors = NEW(e->a, struct cursor, levels);
    e->candidates = NEW(e->a, uint32_t, e->node_count);
    e->picked = NEW(e->a, uint32_t, e->node_count);
    e->shadow_classes = NEW(e->a, bool, e->class_count);
    e->shared_free = NEW(e->a, int64_t, e->in->shared_count);
    e->shadow_shared = NEW(e->a, int64_t, e->in->shared_count);
    for (size_t i = 0; i < e->in->shared_count; i++)
        e->shared_free[i] = e->in->shared[i];
}

/* ---- what fits ---- */

static bool takes_whole(const struct engine *e, uint32_t job)
{
    return e->whole || e->in->jobs[job].exclusive;
}

int64_t nodes_cpus(const struct engine *e, uint32_t job, const struct klass *k)
{
    return takes_whole(e, job) ? k->cpus : e->in->jobs[job].need[REPLAY_CPUS];
}

bool nodes_need_fits(const struct engine *e, const int64_t *need, const int64_t *free)
{
    for (size_t i = 0; i < e->amount_count; i++)
        if (need[i] > free[i] && need[i] > 0)
            return false;
    return true;
}

bool nodes_shared_fit(const struct engine *e, uint32_t job, const int64_t *free)
{
    const struct replay_job *j = &e->in->jobs[job];

    for (size_t i = 0; i < j->shared_count; i++)
        if (j->shared[i].amount > free[j->shared[i].name])
            return false;
    return true;
}

uint32_t nodes_set(const struct engine *e, uint32_t job, size_t i)
{
    const struct replay_job *j = &e->in->jobs[job];

    return j->set_count ? j->sets[i] : (uint32_t)e->in->set_count;
}

size_t nodes_set_count(const struct engine *e, uint32_t job)
{
    return e->in->jobs[job].set_count ? e->in->jobs[job].set_count : 1;
}

bool nodes_eligible(const struct engine *e, uint32_t job, size_t class, int64_t from_ms,
                    int64_t until_ms)
{
    const struct klass *k = &e->classes[class];

    if (!nodes_need_fits(e, e->in->jobs[job].need, k->amounts))
        return false;
    for (size_t i = 0; i < e->class_reservation_count[class]; i++) {
        const struct replay_reservation *r = &e->class_reservations[class][i];

        if (from_ms < r->end_ms && until_ms > r->start_ms)
            return false;
    }
    return true;
}

static size_t wanted(const struct engine *e, uint32_t job)
{
    return (size_t)e->in->jobs[job].nodes + e->in->jobs[job].spare_nodes;
}

bool nodes_could_ever(const struct engine *e, uint32_t job)
{
    if (!nodes_shared_fit(e, job, e->in->shared))
        return false;
    for (size_t i = 0; i < nodes_set_count(e, job); i++) {
        uint32_t set = nodes_set(e, job, i);
        size_t count = 0;

        for (size_t c = 0; c < e->set_class_count[set]; c++) {
            const struct klass *k = &e->classes[e->set_classes[set][c]];

            if (nodes_need_fits(e, e->in->jobs[job].need, k->amounts))
                count += k->count;
        }
        if (count >= wanted(e, job))
            return true;
    }
    return false;
}

bool nodes_room(const struct engine *e, uint32_t job, const struct klass *k,
                const int64_t *free)
{
    if (takes_whole(e, job))
        return memcmp(free, k->amounts, e->amount_count * sizeof(*free)) == 0;
    return nodes_need_fits(e, e->in->jobs[job].need, free);
}

int64_t *nodes_later(struct engine *e, uint32_t node)
{
    size_t at = node * e->amount_count;

    return e->shadow_stamp[node] == e->shadow.stamp ? e->shadow_free + at : e->free + at;
}

static size_t first_level(const struct klass *k, int64_t cpus)
{
    return (size_t)((cpus > 0 ? cpus : 0) / k->level_cpus);
}

bool nodes_shares(const struct engine *e, uint32_t job, uint32_t node)
{
    const struct node *n = &e->nodes[node];

    return n->run_count == 0 || (!takes_whole(e, job) && !n->runs[0]->exclusive);
}

/* Whether a node that is shared has room now. */
static bool has_room(const struct engine *e, uint32_t job, uint32_t node)
{
    return nodes_need_fits(e, e->in->jobs[job].need, e->free + node * e->amount_count) &&
           nodes_shares(e, job, node);
}

size_t nodes_fitting(struct engine *e, uint32_t job, size_t class, size_t enough)
{
    const struct klass *k = &e->classes[class];
    const int64_t *need = e->in->jobs[job].need;
    size_t count = 0;

    if (takes_whole(e, job))
        return k->idle.count;
    if (need[REPLAY_CPUS] > k->cpus)
        return 0;
    if (e->amount_count == 1 && k->level_cpus == 1 && need[REPLAY_CPUS] > 0)
        return k->at_least[need[REPLAY_CPUS]];
    for (size_t l = first_level(k, need[REPLAY_CPUS]); l < k->level_count; l++)
        for (size_t i = bits_next(&k->levels[l], 0); i != BITS_NONE && count < enough;
             i = bits_next(&k->levels[l], i + 1)) {
            count += has_room(e, job, k->nodes[i]);
            budget_step(e->budget, 1);
        }
    return count;
}

/* ---- which nodes ---- */

struct visit {
    uint32_t job;
    size_t wanted;
    bool beside;
    int64_t harm_left;
    uint32_t *list; /* what was found */
    size_t count, harm;
};

/* Whether the first of the queue would miss the node at its time. */
static bool harms(struct engine *e, uint32_t job, uint32_t node)
{
    const struct klass *k = &e->classes[e->nodes[node].klass];
    int64_t left[REPLAY_AMOUNTS_MAX];
    const int64_t *free;

    if (!e->shadow_classes[e->nodes[node].klass])
        return false;
    if (e->whole)
        return true;
    free = nodes_later(e, node);
    if (!nodes_room(e, e->shadow.job, k, free))
        return false;
    for (size_t i = 0; i < e->amount_count; i++)
        left[i] = takes_whole(e, job) ? 0 : free[i] - e->in->jobs[job].need[i];
    return !nodes_room(e, e->shadow.job, k, left);
}

/* Takes a node; true: there are enough. */
static bool visit_node(struct engine *e, struct visit *v, uint32_t node)
{
    budget_step(e->budget, 1);
    if (!takes_whole(e, v->job) && !has_room(e, v->job, node))
        return false;
    if (v->beside && harms(e, v->job, node)) {
        if (v->harm_left <= 0)
            return false;
        v->harm_left--;
        v->harm++;
    }
    v->list[v->count++] = node;
    return v->count == v->wanted;
}

/* All of some cursors by number; true: there are enough. */
static bool merge(struct engine *e, struct visit *v, struct cursor *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        list[i].next = bits_next(list[i].bits, 0);
    for (;;) {
        struct cursor *best = NULL;

        for (size_t i = 0; i < count; i++)
            if (list[i].next != BITS_NONE &&
                (!best ||
                 list[i].klass->nodes[list[i].next] < best->klass->nodes[best->next]))
                best = &list[i];
        if (!best)
            return false;
        if (visit_node(e, v, best->klass->nodes[best->next]))
            return true;
        best->next = bits_next(best->bits, best->next + 1);
    }
}

static int by_free(const void *left, const void *right)
{
    const struct cursor *l = left, *r = right;

    return (l->free_cpus > r->free_cpus) - (l->free_cpus < r->free_cpus);
}

static size_t add_cursors(struct engine *e, const struct visit *v, const struct klass *k,
                          struct cursor *list)
{
    bool spread = e->rules->choice == REPLAY_SPREAD;
    size_t count = 0;

    if (takes_whole(e, v->job)) {
        list[0] = (struct cursor){&k->idle, k, (int64_t)choice_key(e, k), 0};
        return k->idle.count > 0;
    }
    for (size_t l = first_level(k, e->in->jobs[v->job].need[REPLAY_CPUS]);
         l < k->level_count; l++) {
        int64_t free = (int64_t)l * k->level_cpus;

        if (k->levels[l].count == 0)
            continue;
        if (e->rules->choice == REPLAY_FIRST_FIT || e->rules->choice == REPLAY_RUNS)
            free = 0;
        list[count++] = (struct cursor){&k->levels[l], k, spread ? -free : free, 0};
    }
    return count;
}

/* Nodes of a set in the order of choice, those of less weight first. */
static bool visit_set(struct engine *e, struct visit *v, uint32_t set, int64_t until_ms)
{
    const uint32_t *classes = e->set_classes[set];
    size_t count = e->set_class_count[set], i = 0;

    while (i < count) {
        double weight = e->classes[classes[i]].of->weight;
        size_t cursors = 0;

        for (; i < count && e->classes[classes[i]].of->weight == weight; i++)
            if (nodes_eligible(e, v->job, classes[i], e->kernel.now_ms, until_ms))
                cursors +=
                    add_cursors(e, v, &e->classes[classes[i]], e->cursors + cursors);
        if (cursors > 1)
            qsort(e->cursors, cursors, sizeof(*e->cursors), by_free);
        for (size_t from = 0, to; from < cursors; from = to) {
            for (to = from + 1;
                 to < cursors && e->cursors[to].free_cpus == e->cursors[from].free_cpus;)
                to++;
            if (merge(e, v, e->cursors + from, to - from))
                return true;
        }
    }
    return false;
}

/* ---- by runs ---- */

static int by_number(const void *left, const void *right)
{
    uint32_t l = *(const uint32_t *)left, r = *(const uint32_t *)right;

    return (l > r) - (l < r);
}

struct stretch {
    size_t begin, end; /* of the candidates */
};

static double weight_of(const struct engine *e, uint32_t node)
{
    return e->classes[e->nodes[node].klass].of->weight;
}

/* The best stretch for `missing` nodes: least weight, then one that suffices, the
 * shortest of those, else the longest, then the first. */
static struct stretch best_stretch(const struct engine *e, const uint32_t *nodes,
                                   size_t count, size_t missing)
{
    struct stretch best = {0, 0};

    for (size_t begin = 0, end; begin < count; begin = end) {
        size_t length, had = best.end - best.begin;
        bool better;

        for (end = begin + 1; end < count && nodes[end] == nodes[end - 1] + 1 &&
                              weight_of(e, nodes[end]) == weight_of(e, nodes[begin]);)
            end++;
        length = end - begin;
        if (had == 0)
            better = true;
        else if (weight_of(e, nodes[begin]) != weight_of(e, nodes[best.begin]))
            better = weight_of(e, nodes[begin]) < weight_of(e, nodes[best.begin]);
        else if ((length >= missing) != (had >= missing))
            better = length >= missing;
        else
            better = length >= missing ? length < had : length > had;
        if (better)
            best = (struct stretch){begin, end};
        budget_step(e->budget, length);
    }
    return best;
}

/* From all that fit, in v->list by number, to v->wanted of them in e->picked. */
static void choose_runs(struct engine *e, struct visit *v)
{
    size_t count = v->count, picked = 0;

    while (picked < v->wanted) {
        struct stretch s = best_stretch(e, v->list, count, v->wanted - picked);
        size_t take = s.end - s.begin;

        if (take > v->wanted - picked)
            take = v->wanted - picked;
        memcpy(e->picked + picked, v->list + s.begin, take * sizeof(*v->list));
        picked += take;
        memmove(v->list + s.begin, v->list + s.begin + take,
                (count - s.begin - take) * sizeof(*v->list));
        count -= take;
    }
    qsort(e->picked, picked, sizeof(*e->picked), by_number);
    e->picked_count = picked;
}

static bool pick_runs(struct engine *e, struct visit *v, uint32_t set, int64_t until_ms)
{
    size_t enough = v->wanted;

    v->list = e->candidates;
    v->wanted = SIZE_MAX;
    visit_set(e, v, set, until_ms);
    v->wanted = enough;
    if (v->count < enough)
        return false;
    qsort(v->list, v->count, sizeof(*v->list), by_number);
    choose_runs(e, v);
    e->picked_harm = 0;
    for (size_t i = 0; v->beside && i < e->picked_count; i++)
        e->picked_harm += harms(e, v->job, e->picked[i]);
    return true;
}

/* The set has fewer such nodes than are wanted: what nodes hold need not be looked at. */
static bool are_too_few(const struct engine *e, uint32_t job, uint32_t set)
{
    size_t count = 0, enough = wanted(e, job);

    for (size_t i = 0; i < e->set_class_count[set] && count < enough; i++) {
        const struct klass *k = &e->classes[e->set_classes[set][i]];

        if (takes_whole(e, job))
            count += k->idle.count;
        else if (e->in->jobs[job].need[REPLAY_CPUS] <= k->cpus)
            count += k->at_least[first_level(k, e->in->jobs[job].need[REPLAY_CPUS])];
    }
    return count < enough;
}

bool nodes_pick(struct engine *e, uint32_t job, uint32_t *set, bool beside)
{
    int64_t until_ms = later(e->kernel.now_ms, e->lives[job].estimate_ms);

    if (!nodes_shared_fit(e, job, e->shared_free) ||
        (beside && !nodes_shared_fit(e, job, e->shadow_shared)))
        return false;
    for (size_t i = 0; i < nodes_set_count(e, job); i++) {
        struct visit v = {.job = job,
                          .wanted = wanted(e, job),
                          .beside = beside,
                          .harm_left = e->shadow.spare,
                          .list = e->picked};

        *set = nodes_set(e, job, i);
        if (are_too_few(e, job, *set))
            continue;
        if (e->rules->choice == REPLAY_RUNS) {
            if (pick_runs(e, &v, *set, until_ms))
                return true;
        } else if (visit_set(e, &v, *set, until_ms)) {
            e->picked_count = v.count;
            e->picked_harm = v.harm;
            return true;
        }
    }
    return false;
}

/* ---- taking and giving ---- */

void nodes_sum(struct engine *e, struct klass *k)
{
    int64_t span_ms = e->kernel.now_ms - k->since_ms;

    k->sums[REPLAY_TIME_idle] += (wide)k->free_cpus * span_ms;
    k->sums[REPLAY_TIME_down] += (wide)k->cpus * (int64_t)k->down_count * span_ms;
    k->since_ms = e->kernel.now_ms;
}

static void hold(struct engine *e, struct node *n, struct run *r)
{
    if (n->run_count == n->run_room) {
        n->runs = n->run_room
                      ? GROW(e->a, n->runs, struct run *, n->run_room, 2 * n->run_room)
                      : NEW(e->a, struct run *, RUNS_FIRST);
        n->run_room = n->run_room ? 2 * n->run_room : RUNS_FIRST;
    }
    n->runs[n->run_count++] = r;
    if (!r->cleans && n->job_count++ == 0)
        n->held_ms = e->kernel.now_ms;
}

/* A job has held the node until now. */
static void count_held(struct engine *e, struct node *n, const struct run *r)
{
    const struct klass *k = &e->classes[n->klass];

    if (r->cleans)
        return;
    e->held_cpu_ms[n->group] +=
        (wide)nodes_cpus(e, r->job, k) * (e->kernel.now_ms - r->start_ms);
    if (--n->job_count == 0)
        e->held_ms[n->group] += e->kernel.now_ms - n->held_ms;
}

void nodes_count_held(struct engine *e, const struct run *r)
{
    for (size_t i = 0; i < r->node_count; i++)
        count_held(e, &e->nodes[r->nodes[i]], r);
    budget_step(e->budget, r->node_count);
}

static void let_go(struct node *n, const struct run *r)
{
    size_t i = 0;

    while (n->runs[i] != r)
        i++;
    n->runs[i] = n->runs[--n->run_count];
}

static void take_node(struct engine *e, struct run *r, uint32_t number)
{
    struct node *n = &e->nodes[number];
    struct klass *k = &e->classes[n->klass];
    int64_t *free, before;

    nodes_sum(e, k);
    bits_remove(&k->idle, n->local);
    hold(e, n, r);
    if (e->whole) {
        k->free_cpus -= k->cpus;
        return;
    }
    free = e->free + number * e->amount_count;
    before = free[REPLAY_CPUS];
    for (size_t i = 0; i < e->amount_count; i++)
        free[i] -= r->exclusive ? k->amounts[i] : e->in->jobs[r->job].need[i];
    shift_level(k, n->local, before, free[REPLAY_CPUS]);
    k->free_cpus -= before - free[REPLAY_CPUS];
}

void nodes_give_one(struct engine *e, struct run *r, uint32_t node)
{
    struct node *n = &e->nodes[node];
    struct klass *k = &e->classes[n->klass];
    bool is_up = n->down_depth == 0;
    int64_t *free, before;

    let_go(n, r);
    count_held(e, n, r);
    if (is_up) {
        nodes_sum(e, k);
        if (n->run_count == 0)
            bits_add(&k->idle, n->local);
    }
    if (e->whole) {
        k->free_cpus += is_up ? k->cpus : 0;
        return;
    }
    free = e->free + node * e->amount_count;
    before = free[REPLAY_CPUS];
    for (size_t i = 0; i < e->amount_count; i++)
        free[i] += r->exclusive ? k->amounts[i] : e->in->jobs[r->job].need[i];
    if (!is_up)
        return;
    shift_level(k, n->local, before, free[REPLAY_CPUS]);
    k->free_cpus += free[REPLAY_CPUS] - before;
}

static void take_shared(struct engine *e, uint32_t job, int64_t sign)
{
    const struct replay_job *j = &e->in->jobs[job];

    for (size_t i = 0; i < j->shared_count; i++)
        e->shared_free[j->shared[i].name] -= sign * j->shared[i].amount;
}

void nodes_take(struct engine *e, struct run *r)
{
    for (size_t i = 0; i < r->node_count; i++)
        take_node(e, r, r->nodes[i]);
    if (!r->cleans)
        take_shared(e, r->job, 1);
    budget_step(e->budget, 4 * (size_t)r->node_count);
}

void nodes_give(struct engine *e, struct run *r)
{
    for (size_t i = 0; i < r->node_count; i++)
        nodes_give_one(e, r, r->nodes[i]);
    if (!r->cleans)
        take_shared(e, r->job, -1);
    budget_step(e->budget, 4 * (size_t)r->node_count);
}

void nodes_down(struct engine *e, uint32_t node)
{
    struct node *n = &e->nodes[node];
    struct klass *k = &e->classes[n->klass];

    e->irregular = true;
    nodes_sum(e, k);
    k->down_count++;
    e->now.down_cpus += k->cpus;
    bits_remove(&k->idle, n->local);
    if (e->whole) {
        k->free_cpus -= n->run_count ? 0 : k->cpus;
        return;
    }
    k->free_cpus -= e->free[node * e->amount_count];
    shift_level(k, n->local, e->free[node * e->amount_count], -1);
}

void nodes_up(struct engine *e, uint32_t node)
{
    struct node *n = &e->nodes[node];
    struct klass *k = &e->classes[n->klass];

    e->irregular = true;
    nodes_sum(e, k);
    k->down_count--;
    e->now.down_cpus -= k->cpus;
    if (n->run_count == 0)
        bits_add(&k->idle, n->local);
    if (e->whole) {
        k->free_cpus += n->run_count ? 0 : k->cpus;
        return;
    }
    k->free_cpus += e->free[node * e->amount_count];
    shift_level(k, n->local, -1, e->free[node * e->amount_count]);
}

/* ---- lists of nodes ---- */

uint32_t *nodes_list(struct engine *e, size_t count, uint32_t *room)
{
    int size = 1;
    uint32_t *list;

    while (((size_t)1 << size) < count)
        size++;
    *room = (uint32_t)1 << size;
    if (!e->free_lists[size])
        return NEW(e->a, uint32_t, *room);
    list = e->free_lists[size];
    memcpy(&e->free_lists[size], list, sizeof(void *));
    return list;
}

void nodes_list_give(struct engine *e, uint32_t *list, uint32_t room)
{
    int size = __builtin_ctz(room);

    memcpy(list, &e->free_lists[size], sizeof(void *));
    e->free_lists[size] = list;
}

/* parallel/branch_and_bound.c - removes machines level by level while that helps.
 *
 * The first level is the set of all machines. The children of a set are the sets without
 * one of its machines; of its m children the best ceil(m / 2) go into the next level if
 * they are better than the best of this level. Equal sets are kept once, and of a level
 * the best max_level_nodes. Ends at a level without children: not exact, and at the very
 * first one if two machines share the slowest cpu.
 *
 * Source: 003_a5f9349f46eae656 4.2.4, figure 4.4; spec parallel-scheduling.md 4.4. A
 * set costs O(n m) for m evaluations; the number of sets can grow exponentially.
 * Deviation: the figure prunes what is worse than the bound, the text also what is
 * equal, as here; it knows no limit of a level, and would go on to the empty set.
 */
#include "algorithms/parallel/evaluate.h"
#include "models/base/heap.h"

#include <string.h>

enum { MAX_LEVEL_NODES };

const struct param parallel_branch_and_bound_params[] = {
    [MAX_LEVEL_NODES] = {"max_level_nodes", 1, 1e6, 100000,
                         "Sets of a level, the best ones (ours: the source has no limit)",
                         PARAM_INTEGER, NULL},
    {0},
};

enum { WORD_BITS = 64, FIRST_ROOM = 64 /* a power of two */ };

#define NONE SIZE_MAX

/* A set of the next level: one of this level without one machine. */
struct child {
    double score_s;
    size_t sequence; /* found as the so-manieth */
    size_t parent, leaves;
    uint64_t hash;
    size_t next; /* in its chain of the table, or NONE */
};

struct level {
    uint64_t *bits; /* `words` for each set */
    uint64_t *hash;
    size_t count, room;
};

struct tree {
    struct parallel_search *s;
    struct parallel_set set;
    size_t *machines; /* of the set at hand */
    struct keyed_machine *ranks;
    struct level level, below;
    size_t words, m; /* machines of each set of this level */
    double bound_s;
    /* children: a heap, the worst on top, once there are `limit` of them */
    struct child *children;
    size_t *heap;                /* indexes of children */
    size_t *table;               /* chains by hash; table_size is a power of two */
    struct keyed_machine *order; /* of children, by sequence */
    size_t count, room, limit, table_size, sequence;
};

/* The code of a machine: the hash of a set is the XOR of them. */
static uint64_t code_of(size_t machine)
{
    uint64_t state = machine;

    return splitmix64(&state);
}

/* ---- children ---- */

/* Do two children, or a child and itself, stand for the same set? */
static bool same_set(const struct tree *t, const struct child *a, const struct child *b)
{
    const uint64_t *x = t->level.bits + a->parent * t->words;
    const uint64_t *y = t->level.bits + b->parent * t->words;

    for (size_t w = 0; w < t->words; w++) {
        uint64_t from_x = a->leaves / WORD_BITS == w ? 1ULL << a->leaves % WORD_BITS : 0;
        uint64_t from_y = b->leaves / WORD_BITS == w ? 1ULL << b->leaves % WORD_BITS : 0;

        if ((x[w] & ~from_x) != (y[w] & ~from_y))
            return false;
    }
    return true;
}

static bool known(const struct tree *t, const struct child *c)
{
    for (size_t i = t->table[c->hash & (t->table_size - 1)]; i != NONE;
         i = t->children[i].next)
        if (t->children[i].hash == c->hash && same_set(t, &t->children[i], c))
            return true;
    return false;
}

static bool worse(const struct tree *t, const size_t *a, const size_t *b)
{
    const struct child *x = &t->children[*a], *y = &t->children[*b];

    return x->score_s > y->score_s ||
           (x->score_s == y->score_s && x->sequence > y->sequence);
}

HEAP_IN(worst, size_t, struct tree, worse)

static void unlink_child(struct tree *t, size_t index)
{
    size_t *link = &t->table[t->children[index].hash & (t->table_size - 1)];

    while (*link != index)
        link = &t->children[*link].next;
    *link = t->children[index].next;
}

static void store(struct tree *t, size_t index, struct child c)
{
    size_t *chain = &t->table[c.hash & (t->table_size - 1)];

    c.next = *chain;
    *chain = index;
    t->children[index] = c;
}

/* Room for `count` children, or for as many as are kept. */
static void make_child_room(struct tree *t, size_t count)
{
    struct arena *a = t->s->arena;
    size_t room = t->room;

    if (count > t->limit)
        count = t->limit;
    while (room < count)
        room = room ? 2 * room : FIRST_ROOM;
    if (room == t->room)
        return;
    t->children = GROW(a, t->children, struct child, t->room, room);
    t->heap = GROW(a, t->heap, size_t, t->room, room);
    t->order = NEW(a, struct keyed_machine, room);
    t->table = NEW(a, size_t, room);
    t->room = t->table_size = room;
    for (size_t i = 0; i < room; i++)
        t->table[i] = NONE;
    for (size_t i = 0; i < t->count; i++)
        store(t, i, t->children[i]);
}

/* Keeps a child, unless it is known or worse than all of a full level. */
static void add_child(struct tree *t, struct child c)
{
    c.sequence = t->sequence++;
    if (known(t, &c))
        return;
    if (t->count < t->limit) {
        store(t, t->count, c);
        t->heap[t->count] = t->count;
        t->count++;
        if (t->count == t->limit)
            worst_heapify(t, t->heap, t->count);
        return;
    }
    if (c.score_s >= t->children[t->heap[0]].score_s)
        return;
    unlink_child(t, t->heap[0]);
    store(t, t->heap[0], c);
    worst_first_changed(t, t->heap, t->count);
}

/* Evaluates all children of one set; false: the budget is spent. */
static bool branch(struct tree *t, size_t node)
{
    struct parallel_search *s = t->s;
    const uint64_t *bits = t->level.bits + node * t->words;
    size_t used = 0;

    for (size_t i = 0; i < s->n; i++)
        if (bits[i / WORD_BITS] >> i % WORD_BITS & 1)
            t->machines[used++] = i;
    set_load(&t->set, t->machines, t->m);
    for (size_t k = 0; k < t->m; k++) {
        size_t leaves = t->machines[k];
        struct set_minima m = set_minima(&t->set, leaves);

        if (search_stop(s))
            return false;
        t->ranks[k].machine = leaves;
        t->ranks[k].key = search_try(s, t->m - 1, m.cpu, m.bandwidth_mbps);
        set_keep(s, t->ranks[k].key, &t->set, leaves, NO_MACHINE);
    }
    keyed_sort(t->ranks, t->m);
    for (size_t k = 0; k < (t->m + 1) / 2 && t->ranks[k].key < t->bound_s; k++)
        add_child(t, (struct child){
                         .score_s = t->ranks[k].key,
                         .parent = node,
                         .leaves = t->ranks[k].machine,
                         .hash = t->level.hash[node] ^ code_of(t->ranks[k].machine),
                     });
    return true;
}

/* ---- levels ---- */

static void make_room(const struct tree *t, struct level *l, size_t count)
{
    struct arena *a = t->s->arena;
    size_t room = l->room ? l->room : FIRST_ROOM;

    while (room < count)
        room *= 2;
    if (room == l->room)
        return;
    l->bits = NEW(a, uint64_t, room * t->words); /* what was there is not needed */
    l->hash = NEW(a, uint64_t, room);
    l->room = room;
}

/* The kept children in the order in which they were found. */
static void order_children(struct tree *t)
{
    for (size_t i = 0; i < t->count; i++)
        t->order[i] = (struct keyed_machine){(double)t->children[i].sequence, i};
    keyed_sort(t->order, t->count);
}

/* The children become the level. */
static void descend(struct tree *t)
{
    struct level next = t->below;

    make_room(t, &next, t->count);
    order_children(t);
    t->bound_s = HUGE_VAL;
    for (size_t i = 0; i < t->count; i++) {
        const struct child *c = &t->children[t->order[i].machine];
        uint64_t *bits = next.bits + i * t->words;

        memcpy(bits, t->level.bits + c->parent * t->words, t->words * sizeof(*bits));
        bits[c->leaves / WORD_BITS] &= ~(1ULL << c->leaves % WORD_BITS);
        next.hash[i] = c->hash;
        t->bound_s = fmin(t->bound_s, c->score_s);
    }
    next.count = t->count;
    t->below = t->level;
    t->level = next;
    t->m--;
    t->s->iterations++;
}

/* All machines as the first level. */
static void plant(struct tree *t)
{
    struct parallel_search *s = t->s;
    struct set_minima m;

    make_room(t, &t->level, 1);
    for (size_t i = 0; i < s->n; i++) {
        t->machines[i] = i;
        t->level.bits[i / WORD_BITS] |= 1ULL << i % WORD_BITS;
        t->level.hash[0] ^= code_of(i);
    }
    t->level.count = 1;
    t->m = s->n;
    set_load(&t->set, t->machines, s->n);
    m = set_minima(&t->set, NO_MACHINE);
    t->bound_s = search_try(s, s->n, m.cpu, m.bandwidth_mbps);
    search_keep(s, t->bound_s, t->machines, s->n);
}

static void prepare(struct tree *t, double max_level_nodes)
{
    struct arena *a = t->s->arena;
    size_t n = t->s->n;

    t->limit = (size_t)max_level_nodes;
    if (n < WORD_BITS && t->limit > (size_t)1 << n)
        t->limit = (size_t)1 << n; /* there are no more sets */
    t->words = (n + WORD_BITS - 1) / WORD_BITS;
    t->machines = NEW(a, size_t, n);
    t->ranks = NEW(a, struct keyed_machine, n);
    set_create(t->s, &t->set);
}

enum error_code parallel_branch_and_bound(struct parallel_search *s, const double *param,
                                          struct error *err)
{
    struct tree t = {.s = s};

    (void)err;
    prepare(&t, param[MAX_LEVEL_NODES]);
    if (search_stop_now(s))
        return OK;
    plant(&t);
    while (t.m > s->min_procs) {
        t.count = t.sequence = 0;
        for (size_t i = 0; i < t.table_size; i++)
            t.table[i] = NONE;
        for (size_t node = 0; node < t.level.count; node++) {
            make_child_room(&t, t.count + t.m);
            if (search_stop_now(s) || !branch(&t, node))
                return OK;
        }
        if (t.count == 0)
            return OK;
        descend(&t);
    }
    return OK;
}

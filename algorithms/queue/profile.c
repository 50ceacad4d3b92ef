/* queue/profile.c - how many processors are free from now on. */
#include "algorithms/queue/profile.h"

#include "models/base/rng.h"

#include <math.h>

enum { FIRST_ROOM = 64 };
static const int64_t FAR = (int64_t)1 << 60; /* beyond all sums */

/* Brings the sums of a node up to date with its children. */
static void pull(struct profile *p, uint32_t at)
{
    struct profile_node *n = &p->nodes[at];
    const struct profile_node *l = &p->nodes[n->left], *r = &p->nodes[n->right];
    int64_t here = l->sum + n->delta;
    int64_t low = here + (r->low < 0 ? r->low : 0);
    int64_t high = here + (r->high > 0 ? r->high : 0);

    n->sum = here + r->sum;
    n->low = l->low < low ? l->low : low;
    n->high = l->high > high ? l->high : high;
}

static enum error_code make_room(struct profile *p, struct error *err)
{
    uint32_t room = p->room ? 2 * p->room : FIRST_ROOM;
    struct profile_node *nodes;

    if (p->spare || p->count < p->room)
        return OK;
    nodes = GROW(p->arena, p->nodes, struct profile_node, p->count, room);
    if (!nodes)
        return fail_memory(err);
    p->nodes = nodes;
    p->room = room;
    return OK;
}

enum error_code profile_create(struct profile *p, double now_s, uint64_t free,
                               struct arena *a, struct error *err)
{
    *p = (struct profile){.now_s = now_s, .free = (int64_t)free, .arena = a};
    TRY(make_room(p, err));
    p->nodes[0] = (struct profile_node){.low = FAR, .high = -FAR};
    p->count = 1;
    return OK;
}

static uint32_t new_node(struct profile *p, double at_s, int64_t delta)
{
    uint32_t at = p->spare;

    if (at)
        p->spare = p->nodes[at].left;
    else
        at = p->count++;
    p->nodes[at] = (struct profile_node){
        .at_s = at_s, .delta = delta, .weight = splitmix64(&p->state)};
    pull(p, at);
    return at;
}

static void forget(struct profile *p, uint32_t at)
{
    p->nodes[at].left = p->spare;
    p->spare = at;
}

static void forget_tree(struct profile *p, uint32_t at)
{
    if (!at)
        return;
    forget_tree(p, p->nodes[at].left);
    forget_tree(p, p->nodes[at].right);
    forget(p, at);
}

/* One tree of two, of which the left one is earlier. */
static uint32_t join(struct profile *p, uint32_t left, uint32_t right)
{
    struct profile_node *n = p->nodes;

    if (!left || !right)
        return left ? left : right;
    if (n[left].weight > n[right].weight) {
        n[left].right = join(p, n[left].right, right);
        pull(p, left);
        return left;
    }
    n[right].left = join(p, left, n[right].left);
    pull(p, right);
    return right;
}

/* Lifts the left or the right child over its parent. */
static uint32_t lift(struct profile *p, uint32_t at, bool left)
{
    struct profile_node *n = p->nodes;
    uint32_t child = left ? n[at].left : n[at].right;

    if (left) {
        n[at].left = n[child].right;
        n[child].right = at;
    } else {
        n[at].right = n[child].left;
        n[child].left = at;
    }
    pull(p, at);
    pull(p, child);
    return child;
}

/* A step within the tree `at`; returns its new root. There is room for a node. */
static uint32_t add(struct profile *p, uint32_t at, double at_s, int64_t delta)
{
    struct profile_node *n = &p->nodes[at];
    uint32_t child;
    bool left;

    if (!at)
        return new_node(p, at_s, delta);
    if (n->at_s == at_s) {
        n->delta += delta;
        if (n->delta == 0) {
            child = join(p, n->left, n->right);
            forget(p, at);
            return child;
        }
        pull(p, at);
        return at;
    }
    left = at_s < n->at_s;
    child = add(p, left ? n->left : n->right, at_s, delta);
    *(left ? &n->left : &n->right) = child;
    pull(p, at);
    return child && p->nodes[child].weight > n->weight ? lift(p, at, left) : at;
}

enum error_code profile_add(struct profile *p, double at_s, int64_t delta,
                            struct error *err)
{
    if (!(at_s > p->now_s)) {
        p->free += delta;
        return OK;
    }
    TRY(make_room(p, err));
    p->root = add(p, p->root, at_s, delta);
    return OK;
}

enum error_code profile_take(struct profile *p, double start_s, double end_s,
                             uint64_t processors, struct error *err)
{
    if (!(end_s > start_s))
        return OK;
    TRY(profile_add(p, start_s, -(int64_t)processors, err));
    return profile_add(p, end_s, (int64_t)processors, err);
}

enum error_code profile_give(struct profile *p, double start_s, double end_s,
                             uint64_t processors, struct error *err)
{
    if (!(end_s > start_s))
        return OK;
    TRY(profile_add(p, start_s, (int64_t)processors, err));
    return profile_add(p, end_s, -(int64_t)processors, err);
}

/* The tree `at` without the steps up to now. */
static uint32_t drop(struct profile *p, uint32_t at)
{
    struct profile_node *n = &p->nodes[at];

    if (!at)
        return 0;
    if (n->at_s > p->now_s) {
        n->left = drop(p, n->left);
        pull(p, at);
        return at;
    }
    uint32_t right = n->right;

    p->free += p->nodes[n->left].sum + n->delta;
    forget_tree(p, n->left);
    forget(p, at);
    return drop(p, right);
}

void profile_advance(struct profile *p, double now_s)
{
    p->now_s = now_s;
    p->root = drop(p, p->root);
}

/* A question: which is the first step after after_s at which fewer than `need` are
 * free (below), or at least so many. */
struct question {
    double after_s;
    int64_t need;
    bool below;
};

static bool answers(const struct question *q, int64_t low, int64_t high)
{
    return q->below ? low < q->need : high >= q->need;
}

/* Within the tree `at`, before which `free` are free. 0: no such step. */
static uint32_t find(const struct profile *p, const struct question *q, uint32_t at,
                     int64_t free)
{
    const struct profile_node *n = &p->nodes[at];
    int64_t here = free + p->nodes[n->left].sum + n->delta;

    if (!at || !answers(q, free + n->low, free + n->high))
        return 0;
    if (n->at_s > q->after_s) {
        uint32_t found = find(p, q, n->left, free);

        if (found)
            return found;
        if (answers(q, here, here))
            return at;
    }
    return find(p, q, n->right, here);
}

static double first(const struct profile *p, double after_s, int64_t need, bool below)
{
    struct question q = {after_s, need, below};
    uint32_t found = find(p, &q, p->root, p->free);

    return found ? p->nodes[found].at_s : HUGE_VAL;
}

double profile_first_below(const struct profile *p, uint64_t processors)
{
    int64_t need = (int64_t)processors;

    return p->free < need ? p->now_s : first(p, p->now_s, need, true);
}

double profile_first_above(const struct profile *p, uint64_t processors)
{
    int64_t need = (int64_t)processors;

    return p->free >= need ? p->now_s : first(p, p->now_s, need, false);
}

/* What is free at an instant. */
static int64_t free_at(const struct profile *p, double at_s)
{
    int64_t free = p->free;

    for (uint32_t at = p->root; at;) {
        const struct profile_node *n = &p->nodes[at];

        if (n->at_s <= at_s)
            free += p->nodes[n->left].sum + n->delta;
        at = n->at_s <= at_s ? n->right : n->left;
    }
    return free;
}

bool profile_bears(const struct profile *p, double start_s, double end_s,
                   uint64_t processors)
{
    int64_t need = (int64_t)processors;

    return free_at(p, start_s) >= need && end_s <= first(p, start_s, need, true);
}

double profile_fit(const struct profile *p, uint64_t processors, double duration_s,
                   double from_s)
{
    int64_t need = (int64_t)processors;
    double start_s = fmax(p->now_s, from_s);

    if (free_at(p, start_s) < need)
        start_s = first(p, start_s, need, false);
    while (isfinite(start_s)) {
        double end_s = first(p, start_s, need, true);

        if (start_s + duration_s <= end_s)
            break;
        start_s = first(p, end_s, need, false);
    }
    return start_s;
}

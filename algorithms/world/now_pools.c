/* world/now_pools.c - what starts on which resource.
 *
 * One resource is a knapsack of all classes that may run there; its rows are the amounts
 * now and at each later fall, on the resource and shared.
 */
#include "algorithms/world/now_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { POOL_NODES_MIN = 1000 };

/* ---- one resource ---- */

/* Rows are (floor, step, amount). */
struct row {
    const struct now_floor *floor;
    size_t step, amount;
    size_t need; /* of the class's needs */
};

struct pool_problem {
    struct now *n;
    size_t position;
    struct row *rows;
    size_t row_count;
    size_t *class; /* in now.classes */
    struct knapsack k;
};

static void add_rows(struct pool_problem *p, const struct now_floor *f, size_t need)
{
    for (size_t step = 0; step < f->count; step++)
        for (size_t k = 0; k < f->width; k++)
            if (f->free[step * f->width + k] > 0 &&
                f->free[step * f->width + k] < AMOUNT_UNLIMITED)
                p->rows[p->row_count++] = (struct row){f, step, k, need + k};
}

static void collect_rows(struct pool_problem *p)
{
    const struct now *n = p->n;
    size_t nodes = n->w->node_amount_count;
    const struct now_floor *own = &n->pools[p->position].floor;
    size_t most = own->count * own->width;

    for (size_t k = nodes; k < n->w->amount_count; k++)
        most += n->shared[k - nodes].count;
    p->rows = NEW(n->scratch, struct row, most);
    add_rows(p, own, 0);
    for (size_t k = nodes; k < n->w->amount_count; k++)
        add_rows(p, &n->shared[k - nodes], k);
}

/* Classes of which some fit. */
static void collect_classes(struct pool_problem *p, int64_t *counts, int64_t *weights,
                            size_t *tiers)
{
    struct now *n = p->n;

    for (size_t i = 0; i < n->class_count; i++) {
        const struct now_class *c = &n->classes[i];
        int64_t count = c->apart ? 0 : c->count - c->started;

        budget_step(n->w->budget, 1);
        if (count > 0 && now_is_eligible(n, c, p->position))
            count = now_room(n, c, p->position, count);
        else
            count = 0;
        if (count == 0)
            continue;
        counts[p->k.class_count] = count;
        weights[p->k.class_count] = c->scaled;
        tiers[p->k.class_count] = c->rank;
        p->class[p->k.class_count++] = i;
    }
}

static void build_problem(struct pool_problem *p, size_t max_nodes)
{
    struct now *n = p->n;
    int64_t *counts = NEW(n->scratch, int64_t, n->class_count), *needs, *room;
    int64_t *weights = NEW(n->scratch, int64_t, n->class_count);
    size_t *tiers = NEW(n->scratch, size_t, n->class_count);

    p->class = NEW(n->scratch, size_t, n->class_count);
    collect_rows(p);
    collect_classes(p, counts, weights, tiers);
    needs = NEW(n->scratch, int64_t, p->k.class_count * p->row_count);
    room = NEW(n->scratch, int64_t, p->row_count);
    for (size_t r = 0; r < p->row_count; r++) {
        const struct row *row = &p->rows[r];

        room[r] = row->floor->free[row->step * row->floor->width + row->amount];
    }
    for (size_t i = 0; i < p->k.class_count; i++) {
        const struct now_class *c = &n->classes[p->class[i]];
        double held_s = now_held_s(n, c, p->position);

        budget_step(n->w->budget, p->row_count);
        for (size_t r = 0; r < p->row_count; r++) {
            const struct row *row = &p->rows[r];

            if (row->floor->at_s[row->step] < held_s)
                needs[i * p->row_count + r] = c->needs[row->need];
        }
    }
    p->k.row_count = p->row_count;
    p->k.room = room;
    p->k.needs = needs;
    p->k.counts = counts;
    p->k.weights = weights;
    p->k.tiers = tiers;
    p->k.tier_count = n->rank_count;
    p->k.max_nodes = max_nodes;
    p->k.budget = n->w->budget;
}

static void start(struct now *n, size_t position, size_t class, int64_t count)
{
    struct now_pool *pool = &n->pools[position];
    struct now_class *c = &n->classes[class];
    size_t i = 0;

    if (count == 0)
        return;
    now_change(n, c, position, count);
    c->started += count;
    while (i < pool->take_count && pool->takes[i].class != class)
        i++;
    if (i < pool->take_count) {
        pool->takes[i].count += count;
        return;
    }
    if ((pool->take_count & (pool->take_count - 1)) == 0)
        pool->takes = GROW(n->a, pool->takes, struct now_take, pool->take_count,
                           pool->take_count > 0 ? 2 * pool->take_count : 1);
    pool->takes[pool->take_count++] = (struct now_take){class, count};
}

/* Gives back all that starts on the resource; what it was worth, by rank. */
static void give_back(struct now *n, size_t position, int64_t *values)
{
    struct now_pool *pool = &n->pools[position];

    for (size_t i = 0; i < pool->take_count; i++) {
        struct now_class *c = &n->classes[pool->takes[i].class];
        int64_t count = pool->takes[i].count;

        now_change(n, c, position, -count);
        c->started -= count;
        values[c->rank] += count * c->scaled;
    }
}

static bool is_better(const struct knapsack_tier *tiers, const int64_t *values,
                      size_t count)
{
    for (size_t t = 0; t < count; t++)
        if (tiers[t].value != values[t])
            return tiers[t].value > values[t];
    return false;
}

/* The same takes again. */
static void take_again(struct now *n, size_t position)
{
    struct now_pool *pool = &n->pools[position];

    for (size_t i = 0; i < pool->take_count; i++) {
        struct now_class *c = &n->classes[pool->takes[i].class];

        now_change(n, c, position, pool->takes[i].count);
        c->started += pool->takes[i].count;
    }
}

bool now_solve_pool(struct now *n, size_t position, size_t max_nodes,
                    struct knapsack_tier *tiers)
{
    struct pool_problem p = {.n = n, .position = position};
    struct knapsack_tier found[KNAPSACK_TIERS_MAX] = {{0}};
    int64_t values[KNAPSACK_TIERS_MAX] = {0}, *taken;
    bool better;

    give_back(n, position, values);
    build_problem(&p, max_nodes);
    taken = NEW(n->scratch, int64_t, p.k.class_count);
    n->nodes += knapsack_solve(&p.k, taken, found, n->scratch);
    better = is_better(found, values, n->rank_count);
    if (better) {
        n->pools[position].take_count = 0;
        for (size_t i = 0; i < p.k.class_count; i++)
            start(n, position, p.class[i], taken[i]);
    } else {
        take_again(n, position);
    }
    if (tiers)
        memcpy(tiers, found, n->rank_count * sizeof(*found));
    arena_reset(n->scratch);
    return better;
}

/* ---- several resources ---- */

/* The largest share of a mean capacity that one of the class needs. */
static double share_of(const struct now *n, const struct now_class *c,
                       const double *capacity)
{
    double share = 0;

    for (size_t k = 0; k < n->w->amount_count; k++)
        if (c->needs[k] > 0 && capacity[k] > 0)
            share = fmax(share, (double)c->needs[k] / capacity[k]);
    return share;
}

/* Of limited ones; 0: not limited anywhere. */
static void mean_capacities(const struct now *n, double *capacity)
{
    const struct world *w = n->w;

    for (size_t k = 0; k < w->amount_count; k++) {
        size_t count = 0;

        capacity[k] = 0;
        for (size_t i = 0; k < w->node_amount_count && i < w->resource_count; i++) {
            budget_step(w->budget, 1);
            if (w->resources[i].capacity[k] < AMOUNT_UNLIMITED) {
                capacity[k] += (double)w->resources[i].capacity[k];
                count++;
            }
        }
        if (count > 0)
            capacity[k] /= (double)count;
        if (k >= w->node_amount_count)
            capacity[k] = (double)w->shared_capacity[k];
    }
}

struct candidate {
    double key, second; /* smaller first */
    size_t index;       /* of a class, or in the snapshot */
    size_t number;      /* class or position */
};

static int smaller_first(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;

    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    if (x->second != y->second)
        return x->second < y->second ? -1 : 1;
    return x->index < y->index ? -1 : 1;
}

/* The largest share that is left free when one of the class has started. */
static double left_over(const struct now *n, const struct now_class *c, size_t position)
{
    const int64_t *capacity = n->w->resources[position].capacity;
    const int64_t *free = n->pools[position].floor.free;
    double left = 0;

    for (size_t k = 0; k < n->w->node_amount_count; k++)
        if (capacity[k] > 0 && capacity[k] < AMOUNT_UNLIMITED && k != AMOUNT_PRESENCE)
            left = fmax(left, (double)(free[k] - c->needs[k]) / (double)capacity[k]);
    return left;
}

/* Where least is left over first; it stays there, since less is left over then. */
static void fill_best(struct now *n, size_t class, struct candidate *list)
{
    struct now_class *c = &n->classes[class];
    size_t count = 0;

    for (size_t i = 0; i < n->w->resource_count; i++) {
        if (budget_step(n->w->budget, n->w->amount_count))
            return;
        if (now_is_eligible(n, c, i) && now_room(n, c, i, 1) > 0)
            list[count++] =
                (struct candidate){left_over(n, c, i), 0, n->w->resources[i].index, i};
    }
    qsort(list, count, sizeof(*list), smaller_first);
    for (size_t i = 0; i < count && c->started < c->count; i++)
        start(n, list[i].number, class,
              now_room(n, c, list[i].number, c->count - c->started));
}

static void first_fill(struct now *n)
{
    double capacity[AMOUNTS_MAX];
    size_t most =
        n->class_count > n->w->resource_count ? n->class_count : n->w->resource_count;
    struct candidate *list = NEW(n->a, struct candidate, n->class_count);
    struct candidate *scratch = NEW(n->a, struct candidate, most);
    size_t count = 0;

    mean_capacities(n, capacity);
    for (size_t i = 0; i < n->class_count; i++) {
        const struct now_class *c = &n->classes[i];
        double share = share_of(n, c, capacity);

        budget_step(n->w->budget, n->w->amount_count);
        if (!c->apart)
            list[count++] = (struct candidate){
                (double)c->rank, share > 0 ? -c->weight / share : -HUGE_VAL, i, i};
    }
    qsort(list, count, sizeof(*list), smaller_first);
    for (size_t i = 0; i < count; i++)
        fill_best(n, list[i].number, scratch);
}

void now_solve_pools(struct now *n)
{
    size_t most = n->in->max_nodes ? n->in->max_nodes : KNAPSACK_NODES_MAX;
    bool changed = true;

    first_fill(n);
    for (n->rounds = 0; changed && n->rounds < NOW_ROUNDS_MAX; n->rounds++) {
        changed = false;
        for (size_t i = 0; i < n->w->resource_count; i++) {
            size_t left = most > n->nodes ? most - n->nodes : 0;
            size_t share = left / (n->w->resource_count - i);

            if (budget_step(n->w->budget, n->class_count))
                return;
            changed |= now_solve_pool(
                n, i, share > POOL_NODES_MIN ? share : POOL_NODES_MIN, NULL);
        }
    }
}

void now_fill(struct now *n)
{
    struct candidate *list = NEW(n->a, struct candidate, n->w->resource_count);

    for (size_t i = 0; i < n->class_count; i++)
        if (!n->classes[i].apart && n->classes[i].started < n->classes[i].count)
            fill_best(n, i, list);
}

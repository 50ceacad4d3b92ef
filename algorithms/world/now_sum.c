/* world/now_sum.c - an upper bound for several resources: as if they were one.
 */
#include "algorithms/world/now_parts.h"

/* All that is free now, what is overcommitted counting as nothing. */
static void sum_free(const struct now *n, int64_t *room)
{
    const struct world *w = n->w;
    size_t nodes = w->node_amount_count;

    for (size_t i = 0; i < w->resource_count; i++) {
        budget_step(w->budget, nodes);
        for (size_t k = 0; k < nodes && !n->pools[i].closed; k++)
            if (n->pools[i].floor.free[k] > 0)
                room[k] = amount_add(room[k], n->pools[i].floor.free[k]);
    }
    for (size_t k = nodes; k < w->amount_count; k++)
        room[k] = n->shared[k - nodes].free[0] > 0 ? n->shared[k - nodes].free[0] : 0;
}

/* How many of the class fit on the empty resources, each alone. */
static int64_t fit_count(const struct now *n, const struct now_class *c)
{
    int64_t count = 0;

    for (size_t i = 0; count < c->count && i < n->w->resource_count; i++) {
        if (budget_step(n->w->budget, n->w->amount_count))
            return c->count;
        if (now_is_eligible(n, c, i))
            count += now_room(n, c, i, c->count - count);
    }
    return c->apart ? c->count : count;
}

/* Needs of the class over all its nodes; nothing where it holds nothing. */
static bool sum_needs(const struct now *n, const struct now_class *c, const int64_t *room,
                      int64_t *needs)
{
    const struct world_job *j = &n->w->jobs[c->sample];
    double held_s = HUGE_VAL;

    for (size_t i = 0; i < n->w->resource_count; i++)
        if (now_is_eligible(n, c, i))
            held_s = fmin(held_s, now_held_s(n, c, i));
    for (size_t k = 0; k < n->w->amount_count; k++) {
        int64_t nodes = k < n->w->node_amount_count ? (int64_t)j->nodes : 1;

        if (c->needs[k] <= 0 || held_s <= 0 || room[k] >= AMOUNT_UNLIMITED)
            continue;
        if (c->needs[k] > room[k] / nodes)
            return false;
        needs[k] = c->needs[k] * nodes;
    }
    return true;
}

void now_sum(struct now *n)
{
    size_t rows = n->w->amount_count;
    int64_t *room = NEW(n->a, int64_t, rows);
    int64_t *needs = NEW(n->a, int64_t, n->class_count * rows);
    int64_t *counts = NEW(n->a, int64_t, n->class_count);
    int64_t *weights = NEW(n->a, int64_t, n->class_count);
    size_t *tiers = NEW(n->a, size_t, n->class_count);

    sum_free(n, room);
    for (size_t i = 0; i < n->class_count; i++) {
        const struct now_class *c = &n->classes[i];
        int64_t *own = needs + i * rows;

        budget_step(n->w->budget, n->w->resource_count + rows);
        counts[i] = sum_needs(n, c, room, own) ? fit_count(n, c) : 0;
        for (size_t r = 0; r < rows; r++)
            if (own[r] > 0 && counts[i] > room[r] / own[r])
                counts[i] = room[r] / own[r];
        weights[i] = c->scaled;
        tiers[i] = c->rank;
    }
    n->sum = (struct knapsack){.row_count = rows,
                               .room = room,
                               .class_count = n->class_count,
                               .needs = needs,
                               .counts = counts,
                               .weights = weights,
                               .tiers = tiers,
                               .tier_count = n->rank_count,
                               .budget = n->w->budget};
}

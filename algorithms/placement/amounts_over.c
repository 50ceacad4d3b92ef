/* placement/amounts_over.c - more taken than there is: it happens, and is said. */
#include "algorithms/placement/amounts_parts.h"

#include <stdlib.h>

/* An interval of what is taken begins or ends. */
struct turn {
    double at_s;
    int64_t change;
};

/* Ends come first: intervals are half open. */
static int by_time(const void *a, const void *b)
{
    const struct turn *x = a, *y = b;

    if (x->at_s != y->at_s)
        return x->at_s < y->at_s ? -1 : 1;
    return (x->change > y->change) - (x->change < y->change);
}

/* The most that is taken of the amount at any time. */
static int64_t most_taken(const struct world_maker *m, const size_t *holders,
                          size_t count, size_t amount, struct turn *turns)
{
    size_t filled = 0;
    int64_t taken = 0, most = 0;

    for (size_t k = 0; k < count; k++) {
        const struct world_holder *h = &m->w->holders[holders ? holders[k] : k];

        if (h->all || h->amounts[amount] == 0)
            continue;
        turns[filled++] = (struct turn){h->start_s, h->amounts[amount]};
        turns[filled++] = (struct turn){h->end_s, -h->amounts[amount]};
    }
    qsort(turns, filled, sizeof(*turns), by_time);
    for (size_t k = 0; k < filled; k++) {
        taken = amount_add(taken, turns[k].change);
        most = taken > most ? taken : most;
    }
    return most;
}

/* All that holders take together, whenever: an upper bound. */
static int64_t sum_taken(const struct world_maker *m, const size_t *holders, size_t count,
                         size_t amount)
{
    int64_t sum = 0;

    for (size_t k = 0; k < count; k++) {
        const struct world_holder *h = &m->w->holders[holders ? holders[k] : k];

        sum = amount_add(sum, h->all ? 0 : h->amounts[amount]);
    }
    return sum;
}

/* The first place where more is taken than there is, and how many there are. */
struct over {
    size_t count, pos, amount;
    int64_t capacity, most;
};

static void look(const struct world_maker *m, size_t pos, size_t amount, int64_t capacity,
                 struct turn *turns, struct over *over)
{
    const struct world_resource *r = pos == WORLD_NONE ? NULL : &m->w->resources[pos];
    const size_t *holders = r ? r->holders : NULL;
    size_t count = r ? r->holder_count : m->w->holder_count;
    int64_t most;

    if (capacity >= AMOUNT_UNLIMITED || sum_taken(m, holders, count, amount) <= capacity)
        return;
    most = most_taken(m, holders, count, amount, turns);
    if (most <= capacity || over->count++)
        return;
    over->pos = pos;
    over->amount = amount;
    over->capacity = capacity;
    over->most = most;
}

void amounts_warn_overcommitted(struct world_maker *m)
{
    const struct world *w = m->w;
    struct turn *turns = NEW(m->arena, struct turn, 2 * w->holder_count);
    struct over over = {0};

    for (size_t i = 0; i < w->resource_count; i++) {
        const struct world_resource *r = &w->resources[m->p->position_of[i]];

        for (size_t k = 0; k < w->node_amount_count && r->holder_count; k++) {
            budget_step(w->budget, r->holder_count);
            look(m, m->p->position_of[i], k, r->capacity[k], turns, &over);
        }
    }
    for (size_t k = w->node_amount_count; k < w->amount_count; k++) {
        budget_step(w->budget, w->holder_count);
        look(m, WORLD_NONE, k, w->shared_capacity[k], turns, &over);
    }
    if (over.count)
        problem_warn(m->p,
                     "overcommitted: %zu amount%s taken beyond capacity; first %s of "
                     "%s%.100s: capacity %.15g, at most %.15g taken at a time",
                     over.count, over.count == 1 ? " is" : "s are",
                     w->amounts[over.amount].name,
                     over.pos == WORLD_NONE ? "the snapshot" : "resource ",
                     over.pos == WORLD_NONE ? "" : w->resources[over.pos].id,
                     amount_value(w, over.amount, over.capacity),
                     amount_value(w, over.amount, over.most));
}

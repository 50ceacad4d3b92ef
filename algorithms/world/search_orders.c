/* world/search_orders.c - mct in better orders. */
#include "algorithms/world/list.h"
#include "algorithms/world/search_parts.h"

#include <stdlib.h>
#include <string.h>

#define LATE_SHARE   0.97 /* of the last finish: who ends behind it comes forward */
#define LATE_CHANCE  0.7
#define OTHER_CHANCE 0.02

struct keyed {
    double key; /* largest first */
    size_t job;
};

struct order_search {
    struct world_searching *x;
    double *key, *tried;
    struct keyed *sorted;
    size_t *order;
    struct world_copy plan; /* of `key` */
};

static int by_key(const void *a, const void *b)
{
    const struct keyed *x = a, *y = b;

    if (x->key != y->key)
        return x->key > y->key ? -1 : 1;
    return (x->job > y->job) - (x->job < y->job);
}

struct order_search *order_search_create(struct world_searching *x)
{
    const struct world *w = x->b->w;
    struct order_search *o = NEW(x->a, struct order_search, 1);

    *o = (struct order_search){.x = x,
                               .key = NEW(x->a, double, w->job_count),
                               .tried = NEW(x->a, double, w->job_count),
                               .sorted = NEW(x->a, struct keyed, w->job_count),
                               .order = NEW(x->a, size_t, w->job_count),
                               .plan = world_copy_create(x->b, x->a)};
    world_copy_save(&o->plan, x->b);
    o->plan.worth = x->best.worth;
    for (size_t i = 0; i < o->plan.count; i++)
        o->key[o->plan.sequence[i]] = (double)(w->job_count - i);
    return o;
}

static double last_finish_s(const struct order_search *o)
{
    double last_s = 0;

    for (size_t i = 0; i < o->plan.count; i++)
        last_s = fmax(last_s, o->plan.placed[o->plan.sequence[i]].done_s);
    return last_s;
}

static void change_keys(struct order_search *o)
{
    const struct world *w = o->x->b->w;
    struct rng *r = &o->x->rng;
    double count = (double)w->job_count, late_s = LATE_SHARE * last_finish_s(o);

    for (size_t i = 0; i < w->job_count; i++) {
        const struct world_placed *p = &o->plan.placed[i];
        bool is_late = p->positions && p->done_s > late_s;
        double u;

        o->tried[i] = o->key[i];
        if (rng_uniform(r) >= (is_late ? LATE_CHANCE : OTHER_CHANCE))
            continue;
        u = rng_uniform(r);
        o->tried[i] += is_late ? count * (0.02 + 0.3 * u * u) : 0.2 * count * (u - 0.5);
    }
}

static void decode(struct order_search *o)
{
    struct board *b = o->x->b;
    size_t count = b->w->job_count;

    for (size_t i = 0; i < count; i++)
        o->sorted[i] = (struct keyed){o->tried[i], i};
    qsort(o->sorted, count, sizeof(*o->sorted), by_key);
    for (size_t i = 0; i < count; i++)
        o->order[i] = o->sorted[i].job;
    board_reset(b);
    world_list(b, WORLD_MCT, o->order, 1);
}

void order_search_run(struct order_search *o)
{
    struct world_searching *x = o->x;
    const struct world *w = x->b->w;

    do {
        struct world_worth worth;
        double *kept = o->key;

        change_keys(o);
        decode(o);
        if (board_tick(x->b)) { /* perhaps in the middle of the plan */
            x->s->cut = true;
            return;
        }
        x->s->steps += w->job_count;
        world_search_worth(x, &worth);
        if (world_compare(x->s->goal, &worth, &o->plan.worth) > 0)
            continue;
        o->key = o->tried;
        o->tried = kept;
        world_copy_save(&o->plan, x->b);
        o->plan.worth = worth;
        world_search_keep(x, &worth);
    } while (!world_search_is_over(x, 0));
}

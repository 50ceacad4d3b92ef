/* world/search_orders.c - mct in better orders.
 *
 * Where resources have a price that the goal counts (cost, energy, their number), least
 * completion times never go to the cheap ones. There jobs may be tied to a resource: they
 * come first, in the order of their keys. The search starts with each job where it is
 * cheapest alone, then with as many as can be on one resource, and changes some ties at
 * random.
 *
 * Source: world-model.md 4.4; ties: ours.
 */
#include "algorithms/world/list.h"
#include "algorithms/world/search_parts.h"

#include <stdlib.h>
#include <string.h>

#define LATE_SHARE   0.97 /* of the last finish: who ends behind it comes forward */
#define LATE_CHANCE  0.7
#define OTHER_CHANCE 0.02
#define LOOSE_CHANCE 0.1 /* of a tie that changes: the job goes where it ends first */

enum { TIED_STARTS_MAX = 16, TIES_CHANGED_MAX = 3 };

struct keyed {
    double key; /* largest first */
    size_t job;
};

struct order_search {
    struct world_searching *x;
    double *key, *tried;
    struct keyed *sorted;
    size_t *order;
    size_t *tie, *tried_tie; /* by job: a position, WORLD_NONE; NULL: nothing is tied */
    struct world_copy plan;  /* of `key` and `tie` */
};

static bool counts_resources(const struct world_goal *goal)
{
    for (size_t k = 0; k < goal->level_count; k++)
        if (goal->level[k] == OBJECTIVE_COST || goal->level[k] == OBJECTIVE_ENERGY ||
            goal->level[k] == OBJECTIVE_NODES_USED)
            return true;
    return false;
}

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
    if (counts_resources(x->s->goal) && w->resource_count > 0) {
        o->tie = NEW(x->a, size_t, w->job_count);
        o->tried_tie = NEW(x->a, size_t, w->job_count);
        for (size_t i = 0; i < w->job_count; i++)
            o->tie[i] = WORLD_NONE;
    }
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

/* ---- ties ---- */

/* The job's first choice with the position; choice_count: none. */
static size_t choice_at(const struct world_job *j, size_t position)
{
    size_t c = 0;

    while (c < j->choice_count && !world_mask_has(j->choices[c].mask, position))
        c++;
    return c;
}

static bool may_be_tied(const struct world *w, size_t job, size_t position)
{
    const struct world_job *j = &w->jobs[job];

    return j->nodes == 1 && j->group == WORLD_NONE && j->barred == WORLD_WAIT_NONE &&
           world_run_s(w, j, position) < HUGE_VAL && world_large_enough(w, j, position) &&
           choice_at(j, position) < j->choice_count;
}

/* What the job costs there when it is alone; of the goal's first such level. */
static double price_at(const struct order_search *o, size_t job, size_t position)
{
    const struct world *w = o->x->b->w;
    const struct world_goal *goal = o->x->s->goal;
    const struct world_resource *r = &w->resources[position];
    const struct world_job *j = &w->jobs[job];
    double run_s = world_run_s(w, j, position);
    double cpus = amount_value(w, AMOUNT_CPUS, j->needs[AMOUNT_CPUS]);

    for (size_t k = 0; k < goal->level_count; k++) {
        if (goal->level[k] == OBJECTIVE_COST)
            return run_s * (r->price_per_s + cpus * r->price_per_cpu_s);
        if (goal->level[k] == OBJECTIVE_ENERGY)
            return run_s * (r->power_node_w + cpus * r->power_per_cpu_w);
    }
    return (double)position; /* the fewer, the better: the first that will do */
}

static void tie_cheapest(struct order_search *o)
{
    const struct world *w = o->x->b->w;

    for (size_t i = 0; i < w->job_count; i++) {
        double least = HUGE_VAL;

        o->tried_tie[i] = WORLD_NONE;
        for (size_t p = 0; p < w->resource_count; p++) {
            budget_step(w->budget, w->node_amount_count);
            if (!may_be_tied(w, i, p) || price_at(o, i, p) >= least)
                continue;
            least = price_at(o, i, p);
            o->tried_tie[i] = p;
        }
    }
}

static void tie_to_one(struct order_search *o, size_t position)
{
    const struct world *w = o->x->b->w;

    for (size_t i = 0; i < w->job_count; i++) {
        budget_step(w->budget, w->node_amount_count);
        if (may_be_tied(w, i, position))
            o->tried_tie[i] = position;
    }
}

static void change_ties(struct order_search *o)
{
    const struct world *w = o->x->b->w;
    struct rng *r = &o->x->rng;

    memcpy(o->tried_tie, o->tie, w->job_count * sizeof(*o->tie));
    for (size_t k = rng_index(r, TIES_CHANGED_MAX + 1); k > 0; k--) {
        size_t job = rng_index(r, w->job_count), other = rng_index(r, w->job_count);
        size_t position = rng_index(r, w->resource_count);
        const struct world_placed *at = &o->plan.placed[other];
        double u = rng_uniform(r);

        if (u > 0.5 && at->positions) /* where another one is */
            position = at->positions[0];
        if (u < LOOSE_CHANCE)
            o->tried_tie[job] = WORLD_NONE;
        else if (may_be_tied(w, job, position))
            o->tried_tie[job] = position;
    }
}

/* Those that are tied and wait for nobody without a place. */
static void place_tied(struct order_search *o)
{
    struct board *b = o->x->b;

    for (size_t i = 0; i < b->w->job_count; i++) {
        size_t job = o->order[i], position = o->tried_tie[job];
        struct board_spot spot;

        if (position == WORLD_NONE || !board_is_due(b, job))
            continue;
        spot = board_fit(b, job, choice_at(&b->w->jobs[job], position), position, 0,
                         HUGE_VAL);
        if (spot.done_s < HUGE_VAL)
            board_take(b, job, &spot);
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
    if (o->tie)
        place_tied(o);
    world_list(b, WORLD_MCT, o->order, 1);
}

/* Makes the plan, and goes on from it unless it is worse; false: the time is up, perhaps
 * in the middle of the plan. */
static bool try_plan(struct order_search *o)
{
    struct world_searching *x = o->x;
    double *key = o->key;
    size_t *tie = o->tie;
    struct world_worth worth;

    decode(o);
    if (board_tick(x->b)) {
        x->s->cut = true;
        return false;
    }
    x->s->steps += x->b->w->job_count;
    world_search_worth(x, &worth);
    if (world_compare(x->s->goal, &worth, &o->plan.worth) > 0)
        return true;
    o->key = o->tried;
    o->tried = key;
    o->tie = o->tried_tie;
    o->tried_tie = tie;
    world_copy_save(&o->plan, x->b);
    o->plan.worth = worth;
    world_search_keep(x, &worth);
    return true;
}

/* Cheap plans to go on from; false: the search is over. */
static bool start_tied(struct order_search *o)
{
    const struct world *w = o->x->b->w;
    size_t starts =
        w->resource_count < TIED_STARTS_MAX ? w->resource_count : TIED_STARTS_MAX;

    for (size_t k = 0; k <= starts; k++) {
        memcpy(o->tried, o->key, w->job_count * sizeof(*o->key));
        tie_cheapest(o);
        if (k > 0)
            tie_to_one(o, k - 1);
        if (!try_plan(o) || world_search_is_over(o->x, 0))
            return false;
    }
    return true;
}

void order_search_run(struct order_search *o)
{
    if (o->tie && !start_tied(o))
        return;
    do {
        change_keys(o);
        if (o->tie)
            change_ties(o);
        if (!try_plan(o))
            return;
    } while (!world_search_is_over(o->x, 0));
}

/* world/search_pack.c - all jobs by a time before the best plan ends.
 *
 * Some jobs have no place yet that ends by the time wanted. Again and again some
 * jobs leave a few resources that a job without a place may use, and go back there
 * together with those that had none, the hardest first, each to the cheapest of these
 * resources that ends it in time: amounts that many jobs press for have a high price, so
 * that a job which needs no GPU leaves the resources with GPUs to those that do. Kept if
 * what has no place then weighs less, sometimes if it weighs a little more; jobs get
 * heavier while they have none. When all have a place the time wanted falls, by smaller
 * steps after failures.
 *
 * Cost: a try looks at the jobs of RUINED_MAX resources and at those without a place.
 *
 * Ours; the idea of ruin and recreate is Schrimpf, Schneider, Stamm-Wilbrandt and Dueck
 * (2000), that of missing jobs which weigh what they miss Christiaens and Vanden Berghe
 * (2020).
 */
#include "algorithms/world/search_parts.h"

#include <stdlib.h>
#include <string.h>

#define KEY_NOISE  1.0    /* of how hard a job is */
#define COST_NOISE 0.1    /* of what a resource costs */
#define LEAVES     0.4    /* chance of a job to leave its resource */
#define HEAT       0.02   /* of what the missing jobs weigh: worse that is kept */
#define HEAVIER    0.1    /* a missing job, by its first weight, each time */
#define STEP_FIRST 0.04   /* of the makespan: how much earlier */
#define STEP_LEAST 0.0005 /* ... at least */

enum {
    RUINED_MAX = 3,
    DRAWS_MAX = 12,
    VAIN_MAX = 1000 /* tries before the step is halved */
};

struct hard {
    double key; /* largest first */
    size_t job;
    struct board_spot was; /* nowhere: had no place */
};

struct pack_search {
    struct world_searching *x;
    double *price;  /* [position * row_count + row]: of a unit for a second of work */
    double *key;    /* by job: how hard, the share that it takes of all it may use */
    double *weight; /* by job, of having no place */
    struct hard *pool;
    size_t pool_count;
    size_t ruined[RUINED_MAX], ruined_count; /* positions */
    size_t *first;         /* job by position; behind all: without one */
    size_t *next, *before; /* by job; WORLD_NONE: none */
    size_t missing_count;
    double by_s, missing; /* the time wanted; what has no place by then */
    double step;
    size_t vain;
};

static double *price_at(const struct pack_search *p, size_t position)
{
    return p->price + position * p->x->b->row_count;
}

static bool is_limited(const struct board *b, size_t position, size_t row)
{
    int64_t capacity = b->w->resources[position].capacity[b->rows[row]];

    return capacity > 0 && capacity < AMOUNT_UNLIMITED;
}

static double speed_of(const struct world *w, size_t position)
{
    return fmax(w->resources[position].speed, 1e-12);
}

/* Seconds at speed 1. */
static double work_of(const struct world *w, size_t job, size_t position)
{
    return world_run_s(w, &w->jobs[job], position) * speed_of(w, position);
}

struct masked {
    const uint64_t *mask; /* of the first choice */
    size_t job;
};

static int by_mask(const void *a, const void *b)
{
    const struct masked *x = a, *y = b;

    if (x->mask != y->mask)
        return (uintptr_t)x->mask < (uintptr_t)y->mask ? -1 : 1;
    return (x->job > y->job) - (x->job < y->job);
}

/* By job: the first one with the same first choice, so that choices are looked at once,
 * in the order of jobs. */
static size_t *find_leaders(const struct world *w, struct arena *a)
{
    struct masked *sorted = NEW(a, struct masked, w->job_count);
    size_t *leader = NEW(a, size_t, w->job_count), first = 0;

    for (size_t j = 0; j < w->job_count; j++)
        sorted[j] = (struct masked){
            w->jobs[j].choice_count ? w->jobs[j].choices[0].mask : NULL, j};
    qsort(sorted, w->job_count, sizeof(*sorted), by_mask);
    for (size_t i = 0; i < w->job_count; i++) {
        if (sorted[i].mask != sorted[first].mask)
            first = i;
        leader[sorted[i].job] = sorted[first].job;
    }
    budget_step(w->budget, 2 * w->job_count);
    return leader;
}

/* What the resources of the mask have of each row, in seconds of work at speed 1. */
static void add_up(const struct board *b, const uint64_t *mask, double *sums)
{
    const struct world *w = b->w;

    for (size_t i = 0; i < w->resource_count; i++)
        for (size_t k = 0; world_mask_has(mask, i) && k < b->row_count; k++)
            if (is_limited(b, i, k))
                sums[k] += (double)w->resources[i].capacity[b->rows[k]] * speed_of(w, i);
    budget_step(w->budget, w->resource_count * b->row_count);
}

/* The load is on all resources of the mask. */
static void press(struct pack_search *p, const uint64_t *mask, const double *loads)
{
    const struct board *b = p->x->b;

    for (size_t i = 0; i < b->w->resource_count; i++)
        for (size_t k = 0; world_mask_has(mask, i) && k < b->row_count; k++)
            if (is_limited(b, i, k))
                price_at(p, i)[k] += loads[k];
    budget_step(b->w->budget, b->w->resource_count * b->row_count);
}

/* Each job spreads its work over what its first choice has, in proportion: how hard it
 * is, and the pressure on the amounts of each resource. */
static void find_pressure(struct pack_search *p)
{
    const struct board *b = p->x->b;
    const struct world *w = b->w;
    size_t *leader = find_leaders(w, p->x->a), rows = b->row_count;
    double *sums = NEW(p->x->a, double, w->job_count *rows);
    double *loads = NEW(p->x->a, double, w->job_count *rows);

    for (size_t j = 0; j < w->job_count; j++) {
        size_t at = leader[j] * rows;

        if (leader[j] == j && w->jobs[j].choice_count)
            add_up(b, w->jobs[j].choices[0].mask, sums + at);
        if (b->state[j] != BOARD_PLACED)
            continue;
        for (size_t k = 0; k < rows; k++) {
            double load = sums[at + k] > 0
                              ? (double)w->jobs[j].needs[b->rows[k]] *
                                    work_of(w, j, b->plan.placed[j].positions[0]) /
                                    sums[at + k]
                              : 0;

            loads[at + k] += load;
            p->key[j] = fmax(p->key[j], load);
        }
        budget_step(w->budget, rows);
    }
    for (size_t j = 0; j < w->job_count; j++)
        if (leader[j] == j && w->jobs[j].choice_count)
            press(p, w->jobs[j].choices[0].mask, loads + j * rows);
}

/* Prices from pressures: of a unit, by how much of it there is in all. */
static void find_prices(struct pack_search *p)
{
    const struct board *b = p->x->b;
    const struct world *w = b->w;
    double most = 0;

    for (size_t i = 0; i < w->resource_count * b->row_count; i++)
        most = fmax(most, p->price[i]);
    for (size_t k = 0; k < b->row_count; k++) {
        double total = 0;

        for (size_t i = 0; i < w->resource_count; i++)
            if (is_limited(b, i, k))
                total += (double)w->resources[i].capacity[b->rows[k]];
        for (size_t i = 0; i < w->resource_count; i++) {
            double share = most > 0 ? price_at(p, i)[k] / most : 0;

            price_at(p, i)[k] = total > 0 ? share * share / total : 0;
        }
        budget_step(w->budget, 2 * w->resource_count);
    }
}

/* Only amounts of the resource itself decide when a job starts. */
static bool is_alone(const struct board *b, size_t job)
{
    const struct world *w = b->w;
    const struct world_job *j = &w->jobs[job];

    for (size_t k = w->node_amount_count; k < w->amount_count; k++)
        if (j->needs[k] > 0)
            return false;
    return j->nodes == 1 && j->after_count == 0 && j->group == WORLD_NONE &&
           !world_is_limited(j) && j->stage_out_s <= 0;
}

struct pack_search *pack_search_create(struct world_searching *x)
{
    const struct board *b = x->b;
    const struct world *w = b->w;
    struct pack_search *p;

    if (b->files || w->resource_count < 2 || x->s->goal->level[0] != OBJECTIVE_MAKESPAN)
        return NULL;
    for (size_t i = 0; i < w->job_count; i++) {
        budget_step(w->budget, w->amount_count);
        if (b->state[i] == BOARD_PLACED && !is_alone(b, i))
            return NULL;
    }
    p = NEW(x->a, struct pack_search, 1);
    *p = (struct pack_search){
        .x = x,
        .price = NEW(x->a, double, w->resource_count * b->row_count),
        .key = NEW(x->a, double, w->job_count),
        .weight = NEW(x->a, double, w->job_count),
        .pool = NEW(x->a, struct hard, w->job_count),
        .first = NEW(x->a, size_t, w->resource_count + 1),
        .next = NEW(x->a, size_t, w->job_count),
        .before = NEW(x->a, size_t, w->job_count),
        .step = STEP_FIRST,
    };
    find_pressure(p);
    find_prices(p);
    for (size_t i = 0; i < w->job_count; i++)
        p->weight[i] = p->key[i] = fmax(p->key[i], 1e-9);
    return p;
}

static int by_key(const void *a, const void *b)
{
    const struct hard *x = a, *y = b;

    if (x->key != y->key)
        return x->key > y->key ? -1 : 1;
    return (x->job > y->job) - (x->job < y->job);
}

/* The choice of the job that has the position; WORLD_NONE: it may not go there. */
static size_t choice_of(const struct board *b, size_t job, size_t position)
{
    for (size_t c = 0; c < b->w->jobs[job].choice_count; c++)
        if (board_may_use(b, job, c, position))
            return c;
    return WORLD_NONE;
}

/* What the job costs there, with noise. */
static double cost_of(struct pack_search *p, size_t job, size_t position)
{
    const struct board *b = p->x->b;
    double sum = 0;

    for (size_t k = 0; k < b->row_count; k++)
        sum += price_at(p, position)[k] * (double)b->w->jobs[job].needs[b->rows[k]];
    return sum * work_of(b->w, job, position) *
           (1 + COST_NOISE * rng_uniform(&p->x->rng));
}

/* Its place there if it ends in time. */
static struct board_spot spot_of(struct pack_search *p, size_t job, size_t position)
{
    struct board *b = p->x->b;
    size_t choice = choice_of(b, job, position);
    struct board_spot spot = board_nowhere();
    double latest_s;

    p->x->s->steps++;
    if (choice == WORLD_NONE)
        return spot;
    latest_s = board_latest_s(p->by_s, world_run_s(b->w, &b->w->jobs[job], position));
    if (latest_s >= 0)
        spot =
            board_fit_there(b, job, choice, position, board_release_s(b, job), latest_s);
    return spot.positions && spot.done_s > p->by_s ? board_nowhere() : spot;
}

static size_t where(const struct pack_search *p, size_t job)
{
    const struct board *b = p->x->b;

    return b->state[job] == BOARD_PLACED ? b->plan.placed[job].positions[0]
                                         : b->w->resource_count;
}

static void list_add(struct pack_search *p, size_t job)
{
    size_t *first = &p->first[where(p, job)];

    p->before[job] = WORLD_NONE;
    p->next[job] = *first;
    if (*first != WORLD_NONE)
        p->before[*first] = job;
    *first = job;
}

static void list_remove(struct pack_search *p, size_t job)
{
    if (p->before[job] != WORLD_NONE)
        p->next[p->before[job]] = p->next[job];
    else
        p->first[where(p, job)] = p->next[job];
    if (p->next[job] != WORLD_NONE)
        p->before[p->next[job]] = p->before[job];
}

static void take(struct pack_search *p, size_t job, const struct board_spot *spot)
{
    list_remove(p, job);
    board_take(p->x->b, job, spot);
    list_add(p, job);
    p->missing_count--;
}

static void give(struct pack_search *p, size_t job)
{
    list_remove(p, job);
    board_give(p->x->b, job);
    list_add(p, job);
    p->missing_count++;
}

/* To the cheapest of the ruined resources that end it in time; false: none does. */
static bool pack_one(struct pack_search *p, size_t job)
{
    struct board_spot best = board_nowhere();
    double least = HUGE_VAL;

    for (size_t i = 0; i < p->ruined_count; i++) {
        double cost = cost_of(p, job, p->ruined[i]);
        struct board_spot spot = board_nowhere();

        if (cost < least)
            spot = spot_of(p, job, p->ruined[i]);
        if (!spot.positions)
            continue;
        least = cost;
        best = spot;
    }
    if (best.positions)
        take(p, job, &best);
    return best.positions;
}

/* The jobs of the pool, hardest first; what those without a place weigh. */
static double build(struct pack_search *p)
{
    double missing = 0;

    for (size_t i = 0; i < p->pool_count; i++)
        p->pool[i].key =
            p->key[p->pool[i].job] * (1 + KEY_NOISE * rng_uniform(&p->x->rng));
    qsort(p->pool, p->pool_count, sizeof(*p->pool), by_key);
    for (size_t i = 0; i < p->pool_count; i++) {
        if (!pack_one(p, p->pool[i].job))
            missing += p->weight[p->pool[i].job];
        board_tick(p->x->b); /* who calls asks whether it is over */
    }
    return missing;
}

/* All by then: jobs that end later lose their places. */
static void want(struct pack_search *p, double by_s)
{
    struct board *b = p->x->b;

    p->by_s = by_s;
    p->missing = 0;
    for (size_t i = 0; i < b->w->job_count; i++) {
        if (b->state[i] == BOARD_PLACED && b->plan.placed[i].done_s > by_s)
            give(p, i);
        if (b->state[i] == BOARD_OPEN)
            p->missing += p->weight[i];
    }
    p->x->s->steps += b->w->job_count;
    budget_step(b->w->budget, b->w->job_count);
}

static size_t draw_missing(struct pack_search *p)
{
    size_t job = p->first[p->x->b->w->resource_count];

    for (size_t i = rng_index(&p->x->rng, p->missing_count); i > 0; i--)
        job = p->next[job];
    budget_step(p->x->b->w->budget, p->missing_count);
    return job;
}

/* Any resource of the choice. */
static size_t draw_position(struct pack_search *p, const struct world_choice *c)
{
    size_t left = rng_index(&p->x->rng, c->count), word = 0, bit = 0;

    while (left >= (size_t)__builtin_popcountll(c->mask[word]))
        left -= (size_t)__builtin_popcountll(c->mask[word++]);
    for (; !(c->mask[word] >> bit & 1) || left-- > 0; bit++)
        ;
    budget_step(p->x->b->w->budget, word + 1);
    return 64 * word + bit;
}

static bool is_ruined(const struct pack_search *p, size_t position)
{
    for (size_t i = 0; i < p->ruined_count; i++)
        if (p->ruined[i] == position)
            return true;
    return false;
}

/* Up to RUINED_MAX resources that the job may go to. */
static void draw_ruined(struct pack_search *p, size_t job)
{
    const struct world_job *j = &p->x->b->w->jobs[job];
    size_t wanted = 1 + rng_index(&p->x->rng, RUINED_MAX);

    p->ruined_count = 0;
    for (size_t i = 0; i < DRAWS_MAX && p->ruined_count < wanted; i++) {
        size_t choice = rng_index(&p->x->rng, j->choice_count), at;

        if (j->choices[choice].count == 0)
            continue;
        at = draw_position(p, &j->choices[choice]);
        if (!is_ruined(p, at) && board_may_use(p->x->b, job, choice, at))
            p->ruined[p->ruined_count++] = at;
    }
}

static void leave(struct pack_search *p, size_t job)
{
    p->pool[p->pool_count].job = job;
    p->pool[p->pool_count++].was = board_spot_of(&p->x->b->plan.placed[job]);
    give(p, job);
}

/* Some jobs of some resources leave; the pool has these and all without a place. */
static void ruin(struct pack_search *p)
{
    size_t none = p->x->b->w->resource_count;

    draw_ruined(p, draw_missing(p));
    p->pool_count = 0;
    for (size_t j = p->first[none]; j != WORLD_NONE; j = p->next[j])
        p->pool[p->pool_count++] = (struct hard){0, j, board_nowhere()};
    for (size_t i = 0; i < p->ruined_count; i++)
        for (size_t j = p->first[p->ruined[i]], next; j != WORLD_NONE; j = next) {
            next = p->next[j];
            if (rng_uniform(&p->x->rng) < LEAVES)
                leave(p, j);
        }
    budget_step(p->x->b->w->budget, 4 * p->pool_count);
}

static void undo(struct pack_search *p)
{
    struct board *b = p->x->b;

    for (size_t i = 0; i < p->pool_count; i++)
        if (b->state[p->pool[i].job] == BOARD_PLACED)
            give(p, p->pool[i].job);
    for (size_t i = 0; i < p->pool_count; i++)
        if (p->pool[i].was.positions)
            take(p, p->pool[i].job, &p->pool[i].was);
}

/* Jobs that have no place still weigh more. */
static void weigh(struct pack_search *p)
{
    p->missing = 0;
    for (size_t i = 0; i < p->pool_count; i++) {
        size_t job = p->pool[i].job;

        if (p->x->b->state[job] != BOARD_OPEN)
            continue;
        p->weight[job] += HEAVIER * p->key[job];
        p->missing += p->weight[job];
    }
}

static void list_all(struct pack_search *p)
{
    const struct board *b = p->x->b;

    for (size_t i = 0; i <= b->w->resource_count; i++)
        p->first[i] = WORLD_NONE;
    p->missing_count = 0;
    for (size_t i = 0; i < b->w->job_count; i++) {
        if (b->state[i] == BOARD_REFUSED)
            continue;
        list_add(p, i);
        p->missing_count += b->state[i] == BOARD_OPEN;
    }
    budget_step(b->w->budget, b->w->job_count);
}

void pack_search_run(struct pack_search *p)
{
    struct world_searching *x = p->x;
    struct world_worth worth;
    struct buckets *buckets = x->b->buckets;

    x->b->buckets = NULL; /* nobody asks them here, and giving places back costs them */
    list_all(p);
    want(p, x->best.worth.value[0] * (1 - p->step));
    while (!world_search_is_over(x, 0)) {
        if (p->missing > 0) {
            ruin(p);
            if (build(p) > p->missing * (1 + HEAT * rng_uniform(&x->rng)))
                undo(p);
            weigh(p);
        }
        if (p->missing > 0) {
            if (++p->vain < VAIN_MAX)
                continue;
            p->step = fmax(p->step / 2, STEP_LEAST);
        } else {
            world_search_worth(x, &worth);
            world_search_keep(x, &worth);
        }
        p->vain = 0;
        want(p, x->best.worth.value[0] * (1 - p->step));
    }
    x->b->buckets = buckets; /* who calls resets the board */
}

/* world/bounds_dual.c - what does not fit side by side.
 *
 * A function of shares of a resource is dual feasible if shares that fit together still
 * do after it. So jobs may count as larger than they are:
 *
 *     f_e(x) = 1 if x > 1 - e, 0 if x < e, else x         (0 < e <= 1/2)
 *     u_q(x) = x if (q + 1) x is whole, else floor((q + 1) x) / q
 *
 * For each amount and each size of a resource: the jobs that can only go to resources of
 * that size, with their needs so changed, and what is held changed likewise. The only e
 * that matter are a need (smaller jobs vanish) and just enough to make a need 1.
 *
 * Source: world-model.md 5.3 (c). Deviation: e is 1 - need and one unit more, where the
 * specification has 1 - need: then that need itself is rounded up.
 * Cost: O(jobs log jobs + functions * (jobs + holders)) for each size.
 */
#include "algorithms/world/prices.h"

#include <stdlib.h>
#include <string.h>

enum { EDGES_MAX = 64, Q_MAX = 5, SIZES_MAX = 64 };

struct dual_function {
    int64_t edge; /* e, in units */
    uint64_t q;   /* > 0: u_q */
};

/* A job and the one size of resources it can go to. */
struct sized {
    int64_t size;
    size_t row;
};

/* A holder begins or ends on a resource. */
struct hold {
    double at_s;
    size_t position;
    const struct world_holder *holder;
    bool begins;
};

/* What is held on a resource, in shares of it. */
struct held {
    double share;
    size_t closed;
    double rest; /* that counts now */
};

struct dual {
    struct bounds_field *f;
    const struct price_groups *g;
    size_t amount;
    int64_t size;
    const struct sized *jobs;
    size_t job_count;
    bool by_speed;
    size_t *positions;
    size_t position_count;
    struct hold *holds;
    size_t hold_count;
    struct held *held; /* by position */
    double *value;     /* by row */
    size_t *by_head;   /* rows of the jobs, by falling head */
    bool *in;          /* by row: one of the jobs */
};

static double share_of(const struct dual_function *fn, int64_t size, int64_t need)
{
    uint64_t many, whole, times;

    if (fn->q == 0) {
        if (need > size - fn->edge)
            return 1;
        return need < fn->edge ? 0 : (double)need / (double)size;
    }
    many = (fn->q + 1) * (uint64_t)need;
    whole = (uint64_t)size;
    if (many % whole == 0)
        return (double)need / (double)size;
    times = many / whole;
    return (double)times / (double)fn->q;
}

/* ---- what is held ---- */

static int by_time(const void *a, const void *b)
{
    const struct hold *x = a, *y = b;

    return (x->at_s > y->at_s) - (x->at_s < y->at_s);
}

static void list_holds(struct dual *d)
{
    const struct world *w = d->f->w;
    size_t count = 0;

    for (size_t i = 0; i < d->position_count; i++)
        count += 2 * w->resources[d->positions[i]].holder_count;
    d->hold_count = 0;
    d->holds = NEW(d->f->arena, struct hold, count);
    for (size_t i = 0; i < d->position_count; i++) {
        const struct world_resource *r = &w->resources[d->positions[i]];

        for (size_t h = 0; h < r->holder_count; h++) {
            const struct world_holder *holder = &w->holders[r->holders[h]];
            double start_s = fmax(holder->start_s, 0);

            if (!(start_s < holder->end_s))
                continue;
            d->holds[d->hold_count++] =
                (struct hold){start_s, d->positions[i], holder, true};
            if (holder->end_s < HUGE_VAL)
                d->holds[d->hold_count++] =
                    (struct hold){holder->end_s, d->positions[i], holder, false};
        }
    }
    qsort(d->holds, d->hold_count, sizeof(*d->holds), by_time);
}

/* The change of the rate. */
static double apply(struct dual *d, const struct dual_function *fn, const struct hold *e)
{
    struct held *held = &d->held[e->position];
    int64_t need = e->holder->amounts ? e->holder->amounts[d->amount] : 0;
    double share = need > 0 ? share_of(fn, d->size, need) : 0, before = held->rest;

    if (e->begins)
        held->closed += e->holder->all;
    else
        held->closed -= e->holder->all;
    held->share += e->begins ? share : -share;
    /* Shares are sums of doubles: never a trifle too little is free. */
    held->rest = held->closed > 0 ? 0 : fmax(0, fmin(1, 1 - held->share + 1e-12));
    return (held->rest - before) * bounds_omega(d->f->w, e->position, d->by_speed);
}

static bool make_curve(struct dual *d, const struct dual_function *fn,
                       struct price_curve *out)
{
    const struct bounds_field *f = d->f;
    struct price_sum sum;
    long double rate = 0;
    size_t i = 0;

    for (size_t p = 0; p < d->position_count; p++) {
        d->held[d->positions[p]] = (struct held){.rest = 1};
        rate += bounds_omega(f->w, d->positions[p], d->by_speed);
    }
    for (; i < d->hold_count && d->holds[i].at_s <= 0; i++)
        rate += apply(d, fn, &d->holds[i]);
    price_sum_begin(&sum, rate, d->hold_count, f->arena);
    for (; i < d->hold_count; i++) {
        double by = apply(d, fn, &d->holds[i]);

        if (by != 0)
            price_sum_change(&sum, d->holds[i].at_s, by);
    }
    *out = price_sum_end(&sum);
    return !budget_step(f->w->budget, 8 * d->hold_count + 2 * d->position_count);
}

/* ---- functions ---- */

static double bound_of(struct dual *d, const struct dual_function *fn)
{
    struct bounds_field *f = d->f;
    struct arena_mark mark = arena_mark(f->arena);
    struct price_curve curve;
    double bound_s = 0;

    for (size_t i = 0; i < d->job_count; i++) {
        const struct bounds_row *row = &f->rows[d->jobs[i].row];
        double run = (d->by_speed ? row->work : row->least_s) * (double)row->of->nodes;

        d->value[d->jobs[i].row] = share_of(fn, d->size, row->of->needs[d->amount]) * run;
    }
    if (make_curve(d, fn, &curve))
        bound_s = bounds_volume_s(f, d->by_head, d->job_count, d->value, &curve);
    arena_rewind(f->arena, mark);
    return budget_step(f->w->budget, 8 * d->job_count) ? 0 : bound_s;
}

static int by_amount(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/* At most EDGES_MAX of the e that matter, in units. */
static size_t choose_edges(const struct dual *d, int64_t *edges)
{
    struct arena_mark mark = arena_mark(d->f->arena);
    int64_t *all = NEW(d->f->arena, int64_t, d->job_count);
    size_t count = 0, different = 0, chosen = 0;

    for (size_t i = 0; i < d->job_count; i++) {
        int64_t need = d->f->rows[d->jobs[i].row].of->needs[d->amount];
        int64_t edge = need <= d->size / 2 ? need : d->size - need + 1;

        if (edge <= d->size / 2)
            all[count++] = edge;
    }
    qsort(all, count, sizeof(*all), by_amount);
    for (size_t i = 0; i < count; i++)
        if (different == 0 || all[different - 1] < all[i])
            all[different++] = all[i];
    for (size_t i = 0; i < different && i < EDGES_MAX; i++)
        edges[chosen++] =
            all[different <= EDGES_MAX ? i : i * (different - 1) / (EDGES_MAX - 1)];
    arena_rewind(d->f->arena, mark);
    return chosen;
}

/* Positions that any of the jobs may use. */
static void list_positions(struct dual *d)
{
    const struct price_groups *g = d->g;
    uint64_t used[GROUPS_MAX / 64] = {0};

    for (size_t i = 0; i < d->job_count; i++)
        for (size_t word = 0; word < g->words; word++)
            used[word] |= g->eligible[d->jobs[i].row * g->words + word];
    d->position_count = 0;
    for (size_t p = 0; p < d->f->w->resource_count; p++)
        if (used[g->of[p] / 64] >> (g->of[p] % 64) & 1)
            d->positions[d->position_count++] = p;
}

static void list_by_head(struct dual *d)
{
    size_t count = 0;

    for (size_t i = 0; i < d->job_count; i++)
        d->in[d->jobs[i].row] = true;
    for (size_t i = 0; i < d->f->row_count; i++)
        if (d->in[d->f->by_head[i]])
            d->by_head[count++] = d->f->by_head[i];
    for (size_t i = 0; i < d->job_count; i++)
        d->in[d->jobs[i].row] = false;
}

static double bound_of_size(struct dual *d)
{
    struct bounds_field *f = d->f;
    struct arena_mark mark = arena_mark(f->arena);
    int64_t edges[EDGES_MAX];
    size_t count = choose_edges(d, edges);
    double bound_s = 0;

    list_positions(d);
    list_holds(d);
    list_by_head(d);
    for (int speeds = 0; speeds < 2; speeds++) {
        d->by_speed = speeds > 0;
        if (d->by_speed ? !f->any_by_work : !f->any_by_time)
            continue;
        for (size_t i = 0; i < count; i++)
            bound_s = fmax(bound_s, bound_of(d, &(struct dual_function){edges[i], 0}));
        for (uint64_t q = 1; q <= Q_MAX; q++)
            bound_s = fmax(bound_s, bound_of(d, &(struct dual_function){0, q}));
        if (budget_step(f->w->budget, d->position_count + d->hold_count))
            break;
    }
    arena_rewind(f->arena, mark);
    return bound_s;
}

/* ---- sizes ---- */

/* The one size of the amount that all groups have which the row may use; 0: unlike ones,
 * or not limited. */
static int64_t size_of(const struct dual *d, size_t row)
{
    const struct price_groups *g = d->g;
    size_t amounts = d->f->w->node_amount_count;
    int64_t size = 0;

    for (size_t i = 0; i < g->count; i++) {
        int64_t largest = g->largest[i * amounts + d->amount];

        if (!price_group_has(g, row, i))
            continue;
        if (largest != g->smallest[i * amounts + d->amount] ||
            largest >= AMOUNT_UNLIMITED || (size > 0 && size != largest))
            return 0;
        size = largest;
    }
    return size;
}

static int by_size(const void *a, const void *b)
{
    const struct sized *x = a, *y = b;

    if (x->size != y->size)
        return x->size < y->size ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

static double bound_of_amount(struct dual *d, struct sized *jobs)
{
    const struct bounds_field *f = d->f;
    size_t count = 0, sizes = 0;
    double bound_s = 0;

    for (size_t r = 0; r < f->row_count; r++) {
        if (f->rows[r].of->needs[d->amount] > 0 && f->rows[r].least_s > 0)
            jobs[count] = (struct sized){size_of(d, r), r};
        else
            continue;
        count += jobs[count].size > 0;
        if (budget_step(f->w->budget, 2 * d->g->count))
            return 0;
    }
    qsort(jobs, count, sizeof(*jobs), by_size);
    for (size_t first = 0, i = 1; i <= count && sizes < SIZES_MAX; i++) {
        if (i < count && jobs[i].size == jobs[first].size)
            continue;
        d->size = jobs[first].size;
        d->jobs = jobs + first;
        d->job_count = i - first;
        bound_s = fmax(bound_s, bound_of_size(d));
        sizes++;
        first = i;
    }
    return bound_s;
}

double bounds_dual_s(struct bounds_field *f)
{
    struct dual d = {.f = f, .g = price_groups_of(f, false)};
    struct arena_mark mark;
    struct sized *jobs;
    double bound_s = 0;

    if (!d.g)
        return 0;
    mark = arena_mark(f->arena);
    d.positions = NEW(f->arena, size_t, f->w->resource_count);
    d.held = NEW(f->arena, struct held, f->w->resource_count);
    d.value = NEW(f->arena, double, f->row_count);
    d.by_head = NEW(f->arena, size_t, f->row_count);
    d.in = NEW(f->arena, bool, f->row_count);
    jobs = NEW(f->arena, struct sized, f->row_count + 1);
    for (d.amount = 0; d.amount < f->w->node_amount_count; d.amount++)
        if (f->needed[d.amount])
            bound_s = fmax(bound_s, bound_of_amount(&d, jobs));
    arena_rewind(f->arena, mark);
    return bound_s;
}

/* world/prices.c - the area under prices, and the prices of single amounts.
 *
 * Rates are summed with more digits than they are kept with, and a trifle of the highest
 * is added where anything changes: what is free must never come out too low.
 *
 * A resource on which an amount is not limited has no price for it; a job that may run on
 * `nodes` of such then has no value. Cost: O(resources + changes + jobs) for each choice.
 * Source: world-model.md 5.2.
 */
#include "algorithms/world/prices.h"

#include <string.h>

static const double RATE_SLACK =
    1e-12; /* of the highest rate, for the rounding of sums */

/* ---- the curve ---- */

static double price_of_step(const struct bounds_field *f, const struct world_prices *p,
                            size_t profile, const int64_t *free)
{
    const struct world *w = f->w;
    const double *price;
    double sum = 0;

    if (profile >= w->resource_count) {
        size_t k = w->node_amount_count + profile - w->resource_count;

        return p->shared && free[0] > 0 ? p->shared[k] * (double)free[0] : 0;
    }
    price = p->amount + p->column_of[profile] * w->node_amount_count;
    for (size_t k = 0; k < w->node_amount_count; k++)
        if (price[k] > 0 && free[k] > 0)
            sum += price[k] * (double)free[k];
    return sum * bounds_omega(w, profile, p->by_speed);
}

static const int64_t *free_at_first(const struct bounds_field *f, size_t profile)
{
    return f->free[profile].count > 0 ? f->free[profile].free
                                      : f->w->resources[profile].capacity;
}

static const int64_t *free_of(const struct bounds_field *f, size_t profile, size_t step)
{
    return f->free[profile].free + step * f->free[profile].amount_count;
}

void price_sum_begin(struct price_sum *s, long double rate, size_t change_count,
                     struct arena *a)
{
    size_t room = change_count + 1;

    s->curve = (struct price_curve){NEW(a, double, room), NEW(a, double, room),
                                    NEW(a, double, room), 1};
    s->rate = rate;
    s->curve.rate[0] = s->peak = (double)rate;
}

void price_sum_change(struct price_sum *s, double at_s, long double by)
{
    struct price_curve *c = &s->curve;

    s->rate += by;
    if (at_s > c->at_s[c->count - 1])
        c->at_s[c->count++] = at_s;
    c->rate[c->count - 1] = fmax((double)s->rate, 0);
    s->peak = fmax(s->peak, (double)s->rate);
}

struct price_curve price_sum_end(struct price_sum *s)
{
    struct price_curve *c = &s->curve;
    long double area = 0;

    for (size_t i = 0; i < c->count && c->count > 1; i++)
        c->rate[i] += RATE_SLACK * s->peak;
    for (size_t i = 1; i < c->count; i++) {
        area += (long double)c->rate[i - 1] * (c->at_s[i] - c->at_s[i - 1]);
        c->area[i] = (double)area;
    }
    return *c;
}

bool price_curve_make(const struct bounds_field *f, const struct world_prices *p,
                      struct price_curve *out)
{
    size_t cost = 4 * f->w->node_amount_count;
    struct price_sum sum;
    long double rate = 0;

    for (size_t i = 0; i < f->profile_count; i++) {
        rate += price_of_step(f, p, i, free_at_first(f, i));
        if (budget_step(f->w->budget, cost))
            return false;
    }
    price_sum_begin(&sum, rate, f->change_count, f->arena);
    for (size_t i = 0; i < f->change_count; i++) {
        const struct bounds_change *e = &f->changes[i];
        double before =
            price_of_step(f, p, e->profile, free_of(f, e->profile, e->step - 1));
        double after = price_of_step(f, p, e->profile, free_of(f, e->profile, e->step));

        if (budget_step(f->w->budget, cost))
            return false;
        if (before != after)
            price_sum_change(&sum, e->at_s, (long double)after - before);
    }
    *out = price_sum_end(&sum);
    return true;
}

/* The last step whose key is not above x. */
static size_t last_not_above(const double *key, size_t count, double x)
{
    size_t low = 0, high = count;

    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;

        if (key[middle] <= x)
            low = middle;
        else
            high = middle;
    }
    return low;
}

double price_curve_area(const struct price_curve *c, double t_s)
{
    size_t i = last_not_above(c->at_s, c->count, t_s);

    return c->area[i] + c->rate[i] * fmax(t_s - c->at_s[i], 0);
}

double price_curve_time_s(const struct price_curve *c, double area)
{
    size_t low = 0, high = c->count;

    if (!(area > 0))
        return 0;
    /* The first step that ends with enough. */
    while (low + 1 < high) {
        size_t middle = low + (high - low) / 2;

        if (c->area[middle] < area)
            low = middle;
        else
            high = middle;
    }
    return c->rate[low] > 0 ? c->at_s[low] + (area - c->area[low]) / c->rate[low]
                            : HUGE_VAL;
}

/* ---- single amounts ---- */

/* Who sees the prices of one choice after the other. */
struct singles {
    struct bounds_field *f;
    price_use_fn *use;
    void *context;
    size_t *column_of; /* 0: priced */
    double *amount;    /* two columns */
    double *shared;    /* by amount */
    double *value;     /* by row */
    size_t *inside;    /* by row: nodes that must be priced ones; see inside_of() */
};

/* How many of the job's nodes at least are among the resources with a price. */
static size_t inside_of(struct singles *s, const struct bounds_row *row)
{
    struct bounds_field *f = s->f;
    size_t outside = 0, seen = 0;

    if (f->looks > BOUNDS_LOOKS_MAX)
        return 0;
    for (; seen < f->w->resource_count && outside < row->of->nodes; seen++) {
        size_t position = f->by_speed[seen];
        bool usable = false;

        if (s->column_of[position] == 0)
            continue;
        for (size_t c = 0; c < row->of->choice_count && !usable; c++)
            usable = bounds_usable(f->w, row->of, &row->of->choices[c], position);
        outside += usable;
        budget_step(f->w->budget, 2);
    }
    f->looks += seen;
    return row->of->nodes - outside;
}

/* Amount k alone, on the resources with a price. */
static bool use_amount(struct singles *s, size_t k, bool by_speed)
{
    struct bounds_field *f = s->f;
    struct arena_mark mark = arena_mark(f->arena);
    struct price_curve curve;
    bool enough, any = false;

    for (size_t r = 0; r < f->row_count; r++) {
        const struct bounds_row *row = &f->rows[r];
        double run = by_speed ? row->work : row->least_s;

        s->value[r] = (double)s->inside[r] * (double)row->of->needs[k] * run;
        any |= s->value[r] > 0;
        if (budget_step(f->w->budget, 4))
            return true;
    }
    if (!any)
        return false;
    s->amount[k] = 1;
    enough = !price_curve_make(
                 f, &(struct world_prices){s->amount, s->column_of, s->shared, by_speed},
                 &curve) ||
             s->use(s->context, f, s->value, &curve);
    s->amount[k] = 0;
    arena_rewind(f->arena, mark);
    return enough;
}

/* Prices are on resources where k is limited and that have `named` (WORLD_NONE: all);
 * false: there are none, or all, or the budget was spent. */
static bool choose_resources(struct singles *s, size_t k, size_t named)
{
    const struct world *w = s->f->w;
    size_t priced = 0, having = 0;

    for (size_t i = 0; i < w->resource_count; i++) {
        const int64_t *capacity = w->resources[i].capacity;
        bool has = named == WORLD_NONE || capacity[named] > 0;

        having += has;
        s->column_of[i] = !(has && capacity[k] < AMOUNT_UNLIMITED);
        priced += s->column_of[i] == 0;
    }
    if (priced == 0 || (named != WORLD_NONE && priced == w->resource_count) ||
        budget_step(w->budget, 2 * w->resource_count))
        return false;
    for (size_t r = 0; r < s->f->row_count; r++) {
        const struct bounds_row *row = &s->f->rows[r];
        bool must =
            priced == having && (named == WORLD_NONE || row->of->needs[named] > 0);

        s->inside[r] = row->of->needs[k] <= 0 ? 0
                       : must                 ? row->of->nodes
                                              : inside_of(s, row);
        if (budget_step(w->budget, 2))
            return false;
    }
    return true;
}

static bool use_amount_of(struct singles *s, size_t k, size_t named)
{
    const struct bounds_field *f = s->f;

    if (!choose_resources(s, k, named))
        return budget_step(f->w->budget, 1);
    return (f->any_by_work && use_amount(s, k, true)) ||
           (f->any_by_time && use_amount(s, k, false));
}

static bool use_shared(struct singles *s, size_t k)
{
    struct bounds_field *f = s->f;
    struct arena_mark mark = arena_mark(f->arena);
    struct price_curve curve;
    bool enough;

    for (size_t r = 0; r < f->row_count; r++)
        s->value[r] = (double)f->rows[r].of->needs[k] * f->rows[r].least_s;
    if (budget_step(f->w->budget, 2 * f->row_count))
        return true;
    s->shared[k] = 1;
    enough = !price_curve_make(
                 f, &(struct world_prices){s->amount, s->column_of, s->shared, false},
                 &curve) ||
             s->use(s->context, f, s->value, &curve);
    s->shared[k] = 0;
    arena_rewind(f->arena, mark);
    return enough;
}

bool prices_of_single_amounts(struct bounds_field *f, price_use_fn *use, void *context)
{
    const struct world *w = f->w;
    struct singles s = {.f = f, .use = use, .context = context};
    bool enough = false;

    s.column_of = NEW(f->arena, size_t, w->resource_count);
    s.amount = NEW(f->arena, double, 2 * w->node_amount_count);
    s.shared = NEW(f->arena, double, w->amount_count);
    s.value = NEW(f->arena, double, f->row_count);
    s.inside = NEW(f->arena, size_t, f->row_count);
    for (size_t k = 0; k < w->node_amount_count && !enough; k++)
        enough = f->needed[k] && use_amount_of(&s, k, WORLD_NONE);
    for (size_t k = w->node_amount_count; k < w->amount_count && !enough; k++)
        enough =
            w->shared_capacity[k] < AMOUNT_UNLIMITED && f->needed[k] && use_shared(&s, k);
    for (size_t named = AMOUNT_NAMED; named < w->node_amount_count && !enough; named++)
        for (size_t k = 0; k < w->node_amount_count && !enough; k++)
            enough = k != named && f->needed[named] && f->needed[k] &&
                     use_amount_of(&s, k, named);
    return enough;
}

/* world/price_ascent.c - the best mixture of prices, by ascent.
 *
 * A column is an amount on a group of equal resources, or a shared amount. Prices are
 * kept so that a second of all that is free costs 1 in the mean over the time of a plan;
 * then the values of all jobs together are a makespan that no plan beats. Each step sends
 * every job to its cheapest groups and makes what is loaded beyond its share dearer:
 *
 *     price *= exp(eta * clip(load / (free * value) - 1, -1, 1)),   eta = 0.3 *
 * 0.985^step
 *
 * Above SAMPLE_FROM jobs a part of them is enough to find prices; what they prove is then
 * summed over all jobs.
 *
 * Cost: STEPS * jobs * columns, at most SAMPLE_FROM jobs; then once over all.
 * Source: world-model.md 5.2.
 */
#include "algorithms/world/prices.h"

#include <string.h>

enum { STEPS = 300, SAMPLE_FROM = 4000, SAMPLE = 2000, LOOKS_A_STEP = 4 * 1000 * 1000 };

static const double FIRST_ETA = 0.3, ETA_FALLS = 0.985;
static const double BEST_SHARE = 0.9, OTHER_SHARE = 0.05; /* prices at the start */
static const double PRICE_FLOOR = 1e-12;                  /* of a column's fair share */

struct ascent {
    struct bounds_field *f;
    const struct price_groups *g;
    bool by_speed;
    size_t *amounts; /* that are priced on nodes */
    size_t amount_count;
    size_t *shared; /* those that are priced */
    size_t shared_count;
    size_t group_count, column_count; /* groups * amounts + shared */
    double *free;                     /* by column, mean of what is free, times speed */
    double *unit;                     /* by column, 1 / free; 0: not priced */
    double *share;                    /* by column, of price * free; 1 in sum */
    double *best_share, *load;
    double *price; /* by column: share / free */
    double *cost;  /* room by group */

    size_t *sample; /* rows */
    size_t sample_count;
    double *time; /* [sample * group_count]: HUGE_VAL: cannot */
};

static void find_costs(const struct ascent *s, const struct bounds_row *row,
                       const double *time)
{
    memset(s->cost, 0, s->group_count * sizeof(*s->cost));
    for (size_t i = 0; i < s->amount_count; i++) {
        const double *price = s->price + i * s->group_count;
        double need = (double)row->of->needs[s->amounts[i]];

        if (!(need > 0))
            continue;
        for (size_t g = 0; g < s->group_count; g++)
            s->cost[g] += need * price[g];
    }
    for (size_t g = 0; g < s->group_count; g++)
        s->cost[g] = time[g] < HUGE_VAL ? s->cost[g] * time[g] : HUGE_VAL;
}

/* In lanes without an index, so that the processor can look at several at once. */
static size_t cheapest(const double *cost, size_t count)
{
    double lane[4] = {HUGE_VAL, HUGE_VAL, HUGE_VAL, HUGE_VAL}, least;
    size_t g = 0;

    for (; g + 4 <= count; g += 4)
        for (size_t i = 0; i < 4; i++)
            lane[i] = cost[g + i] < lane[i] ? cost[g + i] : lane[i];
    for (; g < count; g++)
        lane[0] = cost[g] < lane[0] ? cost[g] : lane[0];
    least = fmin(fmin(lane[0], lane[1]), fmin(lane[2], lane[3]));
    for (g = 0; g + 1 < count && cost[g] != least;)
        g++;
    return g;
}

static void add_load(const struct ascent *s, const struct bounds_row *row, size_t group,
                     double node_time)
{
    for (size_t i = 0; i < s->amount_count; i++)
        s->load[i * s->group_count + group] +=
            (double)row->of->needs[s->amounts[i]] * node_time;
}

/* The value of a row; its load goes to the groups that are cheapest. */
static double value_of(const struct ascent *s, const struct bounds_row *row,
                       const double *time, bool with_load)
{
    double value = 0;
    size_t open = row->of->nodes;

    find_costs(s, row, time);
    while (open > 0) {
        size_t g = cheapest(s->cost, s->group_count);
        size_t size = s->g->first[g + 1] - s->g->first[g];
        size_t here = open < size ? open : size;

        if (!(s->cost[g] < HUGE_VAL))
            break;
        value += s->cost[g] * (double)here;
        if (with_load)
            add_load(s, row, g, time[g] * (double)here);
        s->cost[g] = HUGE_VAL;
        open -= here;
    }
    for (size_t i = 0; i < s->shared_count; i++) {
        size_t column = s->group_count * s->amount_count + i;
        double load = (double)row->of->needs[s->shared[i]] * row->least_s;

        value += load * s->price[column];
        if (with_load)
            s->load[column] += load;
    }
    return value;
}

static void set_prices(struct ascent *s)
{
    double sum = 0;

    for (size_t c = 0; c < s->column_count; c++) {
        double least = PRICE_FLOOR / (double)s->column_count;

        s->share[c] = s->unit[c] > 0 ? fmax(s->share[c], least) : 0;
        sum += s->share[c];
    }
    for (size_t c = 0; c < s->column_count; c++) {
        s->share[c] /= sum > 0 ? sum : 1;
        s->price[c] = s->share[c] * s->unit[c];
    }
}

/* The value of all rows of the sample; false: the budget was spent. */
static bool value_sample(struct ascent *s, double *value)
{
    *value = 0;
    memset(s->load, 0, s->column_count * sizeof(*s->load));
    for (size_t i = 0; i < s->sample_count; i++) {
        *value +=
            value_of(s, &s->f->rows[s->sample[i]], s->time + i * s->group_count, true);
        if (budget_step(s->f->w->budget, s->column_count + s->group_count))
            return false;
    }
    return true;
}

/* ---- what is priced ---- */

/* Adds the mean over makespan_s of what is free to each column. */
static void add_free(struct ascent *s, size_t profile, double makespan_s)
{
    const struct world *w = s->f->w;
    const struct profile *p = &s->f->free[profile];
    double omega =
        profile < w->resource_count ? bounds_omega(w, profile, s->by_speed) : 1;
    size_t steps = p->count ? p->count : 1;

    for (size_t step = 0; step < steps; step++) {
        const int64_t *free =
            p->count ? p->free + step * p->amount_count : w->resources[profile].capacity;
        double from_s = p->count ? p->at_s[step] : 0;
        double to_s =
            step + 1 < p->count ? fmin(p->at_s[step + 1], makespan_s) : makespan_s;
        double part = fmax(to_s - from_s, 0) / makespan_s * omega;

        budget_step(w->budget, s->amount_count + s->shared_count);
        if (profile >= w->resource_count) {
            for (size_t i = 0; i < s->shared_count; i++)
                if (s->shared[i] - w->node_amount_count == profile - w->resource_count)
                    s->free[s->group_count * s->amount_count + i] +=
                        part * fmax((double)free[0], 0);
            continue;
        }
        for (size_t i = 0; i < s->amount_count; i++)
            s->free[i * s->group_count + s->g->of[profile]] +=
                part * fmax((double)free[s->amounts[i]], 0);
    }
}

static void find_free(struct ascent *s, double makespan_s)
{
    const struct world *w = s->f->w;

    s->free = NEW(s->f->arena, double, s->column_count);
    s->unit = NEW(s->f->arena, double, s->column_count);
    for (size_t p = 0; p < s->f->profile_count; p++)
        add_free(s, p, makespan_s);
    for (size_t c = 0; c < s->column_count; c++) {
        bool limited = true;

        if (c < s->group_count * s->amount_count)
            limited = s->g->largest[c % s->group_count * w->node_amount_count +
                                    s->amounts[c / s->group_count]] < AMOUNT_UNLIMITED;
        s->unit[c] = limited && s->free[c] > 0 ? 1 / s->free[c] : 0;
    }
}

static void choose_amounts(struct ascent *s)
{
    const struct world *w = s->f->w;

    s->amounts = NEW(s->f->arena, size_t, w->node_amount_count);
    s->shared = NEW(s->f->arena, size_t, w->amount_count);
    for (size_t k = 0; k < w->node_amount_count; k++)
        if (s->f->needed[k])
            s->amounts[s->amount_count++] = k;
    for (size_t k = w->node_amount_count; k < w->amount_count; k++)
        if (s->f->needed[k] && w->shared_capacity[k] < AMOUNT_UNLIMITED)
            s->shared[s->shared_count++] = k;
    s->group_count = s->g->count;
    s->column_count = s->group_count * s->amount_count + s->shared_count;
}

static void fill_times(const struct ascent *s, size_t row, double *time)
{
    for (size_t g = 0; g < s->group_count; g++)
        time[g] = price_group_has(s->g, row, g)
                      ? price_group_time(s->f, s->g, &s->f->rows[row], g, s->by_speed)
                      : HUGE_VAL;
}

/* Every n-th row, so that a step is not too long either. */
static bool choose_sample(struct ascent *s)
{
    size_t count = s->f->row_count, most = LOOKS_A_STEP / (s->column_count + 1) + 1;
    size_t stride = count > SAMPLE_FROM ? count / SAMPLE : 1;

    if (count / stride > most)
        stride = count / most + 1;
    s->sample = NEW(s->f->arena, size_t, count / stride + 1);
    for (size_t r = 0; r < count; r += stride)
        s->sample[s->sample_count++] = r;
    s->time = NEW(s->f->arena, double, s->sample_count * s->group_count);
    for (size_t i = 0; i < s->sample_count; i++) {
        fill_times(s, s->sample[i], s->time + i * s->group_count);
        if (budget_step(s->f->w->budget, 4 * s->group_count))
            return false;
    }
    return true;
}

/* ---- the ascent ---- */

/* Amount `chosen` (a shared one: behind the others) has that share of all prices, the
 * others `others` each, over all columns as they are free. */
static void share_out(struct ascent *s, size_t chosen, double share, double others)
{
    size_t blocks = s->amount_count + s->shared_count;

    for (size_t b = 0; b < blocks; b++) {
        bool is_shared = b >= s->amount_count;
        size_t first = is_shared ? s->group_count * s->amount_count + b - s->amount_count
                                 : b * s->group_count;
        size_t count = is_shared ? 1 : s->group_count;
        double sum = 0;

        for (size_t c = first; c < first + count; c++)
            sum += s->unit[c] > 0 ? s->free[c] : 0;
        for (size_t c = first; c < first + count; c++)
            s->share[c] =
                s->unit[c] > 0 ? (b == chosen ? share : others) * s->free[c] / sum : 0;
    }
    set_prices(s);
}

/* The best single amount gets most. */
static bool start_ascent(struct ascent *s)
{
    size_t blocks = s->amount_count + s->shared_count, best = 0;
    double most = -1;

    for (size_t b = 0; b < blocks; b++) {
        double value;

        share_out(s, b, 1, 0);
        if (!value_sample(s, &value))
            return false;
        if (value > most) {
            most = value;
            best = b;
        }
    }
    share_out(s, best, BEST_SHARE, OTHER_SHARE);
    return true;
}

static bool ascend(struct ascent *s)
{
    double best = -1, eta = FIRST_ETA;

    for (size_t step = 0; step < STEPS; step++, eta *= ETA_FALLS) {
        double value;

        if (!value_sample(s, &value))
            return false;
        if (value > best) {
            best = value;
            memcpy(s->best_share, s->share, s->column_count * sizeof(*s->share));
        }
        if (!(value > 0))
            break;
        for (size_t c = 0; c < s->column_count; c++) {
            double over = s->load[c] * s->unit[c] / value - 1;

            s->share[c] *= exp(eta * fmax(-1, fmin(over, 1)));
        }
        set_prices(s);
    }
    memcpy(s->share, s->best_share, s->column_count * sizeof(*s->share));
    set_prices(s);
    return true;
}

/* All rows at the prices that were found, and the area under them. */
static bool use_prices(struct ascent *s, price_use_fn *use, void *context)
{
    struct bounds_field *f = s->f;
    size_t amounts = f->w->node_amount_count;
    double *value = NEW(f->arena, double, f->row_count);
    double *time = NEW(f->arena, double, s->group_count);
    double *amount = NEW(f->arena, double, s->group_count *amounts);
    double *shared = NEW(f->arena, double, f->w->amount_count);
    struct price_curve curve;

    for (size_t r = 0; r < f->row_count; r++) {
        fill_times(s, r, time);
        value[r] = value_of(s, &f->rows[r], time, false);
        if (budget_step(f->w->budget, 4 * s->group_count))
            return true;
    }
    for (size_t i = 0; i < s->amount_count; i++)
        for (size_t g = 0; g < s->group_count; g++)
            amount[g * amounts + s->amounts[i]] = s->price[i * s->group_count + g];
    for (size_t i = 0; i < s->shared_count; i++)
        shared[s->shared[i]] = s->price[s->group_count * s->amount_count + i];
    return !price_curve_make(
               f, &(struct world_prices){amount, s->g->of, shared, s->by_speed},
               &curve) ||
           use(context, f, value, &curve);
}

bool prices_of_ascent(struct bounds_field *f, double makespan_s, price_use_fn *use,
                      void *context)
{
    struct ascent s = {
        .f = f, .g = price_groups_of(f, false), .by_speed = f->any_by_work};
    struct arena_mark mark;
    bool enough;

    if (!s.g || f->row_count == 0 || !(makespan_s > 0 && makespan_s < HUGE_VAL))
        return budget_step(f->w->budget, 1);
    mark = arena_mark(f->arena);
    choose_amounts(&s);
    if (s.column_count == 0)
        return false;
    find_free(&s, makespan_s);
    s.share = NEW(f->arena, double, s.column_count);
    s.best_share = NEW(f->arena, double, s.column_count);
    s.load = NEW(f->arena, double, s.column_count);
    s.price = NEW(f->arena, double, s.column_count);
    s.cost = NEW(f->arena, double, s.group_count);
    enough = !choose_sample(&s) || !start_ascent(&s) || !ascend(&s) ||
             use_prices(&s, use, context);
    arena_rewind(f->arena, mark);
    return enough;
}

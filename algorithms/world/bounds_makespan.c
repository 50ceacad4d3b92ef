/* world/bounds_makespan.c - how short a plan can be by the work that it has to do.
 *
 *     volume     for each head h: least T with area(T) - area(h) >= value of the jobs
 * that cannot start before h energetic  the same up to T - q with those that have a tail
 * of at least q grain      all times are multiples of u, so the bound is rounded up to
 * one
 *
 * Source: world-model.md 5.3 (b), (b'), (e).
 * Deviation: a time is a multiple of u if it is one but for 1e-12 of itself, and at most
 * 1e9 u: the 1e-9 of the specification takes any time beyond 5e8 u for one.
 */
#include "algorithms/world/prices.h"

#include "models/base/order.h"

#include <stdlib.h>
#include <string.h>

enum { POINTS_MAX = 64, SPEEDS_MAX = 64 };

static double finish_s(const struct price_curve *curve, double from_s, long double value)
{
    double area = (double)(price_curve_area(curve, from_s) + value);
    double t_s = price_curve_time_s(curve, area * (1 - BOUNDS_SUM_SLACK));

    return t_s < HUGE_VAL ? t_s : 0;
}

double bounds_volume_s(const struct bounds_field *f, const size_t *rows, size_t count,
                       const double *value, const struct price_curve *curve)
{
    long double sum = 0;
    double bound_s = 0;

    for (size_t i = 0; i < count; i++) {
        double head_s = f->rows[rows[i]].head_s;

        sum += value[rows[i]];
        if (i + 1 < count && f->rows[rows[i + 1]].head_s == head_s)
            continue;
        bound_s = fmax(bound_s, finish_s(curve, head_s, sum));
        if (budget_step(f->w->budget, 16))
            break;
    }
    return bound_s * (1 - BOUNDS_SLACK);
}

/* ---- energetic ---- */

/* At most POINTS_MAX different ones of the values, rising, the least and the largest
 * among them; returns how many. */
static size_t choose_points(double *value, size_t count, double *points)
{
    size_t different = 0, chosen = 0;

    sort_numbers(value, count);
    for (size_t i = 0; i < count; i++)
        if (different == 0 || value[different - 1] < value[i])
            value[different++] = value[i];
    for (size_t i = 0; i < different && i < POINTS_MAX; i++)
        points[chosen++] =
            value[different <= POINTS_MAX ? i : i * (different - 1) / (POINTS_MAX - 1)];
    return chosen;
}

/* The last point that is not above x. */
static size_t last_point(const double *points, size_t count, double x)
{
    size_t low = 0, high = count;

    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;

        if (points[middle] <= x)
            low = middle;
        else
            high = middle;
    }
    return low;
}

double bounds_energetic_s(const struct bounds_field *f, const double *value,
                          const struct price_curve *curve)
{
    double heads[POINTS_MAX], tails[POINTS_MAX], bound_s = 0, *numbers;
    size_t head_count, tail_count;
    long double(*sum)[POINTS_MAX + 1];
    struct arena_mark mark = arena_mark(f->arena);

    numbers = NEW(f->arena, double, f->row_count);
    for (size_t r = 0; r < f->row_count; r++)
        numbers[r] = f->rows[r].head_s;
    head_count = choose_points(numbers, f->row_count, heads);
    for (size_t r = 0; r < f->row_count; r++)
        numbers[r] = f->rows[r].tail_s;
    tail_count = choose_points(numbers, f->row_count, tails);
    sum = arena_alloc(f->arena, sizeof(*sum), POINTS_MAX + 1);
    for (size_t r = 0; r < f->row_count; r++)
        sum[last_point(heads, head_count, f->rows[r].head_s)]
           [last_point(tails, tail_count, f->rows[r].tail_s)] += value[r];
    for (size_t h = head_count; h-- > 0;)
        for (size_t q = tail_count; q-- > 0;) {
            sum[h][q] += sum[h + 1][q] + sum[h][q + 1] - sum[h + 1][q + 1];
            if (tails[q] > 0 && sum[h][q] > 0)
                bound_s = fmax(bound_s, finish_s(curve, heads[h], sum[h][q]) + tails[q]);
        }
    arena_rewind(f->arena, mark);
    if (budget_step(f->w->budget, 16 * f->row_count + 4 * head_count * tail_count))
        return 0;
    return bound_s * (1 - BOUNDS_SLACK);
}

/* ---- grain ---- */

static bool is_multiple(double t_s, double grain_s)
{
    double x = t_s / grain_s;

    return x <= 1e9 && fabs(x - round(x)) <= 1e-12 * x;
}

static bool is_multiple_or_none(double t_s, double grain_s)
{
    return t_s == HUGE_VAL || isnan(t_s) || is_multiple(t_s, grain_s);
}

static bool are_holders_multiples(const struct world *w, double grain_s)
{
    for (size_t i = 0; i < w->holder_count; i++)
        if (!is_multiple(fmax(w->holders[i].start_s, 0), grain_s) ||
            !is_multiple_or_none(w->holders[i].end_s, grain_s) ||
            budget_step(w->budget, 4))
            return false;
    return true;
}

static bool is_job_multiple(const struct world *w, const struct world_job *j,
                            const double *speeds, size_t speed_count, double grain_s)
{
    if (!is_multiple(j->earliest_s, grain_s) || !is_multiple(j->stage_out_s, grain_s) ||
        !is_multiple_or_none(j->time_limit_s, grain_s))
        return false;
    if (j->etc_s) {
        for (size_t p = 0; p < w->resource_count; p++)
            if (!is_multiple_or_none(j->etc_s[p], grain_s))
                return false;
        return !budget_step(w->budget, 4 * w->resource_count);
    }
    if (isnan(j->estimate_ref_s))
        return is_multiple_or_none(j->estimate_s, grain_s);
    for (size_t i = 0; i < speed_count; i++)
        if (!is_multiple(j->estimate_ref_s / speeds[i], grain_s))
            return false;
    return !budget_step(w->budget, 4 * speed_count + 4);
}

/* The different speeds > 0; SIZE_MAX: too many. */
static size_t list_speeds(const struct bounds_field *f, double *speeds)
{
    size_t count = 0;

    for (size_t i = 0; i < f->w->resource_count; i++) {
        double speed = f->w->resources[f->by_speed[i]].speed;

        if (!(speed > 0) || (count > 0 && speeds[count - 1] == speed))
            continue;
        if (count == SPEEDS_MAX)
            return SIZE_MAX;
        speeds[count++] = speed;
    }
    return count;
}

/* Stage-ins of other plans are not known: where there may be some there is no grain. */
static bool has_files(const struct bounds_field *f, const struct world_plan *plan)
{
    bool any = !f->w->without_files;

    for (size_t r = 0; r < f->row_count; r++)
        any |= plan->placed[f->rows[r].job].stage_in_s > 0;
    return any;
}

double bounds_grain_s(const struct bounds_field *f, const struct world_plan *plan,
                      double bound_s)
{
    static const double grains_s[] = {60, 1, 0.1, 0.01, 0.001};
    double speeds[SPEEDS_MAX];
    size_t speed_count = list_speeds(f, speeds);

    if (speed_count == SIZE_MAX || has_files(f, plan))
        return bound_s;
    for (size_t i = 0; i < sizeof(grains_s) / sizeof(grains_s[0]); i++) {
        double grain_s = grains_s[i], up_s;
        bool all = are_holders_multiples(f->w, grain_s);

        for (size_t r = 0; r < f->row_count && all; r++)
            all = is_job_multiple(f->w, f->rows[r].of, speeds, speed_count, grain_s);
        if (budget_step(f->w->budget, f->row_count))
            return bound_s;
        if (!all)
            continue;
        up_s = ceil(bound_s * (1 - 1e-9) / grain_s) * grain_s;
        /* Sums of fractions may come out lower than products. */
        return fmax(bound_s, grain_s < 1 ? up_s * (1 - 1e-10) : up_s);
    }
    return bound_s;
}

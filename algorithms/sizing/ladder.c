/* sizing/ladder.c - the requests that waste least. */
#include "algorithms/sizing/sizing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TABLE_COUNT = 20, MERGED = 64 };
#define EQUAL 1e-12

/* |Student's t, 3 degrees of freedom| at 20 middle quantiles, over its median. */
static const double TABLE[TABLE_COUNT] = {0.044, 0.134, 0.224, 0.315, 0.409, 0.505, 0.605,
                                          0.710, 0.820, 0.938, 1.065, 1.204, 1.359, 1.535,
                                          1.741, 1.992, 2.313, 2.763, 3.505, 5.460};

/* ---- what the peak may be ---- */

static int compare_points(const void *a, const void *b)
{
    const struct sizing_point *x = a, *y = b;

    return (x->peak > y->peak) - (x->peak < y->peak);
}

/* Equal peaks become one point. */
static size_t join_equal(struct sizing_point *p, size_t count)
{
    size_t n = 0;

    for (size_t i = 0; i < count; i++) {
        if (n > 0 && p[i].peak <= p[n - 1].peak)
            p[n - 1].weight += p[i].weight;
        else
            p[n++] = p[i];
    }
    return n;
}

/* Neighbours become one, from below; the last stays. */
static size_t merge(struct sizing_point *p, size_t count)
{
    double weight = 0;
    size_t n = 0;

    if (count <= SIZING_POINTS_MAX)
        return count;
    for (size_t i = 0; i + 1 < count; i++) {
        weight += p[i].weight;
        if (weight < 1.0 / MERGED && i + 2 < count)
            continue;
        p[n++] = (struct sizing_point){p[i].peak, weight};
        weight = 0;
    }
    p[n++] = p[count - 1];
    return n;
}

void sizing_points(const struct sizing_peak *peak, struct sizing_point **points,
                   size_t *count, double *cut, struct arena *a)
{
    size_t errors =
        peak->error_count < SIZING_ERRORS_MAX ? peak->error_count : SIZING_ERRORS_MAX;
    const double *error = peak->error + (peak->error_count - errors);
    struct sizing_point *p =
        NEW(a, struct sizing_point, SIZING_ERRORS_MAX + 2 * TABLE_COUNT + 1);
    size_t n = 0, kept = 0;
    double sum = 0;

    for (size_t i = 0; i < errors; i++)
        p[n++] = (struct sizing_point){exp(peak->y + error[i] * peak->scale), 1};
    for (size_t i = 0; i < TABLE_COUNT; i++) {
        p[n++] = (struct sizing_point){exp(peak->y + TABLE[i] * peak->scale), 0.5};
        p[n++] = (struct sizing_point){exp(peak->y - TABLE[i] * peak->scale), 0.5};
    }
    *cut = 0;
    for (size_t i = 0; i < n; i++) {
        if (!(p[i].peak > peak->failed))
            continue; /* it would not have failed */
        if (p[i].peak > peak->cap)
            *cut += p[i].weight;
        p[kept] = p[i];
        p[kept++].peak = fmin(p[i].peak, peak->cap);
    }
    p[kept++] = (struct sizing_point){peak->cap, 1};
    qsort(p, kept, sizeof(*p), compare_points);
    for (size_t i = 0; i < kept; i++)
        sum += p[i].weight;
    for (size_t i = 0; i < kept; i++)
        p[i].weight /= sum;
    *cut /= sum;
    *points = p;
    *count = merge(p, join_equal(p, kept));
}

/* ---- the ladder ---- */

/* The least cost with some attempts left when the peak is that of point i or above. */
struct cell {
    double cost;
    size_t j; /* the request is that of point j */
};

struct work {
    const struct sizing_point *p;
    size_t count;
    const struct sizing_rules *rules;
    double *request;        /* of each point; ascending */
    double *above;          /* weight of the points after it */
    double *weight, *peaks; /* of the points before it: sums, and of weight x peak */
    struct cell *cell;      /* of each number of attempts and point */
};

static double rounded(double peak, const struct sizing_rules *rules)
{
    return fmin(rules->capacity,
                rules->step * ceil(fmax(rules->least, peak) / rules->step));
}

static struct cell *cell_of(const struct work *w, size_t attempts, size_t i)
{
    return &w->cell[attempts * (w->count + 1) + i];
}

/* The best request with so many attempts left. */
static void find_cell(const struct work *w, size_t attempts, size_t i, double failure_max)
{
    const struct sizing_rules *rules = w->rules;
    struct cell best = {HUGE_VAL, w->count - 1};

    for (size_t j = attempts == 1 ? w->count - 1 : i; j < w->count; j++) {
        double cost = w->request[j] * (w->weight[j + 1] - w->weight[i]) -
                      (w->peaks[j + 1] - w->peaks[i]);

        if (j + 1 < w->count && !(w->request[j] < w->request[j + 1]))
            continue; /* the last of equal ones */
        if (w->above[j] > failure_max)
            continue;
        if (w->above[j] > 0)
            cost += w->above[j] *
                        (rules->failure_share * w->request[j] + rules->retry_penalty) +
                    cell_of(w, attempts - 1, j + 1)->cost;
        if (cost <= best.cost + EQUAL * fabs(best.cost))
            best = (struct cell){cost, j};
    }
    *cell_of(w, attempts, i) = best;
}

void sizing_best(const struct sizing_point *points, size_t count,
                 const struct sizing_rules *rules, struct budget *budget,
                 struct sizing_ladder *out, struct arena *a)
{
    struct arena_mark mark = arena_mark(a);
    struct work w = {
        .p = points,
        .count = count,
        .rules = rules,
        .request = NEW(a, double, count + 1),
        .above = NEW(a, double, count + 1),
        .weight = NEW(a, double, count + 1),
        .peaks = NEW(a, double, count + 1),
        .cell = NEW(a, struct cell, (SIZING_ATTEMPTS_MAX + 1) * (count + 1)),
    };
    size_t i = 0;

    for (size_t k = 0; k < count; k++) {
        w.request[k] = rounded(points[k].peak, rules);
        w.weight[k + 1] = w.weight[k] + points[k].weight;
        w.peaks[k + 1] = w.peaks[k] + points[k].weight * points[k].peak;
    }
    for (size_t k = count - 1; k-- > 0;)
        w.above[k] = w.above[k + 1] + points[k + 1].weight;
    for (size_t attempts = 1; attempts <= rules->attempts; attempts++) {
        budget_step(budget, count * count / 2);
        for (size_t k = 0; k < count; k++)
            find_cell(&w, attempts, k,
                      attempts == rules->attempts && k == 0 ? rules->first_failure_max
                                                            : 1);
    }
    *out = (struct sizing_ladder){.cost = cell_of(&w, rules->attempts, 0)->cost};
    for (size_t attempts = rules->attempts; attempts > 0 && i < count; attempts--) {
        size_t j = cell_of(&w, attempts, i)->j;

        out->request[out->count] = w.request[j];
        out->failure[out->count++] = w.above[j];
        i = j + 1;
    }
    arena_rewind(a, mark);
}

double sizing_round_up(double x, double step)
{
    return step * fmax(1, ceil(x / step * (1 - EQUAL)));
}

double sizing_cost(const struct sizing_point *points, size_t count,
                   const struct sizing_rules *rules, const double *request,
                   size_t request_count)
{
    double cost = 0;

    for (size_t k = 0; k < count; k++) {
        size_t i = 0;

        for (; i < request_count && request[i] < points[k].peak; i++)
            cost += points[k].weight *
                    (rules->failure_share * request[i] + rules->retry_penalty);
        if (i < request_count)
            cost += points[k].weight * (request[i] - points[k].peak);
    }
    return cost;
}

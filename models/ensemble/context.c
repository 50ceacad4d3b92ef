/* ensemble/context.c - members for runs that differ in size and processors only.
 *
 * A context is all inputs but these two. Where three configurations of one were seen,
 * scale_out is the kind of models/regression of that name over its runs, and linear a
 * line through the median times over size per processor; where the two have little to do
 * with each other (|r| below 0.75), their median.
 *
 * Sources: models/regression/scale_out.c; J. Bader et al., "Lotaru", 2022 (the line).
 * Cost: O(runs log runs).
 */
#include "models/ensemble/internal.h"

#include "models/base/order.h"
#include "models/regression/regression.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CONFIGURATIONS_LEAST = 3 };
#define CORRELATION_LEAST 0.75

struct point {
    double context, processors, size, time_s;
};

static int compare_points(const void *a, const void *b)
{
    const struct point *x = a, *y = b;

    if (x->context != y->context)
        return x->context < y->context ? -1 : 1;
    if (x->processors != y->processors)
        return x->processors < y->processors ? -1 : 1;
    if (x->size != y->size)
        return x->size < y->size ? -1 : 1;
    return (x->time_s > y->time_s) - (x->time_s < y->time_s);
}

static struct point point_of(const struct ensemble *e, const double *x)
{
    return (struct point){
        .processors = e->processors == SIZE_MAX ? 1 : x[e->processors],
        .size = e->size == SIZE_MAX ? 0 : x[e->size],
    };
}

static bool is_alike(const struct point *a, const struct point *b)
{
    return a->processors >= b->processors && a->processors <= b->processors &&
           a->size >= b->size && a->size <= b->size;
}

static void fit_scale_out(const struct point *point, size_t count, struct context *out,
                          struct arena *a)
{
    const struct regression_kind *kind = regression_kind_find("scale_out");
    double *inputs = NEW(a, double, 2 * count), *time_s = NEW(a, double, count);
    struct regression_model *model = NEW(a, struct regression_model, 1);
    struct regression_data data = {2, inputs, time_s, count};
    struct regression_report report;
    struct error ignored = {.arena = a};

    for (size_t i = 0; i < count; i++) {
        inputs[2 * i] = point[i].processors;
        inputs[2 * i + 1] = point[i].size;
        time_s[i] = point[i].time_s;
    }
    if (regression_fit(kind, &data, NULL, model, &report, a, &ignored) != OK ||
        report.reason != REGRESSION_OK)
        return;
    out->has_scale_out = regression_scale_out_parts(model, 1, out->scale_out);
    for (size_t i = 0; i < 4; i++)
        out->has_scale_out = out->has_scale_out && isfinite(out->scale_out[i]);
}

/* The median time of each configuration, over size per processor. */
static size_t find_medians(const struct point *point, size_t count, double *x, double *t,
                           double *room)
{
    size_t n = 0;

    for (size_t i = 0, end; i < count; i = end) {
        for (end = i; end < count && is_alike(&point[i], &point[end]); end++)
            room[end - i] = point[end].time_s;
        x[n] = point[i].size / point[i].processors;
        t[n++] = sort_median(room, end - i);
    }
    return n;
}

static void fit_line(const double *x, double *t, size_t n, struct context *out)
{
    double mean_x = 0, mean_t = 0, xx = 0, xt = 0, tt = 0;

    for (size_t i = 0; i < n; i++) {
        mean_x += x[i] / (double)n;
        mean_t += t[i] / (double)n;
    }
    for (size_t i = 0; i < n; i++) {
        xx += (x[i] - mean_x) * (x[i] - mean_x);
        xt += (x[i] - mean_x) * (t[i] - mean_t);
        tt += (t[i] - mean_t) * (t[i] - mean_t);
    }
    out->has_linear = true;
    out->slope = xx > 0 ? xt / xx : 0;
    out->intercept = mean_t - out->slope * mean_x;
    if (!(xx > 0 && tt > 0 && fabs(xt) >= CORRELATION_LEAST * sqrt(xx * tt)) ||
        !isfinite(out->slope) || !isfinite(out->intercept)) {
        out->slope = 0;
        out->intercept = sort_median(t, n);
    }
}

static bool fit_context(const struct ensemble *e, const struct point *point, size_t count,
                        struct context *out, struct arena *a)
{
    double *x = NEW(a, double, count), *t = NEW(a, double, count);
    double *room = NEW(a, double, count);
    size_t n = find_medians(point, count, x, t, room);

    *out = (struct context){.key = point->context};
    if (n < CONFIGURATIONS_LEAST)
        return false;
    fit_scale_out(point, count, out, a);
    if (e->size != SIZE_MAX && e->input[e->size].is_used)
        fit_line(x, t, n, out);
    return out->has_scale_out || out->has_linear;
}

void contexts_fit(const struct part *part, struct budget *budget, struct contexts *out,
                  struct arena *a)
{
    const struct table *t = part->table;
    const struct ensemble *e = t->e;
    struct point *point;
    struct arena_mark mark;
    size_t count = 0;

    *out = (struct contexts){0};
    if (e->size == SIZE_MAX && e->processors == SIZE_MAX)
        return;
    out->list = NEW(a, struct context, part->count / CONFIGURATIONS_LEAST + 1);
    mark = arena_mark(a);
    point = NEW(a, struct point, part->count + 1);
    for (size_t i = 0; i < part->count; i++) {
        if (isnan(t->context[part->row[i]]))
            continue;
        point[count] = point_of(e, part_x(part, i));
        if (!(point[count].processors > 0) || !(point[count].size >= 0))
            continue;
        point[count].context = t->context[part->row[i]];
        point[count++].time_s = exp(t->y[part->row[i]]);
    }
    qsort(point, count, sizeof(*point), compare_points);
    for (size_t i = 0, end; i < count; i = end) {
        struct arena_mark inner = arena_mark(a);

        for (end = i; end < count && point[end].context <= point[i].context;)
            end++;
        budget_step(budget, 64 * (end - i));
        if (fit_context(e, point + i, end - i, &out->list[out->count], a))
            out->count++;
        arena_rewind(a, inner);
    }
    arena_rewind(a, mark);
}

static const struct context *find_context(const struct contexts *c, double key)
{
    size_t low = 0, high = c->count;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (c->list[middle].key < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low < c->count && c->list[low].key <= key ? &c->list[low] : NULL;
}

static double log_of(double time_s)
{
    return time_s > 0 && isfinite(time_s) ? log(time_s) : (double)NAN;
}

void contexts_answer(const struct ensemble *e, const struct contexts *contexts,
                     const double *x, double key, double *scale_out, double *linear)
{
    const struct context *c = isnan(key) ? NULL : find_context(contexts, key);
    struct point p;

    *scale_out = *linear = (double)NAN;
    if (!c)
        return;
    p = point_of(e, x);
    if (!(p.processors > 0) || !(p.size >= 0))
        return;
    if (c->has_scale_out)
        *scale_out =
            log_of(c->scale_out[0] + c->scale_out[1] * p.size / p.processors +
                   c->scale_out[2] * log(p.processors) + c->scale_out[3] * p.processors);
    if (c->has_linear)
        *linear = log_of(c->intercept + c->slope * p.size / p.processors);
}

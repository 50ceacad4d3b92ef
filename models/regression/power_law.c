/* regression/power_law.c - a power of one input, warm-ups left out.
 *
 *     t = c N^e        fitted as a line to the logarithms: log t = log c + e log N
 *
 * Runs with the same N are a series. In it a run is an outlier that lies off the
 * median by more than a quarter of it and 8 scaled median deviations; the first of
 * three or more is a warm-up if it is off by 3.5 deviations (in series of less than
 * five, a quarter of the median too): caches, libraries and clocks make it longer or
 * shorter than the rest. A deviation is at least half a step of the clock. A run that has
 * no series to be assessed by is assessed by the law itself, as fitted by median slopes
 * (Theil and Sen): off by a factor of 3 and 8 deviations. Outliers are reported and left
 * out.
 *
 * A law that holds for great N need not hold for small ones, where overheads show.
 * If the logarithms are bent (quadratic term with |t| > 3, and some median off by
 * more than a tenth), the law is that of the greatest N, three at least and down to a
 * quarter, carried on as long as the next median is within a tenth, or 3 deviations, of
 * it.
 *
 * Interval: times exp(+- t s sqrt(1 + 1/n + (x - mean x)^2 / Sxx)), x = log N.
 * Statistics: means, squares and products of the logarithms (Welford). A further
 * run that is off by a factor of 3 and 6 deviations is not taken in.
 *
 * Source: ours. Cost: O(runs log runs + series^2), a further run O(1).
 */
#include "models/regression/internal.h"

#include "models/base/order.h"
#include "models/regression/triangle.h"

#include <math.h>

#define SCALE         1.4826 /* median deviation of a normal distribution to its sigma */
#define SHARE_MIN     0.25   /* of the median: nearer to it is no outlier */
#define DEVIATION_MIN 1e-3   /* of the median: clocks resolve no better */
#define FACTOR_LOG    1.0986122886681098 /* log 3 */
/* log 4: from the least N of a law that is cut to the greatest. */
#define TAIL_SPAN 1.3862943611198906
#define BEND_T    3.0
#define BEND_MIN  0.1

enum {
    SERIES_MIN = 3,   /* runs that can assess each other */
    SERIES_SURE = 5,  /* so many without a further condition */
    LAW_MIN = 6,      /* series that can assess a run */
    TAIL_MIN = 3,     /* series that a law needs where it is cut */
    SERIES_MAX = 400, /* for the median of slopes */
};

/* Own coefficients and statistics. */
enum { LOG_C, EXPONENT, RUNS, SCATTER, MEAN_X, SQUARES_X, START, OWN };
enum { S_RUNS, S_X, S_Y, S_XX, S_XY, S_YY, STATISTICS };

enum verdict { USED, OUTLIER, WARM_UP, BELOW_START };

/* A series: its N, the median of its runs, both as logarithms. */
struct point {
    double x, y;
};

struct work {
    const struct regression_data *data;
    struct run_groups groups;
    enum verdict *verdict;   /* of each run of the data */
    struct point *point;     /* of each group */
    double *scratch, *spare; /* as many as there are runs */
    size_t start;            /* first group of the law */
};

/* ---- outliers ---- */

/* The step of the clock as it shows in ascending times: the least difference, unless
 * that is more than the median itself. */
static double resolution(const double *sorted, size_t count, double median)
{
    double least = HUGE_VAL;

    for (size_t i = 1; i < count; i++) {
        if (sorted[i] > sorted[i - 1])
            least = fmin(least, sorted[i] - sorted[i - 1]);
    }
    return least <= median ? least : 0;
}

static void assess_series(struct work *w, size_t g)
{
    const size_t *run = w->groups.run + w->groups.start[g];
    size_t count = w->groups.start[g + 1] - w->groups.start[g], left = 0;
    double median, deviation;

    for (size_t i = 0; i < count; i++)
        w->scratch[i] = w->data->time_s[run[i]];
    median = sort_median(w->scratch, count);
    deviation = fmax(DEVIATION_MIN * median, resolution(w->scratch, count, median) / 2);
    for (size_t i = 0; i < count; i++)
        w->spare[i] = fabs(w->scratch[i] - median);
    deviation = SCALE * fmax(sort_median(w->spare, count), deviation);
    for (size_t i = 0; count >= SERIES_MIN && i < count; i++) {
        double off = fabs(w->data->time_s[run[i]] - median);
        bool far = off > SHARE_MIN * median;

        if (i == 0 && off > 3.5 * deviation && (far || count >= SERIES_SURE))
            w->verdict[run[i]] = WARM_UP;
        else if (far && off > 8 * deviation)
            w->verdict[run[i]] = OUTLIER;
    }
    for (size_t i = 0; i < count; i++) {
        if (w->verdict[run[i]] == USED)
            w->scratch[left++] = w->data->time_s[run[i]];
    }
    w->point[g].x = log(w->data->inputs[run[0]]);
    w->point[g].y = log(sort_median(w->scratch, left)); /* the middle ones are left */
}

/* Slope by Theil and Sen, from at most 400 of the series. */
static void median_slope(const struct work *w, double *slope, struct arena *a)
{
    size_t step = w->groups.count / SERIES_MAX + 1, count = 0;
    size_t most = (w->groups.count + step - 1) / step;
    double *slopes = NEW(a, double, most *most);

    for (size_t i = 0; i < w->groups.count; i += step) {
        for (size_t k = i + step; k < w->groups.count; k += step) {
            const struct point *p = &w->point[i], *q = &w->point[k];

            if (q->x > p->x)
                slopes[count++] = (q->y - p->y) / (q->x - p->x);
        }
    }
    *slope = count > 0 ? sort_median(slopes, count) : 0;
}

/* Judges the runs of short series by the law. */
static void assess_by_law(struct work *w, struct arena *a)
{
    size_t count = w->groups.count;
    double slope, offset, deviation;

    if (count < LAW_MIN)
        return;
    median_slope(w, &slope, a);
    for (size_t g = 0; g < count; g++)
        w->scratch[g] = w->point[g].y - slope * w->point[g].x;
    offset = sort_median(w->scratch, count);
    for (size_t g = 0; g < count; g++)
        w->spare[g] = fabs(w->scratch[g] - offset);
    deviation = SCALE * sort_median(w->spare, count);
    for (size_t g = 0; g < count; g++) {
        size_t first = w->groups.start[g], end = w->groups.start[g + 1];
        double want = offset + slope * w->point[g].x, sum = 0;
        size_t left = 0;

        for (size_t i = first; end - first < SERIES_MIN && i < end; i++) {
            double y = log(w->data->time_s[w->groups.run[i]]);

            if (fabs(y - want) > fmax(FACTOR_LOG, 8 * deviation)) {
                w->verdict[w->groups.run[i]] = OUTLIER;
                continue;
            }
            sum += y;
            left++;
        }
        if (left > 0)
            w->point[g].y = sum / (double)left;
    }
}

/* ---- where the law begins ---- */

/* A line through points, which are added one by one. */
struct line {
    double n, mx, my, xx, xy, yy;
};

static void line_add(struct line *l, struct point p)
{
    double dx = p.x - l->mx, dy = p.y - l->my;

    l->n++;
    l->mx += dx / l->n;
    l->my += dy / l->n;
    l->xx += dx * (p.x - l->mx);
    l->xy += dx * (p.y - l->my);
    l->yy += dy * (p.y - l->my);
}

/* How far a point is off the line; the line has points at two x. */
static double line_off(const struct line *l, struct point p)
{
    return fabs(p.y - l->my - l->xy / l->xx * (p.x - l->mx));
}

/* Standard deviation of a further point at x around the line. */
static double line_deviation(const struct line *l, double x)
{
    double left = fmax(0, l->yy - l->xy * (l->xy / l->xx)) / fmax(1, l->n - 2);
    double away = (x - l->mx) * (x - l->mx) / l->xx;

    return sqrt(left * (1 + 1 / l->n + away));
}

/* Do the logarithms bend? x is taken relative to the greatest. */
static bool bent(const struct point *p, size_t count)
{
    double u[TRIANGLE_SIZE(3)] = {0}, c[3], squares, unit[] = {0, 0, 1}, worst = 0;
    struct line all = {0};

    for (size_t i = 0; i < count; i++) {
        double x = p[i].x - p[count - 1].x, row[] = {1, x, x * x, p[i].y};

        line_add(&all, p[i]);
        triangle_add(u, 3, row);
    }
    for (size_t i = 0; i < count; i++)
        worst = fmax(worst, line_off(&all, p[i]));
    if (worst <= BEND_MIN || !triangle_solve(u, 3, 7, c, &squares))
        return false;
    squares = fmax(squares, 1e-20) / (double)(count - 3);
    return c[2] * c[2] > BEND_T * BEND_T * squares * triangle_leverage(u, 3, 7, unit);
}

static void find_start(struct work *w, double min_input)
{
    const struct point *p = w->point;
    size_t count = w->groups.count;
    struct line tail = {0};

    w->start = 0;
    if (!isnan(min_input) || count <= TAIL_MIN || !bent(p, count))
        return;
    for (w->start = count; w->start > 0; w->start--) {
        if (count - w->start >= TAIL_MIN &&
            p[count - 1].x - p[w->start].x >= TAIL_SPAN * (1 - 1e-9))
            break;
        line_add(&tail, p[w->start - 1]);
    }
    for (; w->start > 0; w->start--) {
        struct point next = p[w->start - 1];

        if (line_off(&tail, next) > fmax(BEND_MIN, 3 * line_deviation(&tail, next.x)))
            return;
        line_add(&tail, next);
    }
}

/* ---- the model ---- */

static void add_run(struct regression_model *m, double input, double time_s)
{
    double *s = m->statistics, n = ++s[S_RUNS];
    double dx = log(input) - s[S_X], dy = log(time_s) - s[S_Y];

    s[S_X] += dx / n;
    s[S_Y] += dy / n;
    s[S_XX] += dx * (log(input) - s[S_X]);
    s[S_XY] += dx * (log(time_s) - s[S_Y]);
    s[S_YY] += dy * (log(time_s) - s[S_Y]);
    regression_see(m, &input, time_s);
}

/* `start`: least N of the law. */
static void solve(struct regression_model *m, double start)
{
    double *c = m->coefficients + regression_base(m);
    const double *s = m->statistics;

    c[EXPONENT] = s[S_XY] / s[S_XX];
    c[LOG_C] = s[S_Y] - c[EXPONENT] * s[S_X];
    c[RUNS] = s[S_RUNS];
    c[SCATTER] = 0;
    if (s[S_RUNS] > 2)
        c[SCATTER] = sqrt(fmax(0, s[S_YY] - c[EXPONENT] * s[S_XY]) / (s[S_RUNS] - 2));
    c[MEAN_X] = s[S_X];
    c[SQUARES_X] = s[S_XX];
    c[START] = start;
    m->coefficient_count = regression_base(m) + OWN;
    m->statistic_count = STATISTICS;
}

static void report_outliers(const struct work *w, struct regression_report *report,
                            struct arena *a)
{
    size_t *outlier = NEW(a, size_t, w->data->sample_count);

    for (size_t i = 0; i < w->data->sample_count; i++) {
        if (w->verdict[i] != OUTLIER && w->verdict[i] != WARM_UP)
            continue;
        outlier[report->outlier_count++] = i;
        report->warm_up_count += w->verdict[i] == WARM_UP;
    }
    report->outliers = outlier;
}

/* Runs that can be used and are not below min_input. */
static size_t *runs_from(const struct regression_data *data, double min_input,
                         struct regression_report *report, struct arena *a)
{
    size_t *run = regression_usable_runs(data, true, report, a), kept = 0;

    for (size_t i = 0; run && i < report->used_count; i++) {
        if (isnan(min_input) || data->inputs[run[i]] >= min_input)
            run[kept++] = run[i];
    }
    report->used_count = kept;
    return run;
}

/* Takes in what was not left out, and decides whether that is a law. */
static void fit_rest(const struct work *w, double min_input,
                     struct regression_model *model, struct regression_report *report)
{
    const struct run_groups *g = &w->groups;

    report->used_count = 0;
    for (size_t i = g->start[w->start]; i < g->start[g->count]; i++) {
        size_t run = g->run[i];

        if (w->verdict[run] != USED)
            continue;
        add_run(model, w->data->inputs[run], w->data->time_s[run]);
        report->used_count++;
    }
    if (!(model->statistics[S_XX] > 1e-20)) {
        report->reason = REGRESSION_TOO_FEW;
        return;
    }
    solve(model, w->start > 0 ? w->data->inputs[g->run[g->start[w->start]]] : min_input);
    report->reason = REGRESSION_OK;
}

enum error_code regression_fit_power_law(const struct regression_data *data,
                                         const struct regression_options *options,
                                         struct regression_model *model,
                                         struct regression_report *report,
                                         struct arena *a, struct error *err)
{
    double min_input = options ? options->min_input : (double)NAN;
    size_t *run = runs_from(data, min_input, report, a);
    struct work w = {.data = data};

    (void)err;
    w.verdict = NEW(a, enum verdict, data->sample_count);
    w.point = NEW(a, struct point, data->sample_count);
    w.scratch = NEW(a, double, data->sample_count);
    w.spare = NEW(a, double, data->sample_count);
    regression_group(data, run, report->used_count, &w.groups, a);
    report->reason = REGRESSION_NO_DATA;
    if (w.groups.count == 0)
        return OK;
    for (size_t g = 0; g < w.groups.count; g++)
        assess_series(&w, g);
    assess_by_law(&w, a);
    find_start(&w, min_input);
    fit_rest(&w, isnan(min_input) ? 0 : min_input, model, report);
    report_outliers(&w, report, a);
    return OK;
}

double regression_freedom_power_law(const struct regression_model *model)
{
    size_t base = regression_base(model);
    const double *c = model->coefficients + base;

    return model->coefficient_count == base + OWN && c[RUNS] > 2 ? c[RUNS] - 2
                                                                 : (double)NAN;
}

void regression_predict_power_law(const struct regression_model *model,
                                  const double *inputs,
                                  const struct regression_level *level,
                                  struct regression_prediction *out)
{
    size_t base = regression_base(model);
    const double *c = model->coefficients + base;
    double x, half;

    out->reason = REGRESSION_NO_DATA;
    if (model->input_count != 1 || model->coefficient_count != base + OWN ||
        !(c[SQUARES_X] > 0))
        return;
    out->reason = REGRESSION_BAD_INPUT;
    if (!(inputs[0] > 0))
        return;
    out->reason = REGRESSION_OK;
    x = log(inputs[0]);
    out->time_s = exp(c[LOG_C] + c[EXPONENT] * x);
    if (!(c[RUNS] > 2))
        return;
    x -= c[MEAN_X];
    half = level_quantile(level, c[RUNS] - 2) * c[SCATTER] *
           sqrt(1 + 1 / c[RUNS] + x * x / c[SQUARES_X]);
    out->basis = REGRESSION_BASIS_RESIDUALS;
    out->low_s = out->time_s * exp(-half);
    out->high_s = out->time_s * exp(half);
}

bool regression_refine_power_law(struct regression_model *model, const double *inputs,
                                 double time_s)
{
    const double *c = model->coefficients + regression_base(model);
    double off;

    if (model->input_count != 1 || model->statistic_count != STATISTICS ||
        !regression_usable(inputs, 1, true, time_s) || inputs[0] < c[START])
        return false;
    off = log(time_s) - c[LOG_C] - c[EXPONENT] * log(inputs[0]);
    if (!(fabs(off) <= fmax(FACTOR_LOG, 6 * c[SCATTER])))
        return false;
    add_run(model, inputs[0], time_s);
    solve(model, c[START]);
    return true;
}

const char *regression_formula_power_law(const struct regression_model *model,
                                         const char *const *input_names, struct arena *a)
{
    const double *c = model->coefficients + regression_base(model);
    const char *name = regression_input_name(input_names, 0, a);

    return name ? arena_printf(a, "%.6g %s^%.6g", exp(c[LOG_C]), name, c[EXPONENT])
                : NULL;
}

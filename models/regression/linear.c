/* regression/linear.c - a straight line over one input, or the median.
 *
 * Ordinary least squares t = a + b x over the input whose correlation r with the
 * time is the greatest (ties: the first), if |r| >= 0.75; else the input says too
 * little and the answer is the median of the times. Where the line is not above 0
 * inside the range seen, regression.c answers with the least time seen.
 *
 * Interval: of the line, Student's with n - 2 degrees of freedom,
 * +- t s sqrt(1 + 1/n + (x - mean x)^2 / Sxx); of the median, quantiles of the times.
 *
 * Statistics: means, sums of squares and products (Welford), and the latest 128
 * times for the median, which is of those once a run was refined in. Source: J. Bader et
 * al., "Lotaru: locally estimating runtimes of scientific workflow tasks in heterogeneous
 * clusters", SSDBM 2022, with Pearson's threshold 0.75. Deviation: several inputs. Cost:
 * O(inputs) a run.
 */
#include "models/regression/internal.h"

#include "models/base/order.h"
#include "models/performance/interval.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#define CORRELATION_MIN 0.75

enum { LATEST_MAX = 128 };

/* Own coefficients, then the latest times, ascending. */
enum { LINE, INPUT, A, B, MEDIAN, RUNS, RESIDUAL_S, MEAN_X, SQUARES_X, LATEST, OWN };

/* Statistics: these, three of each input, then the latest times, in their order. */
enum { S_RUNS, S_MEAN, S_SQUARES, S_INPUTS };
enum { I_MEAN, I_SQUARES, I_PRODUCTS, I_COUNT };

static void add_run(struct regression_model *m, const double *inputs, double time_s)
{
    double *s = m->statistics, n = ++s[S_RUNS], off = time_s - s[S_MEAN];
    double *latest = s + S_INPUTS + I_COUNT * m->input_count;

    s[S_MEAN] += off / n;
    s[S_SQUARES] += off * (time_s - s[S_MEAN]);
    for (size_t i = 0; i < m->input_count; i++) {
        double *x = s + S_INPUTS + I_COUNT * i, x_off = inputs[i] - x[I_MEAN];

        x[I_MEAN] += x_off / n;
        x[I_SQUARES] += x_off * (inputs[i] - x[I_MEAN]);
        x[I_PRODUCTS] += x_off * (time_s - s[S_MEAN]);
    }
    latest[((size_t)n - 1) % LATEST_MAX] = time_s;
    regression_see(m, inputs, time_s);
}

/* Inputs or times that differ by rounding only have no correlation. */
static double correlation(const struct regression_model *m, size_t input)
{
    const double *s = m->statistics, *x = s + S_INPUTS + I_COUNT * input;
    double n = s[S_RUNS];

    if (!(x[I_SQUARES] > 1e-24 * n * x[I_MEAN] * x[I_MEAN]) ||
        !(s[S_SQUARES] > 1e-24 * n * s[S_MEAN] * s[S_MEAN]))
        return 0;
    return x[I_PRODUCTS] / (sqrt(x[I_SQUARES]) * sqrt(s[S_SQUARES]));
}

/* Coefficients from the statistics; returns r of the chosen input. */
static double solve(struct regression_model *m)
{
    double *c = m->coefficients + regression_base(m), r = 0;
    const double *s = m->statistics, *x = s + S_INPUTS;
    size_t latest = (size_t)fmin(s[S_RUNS], LATEST_MAX);

    memset(c, 0, OWN * sizeof(*c));
    for (size_t i = 0; i < m->input_count; i++) {
        if (fabs(correlation(m, i)) > fabs(r)) {
            r = correlation(m, i);
            c[INPUT] = (double)i;
            x = s + S_INPUTS + I_COUNT * i;
        }
    }
    c[RUNS] = s[S_RUNS];
    c[LATEST] = (double)latest;
    memcpy(c + OWN, s + S_INPUTS + I_COUNT * m->input_count, latest * sizeof(*c));
    c[MEDIAN] = sort_median(c + OWN, latest);
    c[LINE] = fabs(r) >= CORRELATION_MIN;
    if (c[LINE] > 0) {
        double left = s[S_SQUARES] - x[I_PRODUCTS] * (x[I_PRODUCTS] / x[I_SQUARES]);

        c[B] = x[I_PRODUCTS] / x[I_SQUARES];
        c[A] = s[S_MEAN] - c[B] * x[I_MEAN];
        c[MEAN_X] = x[I_MEAN];
        c[SQUARES_X] = x[I_SQUARES];
        c[RESIDUAL_S] = s[S_RUNS] > 2 ? sqrt(fmax(0, left) / (s[S_RUNS] - 2)) : 0;
    }
    m->coefficient_count = regression_base(m) + OWN + latest;
    m->statistic_count = S_INPUTS + I_COUNT * m->input_count + LATEST_MAX;
    return r;
}

/* The median and its quantiles are those of all runs until the next one comes. */
static void take_all(struct regression_model *m, double *time_s, size_t count)
{
    double *c = m->coefficients + regression_base(m);

    c[MEDIAN] = sort_median(time_s, count);
    for (size_t i = 0; i < LATEST_MAX; i++)
        c[OWN + i] = time_s[i * (count - 1) / (LATEST_MAX - 1)];
}

enum error_code regression_fit_linear(const struct regression_data *data,
                                      const struct regression_options *options,
                                      struct regression_model *model,
                                      struct regression_report *report, struct arena *a,
                                      struct error *err)
{
    size_t *run = regression_usable_runs(data, false, report, a);
    double *time_s = NEW(a, double, report->used_count);

    (void)err;
    (void)options;
    report->reason = report->used_count > 0 ? REGRESSION_OK : REGRESSION_NO_DATA;
    if (report->used_count == 0)
        return OK;
    for (size_t i = 0; i < report->used_count; i++) {
        time_s[i] = data->time_s[run[i]];
        add_run(model, data->inputs + run[i] * data->input_count, time_s[i]);
    }
    report->correlation = solve(model);
    if (report->used_count > LATEST_MAX)
        take_all(model, time_s, report->used_count);
    return OK;
}

double regression_freedom_linear(const struct regression_model *model)
{
    size_t base = regression_base(model);
    const double *c = model->coefficients + base;

    return model->coefficient_count > base + OWN && c[LINE] > 0 && c[RUNS] > 2 &&
                   c[SQUARES_X] > 0
               ? c[RUNS] - 2
               : (double)NAN;
}

void regression_predict_linear(const struct regression_model *model, const double *inputs,
                               const struct regression_level *level,
                               struct regression_prediction *out)
{
    size_t base = regression_base(model), latest;
    const double *c = model->coefficients + base;
    double x, half;

    out->reason = REGRESSION_NO_DATA;
    if (model->coefficient_count < base + OWN ||
        !(c[INPUT] >= 0 && c[INPUT] < (double)model->input_count) ||
        !(c[LATEST] >= 1 && c[LATEST] <= LATEST_MAX) ||
        model->coefficient_count != base + OWN + (size_t)c[LATEST])
        return;
    out->reason = REGRESSION_OK;
    latest = (size_t)c[LATEST];
    if (!(c[LINE] > 0)) {
        out->time_s = c[MEDIAN];
        if (latest < 3 || isnan(level->level))
            return;
        out->basis = REGRESSION_BASIS_QUANTILES;
        out->low_s = sorted_quantile(c + OWN, latest, (1 - level->level) / 2);
        out->high_s = sorted_quantile(c + OWN, latest, (1 + level->level) / 2);
        return;
    }
    x = inputs[(size_t)c[INPUT]];
    out->time_s = c[A] + c[B] * x;
    if (!(c[RUNS] > 2) || !(c[SQUARES_X] > 0))
        return;
    half = (x - c[MEAN_X]) / sqrt(c[SQUARES_X]);
    half = level_quantile(level, c[RUNS] - 2) * c[RESIDUAL_S] *
           sqrt(1 + 1 / c[RUNS] + half * half);
    out->basis = REGRESSION_BASIS_RESIDUALS;
    out->low_s = out->time_s - half;
    out->high_s = out->time_s + half;
}

size_t regression_linear_input(const struct regression_model *model)
{
    size_t base = regression_base(model);
    const double *c = model->coefficients + base;

    if (model->coefficient_count < base + OWN || !(c[LINE] > 0) || !(c[INPUT] >= 0) ||
        !(c[INPUT] < (double)model->input_count))
        return SIZE_MAX;
    return (size_t)c[INPUT];
}

bool regression_refine_linear(struct regression_model *model, const double *inputs,
                              double time_s)
{
    size_t size = S_INPUTS + I_COUNT * model->input_count + LATEST_MAX;

    if (model->statistic_count != size || !(model->statistics[S_RUNS] >= 1) ||
        !regression_usable(inputs, model->input_count, false, time_s))
        return false;
    add_run(model, inputs, time_s);
    solve(model);
    return true;
}

const char *regression_formula_linear(const struct regression_model *model,
                                      const char *const *input_names, struct arena *a)
{
    const double *c = model->coefficients + regression_base(model);
    const char *name;

    if (!(c[LINE] > 0))
        return arena_printf(a, "%.6g", c[MEDIAN]);
    name = regression_input_name(input_names, (size_t)c[INPUT], a);
    return name ? arena_printf(a, "%.6g + %.6g %s", c[A], c[B], name) : NULL;
}

/* regression/scale_out.c - data size over machines, with overheads that grow.
 *
 * With n machines and data of a size
 *
 *     t = a + b size/n + c log n + d n        a, b, c, d >= 0
 *
 * fixed work, work that is divided, a tree of messages, and a price per machine.
 * Fitted so that the mean relative error becomes small: runs of the same (n, size)
 * count once, by their median; rows are divided by their time, and fitted again and
 * again with weights 1/|relative error| (least absolute errors; a straggler among
 * the runs moves nothing). No coefficient is negative, so that no time is, and more
 * machines than were seen make it neither fall below what the work needs nor explode.
 *
 * Interval: times exp(+- t s) with Student's t and the scatter s of log(actual /
 * predicted) of all runs.
 *
 * Statistics: triangle of the weighted rows; a further run joins with the weight
 * that its error has before. Sources: S. Venkataraman et al., "Ernest", NSDI 2016;
 * J. Will et al., "C3O", 2021. Deviation: relative and absolute instead of squared
 * errors. Cost: O(runs log runs), a further run O(1).
 */
#include "models/regression/internal.h"

#include "models/base/order.h"
#include "models/regression/triangle.h"

#include <math.h>
#include <string.h>

#define ERROR_MIN 0.01 /* relative errors below count the same */
#define ERROR_MAX 20.0 /* a further run that is off by such a factor is no use */

enum { TERMS = 4, ITERATIONS = 15, CONFIGURATIONS_MIN = 3 };
enum { NODES, SIZE }; /* inputs */

/* Own coefficients: a, b, c, d, then these. */
enum { RUNS = TERMS, FREEDOM, SCATTER, OWN };

/* Statistics: the triangle, then these. */
enum { S_RUNS = TRIANGLE_SIZE(TERMS), S_SQUARES, STATISTICS };

static void terms(const double *inputs, double *row)
{
    row[0] = 1;
    row[1] = inputs[SIZE] / inputs[NODES];
    row[2] = log(inputs[NODES]);
    row[3] = inputs[NODES];
}

static double time_of(const double *coefficient, const double *inputs)
{
    double row[TERMS], time_s = 0;

    terms(inputs, row);
    for (size_t k = 0; k < TERMS; k++)
        time_s += coefficient[k] * row[k];
    return time_s;
}

/* Rotates in a run, its error being what the coefficients now say of it. */
static void add_run(double *triangle, const double *coefficient, const double *inputs,
                    double time_s, bool weigh)
{
    double row[TERMS + 1], error = 1, weight;

    if (weigh)
        error = fmax(fabs(time_of(coefficient, inputs) / time_s - 1), ERROR_MIN);
    weight = 1 / (time_s * sqrt(error));
    terms(inputs, row);
    row[TERMS] = time_s;
    for (size_t k = 0; k <= TERMS; k++)
        row[k] *= weight;
    triangle_add(triangle, TERMS, row);
}

static void solve(struct regression_model *m)
{
    double *c = m->coefficients + regression_base(m), *s = m->statistics, squares;
    unsigned mask = triangle_solve_nonnegative(s, TERMS, c, &squares);

    c[RUNS] = s[S_RUNS];
    c[FREEDOM] = s[S_RUNS];
    for (size_t k = 0; k < TERMS; k++)
        c[FREEDOM] -= mask >> k & 1;
    c[SCATTER] = c[FREEDOM] > 0 ? sqrt(s[S_SQUARES] / c[FREEDOM]) : 0;
    m->coefficient_count = regression_base(m) + OWN;
    m->statistic_count = STATISTICS;
}

static double squared_error(const double *coefficient, const double *inputs,
                            double time_s)
{
    double error = log(time_s / fmax(time_of(coefficient, inputs), time_s * 1e-6));

    return error * error;
}

enum error_code regression_fit_scale_out(const struct regression_data *data,
                                         const struct regression_options *options,
                                         struct regression_model *model,
                                         struct regression_report *report,
                                         struct arena *a, struct error *err)
{
    size_t *run = regression_usable_runs(data, true, report, a);
    double *median = NEW(a, double, report->used_count);
    double *value = NEW(a, double, report->used_count);
    double *c = model->coefficients + regression_base(model);
    struct run_groups g;

    (void)err;
    (void)options;
    regression_group(data, run, report->used_count, &g, a);
    report->reason = g.count == 0                   ? REGRESSION_NO_DATA
                     : g.count < CONFIGURATIONS_MIN ? REGRESSION_TOO_FEW
                                                    : REGRESSION_OK;
    if (report->reason != REGRESSION_OK)
        return OK;
    for (size_t i = 0; i < g.count; i++) {
        size_t length = g.start[i + 1] - g.start[i];

        for (size_t k = 0; k < length; k++)
            value[k] = data->time_s[g.run[g.start[i] + k]];
        median[i] = sort_median(value, length);
    }
    for (int k = 0, moved = 1; k < ITERATIONS && moved; k++) {
        double before[TERMS];

        memcpy(before, c, sizeof(before));
        memset(model->statistics, 0, sizeof(model->statistics));
        for (size_t i = 0; i < g.count; i++)
            add_run(model->statistics, c, data->inputs + 2 * g.run[g.start[i]], median[i],
                    k > 0);
        solve(model);
    }
    for (size_t i = 0; i < report->used_count; i++) {
        const double *inputs = data->inputs + 2 * run[i];

        model->statistics[S_RUNS]++;
        model->statistics[S_SQUARES] += squared_error(c, inputs, data->time_s[run[i]]);
        regression_see(model, inputs, data->time_s[run[i]]);
    }
    solve(model);
    return OK;
}

double regression_freedom_scale_out(const struct regression_model *model)
{
    size_t base = regression_base(model);
    const double *c = model->coefficients + base;

    return model->coefficient_count == base + OWN && c[FREEDOM] >= 1 && c[RUNS] >= 1
               ? c[FREEDOM]
               : (double)NAN;
}

void regression_predict_scale_out(const struct regression_model *model,
                                  const double *inputs,
                                  const struct regression_level *level,
                                  struct regression_prediction *out)
{
    size_t base = regression_base(model);
    const double *c = model->coefficients + base;
    double half;

    out->reason = REGRESSION_NO_DATA;
    if (model->input_count != 2 || model->coefficient_count != base + OWN)
        return;
    out->reason = REGRESSION_BAD_INPUT;
    if (!(inputs[NODES] > 0) || !(inputs[SIZE] >= 0))
        return;
    out->reason = REGRESSION_OK;
    out->time_s = time_of(c, inputs);
    if (!(c[FREEDOM] >= 1) || !(c[RUNS] >= 1))
        return;
    half = level_quantile(level, c[FREEDOM]) * c[SCATTER] * sqrt(1 + 1 / c[RUNS]);
    out->basis = REGRESSION_BASIS_RESIDUALS;
    out->low_s = out->time_s * exp(-half);
    out->high_s = out->time_s * exp(half);
}

bool regression_scale_out_parts(const struct regression_model *model, double problem_size,
                                double part[REGRESSION_SCALE_OUT_TERMS])
{
    size_t base = regression_base(model);
    const double *c = model->coefficients + base;

    if (model->input_count != 2 || model->coefficient_count != base + OWN ||
        !(problem_size >= 0))
        return false;
    memcpy(part, c, TERMS * sizeof(*c));
    part[1] *= problem_size;
    return true;
}

bool regression_refine_scale_out(struct regression_model *model, const double *inputs,
                                 double time_s)
{
    const double *c = model->coefficients + regression_base(model);
    double ratio;

    if (model->input_count != 2 || model->statistic_count != STATISTICS ||
        !regression_usable(inputs, 2, true, time_s))
        return false;
    ratio = time_of(c, inputs) / time_s;
    if (!(ratio < ERROR_MAX) || !(ratio > 1 / ERROR_MAX))
        return false;
    model->statistics[S_RUNS]++;
    model->statistics[S_SQUARES] += squared_error(c, inputs, time_s);
    add_run(model->statistics, c, inputs, time_s, true);
    regression_see(model, inputs, time_s);
    solve(model);
    return true;
}

const char *regression_formula_scale_out(const struct regression_model *model,
                                         const char *const *input_names, struct arena *a)
{
    const double *c = model->coefficients + regression_base(model);
    const char *n = regression_input_name(input_names, NODES, a);
    const char *size = regression_input_name(input_names, SIZE, a);

    if (!n || !size)
        return NULL;
    return arena_printf(a, "%.6g + %.6g %s/%s + %.6g log(%s) + %.6g %s", c[0], c[1], size,
                        n, c[2], n, c[3], n);
}

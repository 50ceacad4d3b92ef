/* regression/internal.c - what the kinds of models share. */
#include "models/regression/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void regression_begin(struct regression_model *m, size_t input_count)
{
    memset(m, 0, sizeof(*m));
    m->input_count = input_count;
    m->coefficients[COEFFICIENT_LEAST_S] = HUGE_VAL;
    for (size_t i = 0; i < input_count; i++) {
        m->coefficients[COEFFICIENT_RANGES + 2 * i] = HUGE_VAL;
        m->coefficients[COEFFICIENT_RANGES + 2 * i + 1] = -HUGE_VAL;
    }
    m->coefficient_count = regression_base(m);
}

void regression_see(struct regression_model *m, const double *inputs, double time_s)
{
    double *c = m->coefficients;

    c[COEFFICIENT_RUNS]++;
    c[COEFFICIENT_LEAST_S] = fmin(c[COEFFICIENT_LEAST_S], time_s);
    c[COEFFICIENT_GREATEST_S] = fmax(c[COEFFICIENT_GREATEST_S], time_s);
    for (size_t i = 0; i < m->input_count; i++) {
        double *range = c + COEFFICIENT_RANGES + 2 * i;

        range[0] = fmin(range[0], inputs[i]);
        range[1] = fmax(range[1], inputs[i]);
    }
}

bool regression_usable(const double *inputs, size_t count, bool positive, double time_s)
{
    for (size_t i = 0; i < count; i++) {
        if (!(fabs(inputs[i]) <= REGRESSION_NUMBER_MAX))
            return false;
        if (positive && !(inputs[i] >= 1 / REGRESSION_NUMBER_MAX))
            return false;
    }
    return time_s >= 1 / REGRESSION_NUMBER_MAX && time_s <= REGRESSION_NUMBER_MAX;
}

size_t *regression_usable_runs(const struct regression_data *data, bool positive,
                               struct regression_report *report, struct arena *a)
{
    size_t *run = NEW(a, size_t, data->sample_count);

    for (size_t i = 0; i < data->sample_count; i++) {
        const double *row = data->inputs + i * data->input_count;

        if (regression_usable(row, data->input_count, positive, data->time_s[i]))
            run[report->used_count++] = i;
        else
            report->unusable_count++;
    }
    return run;
}

/* P(|T| < t) with angle = atan(t / sqrt(n)), Abramowitz and Stegun 26.7.3, 26.7.4. */
static double student_share(double angle, size_t n)
{
    double c = cos(angle), s = sin(angle), term, sum;

    if (n == 1)
        return 2 * angle / M_PI;
    term = sum = n % 2 ? c : 1;
    for (size_t k = n % 2 ? 3 : 2; k + 1 < n; k += 2) {
        term *= c * c * (double)(k - 1) / (double)k;
        sum += term;
    }
    return n % 2 ? 2 * (angle + s * sum) / M_PI : s * sum;
}

double student_quantile(double level, double freedom)
{
    enum { STEPS = 60, FREEDOM_MAX = 200 };
    size_t n = (size_t)fmin(fmax(freedom, 1), FREEDOM_MAX);
    double low = 0, high = M_PI / 2;

    if (isnan(level))
        return NAN;
    for (int step = 0; step < STEPS; step++) {
        double middle = low + (high - low) / 2;

        if (student_share(middle, n) < level)
            low = middle;
        else
            high = middle;
    }
    return tan(low) * sqrt((double)n);
}

/* ---- runs with equal inputs ---- */

struct group_row {
    const double *inputs;
    size_t input_count, run;
};

static int compare_inputs(const struct group_row *x, const struct group_row *y)
{
    for (size_t i = 0; i < x->input_count; i++) {
        if (x->inputs[i] != y->inputs[i])
            return x->inputs[i] < y->inputs[i] ? -1 : 1;
    }
    return 0;
}

static int compare_rows(const void *a, const void *b)
{
    const struct group_row *x = a, *y = b;
    int order = compare_inputs(x, y);

    return order != 0 ? order : (x->run > y->run) - (x->run < y->run);
}

void regression_group(const struct regression_data *data, const size_t *runs,
                      size_t count, struct run_groups *out, struct arena *a)
{
    struct group_row *rows = NEW(a, struct group_row, count);

    *out = (struct run_groups){NEW(a, size_t, count), NEW(a, size_t, count + 1), 0};
    for (size_t i = 0; i < count; i++)
        rows[i] = (struct group_row){data->inputs + runs[i] * data->input_count,
                                     data->input_count, runs[i]};
    qsort(rows, count, sizeof(*rows), compare_rows);
    for (size_t i = 0; i < count; i++) {
        out->run[i] = rows[i].run;
        if (i == 0 || compare_inputs(&rows[i - 1], &rows[i]) != 0)
            out->start[out->count++] = i;
    }
    out->start[out->count] = count;
}

const char *regression_input_name(const char *const *names, size_t input, struct arena *a)
{
    return names && names[input] ? names[input] : arena_printf(a, "x%zu", input + 1);
}

/* regression/regression.c - the table of kinds, and what holds for all of them.
 *
 * A query more than FAR times outside the runs is not answered. Nor is a time that
 * is 1000 k^10 times longer than the longest seen or shorter than the shortest, the
 * query lying k times outside (k = 1: inside): no polynomial that we fit grows so.
 */
#include "models/regression/internal.h"

#include <math.h>
#include <string.h>

#define FAR 1000.0

enum { CROSS_RUNS_MAX = 64 }; /* with more runs leaving each one out is not computed */

const char *const regression_reason_names[] = {
#define X(symbol, name, meaning) #name,
    REGRESSION_REASONS(X)
#undef X
        NULL,
};

const char *const regression_basis_names[] = {
#define X(symbol, name, meaning) #name,
    REGRESSION_BASES(X)
#undef X
        NULL,
};

const struct regression_kind regression_kinds[] = {
#define X(name, least, most, refines, purpose, source) \
    {#name,                                            \
     purpose,                                          \
     source,                                           \
     least,                                            \
     most,                                             \
     refines,                                          \
     regression_fit_##name,                            \
     regression_predict_##name,                        \
     regression_freedom_##name,                        \
     regression_refine_##name,                         \
     regression_formula_##name},
    REGRESSION_KINDS(X)
#undef X
        {0},
};

const struct regression_kind *regression_kind_find(const char *name)
{
    for (const struct regression_kind *k = regression_kinds; k->name; k++) {
        if (strcmp(k->name, name) == 0)
            return k;
    }
    return NULL;
}

/* ---- predict ---- */

/* How many times x lies outside [low, high], >= 1. */
static double outside(double x, double low, double high)
{
    double far = x > high ? x - high : low - x;
    double unit = fmax(high - low, fmax(fabs(low), fabs(high)));

    if (x >= low && x <= high)
        return 1;
    if (low > 0 && x > 0)
        return x > high ? x / high : low / x;
    return unit > 0 ? 1 + far / unit : HUGE_VAL;
}

static void measure_distance(const struct regression_model *m, const double *inputs,
                             struct regression_prediction *out)
{
    out->extrapolation_ratio = 1;
    for (size_t i = 0; i < m->input_count; i++) {
        const double *range = m->coefficients + COEFFICIENT_RANGES + 2 * i;
        double ratio = outside(inputs[i], range[0], range[1]);

        if (ratio > out->extrapolation_ratio) {
            out->extrapolation_ratio = ratio;
            out->extrapolated_input = i;
        }
    }
}

/* Of a time that the formula gave. */
static enum regression_reason assess(const struct regression_model *m,
                                     struct regression_prediction *out)
{
    const double *c = m->coefficients;
    double bound = 1000 * pow(out->extrapolation_ratio, 10);

    if (!isfinite(out->time_s))
        return REGRESSION_NOT_FINITE;
    if (out->time_s <= 0 && out->extrapolation_ratio <= 1) {
        out->time_s = c[COEFFICIENT_LEAST_S];
        out->floored = true;
    }
    if (out->time_s <= 0)
        return REGRESSION_NOT_POSITIVE;
    if (out->time_s > c[COEFFICIENT_GREATEST_S] * bound ||
        out->time_s < c[COEFFICIENT_LEAST_S] / bound)
        return REGRESSION_ABSURD;
    return REGRESSION_OK;
}

static void forget_time(struct regression_prediction *out)
{
    out->time_s = out->low_s = out->high_s = NAN;
    out->basis = REGRESSION_BASIS_NONE;
}

/* Those that the kind may have; others come from storage. */
static bool has_counts(const struct regression_kind *kind,
                       const struct regression_model *m)
{
    return m->input_count >= kind->inputs_min && m->input_count <= kind->inputs_max &&
           m->coefficient_count >= regression_base(m) &&
           m->coefficient_count <= REGRESSION_COEFFICIENTS_MAX &&
           m->statistic_count <= REGRESSION_STATISTICS_MAX;
}

static enum regression_reason predict(const struct regression_kind *kind,
                                      const struct regression_model *m,
                                      const double *inputs,
                                      const struct regression_level *level,
                                      struct regression_prediction *out)
{
    if (!has_counts(kind, m))
        return REGRESSION_NO_DATA;
    for (size_t i = 0; i < m->input_count; i++) {
        if (!isfinite(inputs[i]))
            return REGRESSION_BAD_INPUT;
    }
    measure_distance(m, inputs, out);
    if (out->extrapolation_ratio > FAR)
        return REGRESSION_FAR;
    kind->predict(m, inputs, level, out);
    return out->reason == REGRESSION_OK ? assess(m, out) : out->reason;
}

struct regression_level regression_level_of(const struct regression_kind *kind,
                                            const struct regression_model *model,
                                            double level)
{
    struct regression_level l = {level, NAN, NAN};

    if (isnan(level) || !has_counts(kind, model))
        return l;
    l.freedom = kind->freedom(model);
    if (!isnan(l.freedom))
        l.quantile = student_quantile(level, l.freedom);
    return l;
}

void regression_predict(const struct regression_kind *kind,
                        const struct regression_model *model, const double *inputs,
                        double level, struct regression_prediction *out)
{
    const struct regression_level l = {level, NAN, NAN};

    regression_predict_at(kind, model, inputs, &l, out);
}

void regression_predict_at(const struct regression_kind *kind,
                           const struct regression_model *model, const double *inputs,
                           const struct regression_level *level,
                           struct regression_prediction *out)
{
    *out =
        (struct regression_prediction){.level = level->level, .extrapolation_ratio = 1};
    forget_time(out);
    out->reason = predict(kind, model, inputs, level, out);
    if (out->reason != REGRESSION_OK) {
        forget_time(out);
        return;
    }
    if (out->basis == REGRESSION_BASIS_NONE || !isfinite(out->low_s) ||
        !isfinite(out->high_s)) {
        out->basis = REGRESSION_BASIS_NONE;
        out->low_s = out->high_s = NAN;
        return;
    }
    out->low_s = fmin(fmax(out->low_s, 0), out->time_s);
    out->high_s = fmax(out->high_s, out->time_s);
}

bool regression_refine(const struct regression_kind *kind, struct regression_model *model,
                       const double *inputs, double time_s)
{
    return kind->refines && model->input_count >= kind->inputs_min &&
           model->input_count <= kind->inputs_max && kind->refine(model, inputs, time_s);
}

const char *regression_formula(const struct regression_kind *kind,
                               const struct regression_model *model,
                               const char *const *input_names, struct arena *a)
{
    double inputs[REGRESSION_INPUTS_MAX] = {0};
    struct regression_prediction p;

    for (size_t i = 0; i < model->input_count && i < REGRESSION_INPUTS_MAX; i++)
        inputs[i] = model->coefficients[COEFFICIENT_RANGES + 2 * i];
    regression_predict(kind, model, inputs, NAN, &p);
    if (p.reason == REGRESSION_NO_DATA)
        return NULL;
    return kind->formula(model, input_names, a);
}

/* ---- fit ---- */

static bool is_outlier(const struct regression_report *report, size_t run, size_t *next)
{
    while (*next < report->outlier_count && report->outliers[*next] < run)
        (*next)++;
    return *next < report->outlier_count && report->outliers[*next] == run;
}

/* Errors on the runs that the model was fitted to, as far as it answers. */
static void fill_errors(const struct regression_kind *kind,
                        const struct regression_data *data,
                        const struct regression_model *m, struct regression_report *out)
{
    double error_sum = 0, squares = 0, mean = 0, spread = 0;
    size_t count = 0, next = 0;

    for (size_t i = 0; i < data->sample_count; i++) {
        double time_s = data->time_s[i], off = time_s - mean;
        struct regression_prediction p;

        regression_predict(kind, m, data->inputs + i * data->input_count, NAN, &p);
        if (p.reason != REGRESSION_OK || !(time_s > 0) || !isfinite(time_s) ||
            p.extrapolation_ratio > 1 || is_outlier(out, i, &next))
            continue;
        count++;
        mean += off / (double)count;
        spread += off * (time_s - mean);
        error_sum += fabs(time_s - p.time_s) / time_s;
        squares += (time_s - p.time_s) * (time_s - p.time_s);
    }
    if (count > 0)
        out->appe_pct = 100 * error_sum / (double)count;
    if (count > 2)
        out->standard_error_s = sqrt(squares / (double)(count - 2));
    if (spread > 0)
        out->r_squared = 1 - squares / spread;
}

/* Predicts each run from the others. */
static enum error_code cross_validate(const struct regression_kind *kind,
                                      const struct regression_data *data,
                                      const struct regression_options *options,
                                      struct regression_report *out, struct arena *a,
                                      struct error *err)
{
    size_t inputs = data->input_count, count = 0, next = 0;
    double *input = NEW(a, double, data->sample_count *inputs);
    double *time_s = NEW(a, double, data->sample_count);
    struct regression_data rest = {inputs, input, time_s, data->sample_count - 1};
    struct regression_model *m = NEW(a, struct regression_model, 1);
    double error_sum = 0;

    for (size_t i = 0; i < data->sample_count; i++) {
        const double *row = data->inputs + i * inputs;
        struct regression_report report = {0};
        struct regression_prediction p;

        if (is_outlier(out, i, &next) ||
            !regression_usable(row, inputs, false, data->time_s[i]))
            continue;
        memcpy(input, data->inputs, i * inputs * sizeof(*input));
        memcpy(time_s, data->time_s, i * sizeof(*time_s));
        memcpy(input + i * inputs, row + inputs,
               (data->sample_count - 1 - i) * inputs * sizeof(*input));
        memcpy(time_s + i, data->time_s + i + 1,
               (data->sample_count - 1 - i) * sizeof(*time_s));
        regression_begin(m, inputs);
        TRY(kind->fit(&rest, options, m, &report, a, err));
        if (report.reason != REGRESSION_OK)
            continue;
        regression_predict(kind, m, row, NAN, &p);
        if (p.reason != REGRESSION_OK)
            continue;
        error_sum += fabs(data->time_s[i] - p.time_s) / data->time_s[i];
        count++;
    }
    if (count > 0)
        out->cross_appe_pct = 100 * error_sum / (double)count;
    return OK;
}

enum error_code
regression_fit(const struct regression_kind *kind, const struct regression_data *data,
               const struct regression_options *options, struct regression_model *model,
               struct regression_report *report, struct arena *a, struct error *err)
{
    struct regression_model *made = NEW(a, struct regression_model, 1);
    struct regression_report r = {.appe_pct = NAN,
                                  .cross_appe_pct = NAN,
                                  .standard_error_s = NAN,
                                  .correlation = NAN,
                                  .r_squared = NAN};

    if (data->input_count < kind->inputs_min || data->input_count > kind->inputs_max)
        invalid(err, "/inputs", ITEM_OUT_OF_BOUNDS, "%s takes %zu to %zu inputs, not %zu",
                kind->name, kind->inputs_min, kind->inputs_max, data->input_count);
    if (data->sample_count > REGRESSION_SAMPLES_MAX)
        invalid(err, "/samples", ITEM_OUT_OF_BOUNDS, "at most %d runs",
                REGRESSION_SAMPLES_MAX);
    if (err->code != OK)
        return err->code;
    regression_begin(made, data->input_count);
    TRY(kind->fit(data, options, made, &r, a, err));
    if (r.reason == REGRESSION_OK) {
        const char *const *names = options ? options->input_names : NULL;

        fill_errors(kind, data, made, &r);
        if (isnan(r.cross_appe_pct) && data->sample_count <= CROSS_RUNS_MAX)
            TRY(cross_validate(kind, data, options, &r, a, err));
        r.formula = kind->formula(made, names, a);
    }
    *model = *made;
    *report = r;
    return OK;
}

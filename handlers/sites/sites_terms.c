/* sites_terms.c - fitted models as terms of machines, and how far they can be trusted.
 *
 * A comprehensive model is one term. scale_out is a sum of four, each divided by the
 * CPU: a + b size/n + c ln n + d n. A model of the problem size alone is a constant:
 * more machines make it neither faster nor slower. kind auto has no terms: a curve of
 * scale_out's form is fitted to what it says of some numbers of processors, up to twice
 * as many as were seen.
 *
 * Deviation: the source searches with auto's own times; ours follow them but for what is
 * told, and types of machines make no difference.
 *
 * Source: spec learning.md 9.5 for kinds without terms of their own; 4.3 for intervals.
 */
#include "handlers/sites/sites_terms.h"

#include "models/fitted/core.h"

#include <math.h>
#include <string.h>

#define INTERVAL_LEVEL 0.9

static const char *const input_names[STORED_INPUTS] = {
    "problem_size", "processors", "cpu_available_ratio", "bandwidth_mbps"};

/* ---- terms ---- */

/* Functions of P by which a term is divided: functions.h. */
enum { P_CONSTANT = 0, P_PROCESSORS = 2, P_GROWS = 10, P_LOG_GROWS = 15 };

static bool has_inputs(const struct fitted_model *m, const char *first,
                       const char *second)
{
    size_t count;
    const char *const *names = fitted_inputs(m->kind, &m->settings, &count);

    return count == (second ? 2U : 1U) && strcmp(names[0], first) == 0 &&
           (!second || strcmp(names[1], second) == 0);
}

static struct site_term computation(double time_s, int p_id)
{
    return (struct site_term){.comp_coefficient_s = time_s,
                              .f_pcomp_id = p_id,
                              .f_bw_id = (double)NAN,
                              .f_pcomm_id = (double)NAN};
}

static size_t scale_out_terms(const struct fitted_model *m, double problem_size,
                              struct site_term *out, double *single_s)
{
    double part[REGRESSION_SCALE_OUT_TERMS];
    static const int ids[REGRESSION_SCALE_OUT_TERMS] = {P_CONSTANT, P_PROCESSORS,
                                                        P_LOG_GROWS, P_GROWS};
    size_t count = 0;

    if (!regression_scale_out_parts(&m->regression, problem_size, part))
        return 0;
    for (size_t i = 0; i < REGRESSION_SCALE_OUT_TERMS; i++)
        if (part[i] > 0 && isfinite(part[i]))
            out[count++] = computation(part[i], ids[i]);
    *single_s = part[0] + part[1] + part[3]; /* ln 1 = 0 */
    return count;
}

static size_t constant_term(const struct fitted_model *m, double problem_size,
                            struct site_term *out, double *single_s)
{
    struct perf_query query = {problem_size, 1, 1, (double)NAN};
    double inputs[FITTED_INPUTS_MAX] = {problem_size};
    struct fitted_prediction p;

    fitted_predict(m, &query, inputs, NULL, &p);
    if (p.reason)
        return 0;
    *out = computation(p.time_s, P_CONSTANT);
    *single_s = p.time_s;
    return 1;
}

size_t site_terms_of_fitted(const struct fitted_model *m, double problem_size,
                            struct site_term out[SITE_FITTED_TERMS], double *single_s)
{
    size_t count = 0;

    *single_s = (double)NAN;
    if (m->reason || m->kind == MODEL_AUTO)
        return 0;
    if (m->kind == MODEL_SCALE_OUT && has_inputs(m, "processors", "problem_size"))
        count = scale_out_terms(m, problem_size, out, single_s);
    else if (m->kind >= MODEL_LINEAR && has_inputs(m, "problem_size", NULL))
        count = constant_term(m, problem_size, out, single_s);
    if (!(*single_s > 0) || !isfinite(*single_s))
        *single_s = (double)NAN;
    return count;
}

/* ---- kind auto ---- */

enum { CURVE_POINTS = 48 };

/* Numbers of processors from 1 on, ever farther apart. */
static size_t spread_processors(double most, double *out)
{
    size_t count = 0;

    for (double p = 1; p <= most && count < CURVE_POINTS;
         p = fmax(p + 1, floor(p * 1.25)))
        out[count++] = p;
    return count;
}

static double auto_time_s(const struct fitted_model *m, double problem_size,
                          double processors)
{
    struct perf_query query = {problem_size, processors, 1, (double)NAN};
    double inputs[FITTED_INPUTS_MAX];
    struct fitted_prediction p;

    fitted_auto_inputs(m->names, &query, NULL, 0, NULL, NULL, inputs, NULL);
    fitted_predict(m, &query, inputs, NULL, &p);
    return p.reason ? (double)NAN : p.time_s;
}

static double curve_s(const double part[REGRESSION_SCALE_OUT_TERMS], double processors)
{
    return part[0] + part[1] / processors + part[2] * log(processors) +
           part[3] * processors;
}

size_t site_terms_of_auto(const struct fitted_model *m, double problem_size,
                          struct site_term out[SITE_FITTED_TERMS], double *single_s,
                          double *off, struct arena *a)
{
    const struct regression_kind *kind = regression_kind_find("scale_out");
    double inputs[2 * CURVE_POINTS], time_s[CURVE_POINTS], processors[CURVE_POINTS];
    double part[REGRESSION_SCALE_OUT_TERMS] = {0};
    struct fitted_model *curve = NEW(a, struct fitted_model, 1);
    struct regression_report report;
    struct error ignored = {.arena = a};
    size_t count, terms;

    *off = 0;
    *single_s = (double)NAN;
    if (m->reason || !m->ensemble)
        return 0;
    count = spread_processors(2 * fmax(m->seen.processors.high, 1), processors);
    for (size_t i = 0; i < count; i++) {
        inputs[2 * i] = processors[i];
        inputs[2 * i + 1] = 1;
        time_s[i] = auto_time_s(m, problem_size, processors[i]);
        if (!(time_s[i] > 0))
            return 0;
    }
    if (!(m->seen.processors.low < m->seen.processors.high)) {
        *single_s = auto_time_s(m, problem_size, m->seen.processors.low);
        *out = computation(*single_s, P_CONSTANT);
        return *single_s > 0 ? 1 : 0;
    }
    if (regression_fit(kind, &(struct regression_data){2, inputs, time_s, count}, NULL,
                       &curve->regression, &report, a, &ignored) != OK ||
        report.reason != REGRESSION_OK)
        return 0;
    terms = scale_out_terms(curve, 1, out, single_s);
    if (terms == 0 || !regression_scale_out_parts(&curve->regression, 1, part))
        return 0;
    for (size_t i = 0; i < count; i++)
        *off = fmax(*off, fabs(log(curve_s(part, processors[i]) / time_s[i])));
    if (!(*single_s > 0) || !isfinite(*single_s))
        *single_s = (double)NAN;
    return isfinite(*off) ? terms : 0;
}

bool site_terms_ignore_machines(const struct fitted_model *m)
{
    if (m->kind == MODEL_AUTO)
        return !(m->seen.processors.low < m->seen.processors.high);
    return m->kind >= MODEL_LINEAR && has_inputs(m, "problem_size", NULL);
}

/* ---- reach ---- */

static void widen(struct stored_reach *r, size_t input, struct perf_range range)
{
    if (isnan(range.low))
        return;
    if (r->high[input] < r->low[input]) {
        r->low[input] = range.low;
        r->high[input] = range.high;
        return;
    }
    r->low[input] = fmin(r->low[input], range.low);
    r->high[input] = fmax(r->high[input], range.high);
}

static void reach_of_terms(const struct fitted_model *m, struct stored_reach *r)
{
    const struct perf_seen *seen[] = {&m->seen, &m->set.single_seen,
                                      &m->set.parallel_seen};

    for (size_t i = 0; i < sizeof(seen) / sizeof(seen[0]); i++) {
        widen(r, 0, seen[i]->problem_size);
        widen(r, 1, seen[i]->processors);
        widen(r, 2, seen[i]->cpu_available_ratio);
        widen(r, 3, seen[i]->bandwidth_mbps);
    }
}

static void reach_of_inputs(const struct fitted_model *m, struct stored_reach *r)
{
    size_t count;
    const char *const *names = fitted_inputs(m->kind, &m->settings, &count);

    for (size_t k = 0; k < count; k++)
        for (size_t i = 0; i < STORED_INPUTS; i++)
            if (strcmp(names[k], input_names[i]) == 0)
                widen(r, i, m->core->range[k]);
}

void site_reach_of_fitted(const struct fitted_model *m, double off, const double **out,
                          size_t *count, struct arena *a)
{
    struct stored_reach r = {.low = {1, 1, 1, 1}};
    struct fitted_interval interval;
    double *numbers = NEW(a, double, sizeof(r) / sizeof(double));
    bool is_ported = m->kind == MODEL_COMPREHENSIVE && m->set.reference;

    if (m->kind == MODEL_COMPREHENSIVE || m->kind == MODEL_AUTO)
        reach_of_terms(m, &r);
    else if (m->core)
        reach_of_inputs(m, &r);
    if (m->core && !is_ported) {
        core_interval(m->core, INTERVAL_LEVEL, &interval, a);
        for (size_t i = 0; i < 2; i++) {
            r.scale[i] = interval.scale[LOG_INSIDE + i] + off;
            r.quantile[i] = interval.quantile[LOG_INSIDE + i];
        }
    }
    memcpy(numbers, &r, sizeof(r));
    *out = numbers;
    *count = sizeof(r) / sizeof(double);
}

void stored_model_interval(const struct stored_model *model, double time_s,
                           const double inputs[STORED_INPUTS],
                           struct stored_interval *out)
{
    struct stored_reach r;
    double constant = 1, half;
    size_t group;

    *out = (struct stored_interval){(double)NAN, (double)NAN, (double)NAN, (double)NAN,
                                    NULL};
    if (model->reach_count != sizeof(r) / sizeof(double))
        return;
    memcpy(&r, model->reach, sizeof(r));
    for (size_t i = 0; i < STORED_INPUTS; i++) {
        double d;

        if (isnan(inputs[i]) || r.high[i] < r.low[i])
            continue;
        d = log_distance(inputs[i], r.low[i], r.high[i]);
        out->extrapolation_ratio = fmax(out->extrapolation_ratio, d);
        if (r.low[i] == r.high[i] && i < 2)
            constant = fmax(constant, d);
    }
    if (isnan(out->extrapolation_ratio) || !(r.quantile[0] > 0))
        return;
    group = out->extrapolation_ratio > 1;
    half = log_half(r.quantile[group], r.scale[group], 0, out->extrapolation_ratio, 0,
                    constant);
    out->low_s = time_s * exp(-half);
    out->high_s = time_s * exp(half);
    out->error_ratio = expm1(r.scale[group]);
    out->basis = log_group_names[LOG_INSIDE + group];
}

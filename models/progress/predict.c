/* progress/predict.c - the prediction: which case it is, which function fits best, and
 * whether its limit can be believed.
 *
 *     ResNorm_j = sum over the points of (psi_j - E)^2     least wins, ties: first listed
 *
 * psi1 and psi2 contain the constant, so it could never win that way. When it is among
 * the functions it wins unless the best exponential lowers the sum by enough for two
 * more parameters, F = ((RN_const - RN) / 2) / (RN / (n - 3)) >= 4.
 *
 * Source: spec runtime-prediction.md 3, 4.2, 4.3 (start of the simplex), 4.5, 5, 11;
 * 000_168dd5aef5075332 (6.1), (6.3) [L2128-L2143].
 * Deviation: estimates above 1e100, or all times below 1e-100, are not fitted but
 * extrapolated (`no_fit`): their squares would not be finite.
 */
#include "models/base/order.h"
#include "models/progress/application.h"
#include "models/progress/internal.h"

#include <assert.h>
#include <string.h>

static const double F_LEAST = 4, BOUND_TOLERANCE = 1e-6, ESTIMATE_MAX = 1e100,
                    TIME_MIN = 1e-100;

const char *const progress_function_names[] = {
#define X(name, params, purpose) #name,
    PROGRESS_FUNCTIONS(X)
#undef X
        NULL};
static const size_t param_counts[] = {
#define X(name, params, purpose) params,
    PROGRESS_FUNCTIONS(X)
#undef X
};
const char *const progress_source_names[] = {
#define X(name, meaning) #name,
    PROGRESS_SOURCES(X)
#undef X
        NULL};
const char *const progress_source_texts[] = {
#define X(name, meaning) meaning,
    PROGRESS_SOURCES(X)
#undef X
        NULL};
const char *const progress_flag_names[] = {"at_lower_bound", "at_upper_bound",
                                           "oscillating", "corrected", NULL};
const char *const progress_fallback_names[] = {"no_fit", "limit_out_of_range", NULL};

const struct progress_function_in *progress_functions_of(const struct progress_in *in,
                                                         size_t *count)
{
    static const struct progress_function_in both[] = {{.function = PROGRESS_psi1},
                                                       {.function = PROGRESS_psi2}};

    *count = in->functions ? in->function_count : 2;
    return in->functions ? in->functions : both;
}

/* ---- the series ---- */

static bool over_work(const struct progress_in *in)
{
    return in->options.abscissa == PROGRESS_WORK ||
           (in->options.abscissa == PROGRESS_AUTO && in->history.work_known);
}

/* The estimate at a point, smoothed over what lies within the window on both sides. */
static double smoothed(const struct progress_in *in, size_t at)
{
    const struct progress_point *points = in->history.points;
    size_t half = in->options.window / 2, n = in->history.count;
    double value[99], sum = 0;

    half = half < at ? half : at;
    half = half < n - 1 - at ? half : n - 1 - at;
    if (in->options.smoothing == PROGRESS_AS_IS || half == 0)
        return points[at].estimate_ref_s;
    for (size_t i = 0; i < 2 * half + 1; i++) {
        value[i] = points[at - half + i].estimate_ref_s;
        sum += value[i];
    }
    return in->options.smoothing == PROGRESS_MEAN ? sum / (double)(2 * half + 1)
                                                  : sort_median(value, 2 * half + 1);
}

/* The prediction's points as a series; not usable: they have no range. */
static void series_of(const struct progress_in *in, struct progress_series *out,
                      bool *usable, struct arena *a)
{
    const struct progress_point *points = in->history.points;
    size_t n = in->history.count;
    double *u = NEW(a, double, n), *v = NEW(a, double, n), *z = NEW(a, double, n);
    bool work = over_work(in);

    *out = (struct progress_series){.u = u, .v = v, .count = n, .z = z};
    out->range = work ? points[n - 1].work_ref_s : points[n - 1].elapsed_s;
    *usable = out->range >= TIME_MIN;
    for (size_t i = 0; i < n && *usable; i++) {
        u[i] = (work ? points[i].work_ref_s : points[i].elapsed_s) / out->range;
        v[i] = smoothed(in, i);
        out->scale = fmax(out->scale, fabs(v[i]));
        *usable = isfinite(u[i]) && out->scale <= ESTIMATE_MAX;
    }
    *usable = *usable && out->scale >= TIME_MIN;
    for (size_t i = 0; i < n && *usable; i++)
        v[i] /= out->scale;
}

/* ---- the fits ---- */

/* Where the simplex starts: what the caller says, the usual shape of the application, or
 * the ends of the estimates. */
static void start_of(const struct progress_in *in, const struct progress_function_in *f,
                     const struct progress_series *s, double *start)
{
    const struct progress_point *last = &in->history.points[in->history.count - 1];
    double from = s->v[0], to = s->v[s->count - 1];
    double b = progress_sign(f->function) * (from - to);

    start[0] = to;
    start[1] = b > 0 ? b : 0.1 * fabs(to);
    start[2] = 3; /* decayed to 5 % at the end */
    if (f->has_init) {
        start[0] = f->init[0] / s->scale;
        start[1] = f->init[1] / s->scale;
        start[2] = f->init[2] * s->range;
    } else if (in->known && f->function != PROGRESS_constant &&
               in->known->shape[f->function].task_count >= PROGRESS_TASKS_LEAST) {
        const struct progress_shape *shape = &in->known->shape[f->function];

        start[1] = shape->amplitude_ratio * to;
        start[2] = shape->decay_ratio * last->work_ref_s / last->estimate_ref_s;
    }
}

static size_t best_of(const struct progress_function_in *functions, size_t count,
                      const struct progress_fitted *fitted, size_t points)
{
    size_t best = count, constant = count;
    double f;

    for (size_t j = 0; j < count; j++) {
        if (functions[j].function == PROGRESS_constant)
            constant = constant < count ? constant : j;
        else if (best == count || fitted[j].res < fitted[best].res)
            best = j;
    }
    if (best == count)
        return constant;
    if (constant == count || points <= 3)
        return best;
    if (fitted[best].res == 0)
        f = fitted[constant].res > 0 ? HUGE_VAL : 0;
    else
        f = (fitted[constant].res - fitted[best].res) / 2 /
            (fitted[best].res / (double)(points - 3));
    return f >= F_LEAST ? best : constant;
}

/* Every function, and the index of the one that wins. */
static size_t fit_all(const struct progress_in *in, const struct progress_series *s,
                      struct progress_fitted *fitted)
{
    bool simplex = in->options.method == PROGRESS_SIMPLEX || in->options.strict_seed;
    struct progress_fitted both[2] = {{.res = HUGE_VAL}, {.res = HUGE_VAL}};
    const struct progress_function_in *functions;
    double start[PROGRESS_PARAMS_MAX];
    size_t count;

    functions = progress_functions_of(in, &count);
    if (!simplex)
        progress_varpro(s, in->options.k_min, in->options.k_max, both);
    for (size_t j = 0; j < count; j++) {
        if (functions[j].function == PROGRESS_constant) {
            progress_mean(s, &fitted[j]);
        } else if (!simplex) {
            fitted[j] = both[functions[j].function];
        } else {
            start_of(in, &functions[j], s, start);
            progress_simplex(s, functions[j].function, start, &fitted[j]);
        }
    }
    return best_of(functions, count, fitted, s->count);
}

double progress_deviation(const struct progress_series *s,
                          const struct progress_fitted *f)
{
    return s->count > 3 ? sqrt(f->res / (double)(s->count - 3)) : (double)NAN;
}

/* ---- the answer ---- */

static struct progress_candidate candidate_of(const struct progress_in *in,
                                              const struct progress_series *s,
                                              enum progress_function function,
                                              const struct progress_fitted *f)
{
    struct progress_candidate c = {
        .function = function,
        .param_count = param_counts[function],
        .param = {f->a * s->scale, f->b * s->scale, f->k / s->range},
        .res_norm = f->res * s->scale * s->scale,
        .limit_ref_s = f->a * s->scale,
    };
    bool bounded = function != PROGRESS_constant && f->b > 0 && !in->options.strict_seed;

    if (bounded && fabs(f->k / in->options.k_min - 1) <= BOUND_TOLERANCE)
        c.flags |= PROGRESS_AT_LOWER_BOUND;
    if (bounded && fabs(f->k / in->options.k_max - 1) <= BOUND_TOLERANCE)
        c.flags |= PROGRESS_AT_UPPER_BOUND;
    return c;
}

static const struct progress_point *last_point(const struct progress_in *in)
{
    return &in->history.points[in->history.count - 1];
}

/* Why the limit is not believed; NULL: it is. */
static const char *doubt(const struct progress_in *in, const struct progress_fitted *f,
                         const struct progress_candidate *c)
{
    const struct progress_options *o = &in->options;
    double greatest = 0;

    if (!(f->res < HUGE_VAL) || !isfinite(c->limit_ref_s) || !isfinite(c->res_norm))
        return progress_fallback_names[PROGRESS_NO_FIT];
    if (o->strict_seed)
        return NULL;
    if (c->function != PROGRESS_constant && o->method == PROGRESS_SIMPLEX &&
        (f->k < o->k_min || f->k > o->k_max))
        return progress_fallback_names[PROGRESS_NO_FIT];
    for (size_t i = 0; i < in->history.count; i++)
        greatest = fmax(greatest, in->history.points[i].estimate_ref_s);
    return c->limit_ref_s <= 0 || c->limit_ref_s < last_point(in)->work_ref_s ||
                   c->limit_ref_s > o->max_factor * greatest
               ? progress_fallback_names[PROGRESS_LIMIT_OUT_OF_RANGE]
               : NULL;
}

/* The last extrapolation, or what the filter makes of it; not below the work done. */
static void extrapolate(const struct progress_in *in, enum progress_source source,
                        struct progress_out *out, struct arena *a)
{
    size_t n = in->history.count;
    double *estimates = NEW(a, double, n), answer;

    for (size_t i = 0; i < n; i++)
        estimates[i] = in->history.points[i].estimate_ref_s;
    if (progress_oscillates(estimates, n, in->options.filter_window))
        out->flags |= PROGRESS_OSCILLATING;
    answer = progress_filtered_ref_s(in->options.estimate_filter, estimates, n,
                                     in->options.filter_window);
    if (source == PROGRESS_FROM_single_sample) {
        double ratio =
            progress_estimate_ratio(in->known, 100 * last_point(in)->work_ref_s / answer);

        answer /= ratio;
        out->flags |= ratio != 1 ? PROGRESS_CORRECTED : 0u;
    }
    out->source = source;
    if (source != PROGRESS_FROM_single_sample &&
        (in->options.estimate_filter == PROGRESS_FILTER_AVERAGE ||
         (in->options.estimate_filter == PROGRESS_FILTER_AUTO &&
          out->flags & PROGRESS_OSCILLATING)))
        out->source = PROGRESS_FROM_average;
    out->estimate_ref_s = fmax(answer, last_point(in)->work_ref_s);
}

static void no_fit(const struct progress_in *in, const char *reason,
                   struct progress_out *out, struct arena *a)
{
    out->reason = reason;
    extrapolate(in, PROGRESS_FROM_fallback, out, a);
    progress_interval(in, NULL, NULL, out, a);
}

static void fit(const struct progress_in *in, struct progress_out *out, struct arena *a)
{
    size_t count;
    const struct progress_function_in *functions = progress_functions_of(in, &count);
    struct progress_fitted *fitted = NEW(a, struct progress_fitted, count);
    struct progress_candidate *candidates = NEW(a, struct progress_candidate, count);
    struct progress_series s;
    const char *reason;
    bool usable = false;

    series_of(in, &s, &usable, a);
    if (!usable) {
        no_fit(in, progress_fallback_names[PROGRESS_NO_FIT], out, a);
        return;
    }
    out->chosen = fit_all(in, &s, fitted);
    for (size_t j = 0; j < count; j++)
        candidates[j] = candidate_of(in, &s, functions[j].function, &fitted[j]);
    out->candidates = candidates;
    out->candidate_count = count;
    reason = doubt(in, &fitted[out->chosen], &candidates[out->chosen]);
    if (reason) {
        no_fit(in, reason, out, a);
        return;
    }
    out->source = PROGRESS_FROM_fit;
    out->estimate_ref_s = candidates[out->chosen].limit_ref_s;
    out->flags = candidates[out->chosen].flags;
    out->residual_stddev_s = progress_deviation(&s, &fitted[out->chosen]) * s.scale;
    progress_interval(in, &s, &fitted[out->chosen], out, a);
}

static void predict(const struct progress_in *in, struct progress_out *out,
                    struct arena *a)
{
    const struct progress_history *h = &in->history;
    size_t least = in->options.strict_seed ? 2 : in->options.min_samples;

    if (h->count > 0)
        out->extrapolated_ref_s = last_point(in)->estimate_ref_s;
    if (h->finished) {
        out->source = PROGRESS_FROM_finished;
        out->estimate_ref_s = last_point(in)->work_ref_s;
        out->low_ref_s = out->high_ref_s = out->estimate_ref_s;
        return;
    }
    if (in->previous_count > 0 && in->previous_count == h->sample_count) {
        out->source = PROGRESS_FROM_cached;
        out->estimate_ref_s = in->previous_estimate_ref_s;
        progress_interval(in, NULL, NULL, out, a);
        return;
    }
    if (h->count == 0) {
        out->source = isnan(in->initial_estimate_ref_s) ? PROGRESS_FROM_none
                                                        : PROGRESS_FROM_initial_estimate;
        out->estimate_ref_s = in->initial_estimate_ref_s;
        return;
    }
    if (h->count < least) {
        extrapolate(
            in, h->count == 1 ? PROGRESS_FROM_single_sample : PROGRESS_FROM_extrapolation,
            out, a);
        progress_interval(in, NULL, NULL, out, a);
        return;
    }
    if (!in->options.strict_seed && progress_fit_loses(in->known)) {
        extrapolate(in, PROGRESS_FROM_policy, out, a);
        progress_interval(in, NULL, NULL, out, a);
        return;
    }
    fit(in, out, a);
}

enum error_code progress_predict(const struct progress_in *in, struct progress_out *out,
                                 struct arena *a)
{
    struct progress_out answer = {.source = PROGRESS_FROM_none};
    struct progress_in believed = *in;

    assert(!in->functions || in->function_count > 0);
    answer.estimate_ref_s = answer.extrapolated_ref_s = (double)NAN;
    answer.low_ref_s = answer.high_ref_s = answer.residual_stddev_s = (double)NAN;
    if (in->options.screen && !in->options.strict_seed && !in->history.finished)
        progress_screen(&in->history, &believed.history, &answer.dropped_count, a);
    predict(&believed, &answer, a);
    *out = answer;
    return OK;
}

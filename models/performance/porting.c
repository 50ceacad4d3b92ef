/* performance/porting.c - a model for a site from another site's model.
 *
 * With u the reference's computation times R_cpu and v its communication on the
 * target's bandwidth, the factor of least squares of the target's times y is
 *
 *     R_best = sum v (y - u) / sum v^2         (relative: weights 1 / y^2)
 *
 * It is taken when it fits as well as the reference's own fit does (APPE within 5 %);
 * else the nearest factor of a grid that does; else the best of the grid.
 *
 * Source: spec performance-models.md 11; 003_a5f9349f46eae656 3.5. The grid, the
 * measure and its tolerance are ours: the source does not give them.
 */
#include "models/performance/porting.h"

#include "models/performance/search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { GRID_LOW = -400, GRID_HIGH = 600, GRID_PER_DECADE = 200 };
static const double TOLERANCE = 1.05, TOLERANCE_LEAST = 1e-6;

/* ---- runs ---- */

struct runs {
    struct perf_sample *items;
    size_t count;
};

/* The sample at the same size and processors, to be averaged with; NULL: none. */
static struct perf_sample *alike(struct runs *runs, const struct perf_sample *sample)
{
    for (size_t i = 0; i < runs->count; i++) {
        if (runs->items[i].problem_size == sample->problem_size &&
            runs->items[i].processors == sample->processors)
            return &runs->items[i];
    }
    return NULL;
}

/* Running mean of a value, the n-th of which is `value`. */
static double mean_with(double mean, double value, double n)
{
    return mean + (value - mean) / n;
}

/* The runs on `single` processors, or those on more; one for each size. */
static void select_runs(const struct perf_sample *samples, size_t count, double single,
                        bool more, struct runs *out, struct arena *a)
{
    double *times = NEW(a, double, count);

    *out = (struct runs){NEW(a, struct perf_sample, count), 0};
    for (size_t i = 0; i < count; i++) {
        const struct perf_sample *sample = &samples[i];
        struct perf_sample *same;
        double n;

        if (perf_sample_fault(sample) ||
            (more ? !(sample->processors > single) : sample->processors != single))
            continue;
        same = alike(out, sample);
        if (!same) {
            times[out->count] = 1;
            out->items[out->count++] = *sample;
            continue;
        }
        n = ++times[same - out->items];
        same->time_s = mean_with(same->time_s, sample->time_s, n);
        same->bandwidth_mbps = mean_with(same->bandwidth_mbps, sample->bandwidth_mbps, n);
        same->cpu_available_ratio =
            mean_with(same->cpu_available_ratio, sample->cpu_available_ratio, n);
    }
}

/* R_cpu at the common size nearest to `middle`; NAN: there is none. */
static double cpu_factor_of(const struct runs *reference, struct runs *target,
                            double middle)
{
    double factor = (double)NAN, nearest = HUGE_VAL;

    for (size_t i = 0; i < reference->count; i++) {
        const struct perf_sample *run = &reference->items[i];
        const struct perf_sample *other = alike(target, run);
        double distance = fabs(run->problem_size - middle);

        if (other && distance < nearest) {
            nearest = distance;
            factor = other->time_s / run->time_s;
        }
    }
    return factor;
}

static double middle_size(const struct perf_model_set *reference)
{
    const struct perf_range *range = reference->parallel_seen.sample_count > 0
                                         ? &reference->parallel_seen.problem_size
                                         : &reference->single_seen.problem_size;

    return isnan(range->low) ? 0 : 0.5 * (range->low + range->high);
}

/* ---- R_bw ---- */

/* Times of the target with the parts that the reference predicts for it. */
struct parts {
    const struct runs *target;
    double *computation_s, *communication_s;
    bool relative;
};

static double appe_at(const struct parts *p, double factor)
{
    double sum = 0;

    for (size_t i = 0; i < p->target->count; i++) {
        double fitted = p->computation_s[i] + factor * p->communication_s[i];

        sum += fabs(1 - fitted / p->target->items[i].time_s);
    }
    return sum / (double)p->target->count;
}

static void fill_parts(struct parts *p, const struct perf_combination *fitted,
                       double cpu_factor)
{
    for (size_t i = 0; i < p->target->count; i++) {
        const struct perf_sample *run = &p->target->items[i];
        struct perf_term term =
            perf_combination_term(fitted, run->problem_size, cpu_factor, 1);

        perf_term_parts(&term, run->processors, run->cpu_available_ratio,
                        run->bandwidth_mbps, &p->computation_s[i],
                        &p->communication_s[i]);
    }
}

/* R_best; NAN: no communication, or none but what rounding left in the fit. */
static double best_factor(const struct parts *p)
{
    double product = 0, square = 0, whole = 0;

    for (size_t i = 0; i < p->target->count; i++) {
        double time_s = p->target->items[i].time_s;
        double weight = p->relative ? 1 / time_s : 1;
        double v = weight * p->communication_s[i];

        product += v * weight * (time_s - p->computation_s[i]);
        square += v * v;
        whole += weight * time_s * weight * time_s;
    }
    if (!isfinite(square) || !(sqrt(square) > PERF_NEGATIVE_SHARE * sqrt(whole)))
        return (double)NAN;
    return product / square;
}

/* Looks along the grid: the point nearest to R_best that fits well enough, else the
 * one that fits best. */
static void search_grid(const struct parts *p, double tolerance, struct perf_porting *out)
{
    double nearest = HUGE_VAL, least = HUGE_VAL;

    out->status = PERF_PORTING_NOT_MATCHED;
    for (int k = GRID_LOW; k <= GRID_HIGH; k++) {
        double factor = pow(10, (double)k / GRID_PER_DECADE);
        double appe = appe_at(p, factor);
        double distance = fabs(log(factor / out->best_factor));
        bool matched = out->status == PERF_PORTING_MATCHED;

        if (appe <= tolerance && distance < nearest - 1e-12) {
            nearest = distance;
            out->status = PERF_PORTING_MATCHED;
        } else if (matched || !(appe < least)) {
            continue;
        }
        least = appe;
        out->bandwidth_factor = factor;
        out->goodness_target = appe;
    }
}

static void find_bandwidth_factor(const struct parts *p, struct perf_porting *out)
{
    double tolerance = fmax(TOLERANCE * out->goodness_reference, TOLERANCE_LEAST);

    out->best_factor = best_factor(p);
    out->bandwidth_factor = 1;
    out->goodness_target = appe_at(p, 1);
    out->status = PERF_PORTING_NOT_IDENTIFIABLE;
    if (!(out->best_factor > 0) || !isfinite(out->best_factor))
        return;
    out->status = PERF_PORTING_MATCHED;
    out->bandwidth_factor = out->best_factor;
    out->goodness_target = appe_at(p, out->best_factor);
    if (!(out->goodness_target <= tolerance))
        search_grid(p, tolerance, out);
}

/* The first combination of the list that the reference's runs can tell apart; under
 * rule.nonnegative one that they give no negative coefficient, which predicts the target
 * better (bench performance_shapes, A6: 29 against 41 %). */
static void fit_reference(const struct perf_model_set *reference, const struct runs *runs,
                          struct perf_porting *out, bool *found, struct arena *a)
{
    struct perf_row *rows = NEW(a, struct perf_row, runs->count);
    struct perf_report report = {0};
    struct search s = {.options = &reference->options, .report = &report, .arena = a};
    struct perf_list one = {&out->fitted, 1};

    for (size_t i = 0; i < runs->count; i++)
        perf_row_of(&runs->items[i], &rows[i]);
    for (size_t i = 0; i < reference->sorted.count && !*found; i++) {
        out->fitted = reference->sorted.items[i];
        out->combination = i;
        search_refit(&s, (struct search_rows){rows, runs->count}, &one);
        *found = isfinite(out->fitted.standard_error);
    }
    if (!*found) {
        out->fitted = reference->sorted.items[0];
        out->combination = 0;
    }
}

static void port_bandwidth(const struct perf_model_set *reference,
                           const struct runs *reference_runs, const struct runs *target,
                           struct perf_porting *out, struct arena *a)
{
    struct parts p = {.target = target,
                      .computation_s = NEW(a, double, target->count),
                      .communication_s = NEW(a, double, target->count),
                      .relative = reference->options.rule.relative};
    bool found = false;

    fit_reference(reference, reference_runs, out, &found, a);
    if (!found) {
        out->status = PERF_PORTING_NOT_IDENTIFIABLE;
        out->bandwidth_factor = 1;
        out->best_factor = (double)NAN;
        out->goodness_reference = out->goodness_target = (double)NAN;
        return;
    }
    out->goodness_reference = out->fitted.appe_ratio;
    fill_parts(&p, &out->fitted, out->cpu_factor);
    find_bandwidth_factor(&p, out);
}

enum error_code perf_port(const struct perf_model_set *reference,
                          const struct perf_sample *reference_runs,
                          size_t reference_count, const struct perf_sample *target_runs,
                          size_t target_count, double single_processors,
                          struct perf_porting *out, struct arena *a)
{
    struct perf_porting port = {.outcome = PERF_INSUFFICIENT_SAMPLES};
    struct runs one, one_there, more, more_there;

    select_runs(reference_runs, reference_count, single_processors, false, &one, a);
    select_runs(target_runs, target_count, single_processors, false, &one_there, a);
    select_runs(reference_runs, reference_count, single_processors, true, &more, a);
    select_runs(target_runs, target_count, single_processors, true, &more_there, a);
    port.cpu_factor = cpu_factor_of(&one, &one_there, middle_size(reference));
    if (port.cpu_factor > 0 && more.count >= 2 && more_there.count >= 2 &&
        reference->sorted.count > 0) {
        port.outcome = PERF_READY;
        port_bandwidth(reference, &more, &more_there, &port, a);
    }
    *out = port;
    return OK;
}

/* ---- the target's set ---- */

static void forget(struct perf_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        perf_combination_clear(&list->items[i]);
        list->items[i].low_rank_streak = 0;
    }
}

enum error_code perf_ported_set(const struct perf_model_set *reference,
                                const struct perf_porting *porting,
                                struct perf_model_set *out, struct arena *a)
{
    struct perf_model_set set, kept;
    struct perf_reference *r = NEW(a, struct perf_reference, 1);

    perf_set_copy(reference, &kept, a);
    perf_set_copy(reference, &set, a);
    r->cpu_factor = porting->cpu_factor;
    r->bandwidth_factor = porting->bandwidth_factor;
    r->top = kept.sorted.items[porting->combination];
    r->single = kept.single;
    r->single_seen = kept.single_seen;
    r->parallel_seen = kept.parallel_seen;
    forget(&set.single);
    forget(&set.sorted);
    set.pairs.count = 0;
    perf_seen_clear(&set.single_seen);
    perf_seen_clear(&set.parallel_seen);
    set.sample_count = set.outlier_count = set.predictions_since_reform = 0;
    set.version = 1;
    set.state = PERF_STATE_PORTED;
    set.reference = r;
    *out = set;
    return OK;
}

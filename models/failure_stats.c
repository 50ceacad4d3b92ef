/* failure_stats.c - what a history of failures says about a resource.
 *
 * Weibull by maximum likelihood: with y = log(x) - log(max x) the shape k is
 * the root of the profile equation
 *
 *     g(k) = sum(y * e^(k y)) / sum(e^(k y)) - 1/k - mean(y) = 0
 *
 * which increases in k from -infinity to -mean(y) > 0, so that there is exactly
 * one root unless all values are equal. e^(k y) lies in (0, 1]: nothing
 * overflows whatever the unit. Newton's step is taken while it stays inside the
 * bracket, else the bracket is halved. The scale follows from
 * log(scale) = log(max x) + log(mean(e^(k y))) / k.
 */
#include "models/failure_stats.h"

#include "models/base/order.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

/* Values whose logarithms spread less than this are taken as equal: closer
 * than rounding lets instants of this century be told apart. */
#define SPREAD_MIN 1e-9

static const double LOG_TWO_PI = 1.8378770664093454836;

double failure_weibull_mean_s(double shape, double scale_s)
{
    return scale_s * tgamma(1 + 1 / shape);
}

const char *failure_model_name(enum failure_model model)
{
    static const char *const names[] = {
        [FAILURE_MODEL_NONE] = "none",
        [FAILURE_MODEL_EXPONENTIAL] = "exponential",
        [FAILURE_MODEL_LOGNORMAL] = "lognormal",
        [FAILURE_MODEL_WEIBULL] = "weibull",
    };

    return names[model];
}

/* ---- fits ---- */

/* Mean and spread of log(value) - log_max. */
struct log_moments {
    double log_max, mean, deviation;
};

static struct log_moments log_moments(const double *value_s, size_t count)
{
    struct log_moments m = {.log_max = -HUGE_VAL};
    double squares = 0;

    for (size_t i = 0; i < count; i++)
        m.log_max = fmax(m.log_max, log(value_s[i]));
    for (size_t i = 0; i < count; i++)
        m.mean += (log(value_s[i]) - m.log_max) / (double)count;
    for (size_t i = 0; i < count; i++) {
        double off = log(value_s[i]) - m.log_max - m.mean;

        squares += off * off;
    }
    m.deviation = count ? sqrt(squares / (double)count) : 0;
    return m;
}

/* Sums of e^(k y), y e^(k y) and y^2 e^(k y). */
struct power_sums {
    double s0, s1, s2;
};

static struct power_sums power_sums(const double *value_s, size_t count, double log_max,
                                    double k)
{
    struct power_sums s = {0, 0, 0};

    for (size_t i = 0; i < count; i++) {
        double y = log(value_s[i]) - log_max;
        double w = exp(k * y);

        s.s0 += w;
        s.s1 += w * y;
        s.s2 += w * y * y;
    }
    return s;
}

/* The root of the profile equation, or WEIBULL_SHAPE_MAX if it lies beyond. */
static double weibull_shape(const double *value_s, size_t count, struct log_moments m)
{
    enum { STEPS_MAX = 200 };
    double low = 0, high = WEIBULL_SHAPE_MAX;
    /* the standard deviation of log(x) is pi / (sqrt(6) k) */
    double k = fmin(1.2825498301618641 / m.deviation, WEIBULL_SHAPE_MAX);

    for (int step = 0; step < STEPS_MAX; step++) {
        struct power_sums s = power_sums(value_s, count, m.log_max, k);
        double mean = s.s1 / s.s0;
        double g = mean - 1 / k - m.mean;
        double slope = s.s2 / s.s0 - mean * mean + 1 / (k * k);
        double next = k - g / slope;

        if (g < 0)
            low = k;
        else
            high = k;
        if (low >= WEIBULL_SHAPE_MAX)
            break;
        if (!(next > low && next < high))
            next = low + (high - low) / 2;
        if (fabs(next - k) <= 1e-12 * k)
            return next;
        k = next;
    }
    return k;
}

struct weibull_fit failure_fit_weibull(const double *value_s, size_t count)
{
    struct weibull_fit fit = {NAN, NAN, NAN, false};
    struct log_moments m = log_moments(value_s, count);
    double log_scale, n = (double)count;
    struct power_sums s;

    if (count < 2)
        return fit;
    fit.shape =
        m.deviation < SPREAD_MIN ? WEIBULL_SHAPE_MAX : weibull_shape(value_s, count, m);
    fit.capped = fit.shape >= WEIBULL_SHAPE_MAX * (1 - 1e-9);
    s = power_sums(value_s, count, m.log_max, fit.shape);
    log_scale = log(s.s0 / n) / fit.shape; /* relative to log_max */
    fit.scale_s = exp(log_scale + m.log_max);
    /* the sum of (x / scale)^shape is count */
    fit.log_likelihood = n * (log(fit.shape) - log_scale - m.log_max +
                              (fit.shape - 1) * (m.mean - log_scale) - 1);
    return fit;
}

struct exponential_fit failure_fit_exponential(const double *value_s, size_t count)
{
    struct exponential_fit fit = {NAN, NAN};
    double mean = 0;

    if (count == 0)
        return fit;
    for (size_t i = 0; i < count; i++)
        mean += value_s[i] / (double)count; /* not the sum, which may overflow */
    fit.rate_per_s = 1 / mean;
    fit.log_likelihood = -(double)count * (1 + log(mean));
    return fit;
}

struct lognormal_fit failure_fit_lognormal(const double *value_s, size_t count)
{
    struct lognormal_fit fit = {NAN, NAN, NAN};
    struct log_moments m = log_moments(value_s, count);

    if (count < 2 || m.deviation < SPREAD_MIN)
        return fit;
    fit.mu = m.log_max + m.mean;
    fit.sigma = m.deviation;
    fit.log_likelihood =
        -(double)count * (fit.mu + log(fit.sigma) + LOG_TWO_PI / 2 + 0.5);
    return fit;
}

/* Akaike's criterion 2 p - 2 log L, least is best; NAN never is. */
static enum failure_model best_model(const struct failure_stats *s)
{
    struct {
        enum failure_model model;
        double aic;
    } rows[] = {
        {FAILURE_MODEL_EXPONENTIAL, 2 - 2 * s->exponential.log_likelihood},
        {FAILURE_MODEL_LOGNORMAL, 4 - 2 * s->lognormal.log_likelihood},
        {FAILURE_MODEL_WEIBULL, 4 - 2 * s->weibull.log_likelihood},
    };
    enum failure_model best = FAILURE_MODEL_NONE;
    double least = HUGE_VAL;

    if (s->gap_count < 3)
        return best;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (rows[i].aic < least) {
            least = rows[i].aic;
            best = rows[i].model;
        }
    }
    return best;
}

enum failure_model failure_best_model(const double *value_s, size_t count,
                                      struct weibull_fit *weibull)
{
    struct failure_stats fits = {
        .gap_count = count,
        .weibull = failure_fit_weibull(value_s, count),
        .exponential = failure_fit_exponential(value_s, count),
        .lognormal = failure_fit_lognormal(value_s, count),
    };

    *weibull = fits.weibull;
    return best_model(&fits);
}

/* ---- counting ---- */

static int compare_begins(const void *a, const void *b)
{
    const struct failure_interval *x = a, *y = b;

    return (x->down_at_s > y->down_at_s) - (x->down_at_s < y->down_at_s);
}

/* An interval's end as seen at the window's end: HUGE_VAL while it is open. */
static double end_seen_s(const struct failure_interval *f, double to_s)
{
    assert(!(f->up_at_s < f->down_at_s));
    return f->up_at_s <= to_s ? f->up_at_s : HUGE_VAL;
}

static void find_window(const struct failure_interval *sorted, size_t count,
                        struct failure_stats *out)
{
    double last_s = -HUGE_VAL;

    for (size_t i = 0; i < count; i++)
        last_s = fmax(last_s, fmax(sorted[i].down_at_s, sorted[i].up_at_s));
    if (isnan(out->to_s) && count > 0)
        out->to_s = fmax(last_s, out->from_s);
    if (isnan(out->from_s) && count > 0)
        out->from_s = fmin(sorted[0].down_at_s, out->to_s);
    out->window_s = out->to_s - out->from_s;
}

/* One run of overlapping intervals, [begin_s, end_s], met while walking on. */
static void close_outage(double begin_s, double end_s, struct failure_stats *out)
{
    double seen_end_s = fmin(end_s, out->to_s);

    if (end_s < out->from_s)
        return;
    if (begin_s >= out->from_s)
        out->outage_count++;
    out->downtime_s += seen_end_s - fmax(begin_s, out->from_s);
    out->down = end_s > out->to_s;
    out->uptime_s = out->to_s - seen_end_s;
}

static void count_outages(const struct failure_interval *sorted, size_t count,
                          struct failure_stats *out)
{
    double begin_s = NAN, end_s = NAN;

    out->uptime_s = out->window_s;
    for (size_t i = 0; i < count && sorted[i].down_at_s <= out->to_s; i++) {
        double next_end_s = end_seen_s(&sorted[i], out->to_s);

        if (sorted[i].down_at_s <= end_s) {
            end_s = fmax(end_s, next_end_s);
            continue;
        }
        if (!isnan(begin_s))
            close_outage(begin_s, end_s, out);
        begin_s = sorted[i].down_at_s;
        end_s = next_end_s;
    }
    if (!isnan(begin_s))
        close_outage(begin_s, end_s, out);
    if (out->window_s > 0)
        out->availability_ratio = 1 - out->downtime_s / out->window_s;
}

/* Fills gap_s and repair_s, each of `count` elements. */
static void count_failures(const struct failure_interval *sorted, size_t count,
                           double *gap_s, double *repair_s, struct failure_stats *out)
{
    double first_s = NAN;

    for (size_t i = 0; i < count && sorted[i].down_at_s <= out->to_s; i++) {
        double begin_s = sorted[i].down_at_s;
        double end_s = end_seen_s(&sorted[i], out->to_s);

        if (begin_s < out->from_s)
            continue;
        if (isnan(first_s))
            first_s = begin_s;
        else if (begin_s > out->last_failure_at_s)
            gap_s[out->gap_count++] = begin_s - out->last_failure_at_s;
        else
            out->zero_gap_count++;
        out->last_failure_at_s = begin_s;
        out->failure_count++;
        if (end_s < HUGE_VAL)
            repair_s[out->repair_count++] = end_s - begin_s;
    }
    if (out->failure_count > 1)
        out->mean_gap_s =
            (out->last_failure_at_s - first_s) / (double)(out->failure_count - 1);
}

static void estimate_mtbf(struct failure_stats *out)
{
    double outages = out->outage_count > 0 ? (double)out->outage_count : 1;
    double observed_s =
        out->outage_count > 0 ? out->last_failure_at_s - out->from_s : out->window_s;

    out->mtbf_censored_s = out->window_s / outages;
    out->mtbf_gap_mean_s = observed_s / outages;
    out->mtbf_uptime_mean_s = (out->window_s - out->downtime_s) / outages;
}

/* Sorts the repairs; their fit leaves out the zeros, which then come first. */
static void sum_up_repairs(double *repair_s, struct failure_stats *out)
{
    size_t n = out->repair_count, zeros = 0;
    double sum_s = 0;

    if (n == 0)
        return;
    out->repair_median_s = sort_median(repair_s, n); /* which are sorted from here on */
    for (size_t i = 0; i < n; i++)
        sum_s += repair_s[i];
    while (zeros < n && repair_s[zeros] <= 0)
        zeros++;
    out->mttr_s = sum_s / (double)n;
    out->repair = failure_fit_lognormal(repair_s + zeros, n - zeros);
}

enum error_code failure_stats_fit(const struct failure_interval *failures, size_t count,
                                  double from_s, double to_s, struct failure_stats *out,
                                  struct arena *a, struct error *err)
{
    struct failure_interval *sorted = NEW(a, struct failure_interval, count);
    double *gap_s = NEW(a, double, count);
    double *repair_s = NEW(a, double, count);
    struct failure_stats s = {
        .from_s = from_s,
        .to_s = to_s,
        .availability_ratio = NAN,
        .last_failure_at_s = NAN,
        .mean_gap_s = NAN,
        .mttr_s = NAN,
        .repair_median_s = NAN,
        .repair = {NAN, NAN, NAN},
    };

    for (size_t i = 0; i < count; i++)
        sorted[i] = failures[i];
    if (count > 0)
        qsort(sorted, count, sizeof(*sorted), compare_begins);
    find_window(sorted, count, &s);
    if (s.window_s < 0)
        return fail(err, ERR_INVALID, "", "the time window ends before it begins");
    count_outages(sorted, count, &s);
    count_failures(sorted, count, gap_s, repair_s, &s);
    estimate_mtbf(&s);
    sum_up_repairs(repair_s, &s);
    s.weibull = failure_fit_weibull(gap_s, s.gap_count);
    s.exponential = failure_fit_exponential(gap_s, s.gap_count);
    s.lognormal = failure_fit_lognormal(gap_s, s.gap_count);
    s.best = best_model(&s);
    *out = s;
    return OK;
}

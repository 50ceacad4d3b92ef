/* failure_rate.c - how often a resource fails, and how sure that is.
 *
 * The likelihood of the prior, with the rates of the hosts integrated out:
 *
 *     logL(a, b) = sum of lgamma(a + k) - lgamma(a) + a log(b / (b + T))
 *                         + k log(T / (b + T))
 *
 * For a given a the best b is the root of sum (a T - b k) / (b + T), which falls in
 * b: Newton on log b inside a bracket. The best a is found by golden section on
 * log a.
 */
#include "models/failure_rate.h"

#include <assert.h>
#include <math.h>

const char *const rate_prior_scopes[] = {"none", "site", "all", 0};

/* ---- the Gamma distribution ---- */

enum { GAMMA_TERMS_MAX = 100000 };

/* Share below x by the series, for x < shape + 1. */
static double share_by_series(double shape, double x)
{
    double term = 1 / shape, sum = term;

    for (int n = 1; n < GAMMA_TERMS_MAX && term > sum * 1e-17; n++) {
        term *= x / (shape + n);
        sum += term;
    }
    return sum * exp(shape * log(x) - x - lgamma(shape));
}

/* Share above x by Lentz's continued fraction, for x >= shape + 1. */
static double rest_by_fraction(double shape, double x)
{
    double b = x + 1 - shape, c = HUGE_VAL, d = 1 / b, h = d;

    for (int n = 1; n < GAMMA_TERMS_MAX; n++) {
        double a = -n * (n - shape), factor;

        b += 2;
        d = 1 / (a * d + b);
        c = b + a / c;
        factor = c * d;
        h *= factor;
        if (fabs(factor - 1) < 1e-16)
            break;
    }
    return h * exp(shape * log(x) - x - lgamma(shape));
}

double gamma_share(double shape, double x)
{
    if (x <= 0)
        return 0;
    return x < shape + 1 ? share_by_series(shape, x) : 1 - rest_by_fraction(shape, x);
}

/* log of the share below exp(u), or of the rest if p is in the upper half, less that
 * of p; *slope is its derivative. */
static double quantile_excess(double shape, double p, double u, double *slope)
{
    double x = exp(u), below, rest, density;

    if (x < shape + 1) {
        below = share_by_series(shape, x);
        rest = 1 - below;
    } else {
        rest = rest_by_fraction(shape, x);
        below = 1 - rest;
    }
    density = exp(shape * u - x - lgamma(shape)); /* times x: by log x */
    *slope = 1;
    if (!(below > 0 && rest > 0)) /* far off: the bracket will do */
        return below > 0 ? HUGE_VAL : -HUGE_VAL;
    if (p < 0.5) {
        *slope = density / below;
        return log(below) - log(p);
    }
    *slope = density / rest;
    return log1p(-p) - log(rest);
}

double gamma_quantile(double shape, double p)
{
    enum { STEPS_MAX = 200 };
    /* the share is at most x^shape / gamma(shape + 1) */
    double low = (log(p) + lgamma(shape + 1)) / shape, high = low + 1, u = low, slope;

    assert(shape > 0 && p > 0 && p < 1);
    if (low < -700)
        return 0; /* no double is so small */
    while (quantile_excess(shape, p, high, &slope) < 0)
        high += 1;
    for (int step = 0; step < STEPS_MAX; step++) {
        double excess = quantile_excess(shape, p, u, &slope);
        double next = slope > 0 ? u - excess / slope : high;

        if (excess < 0)
            low = u;
        else
            high = u;
        if (!(next > low && next < high))
            next = low + (high - low) / 2;
        if (fabs(next - u) <= 1e-15 * fmax(1, fabs(u)))
            break;
        u = next;
    }
    return exp(u);
}

/* ---- the prior ---- */

static bool counts(const struct failure_exposure *host)
{
    return host->at_risk_s > 0;
}

/* The sum whose root is b(a), and its derivative by log b. */
static double rate_excess(const struct failure_exposure *hosts, size_t count, double a,
                          double b, double *slope)
{
    double sum = 0;

    *slope = 0;
    for (size_t i = 0; i < count; i++) {
        double t_s = hosts[i].at_risk_s, k = hosts[i].kill_count;

        if (!counts(&hosts[i]))
            continue;
        sum += (a * t_s - b * k) / (b + t_s);
        *slope -= b * (a + k) * t_s / ((b + t_s) * (b + t_s));
    }
    return sum;
}

/* b(a); *b is where to begin. */
static void best_rate(const struct failure_exposure *hosts, size_t count, double a,
                      double *b)
{
    enum { STEPS_MAX = 200 };
    double low = log(1e-6), high = log(1e18), u = log(*b);

    for (int step = 0; step < STEPS_MAX; step++) {
        double slope, excess = rate_excess(hosts, count, a, exp(u), &slope);
        double next = u - excess / slope;

        if (excess > 0)
            low = u;
        else
            high = u;
        if (!(next > low && next < high))
            next = low + (high - low) / 2;
        if (fabs(next - u) <= 1e-13 * fmax(1, fabs(u))) {
            u = next;
            break;
        }
        u = next;
    }
    *b = exp(u);
}

static double log_likelihood(const struct failure_exposure *hosts, size_t count, double a,
                             double b)
{
    double sum = 0, none = lgamma(a);

    for (size_t i = 0; i < count; i++) {
        double t_s = hosts[i].at_risk_s, k = hosts[i].kill_count;

        if (!counts(&hosts[i]))
            continue;
        sum += a * log(b / (b + t_s));
        if (k > 0)
            sum += lgamma(a + k) - none + k * log(t_s / (b + t_s));
    }
    return sum;
}

/* The hosts, and the best prior met so far. */
struct prior_search {
    const struct failure_exposure *hosts;
    size_t count;
    double b; /* of the last a: where the next search begins */
};

static double likelihood_of(struct prior_search *s, double log_a)
{
    best_rate(s->hosts, s->count, exp(log_a), &s->b);
    return log_likelihood(s->hosts, s->count, exp(log_a), s->b);
}

/* log a of greatest likelihood. */
static double best_shape(struct prior_search *s, double low, double high)
{
    enum { STEPS = 60 };
    const double golden = 0.61803398874989484820;
    double left = high - golden * (high - low), right = low + golden * (high - low);
    double at_left = likelihood_of(s, left), at_right = likelihood_of(s, right);

    for (int step = 0; step < STEPS; step++) {
        if (at_left >= at_right) {
            high = right;
            right = left;
            at_right = at_left;
            left = high - golden * (high - low);
            at_left = likelihood_of(s, left);
        } else {
            low = left;
            left = right;
            at_left = at_right;
            right = low + golden * (high - low);
            at_right = likelihood_of(s, right);
        }
    }
    return low + (high - low) / 2;
}

bool rate_prior_fit(const struct failure_exposure *hosts, size_t count,
                    struct rate_prior *out)
{
    const double least = log(0.05), most = log(10000);
    struct failure_exposure all = {0, 0};
    struct prior_search s = {hosts, count, 1};
    double log_a, likelihood, alike;
    size_t host_count = 0;

    for (size_t i = 0; i < count; i++) {
        if (!counts(&hosts[i]))
            continue;
        host_count++;
        all.at_risk_s += hosts[i].at_risk_s;
        all.kill_count += hosts[i].kill_count;
    }
    if (host_count < RATE_PRIOR_HOSTS_MIN || all.kill_count < RATE_PRIOR_FAILURES_MIN)
        return false;
    s.b = all.at_risk_s / all.kill_count;
    log_a = best_shape(&s, least, most);
    likelihood = likelihood_of(&s, log_a);
    alike = likelihood_of(&s, most);
    if (alike >= likelihood - 1e-9) /* the search ends short of its limit */
        log_a = most;
    likelihood = likelihood_of(&s, log_a);
    *out = (struct rate_prior){log_a < most ? exp(log_a) : 10000, s.b, likelihood,
                               host_count};
    return true;
}

/* ---- the rate of a host ---- */

struct failure_rate failure_rate_of(struct failure_exposure seen,
                                    const struct rate_prior *prior, double floor_s)
{
    struct failure_rate rate = {.shape = prior ? prior->shape : 0.5,
                                .rate_s = prior ? prior->rate_s : 0};

    rate.shape += seen.kill_count;
    rate.rate_s += seen.at_risk_s;
    rate.few_failures = seen.kill_count < RATE_PRIOR_FAILURES_MIN;
    if (!(rate.rate_s > 0)) {
        rate.mean_s = (double)NAN;
        return rate;
    }
    rate.mean_s = rate.rate_s / rate.shape;
    rate.floor_applied = !prior && rate.few_failures && rate.mean_s < floor_s;
    if (rate.floor_applied)
        rate.mean_s = floor_s;
    return rate;
}

void rate_sum_add(struct rate_sum *sum, const struct failure_rate *rate, double times)
{
    sum->mean_per_s += times / rate->mean_s;
    sum->variance += times * rate->shape / (rate->rate_s * rate->rate_s);
}

struct failure_rate rate_sum_total(const struct rate_sum *sum)
{
    return (struct failure_rate){
        .shape = sum->mean_per_s * sum->mean_per_s / sum->variance,
        .rate_s = sum->mean_per_s / sum->variance,
        .mean_s = 1 / sum->mean_per_s,
    };
}

struct failure_range failure_rate_range(const struct failure_rate *rate)
{
    if (!(rate->rate_s > 0 && isfinite(rate->shape)))
        return (struct failure_range){NAN, NAN};
    return (struct failure_range){rate->rate_s / gamma_quantile(rate->shape, 0.975),
                                  rate->rate_s / gamma_quantile(rate->shape, 0.025)};
}

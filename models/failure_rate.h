/* failure_rate.h - how often a resource fails, and how sure that is.
 *
 * A host that was at risk for T seconds and killed its work k times fails at a rate
 * of which a Gamma distribution says what is known. Before anything is seen of the
 * host that is what the other hosts teach (the prior: hosts i have rates drawn from
 * Gamma(shape a, rate b), k_i failures are Poisson(rate_i T_i)), or nothing
 * (Jeffreys: a = 1/2, b = 0). Afterwards it is Gamma(a + k, b + T), and
 *
 *     M = (b + T) / (a + k)                1 / mean rate: the mean time used
 *     [ (b + T) / q(0.975; a + k), (b + T) / q(0.025; a + k) ]         at 95 %
 *
 * with q(p; s) the quantile of Gamma(s, 1). M is not the mean of 1/rate: what
 * failures cost is linear in the rate to first order.
 *
 * Source: spec reliability.md 2.4 and 2.5. Times are seconds.
 */
#ifndef GRIDPLAN_FAILURE_RATE_H
#define GRIDPLAN_FAILURE_RATE_H

#include <stdbool.h>
#include <stddef.h>

/* What was seen of one host, or of hosts taken as one. */
struct failure_exposure {
    double at_risk_s;  /* T, >= 0 */
    double kill_count; /* k, a whole number >= 0 */
};

/* Whose hosts teach: of the site (or else all), of all sites, or none. */
enum rate_prior_scope { RATE_PRIOR_NONE, RATE_PRIOR_SITE, RATE_PRIOR_ALL };

/* Names for JSON, ended by NULL. */
extern const char *const rate_prior_scopes[];

/* Fewer hosts or failures teach no prior. */
enum { RATE_PRIOR_HOSTS_MIN = 3, RATE_PRIOR_FAILURES_MIN = 3 };

/* The floor of failure_rate_of() that nobody chose: a day. */
#define MEAN_FLOOR_PRESET_S 86400.0

struct rate_prior {
    double shape;          /* a, 0.05 .. 10000; the latter: the hosts are alike */
    double rate_s;         /* b */
    double log_likelihood; /* of the hosts */
    size_t host_count;     /* hosts with T > 0 that it was fitted to */
};

/* The prior of greatest likelihood, to about 1e-6 (it is flat there). false, with
 * *out left alone: fewer than RATE_PRIOR_HOSTS_MIN hosts with T > 0, or fewer than
 * RATE_PRIOR_FAILURES_MIN failures of these. O(count), some thousand steps. */
bool rate_prior_fit(const struct failure_exposure *hosts, size_t count,
                    struct rate_prior *out);

/* The knowledge of a rate: Gamma(shape, rate_s). */
struct failure_rate {
    double shape, rate_s;
    double mean_s;      /* M; NAN: neither a prior nor any time at risk */
    bool few_failures;  /* k < RATE_PRIOR_FAILURES_MIN: mostly the prior */
    bool floor_applied; /* M was raised to the floor */
};

/* `prior` NULL: Jeffreys; then, while k < RATE_PRIOR_FAILURES_MIN, M is at least
 * floor_s. */
struct failure_rate failure_rate_of(struct failure_exposure seen,
                                    const struct rate_prior *prior, double floor_s);

/* Rates add up when any of several hosts kills the job: a Gamma of the sum's mean
 * and variance. Start from {0}; a rate that is not known leaves the sum so. */
struct rate_sum {
    double mean_per_s, variance;
};
void rate_sum_add(struct rate_sum *sum, const struct failure_rate *rate, double times);
struct failure_rate rate_sum_total(const struct rate_sum *sum);

/* The interval of 95 % in which the mean time between failures lies. */
struct failure_range {
    double low_s, high_s; /* NAN: nothing is known */
};
struct failure_range failure_rate_range(const struct failure_rate *rate);

/* An interval wider than this, upper over lower, is worth a warning. */
#define FAILURE_RANGE_WIDE 10.0

/* Share of Gamma(shape, 1) below x; shape > 0, x >= 0. */
double gamma_share(double shape, double x);

/* The x below which a share p of Gamma(shape, 1) lies; shape > 0, 0 < p < 1. */
double gamma_quantile(double shape, double p);

#endif

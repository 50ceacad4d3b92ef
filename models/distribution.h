/* distribution.h - a random quantity that a caller describes.
 *
 * One struct serves every kind; what a kind does not take is NAN (numbers) or
 * empty (lists). distribution_prepare() finds all mistakes and works out once
 * what every draw needs; only a prepared distribution may be drawn from. A draw
 * takes its numbers from the caller's stream and keeps nothing: the same stream
 * gives the same values.
 *
 * Bounds keep every draw finite: numbers are at most 1e18 in size, sigma at most
 * 20, mu between -100 and 100, shapes 0.05 .. 1e6, the mean of poisson at most
 * 1e5 (a draw costs O(mean)). The unit is that of the quantity.
 *
 * Source: spec simulator.md 8.
 */
#ifndef GRIDPLAN_DISTRIBUTION_H
#define GRIDPLAN_DISTRIBUTION_H

#include "models/base/error.h"
#include "models/base/rng.h"

#include <stddef.h>

/* symbol, name on the wire, what it is and what it takes */
#define DISTRIBUTIONS(X)                                                               \
    X(CONSTANT, constant, "Always `value`")                                            \
    X(UNIFORM, uniform, "Between `l_bound` and `u_bound`")                             \
    X(EXPONENTIAL, exponential, "Exponential of `mean`")                               \
    X(NORMAL, normal, "Normal of `mean` and `sd`, drawn again below `min`")            \
    X(LOGNORMAL, lognormal, "exp(normal): `mu` or `mean`, and `sigma`")                \
    X(WEIBULL, weibull, "Weibull of `shape`, and `scale` or `mean`")                   \
    X(POISSON, poisson, "Poisson of `mean`")                                           \
    X(GAMMA, gamma, "Gamma of `shape` and `scale`")                                    \
    X(HYPER_GAMMA, hyper_gamma,                                                        \
      "Gamma of `shape` and `scale` with probability `p`, else `shape2` and `scale2`") \
    X(EMPIRICAL, empirical, "One of `values`, each as likely as its one of `weights`") \
    X(TRACE, trace, "`values` in their order, again from the first after the last one")

enum distribution_kind {
#define X(symbol, name, doc) DISTRIBUTION_##symbol,
    DISTRIBUTIONS(X)
#undef X
        DISTRIBUTION_COUNT
};

/* By enum distribution_kind, ended by NULL. */
extern const char *const distribution_names[];

enum { DISTRIBUTION_VALUES_MAX = 100000 }; /* length of a list */

struct distribution {
    enum distribution_kind kind;
    double value;            /* constant */
    double l_bound, u_bound; /* uniform: l_bound <= u_bound */
    double mean;             /* > 0, of normal any; instead of mu or scale */
    double sd, min;          /* normal: >= 0; min NAN: -infinity, else <= mean + 3 sd */
    double mu, sigma;        /* lognormal: of the logarithm; sigma >= 0 */
    double shape, scale;     /* weibull, gamma, first part of hyper_gamma: > 0 */
    double p;                /* hyper_gamma: 0 .. 1 */
    double shape2, scale2;   /* hyper_gamma */
    const double *values;    /* empirical, trace: at least one */
    size_t value_count;
    const double *weights; /* empirical: >= 0, one each; none: all alike */
    size_t weight_count;

    /* Filled by distribution_prepare(): values in ascending order with the sums of
     * their weights up to each, the last of which is 1. */
    const double *sorted, *cumulative;
};

/* A distribution with nothing given, and the kinds that code itself makes; the
 * latter are prepared. */
struct distribution distribution_blank(enum distribution_kind kind);
struct distribution distribution_constant(double value);
struct distribution distribution_exponential(double mean);
struct distribution distribution_uniform(double l_bound, double u_bound);

/* Checks *d and completes it: mu from mean, scale from mean, the tables of
 * empirical. Mistakes are added to *err with pointers below `pointer`, the JSON
 * Pointer of the distribution itself. O(values log values). */
enum error_code distribution_prepare(struct distribution *d, const char *pointer,
                                     struct arena *a, struct error *err);

/* The next value. `position` is the place in a trace, 0 at first; only trace reads
 * it, all others accept NULL. */
double distribution_draw(const struct distribution *d, struct rng *r, size_t *position);

/* The mean of the draws; of normal with what `min` cuts off. */
double distribution_mean(const struct distribution *d);

/* The least value a draw can have; -HUGE_VAL: there is none. */
double distribution_least(const struct distribution *d);

#endif

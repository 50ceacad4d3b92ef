/* distribution.c - a random quantity that a caller describes.
 *
 * Which parameters a kind takes, and their bounds, is a table. Draws are by inversion
 * where there is a closed form, from u in [0, 1):
 *
 *     exponential  -mean * log1p(-u)
 *     normal       mean + sd * sqrt(-2 log1p(-u1)) * cos(2 pi u2); two u, none is kept
 *     weibull      scale * (-log1p(-u))^(1/shape)
 *     gamma        Marsaglia and Tsang 2000; below shape 1 that of shape + 1 times
 *                  (1 - u)^(1/shape)
 *     poisson      multiplication (Knuth) in parts of mean 30 at most
 *
 * Source: spec simulator.md 8, with test vectors.
 */
#include "models/distribution.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LARGEST 1e18 /* of a number; no draw overflows with it */

const char *const distribution_names[] = {
#define X(symbol, name, doc) #name,
    DISTRIBUTIONS(X)
#undef X
        NULL,
};

/* ---- parameters ---- */

enum {
    VALUE,
    L_BOUND,
    U_BOUND,
    MEAN,
    SD,
    MIN,
    MU,
    SIGMA,
    SHAPE,
    SCALE,
    P,
    SHAPE2,
    SCALE2,
    NUMBER_COUNT,
};

static const struct number_row {
    const char *name;
    size_t offset;
    double min, max;
    bool above_min; /* min itself is refused */
} numbers[NUMBER_COUNT] = {
    [VALUE] = {"value", offsetof(struct distribution, value), -LARGEST, LARGEST, false},
    [L_BOUND] = {"l_bound", offsetof(struct distribution, l_bound), -LARGEST, LARGEST,
                 false},
    [U_BOUND] = {"u_bound", offsetof(struct distribution, u_bound), -LARGEST, LARGEST,
                 false},
    [MEAN] = {"mean", offsetof(struct distribution, mean), 0, LARGEST, true},
    [SD] = {"sd", offsetof(struct distribution, sd), 0, LARGEST, false},
    [MIN] = {"min", offsetof(struct distribution, min), -LARGEST, LARGEST, false},
    [MU] = {"mu", offsetof(struct distribution, mu), -100, 100, false},
    [SIGMA] = {"sigma", offsetof(struct distribution, sigma), 0, 20, false},
    [SHAPE] = {"shape", offsetof(struct distribution, shape), 0.05, 1e6, false},
    [SCALE] = {"scale", offsetof(struct distribution, scale), 0, LARGEST, true},
    [P] = {"p", offsetof(struct distribution, p), 0, 1, false},
    [SHAPE2] = {"shape2", offsetof(struct distribution, shape2), 0.05, 1e6, false},
    [SCALE2] = {"scale2", offsetof(struct distribution, scale2), 0, LARGEST, true},
};

/* "mean" of a normal may have any sign, that of poisson bounds a draw's cost. */
static const struct number_row normal_mean = {"mean", offsetof(struct distribution, mean),
                                              -LARGEST, LARGEST, false};
static const struct number_row poisson_mean = {
    "mean", offsetof(struct distribution, mean), 0, 1e5, true};

#define BIT(number) (1U << (number))

static const struct kind_row {
    unsigned needed, optional;
    unsigned one_of; /* exactly one of these */
    bool values, weights;
} kinds[DISTRIBUTION_COUNT] = {
    [DISTRIBUTION_CONSTANT] = {.needed = BIT(VALUE)},
    [DISTRIBUTION_UNIFORM] = {.needed = BIT(L_BOUND) | BIT(U_BOUND)},
    [DISTRIBUTION_EXPONENTIAL] = {.needed = BIT(MEAN)},
    [DISTRIBUTION_NORMAL] = {.needed = BIT(MEAN) | BIT(SD), .optional = BIT(MIN)},
    [DISTRIBUTION_LOGNORMAL] = {.needed = BIT(SIGMA), .one_of = BIT(MU) | BIT(MEAN)},
    [DISTRIBUTION_WEIBULL] = {.needed = BIT(SHAPE), .one_of = BIT(SCALE) | BIT(MEAN)},
    [DISTRIBUTION_POISSON] = {.needed = BIT(MEAN)},
    [DISTRIBUTION_GAMMA] = {.needed = BIT(SHAPE) | BIT(SCALE)},
    [DISTRIBUTION_HYPER_GAMMA] = {.needed = BIT(P) | BIT(SHAPE) | BIT(SCALE) |
                                            BIT(SHAPE2) | BIT(SCALE2)},
    [DISTRIBUTION_EMPIRICAL] = {.values = true, .weights = true},
    [DISTRIBUTION_TRACE] = {.values = true},
};

static double number_of(const struct distribution *d, int number)
{
    return *(const double *)(const void *)((const char *)d + numbers[number].offset);
}

struct distribution distribution_blank(enum distribution_kind kind)
{
    struct distribution d = {.kind = kind};

    for (int i = 0; i < NUMBER_COUNT; i++)
        *(double *)(void *)((char *)&d + numbers[i].offset) = (double)NAN;
    return d;
}

struct distribution distribution_constant(double value)
{
    struct distribution d = distribution_blank(DISTRIBUTION_CONSTANT);

    d.value = value;
    return d;
}

struct distribution distribution_exponential(double mean)
{
    struct distribution d = distribution_blank(DISTRIBUTION_EXPONENTIAL);

    d.mean = mean;
    return d;
}

struct distribution distribution_uniform(double l_bound, double u_bound)
{
    struct distribution d = distribution_blank(DISTRIBUTION_UNIFORM);

    d.l_bound = l_bound;
    d.u_bound = u_bound;
    return d;
}

/* ---- checks ---- */

struct place {
    const char *pointer;
    struct error *err;
};

static void mistake(struct place at, const char *name, enum item_code code,
                    const char *text)
{
    char pointer[256];

    snprintf(pointer, sizeof(pointer), "%.180s/%s", at.pointer, name);
    invalid(at.err, pointer, code, "%s", text);
}

static const struct number_row *row_of(enum distribution_kind kind, int number)
{
    if (number == MEAN && kind == DISTRIBUTION_NORMAL)
        return &normal_mean;
    if (number == MEAN && kind == DISTRIBUTION_POISSON)
        return &poisson_mean;
    return &numbers[number];
}

static void check_number(const struct distribution *d, int number, struct place at)
{
    const struct kind_row *kind = &kinds[d->kind];
    const struct number_row *row = row_of(d->kind, number);
    double value = number_of(d, number);
    bool taken = (kind->needed | kind->optional | kind->one_of) & BIT(number);
    char text[128];

    if (isnan(value)) {
        if (kind->needed & BIT(number)) {
            snprintf(text, sizeof(text), "%s needs it", distribution_names[d->kind]);
            mistake(at, row->name, ITEM_REQUIRED, text);
        }
        return;
    }
    if (!taken) {
        snprintf(text, sizeof(text), "%s does not take it", distribution_names[d->kind]);
        mistake(at, row->name, ITEM_UNKNOWN_MEMBER, text);
        return;
    }
    if (value >= row->min && value <= row->max && (value > row->min || !row->above_min))
        return;
    snprintf(text, sizeof(text), "%g is not %s %g and at most %g", value,
             row->above_min ? "above" : "at least", row->min, row->max);
    mistake(at, row->name, ITEM_OUT_OF_BOUNDS, text);
}

static void check_one_of(const struct distribution *d, struct place at)
{
    unsigned one_of = kinds[d->kind].one_of;
    int first = -1, given = 0;

    for (int i = 0; i < NUMBER_COUNT; i++) {
        if (!(one_of & BIT(i)))
            continue;
        if (first < 0)
            first = i;
        given += !isnan(number_of(d, i));
    }
    if (first < 0 || given == 1)
        return;
    mistake(at, numbers[first].name, given ? ITEM_CONFLICT : ITEM_REQUIRED,
            d->kind == DISTRIBUTION_LOGNORMAL ? "give mu or mean, one of the two"
                                              : "give scale or mean, one of the two");
}

static void check_list(const double *list, size_t count, double min, const char *name,
                       struct place at)
{
    char element[64], text[96];

    for (size_t i = 0; i < count; i++) {
        if (list[i] >= min && list[i] <= LARGEST)
            continue;
        snprintf(element, sizeof(element), "%s/%zu", name, i);
        snprintf(text, sizeof(text), "%g is not between %g and %g", list[i], min,
                 LARGEST);
        mistake(at, element, ITEM_OUT_OF_BOUNDS, text);
    }
}

static void check_weights(const struct distribution *d, struct place at)
{
    double sum = 0;

    if (d->weight_count == 0)
        return;
    if (d->weight_count != d->value_count)
        mistake(at, "weights", ITEM_WRONG_LENGTH, "there must be one for each value");
    check_list(d->weights, d->weight_count, 0, "weights", at);
    for (size_t i = 0; i < d->weight_count; i++)
        sum += d->weights[i];
    if (!(sum > 0))
        mistake(at, "weights", ITEM_OUT_OF_BOUNDS, "one at least must be above 0");
}

static void check_lists(const struct distribution *d, struct place at)
{
    const struct kind_row *kind = &kinds[d->kind];

    if (!kind->values && d->value_count)
        mistake(at, "values", ITEM_UNKNOWN_MEMBER, "only empirical and trace take them");
    if (!kind->weights && d->weight_count)
        mistake(at, "weights", ITEM_UNKNOWN_MEMBER, "only empirical takes them");
    if (kind->values && d->value_count == 0)
        mistake(at, "values", ITEM_REQUIRED, "at least one value is needed");
    if (kind->values && d->value_count > DISTRIBUTION_VALUES_MAX)
        mistake(at, "values", ITEM_TOO_LONG, "at most 100000 values are taken");
    else if (kind->values)
        check_list(d->values, d->value_count, -LARGEST, "values", at);
    if (kind->weights)
        check_weights(d, at);
}

/* Comparisons with NAN are false, so a missing number is no second mistake. */
static void check_relations(const struct distribution *d, struct place at)
{
    if (d->kind == DISTRIBUTION_UNIFORM && d->u_bound < d->l_bound)
        mistake(at, "u_bound", ITEM_OUT_OF_BOUNDS, "is below l_bound");
    if (d->kind == DISTRIBUTION_NORMAL && d->min > d->mean + 3 * d->sd)
        mistake(at, "min", ITEM_OUT_OF_BOUNDS,
                "is more than 3 sd above the mean: hardly any draw would do");
}

/* ---- preparation ---- */

struct weighted {
    double value, weight;
};

static int by_value(const void *a, const void *b)
{
    const struct weighted *x = a, *y = b;

    return (x->value > y->value) - (x->value < y->value);
}

static void sort_values(struct distribution *d, struct arena *a)
{
    struct weighted *list = NEW(a, struct weighted, d->value_count);
    double *sorted = NEW(a, double, d->value_count);
    double *cumulative = NEW(a, double, d->value_count);
    double sum = 0, total = 0;

    for (size_t i = 0; i < d->value_count; i++) {
        list[i] = (struct weighted){d->values[i], d->weight_count ? d->weights[i] : 1};
        total += list[i].weight;
    }
    qsort(list, d->value_count, sizeof(*list), by_value);
    for (size_t i = 0; i < d->value_count; i++) {
        sum += list[i].weight;
        sorted[i] = list[i].value;
        cumulative[i] = sum / total;
    }
    for (size_t i = d->value_count; i-- > 0 && cumulative[i] > 0;) {
        cumulative[i] = 1; /* whatever rounding left */
        if (list[i].weight > 0)
            break;
    }
    d->sorted = sorted;
    d->cumulative = cumulative;
}

enum error_code distribution_prepare(struct distribution *d, const char *pointer,
                                     struct arena *a, struct error *err)
{
    struct place at = {pointer, err};
    size_t found_before = err->item_count;

    assert((unsigned)d->kind < DISTRIBUTION_COUNT);
    for (int i = 0; i < NUMBER_COUNT; i++)
        check_number(d, i, at);
    check_one_of(d, at);
    check_lists(d, at);
    check_relations(d, at);
    if (err->item_count > found_before)
        return ERR_INVALID;
    if (d->kind == DISTRIBUTION_EMPIRICAL)
        sort_values(d, a);
    if (d->kind == DISTRIBUTION_LOGNORMAL && isnan(d->mu)) {
        d->mu = log(d->mean) - d->sigma * d->sigma / 2;
        d->mean = (double)NAN;
    }
    if (d->kind == DISTRIBUTION_WEIBULL && isnan(d->scale)) {
        d->scale = d->mean / tgamma(1 + 1 / d->shape);
        d->mean = (double)NAN;
    }
    return OK;
}

/* ---- draws ---- */

static double draw_normal(struct rng *r)
{
    double length = sqrt(-2 * log1p(-rng_uniform(r)));

    return length * cos(2 * M_PI * rng_uniform(r));
}

static double draw_normal_above(const struct distribution *d, struct rng *r)
{
    double x;

    do
        x = d->mean + d->sd * draw_normal(r);
    while (x < d->min);
    return x;
}

/* Shape >= 1. */
static double draw_gamma_steep(double shape, double scale, struct rng *r)
{
    double d = shape - 1.0 / 3, c = 1 / sqrt(9 * d);

    for (;;) {
        double z = draw_normal(r);
        double v = 1 + c * z;

        v = v * v * v;
        if (v > 0 && log1p(-rng_uniform(r)) < z * z / 2 + d - d * v + d * log(v))
            return scale * d * v;
    }
}

static double draw_gamma(double shape, double scale, struct rng *r)
{
    double steep;

    if (shape >= 1)
        return draw_gamma_steep(shape, scale, r);
    steep = draw_gamma_steep(shape + 1, scale, r);
    return steep * pow(1 - rng_uniform(r), 1 / shape);
}

static double draw_poisson(double mean, struct rng *r)
{
    const double part_max = 30; /* exp(-30) is far from underflow */
    double count = 0;

    for (double left = mean; left > 0; left -= part_max) {
        double end = exp(-fmin(left, part_max)), p = rng_uniform(r);

        while (p > end) {
            count++;
            p *= rng_uniform(r);
        }
    }
    return count;
}

/* The first value whose cumulative weight is above u: those of weight 0 never are. */
static double draw_empirical(const struct distribution *d, struct rng *r)
{
    double u = rng_uniform(r);
    size_t low = 0, high = d->value_count - 1;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (d->cumulative[middle] > u)
            high = middle;
        else
            low = middle + 1;
    }
    return d->sorted[low];
}

double distribution_draw(const struct distribution *d, struct rng *r, size_t *position)
{
    switch (d->kind) {
    case DISTRIBUTION_CONSTANT:
        return d->value;
    case DISTRIBUTION_UNIFORM:
        return d->l_bound + (d->u_bound - d->l_bound) * rng_uniform(r);
    case DISTRIBUTION_EXPONENTIAL:
        return -d->mean * log1p(-rng_uniform(r));
    case DISTRIBUTION_NORMAL:
        return draw_normal_above(d, r);
    case DISTRIBUTION_LOGNORMAL:
        return exp(d->mu + d->sigma * draw_normal(r));
    case DISTRIBUTION_WEIBULL:
        return d->scale * pow(-log1p(-rng_uniform(r)), 1 / d->shape);
    case DISTRIBUTION_POISSON:
        return draw_poisson(d->mean, r);
    case DISTRIBUTION_GAMMA:
        return draw_gamma(d->shape, d->scale, r);
    case DISTRIBUTION_HYPER_GAMMA:
        return rng_uniform(r) <= d->p ? draw_gamma(d->shape, d->scale, r)
                                      : draw_gamma(d->shape2, d->scale2, r);
    case DISTRIBUTION_EMPIRICAL:
        return draw_empirical(d, r);
    case DISTRIBUTION_TRACE:
    case DISTRIBUTION_COUNT:
        break;
    }
    assert(position);
    return d->values[(*position)++ % d->value_count];
}

/* ---- what is known of the draws ---- */

/* mean + sd * density(x) / P(z > x), with x = (min - mean) / sd. */
static double mean_of_normal(const struct distribution *d)
{
    double x;

    if (isnan(d->min) || d->sd <= 0)
        return d->mean;
    x = (d->min - d->mean) / d->sd;
    return d->mean + d->sd * exp(-x * x / 2) / sqrt(2 * M_PI) / (erfc(x / sqrt(2)) / 2);
}

static double mean_of_values(const struct distribution *d)
{
    double mean = 0, before = 0;

    for (size_t i = 0; i < d->value_count; i++) {
        if (d->kind == DISTRIBUTION_TRACE) {
            mean += d->values[i] / (double)d->value_count;
            continue;
        }
        mean += d->sorted[i] * (d->cumulative[i] - before);
        before = d->cumulative[i];
    }
    return mean;
}

double distribution_mean(const struct distribution *d)
{
    switch (d->kind) {
    case DISTRIBUTION_CONSTANT:
        return d->value;
    case DISTRIBUTION_UNIFORM:
        return d->l_bound + (d->u_bound - d->l_bound) / 2;
    case DISTRIBUTION_EXPONENTIAL:
    case DISTRIBUTION_POISSON:
        return d->mean;
    case DISTRIBUTION_NORMAL:
        return mean_of_normal(d);
    case DISTRIBUTION_LOGNORMAL:
        return exp(d->mu + d->sigma * d->sigma / 2);
    case DISTRIBUTION_WEIBULL:
        return d->scale * tgamma(1 + 1 / d->shape);
    case DISTRIBUTION_GAMMA:
        return d->shape * d->scale;
    case DISTRIBUTION_HYPER_GAMMA:
        return d->p * d->shape * d->scale + (1 - d->p) * d->shape2 * d->scale2;
    case DISTRIBUTION_EMPIRICAL:
    case DISTRIBUTION_TRACE:
    case DISTRIBUTION_COUNT:
        break;
    }
    return mean_of_values(d);
}

double distribution_least(const struct distribution *d)
{
    double least = HUGE_VAL;

    switch (d->kind) {
    case DISTRIBUTION_CONSTANT:
        return d->value;
    case DISTRIBUTION_UNIFORM:
        return d->l_bound;
    case DISTRIBUTION_NORMAL:
        return isnan(d->min) ? (d->sd > 0 ? -HUGE_VAL : d->mean) : d->min;
    case DISTRIBUTION_EMPIRICAL:
        return d->sorted[0];
    case DISTRIBUTION_TRACE:
        for (size_t i = 0; i < d->value_count; i++)
            least = fmin(least, d->values[i]);
        return least;
    default:
        return 0;
    }
}

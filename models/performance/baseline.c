/* performance/baseline.c - what our predictions are compared with. */
#include "models/performance/baseline.h"

#include <math.h>

/* Bounds of the interval arithmetic, spec 15 item 4. */
#define CPU_LEAST  0.01
#define LINK_LEAST 1.0

const char *const baseline_names[] = {
#define X(symbol, name, meaning) #name,
    BASELINES(X)
#undef X
        NULL,
};

/* ---- stochastic values ---- */

static double combine(double x, double y, bool related)
{
    return related ? fabs(x) + fabs(y) : hypot(x, y);
}

struct stochastic stochastic_sum(struct stochastic x, struct stochastic y, bool related)
{
    return (struct stochastic){x.mean + y.mean, combine(x.spread, y.spread, related)};
}

/* |x y| sqrt((a/x)^2 + (b/y)^2), written so that a mean of 0 is no trouble. */
struct stochastic stochastic_product(struct stochastic x, struct stochastic y,
                                     bool related)
{
    return (struct stochastic){
        x.mean * y.mean,
        combine(y.mean * x.spread, x.mean * y.spread, related),
    };
}

struct stochastic stochastic_quotient(struct stochastic x, struct stochastic y,
                                      bool related)
{
    double mean = x.mean / y.mean;

    return (struct stochastic){
        mean,
        combine(x.spread / y.mean, mean * (y.spread / y.mean), related),
    };
}

struct stochastic stochastic_max(struct stochastic x, struct stochastic y)
{
    return y.mean > x.mean ? y : x;
}

struct stochastic stochastic_of(const double *value, size_t count)
{
    struct stochastic s = {NAN, NAN};
    double squares = 0;

    if (count == 0)
        return s;
    s.mean = 0;
    for (size_t i = 0; i < count; i++)
        s.mean += (value[i] - s.mean) / (double)(i + 1);
    for (size_t i = 0; i < count; i++)
        squares += (value[i] - s.mean) * (value[i] - s.mean);
    s.spread = count < 2 ? 0 : 2 * sqrt(squares / (double)(count - 1));
    return s;
}

/* ---- intervals ---- */

struct stochastic_range range_sum(struct stochastic_range x, struct stochastic_range y)
{
    return (struct stochastic_range){x.low + y.low, x.high + y.high};
}

/* 0 times an infinite end is 0: the end is a limit that is not reached. */
static double times(double x, double y)
{
    return x == 0 || y == 0 ? 0 : x * y;
}

struct stochastic_range range_product(struct stochastic_range x,
                                      struct stochastic_range y)
{
    double ll = times(x.low, y.low), lh = times(x.low, y.high);
    double hl = times(x.high, y.low), hh = times(x.high, y.high);

    return (struct stochastic_range){fmin(fmin(ll, lh), fmin(hl, hh)),
                                     fmax(fmax(ll, lh), fmax(hl, hh))};
}

struct stochastic_range range_quotient(struct stochastic_range x,
                                       struct stochastic_range y)
{
    struct stochastic_range inverse = {-HUGE_VAL, HUGE_VAL};

    if (y.low > 0 || y.high < 0)
        inverse = (struct stochastic_range){1 / y.high, 1 / y.low};
    else if (y.low == 0 && y.high > 0)
        inverse.low = 1 / y.high;
    else if (y.high == 0 && y.low < 0)
        inverse.high = 1 / y.low;
    return range_product(x, inverse);
}

struct stochastic_range range_max(struct stochastic_range x, struct stochastic_range y)
{
    return (struct stochastic_range){fmax(x.low, y.low), fmax(x.high, y.high)};
}

static struct stochastic_range clamped(struct stochastic s, double low, double high)
{
    return (struct stochastic_range){fmin(fmax(s.mean - s.spread, low), high),
                                     fmin(fmax(s.mean + s.spread, low), high)};
}

struct stochastic_range range_of_cpu(struct stochastic cpu)
{
    return clamped(cpu, CPU_LEAST, 1);
}

struct stochastic_range range_of_link(struct stochastic bandwidth, double capacity_mbps)
{
    return clamped(bandwidth, LINK_LEAST, capacity_mbps);
}

/* ---- a structural model ---- */

static bool mean_and_spread(struct stochastic s)
{
    return s.mean > 0 && isfinite(s.mean) && s.spread >= 0 && isfinite(s.spread);
}

static bool amount(double x)
{
    return x >= 0 && isfinite(x);
}

static void check(const struct stochastic_in *in, struct error *err)
{
    for (size_t i = 0; i < in->component_count; i++) {
        const struct stochastic_work *w = &in->components[i];

        if (!amount(w->cpu_s) || !amount(w->mbit) || w->iterations < 1)
            invalid(err, "/components", ITEM_OUT_OF_BOUNDS,
                    "component %zu: work must be 0 or more, iterations 1 or more", i);
    }
    if (in->cpu_count == 0)
        invalid(err, "/cpu", ITEM_REQUIRED, "a processor is needed");
    for (size_t i = 0; i < in->cpu_count; i++) {
        if (!mean_and_spread(in->cpu[i]))
            invalid(err, "/cpu", ITEM_OUT_OF_BOUNDS,
                    "processor %zu: the mean must be above 0, the spread 0 or more", i);
    }
    for (size_t i = 0; i < in->link_count; i++) {
        if (!mean_and_spread(in->bandwidth_mbps[i]))
            invalid(err, "/bandwidth_mbps", ITEM_OUT_OF_BOUNDS,
                    "link %zu: the mean must be above 0, the spread 0 or more", i);
    }
    if (in->link_count > 0 && !(in->capacity_mbps >= LINK_LEAST))
        invalid(err, "/capacity_mbps", ITEM_OUT_OF_BOUNDS, "must be %g or more",
                LINK_LEAST);
}

/* The time of `work` on the slowest of several things. */
static struct stochastic_time slowest(double work, const struct stochastic *share,
                                      size_t count, const double *capacity_mbps)
{
    struct stochastic amount_of = {work, 0};
    struct stochastic_range range_of = {work, work};
    struct stochastic_time time = {{0, 0}, {0, 0}};

    for (size_t i = 0; i < count; i++) {
        struct stochastic one = stochastic_quotient(amount_of, share[i], false);
        struct stochastic_range ends = capacity_mbps
                                           ? range_of_link(share[i], *capacity_mbps)
                                           : range_of_cpu(share[i]);
        struct stochastic_range range = range_quotient(range_of, ends);

        time.normal = i == 0 ? one : stochastic_max(time.normal, one);
        time.interval = i == 0 ? range : range_max(time.interval, range);
    }
    return time;
}

/* Adds repetitions under the same load. */
static void add_related(struct stochastic_time *sum, struct stochastic_time one,
                        size_t repetitions)
{
    double k = (double)repetitions;
    struct stochastic all = {k * one.normal.mean, k * one.normal.spread};
    struct stochastic_range ends = {k * one.interval.low, k * one.interval.high};

    sum->normal = stochastic_sum(sum->normal, all, true);
    sum->interval = range_sum(sum->interval, ends);
}

enum error_code stochastic_time(const struct stochastic_in *in,
                                struct stochastic_time *out, struct error *err)
{
    struct stochastic_time computing = {{0, 0}, {0, 0}}, sending = {{0, 0}, {0, 0}};

    check(in, err);
    if (err->code != OK)
        return err->code;
    for (size_t i = 0; i < in->component_count; i++) {
        const struct stochastic_work *w = &in->components[i];

        add_related(&computing, slowest(w->cpu_s, in->cpu, in->cpu_count, NULL),
                    w->iterations);
        add_related(
            &sending,
            slowest(w->mbit, in->bandwidth_mbps, in->link_count, &in->capacity_mbps),
            w->iterations);
    }
    out->normal = stochastic_sum(computing.normal, sending.normal, false);
    out->interval = range_sum(computing.interval, sending.interval);
    return OK;
}

/* ---- ScaLAPACK ---- */

static double known(double value, double preset)
{
    return isnan(value) ? preset : value;
}

double scalapack_time_s(const struct scalapack_in *in)
{
    double n = in->problem_size, p = in->processors, word_s = in->word_s, time_s;

    if (!(n > 0 && p >= 1 && in->block_size > 0 && in->cpu_available_ratio > 0) ||
        !(in->flop_s >= 0 && in->message_s >= 0))
        return NAN;
    if (in->bandwidth_mbps > 0)
        word_s = 64e-6 / in->bandwidth_mbps;
    time_s = known(in->flops, 22.0 / 3) * n * n * n / p *
                 (in->flop_s / in->cpu_available_ratio) +
             known(in->words, 5 * log2(p)) * n * n / sqrt(p) * word_s +
             known(in->messages, 8.5 * in->block_size + 2) * n / in->block_size *
                 in->message_s;
    if (!(word_s >= 0) || !isfinite(time_s) || in->bandwidth_mbps <= 0)
        return NAN;
    return time_s;
}

/* ---- loads ---- */

struct baseline_load baseline_loads(enum baseline b, struct baseline_load measured,
                                    struct baseline_load at_start, double constant_mbps)
{
    switch (b) {
    case BASELINE_UNIFORM_START:
        return at_start;
    case BASELINE_LOAD_BLIND:
        return (struct baseline_load){1, constant_mbps};
    default:
        return measured;
    }
}

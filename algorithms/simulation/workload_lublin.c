/* simulation/workload_lublin.c - arrivals in a daily cycle with bursts, run times of two
 * classes: the model of Lublin and Feitelson.
 *
 * A day has 48 half hours. Their weights are the masses of Gamma(anum, bnum) in half
 * hours from 5:30 on, divided by their mean. Time goes by points: a half hour of weight
 * w takes w points, and a job comes exp(g)/1800 points after the one before, with
 * g ~ Gamma(aarr * arar, barr), drawn again above 13. So gaps are short at noon and long
 * at night. With a job_count, all gaps in points are stretched alike, such that the job
 * after the last would come at the end of the horizon.
 *
 * Run time: exp(g) s with g ~ Gamma(a1, b1) with probability pa * nodes + pb, else
 * Gamma(a2, b2), drawn again above 12. Jobs are serial: one node.
 *
 * Source: spec simulator.md 9.1; U. Lublin, D. Feitelson 2003 (J. Parallel Distrib.
 * Comput. 63), whose published program has the parameters.
 * Cost: O(1) a job on average and O(1) memory.
 */
#include "algorithms/simulation/workload_parts.h"

#include <math.h>
#include <stdio.h>

enum { BUCKETS = 48, FIRST_BUCKET = 11 };

#define BUCKET_S    1800.0
#define GAP_LOG_MAX 13.0
#define RUN_LOG_MAX 12.0

const char *const lublin_set_names[] = {
#define X(symbol, name, ...) #name,
    LUBLIN_SETS(X)
#undef X
        NULL,
};

/* The members of struct lublin in the order of LUBLIN_SETS, with bounds. */
static const struct {
    const char *name;
    size_t offset;
    double min, max;
} rows[] = {
    {"aarr", offsetof(struct lublin, aarr), 0.05, 1e6},
    {"barr", offsetof(struct lublin, barr), 1e-9, 1e6},
    {"anum", offsetof(struct lublin, anum), 0.05, 1000},
    {"bnum", offsetof(struct lublin, bnum), 1e-9, 1e6},
    {"arar", offsetof(struct lublin, arar), 0.05, 1e6},
    {"a1", offsetof(struct lublin, a1), 0.05, 1e6},
    {"b1", offsetof(struct lublin, b1), 1e-9, 1e6},
    {"a2", offsetof(struct lublin, a2), 0.05, 1e6},
    {"b2", offsetof(struct lublin, b2), 1e-9, 1e6},
    {"pa", offsetof(struct lublin, pa), -1e6, 1e6},
    {"pb", offsetof(struct lublin, pb), -1e6, 1e6},
};
enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

static const double sets[LUBLIN_SET_COUNT][ROWS] = {
#define X(symbol, name, ...) {__VA_ARGS__},
    LUBLIN_SETS(X)
#undef X
};

struct cycle {
    struct distribution gap_log, run_log;
    double weight[BUCKETS];
    double stretch; /* of gaps in points */
    double bucket;  /* half hours since the start */
    double points;  /* of them used up by the last job */
};

static double *member(struct lublin *l, size_t row)
{
    return (double *)(void *)((char *)l + rows[row].offset);
}

void lublin_complete(struct lublin *l)
{
    for (size_t i = 0; i < ROWS; i++)
        if (isnan(*member(l, i)))
            *member(l, i) = sets[l->set][i];
}

/* ---- the daily cycle ---- */

/* Distribution function of Gamma(shape, 1): the power series below shape + 1, the
 * continued fraction of the complement above (Abramowitz and Stegun 6.5.29, 6.5.31;
 * Lentz's method). */
static double gamma_share(double shape, double x)
{
    enum { TERMS_MAX = 20000 };
    const double tiny = 1e-300, close = 1e-16;
    double front, sum = 1 / shape, term = sum, b, c, d, h;

    if (x <= 0)
        return 0;
    front = exp(shape * log(x) - x - lgamma(shape));
    if (x < shape + 1) {
        for (int n = 1; n < TERMS_MAX && term > sum * close; n++) {
            term *= x / (shape + n);
            sum += term;
        }
        return front * sum;
    }
    b = x + 1 - shape;
    c = 1 / tiny;
    d = 1 / b;
    h = d;
    for (int n = 1; n < TERMS_MAX; n++) {
        double an = -n * (n - shape), step;

        b += 2;
        d = an * d + b;
        d = 1 / (fabs(d) < tiny ? tiny : d);
        c = b + an / c;
        c = fabs(c) < tiny ? tiny : c;
        step = d * c;
        h *= step;
        if (fabs(step - 1) < close)
            break;
    }
    return 1 - front * h;
}

/* Sum of the masses; the weights are not yet divided by their mean. */
static double fill_weights(double anum, double bnum, double *weight)
{
    double sum = 0;

    for (int i = FIRST_BUCKET; i < FIRST_BUCKET + BUCKETS; i++) {
        double mass =
            gamma_share(anum, (i + 0.5) / bnum) - gamma_share(anum, (i - 0.5) / bnum);

        weight[(i - 1) % BUCKETS] = fmax(mass, 0);
        sum += fmax(mass, 0);
    }
    return sum;
}

void lublin_weights(double anum, double bnum, double weight[48])
{
    double sum = fill_weights(anum, bnum, weight);

    for (int i = 0; i < BUCKETS; i++)
        weight[i] *= BUCKETS / sum;
}

static void check(const struct workload *w, struct workload_place at)
{
    struct lublin l = w->lublin;
    double weight[BUCKETS];
    char name[64];
    bool sound = true;

    for (size_t i = 0; i < ROWS; i++) {
        double value = *member(&l, i);

        if (value >= rows[i].min && value <= rows[i].max)
            continue;
        sound = false;
        snprintf(name, sizeof(name), "lublin/%s", rows[i].name);
        workload_mistake(at, name, ITEM_OUT_OF_BOUNDS, "%g is not between %g and %g",
                         value, rows[i].min, rows[i].max);
    }
    if (!sound)
        return;
    if (l.aarr * l.arar < 0.05 || l.aarr * l.arar > 1e6)
        workload_mistake(at, "lublin/aarr", ITEM_OUT_OF_BOUNDS,
                         "aarr * arar must be between 0.05 and 1e6");
    if (l.aarr * l.arar * l.barr > GAP_LOG_MAX)
        workload_mistake(at, "lublin/barr", ITEM_OUT_OF_BOUNDS,
                         "aarr * arar * barr must be at most 13, where gaps are cut");
    if (l.a1 * l.b1 > RUN_LOG_MAX)
        workload_mistake(at, "lublin/b1", ITEM_OUT_OF_BOUNDS,
                         "a1 * b1 must be at most 12, where run times are cut");
    if (l.a2 * l.b2 > RUN_LOG_MAX)
        workload_mistake(at, "lublin/b2", ITEM_OUT_OF_BOUNDS,
                         "a2 * b2 must be at most 12, where run times are cut");
    if (!(fill_weights(l.anum, l.bnum, weight) > 1e-3))
        workload_mistake(at, "lublin/bnum", ITEM_OUT_OF_BOUNDS,
                         "with anum and bnum hardly any arrival falls into a day");
}

/* ---- arrivals ---- */

static double gap_points(const struct cycle *c, struct rng *r)
{
    double g;

    do
        g = distribution_draw(&c->gap_log, r, NULL);
    while (g > GAP_LOG_MAX);
    return exp(g) / BUCKET_S;
}

/* Points from the start to `end_s`. */
static double points_until(const struct cycle *c, double end_s)
{
    double day = floor(end_s / (BUCKETS * BUCKET_S));
    double points = BUCKETS * day, rest = end_s / BUCKET_S - BUCKETS * day;

    for (int i = 0; i < BUCKETS && rest > 0; i++, rest--)
        points += c->weight[i] * fmin(rest, 1);
    return points;
}

/* The draws are made twice: now for their sum, later for the arrivals. */
static double stretch_to(const struct cycle *c, const struct workload_source *s)
{
    struct rng r = s->arrival.rng;
    double sum = 0;

    for (uint64_t i = 0; i <= s->limit; i++)
        sum += gap_points(c, &r);
    return points_until(c, s->end_s) / sum;
}

static struct distribution gamma_of(double shape, double scale)
{
    struct distribution d = distribution_blank(DISTRIBUTION_GAMMA);

    d.shape = shape;
    d.scale = scale;
    return d;
}

static struct distribution run_log_of(const struct lublin *l)
{
    struct distribution d = distribution_blank(DISTRIBUTION_HYPER_GAMMA);

    d.p = fmin(1, fmax(0, l->pa + l->pb)); /* of one node */
    d.shape = l->a1;
    d.scale = l->b1;
    d.shape2 = l->a2;
    d.scale2 = l->b2;
    return d;
}

static enum error_code open(struct workload_source *s, struct arena *a, struct error *err)
{
    const struct lublin *l = &s->config->lublin;
    struct cycle *c = NEW(a, struct cycle, 1);

    c->gap_log = gamma_of(l->aarr * l->arar, l->barr);
    c->run_log = run_log_of(l);
    c->stretch = 1;
    lublin_weights(l->anum, l->bnum, c->weight);
    s->state = c;
    if (s->config->job_count == 0)
        return OK;
    if (!(s->end_s < HUGE_VAL))
        return invalid(
            err, "/stop", ITEM_CONFLICT,
            "lublin with a job_count spreads its jobs over the run, which must "
            "end at a time");
    if (s->end_s > 0)
        c->stretch = stretch_to(c, s);
    return OK;
}

static bool next(struct workload_source *s, struct sim_job *job)
{
    struct cycle *c = s->state;
    double g, weight = c->weight[(size_t)fmod(c->bucket, BUCKETS)];

    if (!(s->end_s > 0))
        return false;
    c->points += c->stretch * gap_points(c, &s->arrival.rng);
    while (c->points > weight) {
        c->points -= weight;
        c->bucket++;
        if (c->bucket * BUCKET_S >= s->end_s)
            return false;
        weight = c->weight[(size_t)fmod(c->bucket, BUCKETS)];
    }
    job->arrival_s = BUCKET_S * (c->bucket + c->points / weight);
    do
        g = distribution_draw(&c->run_log, &s->length.rng, NULL);
    while (g > RUN_LOG_MAX);
    job->length_mi = exp(g);
    return true;
}

const struct workload_maker workload_lublin = {check, open, next};

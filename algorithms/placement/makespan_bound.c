/* placement/makespan_bound.c - how short a schedule can be at best.
 *
 * Two lower bounds, of which the larger counts:
 *
 *     (a)  max over jobs of min over machines of wait_j + t_ij
 *     (b)  sum over i of min over j of p_j t_ij + sum over j of p_j min(wait_j, B)
 *          for any prices p_j >= 0 of sum 1 and any lower bound B found before
 *
 * (b) holds because the makespan is at least the mean of the loads weighted by
 * p; the best prices are the dual optimum of the linear relaxation. Ascent by
 * multiplicative weights: each job goes to its cheapest machine (tie: lowest
 * index), machines with more than their share of load get dearer,
 *
 *     p_j *= exp(eta_k * clip(load_j / value - 1, -1, 1)),  eta_k = 0.3 * 0.99^k.
 *
 * Both are multiplied by 1 - 1e-9 against rounding.
 *
 * Source: spec gridway 5.4. Cost: 1000 rounds of jobs * machines.
 * Deviation: of a matrix of more than 2^18 times every s-th job is taken first, so
 * that about as many remain; the prices found start the rounds over all jobs, of
 * which there are 2^28 / (jobs * machines), at least 10, with eta from 0.3 down to
 * 0.003. Measured at 8000 x 100 and 10^5 x 100: within 1e-3 of longer ascents.
 */
#include "algorithms/placement/makespan_parts.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

static const double SAFETY = 1e-9;
static const double PRICE_MIN = 1e-12; /* keeps price * HUGE_VAL infinite */

enum {
    SAMPLE_CELLS = 1 << 18,
    ALL_CELLS = 1 << 28, /* in all rounds after a sample */
    ALL_ROUNDS_MIN = 10,
};

struct plan {
    size_t rounds;
    double first_eta, decay;
};

static const struct plan whole = {1000, 0.3, 0.99};
static const double ALL_FIRST_ETA = 0.3, ALL_ETA_RATIO = 0.01;

struct ascent {
    const struct makespan_problem *problem;
    double scale;
    double *price, *best_price, *load;
    double floor; /* best bound so far, units */
    double value; /* best of (b) under the present plan */
    size_t rounds;
};

double makespan_scale(const struct makespan_problem *problem)
{
    size_t cell_count = problem->job_count * problem->machine_count;
    double longest_s = 0;
    int exponent;

    for (size_t c = 0; c < cell_count; c++) {
        double time_s = problem->time_s[c];
        longest_s = time_s > longest_s && time_s < HUGE_VAL ? time_s : longest_s;
    }
    for (size_t j = 0; j < problem->machine_count; j++)
        longest_s = fmax(longest_s, makespan_wait(problem, j));
    frexp(longest_s, &exponent);
    return ldexp(1, -exponent < DBL_MAX_EXP ? -exponent : DBL_MAX_EXP - 1);
}

/* Bound (a), in units. */
static double longest_least(const struct makespan_problem *problem, double scale)
{
    const double *time_s = problem->time_s;
    double longest_s = 0;

    for (size_t i = 0; i < problem->job_count; i++, time_s += problem->machine_count) {
        double least_s = HUGE_VAL;
        for (size_t j = 0; j < problem->machine_count; j++)
            least_s =
                fmin(least_s, makespan_wait(problem, j) * scale + time_s[j] * scale);
        assert(least_s < HUGE_VAL);
        longest_s = fmax(longest_s, least_s);
    }
    return longest_s;
}

/* Adds every job, or every stride-th, to the load of its cheapest machine. */
static void load_cheapest(struct ascent *s, size_t stride)
{
    const struct makespan_problem *p = s->problem;

    for (size_t i = 0; i < p->job_count; i += stride) {
        const double *time_s = p->time_s + i * p->machine_count;
        double least = s->price[0] * (time_s[0] * s->scale);
        size_t cheapest = 0;

        for (size_t j = 1; j < p->machine_count; j++) {
            double cost = s->price[j] * (time_s[j] * s->scale);
            cheapest = cost < least ? j : cheapest;
            least = cost < least ? cost : least;
        }
        s->load[cheapest] += time_s[cheapest] * s->scale;
    }
}

/* One round; returns (b) for the present prices, and changes them. */
static double ascend(struct ascent *s, size_t stride, double eta)
{
    size_t machine_count = s->problem->machine_count;
    double value = 0, sum = 0;

    for (size_t j = 0; j < machine_count; j++)
        s->load[j] =
            fmin(makespan_wait(s->problem, j) * s->scale, s->floor) / (double)stride;
    load_cheapest(s, stride);
    for (size_t j = 0; j < machine_count; j++)
        value += s->price[j] * s->load[j];
    if (value > s->value) {
        s->value = value;
        memcpy(s->best_price, s->price, machine_count * sizeof(*s->price));
    }
    if (value <= 0)
        return value;
    for (size_t j = 0; j < machine_count; j++) {
        double step = fmax(-1, fmin(s->load[j] / value - 1, 1));
        s->price[j] = fmax(s->price[j] * exp(eta * step), PRICE_MIN);
        sum += s->price[j];
    }
    for (size_t j = 0; j < machine_count; j++)
        s->price[j] /= sum;
    return value;
}

static void follow(struct ascent *s, const struct plan *plan, size_t stride,
                   const struct budget *budget)
{
    double eta = plan->first_eta;

    s->value = -1;
    for (size_t k = 0; k < plan->rounds && (k == 0 || !budget_spent(budget)); k++) {
        double value = ascend(s, stride, eta);
        if (stride == 1)
            s->floor = fmax(s->floor, value);
        eta *= plan->decay;
        s->rounds++;
    }
    memcpy(s->price, s->best_price, s->problem->machine_count * sizeof(*s->price));
}

/* The rounds over all jobs when a sample of them was taken first. */
static struct plan after_sample(size_t cell_count)
{
    size_t rounds = ALL_CELLS / cell_count;

    rounds = rounds > ALL_ROUNDS_MIN ? rounds : ALL_ROUNDS_MIN;
    return (struct plan){rounds, ALL_FIRST_ETA, pow(ALL_ETA_RATIO, 1 / (double)rounds)};
}

enum error_code makespan_bound(const struct makespan_problem *problem,
                               const struct budget *budget, struct makespan_prices *out,
                               struct arena *a, struct error *err)
{
    size_t machine_count = problem->machine_count;
    size_t cell_count = problem->job_count * machine_count;
    struct plan plan = whole;
    struct ascent s = {.problem = problem, .scale = makespan_scale(problem)};

    assert(problem->job_count > 0 && machine_count > 0);
    s.price = NEW(a, double, machine_count);
    s.best_price = NEW(a, double, machine_count);
    s.load = NEW(a, double, machine_count);
    if (!s.price || !s.best_price || !s.load)
        return fail_memory(err);
    for (size_t j = 0; j < machine_count; j++)
        s.price[j] = 1 / (double)machine_count;
    s.floor = longest_least(problem, s.scale);
    if (cell_count > SAMPLE_CELLS) {
        follow(&s, &whole, cell_count / SAMPLE_CELLS, budget);
        plan = after_sample(cell_count);
    }
    follow(&s, &plan, 1, budget);
    out->bound_s = fmin(s.floor * (1 - SAFETY) / s.scale, DBL_MAX);
    out->price = s.price;
    out->rounds = s.rounds;
    return OK;
}

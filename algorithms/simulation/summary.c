/* simulation/summary.c - several runs: means, confidence intervals.
 *
 * Source: spec simulator.md 12 (batch aggregation).
 */
#include "algorithms/simulation/simulation.h"

#include <math.h>

/* 97.5 % quantiles of Student's t for 1, 2 ... degrees of freedom (spec 12). */
static const double t_quantiles[] = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365,
                                     2.306,  2.262, 2.228, 2.201, 2.179, 2.160, 2.145,
                                     2.131,  2.120, 2.110, 2.101, 2.093};

enum { T_COUNT = sizeof(t_quantiles) / sizeof(t_quantiles[0]) };

/* Beyond the table: the first terms of Cornish and Fisher's expansion, within 0.001. */
static double t_quantile(size_t freedom)
{
    double z = 1.959963985, n = (double)freedom;

    if (freedom <= T_COUNT)
        return t_quantiles[freedom - 1];
    return z + (z * z * z + z) / (4 * n) +
           (5 * pow(z, 5) + 16 * z * z * z + 3 * z) / (96 * n * n);
}

/* Welford's: variance holds the sum of squares until the end. */
static void add(struct sim_summary *all, double value)
{
    double d = value - all->mean;

    if (isnan(value))
        return;
    all->count++;
    all->mean += d / (double)all->count;
    all->variance += d * (value - all->mean);
}

static void end(struct sim_summary *all)
{
    all->variance =
        all->count > 1 ? all->variance / (double)(all->count - 1) : (double)NAN;
    all->ci95 = all->count > 1 ? t_quantile(all->count - 1) *
                                     sqrt(all->variance / (double)all->count)
                               : (double)NAN;
    if (all->count == 0)
        all->mean = (double)NAN;
}

struct sim_summary sim_summarise_every(const double *values, size_t count, size_t step)
{
    struct sim_summary all = {0};

    for (size_t i = 0; i < count; i++)
        add(&all, values[i * step]);
    end(&all);
    return all;
}

struct sim_summary sim_summarise(const double *values, size_t count)
{
    return sim_summarise_every(values, count, 1);
}

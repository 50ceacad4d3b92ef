/* simulation/summary.c - several runs: means, confidence intervals, ranks.
 *
 * Source: spec simulator.md 12 (batch aggregation), 13 (ranking).
 */
#include "algorithms/simulation/simulation.h"

#include <math.h>
#include <string.h>

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

void sim_aggregate(const struct sim_metrics *runs, size_t run_count,
                   struct sim_summary *out)
{
    for (size_t m = 0; m < SIM_METRIC_COUNT; m++) {
        struct sim_summary all = {0};

        for (size_t i = 0; i < run_count; i++)
            add(&all, sim_metric(&runs[i], (enum sim_metric)m));
        end(&all);
        out[m] = all;
    }
}

static bool ranks_before(const char *const *labels,
                         const struct sim_summary *const *summaries, size_t a, size_t b)
{
    double done_a = summaries[a][SIM_METRIC_jobs_done].mean;
    double done_b = summaries[b][SIM_METRIC_jobs_done].mean;
    double lost_a = summaries[a][SIM_METRIC_jobs_lost].mean;
    double lost_b = summaries[b][SIM_METRIC_jobs_lost].mean;

    if (done_a != done_b)
        return done_a > done_b;
    if (lost_a != lost_b)
        return lost_a < lost_b;
    return strcmp(labels[a], labels[b]) < 0;
}

void sim_rank(const char *const *labels, const struct sim_summary *const *summaries,
              size_t count, size_t *order)
{
    for (size_t i = 0; i < count; i++) {
        size_t at = i;

        for (; at > 0 && ranks_before(labels, summaries, i, order[at - 1]); at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
}

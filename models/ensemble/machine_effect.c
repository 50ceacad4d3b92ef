/* ensemble/machine_effect.c - how much faster machines are than each other. */
#include "models/ensemble/machine_effect.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { ITERATIONS = 20 };
#define PRIOR_RUNS      2.0  /* of "no effect" */
#define SLOPE_RIDGE     0.05 /* towards slope 1 */
#define KAPPA           1.0
#define KAPPA_BENCHMARK 3.0

/* Which cells were seen on two machines. */
static void find_cells(const struct machine_run *run, size_t count, size_t *first,
                       bool *counts)
{
    for (size_t i = 0; i < count; i++) {
        size_t c = run[i].cell;

        if (first[c] == 0)
            first[c] = run[i].machine + 1;
        else if (first[c] != run[i].machine + 1)
            counts[c] = true;
    }
}

/* Subtracts the mean over the machines that have runs. */
static void centre(double *effect, const size_t *runs, size_t count)
{
    double sum = 0, machines = 0;

    for (size_t m = 0; m < count; m++) {
        sum += runs[m] > 0 ? effect[m] : 0;
        machines += runs[m] > 0;
    }
    for (size_t m = 0; m < count; m++)
        if (runs[m] > 0)
            effect[m] -= sum / machines;
}

void machine_effects(const struct machine_run *run, size_t run_count,
                     size_t machine_count, size_t cell_count, struct budget *budget,
                     double *effect, size_t *runs, struct arena *a)
{
    struct arena_mark mark = arena_mark(a);
    size_t *first = NEW(a, size_t, cell_count + 1);
    bool *counts = NEW(a, bool, cell_count + 1);
    double *mean = NEW(a, double, cell_count + 1);
    double *in_cell = NEW(a, double, cell_count + 1);
    double *sum = NEW(a, double, machine_count + 1);

    for (size_t m = 0; m < machine_count; m++) {
        effect[m] = 0;
        runs[m] = 0;
    }
    find_cells(run, run_count, first, counts);
    for (size_t i = 0; i < run_count; i++) {
        runs[run[i].machine] += counts[run[i].cell];
        in_cell[run[i].cell] += 1;
    }
    for (int k = 0; k < ITERATIONS; k++) {
        budget_step(budget, 2 * run_count + cell_count);
        for (size_t c = 0; c < cell_count; c++)
            mean[c] = 0;
        for (size_t m = 0; m < machine_count; m++)
            sum[m] = 0;
        for (size_t i = 0; i < run_count; i++)
            mean[run[i].cell] +=
                (run[i].y - effect[run[i].machine]) / in_cell[run[i].cell];
        for (size_t i = 0; i < run_count; i++)
            if (counts[run[i].cell])
                sum[run[i].machine] += run[i].y - mean[run[i].cell];
        for (size_t m = 0; m < machine_count; m++)
            effect[m] = sum[m] / ((double)runs[m] + PRIOR_RUNS);
        centre(effect, runs, machine_count);
    }
    arena_rewind(a, mark);
}

double machine_effect_by_benchmark(const double *mean_log, const double *effect,
                                   size_t count, double b, double *slope)
{
    double mean_b = 0, mean_a = 0, xx = SLOPE_RIDGE, xy = SLOPE_RIDGE;

    for (size_t i = 0; i < count; i++) {
        mean_b += mean_log[i] / (double)count;
        mean_a += effect[i] / (double)count;
    }
    for (size_t i = 0; i < count; i++) {
        xx += (mean_log[i] - mean_b) * (mean_log[i] - mean_b);
        xy += (mean_log[i] - mean_b) * (effect[i] - mean_a);
    }
    if (slope)
        *slope = xy / xx;
    return mean_a + xy / xx * (b - mean_b);
}

double machine_effect_with_prior(double prior, double effect, double count)
{
    return (effect * (count + KAPPA) + KAPPA_BENCHMARK * prior) /
           (count + KAPPA_BENCHMARK);
}

double machine_effect_by_runs(double prior, const double *error, size_t count)
{
    double kappa = isnan(prior) ? KAPPA : KAPPA_BENCHMARK;
    double sum = isnan(prior) ? 0 : kappa * prior;

    for (size_t i = 0; i < count; i++)
        sum += error[i];
    return sum / ((double)count + kappa);
}

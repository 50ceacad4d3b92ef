/* ensemble/machine_effect.h - how much faster machines are than each other, over all
 * applications.
 *
 * y = ln(time) = what is asked + a[machine]. Cells are an application's configurations
 * that were seen on two machines at least; a is found by turns with the cells' means, and
 * drawn to 0 as if each machine had two runs more without an effect. A machine in no cell
 * has its a from benchmarks, if there are any, and from the errors of what ran on it.
 *
 * Ours; two-way analysis with random effects, as in G. Robinson, "That BLUP is a good
 * thing", 1991. Benchmarks for machines never seen: J. Bader et al., "Lotaru", 2022.
 */
#ifndef GRIDPLAN_MACHINE_EFFECT_H
#define GRIDPLAN_MACHINE_EFFECT_H

#include "models/base/arena.h"
#include "models/base/budget.h"

#include <stddef.h>

/* A run of a cell. */
struct machine_run {
    size_t machine; /* below machine_count */
    size_t cell;    /* below cell_count */
    double y;       /* ln of the time */
};

/* effect[machine_count], of mean 0 over the machines that are in a cell that counts;
 * runs[machine]: in such cells; 0: its effect is 0. Cost: O(rounds runs). */
void machine_effects(const struct machine_run *run, size_t run_count,
                     size_t machine_count, size_t cell_count, struct budget *budget,
                     double *effect, size_t *runs, struct arena *a);

/* From the mean logarithms B of benchmarks of machines with effects: what a machine of
 * logarithm b has. count >= 1. *slope may be NULL. */
double machine_effect_by_benchmark(const double *mean_log, const double *effect,
                                   size_t count, double b, double *slope);

/* Of runs on a machine in no cell so many of the latest count. */
enum { MACHINE_ERRORS_MAX = 200 };

/* With errors r of runs that were predicted without its effect. prior: by benchmarks;
 * NAN: none. */
double machine_effect_by_runs(double prior, const double *error, size_t count);

/* An effect that machine_effect_by_runs() gave for `count` runs without a prior, with
 * one. */
double machine_effect_with_prior(double prior, double effect, double count);

#endif

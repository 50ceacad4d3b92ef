/* parallel/ant_colony.h - the pheromone rule of ant_colony, by itself for its test. */
#ifndef GRIDPLAN_PARALLEL_ANT_COLONY_H
#define GRIDPLAN_PARALLEL_ANT_COLONY_H

#include "algorithms/parallel/evaluate.h"

struct ant {
    size_t *machines; /* p of them */
    double plain_s;   /* score without perturbation; -1: not known yet */
    double score_s;   /* as compared */
};

/* The top ants, best first, leave pheromone on their p machines. per_ant: each of them
 * evaporates what is on them first; else once for every machine of in_pool (n). */
void ants_mark(const struct ant *const *top, size_t top_count, size_t p, double rho,
               bool per_ant, double *pheromone, const bool *in_pool, size_t n);

#endif

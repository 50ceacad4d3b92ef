/* parallel/mapping.h - a large set in which every cpu and every link reaches a limit.
 *
 * The largest such set is a maximum clique; this is the source's greedy method, which
 * ends at a set to which nothing can be added, but not always at a largest.
 *
 * Source: 003_a5f9349f46eae656 figure 4.8; spec parallel-scheduling.md 4.6.3.
 */
#ifndef GRIDPLAN_PARALLEL_MAPPING_H
#define GRIDPLAN_PARALLEL_MAPPING_H

#include "algorithms/parallel/evaluate.h"

#define MAPPING_TOLERANCE 1e-9 /* of both limits: grid levels are sums */

struct mapping {
    size_t *members; /* room for n */
    size_t count;    /* 0: no machine has the cpu */
    double min_cpu;
    double min_bandwidth_mbps; /* infinite: one machine */
    bool *inside;              /* of each machine: is it a member? */
    /* work space, n each */
    size_t *removed, *violations;
    double *sum_mbps;
};

void mapping_create(const struct parallel_search *s, struct mapping *m);

/* Machines with cpu >= cpu_ratio; those with the most links below bandwidth_mbps are
 * removed until none is left, then put back where all links reach it. O(n^2). Charges
 * what the spec counts for it (3.3), without the evaluation. */
void mapping_find(struct parallel_search *s, double cpu_ratio, double bandwidth_mbps,
                  struct mapping *m);

/* Evaluates and records what was found: its score, infinite if there is nothing. */
double mapping_try(struct parallel_search *s, const struct mapping *m);

#endif

/* queue/fairness.h - how evenly a replay serves users and jobs.
 *
 * Jain's index of the users' mean bounded slowdowns is 1 when all are served alike and
 * 1/n when one has it all; the Gini coefficient of their mean waits is 0 when all wait
 * alike. A job was overtaken when one that arrived later, and has no higher priority,
 * started before it.
 *
 * Sources: R. Jain, D. Chiu, W. Hawe, "A quantitative measure of fairness and
 * discrimination for resource allocation in shared computer systems", 1984; C. Gini,
 * "Variabilita e mutabilita", 1912. Cost: O(n log n).
 */
#ifndef GRIDPLAN_QUEUE_FAIRNESS_H
#define GRIDPLAN_QUEUE_FAIRNESS_H

#include "algorithms/queue/outcome.h"

struct queue_fairness {
    double jain_index;      /* (0, 1] */
    double gini_wait;       /* [0, 1); nobody waits: 0 */
    double overtaken_ratio; /* of the jobs that ran */
    size_t user_count;      /* jobs without a user are one user's */
};

/* (sum x)^2 / (n sum x^2) of n >= 1 values >= 0; all 0: 1. */
double queue_jain(const double *values, size_t count);

/* Half the mean difference of two of n >= 1 values >= 0, of their mean; all 0: 0. Sorts
 * the values. */
double queue_gini(double *values, size_t count);

/* False: no job ran, or the budget (may be NULL) was spent. `a` is for what is in
 * between. */
bool queue_fairness(const struct queue_outcome *outcomes, size_t count,
                    struct budget *budget, struct queue_fairness *out, struct arena *a);

#endif

/* performance/phase_sum.h - the run time of a whole run from those of its phases.
 *
 * Phases run one after the other. Of a phase without a prediction its share of the whole
 * run may be known: with shares f that sum to less than 1, T = (sum of the others) / (1 -
 * f). The ends of the interval are summed likewise: the phases err together at worst.
 * Source: ours.
 */
#ifndef GRIDPLAN_PERFORMANCE_PHASE_SUM_H
#define GRIDPLAN_PERFORMANCE_PHASE_SUM_H

#include <stdbool.h>

/* {0}: no phase yet. */
struct phase_sum {
    double time_s, low_s, high_s;
    double missing_ratio; /* of the whole run; 1 or more: not known */
};

void phase_sum_add(struct phase_sum *sum, double time_s, double low_s, double high_s);

/* A phase without a prediction; `share_ratio` NAN: its share is not known. */
void phase_sum_miss(struct phase_sum *sum, double share_ratio);

/* The whole run; false: not known, and all three are NAN. Once, at the end. */
bool phase_sum_end(struct phase_sum *sum);

#endif

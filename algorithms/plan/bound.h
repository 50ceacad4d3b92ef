/* plan/bound.h - a total that no plan goes below, under the loads of now. */
#ifndef GRIDPLAN_PLAN_BOUND_H
#define GRIDPLAN_PLAN_BOUND_H

#include "algorithms/plan/plan_run.h"

/* From the lower bounds LB(a,b) of intervals. One cluster:
 *
 *     L[0] = 0,  L[j] = min over i <= j of L[i-1] + LB(i,j) + (cost if i > 1)
 *
 * Several, where staying costs nothing, or when the time is over: the sum over the
 * phases of the least LB(k,k) of a cluster. 0: nothing is known.
 *
 * Source: spec rescheduling-plans.md 1.2. O(N^2) bounds of intervals, or N * C. */
void plan_bound(const struct plan_run *run, double *bound_s);

#endif

/* plan/near.h - in which order a planner asks for all intervals.
 *
 * An optimum needs the time of every interval. When the budget ends before, the best plan
 * of those that are known is the answer, so that those come first which may be part of
 * one: intervals of about as many phases as those of the best plan so far.
 *
 * Source: spec search.md 9.
 */
#ifndef GRIDPLAN_PLAN_NEAR_H
#define GRIDPLAN_PLAN_NEAR_H

#include "algorithms/plan/site_plan.h"

/* Asks tables[0..count) for the intervals of first..last that are not known yet, cluster
 * by cluster for each number of phases: the numbers first that are nearest to one with
 * is_near[number], of equally near ones the lesser. Each looks for a schedule faster than
 * those of the intervals a phase shorter. Tables without a source take no part. is_near:
 * last - first + 2, at least one of 1.. is set. False: the budget ended, or a source
 * failed. O(count phases^2). */
bool plan_near_ask(struct plan_table *tables, size_t count, size_t first, size_t last,
                   const bool *is_near, const struct plan_work *work);

#endif

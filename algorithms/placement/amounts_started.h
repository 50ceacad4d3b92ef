/* placement/amounts_started.h - the most weight that any plan starts now.
 *
 * For all plans alike: those of a search for started_now_weight, given ones, those of
 * list policies, and where it is a lower level of the objective.
 *
 * Source: world-model.md 5.1, 6.
 */
#ifndef GRIDPLAN_PLACEMENT_AMOUNTS_STARTED_H
#define GRIDPLAN_PLACEMENT_AMOUNTS_STARTED_H

#include "algorithms/placement/amounts_values.h"
#include "algorithms/world/now.h"

struct amounts_started {
    struct now_tier tiers[KNAPSACK_TIERS_MAX]; /* as a search for it leaves them open */
    double most[KNAPSACK_TIERS_MAX]; /* weight of all jobs of the tier that could start */
    size_t tier_count;               /* 0: no job is ready */
    bool follows; /* jobs may start now behind others, which the search does not see */
};

/* From what a search has found. */
const struct amounts_started *
amounts_started_of(const struct world *w, const struct now_out *found, struct arena *a);

/* By a search. `max_nodes` of it, 0: as many as it takes by itself. NULL: the goal does
 * not name it, or there is no resource. */
const struct amounts_started *amounts_started_find(const struct world *w,
                                                   const struct world_goal *goal,
                                                   double max_nodes, struct arena *a);

/* The bound of that level, where all jobs are of one priority. */
void amounts_started_bound(const struct amounts_started *s, const struct world_goal *goal,
                           struct world_bound *bounds);

/* With several priorities: what the plan starts of each, into the list of the goal's
 * values. */
void amounts_started_tiers(const struct amounts_started *s, const struct world *w,
                           const struct world_goal *goal, const struct world_plan *plan,
                           struct placement_value *list, struct arena *a);

#endif

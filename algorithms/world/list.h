/* world/list.h - list policies: one pass over the jobs, each to its place.
 *
 * Source: world-model.md 4.3.
 */
#ifndef GRIDPLAN_WORLD_LIST_H
#define GRIDPLAN_WORLD_LIST_H

#include "algorithms/world/board.h"

enum world_rule {
    WORLD_OLB,
    WORLD_MET,
    WORLD_MCT,
    WORLD_KPB,
    WORLD_MIN_MIN,
    WORLD_MAX_MIN,
    WORLD_DUPLEX,
    WORLD_SUFFERAGE,
    WORLD_SUFFERAGE_PASS,
    WORLD_XSUFFERAGE
};

/* Orders of the jobs for the rules that go in order. */
#define WORLD_ORDERS(X)           \
    X(WORLD_FIFO, "fifo")         \
    X(WORLD_PRIORITY, "priority") \
    X(WORLD_LONGEST, "longest")   \
    X(WORLD_VOLUME, "volume")     \
    X(WORLD_DEADLINE, "deadline") \
    X(WORLD_BALANCED, "balanced") \
    X(WORLD_SMITH, "smith")

enum world_order {
#define X(symbol, name) symbol,
    WORLD_ORDERS(X)
#undef X
};

/* Jobs in that order; tiers come first in every order but fifo's ties. O(n log n + n m)
 * for the orders that need run times. */
void world_order_jobs(const struct world *w, enum world_order order, size_t *jobs,
                      struct arena *a);

/* Places the jobs of `order` (job_count of them; a policy that does not go in order uses
 * it for ties) that have no place yet. kpb_ratio: share of the resources for WORLD_KPB,
 * 0 < ratio <= 1. */
void world_list(struct board *b, enum world_rule rule, const size_t *order,
                double kpb_ratio);

/* Brings deadlines into order where that costs nothing: jobs that run on a resource one
 * right behind the other, alike but for their times, change places so that who is due
 * first comes first. Nothing else moves, and the last of them ends as before. O(n log n);
 * nothing where no job has a deadline. */
void world_order_due(struct board *b);

#endif

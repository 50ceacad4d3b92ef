/* world/knapsack.h - how many of each class to take, so that their weight is largest.
 *
 * Classes of equal jobs, each with a need of every row (an amount now, or at a later time
 * at which less is free); a bounded knapsack of several dimensions, solved exactly: a
 * linear program, a greedy fill, then depth first over the classes with the program's
 * prices as bounds.
 *
 * Tiers are compared one after the other, the first (0) is most important: each is solved
 * for its sum of weights with the values of those before it as conditions. Their weights
 * stay in the sum times lambda, which makes the prices know the conditions (for any
 * lambda >= 0 that is a bound); a set counts only if it keeps the conditions.
 *
 * Source: world-model.md 6.
 */
#ifndef GRIDPLAN_WORLD_KNAPSACK_H
#define GRIDPLAN_WORLD_KNAPSACK_H

#include "models/base/arena.h"
#include "models/base/budget.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { KNAPSACK_TIERS_MAX = 8, KNAPSACK_NODES_MAX = 2000000 };

struct knapsack {
    size_t row_count;
    const int64_t *room; /* by row, > 0 */
    size_t class_count;
    const int64_t *needs;   /* class after class, row_count each, 0 .. room */
    const int64_t *counts;  /* >= 0; counts * needs does not overflow */
    const int64_t *weights; /* >= 0; sum of counts * weights <= 2^53 */
    const size_t *tiers;    /* of each class, 0 .. tier_count-1 */
    size_t tier_count;      /* 1 .. KNAPSACK_TIERS_MAX */
    size_t max_nodes;       /* of all tiers together; 0: KNAPSACK_NODES_MAX */
    struct budget *budget;
};

struct knapsack_tier {
    int64_t value;
    int64_t bound; /* none that is not worse in the tiers before it has more */
    bool proven;   /* value == bound, or the search came to its end */
};

/* Fills taken (by class) and tiers (tier_count of them). Returns the nodes looked at. */
size_t knapsack_solve(const struct knapsack *k, int64_t *taken,
                      struct knapsack_tier *tiers, struct arena *a);

/* Bounds of the linear program alone: of each tier among all choices that have at least
 * values[] in the tiers before it. */
void knapsack_bounds(const struct knapsack *k, const int64_t *values, int64_t *bounds,
                     struct arena *a);

#endif

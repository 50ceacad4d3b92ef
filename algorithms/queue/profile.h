/* queue/profile.h - how many processors are free from now on.
 *
 * A step function of time, kept as its steps in a balanced tree (a treap whose
 * weights come from a counter, so that the same calls build the same tree) with the
 * sum and the extremes of the partial sums of each subtree. A change is two steps.
 *
 * Cost: O(log n) for a change and for a question about n steps; profile_fit() as often
 * as there are gaps that are too short.
 */
#ifndef GRIDPLAN_QUEUE_PROFILE_H
#define GRIDPLAN_QUEUE_PROFILE_H

#include "models/base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct profile_node {
    double at_s;
    int64_t delta;          /* change of what is free at at_s */
    int64_t sum, low, high; /* of the subtree: all deltas, extremes of partial sums */
    uint64_t weight;
    uint32_t left, right; /* 0: none */
};

struct profile {
    double now_s;
    int64_t free; /* now; may be negative when more was promised than there is */
    struct profile_node *nodes; /* 0 is the empty tree */
    uint32_t root, spare, count, room;
    uint64_t state; /* of the weights */
    struct arena *arena;
};

enum error_code profile_create(struct profile *p, double now_s, uint64_t free,
                               struct arena *a, struct error *err);

/* From at_s on `delta` more are free. */
enum error_code profile_add(struct profile *p, double at_s, int64_t delta,
                            struct error *err);

/* `processors` less from start_s to end_s. */
enum error_code profile_take(struct profile *p, double start_s, double end_s,
                             uint64_t processors, struct error *err);

/* Undoes it. */
enum error_code profile_give(struct profile *p, double start_s, double end_s,
                             uint64_t processors, struct error *err);

/* Time goes on; what was before is forgotten. */
void profile_advance(struct profile *p, double now_s);

/* The first time from now on at which fewer than `processors` are free, or at least
 * so many; infinite: never. */
double profile_first_below(const struct profile *p, uint64_t processors);
double profile_first_above(const struct profile *p, uint64_t processors);

/* Whether so many are free from start_s to end_s. */
bool profile_bears(const struct profile *p, double start_s, double end_s,
                   uint64_t processors);

/* The first time from now, and from from_s, on from which so many are free so long.
 * Infinite when never that many are. */
double profile_fit(const struct profile *p, uint64_t processors, double duration_s,
                   double from_s);

#endif

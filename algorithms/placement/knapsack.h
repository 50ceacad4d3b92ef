/* placement/knapsack.h - the most profit of items that fit into a room, from above.
 *
 * Items have weights and profits; a set fits if its weights together are at most the
 * room. Wanted: a number that no set which fits has more profit than, and that is hardly
 * more than the best of them. Weights and the room are in one unit, profits in another.
 */
#ifndef GRIDPLAN_PLACEMENT_KNAPSACK_H
#define GRIDPLAN_PLACEMENT_KNAPSACK_H

#include "algorithms/placement/ticks.h"
#include "models/base/arena.h"

#include <stddef.h>
#include <stdint.h>

struct knapsack_ask {
    const double *weight; /* by item, >= 0; HUGE_VAL: fits nowhere */
    const double *profit; /* by item, finite; one <= 0 is never taken */
    size_t count;         /* at most that of the room for work */
    double room;          /* finite, >= 0 */
    double tolerance; /* >= 1e-9: the answer may be above the best by this share of what
                         items that can be divided would bring */
};

/* What is worth keeping from a similar question: how much profit a unit of weight brings
 * at the end, and how far from that items still matter, as profit. Both > 0. They cost
 * time when they are wrong, and nothing else. */
struct knapsack_guess {
    double rate, reach;
};

/* Room for work on questions of up to `count` items. */
struct knapsack *knapsack_create(size_t count, struct arena *a);

/* Above or equal to the profit of every set that fits; at most tolerance * it above the
 * best, unless more sets than STATES_MAX matter or the budget ends it: then it is above
 * by more, but still holds. taken[item] is 1 for a good set that fits, most often the
 * best. O(count) and some thousand looks; the work is counted in *ticks and in *work. */
double knapsack_most(struct knapsack *k, const struct knapsack_ask *ask,
                     struct knapsack_guess *guess, struct ticks *ticks, size_t *work,
                     uint8_t *taken);

#endif

/* world/cover.h - the cheapest set of things that gives back what is lacking.
 *
 * Each thing has a weight and gives some of each amount; together those chosen must give
 * all shortages. Least sum of weights, then fewest, then the first in their order:
 * depth first, the sums of what follows and the cheapest share of each amount as bounds.
 *
 * Source: world-model.md 7.3.
 */
#ifndef GRIDPLAN_WORLD_COVER_H
#define GRIDPLAN_WORLD_COVER_H

#include "models/base/arena.h"
#include "models/base/budget.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { COVER_NODES_MAX = 1000000 };

struct cover {
    size_t row_count;
    const int64_t *shortages; /* by row, > 0 */
    size_t item_count;
    const int64_t *gives;  /* item after item, row_count each, >= 0; sums fit */
    const double *weights; /* >= 0 */
    size_t max_nodes;      /* 0: COVER_NODES_MAX */
    struct budget *budget;
};

struct cover_out {
    bool possible;
    bool *chosen; /* by item */
    size_t count;
    double weight;
    bool proven;
};

/* out->chosen is in the arena. */
void cover_solve(const struct cover *c, struct cover_out *out, struct arena *a);

#endif

/* world/list_parts.h - what the files of the list policies share. */
#ifndef GRIDPLAN_WORLD_LIST_PARTS_H
#define GRIDPLAN_WORLD_LIST_PARTS_H

#include "algorithms/world/list.h"
#include "algorithms/world/ready.h"

/* Chains of jobs that can have the same places at every time, by their order; by job, the
 * one ahead of it and the one behind it in its chain; WORLD_NONE: none. O(n log n). */
struct list_alike {
    size_t *ahead, *behind;
};
struct list_alike list_alike_of(const struct board *b, const size_t *order,
                                struct arena *a);

/* min_min, max_min, sufferage, xsufferage: of all that are ready, one is chosen by its
 * best places. */
void list_batch(struct board *b, enum world_rule rule, const size_t *order,
                struct arena *scratch);

/* sufferage_pass: jobs claim resources, the one that would suffer more keeps it. */
void list_passes(struct board *b, const size_t *order, struct arena *scratch);

/* The better of min_min and max_min. */
void list_duplex(struct board *b, const size_t *order, struct arena *scratch);

/* Places units that are ready (*placed: there were some), before all single jobs; the
 * next single job that is ready; WORLD_NONE: no more, or the budget is spent. */
size_t list_next_single(struct board *b, struct ready *r, bool *placed);

#endif

/* world/search_parts.h - what the searches share. */
#ifndef GRIDPLAN_WORLD_SEARCH_PARTS_H
#define GRIDPLAN_WORLD_SEARCH_PARTS_H

#include "algorithms/world/board_parts.h"
#include "algorithms/world/search.h"

#include "models/base/rng.h"

/* A plan that was on the board, to come back to. */
struct world_copy {
    struct world_placed *placed;
    unsigned char *state;
    size_t *sequence, count;
    size_t *positions; /* of jobs of several nodes: theirs begin at `begin` */
    size_t *begin;     /* by job; NULL: there are none */
    struct world_worth worth;
};

struct world_copy world_copy_create(const struct board *b, struct arena *a);
void world_copy_save(struct world_copy *c, struct board *b);
void world_copy_load(const struct world_copy *c, struct board *b);

/* Only who has no place there, and why. */
void world_copy_refuse(const struct world_copy *c, struct board *b);

struct world_searching {
    struct board *b;
    struct world_search *s;
    struct arena *a; /* for as long as the search lasts */
    struct rng rng;
    struct world_copy best;
    size_t steps_until; /* the end */
};

/* Counts them; true: the turn, the steps or the budget are over, or the plan is as good
 * as asked for. */
bool world_search_is_over(struct world_searching *x, size_t steps);

/* What the board's plan is worth. */
void world_search_worth(struct world_searching *x, struct world_worth *worth);

/* Keeps the board's plan if it is better than the best. */
bool world_search_keep(struct world_searching *x, const struct world_worth *worth);

/* Keys of jobs, and mct in their order. */
struct order_search;
struct order_search *order_search_create(struct world_searching *x);
void order_search_run(struct order_search *o);

/* All jobs by an earlier time. NULL: resources are coupled, or it is not the makespan. */
struct pack_search;
struct pack_search *pack_search_create(struct world_searching *x);
void pack_search_run(struct pack_search *p);

#endif

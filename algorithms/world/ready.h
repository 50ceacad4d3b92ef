/* world/ready.h - whose turn it is: jobs and units whose predecessors are decided.
 *
 * A job that waits for others is skipped and comes back when all of them have places, or
 * can get none; among those that are ready the first of the order is next: a stable
 * topological order. A unit (gang, pack) is one entry, at the place of its first member.
 *
 * Source: world-model.md 2.4 and 4.3. Cost: O((jobs + predecessors) log).
 */
#ifndef GRIDPLAN_WORLD_READY_H
#define GRIDPLAN_WORLD_READY_H

#include "algorithms/world/board_parts.h"

struct ready {
    struct board *b;
    size_t *rank;  /* by job: its place in the order */
    size_t *key;   /* by first member of a unit, or job: least first */
    size_t *waits; /* by the same: predecessors outside the unit that are open */
    size_t *first_next, *next; /* successors of a job: next[first_next[j] ..] */
    size_t *heap, count;       /* first members that are ready */
};

/* Jobs of `order` that are open. units_first: before all single jobs, in request order.
 */
struct ready *ready_create(struct board *b, const size_t *order, bool units_first,
                           struct arena *a);

/* The next, of a unit its first member; WORLD_NONE: none is ready. */
size_t ready_pop(struct ready *r);

/* The job has its place, or was refused: its successors may have their turn. */
void ready_decided(struct ready *r, size_t job);

/* Whether it is one member of a unit. */
bool ready_is_unit(const struct ready *r, size_t job);

/* Places the unit; members without a place are refused. Tells all of them. */
void ready_place_unit(struct ready *r, size_t first_member);

/* Places the job there, or refuses it; tells. */
void ready_place(struct ready *r, size_t job, const struct board_spot *spot);

#endif

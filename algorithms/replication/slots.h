/* replication/slots.h - the free CPUs of a round, and which one a job gets.
 *
 * Counts are there at once. Choices need an index that slots_index() builds when
 * the first is wanted, O(resources); after that a choice or a change is O(k log
 * resources) for a job with k replicas. Who decides round after round on the same
 * resources keeps all of it from one to the next (round_in.kept): then a round costs
 * what has changed since the last one.
 *
 * Source: spec fault-tolerance.md 6.1; simulator.md 10.
 */
#ifndef GRIDPLAN_REPLICATION_SLOTS_H
#define GRIDPLAN_REPLICATION_SLOTS_H

#include "algorithms/replication/round.h"

#define NOWHERE SIZE_MAX /* no resource can take the job */

struct slots {
    const struct round_in *in;
    bool by_resource;          /* CA counts resources with a free slot, not slots */
    size_t *job_count;         /* n of each resource as the round goes on */
    size_t up_count;           /* resources that are up */
    size_t open_count;         /* of those, with a free slot */
    size_t free_count;         /* free slots of those */
    struct slots_index *index; /* NULL: not built yet */
    struct slots_kept *kept;   /* where this goes on in the next round; NULL: nowhere */
    struct arena *arena;
};

/* Counts and index of resources that stay, for round_in.kept. `a` must outlive all
 * rounds. */
struct slots_kept *slots_keep(size_t resource_count, struct arena *a);

/* The resource will be another in the next round: up, mips, n_max or job_count. O(1);
 * accepts NULL. */
void slots_changed(struct slots_kept *kept, size_t resource);

enum error_code slots_create(struct slots *s, const struct round_in *in, bool by_resource,
                             struct arena *a, struct error *err);

/* Call before the first choice; does nothing when there is an index. */
enum error_code slots_index(struct slots *s, struct error *err);

/* CA. */
static inline size_t slots_free_cpus(const struct slots *s)
{
    return s->by_resource ? s->open_count : s->free_count;
}

/* Up, and below n_max. */
bool slots_is_open(const struct slots *s, size_t resource);

/* A job more or less on a resource. */
void slots_take(struct slots *s, size_t resource);
void slots_give(struct slots *s, size_t resource);

/* The resources that hold active replicas of a job. */
struct held {
    const size_t *resources;
    size_t count;
};

/* Rule 6.1: the site with fewest replicas of the job, of those the fastest for
 * its load, and there the resource that is fastest for its load; NOWHERE. */
size_t slots_spread(struct slots *s, struct held held);

/* The open resource of largest mips / (n + 1), wherever it is; NOWHERE. */
size_t slots_fastest(struct slots *s);

/* An open resource without a replica, by one draw; NOWHERE without a draw. */
size_t slots_random(struct slots *s, struct held held, uint64_t *random_state);

#endif

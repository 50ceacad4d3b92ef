/* world/many_nodes.h - where a job on several nodes ends first.
 *
 * It starts on all nodes at one time and leaves all at one time: it runs as long as on
 * the slowest of them. Asked is the least completion over all starts and all sets of
 * `wanted` nodes, with the job's shared amounts, and with at most so many nodes of one
 * value of a group's key as that has places for.
 *
 * Source: world-model.md 4.2.
 */
#ifndef GRIDPLAN_WORLD_MANY_NODES_H
#define GRIDPLAN_WORLD_MANY_NODES_H

#include "algorithms/world/profile.h"

/* Run times that are told apart; of more, so many quantiles are. */
enum { NODES_RUN_TIMES_MAX = 64 };

/* A node that may be taken. */
struct nodes_candidate {
    size_t position, index; /* in the world, in the snapshot */
    size_t value;           /* of the group's key; 0 where nothing is counted by it */
    double run_s;           /* finite */
    const struct profile *profile;
    const struct profile *closed; /* one amount: 1 where it is not reserved as a whole;
                                     asked for runs of no length. NULL: never is */
};

/* A shared amount that the job needs. */
struct nodes_shared {
    const struct profile *profile;
    int64_t at_least;
};

/* What is asked. */
struct nodes_question {
    const struct world *w;
    const struct world_job *job;
    struct nodes_candidate *candidates; /* are sorted: least run time, then index */
    size_t candidate_count;
    size_t wanted;           /* >= 1 */
    const int64_t *at_least; /* of each node; INT64_MIN where nothing is needed */
    const struct nodes_shared *shared;
    size_t shared_count;
    /* Places of each value: `room` of them in the whole plan (SIZE_MAX: any number), or,
     * where that is NULL, what its profile of one amount has free. */
    const size_t *room;
    const struct profile *const *places;
    size_t value_count;
    double from_s, latest_s; /* when it may start */
};

struct nodes_answer {
    double start_s; /* HUGE_VAL: never */
    double run_s;
    double done_s; /* start_s + run_s */

    /* As long as these nodes, and the shared amounts, are free in [start_s, start_s +
     * held_s), and elsewhere nothing becomes free, no other completion is below others_s.
     * held_s >= how long the job holds them. */
    double held_s, others_s;
};

/* Working memory for questions, used again for each. */
struct nodes_room;
struct nodes_room *nodes_room_create(size_t candidate_count, size_t shared_count,
                                     size_t value_count, struct arena *a);

/* The least completion; ties: the earlier start, then the smaller run time, then nodes of
 * least run time, then of least index. `positions` (wanted) by rising index. With
 * more than NODES_RUN_TIMES_MAX run times at which enough nodes are there it is valid,
 * but need not be the least. A budget that is spent on the way: the best that was found.
 *
 * O((candidates + steps) log candidates) for each run time. */
void nodes_best(struct nodes_room *room, const struct nodes_question *q,
                size_t *positions, struct nodes_answer *out);

/* The least start at which enough nodes are there, each for its own run time; HUGE_VAL:
 * none, or the budget is spent. What ends first need not start first. */
double nodes_first_start(struct nodes_room *room, const struct nodes_question *q);

#endif

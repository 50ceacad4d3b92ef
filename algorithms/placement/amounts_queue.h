/* placement/amounts_queue.h - a batch queue on the resources of a snapshot.
 *
 * Source: world-model.md 8, row queue-orders.
 */
#ifndef GRIDPLAN_PLACEMENT_AMOUNTS_QUEUE_H
#define GRIDPLAN_PLACEMENT_AMOUNTS_QUEUE_H

#include "algorithms/placement/placement.h"
#include "algorithms/world/queue.h"

struct amounts_queue_out {
    const struct world *world;
    struct world_queue_out queue;
    const struct placement_unplaced *unplaced; /* jobs without a place */
    size_t unplaced_count;
    double makespan_s, lower_bound_s; /* of the placed jobs */
    double free_cpus; /* after those that start now, of resources that limit them */
    const char *const *warnings;
    size_t warning_count;
};

/* The start that a job was told by an answer before. */
struct amounts_queue_promise {
    double start_s;                  /* from now; NAN: none */
    const char *const *resource_ids; /* where; */
    size_t resource_id_count;        /* 0: not said */
};

struct amounts_queue_in {
    const struct placement_in *of;
    const struct policy
        *policy;          /* of queue/queue.h; NULL: only mistakes are looked for */
    bool plan_with_limit; /* amounts are held for time_limit_s where there is one */
    const struct amounts_queue_promise *promises; /* by job; NULL: none */
    bool keeps_gaps;                              /* jobs with one do not move up */
};

/* Mistakes of the input are collected in *err with pointers into the request body;
 * ERR_INVALID. */
enum error_code amounts_queue(const struct amounts_queue_in *q,
                              struct amounts_queue_out *out, struct arena *a,
                              struct error *err);

#endif

/* queue_orders.h - what the two forms of POST /v1/queue-orders share: a pool of
 * processors (queue_orders.c), and resources with amounts (queue_world.c).
 */
#ifndef GRIDPLAN_QUEUE_ORDERS_H
#define GRIDPLAN_QUEUE_ORDERS_H

#include "algorithms/placement/placement.h"
#include "algorithms/queue/queue.h"
#include "handlers/cluster_queue/cluster_json.h"
#include "handlers/common/decision.h"

enum { QUEUE_ORDERS_JOBS_MAX = 200000 };

/* ---- the request ---- */

/* A waiting job of either form. */
struct waiting_job {
    struct job of;        /* with a snapshot; estimate_s is in `job` */
    struct queue_job job; /* estimate_s NAN: nobody says; processors 0: not given */
    double planned_start_s;
    struct cluster_job_in cluster;           /* `after` also with a snapshot */
    const char *const *planned_resource_ids; /* with a snapshot */
    size_t planned_resource_count;
};

struct running_job {
    const char *id;
    struct queue_running running;
};

struct reservation {
    const char *id;
    struct queue_reservation reservation;
};

struct queue_orders_request {
    struct decision_request decision;
    const char *site_id;
    double now_s;
    uint64_t processors; /* 0: not given */
    const struct snapshot *snapshot;
    const char *snapshot_id;
    const struct cluster_in *cluster;
    bool strict_dependencies;
    struct placement_world world;
    const struct waiting_job *jobs;
    size_t job_count;
    const struct running_job *running;
    size_t running_count;
    const struct reservation *reservations;
    size_t reservation_count;
};

/* ---- the answer ---- */

/* Behind those of enum queue_reason. */
enum wait_reason {
    QUEUE_WAIT_NO_FREE_NOW = QUEUE_REASON_COUNT,
    QUEUE_WAIT_NOT_RELEASED,
    QUEUE_WAIT_CLUSTER /* and those that only clusters have: queue_wait_reason() */
};

/* The reason of this name. */
int queue_wait_reason(const char *name);

struct start {
    const char *job_id;
    uint64_t processors;
    double start_s;
    const char *resource_id, *partition_id; /* with a snapshot */
    const char *const *resource_ids;
    size_t resource_id_count;
    const struct run_time_basis *run_time_basis;
    uint64_t run_time_index;
    const char *array_id; /* of a cluster */
    const double *cpus_by_resource;
    size_t cpus_by_resource_count;
    double time_limit_s; /* NAN: not said */
    struct placement_copies copies;
};

/* A limit that holds a job back. */
struct queue_limit {
    const char *scope, *id, *name, *amount;
    double value, used;
};

/* The terms of a priority. */
struct queue_priority_parts {
    double age, association, fair_share, job_size, partition, qos, site, nice, tres;
    double fair_share_factor;
};

/* Running jobs that are stopped for one that starts. */
struct queue_preemption {
    const char *job_id;
    const char *const *resource_ids, *const *stop;
    size_t resource_id_count, stop_count;
    const char *mode;
    double lost_s, grace_s;
};

/* What is free of a partition. */
struct queue_free {
    const char *partition_id;
    uint64_t nodes, cpus;
};

struct promise_broken {
    double by_s;
    const char *blocking_job_id, *blocking_reservation_id;
};

struct wait {
    const char *job_id;
    uint64_t processors;
    double estimated_start_s, planned_start_s;
    const char *const *planned_resource_ids;
    size_t planned_resource_count;
    const struct promise_broken *promise_broken;
    int reason; /* enum queue_reason, or one of enum wait_reason */
    const char *detail;
    const char *blocking_job_id, *blocking_reservation_id;
    double until_s;
    const struct run_time_basis *run_time_basis; /* with a snapshot */
    uint64_t run_time_index;
    /* Of a cluster: */
    const char *array_id, *partition_id, *slurm_reason;
    double priority; /* NAN: not said */
    const struct queue_priority_parts *priority_parts;
    const struct queue_limit *limit;
    struct placement_copies copies; /* with a snapshot */
};

struct unplaced_reason {
    const char *reason, *detail;
    uint64_t resource_count; /* of a snapshot, as the rest; JSON_NO_INTEGER: not said */
    const struct placement_nearest_miss *nearest_miss; /* NULL: none */
    const struct placement_amount *amounts;
    size_t amount_count;
    const char *const *blockers;
    size_t blocker_count;
    const struct queue_limit *limit; /* NULL: none */
};

struct unplaced {
    const char *job_id;
    const struct unplaced_reason *reasons;
    size_t reason_count;
    struct placement_copies copies;
};

struct objective {
    double makespan_s, lower_bound_s, gap_ratio;
    double mean_wait_s; /* of all jobs that will run */
    uint64_t free_processors;
};

struct queue_orders_answer {
    struct decision_answer decision;
    const char *site_id;
    const struct start *starts;
    size_t start_count;
    const struct wait *waiting;
    size_t waiting_count;
    const struct unplaced *unplaced;
    size_t unplaced_count;
    const struct queue_preemption *preemptions; /* NULL: none */
    size_t preemption_count;
    const struct queue_free *free; /* NULL: not said */
    size_t free_count;
    struct objective objective;
    const struct run_time_basis *run_times;
    size_t run_time_count;
};

/* Says that planned_start_s is not looked at by another policy than conservative. */
void queue_warn_promises(struct request *rq, const struct queue_orders_request *body,
                         const struct policy *policy, struct decision_answer *answer);

/* Whether the request names the option, an index of queue_conservative_params. */
bool queue_option_given(const struct queue_orders_request *body, int option);

/* Decides about resources with amounts. The request has a snapshot, or names one. */
enum error_code queue_orders_world(struct request *rq,
                                   const struct queue_orders_request *body,
                                   const struct policy *policy,
                                   struct queue_orders_answer *answer);

/* Decides about a cluster, which the request has. */
enum error_code queue_orders_cluster(struct request *rq,
                                     const struct queue_orders_request *body,
                                     struct queue_orders_answer *answer);

#endif

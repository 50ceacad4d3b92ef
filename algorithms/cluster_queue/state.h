/* cluster_queue/state.h - what runs on a cluster, and what is left.
 *
 * Grows by jobs that start; jobs that end or are stopped leave it. Counts what limits
 * ask: for each account, quality of service and partition, and for the users in them.
 */
#ifndef GRIDPLAN_CLUSTER_STATE_H
#define GRIDPLAN_CLUSTER_STATE_H

#include "algorithms/cluster_queue/cluster.h"

/* Nodes for a job. */
struct cluster_pick {
    uint32_t *nodes;
    uint32_t *tasks; /* on each; NULL: the job is not in tasks */
    size_t count;
};

/* A job that runs. */
struct cluster_held {
    size_t index;           /* in state.held */
    ptrdiff_t running, job; /* index in the cluster's lists; the other is CLUSTER_NONE */
    size_t row;             /* of a job: that started */
    struct cluster_owner of;
    const uint32_t *nodes;
    size_t node_count;
    const int64_t *taken; /* [node_count][amount_count] */
    const struct cluster_take *shared;
    size_t shared_count;
    bool exclusive, exclusive_user, gone, preemptible;
    double start_s, end_s, priority, cpu_s; /* cpu_s: its cpus times its time */
};

/* A job on a node, in a list by ends. */
struct cluster_place {
    struct cluster_held *held;
    const int64_t *taken;
    struct cluster_place *next;
};

/* What an account, quality of service or partition uses, or a user or account in it. */
struct cluster_usage {
    uint64_t key; /* 0: free */
    double jobs, nodes, cpu_s;
    int64_t *amounts;
};

struct cluster_state {
    const struct cluster *of;
    struct arena *arena;
    size_t words;
    int64_t *free;                 /* [node_count][amount_count] */
    int64_t *shared;               /* [shared_count], free */
    struct cluster_place **places; /* [node_count] */
    struct cluster_place *spare;   /* of jobs that have ended */
    struct cluster_held **held;
    size_t held_count, held_room;
    struct cluster_usage *usage; /* a table by key */
    size_t usage_count, usage_room;
    double *array_running; /* [array_count] */
};

/* With what runs. */
struct cluster_state *cluster_state_create(const struct cluster *c, struct arena *a);

/* Starts a row's job at start_s on nodes on which it fits. */
struct cluster_held *cluster_start(struct cluster_state *s, const struct cluster_row *row,
                                   const struct cluster_pick *pick, double start_s,
                                   double limit_s);

/* It has ended, or is stopped. */
void cluster_stop(struct cluster_state *s, struct cluster_held *held);

/* It runs on: takes cluster_stop() back. */
void cluster_resume(struct cluster_state *s, struct cluster_held *held);

/* Whether what is free of all that exists once is enough. */
bool cluster_has_shared(const struct cluster_state *s, const struct cluster_job *job);

/* ---- limits ---- */

#define CLUSTER_SCOPES(X) X(qos) X(partition_qos) X(user) X(account) X(partition)

enum cluster_scope {
#define X(name) CLUSTER_SCOPE_##name,
    CLUSTER_SCOPES(X)
#undef X
};

/* A limit that holds a job back. */
struct cluster_limit {
    enum cluster_scope scope;
    const char *id;     /* of the quality of service, account or partition */
    const char *name;   /* as in the request: jobs_running_max, group, ... */
    ptrdiff_t amount;   /* index of the amount; CLUSTER_NONE: it is none */
    double value, used; /* amounts in units; NAN: a list, in which the job is not */
};

/* Whether no limit holds the row back; else the first that does, in `limit`. */
bool cluster_within_limits(const struct cluster_state *s, const struct cluster_row *row,
                           struct cluster_limit *limit);

/* A node's amounts of the row's job there, for `tasks` tasks; job->exclusive: as asked.
 */
void cluster_need_on(const struct cluster *c, const struct cluster_row *row, size_t node,
                     size_t tasks, int64_t *need);

#endif

/* cluster_queue/cluster.h - a cluster, its queue and its rules, as Slurm knows them.
 *
 * Nodes have amounts: cpus, memory and named ones, in whole units (cpus and named ones in
 * millionths, memory in bytes; not limited: CLUSTER_ENDLESS). Sets of nodes are bit sets
 * of cluster_words() words. What belongs together names each other by index;
 * CLUSTER_NONE: nobody. All times are seconds on the scale of now_s.
 *
 * Sources: Slurm's manual pages slurm.conf(5) and sbatch(1), pages "Scheduling
 * Configuration" and "Resource Limits".
 */
#ifndef GRIDPLAN_CLUSTER_H
#define GRIDPLAN_CLUSTER_H

#include "algorithms/priority/multifactor.h"
#include "models/base/arena.h"
#include "models/base/budget.h"

#include <stdbool.h>
#include <stdint.h>

#define CLUSTER_ENDLESS (INT64_MAX / 4)
#define CLUSTER_UNITS   1e6 /* of a cpu, or one of a named amount */
#define CLUSTER_YEAR_S  31536000.0

enum { CLUSTER_NONE = -1 };
enum { CLUSTER_CPUS, CLUSTER_MEMORY, CLUSTER_NAMED }; /* indexes of amounts */

/* How much of what exists once for the whole cluster, as licences. */
struct cluster_take {
    size_t what; /* index */
    int64_t units;
};

struct cluster_node {
    const char *id;
    double weight;           /* the smaller the earlier it is used */
    const int64_t *capacity; /* [amount_count] */
    int64_t core_units;      /* cpus are given in whole multiples of it */
    bool starts;             /* jobs may start there */
    bool may_come_back;      /* it does not start any, but is there */
};

/* Numbers that are not limits are endless: HUGE_VAL, CLUSTER_ENDLESS. */
struct cluster_amount_limits {
    const int64_t *amounts; /* [amount_count]; NULL: none */
    double nodes, jobs;
    double cpu_s_running; /* cpus times limits of those that run */
    double cpu_s;         /* and what was used before */
};

struct cluster_limits {
    double jobs, jobs_per_user, jobs_per_account, wall_s;
    struct cluster_amount_limits group, per_job, per_user, per_node;
};

enum cluster_sharing { CLUSTER_SHARES_NO, CLUSTER_SHARES_MANY, CLUSTER_SHARES_NEVER };

struct cluster_partition {
    const char *id;
    const uint64_t *nodes; /* set */
    bool starts;           /* jobs may start there */
    double tier, factor;
    double limit_max_s, nodes_min, nodes_max;
    int64_t cpus_per_node_max;
    int64_t memory_per_node_max; /* 0: not limited */
    double memory_per_cpu_max;   /* 0: not limited; rows' cpus are raised to it already */
    const bool *users, *accounts, *qos; /* who may; NULL: all */
    ptrdiff_t qos_id;                   /* whose limits hold too */
    enum cluster_sharing sharing;
    double shared_jobs_max;
    bool preemptible_by_tier;
    struct cluster_limits limits;
};

struct cluster_qos {
    const char *id;
    double priority, grace_s;
    double usage_factor;  /* what use of it counts, in replays */
    const bool *preempts; /* [qos_count]; NULL: nobody */
    bool no_reserve;      /* starts, but gets no plan */
    bool not_preempted;   /* whoever may preempt it */
    bool overrides_partition;
    struct cluster_limits limits;
};

/* A user's or an account's association. */
struct cluster_account {
    const char *id;
    ptrdiff_t parent;
    bool is_user;
    double used_cpu_s; /* before */
    double fair_share; /* factor */
    const bool *qos;   /* that it may use, [qos_count]; NULL: all */
    struct cluster_limits limits;
};

struct cluster_reservation {
    const char *id;
    double start_s, end_s;
    const uint64_t *nodes; /* set; NULL: none */
    const struct cluster_take *shared;
    size_t shared_count;
    const bool *users, *accounts; /* who may use it; NULL: all who name it */
    bool is_flexible;             /* its jobs may begin before and end behind it */
};

/* Whose job: what limits and rights ask. */
struct cluster_owner {
    ptrdiff_t user, account; /* account: the association */
    ptrdiff_t qos, partition, array, name;
};

/* Nodes that a job's features name. */
struct cluster_features {
    const uint64_t *nodes; /* set */
    size_t count;          /* at least so many of them; 0: all of the job's */
};

enum cluster_after_kind {
    CLUSTER_AFTER_START,
    CLUSTER_AFTER_END, /* any */
    CLUSTER_AFTER_OK,  /* plans assume success */
    CLUSTER_AFTER_FAILURE
};

struct cluster_after {
    enum cluster_after_kind kind;
    bool is_running; /* `job` counts in `running`, else in `jobs` */
    size_t job;
    double delay_s;
};

struct cluster_job {
    const char *id;
    double number, task;     /* of its id and array; NAN: its id has no number, no task */
    struct cluster_owner of; /* partition: NONE, see rows */
    size_t nodes, nodes_max;
    size_t tasks;         /* > 0: any number of nodes, the amounts are of one task */
    bool memory_per_node; /* but the memory is of each node */
    bool memory_by_cpu;   /* it follows from that of a cpu */
    const struct cluster_take *shared;
    size_t shared_count;
    bool exclusive, exclusive_user;
    const struct cluster_features *features; /* all of them; if alike: one of them */
    size_t feature_count;
    bool features_alike;
    const uint64_t *allowed, *required; /* sets; NULL: all, none */
    ptrdiff_t reservation;
    double submit_s, eligible_s; /* eligible_s in the future: waits for it */
    bool held, held_by_admin, singleton;
    const struct cluster_after *after;
    size_t after_count;
    bool any_after;     /* one of them is enough */
    bool is_never;      /* what it depends on cannot happen any more */
    size_t gang;        /* number of its gang, from 1; 0: none */
    double limit_min_s; /* NAN: it is not shortened */
    double deadline_s;  /* HUGE_VAL: none */
};

/* A job in one of its partitions: what the queue is made of. */
struct cluster_row {
    size_t job, partition;
    const int64_t *need; /* per node, or per task; [amount_count] */
    double limit_s;
    double priority;
    const int64_t *asked; /* need before its cpus were raised to the partition's most
                             memory for each; NULL: they were not */
};

struct cluster_array {
    const char *id;
    double running_max;
};

/* A job of a gang and its rows, [row, row + row_count). */
struct cluster_member {
    size_t job, row, row_count;
};

/* Jobs that start together. */
struct cluster_gang {
    const struct cluster_member *members;
    size_t count;
};

/* A running job. */
struct cluster_running {
    const char *id;
    struct cluster_owner of;
    const uint32_t *nodes;
    size_t node_count;
    const int64_t *taken; /* [node_count][amount_count] */
    const struct cluster_take *shared;
    size_t shared_count;
    bool exclusive, exclusive_user;
    double start_s, end_s; /* by its limit */
    double priority;
    bool preemptible;
};

enum cluster_preempt_type {
    CLUSTER_PREEMPT_NONE,
    CLUSTER_PREEMPT_QOS,
    CLUSTER_PREEMPT_TIER
};

struct cluster_settings {
    double bf_interval_s; /* < 0: no backfill */
    int64_t bf_window_s, bf_resolution_s;
    double bf_max_job_test, bf_max_job_user, bf_max_job_user_part, bf_max_job_part,
        bf_max_job_assoc, bf_max_job_start,
        bf_max_job_array_resv; /* HUGE_VAL: no limit */
    bool bf_licenses;
    double bf_window_linear_s; /* 0: windows double */
    double sched_max_job_start, default_queue_depth, partition_job_depth;
    bool defer, assoc_limit_stop;
    enum cluster_preempt_type preempt_type;
    double preempt_exempt_s;
    bool memory_counts, whole_nodes;
    bool ends_one_by_one, strict_reservations;
    bool promises_amounts; /* not whole nodes */
};

struct cluster {
    double now_s;
    size_t amount_count;
    const struct cluster_node *nodes;
    size_t node_count;
    const int64_t *shared; /* what there is; [shared_count] */
    size_t shared_count;
    const struct cluster_partition *partitions;
    size_t partition_count;
    const struct cluster_qos *qos;
    size_t qos_count;
    const struct cluster_account *accounts;
    size_t account_count;
    const struct cluster_reservation *reservations;
    size_t reservation_count;
    const struct cluster_array *arrays;
    size_t array_count;
    const struct cluster_gang *gangs;
    size_t gang_count;
    size_t user_count, name_count; /* names: of a user's jobs */
    const struct cluster_job *jobs;
    size_t job_count;
    const struct cluster_row *rows;
    size_t row_count;
    const struct cluster_running *running;
    size_t running_count;
    struct cluster_settings settings;
    struct budget *budget; /* NULL: no limit */
};

/* ---- sets of nodes ---- */

static inline size_t cluster_words(size_t node_count)
{
    return (node_count + 63) / 64;
}

static inline bool cluster_set_has(const uint64_t *set, size_t node)
{
    return set[node / 64] >> node % 64 & 1;
}

static inline void cluster_set_add(uint64_t *set, size_t node)
{
    set[node / 64] |= UINT64_C(1) << node % 64;
}

static inline size_t cluster_set_count(const uint64_t *set, size_t words)
{
    size_t count = 0;

    for (size_t w = 0; w < words; w++)
        count += (size_t)__builtin_popcountll(set[w]);
    return count;
}

static inline void cluster_set_keep(uint64_t *set, const uint64_t *of, size_t words)
{
    for (size_t w = 0; w < words; w++)
        set[w] &= of[w];
}

static inline void cluster_set_drop(uint64_t *set, const uint64_t *of, size_t words)
{
    for (size_t w = 0; w < words; w++)
        set[w] &= ~of[w];
}

#endif

/* cluster.h - a cluster and its queue, as Slurm's documents tell of them.
 *
 * What squeue, sinfo, scontrol, sshare and sacctmgr say becomes one snapshot with a
 * queue: nodes with amounts, partitions, licences, reservations, shares and limits,
 * settings; jobs that run, with what they have of each node; jobs that wait. Times of
 * the documents are seconds since the epoch and stay so: now_s is on that scale.
 *
 * Units: Slurm's limits are in minutes and its memory in MiB; here all is seconds and
 * bytes. Generic resources are called gpus, gres.NAME and gres.NAME.TYPE, licences
 * licence.NAME.
 *
 * Source: Slurm's manual pages (values.h, records.h), slurm.conf(5), sbatch(1), and its
 * pages Multifactor Priority and Scheduling Configuration.
 */
#ifndef GRIDPLAN_SLURM_CLUSTER_H
#define GRIDPLAN_SLURM_CLUSTER_H

#include "models/base/error.h"
#include "models/base/value.h"
#include "models/slurm/dependency.h"
#include "models/slurm/records.h"

/* A time limit where neither a job nor its partition has one: 365 days. */
#define SLURM_NO_LIMIT_S 31536000.0

struct slurm_texts {
    const char *const *list; /* NULL: not said */
    size_t count;
};

struct slurm_amounts {
    const struct named_value *list;
    size_t count;
};

struct slurm_node {
    const char *id;
    double cpus, memory_bytes;
    struct slurm_amounts capacities;
    double weight;
    struct slurm_texts features;
    double sockets, cores_per_socket, threads_per_core; /* NAN: not said */
    const char *state; /* up, drain, down, maint, future */
    struct slurm_texts partition_ids;
};

/* Amounts are of each node; a job whose amounts differ from node to node has several of
 * these, each with its nodes. */
struct slurm_running {
    const char *id;
    struct slurm_texts resource_ids;
    double cpus, memory_bytes;
    struct slurm_amounts needs; /* licences: in the first of a job */
    bool exclusive;
    double started_s, time_limit_s, expected_end_s;               /* NAN: not known */
    double priority;                                              /* NAN: not said */
    const char *user, *account_id, *qos_id, *partition_id, *name; /* NULL: not said */
    const char *array_id, *task_id;                               /* NULL: no task */
};

/* Components of a heterogeneous job, which start together. */
struct slurm_group {
    const char *id;     /* of the job */
    const char *policy; /* "gang" */
};

struct slurm_array {
    const char *id, *task_ids;
    double running_max; /* NAN: no limit */
};

struct slurm_waiting {
    const char *id, *name, *user, *account_id, *qos_id, *reservation_id;
    struct slurm_texts partition_ids;
    double nodes, nodes_max;     /* NAN: not said */
    double cpus, memory_bytes;   /* of a node; NAN: not said */
    double tasks, cpus_per_task; /* instead of cpus; NAN: not said */
    double memory_per_cpu_bytes; /* instead of memory_bytes */
    struct slurm_amounts needs;  /* of a node; licences: of the job */
    bool exclusive, exclusive_user;
    const char *features; /* as Slurm writes them; NULL: none */
    struct slurm_texts resource_ids_required, resource_ids_excluded;
    const struct slurm_array *array; /* NULL: none */
    const struct slurm_group *group; /* likewise */
    const struct slurm_after *after;
    size_t after_count;
    bool singleton, kill_on_invalid_dependency, requeue;
    double submit_s, eligible_s, begin_s; /* NAN: not known, none */
    bool held;
    const char *after_mode; /* any: one of them suffices; NULL: all */
    const char *held_by;    /* user, admin; NULL: not held */
    double time_limit_s, time_limit_min_s, deadline_s; /* NAN: none */
    double priority, nice;                             /* priority NAN: not said */
    double slurm_start_s; /* Slurm's own estimate; NAN: none */
    const char *slurm_reason;
    const char *unplaced; /* why it can have no place; NULL: it can */
};

/* NAN: no such limit. */
struct slurm_limit_amounts {
    double cpus, memory_bytes, nodes, jobs_running, cpu_s_running, cpu_s;
    struct slurm_amounts needs;
};

struct slurm_limits {
    double jobs_running_max, jobs_submitted_max, jobs_running_per_user_max,
        jobs_running_per_account_max, wall_s_max;
    const struct slurm_limit_amounts *group, *per_job, *per_user, *per_node; /* or NULL */
};

struct slurm_partition {
    const char *id;
    struct slurm_texts resource_ids;
    bool is_default;
    const char *state; /* up, down, drain, inactive */
    double time_limit_max_s, time_limit_default_s, over_time_limit_s; /* NAN: none */
    double priority_tier, priority_factor;
    double nodes_per_job_min, nodes_per_job_max, cpus_per_node_max;
    double memory_per_node_default_bytes, memory_per_cpu_default_bytes,
        memory_per_cpu_max_bytes, memory_per_node_max_bytes;
    struct slurm_texts accounts_allowed, accounts_denied, qos_allowed;
    const char *qos_id, *sharing; /* no, yes, force, exclusive */
    double shared_jobs_max;
};

struct slurm_qos {
    const char *id;
    double priority, grace_s, usage_factor;
    struct slurm_texts flags, preempts;
    const char *preempt_mode;          /* NULL: the cluster's */
    const struct slurm_limits *limits; /* NULL: none */
};

struct slurm_account {
    const char *id, *parent_id, *user_id;
    double shares, usage_s;
    struct slurm_texts qos_ids;
    const char *default_qos_id;
    const struct slurm_limits *limits;
};

struct slurm_reservation {
    const char *id;
    struct slurm_texts resource_ids, users_allowed, accounts_allowed, flags;
    double start_s, end_s;
    struct slurm_amounts needs;
};

/* Numbers of SchedulerParameters: member, name there, what one of it is here, and the
 * bounds of its value here. Slurm takes its default for what is beyond them, and so do
 * we; -1 of bf_interval means that there is no backfill. */
#define SLURM_SCHEDULER_NUMBERS(X)                              \
    X(bf_interval_s, bf_interval, 1, 1, 10800)                  \
    X(bf_window_s, bf_window, 60, 60, 2592000)                  \
    X(bf_resolution_s, bf_resolution, 1, 1, 3600)               \
    X(bf_max_job_test, bf_max_job_test, 1, 1, 1e6)              \
    X(bf_max_job_user, bf_max_job_user, 1, 0, 1e6)              \
    X(bf_max_job_user_part, bf_max_job_user_part, 1, 0, 1e6)    \
    X(bf_max_job_part, bf_max_job_part, 1, 0, 1e6)              \
    X(bf_max_job_assoc, bf_max_job_assoc, 1, 0, 1e6)            \
    X(bf_max_job_start, bf_max_job_start, 1, 0, 1e6)            \
    X(bf_max_job_array_resv, bf_max_job_array_resv, 1, 0, 1000) \
    X(bf_window_linear_s, bf_window_linear, 1, 0, 1e6)          \
    X(sched_interval_s, sched_interval, 1, 1, 1e6)              \
    X(sched_min_interval_s, sched_min_interval, 1e-6, 0, 1e6)   \
    X(default_queue_depth, default_queue_depth, 1, 0, 1e6)      \
    X(partition_job_depth, partition_job_depth, 1, 0, 1e6)      \
    X(sched_max_job_start, sched_max_job_start, 1, 0, 1e6)

/* Words of it that need no number. */
#define SLURM_SCHEDULER_FLAGS(X) \
    X(bf_licenses)               \
    X(bf_running_job_reserve)    \
    X(defer)                     \
    X(assoc_limit_stop)

/* Weights of the multifactor priority: member, key of slurm.conf. */
#define SLURM_PRIORITY_WEIGHTS(X)                 \
    X(weight_age, PriorityWeightAge)              \
    X(weight_assoc, PriorityWeightAssoc)          \
    X(weight_fair_share, PriorityWeightFairShare) \
    X(weight_job_size, PriorityWeightJobSize)     \
    X(weight_partition, PriorityWeightPartition)  \
    X(weight_qos, PriorityWeightQOS)

struct slurm_priority {
    const char *type; /* multifactor, basic */
#define X(member, key) double member;
    SLURM_PRIORITY_WEIGHTS(X)
#undef X
    struct slurm_amounts weight_tres;                   /* cpus, memory_bytes, gpus ... */
    double max_age_s, decay_half_life_s, calc_period_s; /* half life 0: no decay */
    double damping;
    bool favor_small, small_relative_to_time, accrue_always;
    const char *fair_share; /* fair_tree, classic */
};

/* What slurm.conf says; NAN, NULL: nothing. */
struct slurm_settings {
#define X(member, ...) double member;
    SLURM_SCHEDULER_NUMBERS(X)
#undef X
#define X(member) bool member;
    SLURM_SCHEDULER_FLAGS(X)
#undef X
    const char *preempt_type; /* none, qos, partition_prio */
    const char *preempt_mode; /* off, cancel, requeue */
    const char *select;       /* cores_memory, cores, cpus_memory, cpus, whole_nodes */
    double preempt_exempt_s, over_time_limit_s, kill_wait_s;
    const struct slurm_priority *priority;
};

/* Flags of a quality of service that mean something here: name, and Slurm's in text and
 * in JSON. */
#define SLURM_QOS_FLAGS(X)                                                     \
    X(no_reserve, "NoReserve", "NO_RESERVE")                                   \
    X(deny_on_limit, "DenyOnLimit", "DENY_LIMIT")                              \
    X(override_partition_limits, "PartitionTimeLimit", "PARTITION_TIME_LIMIT") \
    X(no_decay, "NoDecay", "NO_DECAY")

/* Likewise of a reservation: name and Slurm's. */
#define SLURM_RESERVATION_FLAGS(X) \
    X(maint, "MAINT")              \
    X(ignore_jobs, "IGNORE_JOBS")  \
    X(flex, "FLEX")                \
    X(daily, "DAILY")              \
    X(weekly, "WEEKLY")

/* Words of the answer, each list ended by NULL; of slurm_loss_names some are "". */
enum { SLURM_UNKNOWN_PARTITION, SLURM_UNKNOWN_RESERVATION };
extern const char *const slurm_qos_flag_names[];
extern const char *const slurm_reservation_flag_names[];
extern const char *const slurm_group_policy_names[];
extern const char *const slurm_unplaced_names[]; /* slurm_waiting.unplaced */
extern const char *const slurm_loss_names[];     /* slurm_loss.what */

/* What has no place here, or was guessed. */
struct slurm_loss {
    const char *what;
    size_t count;
    const char *examples[3];
    size_t example_count;
};

struct slurm_cluster {
    const struct slurm_node *nodes;
    size_t node_count;
    struct slurm_amounts shared_capacities;
    const struct slurm_running *running;
    size_t running_count;
    const struct slurm_waiting *waiting;
    size_t waiting_count;
    const struct slurm_partition *partitions;
    size_t partition_count;
    const struct slurm_qos *qos;
    size_t qos_count;
    const struct slurm_account *accounts;
    size_t account_count;
    const struct slurm_reservation *reservations;
    size_t reservation_count;
    const struct slurm_settings *settings; /* NULL: no configuration */
    const char *const *warnings;           /* "code: sentence" */
    size_t warning_count;
    const struct slurm_loss *lost;
    size_t lost_count;
    double now_s;
    const char *name, *version; /* NULL: not said */
};

struct slurm_options {
    double now_s; /* NAN: what the documents say, else received_s */
    double received_s;
    double tz_offset_s; /* of times written as text; NAN: not said, 0 */
};

/* A setting of slurm.conf as a member of the queue's settings. */
struct slurm_setting {
    const char *object; /* the object in it that has the member; NULL: none */
    const char *member;
    double number; /* NAN: is_on counts */
    bool is_on;
};

/* Reads NAME and VALUE of slurm.conf, or of its SchedulerParameters, where a word alone
 * has value NULL: bf_window and 2880, PriorityWeightAge and 1000. False: it is not known,
 * or has no such value. */
bool slurm_setting_read(const char *name, const char *value, struct slurm_setting *out);

/* Converts records. All that is guessed, cut or left out is a warning or a loss. */
void slurm_cluster_read(const struct slurm_records *from,
                        const struct slurm_options *options, struct slurm_cluster *out,
                        struct arena *a);

#endif

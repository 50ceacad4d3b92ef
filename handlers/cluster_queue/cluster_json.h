/* cluster_json.h - how a cluster with partitions, accounts and limits looks in JSON.
 *
 * Source: names of Slurm's manual pages, in our words where there is one.
 */
#ifndef GRIDPLAN_CLUSTER_JSON_H
#define GRIDPLAN_CLUSTER_JSON_H

#include "algorithms/cluster_queue/settings.h"
#include "models/base/value.h"
#include "service/json.h"

enum {
    CLUSTER_NODES_MAX = 100000,
    CLUSTER_RUNNING_MAX = 1000000,
    CLUSTER_PARTITIONS_MAX = 1000,
    CLUSTER_QOS_MAX = 1000,
    CLUSTER_ACCOUNTS_MAX = 200000,
    CLUSTER_RESERVATIONS_MAX = 10000,
    CLUSTER_ALLOWED_MAX = 10000
};

/* Amounts of a limit. NAN, no needs: no limit. */
struct cluster_amounts_in {
    double cpus, memory_bytes, nodes;
    const struct named_value *needs;
    size_t need_count;
    double jobs_running, cpu_s_running, cpu_s; /* group only */
};

struct cluster_limits_in {
    double jobs_running_max, jobs_submitted_max;
    double jobs_running_per_user_max, jobs_running_per_account_max;
    double wall_s_max;
    const struct cluster_amounts_in *group, *per_job, *per_user, *per_node;
};

enum cluster_state_in {
    CLUSTER_UP,
    CLUSTER_DRAIN,
    CLUSTER_DOWN,
    CLUSTER_MAINT,
    CLUSTER_FUTURE
};

/* A running job, or a row of one. */
struct cluster_running_in {
    const char *id;
    const char *const *resource_ids;
    size_t resource_id_count;
    double cpus, memory_bytes; /* of each of these resources */
    const struct named_value *needs;
    size_t need_count;
    bool exclusive, exclusive_user, preemptible;
    const char *user, *account_id, *qos_id, *partition_id, *array_id, *name;
    double expected_end_s, time_limit_s, elapsed_s, priority;
};

struct cluster_resource_in {
    const char *id;
    double cpus, memory_bytes; /* NAN: not limited */
    const struct named_value *capacities;
    size_t capacity_count;
    double weight;
    const char *const *features;
    size_t feature_count;
    uint64_t sockets, cores_per_socket, threads_per_core; /* 0: not said */
    int state;                                            /* enum cluster_state_in */
    const struct cluster_running_in *running;
    size_t running_count;
};

enum cluster_partition_state {
    PARTITION_UP,
    PARTITION_DOWN,
    PARTITION_DRAIN,
    PARTITION_OFF
};
enum cluster_sharing_in { SHARES_NO, SHARES_YES, SHARES_FORCE, SHARES_EXCLUSIVE };

struct cluster_partition_in {
    const char *id;
    const char *const *resource_ids; /* NULL: all */
    size_t resource_id_count;
    bool is_default;
    int state; /* enum cluster_partition_state */
    double priority_tier, priority_factor;
    double time_limit_max_s, time_limit_default_s;
    double nodes_per_job_min, nodes_per_job_max;
    double cpus_per_node_max;
    double memory_per_node_default_bytes, memory_per_cpu_default_bytes;
    double memory_per_cpu_max_bytes, memory_per_node_max_bytes;
    const char *const *users_allowed, *const *accounts_allowed;
    const char *const *accounts_denied, *const *qos_allowed;
    size_t users_allowed_count, accounts_allowed_count;
    size_t accounts_denied_count, qos_allowed_count;
    const char *qos_id;
    int sharing; /* enum cluster_sharing_in */
    double shared_jobs_max, over_time_limit_s;
    bool preemptible_by_tier;
    const struct cluster_limits_in *limits;
};

struct cluster_qos_in {
    const char *id;
    double priority, grace_s, usage_factor;
    const char *const *flags, *const *preempts;
    size_t flag_count, preempt_count;
    int preempt_mode; /* -1: as the cluster has it */
    const struct cluster_limits_in *limits;
};

struct cluster_account_in {
    const char *id, *parent_id, *user_id, *default_qos_id;
    double shares, usage_s;
    const char *const *qos_ids;
    size_t qos_id_count;
    const struct cluster_limits_in *limits;
};

struct cluster_reservation_in {
    const char *id;
    double start_s, end_s;
    const char *const *resource_ids;
    size_t resource_id_count;
    const struct named_value *needs; /* of shared names */
    size_t need_count;
    const char *const *users_allowed, *const *accounts_allowed, *const *flags;
    size_t users_allowed_count, accounts_allowed_count, flag_count;
};

enum cluster_preempt_mode { PREEMPT_OFF, PREEMPT_CANCEL, PREEMPT_REQUEUE };
enum cluster_select {
    SELECT_CORES_MEMORY,
    SELECT_CORES,
    SELECT_CPUS_MEMORY,
    SELECT_CPUS,
    SELECT_WHOLE_NODES
};

/* Weights of factors and how they are reckoned. */
struct cluster_priority_in {
    int type, fair_share; /* 0: multifactor, fair_tree; 1: basic, classic */
    double weight_age, weight_assoc, weight_fair_share, weight_job_size;
    double weight_partition, weight_qos;
    const struct named_value *weight_tres;
    size_t weight_tres_count;
    double max_age_s, decay_half_life_s, calc_period_s, damping;
    bool favor_small, small_relative_to_time, accrue_always;
};

struct cluster_settings_in {
#define X(name, least, most, preset, text) double name;
    CLUSTER_NUMBERS(X)
#undef X
#define X(name, preset, text) bool name;
    CLUSTER_SWITCHES(X)
#undef X
    int preempt_type, preempt_mode, select;
    struct cluster_priority_in priority;
};

struct cluster_in {
    bool from_header; /* of simulations: the log says its nodes */
    const struct cluster_resource_in *resources;
    size_t resource_count;
    const struct named_value *shared_capacities;
    size_t shared_capacity_count;
    const struct cluster_running_in *running;
    size_t running_count;
    const struct cluster_partition_in *partitions;
    size_t partition_count;
    const struct cluster_qos_in *qos;
    size_t qos_count;
    const struct cluster_account_in *accounts;
    size_t account_count;
    const struct cluster_reservation_in *reservations;
    size_t reservation_count;
    struct cluster_settings_in policy_settings;
};

extern const struct json_object cluster_partition_json;
extern const struct json_object cluster_qos_json, cluster_account_json;
extern const struct json_object cluster_settings_json;
extern const struct json_object cluster_json;
extern const struct json_object simulated_cluster_json; /* of simulations */

/* Of a waiting job. */
extern const char *const cluster_after_kind_names[]; /* by enum, ended by NULL */
enum cluster_after_in {
    CLUSTER_JOB_OK,
    CLUSTER_JOB_ANY,
    CLUSTER_JOB_STARTED,
    CLUSTER_JOB_FAILED,
    CLUSTER_JOB_CORR
};

struct cluster_after_in_row {
    const char *job_id;
    int kind; /* enum cluster_after_in */
    double delay_s;
};

struct cluster_array_in {
    const char *id, *task_ids;
    double running_max;
};

/* What a waiting job of a cluster has besides the members of all jobs. */
struct cluster_job_in {
    uint64_t nodes_max, tasks, tasks_per_node; /* 0: not given */
    double cpus_per_task, memory_per_cpu_bytes;
    bool exclusive_user, singleton, kill_on_invalid_dependency, held, requeue;
    const char *features;
    const char *const *resource_ids_required, *const *resource_ids_excluded;
    size_t resource_ids_required_count, resource_ids_excluded_count;
    const struct cluster_array_in *array;
    const struct cluster_after_in_row *after;
    size_t after_count;
    int after_mode, held_by;
    double begin_s, eligible_s, time_limit_min_s, nice, site_factor;
    const char *account_id, *qos_id, *name, *comment, *reservation_id;
};

extern const struct json_object cluster_array_json, cluster_after_json;

/* Rows of a struct T with the member struct cluster_job_in `cluster`. */
#define CLUSTER_JOB_NUMBER(T, m, lo, hi, dflt, flag, text)                          \
    {                                                                               \
        .name = #m, .type = JSON_TYPE_NUMBER, .min = lo, .max = hi, .preset = dflt, \
        .flags = flag, .offset = JSON_AT(T, cluster.m, double), .doc = text         \
    }
#define CLUSTER_JOB_COUNT(T, m, text)                                                    \
    {                                                                                    \
        .name = #m, .type = JSON_TYPE_INTEGER, .min = 1, .max = 1e6, .preset = 0,        \
        .flags = JSON_BOUND_ONLY, .offset = JSON_AT(T, cluster.m, uint64_t), .doc = text \
    }
#define CLUSTER_JOB_SWITCH(T, m, dflt, text)                   \
    {                                                          \
        .name = #m, .type = JSON_TYPE_BOOLEAN, .preset = dflt, \
        .offset = JSON_AT(T, cluster.m, bool), .doc = text     \
    }
#define CLUSTER_JOB_NAME(T, m, text)                                           \
    {                                                                          \
        .name = #m, .type = JSON_TYPE_TEXT, .min = 1, .max = 256,              \
        .flags = JSON_NULLABLE, .offset = JSON_AT(T, cluster.m, const char *), \
        .doc = text                                                            \
    }
#define CLUSTER_JOB_CHOICE(T, m, names, text)                                \
    {                                                                        \
        .name = #m, .type = JSON_TYPE_CHOICE, .choices = names, .preset = 0, \
        .offset = JSON_AT(T, cluster.m, int), .doc = text                    \
    }
#define CLUSTER_JOB_IDS(T, m, text)                                                      \
    {                                                                                    \
        .name = #m, .type = JSON_TYPE_TEXTS,                                             \
        .offset = JSON_AT(T, cluster.m, const char *const *),                            \
        .count_offset = JSON_AT(T, cluster.m##_count, size_t), .max = CLUSTER_NODES_MAX, \
        .doc = text                                                                      \
    }
#define CLUSTER_JOB_AFTER_ROW(T)                                                  \
    {                                                                             \
        .name = "after", .type = JSON_TYPE_LIST, .of = &cluster_after_json,       \
        .offset = JSON_AT(T, cluster.after, const struct cluster_after_in_row *), \
        .count_offset = JSON_AT(T, cluster.after_count, size_t), .max = 100000,   \
        .flags = JSON_OR_TEXT, .doc = "Jobs that it waits for"                    \
    }
#define CLUSTER_JOB_ROWS(T)                                                              \
    CLUSTER_JOB_COUNT(T, nodes_max,                                                      \
                      "cluster: as many nodes as are free, up to this many"),            \
        CLUSTER_JOB_COUNT(T, tasks,                                                      \
                          "cluster: instead of cpus: tasks, on any number of nodes"),    \
        CLUSTER_JOB_COUNT(T, tasks_per_node, "cluster: instead of cpus"),                \
        CLUSTER_JOB_NUMBER(T, cpus_per_task, 0, 1e9, 1, JSON_ABOVE_MIN,                  \
                           "cluster: of each task; default 1"),                          \
        CLUSTER_JOB_NUMBER(T, memory_per_cpu_bytes, 0, 1e18, (double)NAN, JSON_NULLABLE, \
                           "cluster: instead of memory_bytes"),                          \
        CLUSTER_JOB_SWITCH(T, exclusive_user, false,                                     \
                           "cluster: it shares nodes with its own user alone"),          \
        CLUSTER_JOB_SWITCH(T, singleton, false,                                          \
                           "cluster: one job of a name and user at a time"),             \
        CLUSTER_JOB_SWITCH(T, kill_on_invalid_dependency, true,                          \
                           "cluster: false: it waits for what cannot happen any more"),  \
        CLUSTER_JOB_SWITCH(T, held, false, "cluster: it does not start"),                \
        CLUSTER_JOB_SWITCH(T, requeue, true, "cluster: when preempted it waits again"),  \
        CLUSTER_JOB_CHOICE(T, held_by, cluster_held_by_names, "cluster: who holds it"),  \
        CLUSTER_JOB_CHOICE(T, after_mode, cluster_after_mode_names,                      \
                           "cluster: all of `after`, or any one"),                       \
        CLUSTER_JOB_NAME(T, features,                                                    \
                         "cluster: what its nodes must have: a&b, a|b, [a|b], a*2"),     \
        CLUSTER_JOB_NAME(T, account_id, "cluster: its account"),                         \
        CLUSTER_JOB_NAME(T, qos_id, "cluster: its quality of service"),                  \
        CLUSTER_JOB_NAME(T, name, "cluster: its name, for singletons"),                  \
        CLUSTER_JOB_NAME(T, comment, "cluster: not looked at"),                          \
        CLUSTER_JOB_NAME(T, reservation_id, "cluster: the reservation that it uses"),    \
        CLUSTER_JOB_IDS(T, resource_ids_required, "cluster: nodes that it must have"),   \
        CLUSTER_JOB_IDS(T, resource_ids_excluded,                                        \
                        "cluster: nodes that it may not have"),                          \
        CLUSTER_JOB_NUMBER(T, begin_s, -1e15, 1e15, (double)NAN, JSON_NULLABLE,          \
                           "cluster: not to start before, on the scale of now_s"),       \
        CLUSTER_JOB_NUMBER(                                                              \
            T, eligible_s, -1e15, 1e15, (double)NAN, JSON_NULLABLE,                      \
            "cluster: since when it could start; its age counts from it"),               \
        CLUSTER_JOB_NUMBER(T, time_limit_min_s, 0, 1e15, (double)NAN, JSON_NULLABLE,     \
                           "cluster: backfill may shorten it so far"),                   \
        CLUSTER_JOB_NUMBER(T, nice, -4294967295.0, 4294967295.0, 0, 0,                   \
                           "cluster: taken off its priority"),                           \
        CLUSTER_JOB_NUMBER(T, site_factor, -4294967295.0, 4294967295.0, 0, 0,            \
                           "cluster: added to its priority"),                            \
    {                                                                                    \
        .name = "array", .type = JSON_TYPE_OBJECT, .of = &cluster_array_json,            \
        .offset = JSON_AT(T, cluster.array, const struct cluster_array_in *),            \
        .flags = JSON_POINTER | JSON_NULLABLE,                                           \
        .doc = "cluster: it stands for the tasks of an array"                            \
    }
extern const char *const cluster_held_by_names[], *const cluster_after_mode_names[];

/* Words of a cluster's description, which POST /v1/slurm/imports answers with, too. */
extern const char *const cluster_node_state_names[];
extern const char *const cluster_partition_state_names[];
extern const char *const cluster_sharing_names[];
extern const char *const cluster_preempt_mode_names[];
extern const char *const cluster_priority_type_names[];
extern const char *const cluster_fair_share_names[];
extern const char *const cluster_preempt_type_names[];
extern const char *const cluster_select_names[];

/* The first member of it that the request gives; NULL: none. */
const char *cluster_job_member(const struct cluster_job_in *job);

#endif

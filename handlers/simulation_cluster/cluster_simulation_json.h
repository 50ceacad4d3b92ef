/* cluster_simulation_json.h - how simulations of kind "cluster" look in JSON: nodes that
 * fail, jobs on many of them, queue and checkpoint policies.
 *
 * Source: spec reliability.md 8. Names are those of kind grid and of the world model
 * (Job, amounts, partitions).
 */
#ifndef GRIDPLAN_CLUSTER_SIMULATION_JSON_H
#define GRIDPLAN_CLUSTER_SIMULATION_JSON_H

#include "algorithms/cluster_replay/replay.h"
#include "handlers/checkpoint_world/checkpoint_world.h"
#include "handlers/cluster_queue/cluster_json.h"
#include "handlers/simulation/simulation_json.h"
#include "models/job.h"

enum {
    CLUSTER_RUNS_MAX = 200,
    CLUSTER_LABELS_MAX = 16,
    CLUSTER_HOSTS_LIMIT = 100000, /* the setting goes so far */
    CLUSTER_JOBS_LIMIT = 10000000,
    CLUSTER_ROWS_MAX = 10000, /* of a schedule, unless the request says */
    CLUSTER_ROWS_LIMIT = 100000
};
#define CLUSTER_EVENTS_MAX 1e9
#define CLUSTER_NOT_SAID   ((uint64_t)JSON_EXACT) /* of a number of nodes or restarts */

/* ---- the request ---- */

/* Nodes that are alike: of a site, or of `cluster`. */
struct cluster_group_in {
    const char *id; /* NULL: after the site */
    uint64_t number;
    double cpus, memory_bytes, disk_bytes; /* NAN: not limited, cpus 1 */
    const struct named_value *capacities;
    size_t capacity_count;
    double speed, weight;
    const struct distribution *failure, *restore;
    const char *failure_group;
    double expected_repair_s; /* NAN: the mean of restore */
    const struct failure_interval *outages;
    size_t outage_count;
    double price_per_s, price_per_cpu_s, power_node_w, power_per_cpu_w;
};

struct cluster_site_in {
    const char *id;
    const struct cluster_group_in *resources;
    size_t resource_count;
};

struct cluster_reserved_in {
    const char *id;
    double start_s, end_s;
    const char *const *resource_ids;
    size_t resource_id_count;
};

/* Instead of sites, shared_capacities, partitions and reservations. */
struct cluster_world_in {
    const struct cluster_group_in *resources;
    size_t resource_count;
    const struct named_value *shared_capacities;
    size_t shared_capacity_count;
    const struct partition *partitions;
    size_t partition_count;
    const struct cluster_reserved_in *reservations;
    size_t reservation_count;
    const struct cluster_qos_in *qos; /* of `cluster` only */
    size_t qos_count;
    const struct cluster_account_in *accounts;
    size_t account_count;
    struct cluster_settings_in policy_settings;
};

/* What a job says; NAN, no elements, -1: as job_defaults. */
struct cluster_sim_job {
    const char *id, *user, *account_id, *qos_id;
    double arrival_s, begin_s, execution_time_s, estimate_s, time_limit_s;
    double priority;             /* NAN: not said */
    uint64_t nodes, spare_nodes; /* 0, CLUSTER_NOT_SAID: not given */
    double cpus, memory_bytes, disk_bytes;
    const struct named_value *needs;
    size_t need_count;
    double exclusive; /* 1, 0 */
    const struct job_after *after;
    size_t after_count;
    int after_mode; /* 1: any */
    const char *const *partition_ids;
    size_t partition_id_count;
    double checkpoint_overhead_s, restart_s, restart_from_scratch_s, reschedule_delay_s;
    double checkpoint_bytes;                           /* NAN: not given */
    const struct job_model *model;                     /* NULL: none */
    const char *group, *input_file_ids, *output_bytes; /* refused */
};

enum cluster_limit_action { CLUSTER_LIMIT_FAIL, CLUSTER_LIMIT_REQUEUE };

struct cluster_job_defaults {
    const struct distribution *nodes;
    double cpus, memory_bytes, disk_bytes;
    const struct named_value *needs;
    size_t need_count;
    bool exclusive;
    uint64_t spare_nodes;
    double time_limit_s;
    double checkpoint_overhead_s, restart_s, restart_from_scratch_s, reschedule_delay_s;
    double checkpoint_bytes; /* NAN: not given */
    int requeue, limit_action;
    uint64_t max_restarts; /* CLUSTER_NOT_SAID: no limit */
};

struct cluster_queue_in {
    const char *algorithm;
    const struct named_value *options;
    size_t option_count;
};

struct cluster_checkpoint_in {
    struct simulation_checkpoint policy;
    const struct checkpoint_level *levels;
    size_t level_count;
};

struct cluster_compared {
    const char *label;
    const struct cluster_queue_in *queue;
    const struct cluster_checkpoint_in *checkpoint;
    int requeue; /* -1: as job_defaults */
};

/* A file system over which images are brought. */
struct cluster_io {
    double bandwidth_mbps, use_max_ratio;
    bool stagger;
};

struct cluster_confidence {
    const char *metric;
    double half_width_ratio;
    uint64_t runs_max;
};

struct cluster_output {
    bool per_job;
    uint64_t job_rows_max;
};

enum cluster_swf_map { CLUSTER_SWF_PACK, CLUSTER_SWF_NODE };
enum cluster_wide_jobs { CLUSTER_WIDE_REFUSE, CLUSTER_WIDE_DROP };

struct cluster_simulation {
    int kind;
    struct decision_request decision;
    const char *name;
    uint64_t runs, max_events; /* 0: not given */
    int seed_scheme, initial_state;
    double warm_up_s;
    const struct simulation_stop *stop;
    const struct cluster_site_in *sites;
    size_t site_count;
    const struct cluster_world_in *cluster;
    const struct simulation_failure_group *failure_groups;
    size_t failure_group_count;
    struct cluster_world_in world; /* all but the resources */
    const struct cluster_sim_job *jobs;
    size_t job_count;
    const char *workload_id, *failure_trace_id;
    double failure_trace_from_s;
    const struct simulation_workload *workload;
    uint64_t jobs_max; /* 0: the service's */
    struct cluster_job_defaults job_defaults;
    const struct cluster_io *io;
    int swf_map, wide_jobs, estimates, knows, node_choice;
    bool cut_at_request;
    int estimate_after_restart; /* 1: of what remains */
    uint64_t backfill_depth;    /* 0: all */
    double cleanup_s;
    const struct cluster_compared *compare;
    size_t compare_count;
    const char *baseline;
    const struct cluster_confidence *confidence;
    struct cluster_output output;
};

/* ---- the answer ---- */

/* A mean over the jobs of a run, with percentiles: name, meaning. */
#define CLUSTER_TIMES(X)                                                           \
    X(job_wait_s, "From a job's arrival to its first start, of jobs that started") \
    X(job_turnaround_s,                                                            \
      "From arrival to end, of jobs that were done or killed at their limit")      \
    X(bounded_slowdown,                                                            \
      "Of these: that time by the run time, which counts as 10 s at least, not below 1")

/* The other figures of a run. */
#define CLUSTER_FIGURES(X)                                                               \
    X(jobs_done, "Jobs that were done")                                                  \
    X(jobs_lost, "Jobs that were lost with a node, and not requeued")                    \
    X(jobs_unfinished, "Jobs that had arrived and were not through when the run ended")  \
    X(never_fit_count, "Jobs that could never start: too large, or a dependency failed") \
    X(killed_count, "Jobs that were killed at their time limit")                         \
    X(failure_killed_count, "Attempts that were killed with a node")                     \
    X(restarts_per_job, "Attempts after the first, for each job that started")           \
    X(checkpoint_count, "Images that were saved")                                        \
    X(failure_count, "Failures of nodes")                                                \
    X(node_seconds_useful, "Node-seconds of work that counts")                           \
    X(node_seconds_lost, "Of work that was redone, or whose job was lost or killed")     \
    X(node_seconds_checkpoint, "Standing still for checkpoints")                         \
    X(node_seconds_restart, "Reading images, starting again, taking over")               \
    X(node_seconds_idle, "Without a job, or held as a spare")                            \
    X(node_seconds_down, "Down. These six add up to nodes times duration_s")             \
    X(utilisation_ratio, "Cpus of running jobs, of all cpus, over the run")              \
    X(duration_s, "Length of the run")                                                   \
    X(makespan_s, "When the last job was through")                                       \
    X(cost, "Prices of nodes with a job and of cpus, by their time")                     \
    X(energy_j, "The same with power_node_w and power_per_cpu_w")

enum cluster_metric {
#define X(name, doc) CLUSTER_METRIC_##name,
    CLUSTER_TIMES(X) CLUSTER_FIGURES(X)
#undef X
        CLUSTER_METRIC_COUNT
};
enum { CLUSTER_TIME_COUNT = CLUSTER_METRIC_jobs_done, CLUSTER_PERCENTILES = 4 };

/* Their names, ended by NULL. */
extern const char *const cluster_metric_names[];
extern const char *const cluster_row_reasons[]; /* why a job did not run; ended by NULL */

struct cluster_figure {
    struct sim_summary summary;
    double percentile[CLUSTER_PERCENTILES]; /* NAN: has none */
};

struct cluster_metrics {
    struct cluster_figure metric[CLUSTER_METRIC_COUNT];
};

/* What became of a job in the first run. */
struct cluster_job_row {
    const char *job_id;
    double number; /* of a log; NAN: none */
    int state;     /* enum replay_state */
    const char *reason;
    double arrival_s, start_s, last_start_s, finish_s;
    uint64_t nodes;
    double cpus; /* on each node */
    uint64_t restarts, failure_kills, checkpoints;
    double preemptions; /* NAN: nobody is preempted */
    const char *resource_id;
    const char *const *resource_ids;
    size_t resource_id_count;
    const struct run_time_basis *run_time_basis; /* NULL: it is not said here */
    uint64_t run_time_index; /* instead: in a list of the answer; UINT64_MAX: in none */
};

struct cluster_label_answer {
    const char *label, *queue, *checkpoint;
    uint64_t runs;
    struct cluster_metrics metrics;
    const struct cluster_job_row *jobs;
    size_t job_count;
};

struct cluster_difference {
    const char *label, *baseline, *metric;
    double mean, ci95;
    bool significant;
};

struct cluster_simulation_answer {
    int kind;
    struct decision_answer decision;
    const char *name;
    uint64_t host_count, job_count, refused_count;
    const struct cluster_label_answer *results;
    size_t result_count;
    const struct cluster_difference *differences;
    size_t difference_count;
    const char *const *ranking;
    size_t ranking_count;
    uint64_t runs_done, events_executed;
    const double *seeds;
    size_t seed_count;
    const struct run_time_basis *run_times;
    size_t run_time_count;
};

#endif

/* cluster_simulation_json.c - how simulations of kind "cluster" look in JSON. */
#include "handlers/simulation_cluster/cluster_simulation_json.h"

#include "algorithms/queue/replay.h"
#include "handlers/common/world_json.h"
#include "handlers/operations/policy_words.h"
#include "handlers/placement/run_times.h"
#include "handlers/simulation_cluster/cluster_simulation.h"

#define LARGEST 1e18

#define SECONDS(T, m, preset_, flag, ...) \
    JSON_NUMBER(T, m, 0, SIM_TIME_MAX_S, preset_, flag, __VA_ARGS__)
/* Seconds that a job may leave to job_defaults. */
#define MAYBE_S(T, m, ...) \
    JSON_NUMBER(T, m, 0, SIM_TIME_MAX_S, (double)NAN, JSON_NULLABLE, __VA_ARGS__)
#define MAYBE(T, m, hi, ...) \
    JSON_NUMBER(T, m, 0, hi, (double)NAN, JSON_NULLABLE, __VA_ARGS__)
#define DISTRIBUTION(T, m, text)                                       \
    JSON_OBJECT(T, m, const struct distribution *, &distribution_json, \
                JSON_POINTER | JSON_NULLABLE | JSON_OR_NUMBER, text)

/* ---- what is there ---- */

#define T struct cluster_group_in
static const struct json_field group_rows[] = {
    JSON_ID(T, id, JSON_NULLABLE,
            "Name; of several nodes it is followed by 1, 2 ...; in partitions it stands "
            "for all of them; default, of a site: after the site"),
    JSON_INTEGER(T, number, 1, CLUSTER_HOSTS_LIMIT, 1, 0,
                 "How many nodes like this; default 1"),
    JSON_NUMBER(T, cpus, 0, 1e9, 1, JSON_ABOVE_MIN, "Of each node; default 1"),
    MAYBE(T, memory_bytes, 1e18, "Of each; default: not limited"),
    MAYBE(T, disk_bytes, 1e18, "Likewise"),
    JSON_AMOUNTS(T, capacities, capacity_count, 0, "Other amounts of each, by names"),
    JSON_NUMBER(T, speed, 0, LARGEST, 1, JSON_ABOVE_MIN,
                "Work of execution time 1 takes 1 / speed; of a job's nodes the slowest "
                "rules; default 1"),
    JSON_NUMBER(T, weight, 0, 1e15, 1, 0, "The smaller, the earlier it is used"),
    DISTRIBUTION(T, failure,
                 "Seconds from a restore to the next failure, in wall time; default: "
                 "none"),
    DISTRIBUTION(T, restore, "Seconds from a failure to the restore; with failure"),
    JSON_ID(T, failure_group, JSON_NULLABLE, "Failure group that they belong to"),
    MAYBE_S(T, expected_repair_s,
            "Queue policies count on a node that is down to be back so long from now; "
            "default: the mean of restore; without one: never"),
    JSON_LIST(T, outages, outage_count, struct failure_interval, &simulation_outage_json,
              100000, 0,
              "Times in which the node is down, instead of failure; with number 1"),
    JSON_NUMBER(T, price_per_s, 0, LARGEST, 0, 0, "Of a node while it has a job"),
    JSON_NUMBER(T, price_per_cpu_s, 0, LARGEST, 0, 0, "Of a cpu of a job"),
    JSON_NUMBER(T, power_node_w, 0, LARGEST, 0, 0, "Power of a node while it has a job"),
    JSON_NUMBER(T, power_per_cpu_w, 0, LARGEST, 0, 0, "Of a cpu of a job"),
    {0},
};
#undef T
static const struct json_object group_json = {
    "ClusterSimulationNodes", "Nodes that are alike", sizeof(struct cluster_group_in),
    group_rows};

#define T struct cluster_site_in
static const struct json_field site_rows[] = {
    JSON_ID(T, id, JSON_REQUIRED, "Name, unique in the request"),
    JSON_LIST(T, resources, resource_count, struct cluster_group_in, &group_json,
              CLUSTER_HOSTS_LIMIT, JSON_REQUIRED, "Its nodes"),
    {0},
};
#undef T
static const struct json_object site_json = {"ClusterSimulationSite", "A site",
                                             sizeof(struct cluster_site_in), site_rows};

#define T struct partition
static const struct json_field partition_rows[] = {
    JSON_ID(T, id, JSON_REQUIRED, "Name, unique in the request"),
    JSON_TEXTS(T, resource_ids, resource_id_count, 100000, 0,
               "Its nodes; the name of a group stands for all of it; default: all"),
    PARTITION_RULE_ROWS(struct partition),
    {0},
};
#undef T
static const struct json_object sim_partition_json = {
    "ClusterSimulationPartition", "Nodes under common rules", sizeof(struct partition),
    partition_rows};

#define T struct cluster_reserved_in
static const struct json_field reserved_rows[] = {
    JSON_ID(T, id, JSON_NULLABLE, "Name"),
    SECONDS(T, start_s, 0, JSON_REQUIRED, "From when, seconds from the begin of a run"),
    SECONDS(T, end_s, 0, JSON_REQUIRED, "Until when"),
    JSON_TEXTS(T, resource_ids, resource_id_count, 100000, JSON_REQUIRED,
               "Its nodes, whole; the name of a group stands for all of it"),
    {0},
};
#undef T
static const struct json_object reserved_json = {
    "ClusterSimulationReservation",
    "Nodes that are set aside: no job starts there that would meet it",
    sizeof(struct cluster_reserved_in), reserved_rows};

#define WORLD_ROWS(T, at)                                                               \
    {.name = "shared_capacities",                                                       \
     .doc = "Amounts that exist once, as licences",                                     \
     .type = JSON_TYPE_VALUES,                                                          \
     .offset = JSON_AT(T, at shared_capacities, const struct named_value *),            \
     .count_offset = JSON_AT(T, at shared_capacity_count, size_t),                      \
     .max = AMOUNT_LIST_MAX,                                                            \
     .flags = JSON_AMOUNTS_ONLY},                                                       \
        {.name = "partitions",                                                          \
         .doc = "Nodes under common rules; default: none",                              \
         .type = JSON_TYPE_LIST,                                                        \
         .offset = JSON_AT(T, at partitions, const struct partition *),                 \
         .count_offset = JSON_AT(T, at partition_count, size_t),                        \
         .of = &sim_partition_json,                                                     \
         .max = 1000,                                                                   \
         .flags = JSON_UNIQUE_IDS},                                                     \
    {                                                                                   \
        .name = "reservations", .doc = "Nodes that are set aside for a time",           \
        .type = JSON_TYPE_LIST,                                                         \
        .offset = JSON_AT(T, at reservations, const struct cluster_reserved_in *),      \
        .count_offset = JSON_AT(T, at reservation_count, size_t), .of = &reserved_json, \
        .max = 10000                                                                    \
    }

#define T struct cluster_world_in
static const struct json_field world_rows[] = {
    JSON_LIST(T, resources, resource_count, struct cluster_group_in, &group_json,
              CLUSTER_HOSTS_LIMIT, JSON_REQUIRED | JSON_UNIQUE_IDS,
              "The nodes; each entry may stand for several"),
    WORLD_ROWS(T, ),
    JSON_LIST(T, qos, qos_count, struct cluster_qos_in, &cluster_qos_json,
              CLUSTER_QOS_MAX, JSON_UNIQUE_IDS,
              "Qualities of service, whose limits slurm_backfill minds; whom they "
              "preempt: with preempt_type qos"),
    JSON_LIST(
        T, accounts, account_count, struct cluster_account_in, &cluster_account_json,
        CLUSTER_ACCOUNTS_MAX, JSON_UNIQUE_IDS,
        "The tree of associations, whose limits slurm_backfill minds; limits do not "
        "forget what was used"),
    JSON_OBJECT(T, policy_settings, struct cluster_settings_in, &cluster_settings_json, 0,
                "Settings of slurm_backfill; options of a label go before them. "
                "Priorities that have weights are reckoned at each decision; who is "
                "preempted goes on from its last image"),
    {0},
};
#undef T
static const struct json_object world_json = {
    "ClusterSimulationCluster", "A cluster, instead of sites and what is beside them",
    sizeof(struct cluster_world_in), world_rows};

/* ---- the jobs ---- */

static const char *const after_modes[] = {"all", "any", NULL};

#define T struct cluster_sim_job
static const struct json_field job_rows[] = {
    JSON_ID(T, id, JSON_NULLABLE, "Name, unique in the request"),
    JSON_ID(T, user, JSON_NULLABLE, "Who owns it"),
    JSON_ID(T, account_id, JSON_NULLABLE, "Who pays for it: one of cluster.accounts"),
    JSON_ID(T, qos_id, JSON_NULLABLE,
            "One of cluster.qos; default: that of its account, if it has one"),
    SECONDS(T, arrival_s, 0, 0, "When it arrives, seconds from the begin; default 0"),
    MAYBE_S(T, begin_s, "It does not start before; default: no matter"),
    MAYBE_S(T, execution_time_s,
            "Run time without failures and checkpoints at speed 1; without a model it is "
            "needed"),
    JSON_OBJECT(T, model, const struct job_model *, &job_model_json,
                JSON_POINTER | JSON_NULLABLE,
                "Has a stored model of run times, asked as for a machine that nothing is "
                "known of, tell execution_time_s; beside it, what queue policies believe "
                "an attempt takes"),
    MAYBE_S(T, estimate_s,
            "What queue policies believe an attempt takes; default: what its model says, "
            "time_limit_s, else execution_time_s"),
    JSON_NUMBER(T, time_limit_s, 0, SIM_TIME_MAX_S, (double)NAN,
                JSON_NULLABLE | JSON_ABOVE_MIN,
                "Wall time of an attempt, checkpoints and restart included, at which it "
                "is killed"),
    JSON_NUMBER(T, priority, -JSON_LARGEST, JSON_LARGEST, (double)NAN, JSON_NULLABLE,
                "Larger first; equal ones by arrival; default: as policy_settings have "
                "it, else 0"),
    JSON_INTEGER(T, nodes, 1, JOB_NODES_MAX, 0, JSON_BOUND_ONLY,
                 "Nodes that it runs on, all at the same time; default 1"),
    JSON_INTEGER(T, spare_nodes, 0, JOB_NODES_MAX, JSON_EXACT, JSON_BOUND_ONLY,
                 "More that it holds and that take over from those that fail"),
    JSON_NUMBER(T, cpus, 0, 1e9, (double)NAN, JSON_NULLABLE, "On each node; default 1"),
    MAYBE(T, memory_bytes, 1e18, "On each node; default 0"),
    MAYBE(T, disk_bytes, 1e18, "Likewise"),
    JSON_AMOUNTS(T, needs, need_count, 0,
                 "Other amounts by the names of capacities (of each node) and "
                 "shared_capacities (once)"),
    {.name = "exclusive",
     .doc = "It shares its nodes with nobody; default false",
     .type = JSON_TYPE_BOOLEAN,
     .offset = JSON_AT(T, exclusive, double),
     .preset = NAN,
     .flags = JSON_MAYBE | JSON_BOUND_ONLY},
    JSON_LIST(T, after, after_count, struct job_after, &job_after_json, AFTER_MAX,
              JSON_OR_TEXT, "Jobs that it waits for"),
    JSON_CHOICE(T, after_mode, after_modes, 0, 0, "all of `after`, or any one"),
    JSON_TEXTS(T, partition_ids, partition_id_count, 1000, 0,
               "Partitions that it may use, one of them; default: the default one, "
               "without such a one every node"),
    MAYBE_S(T, checkpoint_overhead_s, "It stands still so long for a checkpoint"),
    MAYBE_S(T, restart_s, "To read an image, on the nodes"),
    MAYBE_S(T, restart_from_scratch_s, "The same where there is no image"),
    MAYBE_S(T, reschedule_delay_s,
            "From a failure until it may start again, or a spare takes over"),
    JSON_NUMBER(
        T, checkpoint_bytes, 0, 1e18, (double)NAN, JSON_NULLABLE,
        "With io, instead of checkpoint_overhead_s: its image, all nodes together"),
    JSON_RAW(T, group, JSON_NULLABLE, "Not allowed here"),
    JSON_RAW(T, input_file_ids, JSON_NULLABLE, "Not allowed here: files are not played"),
    JSON_RAW(T, output_bytes, JSON_NULLABLE, "Likewise"),
    {0},
};
#undef T
static const struct json_object job_json = {"ClusterSimulationJob", "A job that is given",
                                            sizeof(struct cluster_sim_job), job_rows};

static const char *const limit_actions[] = {"fail", "requeue", NULL};

#define T struct cluster_job_defaults
static const struct json_field defaults_rows[] = {
    DISTRIBUTION(T, nodes,
                 "Nodes, a number, or of generated jobs drawn for each and rounded up; "
                 "default 1, of a log: see swf_map"),
    MAYBE(T, cpus, 1e9, "On each node"),
    MAYBE(T, memory_bytes, 1e18, "On each node; default 0"),
    MAYBE(T, disk_bytes, 1e18, "Likewise"),
    JSON_AMOUNTS(T, needs, need_count, 0, "Other amounts, of jobs without needs"),
    JSON_BOOLEAN(T, exclusive, false, 0, "Jobs share their nodes with nobody"),
    JSON_INTEGER(T, spare_nodes, 0, JOB_NODES_MAX, 0, 0, "Default 0"),
    JSON_NUMBER(T, time_limit_s, 0, SIM_TIME_MAX_S, (double)NAN,
                JSON_NULLABLE | JSON_ABOVE_MIN, "Default: none"),
    MAYBE_S(T, checkpoint_overhead_s,
            "Default 0; of generated jobs that of the workload"),
    MAYBE_S(T, restart_s, "Default 0; of images of checkpoint_bytes: to read them alone"),
    JSON_NUMBER(
        T, checkpoint_bytes, 0, 1e18, (double)NAN, JSON_NULLABLE,
        "With io, instead of checkpoint_overhead_s: an image, all nodes together"),
    SECONDS(T, restart_from_scratch_s, 0, 0, "Default 0"),
    SECONDS(T, reschedule_delay_s, 0, 0, "Default 0"),
    JSON_CHOICE(T, requeue, replay_requeue_names, REPLAY_REQUEUE_PRIORITY, 0,
                "A job that was killed with a node: priority: by its first arrival and "
                "priority; front; back: as if it arrived now; none: it is lost"),
    JSON_CHOICE(T, limit_action, limit_actions, CLUSTER_LIMIT_FAIL, 0,
                "A job at its time limit: fail: it ends; requeue: it goes on from its "
                "last image"),
    JSON_INTEGER(T, max_restarts, 0, JSON_EXACT, JSON_EXACT,
                 JSON_BOUND_ONLY | JSON_NULLABLE,
                 "Attempts after the first at most, then it is lost; null: no limit"),
    {0},
};
#undef T
static const struct json_object defaults_json = {
    "ClusterSimulationDefaults", "What jobs, or a log, leave out",
    sizeof(struct cluster_job_defaults), defaults_rows};

/* ---- the policies ---- */

#define T struct cluster_queue_in
static const struct json_field queue_rows[] = {
    JSON_ID(T, algorithm, JSON_REQUIRED,
            "A policy of the family queue; slurm_backfill looks at all nodes in each "
            "round"),
    JSON_VALUES(
        T, options, option_count, 0,
        "backfill_depth, node_choice: instead of the request's; of slurm_backfill "
        "its own, as GET /v1/algorithms lists them, preempt_type and preempt_mode: "
        "instead of policy_settings"),
    {0},
};
#undef T
static const struct json_object queue_json = {
    "ClusterSimulationQueue", "Who of the queue starts", sizeof(struct cluster_queue_in),
    queue_rows};

#define T struct cluster_checkpoint_in
static const struct json_field checkpoint_rows[] = {
    {.name = "algorithm",
     .doc = "A checkpoint policy",
     .type = JSON_TYPE_TEXT,
     .offset = JSON_AT(T, policy.algorithm, const char *),
     .min = 1,
     .max = 256,
     .flags = JSON_REQUIRED},
    {.name = "options",
     .doc = "Its options; among them may be `knows`",
     .type = JSON_TYPE_VALUES,
     .offset = JSON_AT(T, policy.options, const struct named_value *),
     .count_offset = JSON_AT(T, policy.option_count, size_t),
     .max = 256},
    JSON_LIST(T, levels, level_count, struct checkpoint_level, &checkpoint_level_json,
              LEVELS_MAX, 0,
              "Levels of images, ascending: jobs go by their best pattern and by these "
              "costs instead of their own, a failure leaves what its class does. With "
              "young, daly, exact and finite; survives_ratio must be said"),
    {0},
};
#undef T
static const struct json_object cluster_checkpoint_json = {
    "ClusterSimulationCheckpoint", "How jobs are checkpointed",
    sizeof(struct cluster_checkpoint_in), checkpoint_rows};

#define T struct cluster_compared
static const struct json_field compared_rows[] = {
    JSON_ID(T, label, JSON_NULLABLE, "Name in the answer, unique; default: of policies"),
    JSON_OBJECT(T, queue, const struct cluster_queue_in *, &queue_json,
                JSON_POINTER | JSON_NULLABLE, "The queue policy; default easy"),
    JSON_OBJECT(T, checkpoint, const struct cluster_checkpoint_in *,
                &cluster_checkpoint_json, JSON_POINTER | JSON_NULLABLE,
                "How jobs are checkpointed; default: not"),
    JSON_CHOICE(T, requeue, replay_requeue_names, -1, JSON_NULLABLE,
                "Instead of that of job_defaults"),
    {0},
};
#undef T
static const struct json_object compared_json = {
    "ClusterSimulationPolicy", "A queue policy and a checkpoint policy to compare",
    sizeof(struct cluster_compared), compared_rows};

#define T struct cluster_io
static const struct json_field io_rows[] = {
    JSON_NUMBER(T, bandwidth_mbps, 0, 1e15, (double)NAN, JSON_REQUIRED | JSON_ABOVE_MIN,
                "1e6 bits a second, of which all images that are written or read at a "
                "time have the same part; checkpoint_overhead_s and restart_s are what a "
                "job takes alone, checkpoint_bytes says them by it"),
    JSON_BOOLEAN(
        T, stagger, false, 0,
        "Jobs of labels with young, daly, exact or finite write at times of "
        "their own, apart from each other, as shared_io of "
        "/v1/checkpoint-intervals has them, by the jobs that run; default false"),
    JSON_NUMBER(T, use_max_ratio, 0, 1, 0.9, JSON_ABOVE_MIN,
                "stagger: share of the time in which they may write; default 0.9"),
    {0},
};
#undef T
static const struct json_object io_json = {"ClusterSimulationIo",
                                           "A file system that images share",
                                           sizeof(struct cluster_io), io_rows};

#define T struct cluster_confidence
static const struct json_field confidence_rows[] = {
    JSON_ID(T, metric, JSON_REQUIRED, "A figure of metrics"),
    JSON_NUMBER(T, half_width_ratio, 0, 1, 0, JSON_REQUIRED | JSON_ABOVE_MIN,
                "Runs are added until ci95 is at most so much of the mean, for each "
                "label"),
    JSON_INTEGER(T, runs_max, 2, CLUSTER_RUNS_MAX, CLUSTER_RUNS_MAX, 0,
                 "Runs in all at most; default 200"),
    {0},
};
#undef T
static const struct json_object confidence_json = {
    "ClusterSimulationConfidence", "How sure the means are to be",
    sizeof(struct cluster_confidence), confidence_rows};

#define T struct cluster_output
static const struct json_field output_rows[] = {
    JSON_BOOLEAN(T, per_job, 0, 0, "What became of each job in the first run"),
    JSON_INTEGER(T, job_rows_max, 1, CLUSTER_ROWS_LIMIT, CLUSTER_ROWS_MAX, 0,
                 "Jobs of that at most, the first ones; default 10000"),
    {0},
};
#undef T
static const struct json_object output_json = {
    "ClusterSimulationOutput", "What is wanted beside the figures",
    sizeof(struct cluster_output), output_rows};

/* ---- the request ---- */

static const char *const kinds[] = {"cluster", NULL};
static const char *const swf_maps[] = {"pack", "node", NULL};
static const char *const wide_jobs_names[] = {"refuse", "drop", NULL};
static const char *const estimates[] = {"requested", "actual", NULL};
static const char *const after_restarts[] = {"full", "remaining", NULL};

#define T struct cluster_simulation
static const struct json_field request_rows[] = {
    JSON_CHOICE(T, kind, kinds, 0, JSON_REQUIRED, "Kind of simulation"),
    JSON_TEXT(T, name, JSON_NULLABLE, "Any name; comes back with the answer"),
    {.name = "seed",
     .doc = "Of the first run; default 1",
     .type = JSON_TYPE_INTEGER,
     .offset = JSON_AT(T, decision.seed, uint64_t),
     .max = JSON_EXACT - CLUSTER_RUNS_MAX,
     .preset = 1},
    JSON_INTEGER(T, runs, 1, CLUSTER_RUNS_MAX, 0, JSON_BOUND_ONLY,
                 "Runs of each label; default 5, where nothing is drawn 1"),
    {.name = "time_limit_s",
     .doc = "Seconds that all of it may take; runs that are complete by then are the "
            "answer; default 10, at most time_limit_max_s of the service (600); without "
            "a client simulation_time_limit_s (3600) is both",
     .type = JSON_TYPE_NUMBER,
     .offset = JSON_AT(T, decision.time_limit_s, double),
     .max = JSON_LARGEST,
     .preset = NAN,
     .flags = JSON_NULLABLE | JSON_ABOVE_MIN | JSON_RUN_TIME_LIMIT},
    JSON_CHOICE(T, seed_scheme, experiment_seed_schemes, EXPERIMENT_SEEDS_SPREAD, 0,
                "Seeds of the runs after the first: spread, so that neighbouring seeds "
                "share no run; sequence: the seeds that follow; default spread"),
    JSON_INTEGER(T, max_events, 1, CLUSTER_EVENTS_MAX, 0, JSON_BOUND_ONLY,
                 "Events of all runs together at most; default: no limit"),
    {.name = "store",
     .doc = "Keep request and answer, to be read and replayed later",
     .type = JSON_TYPE_BOOLEAN,
     .offset = JSON_AT(T, decision.store, bool)},
    {.name = "labels",
     .doc = "Any JSON; comes back with the answer",
     .type = JSON_TYPE_RAW,
     .offset = JSON_AT(T, decision.labels, const char *)},
    JSON_OBJECT(T, stop, const struct simulation_stop *, &simulation_stop_json,
                JSON_POINTER | JSON_NULLABLE, "When a run ends"),
    JSON_CHOICE(T, initial_state, sim_initial_state_names, SIM_INITIAL_UP, 0,
                "up: every node is new; stationary: after a warm-up; default up"),
    SECONDS(T, warm_up_s, 4838400, 0,
            "stationary: failures begin so long before; default 8 weeks"),
    JSON_LIST(T, sites, site_count, struct cluster_site_in, &site_json, 1000,
              JSON_UNIQUE_IDS, "The nodes by sites"),
    JSON_OBJECT(T, cluster, const struct cluster_world_in *, &world_json,
                JSON_POINTER | JSON_NULLABLE,
                "Instead of sites, shared_capacities, partitions and reservations"),
    JSON_LIST(T, failure_groups, failure_group_count, struct simulation_failure_group,
              &simulation_failure_group_json, 2000, JSON_UNIQUE_IDS,
              "Nodes that fail together"),
    WORLD_ROWS(T, world.),
    JSON_LIST(T, jobs, job_count, struct cluster_sim_job, &job_json, JSON_LIST_MAX, 0,
              "The jobs one by one; or workload_id, or workload"),
    JSON_ID(T, workload_id, JSON_NULLABLE, "An uploaded log whose jobs come"),
    JSON_OBJECT(T, workload, const struct simulation_workload *,
                &simulation_workload_json, JSON_POINTER | JSON_NULLABLE,
                "A generator of jobs: length_mi is execution_time_s; its bytes have no "
                "part here"),
    JSON_INTEGER(T, jobs_max, 1, CLUSTER_JOBS_LIMIT, 0, JSON_BOUND_ONLY,
                 "Most jobs of a generator; default: simulation_jobs_max of the service"),
    JSON_ID(T, failure_trace_id, JSON_NULLABLE,
            "Uploaded failures, instead of those that the nodes have; of nodes of the "
            "same name, or else in the order of names"),
    JSON_INSTANT(
        T, failure_trace_from, JSON_NULLABLE,
        "Instant of the trace at which a run begins; default: its first failure"),
    JSON_OBJECT(T, job_defaults, struct cluster_job_defaults, &defaults_json, 0,
                "What jobs, or a log, leave out"),
    JSON_OBJECT(T, io, const struct cluster_io *, &io_json, JSON_POINTER | JSON_NULLABLE,
                "A file system over which images are written and read back; not "
                "together with levels; default: each as if it were alone"),
    JSON_CHOICE(T, swf_map, swf_maps, CLUSTER_SWF_PACK, 0,
                "P processors of a log or generator: pack: on as few nodes as can be, "
                "of the cpus of the largest; node: on P nodes, exclusive; default pack"),
    JSON_CHOICE(T, wide_jobs, wide_jobs_names, CLUSTER_WIDE_REFUSE, 0,
                "Jobs of a log that are wider than the machine: refuse: the request is a "
                "mistake; drop: they are left out, and counted in refused_count"),
    JSON_CHOICE(T, estimates, estimates, QUEUE_REQUESTED, 0,
                "What queue policies count on, of jobs of a log: requested: what was "
                "asked for, not less than it took; actual: what it took"),
    JSON_BOOLEAN(T, cut_at_request, false, 0,
                 "What was asked for is the time limit, of jobs of a log"),
    JSON_CHOICE(T, knows, replay_knows_names, REPLAY_KNOWS_LAW, 0,
                "How often nodes fail, to a checkpoint policy: law: the stated "
                "distributions; history: the failures of the run so far"),
    JSON_CHOICE(T, node_choice, replay_choice_names, REPLAY_BEST_FIT, 0,
                "Of the nodes that fit: best_fit: fewest free cpus first; first_fit; "
                "spread: most free cpus first; runs: neighbours; default best_fit"),
    JSON_INTEGER(T, backfill_depth, 0, JSON_EXACT, 1000, 0,
                 "Waiting jobs that easy looks at; 0: all; default 1000"),
    SECONDS(T, cleanup_s, 0, 0,
            "Sound nodes of a killed job stay idle so long; default 0"),
    {.name = "estimate_after_restart",
     .doc = "What queue policies count on after a restart, of jobs without a limit: "
            "full; remaining: of the work that is left; default full",
     .type = JSON_TYPE_CHOICE,
     .choices = after_restarts,
     .offset = JSON_AT(T, estimate_after_restart, int)},
    JSON_LIST(T, compare, compare_count, struct cluster_compared, &compared_json,
              CLUSTER_LABELS_MAX, JSON_REQUIRED, "Policies to compare"),
    JSON_ID(T, baseline, JSON_NULLABLE,
            "Label that the others are compared with; default: the first"),
    JSON_OBJECT(T, confidence, const struct cluster_confidence *, &confidence_json,
                JSON_POINTER | JSON_NULLABLE, "Adds runs until a mean is known"),
    JSON_OBJECT(T, output, struct cluster_output, &output_json, 0,
                "What is wanted beside the figures"),
    {0},
};
#undef T
const struct json_object cluster_simulation_request_json = {
    "ClusterSimulationRequest",
    "Nodes that fail, jobs on many of them, and policies to compare",
    sizeof(struct cluster_simulation), request_rows};

/* ---- the answer ---- */

const char *const cluster_metric_names[] = {
#define X(name, doc) #name,
    CLUSTER_TIMES(X) CLUSTER_FIGURES(X)
#undef X
        NULL,
};

#define T struct cluster_figure
#define PERCENTILE(n, i)                                                               \
    {                                                                                  \
        .name = #n, .type = JSON_TYPE_NUMBER,                                          \
        .offset = JSON_AT(T, percentile[i], double), .flags = JSON_OPTIONAL,           \
        .doc = "Of the jobs of a run, nearest rank: the mean over runs; of times only" \
    }
static const struct json_field figure_rows[] = {
    {.name = "mean",
     .doc = "Over the runs in which it is known; null: none",
     .type = JSON_TYPE_NUMBER,
     .offset = JSON_AT(T, summary.mean, double),
     .flags = JSON_MAY_BE_NULL},
    {.name = "variance",
     .doc = "Of the sample; null: fewer than two runs",
     .type = JSON_TYPE_NUMBER,
     .offset = JSON_AT(T, summary.variance, double),
     .flags = JSON_MAY_BE_NULL},
    {.name = "ci95",
     .doc = "Half the width of the 95 % confidence interval of the mean; null: one run",
     .type = JSON_TYPE_NUMBER,
     .offset = JSON_AT(T, summary.ci95, double),
     .flags = JSON_MAY_BE_NULL},
    PERCENTILE(p50, 0),
    PERCENTILE(p90, 1),
    PERCENTILE(p95, 2),
    PERCENTILE(p99, 3),
    {0},
};
#undef PERCENTILE
#undef T
static const struct json_object figure_json = {
    "ClusterSimulationFigure", "A figure over runs", sizeof(struct cluster_figure),
    figure_rows};

static const struct json_field metrics_rows[] = {
#define X(name_, doc_)                                                           \
    {.name = #name_,                                                             \
     .doc = doc_,                                                                \
     .type = JSON_TYPE_OBJECT,                                                   \
     .offset = offsetof(struct cluster_metrics, metric[CLUSTER_METRIC_##name_]), \
     .of = &figure_json},
    CLUSTER_TIMES(X) CLUSTER_FIGURES(X)
#undef X
        {0},
};
static const struct json_object metrics_json = {"ClusterSimulationMetrics", "All figures",
                                                sizeof(struct cluster_metrics),
                                                metrics_rows};

const char *const cluster_row_reasons[] = {"never_fits", NULL};

#define T struct cluster_job_row
static const struct json_field job_row_rows[] = {
    JSON_TEXT(T, job_id, JSON_OPTIONAL, "Its name, if it has one"),
    JSON_NUMBER(T, number, 0, 0, 0, JSON_OPTIONAL | JSON_WHOLE, "Its number in the log"),
    JSON_CHOICE(T, state, replay_state_names, 0, JSON_OPEN, "What became of it"),
    JSON_WORD(T, reason, cluster_row_reasons, JSON_OPTIONAL, "never_fits"),
    JSON_NUMBER(T, arrival_s, 0, 0, 0, 0, "When it arrived"),
    JSON_NUMBER(T, start_s, 0, 0, 0, JSON_MAY_BE_NULL,
                "When it first started; null: never"),
    JSON_NUMBER(T, last_start_s, 0, 0, 0, JSON_MAY_BE_NULL,
                "When its last attempt started; null: none did"),
    JSON_NUMBER(T, finish_s, 0, 0, 0, JSON_MAY_BE_NULL,
                "When it was through; null: it is not"),
    JSON_INTEGER(T, nodes, 0, JSON_EXACT, 0, 0,
                 "Of its last attempt, without spares; 0: it never started"),
    JSON_NUMBER(T, cpus, 0, 0, 0, 0, "On each of them"),
    JSON_INTEGER(T, restarts, 0, JSON_EXACT, 0, 0, "Attempts after the first"),
    JSON_INTEGER(T, failure_kills, 0, JSON_EXACT, 0, 0,
                 "Attempts that were killed with a node"),
    JSON_NUMBER(T, preemptions, 0, 0, 0, JSON_OPTIONAL | JSON_WHOLE,
                "Attempts that ended for another job; of labels that preempt"),
    JSON_INTEGER(T, checkpoints, 0, JSON_EXACT, 0, 0, "Images that it saved"),
    JSON_TEXT(T, resource_id, JSON_OPTIONAL, "Its node, of its last attempt"),
    JSON_TEXTS(T, resource_ids, resource_id_count, 0, JSON_OPTIONAL,
               "Its nodes likewise, if it has several"),
    RUN_TIME_BASIS_ROWS(T),
    {0},
};
#undef T
static const struct json_object job_row_json = {
    "ClusterSimulationRow", "What became of a job", sizeof(struct cluster_job_row),
    job_row_rows};

#define T struct cluster_label_answer
static const struct json_field label_rows[] = {
    JSON_TEXT(T, label, 0, "The label of the request"),
    JSON_WORD_OF(T, queue, queue_words, 0, "Its queue policy"),
    JSON_WORD_OF(T, checkpoint, checkpoint_words, JSON_OPTIONAL,
                 "Its checkpoint policy, if it has one"),
    JSON_INTEGER(T, runs, 0, JSON_EXACT, 0, 0, "Runs that the figures are of"),
    JSON_OBJECT(T, metrics, struct cluster_metrics, &metrics_json, 0, "The figures"),
    JSON_LIST(T, jobs, job_count, struct cluster_job_row, &job_row_json, 0, JSON_OPTIONAL,
              "output.per_job: the jobs in the first run, in the order of arrival"),
    {0},
};
#undef T
static const struct json_object label_json = {
    "ClusterSimulationResult", "What came out for a label",
    sizeof(struct cluster_label_answer), label_rows};

#define T struct cluster_difference
static const struct json_field difference_rows[] = {
    JSON_TEXT(T, label, 0, "A label"),
    JSON_TEXT(T, baseline, 0, "What it is compared with"),
    JSON_WORD(T, metric, cluster_metric_names, 0, "A figure"),
    JSON_NUMBER(T, mean, 0, 0, 0, 0, "Mean of the label's figure less the baseline's"),
    JSON_NUMBER(T, ci95, 0, 0, 0, 0,
                "Half the width of its 95 % confidence interval, by the differences of "
                "each run"),
    JSON_BOOLEAN(T, significant, 0, 0, "0 lies outside of the interval"),
    {0},
};
#undef T
static const struct json_object difference_json = {
    "ClusterSimulationDifference", "A label against the baseline, run by run",
    sizeof(struct cluster_difference), difference_rows};

#define T struct cluster_simulation_answer
static const struct json_field answer_rows[] = {
    DECISION_ANSWER_ROWS(T, DECISION_BY("simulation")),
    JSON_CHOICE(T, kind, kinds, 0, 0, "Kind of simulation"),
    JSON_TEXT(T, name, JSON_OPTIONAL, "The name of the request"),
    JSON_INTEGER(T, host_count, 0, JSON_EXACT, 0, 0, "Nodes"),
    JSON_INTEGER(T, job_count, 0, JSON_EXACT, 0, 0,
                 "Jobs of a run; generated ones: of the first run"),
    JSON_INTEGER(T, refused_count, 0, JSON_EXACT, 0, 0,
                 "Jobs of a log that were left out, see wide_jobs"),
    JSON_LIST(T, results, result_count, struct cluster_label_answer, &label_json, 0, 0,
              "Every label, in the order of the request"),
    JSON_LIST(T, differences, difference_count, struct cluster_difference,
              &difference_json, 0, JSON_OPTIONAL,
              "Each figure of each other label against the baseline; left out with "
              "fewer than two runs"),
    JSON_TEXTS(T, ranking, ranking_count, 0, 0,
               "Labels by mean bounded slowdown, then mean turnaround, then name; empty: "
               "no run is complete"),
    JSON_INTEGER(T, runs_done, 0, JSON_EXACT, 0, 0,
                 "Runs that are complete for every label"),
    JSON_INTEGER(T, events_executed, 0, JSON_EXACT, 0, 0, "Events of all runs"),
    JSON_NUMBERS(T, seeds, seed_count, 0, JSON_EXACT, JSON_WHOLE,
                 "Of the complete runs; each alone as `seed` gives its run again"),
    RUN_TIMES_ROW(T),
    DECISION_END_ROWS(T),
    {0},
};
#undef T
const struct json_object cluster_simulation_answer_json = {
    "ClusterSimulationAnswer", "What the policies achieved",
    sizeof(struct cluster_simulation_answer), answer_rows};

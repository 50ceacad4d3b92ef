/* cluster_json.c - how a cluster with partitions, accounts and limits looks in JSON. */
#include "handlers/cluster_queue/cluster_json.h"

#include <math.h>

#define TIME_MAX_S 1e15

/* A member whose name in C says something else, or is a word of C. */
#define SWITCH(T, label, m, dflt, text)                           \
    {                                                             \
        .name = label, .type = JSON_TYPE_BOOLEAN, .preset = dflt, \
        .offset = JSON_AT(T, m, bool), .doc = text                \
    }
/* A number that need not be given. */
#define MAYBE(T, m, hi, ...) \
    JSON_NUMBER(T, m, 0, hi, (double)NAN, JSON_NULLABLE, __VA_ARGS__)
#define AMOUNT_ROWS(T)                                                    \
    MAYBE(T, cpus, 1e15, "Cpus"), MAYBE(T, memory_bytes, 1e18, "Memory"), \
        MAYBE(T, nodes, 1e9, "Nodes"),                                    \
        JSON_AMOUNTS(T, needs, need_count, 0, "Other amounts, by their names")

#define T struct cluster_amounts_in
static const struct json_field amounts_rows[] = {AMOUNT_ROWS(T), {0}};
static const struct json_field group_rows[] = {
    AMOUNT_ROWS(T),
    MAYBE(T, jobs_running, 1e9, "Running jobs"),
    MAYBE(T, cpu_s_running, 1e18, "Cpus of running jobs times their time limits"),
    MAYBE(T, cpu_s, 1e18, "The same with what was used before"),
    {0},
};
#undef T
static const struct json_object amounts_json = {
    "QueueAmountLimits", "The most of each that is allowed",
    sizeof(struct cluster_amounts_in), amounts_rows};
static const struct json_object group_json = {
    "QueueGroupLimits", "The most of each for all jobs together",
    sizeof(struct cluster_amounts_in), group_rows};

#define T struct cluster_limits_in
#define PART(m, table, text)                                    \
    JSON_OBJECT(T, m, const struct cluster_amounts_in *, table, \
                JSON_POINTER | JSON_NULLABLE, text)
static const struct json_field limits_rows[] = {
    MAYBE(T, jobs_running_max, 1e9, "Jobs that run at the same time"),
    MAYBE(T, jobs_submitted_max, 1e9,
          "Jobs that wait and run; those of a request have been submitted: no effect"),
    MAYBE(T, jobs_running_per_user_max, 1e9, "Running jobs of each user"),
    MAYBE(T, jobs_running_per_account_max, 1e9, "Running jobs of each account"),
    MAYBE(T, wall_s_max, TIME_MAX_S, "Longest time limit of a job"),
    PART(group, &group_json, "All running jobs together"),
    PART(per_job, &amounts_json, "Each job"),
    PART(per_user, &amounts_json, "All running jobs of each user"),
    PART(per_node, &amounts_json, "Each job on each of its nodes"),
    {0},
};
#undef PART
#undef T
static const struct json_object limits_json = {
    "QueueLimits", "What holds jobs back; a member that is absent is no limit",
    sizeof(struct cluster_limits_in), limits_rows};
#define LIMITS(T)                                                          \
    JSON_OBJECT(T, limits, const struct cluster_limits_in *, &limits_json, \
                JSON_POINTER | JSON_NULLABLE, "What its jobs may have at most")

#define T struct cluster_running_in
#define RUNNING_ROWS                                                               \
    JSON_ID(T, id, JSON_REQUIRED,                                                  \
            "Name; rows of one name are one job on several resources"),            \
        JSON_NUMBER(T, cpus, 0, 1e9, 1, 0, "Cpus that it has of each; default 1"), \
        JSON_NUMBER(T, memory_bytes, 0, 1e18, 0, 0,                                \
                    "Memory that it has of each; default 0"),                      \
        JSON_AMOUNTS(T, needs, need_count, 0,                                      \
                     "Other amounts: of each resource, shared ones once"),         \
        JSON_BOOLEAN(T, exclusive, false, 0, "It shares its nodes with nobody"),   \
        JSON_BOOLEAN(T, exclusive_user, false, 0, "With its own user alone"),      \
        JSON_BOOLEAN(T, preemptible, false, 0, "It may be stopped for others"),    \
        JSON_ID(T, user, JSON_NULLABLE, "Whose it is"),                            \
        JSON_ID(T, account_id, JSON_NULLABLE, "The account"),                      \
        JSON_ID(T, qos_id, JSON_NULLABLE, "The quality of service"),               \
        JSON_ID(T, partition_id, JSON_NULLABLE, "The partition that it uses"),     \
        JSON_ID(T, array_id, JSON_NULLABLE, "The array that it is a task of"),     \
        JSON_ID(T, name, JSON_NULLABLE, "The job's name, for singletons"),         \
        JSON_NUMBER(T, expected_end_s, -TIME_MAX_S, TIME_MAX_S, (double)NAN,       \
                    JSON_NULLABLE,                                                 \
                    "When it ends, on the scale of now_s; else by the next two"),  \
        MAYBE(T, time_limit_s, TIME_MAX_S, "It is ended so long after its start"), \
        JSON_NUMBER(T, elapsed_s, 0, TIME_MAX_S, 0, 0, "How long it has run"),     \
        JSON_NUMBER(T, priority, -TIME_MAX_S, TIME_MAX_S, 0, 0,                    \
                    "Its priority, for preemption; default 0")
static const struct json_field running_rows[] = {RUNNING_ROWS, {0}};
static const struct json_field cluster_running_rows[] = {
    RUNNING_ROWS,
    JSON_TEXTS(T, resource_ids, resource_id_count, CLUSTER_NODES_MAX, JSON_REQUIRED,
               "Where it runs"),
    {0},
};
#undef RUNNING_ROWS
#undef T
static const struct json_object running_json = {
    "QueueNodeRunning", "A job that runs on a node", sizeof(struct cluster_running_in),
    running_rows};
static const struct json_object cluster_running_json = {
    "QueueClusterRunning", "A job that runs", sizeof(struct cluster_running_in),
    cluster_running_rows};

const char *const cluster_node_state_names[] = {"up",    "drain",  "down",
                                                "maint", "future", NULL};

#define T struct cluster_resource_in
static const struct json_field resource_rows[] = {
    JSON_ID(T, id, JSON_REQUIRED, "Name, unique in the cluster"),
    MAYBE(T, cpus, 1e9, "Cpus; absent: not limited"),
    MAYBE(T, memory_bytes, 1e18, "Memory; absent: not limited"),
    JSON_AMOUNTS(T, capacities, capacity_count, 0, "Other amounts, by their names"),
    JSON_NUMBER(T, weight, 0, 1e15, 1, 0, "The smaller, the earlier it is used"),
    JSON_TEXTS(T, features, feature_count, 256, 0, "What jobs may ask for"),
    JSON_INTEGER(T, sockets, 1, 1e6, 0, JSON_BOUND_ONLY, "Sockets"),
    JSON_INTEGER(T, cores_per_socket, 1, 1e6, 0, JSON_BOUND_ONLY, "Cores of each"),
    JSON_INTEGER(T, threads_per_core, 1, 1024, 1, 0,
                 "Cpus of a core; where cores are selected a job gets whole ones"),
    JSON_CHOICE(T, state, cluster_node_state_names, CLUSTER_UP, 0,
                "up: jobs start there; the others: they do not"),
    JSON_LIST(T, running, running_count, struct cluster_running_in, &running_json,
              CLUSTER_RUNNING_MAX, 0, "What runs there"),
    {0},
};
#undef T
static const struct json_object resource_json = {"QueueNode", "A node of the cluster",
                                                 sizeof(struct cluster_resource_in),
                                                 resource_rows};

const char *const cluster_partition_state_names[] = {"up", "down", "drain", "inactive",
                                                     NULL};
const char *const cluster_sharing_names[] = {"no", "yes", "force", "exclusive", NULL};

#define T struct cluster_partition_in
static const struct json_field partition_rows[] = {
    JSON_ID(T, id, JSON_REQUIRED, "Name, unique in the cluster"),
    JSON_TEXTS(T, resource_ids, resource_id_count, CLUSTER_NODES_MAX, 0,
               "Its nodes; absent: all"),
    SWITCH(T, "default", is_default, false,
           "Jobs that name none go there; at most one is"),
    JSON_CHOICE(T, state, cluster_partition_state_names, PARTITION_UP, 0,
                "up, drain: jobs start there; down, inactive: they do not"),
    JSON_NUMBER(T, priority_tier, 0, 65533, 1, 0, "Larger tiers come first"),
    JSON_NUMBER(T, priority_factor, 0, 65533, 0, 0, "Counts in the priority"),
    MAYBE(T, time_limit_max_s, TIME_MAX_S, "Longest time limit of a job"),
    MAYBE(T, time_limit_default_s, TIME_MAX_S,
          "Of jobs that have none; else the longest"),
    JSON_NUMBER(T, nodes_per_job_min, 1, 1e6, 1, 0, "Fewest nodes of a job"),
    MAYBE(T, nodes_per_job_max, 1e6, "Most nodes of a job"),
    MAYBE(T, cpus_per_node_max, 1e9, "Most cpus that a job gets of a node"),
    MAYBE(T, memory_per_node_default_bytes, 1e18, "Of jobs that ask for no memory"),
    MAYBE(T, memory_per_cpu_default_bytes, 1e18, "Likewise, for each cpu"),
    MAYBE(T, memory_per_cpu_max_bytes, 1e18,
          "Most memory of a job for each cpu: who asks for more gets more cpus"),
    MAYBE(T, memory_per_node_max_bytes, 1e18,
          "Most memory that a job may ask of a node by memory_bytes; 0: not limited"),
    JSON_TEXTS(T, users_allowed, users_allowed_count, CLUSTER_ALLOWED_MAX, 0,
               "Who may use it; absent: all"),
    JSON_TEXTS(T, accounts_allowed, accounts_allowed_count, CLUSTER_ALLOWED_MAX, 0,
               "Whose accounts may, with those below them; absent: all"),
    JSON_TEXTS(T, accounts_denied, accounts_denied_count, CLUSTER_ALLOWED_MAX, 0,
               "And whose may not"),
    JSON_TEXTS(T, qos_allowed, qos_allowed_count, CLUSTER_QOS_MAX, 0,
               "Which qualities of service may use it; absent: all"),
    JSON_ID(T, qos_id, JSON_NULLABLE, "A quality of service whose limits hold first"),
    JSON_CHOICE(T, sharing, cluster_sharing_names, SHARES_NO, 0,
                "no: a cpu has one job; yes, force: up to shared_jobs_max; exclusive: a "
                "node has one job"),
    JSON_NUMBER(T, shared_jobs_max, 1, 1e6, 4, 0, "With yes and force"),
    MAYBE(T, over_time_limit_s, 1e9,
          "Its jobs are ended so long after their limit; a decision counts on the limit"),
    JSON_BOOLEAN(T, preemptible_by_tier, true, 0,
                 "Partitions of a larger tier may take nodes from its jobs"),
    LIMITS(T),
    {0},
};
#undef T
const struct json_object cluster_partition_json = {
    "QueuePartition", "Nodes under common rules", sizeof(struct cluster_partition_in),
    partition_rows};

const char *const cluster_preempt_mode_names[] = {"off", "cancel", "requeue", NULL};

#define T struct cluster_qos_in
static const struct json_field qos_rows[] = {
    JSON_ID(T, id, JSON_REQUIRED, "Name, unique in the cluster"),
    JSON_NUMBER(T, priority, 0, 4294967295.0, 0, 0, "Counts in the priority"),
    JSON_NUMBER(T, grace_s, 0, 1e9, 0, 0, "What a preempted job has left"),
    JSON_NUMBER(T, usage_factor, 0, 1e9, 1, 0,
                "In simulations use of it counts so many times"),
    JSON_TEXTS(T, flags, flag_count, 16, 0,
               "no_reserve: jobs start, but get no plan; override_partition_limits; "
               "deny_on_limit and no_decay have no effect here"),
    JSON_TEXTS(T, preempts, preempt_count, CLUSTER_QOS_MAX, 0,
               "Qualities of service whose jobs it may preempt"),
    JSON_CHOICE(T, preempt_mode, cluster_preempt_mode_names, -1, JSON_BOUND_ONLY,
                "What becomes of its jobs when they are preempted, off: they are not; "
                "default: policy_settings.preempt_mode"),
    LIMITS(T),
    {0},
};
#undef T
const struct json_object cluster_qos_json = {"QueueQos", "A quality of service",
                                             sizeof(struct cluster_qos_in), qos_rows};

#define T struct cluster_account_in
static const struct json_field account_rows[] = {
    JSON_ID(T, id, JSON_REQUIRED, "Name, unique in the cluster"),
    JSON_ID(T, parent_id, JSON_NULLABLE, "The account above it; absent: none"),
    JSON_ID(T, user_id, JSON_NULLABLE, "The user whose association it is: a leaf"),
    JSON_NUMBER(T, shares, 0, 1e15, 1, 0, "Against its siblings'"),
    MAYBE(T, usage_s, 1e18, "What was used; of accounts: default the sum of those below"),
    JSON_TEXTS(T, qos_ids, qos_id_count, CLUSTER_QOS_MAX, 0,
               "Qualities of service that it may use; absent: all"),
    JSON_ID(T, default_qos_id, JSON_NULLABLE, "Of jobs that name none"),
    LIMITS(T),
    {0},
};
#undef T
const struct json_object cluster_account_json = {
    "QueueAccount", "An account, or a user in one", sizeof(struct cluster_account_in),
    account_rows};

#define T struct cluster_reservation_in
static const struct json_field reservation_rows[] = {
    JSON_ID(T, id, JSON_REQUIRED, "Name, unique in the cluster"),
    JSON_NUMBER(T, start_s, -TIME_MAX_S, TIME_MAX_S, 0, JSON_REQUIRED, "From when"),
    JSON_NUMBER(T, end_s, -TIME_MAX_S, TIME_MAX_S, (double)NAN, JSON_NULLABLE,
                "Until when; null: for ever"),
    JSON_TEXTS(T, resource_ids, resource_id_count, CLUSTER_NODES_MAX, 0,
               "Its nodes, whole"),
    JSON_AMOUNTS(T, needs, need_count, 0, "What it has of shared_capacities"),
    JSON_TEXTS(T, users_allowed, users_allowed_count, CLUSTER_ALLOWED_MAX, 0,
               "Users whose jobs may name it; absent: all"),
    JSON_TEXTS(T, accounts_allowed, accounts_allowed_count, CLUSTER_ALLOWED_MAX, 0,
               "Accounts whose jobs may; absent: all"),
    JSON_TEXTS(T, flags, flag_count, 16, 0,
               "flex: its jobs may begin before and end behind it; maint, ignore_jobs "
               "have no effect here; daily, weekly: it comes again"),
    {0},
};
#undef T
static const struct json_object reservation_json = {
    "QueueClusterReservation", "Nodes or licences that are set aside",
    sizeof(struct cluster_reservation_in), reservation_rows};

const char *const cluster_priority_type_names[] = {"multifactor", "basic", NULL};
const char *const cluster_fair_share_names[] = {"fair_tree", "classic", NULL};

#define T               struct cluster_priority_in
#define WEIGHT(m, text) JSON_NUMBER(T, m, 0, 4294967295.0, 0, 0, text)
static const struct json_field priority_rows[] = {
    JSON_CHOICE(T, type, cluster_priority_type_names, 0, 0,
                "multifactor: a sum of factors; basic: by submission"),
    WEIGHT(weight_age, "Of the time that a job has been eligible"),
    WEIGHT(weight_assoc, "Of its association, which has no factor here: without effect"),
    WEIGHT(weight_fair_share, "Of its fair share"),
    WEIGHT(weight_job_size, "Of its nodes and cpus"),
    WEIGHT(weight_partition, "Of its partition's factor"),
    WEIGHT(weight_qos, "Of its quality of service"),
    JSON_VALUES(T, weight_tres, weight_tres_count, 0,
                "Of amounts by name: cpus, memory_bytes, nodes, gpus, licence.x"),
    JSON_NUMBER(T, max_age_s, 0, 1e12, 604800, JSON_ABOVE_MIN, "When age stops to grow"),
    JSON_NUMBER(T, decay_half_life_s, 0, 1e12, 604800, 0,
                "When half of the use is forgotten; 0: never"),
    JSON_NUMBER(T, calc_period_s, 1, 1e9, 300, 0, "How often use is reckoned"),
    JSON_NUMBER(T, damping, 0, 1e9, 1, JSON_ABOVE_MIN, "Of classic fair shares"),
    JSON_CHOICE(T, fair_share, cluster_fair_share_names, 0, 0, "How past use counts"),
    JSON_BOOLEAN(T, favor_small, false, 0, "Small jobs come first, not large ones"),
    JSON_BOOLEAN(T, small_relative_to_time, false, 0,
                 "The size is that of the job divided by its time limit"),
    JSON_BOOLEAN(T, accrue_always, false, 0,
                 "Age counts from submission, also while a job is held or depends"),
    {0},
};
#undef WEIGHT
#undef T
static const struct json_object priority_json = {
    "QueuePriority", "How priorities are reckoned", sizeof(struct cluster_priority_in),
    priority_rows};

const char *const cluster_preempt_type_names[] = {"none", "qos", "partition_prio", NULL};
const char *const cluster_select_names[] = {"cores_memory", "cores",       "cpus_memory",
                                            "cpus",         "whole_nodes", NULL};

#define T struct cluster_settings_in
static const struct json_field settings_rows[] = {
#define X(name, least, most, preset, text) \
    JSON_NUMBER(T, name, least, most, preset, 0, text),
    CLUSTER_NUMBERS(X)
#undef X
#define X(name, preset, text) JSON_BOOLEAN(T, name, preset, 0, text),
        CLUSTER_SWITCHES(X)
#undef X
            JSON_CHOICE(T, preempt_type, cluster_preempt_type_names, 0, 0,
                        "Who may preempt whom"),
    JSON_CHOICE(T, preempt_mode, cluster_preempt_mode_names, 0, 0,
                "What becomes of preempted jobs"),
    JSON_CHOICE(T, select, cluster_select_names, SELECT_CORES_MEMORY, 0,
                "What jobs are given of a node, and whether memory counts"),
    JSON_OBJECT(T, priority, struct cluster_priority_in, &priority_json, 0,
                "How priorities are reckoned"),
    {0},
};
#undef T
const struct json_object cluster_settings_json = {
    "QueuePolicySettings", "Settings of slurm_backfill, by the names of slurm.conf",
    sizeof(struct cluster_settings_in), settings_rows};

#define T struct cluster_in
#define RESOURCES_ROW(flag)                                                             \
    JSON_LIST(T, resources, resource_count, struct cluster_resource_in, &resource_json, \
              CLUSTER_NODES_MAX, (flag) | JSON_UNIQUE_IDS,                              \
              "The nodes; neighbours in this order are chosen together")
#define OTHER_ROWS                                                                   \
    JSON_AMOUNTS(T, shared_capacities, shared_capacity_count, 0,                     \
                 "What exists once, as licences"),                                   \
        JSON_LIST(T, running, running_count, struct cluster_running_in,              \
                  &cluster_running_json, CLUSTER_RUNNING_MAX, 0,                     \
                  "What runs, with resource_ids"),                                   \
        JSON_LIST(T, partitions, partition_count, struct cluster_partition_in,       \
                  &cluster_partition_json, CLUSTER_PARTITIONS_MAX, JSON_UNIQUE_IDS,  \
                  "Absent: one of all nodes, `default`"),                            \
        JSON_LIST(T, qos, qos_count, struct cluster_qos_in, &cluster_qos_json,       \
                  CLUSTER_QOS_MAX, JSON_UNIQUE_IDS, "Qualities of service"),         \
        JSON_LIST(T, accounts, account_count, struct cluster_account_in,             \
                  &cluster_account_json, CLUSTER_ACCOUNTS_MAX, JSON_UNIQUE_IDS,      \
                  "The tree of associations"),                                       \
        JSON_LIST(T, reservations, reservation_count, struct cluster_reservation_in, \
                  &reservation_json, CLUSTER_RESERVATIONS_MAX, JSON_UNIQUE_IDS,      \
                  "Reservations"),                                                   \
        JSON_OBJECT(T, policy_settings, struct cluster_settings_in,                  \
                    &cluster_settings_json, 0, "Settings of slurm_backfill")
static const struct json_field cluster_rows[] = {
    RESOURCES_ROW(JSON_REQUIRED),
    OTHER_ROWS,
    {0},
};
static const struct json_field simulated_rows[] = {
    JSON_BOOLEAN(T, from_header, false, 0,
                 "Instead of resources: MaxNodes nodes of MaxProcs / MaxNodes cpus, as "
                 "the header of the log says"),
    RESOURCES_ROW(0),
    OTHER_ROWS,
    {0},
};
#undef T
const struct json_object cluster_json = {"QueueCluster",
                                         "A cluster with partitions, accounts and limits",
                                         sizeof(struct cluster_in), cluster_rows};
const struct json_object simulated_cluster_json = {
    "QueueSimulationCluster", "A cluster with partitions, accounts and limits",
    sizeof(struct cluster_in), simulated_rows};

/* ---- a waiting job ---- */

const char *const cluster_held_by_names[] = {"user", "admin", NULL};
const char *const cluster_after_mode_names[] = {"all", "any", NULL};

#define T struct cluster_array_in
static const struct json_field array_rows[] = {
    JSON_ID(T, id, JSON_REQUIRED, "Name; task 3 of array a is job a_3"),
    JSON_TEXT(T, task_ids, JSON_REQUIRED, "As 0-7,9:2: from, to, and step"),
    MAYBE(T, running_max, 1e9, "Tasks that run at the same time; absent: all"),
    {0},
};
#undef T
const struct json_object cluster_array_json = {
    "QueueArray", "Jobs that differ in a number", sizeof(struct cluster_array_in),
    array_rows};

const char *const cluster_after_kind_names[] = {"ok",    "any",  "start",
                                                "notok", "corr", NULL};

#define T struct cluster_after_in_row
static const struct json_field after_rows[] = {
    JSON_ID(T, job_id, JSON_REQUIRED,
            "A job or array of the request, one that runs, or one of finished_jobs"),
    JSON_CHOICE(T, kind, cluster_after_kind_names, 0, 0,
                "ok: when it has ended well; any: when it has ended; start: when it has "
                "started; with a cluster also notok: when it has failed; corr: task by "
                "task; default ok"),
    JSON_NUMBER(T, delay_s, 0, TIME_MAX_S, 0, 0, "cluster: so much later; default 0"),
    {0},
};
#undef T
const struct json_object cluster_after_json = {
    "QueueAfter", "Another job that a job waits for", sizeof(struct cluster_after_in_row),
    after_rows};

const char *cluster_job_member(const struct cluster_job_in *j)
{
    const struct {
        const char *name;
        bool given;
    } members[] = {
        {"nodes_max", j->nodes_max > 0},
        {"tasks", j->tasks > 0},
        {"tasks_per_node", j->tasks_per_node > 0},
        {"cpus_per_task", j->cpus_per_task < 1 || j->cpus_per_task > 1},
        {"memory_per_cpu_bytes", !isnan(j->memory_per_cpu_bytes)},
        {"exclusive_user", j->exclusive_user},
        {"singleton", j->singleton},
        {"kill_on_invalid_dependency", !j->kill_on_invalid_dependency},
        {"held", j->held},
        {"requeue", !j->requeue},
        {"held_by", j->held_by != 0},
        {"after_mode", j->after_mode != 0},
        {"features", j->features},
        {"account_id", j->account_id},
        {"qos_id", j->qos_id},
        {"name", j->name},
        {"comment", j->comment},
        {"reservation_id", j->reservation_id},
        {"resource_ids_required", j->resource_ids_required},
        {"resource_ids_excluded", j->resource_ids_excluded},
        {"begin_s", !isnan(j->begin_s)},
        {"eligible_s", !isnan(j->eligible_s)},
        {"time_limit_min_s", !isnan(j->time_limit_min_s)},
        {"nice", j->nice < 0 || j->nice > 0},
        {"site_factor", j->site_factor < 0 || j->site_factor > 0},
        {"array", j->array},
    };

    for (size_t k = 0; k < sizeof(members) / sizeof(*members); k++)
        if (members[k].given)
            return members[k].name;
    return NULL;
}

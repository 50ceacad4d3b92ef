/* cluster_json.c - how a cluster that was read from Slurm's documents looks in JSON. */
#include "handlers/slurm/cluster_json.h"

#include "handlers/cluster_queue/cluster_json.h"

#define OPT                      JSON_OPTIONAL

#define NUM(T, m, doc)           JSON_NUMBER(T, m, 0, 0, 0, OPT, doc)
#define COUNT(T, m, doc)         NUM(T, m, doc) /* as a document says it: not always whole */
#define WORD(T, m, doc)          JSON_TEXT(T, m, OPT, doc)
#define ONE_OF(T, m, names, doc) JSON_WORD(T, m, names, OPT, doc)
#define TEXTS(T, m, ...)                                                              \
    {                                                                                 \
        .name = #m, .type = JSON_TYPE_TEXTS,                                          \
        .offset = JSON_AT(T, m.list, const char *const *),                            \
        .count_offset = JSON_AT(T, m.count, size_t), .flags = OPT, .doc = __VA_ARGS__ \
    }
#define AMOUNTS(T, m, text)                                                           \
    {                                                                                 \
        .name = #m, .type = JSON_TYPE_VALUES, .doc = text,                            \
        .offset = JSON_AT(T, m.list, const struct named_value *),                     \
        .count_offset = JSON_AT(T, m.count, size_t), .flags = OPT | JSON_AMOUNTS_ONLY \
    }

#define T struct slurm_node
static const struct json_field node_rows[] = {
    JSON_ID(T, id, 0, "Name of the node"),
    NUM(T, cpus, "CPUs that jobs can have"),
    NUM(T, memory_bytes, "Memory that jobs can have"),
    AMOUNTS(T, capacities, "Generic resources: gpus, gres.NAME, gres.NAME.TYPE"),
    NUM(T, weight, "Smaller is filled first"),
    TEXTS(T, features, "Features that jobs may ask for"),
    COUNT(T, sockets, "Sockets"),
    COUNT(T, cores_per_socket, "Cores of a socket"),
    COUNT(T, threads_per_core, "Threads of a core"),
    ONE_OF(
        T, state, cluster_node_state_names,
        "up; drain: jobs stay, nothing starts; down; maint: in maintenance; future: not "
        "there yet"),
    {0},
};
#undef T
static const struct json_object node_json = {"SlurmNode", "A node of a Slurm cluster",
                                             sizeof(struct slurm_node), node_rows};

#define T struct slurm_running
static const struct json_field running_rows[] = {
    JSON_ID(
        T, id, 0,
        "Its id, ARRAY_TASK of an array; a job that has not the same of each node has "
        "several rows"),
    WORD(T, name, "Name of the job"),
    TEXTS(T, resource_ids, "Nodes that it has"),
    JSON_NUMBER(T, cpus, 0, 0, 0, 0, "CPUs that it has of each of them"),
    JSON_NUMBER(T, memory_bytes, 0, 0, 0, 0, "Memory that it has of each of them"),
    AMOUNTS(T, needs,
            "What else: generic resources of each node; licences, in the first row of a "
            "job, of the whole job"),
    JSON_BOOLEAN(T, exclusive, 0, OPT, "It shares its nodes with nobody"),
    NUM(T, expected_end_s, "When it ends at the latest: start and limit, epoch"),
    NUM(T, time_limit_s, "Its limit"),
    NUM(T, priority, "Its priority at the start"),
    WORD(T, user, "Who owns it"),
    WORD(T, account_id, "Account that it is charged to"),
    WORD(T, qos_id, "Its quality of service"),
    WORD(T, partition_id, "Partition that it runs in"),
    WORD(T, array_id, "The array that it is a task of"),
    {0},
};
#undef T
static const struct json_object running_json = {
    "SlurmRunning", "A job that runs, by Slurm's documents", sizeof(struct slurm_running),
    running_rows};

#define T struct slurm_limit_amounts
static const struct json_field limit_amounts_rows[] = {
    NUM(T, cpus, "CPUs"),
    NUM(T, memory_bytes, "Memory"),
    COUNT(T, nodes, "Nodes"),
    AMOUNTS(T, needs, "Other amounts"),
    COUNT(T, jobs_running, "Jobs that run at the same time"),
    NUM(T, cpu_s_running, "CPU seconds that running jobs may still take"),
    NUM(T, cpu_s, "CPU seconds in all"),
    {0},
};
#undef T
static const struct json_object limit_amounts_json = {
    "SlurmLimitAmounts", "The most of some amounts", sizeof(struct slurm_limit_amounts),
    limit_amounts_rows};

#define T struct slurm_limits
#define AMOUNT_LIMIT(m, doc)                                                   \
    JSON_OBJECT(T, m, const struct slurm_limit_amounts *, &limit_amounts_json, \
                JSON_POINTER | OPT, doc)
static const struct json_field limits_rows[] = {
    COUNT(T, jobs_running_max, "Jobs that run at the same time"),
    COUNT(T, jobs_submitted_max, "Jobs that wait or run at the same time"),
    COUNT(T, jobs_running_per_user_max, "Jobs of one user that run at the same time"),
    COUNT(T, jobs_running_per_account_max,
          "Jobs of one account that run at the same time"),
    NUM(T, wall_s_max, "Time limit of a job"),
    AMOUNT_LIMIT(group, "All its jobs together"),
    AMOUNT_LIMIT(per_job, "One job"),
    AMOUNT_LIMIT(per_user, "All jobs of one user"),
    AMOUNT_LIMIT(per_node, "One job, of each node"),
    {0},
};
#undef T
static const struct json_object limits_json = {"SlurmLimits", "What jobs may take",
                                               sizeof(struct slurm_limits), limits_rows};

#define LIMITS(T)                                                     \
    JSON_OBJECT(T, limits, const struct slurm_limits *, &limits_json, \
                JSON_POINTER | OPT, "What its jobs may take")

#define T struct slurm_partition
static const struct json_field partition_rows[] = {
    JSON_ID(T, id, 0, "Name of the partition"),
    TEXTS(T, resource_ids, "Its nodes"),
    {.name = "default",
     .doc = "It takes jobs that name no partition",
     .type = JSON_TYPE_BOOLEAN,
     .offset = JSON_AT(T, is_default, bool),
     .flags = OPT},
    ONE_OF(T, state, cluster_partition_state_names, "up, down, drain or inactive"),
    NUM(T, time_limit_max_s, "Longest limit of a job"),
    NUM(T, time_limit_default_s, "Limit of jobs that name none"),
    NUM(T, over_time_limit_s, "How long jobs may go on behind their limit"),
    NUM(T, priority_tier, "Jobs of larger tiers come first"),
    NUM(T, priority_factor, "Its part in the priority of jobs"),
    COUNT(T, nodes_per_job_min, "Least nodes of a job"),
    COUNT(T, nodes_per_job_max, "Most nodes of a job"),
    NUM(T, cpus_per_node_max, "CPUs of a node that its jobs may have"),
    NUM(T, memory_per_node_default_bytes, "Memory of a node for jobs that say nothing"),
    NUM(T, memory_per_cpu_default_bytes, "Memory for each CPU of jobs that say nothing"),
    NUM(T, memory_per_cpu_max_bytes, "Most memory for each CPU"),
    NUM(T, memory_per_node_max_bytes, "Most memory that a job may ask of a node"),
    TEXTS(T, accounts_allowed, "Accounts whose jobs it takes; absent: all"),
    TEXTS(T, accounts_denied, "Accounts whose jobs it does not take"),
    TEXTS(T, qos_allowed, "Qualities of service that it takes; absent: all"),
    WORD(T, qos_id, "Quality of service of the partition; its limits hold first"),
    ONE_OF(T, sharing, cluster_sharing_names, "no, yes, force or exclusive"),
    COUNT(T, shared_jobs_max, "Jobs that may share an amount, with yes and force"),
    {0},
};
#undef T
static const struct json_object partition_json = {
    "SlurmPartition", "A partition of a Slurm cluster", sizeof(struct slurm_partition),
    partition_rows};

#define T struct slurm_qos
static const struct json_field qos_rows[] = {
    JSON_ID(T, id, 0, "Name of the quality of service"),
    NUM(T, priority, "Its part in the priority of jobs"),
    TEXTS(T, flags, "no_reserve, deny_on_limit, override_partition_limits, no_decay",
          .choices = slurm_qos_flag_names),
    TEXTS(T, preempts, "Qualities of service whose jobs its jobs may take nodes of"),
    ONE_OF(T, preempt_mode, cluster_preempt_mode_names,
           "requeue or cancel; absent: as the cluster"),
    NUM(T, grace_s, "Time that a job has left when it is stopped for another"),
    NUM(T, usage_factor, "What use counts, times this"),
    LIMITS(T),
    {0},
};
#undef T
static const struct json_object qos_json = {"SlurmQos", "A quality of service of Slurm",
                                            sizeof(struct slurm_qos), qos_rows};

#define T struct slurm_account
static const struct json_field account_rows[] = {
    JSON_ID(T, id, 0, "ACCOUNT, or ACCOUNT/USER for a user in it"),
    WORD(T, parent_id, "Account above it"),
    WORD(T, user_id, "The user"),
    NUM(T, shares, "Its shares among its siblings"),
    NUM(T, usage_s, "What was used of it, as Slurm counts"),
    TEXTS(T, qos_ids, "Qualities of service that it may use"),
    WORD(T, default_qos_id, "That of jobs that name none"),
    LIMITS(T),
    {0},
};
#undef T
static const struct json_object account_json = {
    "SlurmAccount", "An account, or a user in it", sizeof(struct slurm_account),
    account_rows};

#define T struct slurm_reservation
static const struct json_field reservation_rows[] = {
    JSON_ID(T, id, 0, "Name of the reservation"),
    TEXTS(T, resource_ids, "Nodes of it"),
    NUM(T, start_s, "When it begins, epoch"),
    NUM(T, end_s, "When it ends, epoch"),
    AMOUNTS(T, needs, "Licences of it"),
    TEXTS(T, users_allowed, "Users whose jobs may use it"),
    TEXTS(T, accounts_allowed, "Accounts whose jobs may use it"),
    TEXTS(T, flags, "maint, ignore_jobs, flex, daily, weekly",
          .choices = slurm_reservation_flag_names),
    {0},
};
#undef T
static const struct json_object reservation_json = {
    "SlurmReservation", "A reservation of Slurm", sizeof(struct slurm_reservation),
    reservation_rows};

#define T struct slurm_priority
static const struct json_field priority_rows[] = {
    ONE_OF(T, type, cluster_priority_type_names, "multifactor or basic"),
#define X(member, key) JSON_NUMBER(T, member, 0, 0, 0, 0, #key),
    SLURM_PRIORITY_WEIGHTS(X)
#undef X
        AMOUNTS(T, weight_tres, "Weights of what a job asks for, by name"),
    NUM(T, max_age_s, "Age at which the part of the age is 1"),
    NUM(T, decay_half_life_s, "Time in which use counts half; 0: it never does"),
    NUM(T, calc_period_s, "How often priorities are made anew"),
    NUM(T, damping, "Of the classic fair share"),
    JSON_BOOLEAN(T, favor_small, 0, 0, "Small jobs come first"),
    JSON_BOOLEAN(T, small_relative_to_time, 0, 0, "The size is one of CPUs by time"),
    JSON_BOOLEAN(T, accrue_always, 0, 0, "The age counts from the submission"),
    ONE_OF(T, fair_share, cluster_fair_share_names, "fair_tree or classic"),
    {0},
};
#undef T
static const struct json_object priority_json = {
    "SlurmPriority", "How Slurm makes priorities", sizeof(struct slurm_priority),
    priority_rows};

#define T struct slurm_settings
static const struct json_field settings_rows[] = {
#define X(member, name, ...) NUM(T, member, "As slurm.conf(5) says of " #name),
    SLURM_SCHEDULER_NUMBERS(X)
#undef X
#define X(member) JSON_BOOLEAN(T, member, 0, OPT, "As slurm.conf(5) says of " #member),
        SLURM_SCHEDULER_FLAGS(X)
#undef X
            ONE_OF(T, preempt_type, cluster_preempt_type_names,
                   "none, qos or partition_prio"),
    ONE_OF(T, preempt_mode, cluster_preempt_mode_names, "off, cancel or requeue"),
    ONE_OF(T, select, cluster_select_names,
           "cores_memory, cores, cpus_memory, cpus or whole_nodes"),
    NUM(T, preempt_exempt_s, "How long a job runs before it may be stopped"),
    NUM(T, over_time_limit_s, "How long jobs may go on behind their limit"),
    NUM(T, kill_wait_s, "Between the signal at the limit and the end"),
    JSON_OBJECT(T, priority, const struct slurm_priority *, &priority_json,
                JSON_POINTER | OPT, "How priorities are made"),
    {0},
};
#undef T
static const struct json_object settings_json = {
    "SlurmSettings", "What a configuration says of the queue",
    sizeof(struct slurm_settings), settings_rows};

#define LIST(T, m, counter, type, table, doc) \
    JSON_LIST(T, m, counter, struct type, table, 0, OPT, doc)

#define T struct slurm_cluster
static const struct json_field cluster_rows[] = {
    {.name = "resources",
     .doc = "Nodes, in the order of the document",
     .type = JSON_TYPE_LIST,
     .offset = JSON_AT(T, nodes, const struct slurm_node *),
     .count_offset = JSON_AT(T, node_count, size_t),
     .of = &node_json},
    AMOUNTS(T, shared_capacities, "Licences"),
    LIST(T, running, running_count, slurm_running, &running_json, "Jobs that run"),
    LIST(T, partitions, partition_count, slurm_partition, &partition_json, "Partitions"),
    LIST(T, qos, qos_count, slurm_qos, &qos_json, "Qualities of service"),
    LIST(T, accounts, account_count, slurm_account, &account_json,
         "Accounts and the users in them"),
    LIST(T, reservations, reservation_count, slurm_reservation, &reservation_json,
         "Reservations"),
    {.name = "policy_settings",
     .doc = "Settings of the queue",
     .type = JSON_TYPE_OBJECT,
     .offset = JSON_AT(T, settings, const struct slurm_settings *),
     .of = &settings_json,
     .flags = JSON_POINTER | OPT},
    {0},
};
#undef T
const struct json_object slurm_cluster_json = {
    "SlurmCluster", "A cluster, as Slurm's documents tell of it",
    sizeof(struct slurm_cluster), cluster_rows};

#define T struct slurm_after
static const struct json_field after_rows[] = {
    JSON_ID(T, job_id, 0, "The job that comes first"),
    ONE_OF(T, kind, cluster_after_kind_names, "ok, any, notok, start or corr"),
    JSON_NUMBER(T, delay_s, 0, 0, 0, 0, "So long after that"),
    {0},
};
#undef T
static const struct json_object after_json = {"SlurmAfter", "What a job waits for",
                                              sizeof(struct slurm_after), after_rows};

#define T struct slurm_array
static const struct json_field array_rows[] = {
    JSON_ID(T, id, 0, "Id of the array"),
    WORD(T, task_ids, "Tasks that wait: 0-7,9:2"),
    COUNT(T, running_max, "Tasks that may run at the same time"),
    {0},
};
#undef T
static const struct json_object array_json = {"SlurmArray", "Tasks of one array",
                                              sizeof(struct slurm_array), array_rows};

#define T struct slurm_group
static const struct json_field group_rows[] = {
    WORD(T, id, "The heterogeneous job"),
    ONE_OF(T, policy, slurm_group_policy_names,
           "gang: all start at the same time, or none"),
    {0},
};
#undef T
static const struct json_object group_json = {
    "SlurmGroup", "What a component of a heterogeneous job is of",
    sizeof(struct slurm_group), group_rows};

#define T struct slurm_waiting
static const struct json_field job_rows[] = {
    JSON_ID(T, id, 0, "Its id; of an array the array's"),
    WORD(T, name, "Name of the job"),
    WORD(T, user, "Who owns it"),
    WORD(T, account_id, "Account that it is charged to"),
    WORD(T, qos_id, "Its quality of service"),
    WORD(T, reservation_id, "Reservation that it runs in"),
    TEXTS(T, partition_ids, "Partitions that it may run in"),
    COUNT(T, nodes, "Nodes that it asks for, the least"),
    COUNT(T, nodes_max, "The most, where that is more"),
    NUM(T, cpus, "CPUs of each node"),
    COUNT(T, tasks, "Instead of nodes and cpus: tasks, on any nodes"),
    COUNT(T, cpus_per_task, "CPUs of each task"),
    NUM(T, memory_bytes, "Memory of each node"),
    NUM(T, memory_per_cpu_bytes, "Memory for each CPU, with tasks"),
    AMOUNTS(T, needs, "Generic resources of each node; licences of the job"),
    JSON_BOOLEAN(T, exclusive, 0, OPT, "It shares its nodes with nobody"),
    JSON_BOOLEAN(T, exclusive_user, 0, OPT, "It shares them with its user's jobs only"),
    WORD(T, features, "Features of nodes that it asks for, as Slurm writes them"),
    TEXTS(T, resource_ids_required, "Nodes that it must have"),
    TEXTS(T, resource_ids_excluded, "Nodes that it must not have"),
    JSON_OBJECT(T, array, const struct slurm_array *, &array_json, JSON_POINTER | OPT,
                "It is an array: its tasks"),
    JSON_OBJECT(T, group, const struct slurm_group *, &group_json, JSON_POINTER | OPT,
                "It is a component of a heterogeneous job: its gang"),
    LIST(T, after, after_count, slurm_after, &after_json, "Jobs that it waits for"),
    JSON_BOOLEAN(T, kill_on_invalid_dependency, 0, 0,
                 "It is cancelled when none of them can let it start any more"),
    JSON_BOOLEAN(T, singleton, 0, OPT, "One of its name and user at a time"),
    NUM(T, begin_s, "Not before, epoch"),
    JSON_BOOLEAN(T, held, 0, OPT, "It does not start before it is released"),
    ONE_OF(T, held_by, cluster_held_by_names, "user or admin"),
    NUM(T, time_limit_s, "It is ended so long after its start"),
    NUM(T, time_limit_min_s, "Its limit may be cut to this"),
    NUM(T, deadline_s, "It must end by then, epoch"),
    NUM(T, priority, "Its priority, by Slurm"),
    NUM(T, nice, "What its user takes off the priority"),
    NUM(T, submit_s, "When it was submitted, epoch"),
    NUM(T, eligible_s, "Since when it could start, epoch"),
    JSON_BOOLEAN(T, requeue, 0, 0, "It goes back to the queue when it is stopped"),
    {.name = "after_mode",
     .doc = "all, or any of them suffices",
     .type = JSON_TYPE_TEXT,
     .offset = JSON_AT(T, after_mode, const char *),
     .choices = cluster_after_mode_names,
     .flags = OPT | JSON_OPEN},
    {0},
};
#undef T
const struct json_object slurm_job_json = {"SlurmJob",
                                           "A job that waits, by Slurm's documents",
                                           sizeof(struct slurm_waiting), job_rows};

#define T struct slurm_loss_row
static const struct json_field loss_rows[] = {
    JSON_WORD(T, what, slurm_loss_names, 0,
              "What has no place in the cluster's description"),
    JSON_INTEGER(T, count, 0, 0, 0, 0, "How often"),
    JSON_TEXTS(T, examples, example_count, 0, 0, "Where, the first three"),
    {0},
};
#undef T
const struct json_object slurm_loss_json = {"SlurmLoss", "What a conversion left out",
                                            sizeof(struct slurm_loss_row), loss_rows};

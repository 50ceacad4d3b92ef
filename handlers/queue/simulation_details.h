/* simulation_details.h - `details` of simulations of kind "queue": tables by account,
 * partition and QOS, fairness, use of the cluster step by step, and what was lost. */
#ifndef GRIDPLAN_SIMULATION_DETAILS_H
#define GRIDPLAN_SIMULATION_DETAILS_H

#include "algorithms/queue/fairness.h"
#include "algorithms/queue/usage.h"
#include "handlers/claiming/queue_spread_json.h"

/* Of a policy. */
struct queue_details {
    const struct queue_group_row *by_account, *by_partition, *by_qos;
    size_t by_account_count, by_partition_count, by_qos_count;
    struct queue_fairness fairness; /* NAN: no job ran, or no details */
    const struct queue_usage_row *utilisation;
    size_t step_count;
    uint64_t killed_count, preempted_count; /* JSON_NO_INTEGER: no details */
    uint64_t failed_count;                  /* JSON_NO_INTEGER: no failures */
    double killed_core_s, fragmented_core_s, lost_core_s;
    bool is_coarse; /* the steps asked for were too many, and are longer */
};

extern const struct json_object queue_usage_row_json;

/* Rows of a struct T with a member `details` of that type. */
#define QUEUE_DETAILS_NUMBER(T, member, at, ...)                         \
    {                                                                    \
        .name = #member, .doc = __VA_ARGS__, .type = JSON_TYPE_NUMBER,   \
        .offset = JSON_AT(T, details.at, double), .flags = JSON_OPTIONAL \
    }
#define QUEUE_DETAILS_COUNT(T, member, ...)                                \
    {                                                                      \
        .name = #member, .doc = __VA_ARGS__, .type = JSON_TYPE_INTEGER,    \
        .offset = JSON_AT(T, details.member, uint64_t), .max = JSON_EXACT, \
        .flags = JSON_OPTIONAL                                             \
    }
#define QUEUE_DETAILS_TABLE(T, member, ...)                                   \
    {                                                                         \
        .name = #member, .doc = __VA_ARGS__, .type = JSON_TYPE_LIST,          \
        .offset = JSON_AT(T, details.member, const struct queue_group_row *), \
        .count_offset = JSON_AT(T, details.member##_count, size_t),           \
        .of = &queue_group_row_json, .flags = JSON_OPTIONAL                   \
    }
#define QUEUE_DETAILS_ROWS(T)                                                           \
    QUEUE_DETAILS_TABLE(T, by_account,                                                  \
                        "details: the same jobs by account (column group of a log)"),   \
        QUEUE_DETAILS_TABLE(T, by_partition,                                            \
                            "details: by partition (column partition of a log)"),       \
        QUEUE_DETAILS_TABLE(T, by_qos, "details: by QOS (column queue of a log)"),      \
        QUEUE_DETAILS_NUMBER(T, jain_index, fairness.jain_index,                        \
                             "details: Jain's index of the users' mean bounded "        \
                             "slowdowns, 1: all are served alike"),                     \
        QUEUE_DETAILS_NUMBER(T, gini_wait, fairness.gini_wait,                          \
                             "details: Gini coefficient of the users' mean waits, 0: "  \
                             "all wait alike"),                                         \
        QUEUE_DETAILS_NUMBER(T, overtaken_ratio, fairness.overtaken_ratio,              \
                             "details: jobs that started after one that arrived later " \
                             "and has no higher priority, of all that ran"),            \
        {.name = "utilisation",                                                         \
         .doc = "details: use of the cluster, see utilisation_step_s",                  \
         .type = JSON_TYPE_LIST,                                                        \
         .offset = JSON_AT(T, details.utilisation, const struct queue_usage_row *),     \
         .count_offset = JSON_AT(T, details.step_count, size_t),                        \
         .of = &queue_usage_row_json,                                                   \
         .flags = JSON_OPTIONAL},                                                       \
        QUEUE_DETAILS_COUNT(T, killed_count, "details: jobs ended at their limit"),     \
        QUEUE_DETAILS_NUMBER(T, killed_core_s, killed_core_s,                           \
                             "details: seconds times processors that these had run"),   \
        QUEUE_DETAILS_COUNT(T, preempted_count,                                         \
                            "details: attempts that were preempted"),                   \
        QUEUE_DETAILS_COUNT(T, failed_count,                                            \
                            "failures: attempts that a failure of a node ended"),       \
        QUEUE_DETAILS_NUMBER(T, lost_core_s, lost_core_s,                               \
                             "details of a cluster: seconds times cpus of attempts "    \
                             "that were preempted, or ended with a node"),              \
        QUEUE_DETAILS_NUMBER(T, fragmented_core_s, fragmented_core_s,                   \
                             "details: idle cores, times their time, while a waiting "  \
                             "job would fit in their sum but on no set of nodes; 0 "    \
                             "where all processors are one pool")

/* Of a result without details. */
struct queue_details queue_details_none(void);

/* Steps of its utilisation, still empty; false: no job ran. */
bool queue_details_steps(const struct queue_outcome *outcomes, size_t count,
                         uint64_t step_s, struct queue_usage *usage,
                         struct queue_details *out, struct arena *run);

/* Of a replay on equal processors. step_s 0: QUEUE_STEPS of them. False: the budget was
 * spent. `run` is for what is in the way afterwards. */
bool queue_details_read(const struct queue_replay_in *in,
                        const struct queue_replay_out *played,
                        const struct queue_outcome *outcomes, size_t rows_max,
                        uint64_t step_s, struct budget *budget, struct queue_details *out,
                        struct arena *run, struct arena *a);

#endif

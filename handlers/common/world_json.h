/* world_json.h - how amounts, what is taken of them and what jobs ask for look in JSON.
 */
#ifndef GRIDPLAN_WORLD_JSON_H
#define GRIDPLAN_WORLD_JSON_H

#include "models/snapshot.h"
#include "service/json.h"

enum {
    RUNNING_MAX = 1000000,
    RESERVATIONS_MAX = 1000000,
    PARTITIONS_MAX = 10000,
    AFTER_MAX = 100000,
    JOB_NODES_MAX = 100000
};

/* Rows of a resource, and of a snapshot: struct taken_running with and without
 * resource_ids. */
extern const struct json_object running_json;
extern const struct json_object snapshot_running_json;
extern const struct json_object reservation_json;
extern const struct json_object snapshot_reservation_json;
/* Rows of struct partition: what jobs it takes, and when. */
#define PARTITION_RULE_ROWS(T)                                                         \
    {.name = "default",                                                                \
     .doc = "It takes jobs that name no partition; at most one is",                    \
     .type = JSON_TYPE_BOOLEAN,                                                        \
     .offset = JSON_AT(T, is_default, bool)},                                          \
        JSON_NUMBER(                                                                   \
            T, time_limit_max_s, 0, JSON_LARGEST, NAN, JSON_NULLABLE | JSON_ABOVE_MIN, \
            "It takes no job whose time_limit_s (without it: run time) is longer"),    \
        JSON_INTEGER(T, nodes_per_job_max, 1, JOB_NODES_MAX, 0, JSON_BOUND_ONLY,       \
                     "It takes no job on more nodes"),                                 \
        JSON_NUMBER(T, priority_tier, -JSON_LARGEST, JSON_LARGEST, 0, 0,               \
                    "Jobs of larger tiers come first in every order; default 0"),      \
        JSON_TEXTS(T, users_allowed, users_allowed_count, 10000, 0,                    \
                   "Users whose jobs it takes; []: nobody's; default: everybody's")
extern const struct json_object partition_json;

extern const struct json_object job_group_json;
extern const struct json_object job_after_json;

/* Members of a job that decisions about amounts look at; of a struct that begins with a
 * struct job. _WITH: the rows of estimate_s, weight and after are others. */
#define WORLD_WEIGHT_ROW(T)               \
    JSON_NUMBER(T, weight, 0, 1e15, 1, 0, \
                "Its share in the weighted objectives; default 1")
#define WORLD_JOB_ROWS_WITH(T, ESTIMATE_ROW, WEIGHT_ROW, AFTER_ROW)                      \
    JSON_NUMBER(T, disk_bytes, 0, AMOUNT_BYTES_MAX, 0, 0,                                \
                "Disk it needs while it runs; default 0"),                               \
        JSON_AMOUNTS(T, needs, need_count, 0,                                            \
                     "Other amounts that it needs while it runs, by the names of "       \
                     "capacities (of each node) and shared_capacities (once)"),          \
        JSON_INTEGER(T, nodes, 1, JOB_NODES_MAX, 1, 0,                                   \
                     "Different resources that it runs on at the same time; default 1"), \
        JSON_BOOLEAN(T, exclusive, false, 0, "It shares its resources with nobody"),     \
        JSON_NUMBER(T, time_limit_s, 0, JSON_LARGEST, NAN,                               \
                    JSON_NULLABLE | JSON_ABOVE_MIN,                                      \
                    "It is killed so long after its start"),                             \
        ESTIMATE_ROW,                                                                    \
        JSON_NUMBER(T, priority, -JSON_LARGEST, JSON_LARGEST, 0, 0,                      \
                    "Larger first, for job_order priority and started_now_weight; "      \
                    "default 0"),                                                        \
        WEIGHT_ROW,                                                                      \
        JSON_OBJECT(T, group, const struct job_group *, &job_group_json,                 \
                    JSON_POINTER | JSON_NULLABLE, "A rule that it keeps with others"),   \
        AFTER_ROW,                                                                       \
        JSON_BOOLEAN(T, preemptible, false, 0,                                           \
                     "It may be stopped for jobs of larger priority, once it runs"),     \
        JSON_TEXTS(T, partition_ids, partition_id_count, 1000, 0,                        \
                   "Partitions that it may use, one of them; default: the default one, " \
                   "without such a one every resource")
#define WORLD_JOB_ROWS(T)                                                              \
    WORLD_JOB_ROWS_WITH(                                                               \
        T,                                                                             \
        JSON_NUMBER(T, estimate_s, 0, JSON_LARGEST, NAN, JSON_NULLABLE,                \
                    "Run time wherever it runs; instead of estimate_ref_s"),           \
        WORLD_WEIGHT_ROW(T),                                                           \
        JSON_LIST(T, after, after_count, struct job_after, &job_after_json, AFTER_MAX, \
                  JSON_OR_TEXT, "Jobs that it waits for"))

#endif

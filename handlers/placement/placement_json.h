/* placement_json.h - how independent jobs, and where they go, look in JSON. */
#ifndef GRIDPLAN_PLACEMENT_JSON_H
#define GRIDPLAN_PLACEMENT_JSON_H

#include "algorithms/placement/placement.h"
#include "service/json.h"

enum {
    PLACEMENT_JOBS_MAX = 1000000,
    PLACEMENT_USERS_MAX = 100000,
    PLACEMENT_USAGE_MAX = 1000000
};

extern const struct json_object placement_job_json;      /* struct job */
extern const struct json_object placement_finished_json; /* struct placement_finished */
extern const struct json_object placement_value_json;    /* struct placement_value */
extern const struct json_object placement_change_json;   /* struct placement_change */
extern const struct json_object placement_preemption_json;
extern const struct json_object placement_user_json;
extern const struct json_object placement_usage_json;
extern const struct json_object placement_tier_json;   /* struct placement_tier */
extern const struct json_object placement_amount_json; /* struct placement_amount */
extern const struct json_object placement_miss_json;   /* struct placement_nearest_miss */
extern const struct json_object placement_json;
extern const struct json_object placement_unplaced_json;

/* Of a struct T with the member struct placement_world `world`. */
#define PLACEMENT_FINISHED_ROW(T, text)                                          \
    {                                                                            \
        .name = "finished_jobs", .doc = text, .type = JSON_TYPE_LIST,            \
        .offset = JSON_AT(T, world.finished, const struct placement_finished *), \
        .count_offset = JSON_AT(T, world.finished_count, size_t),                \
        .of = &placement_finished_json, .max = PLACEMENT_JOBS_MAX,               \
        .flags = JSON_UNIQUE_IDS                                                 \
    }

/* A member of a placed job that is sent back as an answer has it, and not looked at; T
 * has the double `ignored_s`. `was`: former names, NULL: none. */
#define PLACEMENT_READ_OVER(T, m, was)                                     \
    {                                                                      \
        .name = #m, .doc = "As an answer has it; not looked at",           \
        .type = JSON_TYPE_NUMBER, .offset = JSON_AT(T, ignored_s, double), \
        .min = -JSON_LARGEST, .max = JSON_LARGEST, .preset = NAN,          \
        .flags = JSON_NULLABLE, .aliases = was                             \
    }
extern const struct json_alias placement_was_execution[]; /* of run_time_s */

/* Members of a job; also of a struct that begins with one, then with T struct job. */
#define PLACEMENT_JOB_ROWS(T)                                                            \
    JSON_ID(T, id, JSON_REQUIRED, "The job's own name, unique in the request"),          \
        JSON_NUMBERS(T, etc_s, etc_count, 0, JSON_LARGEST, JSON_NULLABLE,                \
                     "Run time on each resource, in the snapshot's order; null: cannot " \
                     "run there"),                                                       \
        JSON_NUMBER(T, estimate_ref_s, 0, JSON_LARGEST, NAN, JSON_NULLABLE,              \
                    "Run time at speed 1; used without etc_s"),                          \
        JSON_NUMBER(T, cpus, 0, 1e9, 1, JSON_ABOVE_MIN,                                  \
                    "CPUs it needs while it runs; default 1"),                           \
        JSON_NUMBER(T, memory_bytes, 0, 1e18, 0, 0,                                      \
                    "Memory it needs while it runs; default 0"),                         \
        JSON_ID(T, user, JSON_NULLABLE, "Who owns it"),                                  \
        JSON_TEXTS(T, organisations, organisation_count, 1000, 0,                        \
                   "Virtual organisations of the owner"),                                \
        JSON_TEXT(T, requirement, JSON_NULLABLE,                                         \
                  "Expression that a resource must meet"),                               \
        JSON_TEXT(T, rank, JSON_NULLABLE,                                                \
                  "Expression to order resources by, larger is better"),                 \
        JSON_TEXTS(T, input_file_ids, input_file_count, 10000, 0,                        \
                   "Files of the snapshot that it reads"),                               \
        JSON_NUMBER(T, output_bytes, 0, JSON_LARGEST, 0, 0,                              \
                    "Output that goes to the home site; default 0"),                     \
        JSON_NUMBER(T, release_s, 0, JSON_LARGEST, 0, 0,                                 \
                    "Not to start before, seconds from now; default 0"),                 \
        JSON_NUMBER(T, deadline_s, 0, JSON_LARGEST, NAN, JSON_NULLABLE,                  \
                    "To be done by, seconds from now"),                                  \
        JSON_INSTANT(T, queued_at, JSON_NULLABLE, "Since when it waits; default: now"),  \
        JSON_INSTANT(T, deadline_at, JSON_NULLABLE,                                      \
                     "To be done by; needs the snapshot's taken_at"),                    \
        JSON_NUMBER(T, fixed_priority, 0, 20, 0, 0,                                      \
                    "Larger first; 20: urgent; default 0"),                              \
        JSON_NUMBER(T, task_index, 0, JSON_EXACT, NAN, JSON_NULLABLE,                    \
                    "Index in a parameter sweep; default: position in the list"),        \
        JSON_NUMBER(T, param_start, -1e9, 1e9, NAN, JSON_NULLABLE,                       \
                    "Dialect gridway: ${PARAM} in file names is this whole number + "    \
                    "param_increment * task_index; default 0"),                          \
        JSON_NUMBER(T, param_increment, -1e9, 1e9, NAN, JSON_NULLABLE,                   \
                    "Step of ${PARAM}, a whole number; default 1")

#endif

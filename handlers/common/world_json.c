/* world_json.c - how amounts, what is taken of them and what jobs ask for look in JSON.
 */
#include "handlers/common/world_json.h"

#include "models/job.h"

#define IDS(T)                                                         \
    JSON_TEXTS(T, resource_ids, resource_id_count, JOB_NODES_MAX, 0,   \
               "Resources of the snapshot that have it; none: shared " \
               "amounts only")

#define T struct taken_running
#define RUNNING_ROWS(T)                                                                  \
    JSON_ID(T, id, JSON_REQUIRED,                                                        \
            "Name of the job; the same on several resources: one job on several nodes"), \
        JSON_INTEGER(                                                                    \
            T, nodes, 1, JOB_NODES_MAX, 0, JSON_BOUND_ONLY,                              \
            "On how many resources it runs, where not all of them may be here"),         \
        JSON_NUMBER(T, cpus, 0, 1e9, 1, JSON_ABOVE_MIN,                                  \
                    "CPUs that it has of each resource; default 1"),                     \
        JSON_NUMBER(T, memory_bytes, 0, AMOUNT_BYTES_MAX, 0, 0,                          \
                    "Memory that it has of each resource; default 0"),                   \
        JSON_NUMBER(T, disk_bytes, 0, AMOUNT_BYTES_MAX, 0, 0,                            \
                    "Disk that it has of each resource; default 0"),                     \
        JSON_AMOUNTS(T, needs, need_count, 0,                                            \
                     "Other amounts that it has: of each resource, shared ones once"),   \
        JSON_NUMBER(T, expected_end_s, -JSON_LARGEST, JSON_LARGEST, NAN, JSON_NULLABLE,  \
                    "When it ends, seconds from now; null: not known"),                  \
        JSON_INSTANT(T, expected_end_at, JSON_NULLABLE, "The same as an instant"),       \
        JSON_NUMBER(T, time_limit_s, 0, JSON_LARGEST, NAN,                               \
                    JSON_NULLABLE | JSON_ABOVE_MIN,                                      \
                    "It is killed so long after its start"),                             \
        JSON_NUMBER(T, elapsed_s, 0, JSON_LARGEST, NAN, JSON_NULLABLE,                   \
                    "How long it has run; default 0"),                                   \
        JSON_INSTANT(T, started_at, JSON_NULLABLE, "When it started, instead of that"),  \
        JSON_BOOLEAN(T, preemptible, false, 0,                                           \
                     "It may be stopped for jobs of larger priority"),                   \
        JSON_NUMBER(T, weight, 0, 1e15, 1, 0, "What stopping it costs; default 1"),      \
        JSON_NUMBER(T, priority, -JSON_LARGEST, JSON_LARGEST, 0, 0,                      \
                    "Jobs of larger priority may stop it; default 0"),                   \
        JSON_ID(T, user, JSON_NULLABLE, "Who owns it"),                                  \
        JSON_ID(T, partition_id, JSON_NULLABLE,                                          \
                "Partition it runs in; default: the first that has its resources"),      \
        JSON_ID(T, group, JSON_NULLABLE,                                                 \
                "Id of a group of jobs of which it is a member that is placed"),         \
        JSON_BOOLEAN(T, exclusive, false, 0, "It shares its resources with nobody")

static const struct json_field running_rows[] = {
    RUNNING_ROWS(T),
    {0},
};
static const struct json_field snapshot_running_rows[] = {
    RUNNING_ROWS(T),
    IDS(T),
    {0},
};
#undef T
const struct json_object running_json = {"RunningOnResource",
                                         "A job that runs on this resource",
                                         sizeof(struct taken_running), running_rows};
const struct json_object snapshot_running_json = {
    "Running", "A job that runs", sizeof(struct taken_running), snapshot_running_rows};

#define T struct taken_reservation
#define RESERVATION_ROWS(T)                                                      \
    JSON_ID(T, id, JSON_NULLABLE, "Name, for answers"),                          \
        JSON_NUMBER(T, start_s, -JSON_LARGEST, JSON_LARGEST, NAN, JSON_NULLABLE, \
                    "When it begins, seconds from now; default 0"),              \
        JSON_INSTANT(T, start_at, JSON_NULLABLE, "The same as an instant"),      \
        JSON_NUMBER(T, end_s, -JSON_LARGEST, JSON_LARGEST, NAN, JSON_NULLABLE,   \
                    "When it ends, seconds from now; null: never"),              \
        JSON_INSTANT(T, end_at, JSON_NULLABLE, "The same as an instant"),        \
        JSON_BOOLEAN(T, all, false, 0, "Nothing is free for jobs meanwhile"),    \
        JSON_NUMBER(T, cpus, 0, 1e9, NAN, JSON_NULLABLE,                         \
                    "CPUs that it takes of each resource; default 0"),           \
        JSON_NUMBER(T, memory_bytes, 0, AMOUNT_BYTES_MAX, NAN, JSON_NULLABLE,    \
                    "Memory that it takes of each resource; default 0"),         \
        JSON_NUMBER(T, disk_bytes, 0, AMOUNT_BYTES_MAX, NAN, JSON_NULLABLE,      \
                    "Disk that it takes of each resource; default 0"),           \
        JSON_AMOUNTS(T, needs, need_count, 0,                                    \
                     "Other amounts that it takes: of each resource, shared ones once")

static const struct json_field reservation_rows[] = {
    RESERVATION_ROWS(T),
    {0},
};
static const struct json_field snapshot_reservation_rows[] = {
    RESERVATION_ROWS(T),
    IDS(T),
    {0},
};
#undef T
const struct json_object reservation_json = {
    "ReservationOnResource", "A part of this resource is not free then",
    sizeof(struct taken_reservation), reservation_rows};
const struct json_object snapshot_reservation_json = {
    "Reservation", "A part of resources, or of shared amounts, is not free then",
    sizeof(struct taken_reservation), snapshot_reservation_rows};

#define T struct partition
static const struct json_field partition_rows[] = {
    JSON_ID(T, id, JSON_REQUIRED, "Name, unique in the snapshot"),
    JSON_TEXTS(T, resource_ids, resource_id_count, 100000, 0, "Resources of it"),
    JSON_TEXT(T, requirement, JSON_NULLABLE,
              "Or: an expression over a resource's members and attributes that is true "
              "for the resources of it"),
    PARTITION_RULE_ROWS(struct partition),
    JSON_NUMBER(T, jobs_per_user_max, 0, 1e9, NAN, JSON_NULLABLE | JSON_WHOLE,
                "So many jobs of one user run in it at once, those of `running` counted; "
                "jobs without a user are not limited"),
    JSON_NUMBER(T, cpus_per_user_max, 0, 1e9, NAN, JSON_NULLABLE,
                "Jobs of one user have so many cpus in it at once, of all their nodes"),
    {0},
};
#undef T
const struct json_object partition_json = {
    "Partition", "Resources that jobs may use under common rules",
    sizeof(struct partition), partition_rows};

static const char *const group_policies[] = {"gang",      "spread",  "pack",
                                             "same_site", "exclude", NULL};

#define T struct job_group
static const struct json_field group_rows[] = {
    JSON_ID(T, id, JSON_REQUIRED, "Name; jobs that name the same are members"),
    JSON_CHOICE(T, policy, group_policies, 0, JSON_REQUIRED,
                "gang: all start at the same time, or none; spread: at most max_per_key "
                "members on one value of the key; pack: all on one, where tasks that are "
                "done were; same_site: all at "
                "one site; exclude: at most max_per_key at the same time on one"),
    JSON_ID(T, key, JSON_NULLABLE,
            "What spread, pack and exclude count by: `resource_id` (default), `site_id`, "
            "or an attribute that resources state, in any case; one without it takes no "
            "member"),
    JSON_INTEGER(T, max_per_key, 1, 1e6, 0, JSON_BOUND_ONLY,
                 "Of spread and exclude; default 1"),
    {0},
};
#undef T
const struct json_object job_group_json = {"JobGroup", "A rule that jobs keep together",
                                           sizeof(struct job_group), group_rows};

static const char *const after_kinds[] = {"ok", "any", "start", NULL};

#define T struct job_after
static const struct json_field after_rows[] = {
    JSON_ID(T, job_id, JSON_REQUIRED,
            "A job of the request, one that runs, or one of finished_jobs"),
    JSON_CHOICE(T, kind, after_kinds, 0, 0,
                "ok: when it has ended well; any: when it has ended; start: when it has "
                "started; default ok"),
    {0},
};
#undef T
const struct json_object job_after_json = {"JobAfter", "Another job that a job waits for",
                                           sizeof(struct job_after), after_rows};

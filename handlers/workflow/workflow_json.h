/* workflow_json.h - how workflows, tasks and their dependencies look in JSON, and what
 * the endpoints that take workflows share: the body, its way into a struct workflow_in,
 * and the answer of a round.
 */
#ifndef GRIDPLAN_WORKFLOW_JSON_H
#define GRIDPLAN_WORKFLOW_JSON_H

#include "algorithms/workflow/round.h"
#include "handlers/common/decision.h"
#include "handlers/common/snapshot_json.h"
#include "handlers/common/world_json.h"
#include "handlers/placement/run_times.h"
#include "handlers/workflow/workflow_import.h"

enum {
    WORKFLOWS_MAX = 10000,
    WORKFLOW_TASKS_MAX = 1000000, /* of one workflow */
    WORKFLOW_EDGES_MAX = 1000000,
    WORKFLOW_WINDOWS_MAX = 100000,
    WORKFLOW_CALL_WARNINGS = 16
};

/* ---- the body ---- */

struct workflow_given_row;

/* A dependency, written beside the tasks instead of in depends_on. */
struct workflow_edge_request {
    const char *parent_id, *child_id;
    double transfer_s, bytes; /* NAN: as in struct workflow_dependency */
};

struct workflow_request {
    struct workflow workflow;
    const struct workflow_edge_request *edges;
    size_t edge_count;
};

/* What is decided. */
enum workflow_answer_kind { WORKFLOW_SCHEDULE, WORKFLOW_ROUND };

struct workflow_body {
    struct decision_request decision;
    int kind; /* enum workflow_answer_kind; -1: as the algorithm says */
    const struct snapshot *snapshot;
    const char *snapshot_id;
    const struct workflow_request *workflow; /* NULL: not given */
    const struct workflow_request *workflows;
    size_t workflow_count;
    const struct workflow_window *availability;
    size_t window_count;
    const struct workflow_carry *carry_over;
    size_t carry_count;
    struct workflow_import_request import;    /* another tool's file instead */
    double latency_s;                         /* with import.speeds; NAN: not given */
    int progress;                             /* enum workflow_progress */
    const struct workflow_given_row *initial; /* to start from; workflow_given.h */
    size_t initial_count;
};

/* Of enum workflow_status, on the wire. */
extern const char *const workflow_status_names[];

/* Of the member `progress`, see workflow_progress.h. */
extern const char *const workflow_progress_names[];

/* Of what the time is known that a running task has left, on the wire. */

extern const struct json_object workflow_task_json, workflow_dependency_json,
    workflow_sample_json, workflow_edge_json;
extern const struct json_object workflow_json;        /* one with an id, of several */
extern const struct json_object single_workflow_json; /* one whose id may be missing */
extern const struct json_object workflow_window_json;
extern const struct json_object workflow_carry_json;

/* Rows of a struct that begins with a struct workflow_task. */
#define WORKFLOW_TASK_ROWS                                                               \
    JSON_ID(struct workflow_task, id, JSON_REQUIRED, "Name, unique in its workflow"),    \
        JSON_ID(struct workflow_task, name, JSON_NULLABLE,                               \
                "What it runs: a task without a run time is taken to need the median "   \
                "of the "                                                                \
                "tasks of its name"),                                                    \
        JSON_LIST(                                                                       \
            struct workflow_task, depends_on, dependency_count,                          \
            struct workflow_dependency, &workflow_dependency_json, WORKFLOW_EDGES_MAX,   \
            JSON_OR_TEXT,                                                                \
            "Tasks whose outputs it needs; a string stands for {\"task_id\": string}"),  \
        JSON_NUMBER(struct workflow_task, estimate_ref_s, 0, JSON_LARGEST, NAN,          \
                    JSON_NULLABLE,                                                       \
                    "Run time of the whole task at speed 1; used without etc_s"),        \
        JSON_NUMBERS(struct workflow_task, etc_s, etc_count, 0, JSON_LARGEST,            \
                     JSON_NULLABLE,                                                      \
                     "Run time on each resource, in the snapshot's order; null: cannot " \
                     "run there"),                                                       \
        JSON_TEXTS(struct workflow_task, input_file_ids, input_file_count, 10000, 0,     \
                   "Files of the snapshot that it reads"),                               \
        JSON_NUMBER(struct workflow_task, input_bytes, 0, JSON_LARGEST, 0, 0,            \
                    "Input besides files and outputs of other tasks; default 0"),        \
        JSON_ID(struct workflow_task, input_site_id, JSON_NULLABLE,                      \
                "Where that input is; default: everywhere"),                             \
        JSON_NUMBER(struct workflow_task, output_bytes, 0, JSON_LARGEST, 0, 0,           \
                    "What each task that depends on it needs of it; default 0"),         \
        JSON_NUMBER(struct workflow_task, checkpoint_bytes, 0, JSON_LARGEST, 0, 0,       \
                    "What moves with it, besides the input, when it runs; default 0"),   \
        JSON_ID(struct workflow_task, checkpoint_site_id, JSON_NULLABLE,                 \
                "Where its last checkpoint is; default: not known"),                     \
        JSON_NUMBER(struct workflow_task, release_s, 0, JSON_LARGEST, 0, 0,              \
                    "Not to start before, seconds from now; default 0"),                 \
        JSON_NUMBER(                                                                     \
            struct workflow_task, cpus, 0, 1e9, NAN, JSON_NULLABLE | JSON_ABOVE_MIN,     \
            "Cpus it needs while it runs, of each node; default 1. With this or one of " \
            "the next members anywhere, or with running jobs, reservations or "          \
            "capacities in the snapshot, resources run as many tasks as fit"),           \
        JSON_NUMBER(struct workflow_task, memory_bytes, 0, AMOUNT_BYTES_MAX, NAN,        \
                    JSON_NULLABLE, "Memory it needs while it runs; default 0"),          \
        JSON_NUMBER(struct workflow_task, disk_bytes, 0, AMOUNT_BYTES_MAX, NAN,          \
                    JSON_NULLABLE, "Disk it needs while it runs; default 0"),            \
        JSON_AMOUNTS(                                                                    \
            struct workflow_task, needs, need_count, 0,                                  \
            "Other amounts that it needs while it runs, by the names of capacities "     \
            "(of each node) and shared_capacities (once)"),                              \
        JSON_INTEGER(struct workflow_task, nodes, 1, JOB_NODES_MAX, 0, JSON_BOUND_ONLY,  \
                     "Different resources that it runs on at the same time; default 1"), \
        JSON_BOOLEAN(struct workflow_task, exclusive, false, 0,                          \
                     "It shares its resources with nobody"),                             \
        JSON_NUMBER(struct workflow_task, estimate_s, 0, JSON_LARGEST, NAN,              \
                    JSON_NULLABLE,                                                       \
                    "Run time wherever it runs; instead of estimate_ref_s"),             \
        JSON_NUMBER(struct workflow_task, time_limit_s, 0, JSON_LARGEST, NAN,            \
                    JSON_NULLABLE | JSON_ABOVE_MIN,                                      \
                    "It is killed so long after its start"),                             \
        JSON_TEXT(struct workflow_task, requirement, JSON_NULLABLE,                      \
                  "Expression that must be true of each resource that runs it"),         \
        JSON_TEXTS(struct workflow_task, partition_ids, partition_id_count, 1000, 0,     \
                   "Partitions of the snapshot, of which it uses any one; default: the " \
                   "default partition, or every resource if there is none"),             \
        JSON_TEXT(struct workflow_task, user, JSON_NULLABLE,                             \
                  "Who runs it, for `allowed` of resources and users_allowed of "        \
                  "partitions"),                                                         \
        JSON_TEXTS(struct workflow_task, organisations, organisation_count, 1000, 0,     \
                   "Virtual organisations of the user, for `allowed` of resources"),     \
        JSON_OBJECT(struct workflow_task, group, const struct job_group *,               \
                    &job_group_json, JSON_POINTER | JSON_NULLABLE,                       \
                    "A rule that it keeps with others, also of other workflows; in a "   \
                    "round, which is for now, with those that run or start too"),        \
        JSON_NUMBER(struct workflow_task, priority, -JSON_LARGEST, JSON_LARGEST, 0, 0,   \
                    "Not looked at: tasks go by what depends on them"),                  \
        JSON_NUMBER(struct workflow_task, weight, 0, 1e15, NAN, JSON_NULLABLE,           \
                    "Not looked at: the objective is the makespan"),                     \
        JSON_BOOLEAN(struct workflow_task, preemptible, false, 0,                        \
                     "Not looked at: nothing is stopped for others"),                    \
        JSON_CHOICE(                                                                     \
            struct workflow_task, status, workflow_status_names, 0, 0,                   \
            "idle: not started, the default; staging: has its slot, inputs are on "      \
            "their way; running; done; failed: goes on from its last checkpoint"),       \
        JSON_ID(struct workflow_task, resource_id, JSON_NULLABLE, "Where it is or was"), \
        JSON_TEXTS(struct workflow_task, resource_ids, resource_id_count, JOB_NODES_MAX, \
                   JSON_OPTIONAL, "Instead, of a task on several nodes: all of them"),   \
        JSON_NUMBER(struct workflow_task, start_s, -JSON_LARGEST, JSON_LARGEST, NAN,     \
                    JSON_NULLABLE,                                                       \
                    "When it began, seconds from now: 0 or less; default: not known"),   \
        JSON_NUMBER(                                                                     \
            struct workflow_task, finish_s, -JSON_LARGEST, JSON_LARGEST, NAN,            \
            JSON_NULLABLE,                                                               \
            "When it was done, or when a running one will be, seconds from now"),        \
        JSON_RATIO(struct workflow_task, progress_ratio, progress_pct, 0, 1,             \
                   JSON_NULLABLE, "Share of its work that is done",                      \
                   JSON_WAS({"progress_pct", 0.01})),                                    \
        JSON_NUMBER(struct workflow_task, elapsed_s, 0, JSON_LARGEST, NAN,               \
                    JSON_NULLABLE, "Run time so far"),                                   \
        JSON_NUMBER(struct workflow_task, work_done_ref_s, 0, JSON_LARGEST, NAN,         \
                    JSON_NULLABLE,                                                       \
                    "Work done so far in reference seconds; default: from elapsed_s "    \
                    "and the speed"),                                                    \
        JSON_NUMBER(struct workflow_task, checkpoint_work_ref_s, 0, JSON_LARGEST, NAN,   \
                    JSON_NULLABLE, "Work that its last checkpoint holds; default 0"),    \
        JSON_NUMBER(struct workflow_task, transfer_remaining_s, 0, JSON_LARGEST, 0, 0,   \
                    "Until the inputs of a staging task are there; default 0"),          \
        JSON_NUMBER(struct workflow_task, since_last_move_s, 0, JSON_LARGEST, NAN,       \
                    JSON_NULLABLE, "Time since it was last moved; default: never"),      \
        JSON_LIST(struct workflow_task, progress_samples, progress_sample_count,         \
                  struct progress_sample, &workflow_sample_json, 100000, 0,              \
                  "Progress reports, in any order"),                                     \
        JSON_ID(struct workflow_task, task_id, JSON_NULLABLE,                            \
                "Its name in what is stored of progress, of a task that runs and "       \
                "reports nothing here; default: its id"),                                \
        JSON_BOOLEAN(struct workflow_task, deferred, false, 0,                           \
                     "List algorithms place it behind all tasks that are not; what "     \
                     "depends on it should be, too")

/* Rows of a body whose struct begins with a struct workflow_body: grid and workflows.
 * Algorithms point to mistakes of windows as "/availability/I/...". */
#define WORKFLOW_GRID_ROWS                                                               \
    JSON_OBJECT(struct workflow_body, snapshot, const struct snapshot *, &snapshot_json, \
                JSON_POINTER, "Resources, links and files as they are now"),             \
        JSON_ID(struct workflow_body, snapshot_id, JSON_NULLABLE,                        \
                "A stored snapshot instead", JSON_NOT_WITH("snapshot")),                 \
        JSON_OBJECT(struct workflow_body, workflow, const struct workflow_request *,     \
                    &single_workflow_json, JSON_POINTER,                                 \
                    "One workflow: tasks and what they depend on"),                      \
        JSON_LIST(struct workflow_body, workflows, workflow_count,                       \
                  struct workflow_request, &workflow_json, WORKFLOWS_MAX,                \
                  JSON_UNIQUE_IDS, "Several that share the resources, instead of one",   \
                  JSON_NOT_WITH("workflow")),                                            \
        JSON_LIST(struct workflow_body, availability, window_count,                      \
                  struct workflow_window, &workflow_window_json, WORKFLOW_WINDOWS_MAX,   \
                  0, "When resources are there; one that is not named always is"),       \
        JSON_CHOICE(struct workflow_body, progress, workflow_progress_names, 0, 0,       \
                    "stored, the default: running tasks that say nothing of their "      \
                    "progress have the reports that are stored of tasks of their ids; "  \
                    "given: only what the request says; ignore: not even that")

/* Rows of another tool's file, and of resources in short. */
#define WORKFLOW_FILE_ROWS \
    WORKFLOW_IMPORT_ROWS(struct workflow_body), WORKFLOW_LATENCY_ROW
#define WORKFLOW_LATENCY_ROW                                  \
    JSON_NUMBER(struct workflow_body, latency_s, 0, 1e9, NAN, \
                JSON_NULLABLE | JSON_OPTIONAL,                \
                "With speeds: latency of a transfer in seconds; default 0")

/* Rows of rounds: what earlier ones left. */
#define WORKFLOW_CARRY_ROWS                                                         \
    JSON_LIST(struct workflow_body, carry_over, carry_count, struct workflow_carry, \
              &workflow_carry_json, WORKFLOW_TASKS_MAX, 0,                          \
              "carry_over of the last answer: its tasks come first; of dynamic "    \
              "algorithms only")

/* ---- reading it ---- */

/* A body with everything resolved, for algorithms and for those who draw the answer. */
struct workflow_call {
    struct request *rq;
    struct workflow_in in;
    const struct workflow_import *import; /* NULL: no file was given */
    const char **warnings; /* about the request: room for WORKFLOW_CALL_WARNINGS */
    size_t warning_count;
};

/* Resolves the snapshot, reads an imported file, joins edges to depends_on. Mistakes are
 * noted, all of them; not OK: nothing can be decided. Call decision_begin() first. */
enum error_code workflow_call_begin(struct workflow_call *call, struct request *rq,
                                    const struct workflow_body *body);

/* Asks the models of tasks for their run times, and gives these to the tasks; *times: as
 * run_times_resolve(), of all tasks one after the other. */
enum error_code workflow_call_models(struct workflow_call *call,
                                     struct run_times **times);

/* One more about the request. */
void workflow_call_warn(struct workflow_call *call, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Warnings of the file, the request and what was decided, into the answer. */
void workflow_call_warnings(const struct workflow_call *call, const char *const *warnings,
                            size_t count, struct decision_answer *out);

/* ---- answers ---- */

/* A task without a place; the reasons stand in the algorithm's list. */
struct workflow_unplaced_answer {
    const char *workflow_id, *task_id;
    const struct workflow_unplaced *reasons;
    size_t reason_count;
};
extern const struct json_object workflow_unplaced_json;

/* Joins rows of the same task, which follow each other, and counts them for metrics. */
enum error_code workflow_unplaced_answer(const struct workflow_call *call,
                                         const struct workflow_unplaced *list,
                                         size_t count,
                                         const struct workflow_unplaced_answer **out,
                                         size_t *out_count);

extern const struct json_object workflow_objective_json;

#endif

/* workflow_json.c - how workflows, tasks and their dependencies look in JSON. */
#include "handlers/workflow/workflow_json.h"

#include "handlers/common/world_json.h"

/* ---- the body ---- */

const char *const workflow_status_names[] = {"idle", "staging", "running",
                                             "done", "failed",  NULL};

const char *const workflow_source_names[] = {"finish_s", "progress", "stored", "work",
                                             "elapsed",  "estimate", "guess",  NULL};

#define T struct workflow_dependency
static const struct json_field dependency_rows[] = {
    JSON_ID(T, task_id, JSON_REQUIRED, "A task of the same workflow"),
    JSON_NUMBER(T, transfer_s, 0, JSON_LARGEST, NAN, JSON_NULLABLE,
                "Time to move its output between any two different resources; default: "
                "from bytes and the links"),
    JSON_NUMBER(T, bytes, 0, JSON_LARGEST, NAN, JSON_NULLABLE,
                "What is to be moved; default: its output_bytes"),
    {0},
};
#undef T
static const struct json_object dependency_json = {
    "WorkflowDependency", "A task whose output another one needs",
    sizeof(struct workflow_dependency), dependency_rows};

#define T struct workflow_edge_request
static const struct json_field edge_rows[] = {
    JSON_ID(T, parent_id, JSON_REQUIRED, "A task of the workflow"),
    JSON_ID(T, child_id, JSON_REQUIRED, "The task that needs its output"),
    JSON_NUMBER(T, transfer_s, 0, JSON_LARGEST, NAN, JSON_NULLABLE,
                "Time to move it between any two different resources; default: from "
                "bytes and the links"),
    JSON_NUMBER(T, bytes, 0, JSON_LARGEST, NAN, JSON_NULLABLE,
                "What is to be moved; default: output_bytes of the parent"),
    {0},
};
#undef T
static const struct json_object edge_json = {
    "WorkflowEdge", "A dependency, written beside the tasks",
    sizeof(struct workflow_edge_request), edge_rows};

#define T struct progress_sample
static const struct json_field sample_rows[] = {
    JSON_NUMBER(T, elapsed_s, 0, JSON_LARGEST, NAN, JSON_REQUIRED,
                "Run time of the task when it was read"),
    JSON_RATIO(T, progress_ratio, progress_pct, 0, 1, JSON_REQUIRED,
               "Share of its work that was done", JSON_WAS({"progress_pct", 0.01})),
    JSON_NUMBER(T, mips_total, 0, JSON_LARGEST, NAN, JSON_NULLABLE,
                "Speed of its resource then; default 1"),
    JSON_NUMBER(T, mips_external, 0, JSON_LARGEST, NAN, JSON_NULLABLE,
                "What outside load took of it; default 0"),
    JSON_NUMBER(T, job_count, 1, 1e6, NAN, JSON_NULLABLE,
                "Tasks that shared the rest, with this one; default 1"),
    JSON_NUMBER(T, work_done_ref_s, 0, JSON_LARGEST, NAN, JSON_NULLABLE,
                "Work done by then in reference seconds; default: elapsed_s x share"),
    {0},
};
#undef T
static const struct json_object sample_json = {
    "WorkflowProgressSample", "A progress report of a task",
    sizeof(struct progress_sample), sample_rows};

#define SECONDS(T, m, flag, text) JSON_NUMBER(T, m, 0, JSON_LARGEST, NAN, flag, text)
#define INSTANT(T, m, flag, text) \
    JSON_NUMBER(T, m, -JSON_LARGEST, JSON_LARGEST, NAN, flag, text)

#define T struct workflow_task
static const struct json_field task_rows[] = {
    JSON_ID(T, id, JSON_REQUIRED, "Name, unique in its workflow"),
    JSON_ID(T, name, JSON_NULLABLE,
            "What it runs: a task without a run time is taken to need the median of the "
            "tasks of its name"),
    JSON_LIST(T, depends_on, dependency_count, struct workflow_dependency,
              &dependency_json, WORKFLOW_EDGES_MAX, JSON_OR_TEXT,
              "Tasks whose outputs it needs; a string stands for {\"task_id\": string}"),
    JSON_NUMBER(T, estimate_ref_s, 0, JSON_LARGEST, NAN, JSON_NULLABLE,
                "Run time of the whole task at speed 1; used without etc_s"),
    JSON_NUMBERS(
        T, etc_s, etc_count, 0, JSON_LARGEST, JSON_NULLABLE,
        "Run time on each resource, in the snapshot's order; null: cannot run there"),
    JSON_TEXTS(T, input_file_ids, input_file_count, 10000, 0,
               "Files of the snapshot that it reads"),
    JSON_NUMBER(T, input_bytes, 0, JSON_LARGEST, 0, 0,
                "Input besides files and outputs of other tasks; default 0"),
    JSON_ID(T, input_site_id, JSON_NULLABLE, "Where that input is; default: everywhere"),
    JSON_NUMBER(T, output_bytes, 0, JSON_LARGEST, 0, 0,
                "What each task that depends on it needs of it; default 0"),
    JSON_NUMBER(T, checkpoint_bytes, 0, JSON_LARGEST, 0, 0,
                "What moves with it, besides the input, when it runs; default 0"),
    JSON_ID(T, checkpoint_site_id, JSON_NULLABLE,
            "Where its last checkpoint is; default: not known"),
    JSON_NUMBER(T, release_s, 0, JSON_LARGEST, 0, 0,
                "Not to start before, seconds from now; default 0"),
    JSON_NUMBER(
        T, cpus, 0, 1e9, NAN, JSON_NULLABLE | JSON_ABOVE_MIN,
        "Cpus it needs while it runs, of each node; default 1. With this or one of "
        "the next members anywhere, or with running jobs, reservations or "
        "capacities in the snapshot, resources run as many tasks as fit"),
    JSON_NUMBER(T, memory_bytes, 0, AMOUNT_BYTES_MAX, NAN, JSON_NULLABLE,
                "Memory it needs while it runs; default 0"),
    JSON_NUMBER(T, disk_bytes, 0, AMOUNT_BYTES_MAX, NAN, JSON_NULLABLE,
                "Disk it needs while it runs; default 0"),
    JSON_AMOUNTS(T, needs, need_count, 0,
                 "Other amounts that it needs while it runs, by the names of capacities "
                 "(of each node) and shared_capacities (once)"),
    JSON_INTEGER(T, nodes, 1, JOB_NODES_MAX, 0, JSON_BOUND_ONLY,
                 "Different resources that it runs on at the same time; default 1"),
    JSON_BOOLEAN(T, exclusive, false, 0, "It shares its resources with nobody"),
    JSON_NUMBER(T, estimate_s, 0, JSON_LARGEST, NAN, JSON_NULLABLE | JSON_ABOVE_MIN,
                "Run time wherever it runs; instead of estimate_ref_s"),
    JSON_NUMBER(T, time_limit_s, 0, JSON_LARGEST, NAN, JSON_NULLABLE | JSON_ABOVE_MIN,
                "It is killed so long after its start"),
    JSON_TEXT(T, requirement, JSON_NULLABLE,
              "Expression that must be true of each resource that runs it"),
    JSON_CHOICE(T, status, workflow_status_names, 0, 0,
                "idle: not started, the default; staging: has its slot, inputs are on "
                "their way; running; done; failed: goes on from its last checkpoint"),
    JSON_ID(T, resource_id, JSON_NULLABLE, "Where it is or was"),
    INSTANT(T, start_s, JSON_NULLABLE,
            "When it began, seconds from now: 0 or less; default: not known"),
    INSTANT(T, finish_s, JSON_NULLABLE,
            "When it was done, or when a running one will be, seconds from now"),
    JSON_RATIO(T, progress_ratio, progress_pct, 0, 1, JSON_NULLABLE,
               "Share of its work that is done", JSON_WAS({"progress_pct", 0.01})),
    SECONDS(T, elapsed_s, JSON_NULLABLE, "Run time so far"),
    SECONDS(
        T, work_done_ref_s, JSON_NULLABLE,
        "Work done so far in reference seconds; default: from elapsed_s and the speed"),
    SECONDS(T, checkpoint_work_ref_s, JSON_NULLABLE,
            "Work that its last checkpoint holds; default 0"),
    JSON_NUMBER(T, transfer_remaining_s, 0, JSON_LARGEST, 0, 0,
                "Until the inputs of a staging task are there; default 0"),
    SECONDS(T, since_last_move_s, JSON_NULLABLE,
            "Time since it was last moved; default: never"),
    JSON_LIST(T, progress_samples, progress_sample_count, struct progress_sample,
              &sample_json, 100000, 0, "Progress reports, in any order"),
    {0},
};
#undef T
const struct json_object workflow_task_json = {
    "WorkflowTask", "A task of a workflow, and what it has done so far",
    sizeof(struct workflow_task), task_rows};

#define WORKFLOW_ROWS(id_flag, id_text)                                                \
    JSON_ID(struct workflow, id, id_flag, id_text),                                    \
        JSON_INSTANT(struct workflow, submitted_at, JSON_NULLABLE,                     \
                     "When it was submitted: earlier ones first in a round; default: " \
                     "in the order of the request"),                                   \
        JSON_LIST(struct workflow, tasks, task_count, struct workflow_task,            \
                  &workflow_task_json, WORKFLOW_TASKS_MAX,                             \
                  JSON_REQUIRED | JSON_UNIQUE_IDS,                                     \
                  "Its tasks; their order breaks ties"),                               \
        JSON_LIST(struct workflow_request, edges, edge_count,                          \
                  struct workflow_edge_request, &edge_json, WORKFLOW_EDGES_MAX, 0,     \
                  "Dependencies, instead of depends_on or besides")
static const struct json_field workflow_rows[] = {
    WORKFLOW_ROWS(JSON_REQUIRED, "Name, unique in the request"),
    {0},
};
static const struct json_field single_rows[] = {
    WORKFLOW_ROWS(JSON_NULLABLE, "Name; comes back with the answer"),
    {0},
};
const struct json_object workflow_json = {
    "Workflow", "Tasks that need each other's outputs: a directed acyclic graph",
    sizeof(struct workflow_request), workflow_rows};
const struct json_object single_workflow_json = {
    "SingleWorkflow", "A workflow that may go without a name",
    sizeof(struct workflow_request), single_rows};

#define T struct workflow_window
static const struct json_field window_rows[] = {
    JSON_ID(T, resource_id, JSON_REQUIRED, "A resource of the snapshot"),
    JSON_NUMBER(T, from_s, -JSON_LARGEST, JSON_LARGEST, 0, 0,
                "It is there from then on, seconds from now; default 0"),
    INSTANT(T, to_s, JSON_NULLABLE, "Until then; default: for good"),
    {0},
};
#undef T
const struct json_object workflow_window_json = {
    "AvailabilityWindow", "A time in which a resource may be used",
    sizeof(struct workflow_window), window_rows};

#define T struct workflow_carry
static const struct json_field carry_rows[] = {
    JSON_ID(T, workflow_id, JSON_NULLABLE | JSON_OPTIONAL,
            "Their workflow; may be missing when there is one"),
    JSON_TEXTS(T, task_ids, task_count, WORKFLOW_TASKS_MAX, JSON_REQUIRED,
               "Tasks that wait together"),
    {0},
};
#undef T
const struct json_object workflow_carry_json = {
    "WorkflowCarryOver", "Tasks that found no place in a round: first in the next one",
    sizeof(struct workflow_carry), carry_rows};

/* ---- answers ---- */

#define T struct workflow_unplaced
static const struct json_field reason_rows[] = {
    JSON_TEXT(T, reason, 0, "What stands in the way"),
    JSON_TEXT(T, detail, JSON_OPTIONAL, "In words"),
    JSON_INTEGER(T, resource_count, 0, JSON_EXACT, 0, 0, "Resources that this holds for"),
    {0},
};
#undef T
static const struct json_object reason_json = {
    "WorkflowReason", "Why a task has no place", sizeof(struct workflow_unplaced),
    reason_rows};

#define T struct workflow_unplaced_answer
static const struct json_field unplaced_rows[] = {
    JSON_TEXT(T, workflow_id, JSON_OPTIONAL, "Its workflow, if that has a name"),
    JSON_TEXT(T, task_id, 0, "The task"),
    JSON_LIST(T, reasons, reason_count, struct workflow_unplaced, &reason_json, 0, 0,
              "Why"),
    {0},
};
#undef T
const struct json_object workflow_unplaced_json = {
    "WorkflowUnplaced", "A task without a place", sizeof(struct workflow_unplaced_answer),
    unplaced_rows};

#define T struct workflow_objective
static const struct json_field objective_rows[] = {
    JSON_NUMBER(T, makespan_s, 0, 0, 0, 0,
                "When the last task is done, seconds from now"),
    JSON_NUMBER(T, lower_bound_s, 0, 0, 0, 0, "No schedule ends before"),
    JSON_NUMBER(T, gap_ratio, 0, 0, 0, JSON_MAY_BE_NULL,
                "makespan_s / lower_bound_s - 1; null: the bound is 0"),
    JSON_NUMBER(T, critical_path_s, 0, 0, 0, 0,
                "Longest chain of tasks, each where it runs fastest"),
    JSON_NUMBER(T, area_s, 0, 0, 0, 0, "All of the work, spread over all resources"),
    JSON_NUMBER(T, speedup_ratio, 0, 0, 0, JSON_MAY_BE_NULL,
                "Time on the best single resource / makespan_s; null: none can run all"),
    JSON_NUMBER(T, utilisation_ratio, 0, 0, 0, 0,
                "Busy time over resources x makespan_s"),
    JSON_NUMBER(T, transfer_s, 0, 0, 0, 0,
                "Sum of the transfers between different resources"),
    {0},
};
#undef T
const struct json_object workflow_objective_json = {
    "WorkflowObjective", "How good a schedule is", sizeof(struct workflow_objective),
    objective_rows};

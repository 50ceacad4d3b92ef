/* workflow_json.c - how workflows, tasks and their dependencies look in JSON. */
#include "handlers/workflow/workflow_json.h"

#include "algorithms/placement/placement.h"
#include "algorithms/workflow/words.h"
#include "handlers/placement/placement_json.h"

/* ---- the body ---- */

const char *const workflow_status_names[] = {"idle", "staging", "running",
                                             "done", "failed",  NULL};

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
const struct json_object workflow_dependency_json = {
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
const struct json_object workflow_edge_json = {
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
const struct json_object workflow_sample_json = {
    "WorkflowProgressSample", "A progress report of a task",
    sizeof(struct progress_sample), sample_rows};

#define INSTANT(T, m, flag, text) \
    JSON_NUMBER(T, m, -JSON_LARGEST, JSON_LARGEST, NAN, flag, text)

static const struct json_field task_rows[] = {
    WORKFLOW_TASK_ROWS, JOB_MODEL_ROW(struct workflow_task), {0}};
const struct json_object workflow_task_json = {
    "WorkflowTask", "A task of a workflow, and what it has done so far",
    sizeof(struct workflow_task), task_rows};

#define WORKFLOW_ROWS(id_flag, id_text)                                                  \
    JSON_ID(struct workflow, id, id_flag, id_text),                                      \
        JSON_INSTANT(struct workflow, submitted_at, JSON_NULLABLE,                       \
                     "When it was submitted: earlier ones first in a round; default: "   \
                     "in the order of the request"),                                     \
        JSON_LIST(struct workflow, tasks, task_count, struct workflow_task,              \
                  &workflow_task_json, WORKFLOW_TASKS_MAX,                               \
                  JSON_REQUIRED | JSON_UNIQUE_IDS,                                       \
                  "Its tasks; their order breaks ties"),                                 \
        JSON_LIST(struct workflow_request, edges, edge_count,                            \
                  struct workflow_edge_request, &workflow_edge_json, WORKFLOW_EDGES_MAX, \
                  0, "Dependencies, instead of depends_on or besides")
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
    JSON_WORD(T, reason, workflow_reason_names, 0, "What stands in the way"),
    JSON_TEXT(T, detail, JSON_OPTIONAL, "In words"),
    JSON_INTEGER(T, resource_count, 0, JSON_EXACT, 0, 0, "Resources that this holds for"),
    JSON_LIST(T, amounts, amount_count, struct placement_amount, &placement_amount_json,
              0, JSON_OPTIONAL, "Of too_small: what is short"),
    JSON_TEXTS(T, blockers, blocker_count, 0, JSON_OPTIONAL,
               "Of unknown_end: up to five running jobs whose end is not known"),
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

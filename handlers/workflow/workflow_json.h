/* workflow_json.h - how workflows, tasks and their dependencies look in JSON, and what
 * the endpoints that take workflows share: the body, its way into a struct workflow_in,
 * and the answer of a round.
 */
#ifndef GRIDPLAN_WORKFLOW_JSON_H
#define GRIDPLAN_WORKFLOW_JSON_H

#include "algorithms/workflow/round.h"
#include "handlers/common/decision.h"
#include "handlers/common/snapshot_json.h"
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
extern const char *const workflow_source_names[];

extern const struct json_object workflow_task_json;
extern const struct json_object workflow_json;        /* one with an id, of several */
extern const struct json_object single_workflow_json; /* one whose id may be missing */
extern const struct json_object workflow_window_json;
extern const struct json_object workflow_carry_json;

/* Rows of a body whose struct begins with a struct workflow_body: grid and workflows.
 * Algorithms point to mistakes of windows as "/availability/I/...". */
#define WORKFLOW_GRID_ROWS                                                               \
    JSON_OBJECT(struct workflow_body, snapshot, const struct snapshot *, &snapshot_json, \
                JSON_POINTER, "Resources, links and files as they are now"),             \
        JSON_ID(struct workflow_body, snapshot_id, JSON_NULLABLE,                        \
                "A stored snapshot instead"),                                            \
        JSON_OBJECT(struct workflow_body, workflow, const struct workflow_request *,     \
                    &single_workflow_json, JSON_POINTER,                                 \
                    "One workflow: tasks and what they depend on"),                      \
        JSON_LIST(struct workflow_body, workflows, workflow_count,                       \
                  struct workflow_request, &workflow_json, WORKFLOWS_MAX,                \
                  JSON_UNIQUE_IDS, "Several that share the resources, instead of one"),  \
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

/* The decision runs tasks on slots: says what of amounts it does not look at. */
void workflow_call_ignores_amounts(struct workflow_call *call);

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

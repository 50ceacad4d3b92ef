/* session_json.c - how runs of workflows, their events and answers look in JSON. */
#include "handlers/session_run/session_json.h"

#include "service/json_holds.h"

/* ---- the definition ---- */

#define T struct session_model
static const struct json_field model_rows[] = {
    JSON_ID(T, model_id, JSON_NULLABLE,
            "A stored model of run times; default: the one of its class, "
            "APPLICATION/CLASS, once there is one",
            JSON_NOT_WITH("application_id")),
    JSON_ID(T, application_id, JSON_NULLABLE, "Instead: the models of this application"),
    JSON_NUMBER(T, problem_size, 0, JSON_LARGEST, NAN, JSON_NULLABLE | JSON_ABOVE_MIN,
                "Size of its problem: run times of a class are a line of it"),
    JSON_RAW(T, parameters, JSON_NULLABLE,
             "An object: what it is started with; its numbers, booleans and strings are "
             "inputs of models",
             JSON_HOLDS(&json_any_object)),
    JSON_NUMBER(T, quantile, 0.01, 0.99, 0.5, 0,
                "Of a model: share of runs that are to be shorter than the time that is "
                "planned with; default 0.5"),
    {0},
};
#undef T
static const struct json_object model_json = {"SessionTaskModel",
                                              "What the run time of a task depends on",
                                              sizeof(struct session_model), model_rows};

#define T struct session_task_body
#define SESSION_TASK_ROWS                                                              \
    WORKFLOW_TASK_ROWS,                                                                \
        {.name = "class",                                                              \
         .doc =                                                                        \
             "Kind of its work (rule, process, tool): run times are learnt for each; " \
             "default: its id",                                                        \
         .type = JSON_TYPE_TEXT,                                                       \
         .offset = JSON_AT(T, class_name, const char *),                               \
         .min = 1,                                                                     \
         .max = 200,                                                                   \
         .flags = JSON_NULLABLE},                                                      \
        JSON_INTEGER(T, attempts_max, 1, 100, 3, 0,                                    \
                     "Failed attempts after which it has failed; default 3"),          \
        JSON_NUMBER(                                                                   \
            T, default_ref_s, 0, JSON_LARGEST, NAN, JSON_NULLABLE | JSON_ABOVE_MIN,    \
            "Run time at speed 1 while nothing is known; default: the session's"),     \
        JSON_OBJECT(T, model, const struct session_model *, &model_json,               \
                    JSON_POINTER | JSON_NULLABLE, "What its run time depends on")
static const struct json_field task_rows[] = {SESSION_TASK_ROWS, {0}};
static const struct json_field later_rows[] = {
    SESSION_TASK_ROWS,
    JSON_BOOLEAN(T, remove, false, 0,
                 "It is not wanted any more, and counts as cancelled for good"),
    JSON_BOOLEAN(T, replace, false, 0, "It takes the place of the task of its id"),
    {0},
};
#undef T
const struct json_object session_task_json = {
    "SessionTask", "A task of a run", sizeof(struct session_task_body), task_rows};
const struct json_object session_later_json = {
    "SessionLaterTask", "A task that comes, changes or goes while a workflow runs",
    sizeof(struct session_task_body), later_rows};

#define T struct session_workflow
static const struct json_field workflow_rows[] = {
    JSON_ID(T, id, JSON_NULLABLE, "Name; comes back with the plan"),
    JSON_INSTANT(T, submitted_at, JSON_NULLABLE, "When it was submitted"),
    JSON_LIST(T, tasks, task_count, struct session_task_body, &session_task_json,
              WORKFLOW_TASKS_MAX, JSON_REQUIRED | JSON_UNIQUE_IDS,
              "Its tasks, which may be none; their order breaks ties"),
    JSON_LIST(T, edges, edge_count, struct workflow_edge_request, &workflow_edge_json,
              WORKFLOW_EDGES_MAX, 0, "Dependencies, instead of depends_on or besides"),
    {0},
};
#undef T
static const struct json_object session_workflow_json = {
    "SessionWorkflow", "The graph of a run", sizeof(struct session_workflow),
    workflow_rows};

static const char *const moves_names[] = {"none", "paying", NULL};

#define T struct session_definition
static const struct json_field definition_rows[] = {
    JSON_OBJECT(T, workflow, const struct session_workflow *, &session_workflow_json,
                JSON_POINTER | JSON_REQUIRED, "Tasks and what they depend on"),
    {.name = "application_id",
     .doc = "Run times are learnt as those of application_id/class; default: the "
            "session's name",
     .type = JSON_TYPE_TEXT,
     .offset = JSON_AT(T, application_id, const char *),
     .min = 1,
     .max = 200,
     .flags = JSON_NULLABLE},
    JSON_OBJECT(T, snapshot, const struct snapshot *, &snapshot_json, JSON_POINTER,
                "Resources, links and files; this or snapshot_id"),
    JSON_ID(T, snapshot_id, JSON_NULLABLE,
            "A stored snapshot, read anew at every planning; sessions that name it share "
            "its amounts",
            JSON_NOT_WITH("snapshot")),
    {.name = "algorithm",
     .doc = "A policy that plans all tasks to the end; default heft",
     .type = JSON_TYPE_TEXT,
     .offset = JSON_AT(T, algorithm, const char *),
     .max = 64},
    {.name = "options",
     .doc = "Options of the algorithm, as GET /v1/algorithms lists them",
     .type = JSON_TYPE_VALUES,
     .offset = JSON_AT(T, options, const struct named_value *),
     .count_offset = JSON_AT(T, option_count, size_t),
     .max = 64},
    JSON_INTEGER(T, seed, 0, JSON_EXACT, 1, 0, "Of each plan; default 1"),
    JSON_NUMBER(T, time_limit_s, 0, JSON_LARGEST, NAN,
                JSON_NULLABLE | JSON_ABOVE_MIN | JSON_TIME_LIMIT,
                "Seconds that a plan may take; default: of search 1"),
    JSON_NUMBER(T, default_ref_s, 0, JSON_LARGEST, 60, JSON_ABOVE_MIN,
                "Run time of a task at speed 1 while nothing is known; default 60"),
    JSON_NUMBER(T, replan_min_interval_s, 0, 3600, NAN, JSON_NULLABLE,
                "A plan holds for so long at least, seconds; default: tasks left x "
                "resources / 1e6"),
    JSON_NUMBER(T, replan_max_interval_s, 1, 86400, 60, 0,
                "A plan holds for so long at most, seconds; default 60"),
    {.name = "running_max",
     .doc = "Attempts at once at most; default: not limited",
     .type = JSON_TYPE_INTEGER,
     .offset = JSON_AT(T, running_max, uint64_t),
     .min = 1,
     .max = JSON_EXACT,
     .flags = JSON_NULLABLE | JSON_BOUND_ONLY},
    JSON_CHOICE(
        T, moves, moves_names, SESSION_MOVES_NONE, 0,
        "none, the default: no running task is moved; paying: each planning looks "
        "for moves that pay"),
    JSON_BOOLEAN(T, learn, true, 0,
                 "Attempts that are over become executions, from which run times are "
                 "learnt; default true"),
    JSON_NUMBER(T, expires_after_s, 60, 31536000, 604800, 0,
                "It ends so long after its last event or start, seconds; default 604800"),
    {.name = "labels",
     .doc = "Any JSON; kept with it",
     .type = JSON_TYPE_RAW,
     .offset = JSON_AT(T, labels, const char *)},
    {0},
};
#undef T
const struct json_object session_definition_json = {
    "WorkflowSessionDefinition", "A run of a workflow: its graph and its hosts",
    sizeof(struct session_definition), definition_rows};

/* ---- events ---- */

static const char *const failure_kinds[] = {"error", "memory",    "time_limit",
                                            "host",  "cancelled", NULL};

#define T struct session_event
/* null_flag: JSON_NULLABLE of what is sent. */
#define EVENT_ROWS(null_flag)                                                            \
    {.name = "event_id",                                                                 \
     .doc = "Its name, chosen by the sender, unique in the session: sent again it is a " \
            "duplicate",                                                                 \
     .type = JSON_TYPE_TEXT,                                                             \
     .offset = JSON_AT(T, event_id, const char *),                                       \
     .min = 1,                                                                           \
     .max = 128,                                                                         \
     .flags = JSON_REQUIRED},                                                            \
        JSON_CHOICE(T, kind, session_kind_names, 0, JSON_REQUIRED,                       \
                    "started, ended, failed, cancelled, progress: of a task's attempt; " \
                    "host_up, host_down, host_speed: of a resource"),                    \
        JSON_INSTANT(T, observed_at, JSON_REQUIRED,                                      \
                     "When it happened, by the sender's clock"),                         \
        JSON_ID(T, task_id, (null_flag) | JSON_OPTIONAL, "The task, of its kinds"),      \
        JSON_INTEGER(T, attempt, 1, 1000, 1, 0, "Number of the attempt; default 1"),     \
        JSON_ID(T, resource_id, (null_flag) | JSON_OPTIONAL,                             \
                "Where it started; or the resource, of its kinds"),                      \
        JSON_TEXTS(T, resource_ids, resource_id_count, JOB_NODES_MAX, JSON_OPTIONAL,     \
                   "Of started, on several nodes: all of them; resource_id may be "      \
                   "missing, or is the first"),                                          \
        JSON_ID(                                                                         \
            T, running_id, (null_flag) | JSON_OPTIONAL,                                  \
            "Of started: its id in `running` of the stored snapshot, so that it is not " \
            "counted twice"),                                                            \
        JSON_NUMBER(T, run_time_s, 0, JSON_LARGEST, NAN, (null_flag) | JSON_OPTIONAL,    \
                    "How long it ran; default: the time between the two events"),        \
        JSON_NUMBER(T, memory_peak_bytes, 0, JSON_LARGEST, NAN,                          \
                    (null_flag) | JSON_OPTIONAL, "Most memory that it used"),            \
        JSON_NUMBER(T, output_bytes, 0, JSON_LARGEST, NAN, (null_flag) | JSON_OPTIONAL,  \
                    "What it has made"),                                                 \
        JSON_NUMBER(T, exit_code, -2147483648.0, 2147483647, NAN,                        \
                    (null_flag) | JSON_OPTIONAL | JSON_WHOLE,                            \
                    "Default: of ended 0, of failed 1"),                                 \
        {.name = "failure_kind",                                                         \
         .doc = "Of failed: error, memory, time_limit, host or cancelled",               \
         .type = JSON_TYPE_TEXT,                                                         \
         .choices = failure_kinds,                                                       \
         .offset = JSON_AT(T, failure_kind, const char *),                               \
         .min = 1,                                                                       \
         .max = 64,                                                                      \
         .flags = (null_flag) | JSON_OPTIONAL},                                          \
        JSON_BOOLEAN(T, final, false, JSON_OPTIONAL,                                     \
                     "Of failed: it is not to be tried again"),                          \
        JSON_NUMBER(T, progress_ratio, 0, 1, NAN, (null_flag) | JSON_OPTIONAL,           \
                    "Of progress: share of its work that is done"),                      \
        JSON_NUMBER(T, mips_total, 0, JSON_LARGEST, NAN,                                 \
                    (null_flag) | JSON_OPTIONAL | JSON_ABOVE_MIN,                        \
                    "Of host_speed: the speed of the resource from now on")
static const struct json_field event_rows[] = {EVENT_ROWS(JSON_NULLABLE), {0}};
static const struct json_field stored_rows[] = {
    EVENT_ROWS(0),
    JSON_INTEGER(T, seq, 0, JSON_EXACT, 0, 0,
                 "Order of storing; tasks and definitions have numbers, too"),
    JSON_INSTANT(struct store_session_event, received_at, 0, "When it came"),
    {0},
};
#undef T
const struct json_object session_event_json = {"SessionEvent", "What an engine reports",
                                               sizeof(struct session_event), event_rows};
const struct json_object session_stored_event_json = {
    "SessionStoredEvent", "An event that came", sizeof(struct store_session_event),
    stored_rows};

/* ---- parts of answers ---- */

#define COUNT(status, word, text)                                                   \
    {                                                                               \
        .name = word, .doc = text, .type = JSON_TYPE_INTEGER, .max = JSON_EXACT,    \
        .offset = offsetof(struct session_counts, of) + (status) * sizeof(uint64_t) \
    }
static const struct json_field counts_rows[] = {
    COUNT(SESSION_TASK_IDLE, "idle", "Tasks that wait for others"),
    COUNT(SESSION_TASK_READY, "ready", "Tasks that may start"),
    COUNT(SESSION_TASK_RUNNING, "running", "Tasks that run"),
    COUNT(SESSION_TASK_DONE, "done", "Tasks that are done"),
    COUNT(SESSION_TASK_FAILED, "failed", "Tasks that are not tried again"),
    COUNT(SESSION_TASK_CANCELLED, "cancelled", "Tasks that nobody wants any more"),
    COUNT(SESSION_TASK_BLOCKED, "blocked",
          "Tasks that wait for one that failed or was cancelled"),
    {0},
};
const struct json_object session_counts_json = {
    "SessionCounts", "Numbers of tasks", sizeof(struct session_counts), counts_rows};

#define T struct session_mistake
#define MISTAKE_ROWS                                                                  \
    JSON_INTEGER(T, line, 1, JSON_EXACT, 1, JSON_OPTIONAL, "Line of NDJSON, from 1"), \
        JSON_TEXT(T, code, 0, "Kind of the mistake"),                                 \
        JSON_TEXT(T, detail, 0, "What was found and what is expected"),               \
        JSON_TEXT(T, pointer, 0, "JSON Pointer to the value: in the body, or the line")
static const struct json_field event_mistake_rows[] = {
    {.name = "event_id",
     .doc = "Which event; missing: it could not be read",
     .type = JSON_TYPE_TEXT,
     .offset = JSON_AT(T, id, const char *),
     .flags = JSON_OPTIONAL},
    MISTAKE_ROWS,
    {0},
};
static const struct json_field task_mistake_rows[] = {
    {.name = "task_id",
     .doc = "Which task; missing: it could not be read",
     .type = JSON_TYPE_TEXT,
     .offset = JSON_AT(T, id, const char *),
     .flags = JSON_OPTIONAL},
    MISTAKE_ROWS,
    {0},
};
#undef T
const struct json_object session_event_mistake_json = {
    "SessionEventMistake", "Why an event was not stored", sizeof(struct session_mistake),
    event_mistake_rows};
const struct json_object session_task_mistake_json = {
    "SessionTaskMistake", "Why a task was not stored", sizeof(struct session_mistake),
    task_mistake_rows};

/* session_json.h - how runs of workflows, their events and answers look in JSON. */
#ifndef GRIDPLAN_SESSION_JSON_H
#define GRIDPLAN_SESSION_JSON_H

#include "handlers/workflow/workflow_json.h"
#include "models/session/state.h"
#include "service/store_session.h"

enum {
    SESSION_EVENTS_MAX = 10000,    /* of one request */
    SESSION_EVENT_BYTES_MAX = 8192 /* of one event */
};

/* What a task's run time depends on. */
struct session_model {
    const char *model_id, *application_id; /* which model; NULL: that of its class */
    double problem_size;                   /* > 0; NAN: not said */
    const char *parameters;
    double quantile; /* 0 to 1: of runs that are shorter than the time */
};

/* A task of a run; of one that comes later: also that it is to go, or to replace. */
struct session_task_body {
    struct workflow_task task;
    const char *class_name; /* NULL: its id */
    uint64_t attempts_max;
    double default_ref_s; /* NAN: the session's */
    const struct session_model *model;
    bool remove, replace;
};

struct session_workflow {
    const char *id;
    double submitted_at_s;
    const struct session_task_body *tasks;
    size_t task_count;
    const struct workflow_edge_request *edges;
    size_t edge_count;
};

enum session_moves { SESSION_MOVES_NONE, SESSION_MOVES_PAYING };

struct session_definition {
    const struct session_workflow *workflow;
    const char *application_id; /* NULL: the session's name */
    const struct snapshot *snapshot;
    const char *snapshot_id;
    const char *algorithm;
    const struct named_value *options;
    size_t option_count;
    uint64_t seed;
    double time_limit_s, default_ref_s;
    double replan_min_interval_s; /* NAN: from the number of tasks and resources */
    double replan_max_interval_s;
    uint64_t running_max; /* 0: not limited */
    int moves;
    bool learn;
    double expires_after_s;
    const char *labels;
};

extern const struct json_object session_definition_json;
extern const struct json_object session_task_json;  /* of a definition */
extern const struct json_object session_later_json; /* of POST tasks */
extern const struct json_object session_event_json; /* struct session_event */
extern const struct json_object
    session_stored_event_json; /* struct store_session_event */

/* A number of tasks of each status. */
struct session_counts {
    uint64_t of[SESSION_TASK_STATUS_COUNT];
};
extern const struct json_object session_counts_json;

/* What is wrong with an event, or a task. */
struct session_mistake {
    const char *id;
    uint64_t line; /* of NDJSON, from 1; JSON_NO_INTEGER: the body was JSON */
    const char *code, *detail, *pointer;
};
extern const struct json_object session_event_mistake_json, session_task_mistake_json;

#endif

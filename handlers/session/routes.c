/* routes.c - the endpoints of this room.
 *
 * A row: method, path, operation and tag of the description, handler; body, answer and
 * query tables; which thread, which scope, flags; documentation; prefix of its examples.
 */
#include "handlers/session/routes.h"

#include "handlers/common/tags.h"
#include "handlers/session/next.h"
#include "handlers/session/sessions.h"

const struct route session_routes[] = {
    {"GET", "/v1/workflow-sessions", "listWorkflowSessions", TAG_WORKFLOWS, get_sessions,
     NULL, &sessions_page_json, &sessions_query_json, WORK_QUERY, SCOPE_DECIDE, 0,
     "List runs of workflows", "By name, in pages, without their definitions.", NULL},
    {"DELETE", "/v1/workflow-sessions/{session_id}", "deleteWorkflowSession",
     TAG_WORKFLOWS, delete_session, NULL, NULL, NULL, WORK_QUERY, SCOPE_DECIDE, 0,
     "Delete a run of a workflow",
     "With its events and leases. Executions that were learnt stay.", NULL},
    {"GET", "/v1/workflow-sessions/{session_id}", "getWorkflowSession", TAG_WORKFLOWS,
     get_session, NULL, &session_info_json, NULL, WORK_QUERY, SCOPE_DECIDE,
     ROUTE_VERSIONED, "Read a run of a workflow",
     "Definition, status and numbers of tasks; also of one that has expired.", NULL},
    {"PUT", "/v1/workflow-sessions/{session_id}", "putWorkflowSession", TAG_WORKFLOWS,
     put_session, &session_definition_json, &session_info_json, NULL, WORK_QUERY,
     SCOPE_DECIDE, ROUTE_RAW_BODY | ROUTE_VERSIONED | ROUTE_LOOKS_UP,
     "Define a run of a workflow",
     "The graph is sent once, then events. 201 for a new one; 200 for the same "
     "definition, so that it may be sent again; another definition takes the place of "
     "the "
     "first, events and tasks that came later stay. Tasks may depend on tasks that come "
     "later: they wait. If-Match and If-None-Match: * are honoured.",
     NULL},
    {"GET", "/v1/workflow-sessions/{session_id}/events", "listSessionEvents",
     TAG_WORKFLOWS, get_session_events, NULL, &session_events_page_json,
     &session_events_query_json, WORK_QUERY, SCOPE_DECIDE, ROUTE_EXPIRES,
     "List events of a run",
     "As they were received, in the order of storing: a log to be replayed.", NULL},
    {"POST", "/v1/workflow-sessions/{session_id}/events", "addSessionEvents",
     TAG_WORKFLOWS, post_session_events, &session_event_json, &session_events_answer_json,
     NULL, WORK_QUERY, SCOPE_DECIDE | SCOPE_INGEST, ROUTE_BULK | ROUTE_EXPIRES,
     "Report what has happened",
     "An object, a list, or NDJSON; at most 10,000. They may come late, twice and in any "
     "order: the state depends on the set of events only. The same event_id again is a "
     "duplicate, with other members a conflict; events of unknown tasks or resources are "
     "not stored, the others are.",
     NULL},
    {"GET", "/v1/workflow-sessions/{session_id}/next", "getSessionNext", TAG_WORKFLOWS,
     get_session_next, NULL, &session_answer_json, &session_next_query_json, WORK_COMPUTE,
     SCOPE_DECIDE, ROUTE_VERSIONED | ROUTE_WAITS | ROUTE_EXPIRES,
     "What should the engine do now?",
     "What to start where, from a plan that is made anew when something unexpected has "
     "happened; what to cancel; when to ask again. It grants nothing: POST starts does. "
     "With If-None-Match 304 while nothing has changed, after wait_s seconds at the "
     "latest. now and revision replay.",
     NULL},
    {"GET", "/v1/workflow-sessions/{session_id}/plan", "getSessionPlan", TAG_WORKFLOWS,
     get_session_plan, NULL, &session_plan_answer_json, &session_at_query_json,
     WORK_COMPUTE, SCOPE_DECIDE, ROUTE_ANSWERS_CHART | ROUTE_EXPIRES, "The plan in force",
     "Schedule, unplaced tasks and objective, as POST /v1/workflow-schedules answers the "
     "request of this run; with Accept: image/svg+xml a chart of what ran, runs and will "
     "run.",
     NULL},
    {"GET", "/v1/workflow-sessions/{session_id}/request", "getSessionRequest",
     TAG_WORKFLOWS, get_session_request, NULL, NULL, &session_at_query_json, WORK_COMPUTE,
     SCOPE_DECIDE, ROUTE_RAW_REPLY | ROUTE_RAW_JSON | ROUTE_EXPIRES,
     "The request that the plan answers",
     "A body for POST /v1/workflow-schedules: the snapshot with hosts as they are and "
     "what others hold, tasks with what became of them and their expected run times.",
     NULL},
    {"POST", "/v1/workflow-sessions/{session_id}/starts", "startSessionTasks",
     TAG_WORKFLOWS, post_session_starts, &session_starts_json, &session_answer_json, NULL,
     WORK_COMPUTE, SCOPE_DECIDE, ROUTE_EXPIRES,
     "Tell me what to start, and hold it for me",
     "Stores the events that come with it, then answers as GET next does, and grants "
     "what "
     "is to start: nobody else is told the same, nobody else gets the amounts. What the "
     "holder was told and has not begun it is told again; after hold_s seconds anybody "
     "is.",
     NULL},
    {"GET", "/v1/workflow-sessions/{session_id}/tasks", "listSessionTasks", TAG_WORKFLOWS,
     get_session_tasks, NULL, &session_tasks_page_json, &session_tasks_query_json,
     WORK_QUERY, SCOPE_DECIDE, ROUTE_EXPIRES, "List tasks of a run",
     "With status, attempt, place and times.", NULL},
    {"POST", "/v1/workflow-sessions/{session_id}/tasks", "addSessionTasks", TAG_WORKFLOWS,
     post_session_tasks, &session_later_json, &session_tasks_answer_json, NULL,
     WORK_QUERY, SCOPE_DECIDE, ROUTE_BULK | ROUTE_EXPIRES, "Add, replace or remove tasks",
     "An object, a list, or NDJSON. The same again is a duplicate; other members of a "
     "known id are a conflict, unless it says replace: true. A removed task counts as "
     "cancelled. What would close a cycle refuses all.",
     NULL},
    {0},
};

/* sessions.h - runs of workflows, stored under a name. */
#ifndef GRIDPLAN_SESSIONS_H
#define GRIDPLAN_SESSIONS_H

#include "handlers/session_run/run.h"

extern const struct json_object session_info_json;
extern const struct json_object sessions_query_json, sessions_page_json;
extern const struct json_object session_tasks_query_json, session_tasks_page_json;
extern const struct json_object session_tasks_answer_json;

handler_fn put_session, get_session, delete_session, get_sessions;
handler_fn post_session_tasks, get_session_tasks;

#endif

/* executions.h - /v1/executions: observed runs of applications. */
#ifndef GRIDPLAN_EXECUTIONS_H
#define GRIDPLAN_EXECUTIONS_H

#include "service/route.h"

extern const struct json_object execution_json;
extern const struct json_object sent_execution_json;    /* what is stored */
extern const struct json_object executions_answer_json; /* and what that means */
extern const struct json_object executions_query_json;
extern const struct json_object executions_page_json;

/* POST /v1/executions (bulk) */
handler_fn post_executions;

/* GET /v1/executions */
handler_fn get_executions;

#endif

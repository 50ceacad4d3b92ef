/* routes.h - the endpoints of this room. */
#ifndef GRIDPLAN_COALLOCATION_ROUTES_H
#define GRIDPLAN_COALLOCATION_ROUTES_H

#include "service/route.h"

/* Sorted by path, ended by {0}. */
extern const struct route coallocation_routes[];

/* ---- coallocation_flow.c - POST /v1/coallocations/flow-steps and .../launch-plans. */

extern const struct json_object flow_steps_request_json;
extern const struct json_object flow_steps_answer_json;
extern const struct json_object launch_plans_request_json;
extern const struct json_object launch_plans_answer_json;

handler_fn post_flow_steps, post_launch_plans;

#endif

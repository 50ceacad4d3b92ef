/* coallocation_flow.h - POST /v1/coallocations/flow-steps and .../launch-plans. */
#ifndef GRIDPLAN_COALLOCATION_FLOW_STEPS_H
#define GRIDPLAN_COALLOCATION_FLOW_STEPS_H

#include "service/route.h"

extern const struct json_object flow_steps_request_json;
extern const struct json_object flow_steps_answer_json;
extern const struct json_object launch_plans_request_json;
extern const struct json_object launch_plans_answer_json;

handler_fn post_flow_steps, post_launch_plans;

#endif

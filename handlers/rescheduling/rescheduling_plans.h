/* rescheduling_plans.h - POST /v1/rescheduling-plans: phases to machines, and moves. */
#ifndef GRIDPLAN_RESCHEDULING_PLANS_H
#define GRIDPLAN_RESCHEDULING_PLANS_H

#include "service/route.h"

extern const struct json_object rescheduling_plans_request_json;
extern const struct json_object rescheduling_plans_answer_json;

handler_fn post_rescheduling_plans;

#endif

/* fault_tolerance_plans.h - POST /v1/fault-tolerance-plans: checkpoints, copies, both. */
#ifndef GRIDPLAN_FAULT_TOLERANCE_PLANS_H
#define GRIDPLAN_FAULT_TOLERANCE_PLANS_H

#include "service/route.h"

extern const struct json_object fault_tolerance_plans_request_json;

handler_fn post_fault_tolerance_plans;

#endif

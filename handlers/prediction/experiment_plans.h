/* experiment_plans.h - POST /v1/experiment-plans: which runs to make for a model. */
#ifndef GRIDPLAN_EXPERIMENT_PLANS_H
#define GRIDPLAN_EXPERIMENT_PLANS_H

#include "service/route.h"

extern const struct json_object experiment_plan_request_json;
extern const struct json_object experiment_plan_answer_json;

handler_fn post_experiment_plan;

#endif

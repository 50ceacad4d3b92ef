/* routes.h - the endpoints of this room. */
#ifndef GRIDPLAN_PREDICTION_ROUTES_H
#define GRIDPLAN_PREDICTION_ROUTES_H

#include "service/route.h"

/* Sorted by path, ended by {0}. */
extern const struct route prediction_routes[];

/* ---- experiment_plans.c - POST /v1/experiment-plans: which runs to make for a model. */

extern const struct json_object experiment_plan_request_json;
extern const struct json_object experiment_plan_answer_json;

handler_fn post_experiment_plan;

/* ---- forecasts.c - GET /v1/forecasts: the load to be expected of resources and links.
 */

extern const struct json_object forecasts_query_json;
extern const struct json_object forecasts_page_json;

handler_fn get_forecasts;

#endif

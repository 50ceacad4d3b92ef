/* routes.h - the endpoints of this room. */
#ifndef GRIDPLAN_LEARNING_ROUTES_H
#define GRIDPLAN_LEARNING_ROUTES_H

#include "service/route.h"

/* Sorted by path, ended by {0}. */
extern const struct route learning_routes[];

/* ---- machine_effects.c - GET /v1/machine-effects: how much faster machines are. ---- */

extern const struct json_object machine_effects_query_json;
extern const struct json_object machine_effects_page_json;

handler_fn get_machine_effects;

/* ---- resource_sizings.c - POST /v1/resource-sizings: how much memory to ask for. ----
 */

extern const struct json_object sizing_request_json;
extern const struct json_object sizing_answer_json;

handler_fn post_resource_sizings;

#endif

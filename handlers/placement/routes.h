/* routes.h - the endpoints of this room. */
#ifndef GRIDPLAN_PLACEMENT_ROUTES_H
#define GRIDPLAN_PLACEMENT_ROUTES_H

#include "service/route.h"

/* Sorted by path, ended by {0}. */
extern const struct route placement_routes[];

/* ---- placements.c - POST /v1/placements: independent jobs to resources. */

extern const struct json_object placements_request_json;
extern const struct json_object placements_answer_json;

handler_fn post_placements;

/* Room for the times of jobs on resources one by one, if the request has any. */
struct placement_in;
enum error_code placement_reserve(struct request *rq, const struct placement_in *in);

/* ---- selections.c - POST /v1/selections: which of the ready jobs start now. */

extern const struct json_object selections_request_json;
extern const struct json_object selections_answer_json;

handler_fn post_selections;

#endif

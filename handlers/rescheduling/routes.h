/* routes.h - the endpoints of this room. */
#ifndef GRIDPLAN_RESCHEDULING_ROUTES_H
#define GRIDPLAN_RESCHEDULING_ROUTES_H

#include "service/route.h"

/* Sorted by path, ended by {0}. */
extern const struct route rescheduling_routes[];

/* ---- reschedules.c - POST /v1/reschedules: what to do with running jobs after an event.
 */

extern const struct json_object reschedules_request_json;
extern const struct json_object reschedules_answer_json;

handler_fn post_reschedules;

/* ---- rescheduling_plans.c - POST /v1/rescheduling-plans: phases to machines, and moves.
 */

extern const struct json_object rescheduling_plans_request_json;
extern const struct json_object rescheduling_plans_answer_json;

handler_fn post_rescheduling_plans;

#endif

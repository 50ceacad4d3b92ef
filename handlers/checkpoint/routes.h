/* routes.h - the endpoints of this room. */
#ifndef GRIDPLAN_CHECKPOINT_ROUTES_H
#define GRIDPLAN_CHECKPOINT_ROUTES_H

#include "service/route.h"

/* Sorted by path, ended by {0}. */
extern const struct route checkpoint_routes[];

/* ---- checkpoint_intervals.c - POST /v1/checkpoint-intervals: when to checkpoint jobs;
 * its tables in checkpoint_request.c and checkpoint_answer.c. */

extern const struct json_object checkpoint_intervals_request_json;
extern const struct json_object checkpoint_intervals_answer_json;

handler_fn post_checkpoint_intervals;

#endif

/* routes.h - the endpoints of this room. */
#ifndef GRIDPLAN_CLAIMING_ROUTES_H
#define GRIDPLAN_CLAIMING_ROUTES_H

#include "service/route.h"

/* Sorted by path, ended by {0}. */
extern const struct route claiming_routes[];

/* ---- claims.c - POST /v1/claims: getting the processors of a placed job. */

extern const struct json_object claims_request_json;
extern const struct json_object claims_answer_json;

handler_fn post_claims;

/* ---- queue_scans.c - POST /v1/queue-scans: which placement queue is next, and its scan.
 */

extern const struct json_object queue_scans_request_json;
extern const struct json_object queue_scans_answer_json;

handler_fn post_queue_scans;

#endif

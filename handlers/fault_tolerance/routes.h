/* routes.h - the endpoints of this room. */
#ifndef GRIDPLAN_FAULT_TOLERANCE_ROUTES_H
#define GRIDPLAN_FAULT_TOLERANCE_ROUTES_H

#include "service/route.h"

/* Sorted by path, ended by {0}. */
extern const struct route fault_tolerance_routes[];

/* ---- fault_tolerance_plans.c - POST /v1/fault-tolerance-plans: checkpoints, copies,
 * both. */

extern const struct json_object fault_tolerance_plans_request_json;

handler_fn post_fault_tolerance_plans;

/* ---- replica_counts.c - POST /v1/replica-counts: how many copies of each job. */

extern const struct json_object replica_counts_request_json;

handler_fn post_replica_counts;

#endif

/* coallocations.h - POST /v1/coallocations and what belongs to it. */
#ifndef GRIDPLAN_COALLOCATIONS_H
#define GRIDPLAN_COALLOCATIONS_H

#include "service/route.h"

/* coallocations.c */
extern const struct json_object coallocations_request_json;
extern const struct json_object coallocations_answer_json;
handler_fn post_coallocations;

/* coallocation_transfers.c: transfer times, and where replicas are. */
extern const struct json_object transfer_estimates_request_json;
extern const struct json_object transfer_estimates_answer_json;
extern const struct json_object replica_lookups_request_json;
extern const struct json_object replica_lookups_answer_json;
handler_fn post_transfer_estimates;
handler_fn post_replica_lookups;

/* coallocation_reservations.c: when processors can be reserved. */
extern const struct json_object reservation_plans_request_json;
extern const struct json_object reservation_plans_answer_json;
handler_fn post_reservation_plans;

/* coallocation_advice.c: rules that come before or beside a placement. */
extern const struct json_object coallocation_advice_request_json;
extern const struct json_object coallocation_advice_answer_json;
extern const struct json_object acquire_plans_request_json;
extern const struct json_object acquire_plans_answer_json;
extern const struct json_object replication_advice_request_json;
extern const struct json_object replication_advice_answer_json;
handler_fn post_coallocation_advice;
handler_fn post_acquire_plans;
handler_fn post_replication_advice;

#endif

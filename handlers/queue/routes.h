/* routes.h - the endpoints of this room. */
#ifndef GRIDPLAN_QUEUE_ROUTES_H
#define GRIDPLAN_QUEUE_ROUTES_H

#include "service/route.h"

/* Sorted by path, ended by {0}. */
extern const struct route queue_routes[];

/* ---- queue_orders.c - POST /v1/queue-orders: which waiting jobs of a batch queue start.
 */

extern const struct json_object queue_orders_request_json;
extern const struct json_object queue_orders_answer_json;

handler_fn post_queue_orders;

#endif

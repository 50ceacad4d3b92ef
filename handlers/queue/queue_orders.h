/* queue_orders.h - POST /v1/queue-orders: which waiting jobs of a batch queue start. */
#ifndef GRIDPLAN_QUEUE_ORDERS_H
#define GRIDPLAN_QUEUE_ORDERS_H

#include "service/route.h"

extern const struct json_object queue_orders_request_json;
extern const struct json_object queue_orders_answer_json;

handler_fn post_queue_orders;

#endif

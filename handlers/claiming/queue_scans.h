/* queue_scans.h - POST /v1/queue-scans: which placement queue is next, and its scan. */
#ifndef GRIDPLAN_QUEUE_SCANS_H
#define GRIDPLAN_QUEUE_SCANS_H

#include "service/route.h"

extern const struct json_object queue_scans_request_json;
extern const struct json_object queue_scans_answer_json;

handler_fn post_queue_scans;

#endif

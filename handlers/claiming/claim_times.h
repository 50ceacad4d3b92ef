/* claim_times.h - two modes of POST /v1/claims: timeline, queue. */
#ifndef GRIDPLAN_CLAIM_TIMES_H
#define GRIDPLAN_CLAIM_TIMES_H

#include "service/route.h"

extern const struct json_object claim_timeline_request_json;
extern const struct json_object claim_timeline_answer_json;
extern const struct json_object claim_queue_request_json;
extern const struct json_object claim_queue_answer_json;

handler_fn claim_timeline, claim_queue;

#endif

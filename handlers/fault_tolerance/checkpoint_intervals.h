/* checkpoint_intervals.h - POST /v1/checkpoint-intervals: when to checkpoint jobs. */
#ifndef GRIDPLAN_CHECKPOINT_INTERVALS_H
#define GRIDPLAN_CHECKPOINT_INTERVALS_H

#include "service/route.h"

extern const struct json_object checkpoint_intervals_request_json;
extern const struct json_object checkpoint_intervals_answer_json;

handler_fn post_checkpoint_intervals;

#endif

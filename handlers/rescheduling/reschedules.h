/* reschedules.h - POST /v1/reschedules: what to do with running jobs after an event. */
#ifndef GRIDPLAN_RESCHEDULES_H
#define GRIDPLAN_RESCHEDULES_H

#include "service/route.h"

extern const struct json_object reschedules_request_json;
extern const struct json_object reschedules_answer_json;

handler_fn post_reschedules;

#endif

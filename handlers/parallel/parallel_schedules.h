/* parallel_schedules.h - POST /v1/parallel-schedules: machines for one application. */
#ifndef GRIDPLAN_PARALLEL_SCHEDULES_H
#define GRIDPLAN_PARALLEL_SCHEDULES_H

#include "service/route.h"

extern const struct json_object parallel_schedules_request_json;
extern const struct json_object parallel_schedules_answer_json;

handler_fn post_parallel_schedules;

#endif

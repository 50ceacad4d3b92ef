/* algorithms.h - GET /v1/algorithms: the policy tables, printed. */
#ifndef GRIDPLAN_ALGORITHMS_H
#define GRIDPLAN_ALGORITHMS_H

#include "service/route.h"

extern const struct json_object algorithms_answer_json;
extern const struct json_object algorithms_query_json;

handler_fn get_algorithms;

#endif

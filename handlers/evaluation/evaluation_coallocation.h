/* evaluation_coallocation.h - evaluations of kind "coallocation": what a schedule of
 * co-allocated jobs was worth. */
#ifndef GRIDPLAN_EVALUATION_COALLOCATION_H
#define GRIDPLAN_EVALUATION_COALLOCATION_H

#include "service/route.h"

extern const struct json_object coallocation_evaluation_request_json;
extern const struct json_object coallocation_evaluation_answer_json;

/* A handler of a kind (evaluations.h). */
handler_fn evaluate_coallocation;

#endif

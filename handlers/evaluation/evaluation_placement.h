/* evaluation_placement.h - evaluations of kind "placement": whether a plan of independent
 * jobs can be carried out, and what it is worth. */
#ifndef GRIDPLAN_EVALUATION_PLACEMENT_H
#define GRIDPLAN_EVALUATION_PLACEMENT_H

#include "service/route.h"

extern const struct json_object placement_evaluation_request_json;
extern const struct json_object placement_evaluation_answer_json;

/* A handler of a kind (evaluations.h). */
handler_fn evaluate_placement;

#endif

/* evaluation_workflow.h - evaluations of kind "workflow": what a schedule of tasks that
 * depend on each other is worth. */
#ifndef GRIDPLAN_EVALUATION_WORKFLOW_H
#define GRIDPLAN_EVALUATION_WORKFLOW_H

#include "service/route.h"

extern const struct json_object workflow_evaluation_request_json;
extern const struct json_object workflow_evaluation_answer_json;

/* A handler of a kind (evaluations.h). */
handler_fn evaluate_workflow;

#endif

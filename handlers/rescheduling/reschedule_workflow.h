/* reschedule_workflow.h - reschedules of kind "workflow_round": which running tasks of
 * workflows to move (step 2 of a round), without starting any. */
#ifndef GRIDPLAN_RESCHEDULE_WORKFLOW_H
#define GRIDPLAN_RESCHEDULE_WORKFLOW_H

#include "handlers/workflow/workflow_round_answer.h"

/* The body; the answer is workflow_moves_answer_json. */
extern const struct json_object workflow_round_request_json;

/* A handler of a kind (reschedules.c). */
handler_fn reschedule_workflow_round;

#endif

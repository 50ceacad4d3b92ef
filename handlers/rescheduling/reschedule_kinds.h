/* reschedule_kinds.h - the kinds of POST /v1/reschedules that have files of their own:
 * the tables of each, and its handler (reschedules.c). */
#ifndef GRIDPLAN_RESCHEDULE_KINDS_H
#define GRIDPLAN_RESCHEDULE_KINDS_H

#include "handlers/workflow/workflow_round_answer.h"
#include "service/route.h"

/* A component of a parallel job erred; runners that may be silent. */
extern const struct json_object component_error_request_json;
extern const struct json_object component_error_answer_json;
extern const struct json_object runner_liveness_request_json;
extern const struct json_object runner_liveness_answer_json;
handler_fn reschedule_component_error, reschedule_runner_liveness;

/* Running jobs, and what happened to each of them. */
extern const struct json_object running_jobs_request_json;
extern const struct json_object running_jobs_answer_json;
handler_fn reschedule_running_jobs;

/* Which running tasks of workflows to move (step 2 of a round), without starting any; the
 * answer is workflow_moves_answer_json. */
extern const struct json_object workflow_round_request_json;
handler_fn reschedule_workflow_round;

#endif

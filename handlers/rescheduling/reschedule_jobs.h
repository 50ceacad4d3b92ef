/* reschedule_jobs.h - a kind of POST /v1/reschedules: running jobs, and what happened to
 * each of them. */
#ifndef GRIDPLAN_RESCHEDULE_JOBS_H
#define GRIDPLAN_RESCHEDULE_JOBS_H

#include "service/route.h"

extern const struct json_object running_jobs_request_json;
extern const struct json_object running_jobs_answer_json;

handler_fn reschedule_running_jobs;

#endif

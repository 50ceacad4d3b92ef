/* simulation_queue.h - simulations of kind "queue": a job log on a batch system.
 *
 * The jobs are those of an uploaded log (workload_id), of a log in the body (swf), or
 * given one by one. A text body is such a log, with the other members as parameters.
 */
#ifndef GRIDPLAN_SIMULATION_QUEUE_H
#define GRIDPLAN_SIMULATION_QUEUE_H

#include "service/route.h"

extern const struct json_object queue_simulation_request_json;
extern const struct json_object queue_simulation_answer_json;

/* Parameters of POST /v1/simulations with a text body. */
extern const struct json_object queue_simulation_query_json;

/* Parameters of the next one. */
extern const struct json_object queue_schedule_query_json;

/* A handler of a kind (simulations.h). */
handler_fn simulate_queue;

/* GET /v1/simulations/{simulation_id}/schedule: the log as a policy ran it. */
handler_fn get_simulation_schedule;

/* The schedule in SWF that an answer has, of the first policy with one if `policy` is
 * NULL; *swf NULL: none. */
enum error_code queue_schedule_find(struct request *rq, const char *answer,
                                    const char *policy, const char **swf);

#endif

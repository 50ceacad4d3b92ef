/* simulation_coallocation.h - simulations of kind "coallocation": parallel jobs with
 * files on clusters with local jobs.
 *
 * Everything that a request leaves out is what the source's experiment with that stream
 * of jobs had.
 */
#ifndef GRIDPLAN_SIMULATION_COALLOCATION_H
#define GRIDPLAN_SIMULATION_COALLOCATION_H

#include "service/route.h"

extern const struct json_object coallocation_simulation_request_json;
extern const struct json_object coallocation_simulation_answer_json;

/* A handler of a kind (simulations.h). */
handler_fn simulate_coallocation;

#endif

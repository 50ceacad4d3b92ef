/* simulation_multi_phase.h - simulations of kind "multi_phase": an application of
 * several phases on clusters whose loads change, under several ways of planning. */
#ifndef GRIDPLAN_SIMULATION_MULTI_PHASE_H
#define GRIDPLAN_SIMULATION_MULTI_PHASE_H

#include "service/route.h"

extern const struct json_object multi_phase_simulation_request_json;
extern const struct json_object multi_phase_simulation_answer_json;

/* A handler of a kind (simulations.h). */
handler_fn simulate_multi_phase;

#endif

/* simulation_workflow.h - simulations of kind "workflow": workflows on a grid under load,
 * scheduled in rounds.
 *
 * Everything that a request leaves out is as in the preset.
 */
#ifndef GRIDPLAN_SIMULATION_WORKFLOW_H
#define GRIDPLAN_SIMULATION_WORKFLOW_H

#include "service/route.h"

extern const struct json_object workflow_simulation_request_json;
extern const struct json_object workflow_simulation_answer_json;

/* A handler of a kind (simulations.h). */
handler_fn simulate_workflows;

#endif

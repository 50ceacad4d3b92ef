/* cluster_simulation.h - simulations of kind "cluster": what queue and checkpoint
 * policies do on a site whose nodes fail.
 *
 * Played by algorithms/cluster_replay. Source: spec reliability.md 8.
 */
#ifndef GRIDPLAN_CLUSTER_SIMULATION_H
#define GRIDPLAN_CLUSTER_SIMULATION_H

#include "service/route.h"

extern const struct json_object cluster_simulation_request_json;
extern const struct json_object cluster_simulation_answer_json;

/* A handler of a kind (simulations.h). */
handler_fn simulate_cluster;

#endif

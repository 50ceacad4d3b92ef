/* simulation_policies.h - the policies that a simulation compares, by their names. */
#ifndef GRIDPLAN_SIMULATION_POLICIES_H
#define GRIDPLAN_SIMULATION_POLICIES_H

#include "handlers/simulation/simulation_json.h"

/* Looks up every algorithm in the families dispatch, replication, fault-tolerance,
 * placement, checkpoint and vm, and binds its options. The name of a checkpoint policy
 * stands for fault-tolerance's migration with it; "pinned" for no scheduler at all, so
 * that only jobs with a resource_id run. *labels has body->compare_count entries.
 * Collects every mistake. */
enum error_code simulation_policies(const struct simulation_request *body,
                                    const struct simulation_label **labels,
                                    struct arena *a, struct error *err);

#endif

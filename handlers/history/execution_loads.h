/* execution_loads.h - the load that runs had, from the load samples that are stored. */
#ifndef GRIDPLAN_EXECUTION_LOADS_H
#define GRIDPLAN_EXECUTION_LOADS_H

#include "models/execution.h"
#include "service/route.h"

/* A run without a load, and the machines that it ran on. */
struct execution_load {
    struct execution *run; /* cpu_available_ratio and bandwidth_mbps are filled in */
    const char *const *resource_ids;
    size_t resource_count; /* >= 1 */
    bool filled;
};

/* Fills in the least of the machines' means and of the means of the links between them
 * that the samples have, of the time of the run, or of the EXECUTION_LOAD_LEAST_S around
 * its middle if it was shorter. The CPU stays unknown unless each machine has samples. */
#define EXECUTION_LOAD_LEAST_S 600.0
enum error_code execution_loads_fill(struct request *rq, struct db_session *db,
                                     struct execution_load *list, size_t count);

#endif

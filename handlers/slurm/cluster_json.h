/* cluster_json.h - how a cluster that was read from Slurm's documents looks in JSON.
 *
 * It is what POST /v1/queue-orders takes as `cluster` and `jobs`.
 */
#ifndef GRIDPLAN_SLURM_CLUSTER_JSON_H
#define GRIDPLAN_SLURM_CLUSTER_JSON_H

#include "models/slurm/cluster.h"
#include "service/json.h"

/* Of struct slurm_cluster: without jobs that wait. */
extern const struct json_object slurm_cluster_json;

extern const struct json_object slurm_job_json;  /* struct slurm_waiting */
extern const struct json_object slurm_loss_json; /* struct slurm_loss_row */

/* A loss as it is printed. */
struct slurm_loss_row {
    const char *what;
    uint64_t count;
    const char *const *examples;
    size_t example_count;
};

#endif

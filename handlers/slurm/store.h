/* store.h - a cluster of Slurm's documents as a stored snapshot. */
#ifndef GRIDPLAN_SLURM_STORE_H
#define GRIDPLAN_SLURM_STORE_H

#include "models/slurm/cluster.h"
#include "service/route.h"

/* The stored snapshot. */
struct slurm_stored {
    const char *snapshot_id;
    uint64_t generation;
};

extern const struct json_object slurm_stored_json;

/* Stores it under that name, or in its place: resources, what runs, reservations and
 * partitions as all decisions look at them, and the whole cluster for queues. Its "now"
 * is that of the documents, and times are seconds from there. ERR_UNAVAILABLE: no
 * database. */
enum error_code slurm_store(struct request *rq, const struct slurm_cluster *cluster,
                            const char *name, struct slurm_stored *out);

#endif

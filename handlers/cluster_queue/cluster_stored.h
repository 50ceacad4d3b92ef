/* cluster_stored.h - the cluster of a snapshot, inline or stored. */
#ifndef GRIDPLAN_CLUSTER_STORED_H
#define GRIDPLAN_CLUSTER_STORED_H

#include "handlers/cluster_queue/cluster_json.h"
#include "models/snapshot.h"
#include "service/route.h"

/* The cluster that a snapshot has for queues, with its times on the scale on which the
 * snapshot's "now" is now_s. *out NULL: it has none. Mistakes are noted at the pointer of
 * the snapshot. Leases of a stored one are not looked at, which the answer says. */
enum error_code cluster_of_snapshot(struct request *rq, const struct snapshot *given,
                                    const char *snapshot_id, double now_s,
                                    const struct cluster_in **out);

/* The same; of a snapshot without a cluster one is made of its resources, partitions, and
 * what runs and is reserved, with the leases of a stored one. */
enum error_code cluster_of_any_snapshot(struct request *rq, const struct snapshot *given,
                                        const char *snapshot_id, double now_s,
                                        const struct cluster_in **out);

/* That cluster as a JSON text. What it has no word for is noted as a warning. */
enum error_code cluster_text_of_world(struct request *rq, const struct snapshot *s,
                                      const char **text);

/* Reads what the member `cluster` of a snapshot says; mistakes are noted below `pointer`.
 * *out NULL when there are any. */
void cluster_text_read(const char *text, const char *pointer,
                       const struct cluster_in **out, struct arena *a, struct error *err);

#endif

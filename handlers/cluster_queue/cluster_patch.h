/* cluster_patch.h - changes of a cluster's partitions, by id, and of its settings, as
 * merge patches (RFC 7396).
 */
#ifndef GRIDPLAN_CLUSTER_PATCH_H
#define GRIDPLAN_CLUSTER_PATCH_H

#include "handlers/cluster_queue/cluster_json.h"
#include "service/route.h"

/* The partitions with what `patch`, {"ID": {"member": value, ...}, ...}, changes: members
 * that it names have its values, null the default; an id that is not there is one more
 * partition. Mistakes are noted below `pointer`, and then the list is not to be used. */
const struct cluster_partition_in *
cluster_patched_partitions(struct request *rq, const struct cluster_partition_in *list,
                           size_t count, const char *patch, const char *pointer,
                           size_t *patched_count);

/* Settings with what `patch`, {"member": value, "priority": {"member": value}}, changes
 * in *to: null is the default, amounts by name are replaced as a whole. Mistakes are
 * noted below `pointer`, and then *to stays as it is. */
void cluster_patch_settings(struct request *rq, const char *patch, const char *pointer,
                            struct cluster_settings_in *to);

#endif

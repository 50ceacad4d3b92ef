/* coallocation_stored.h - stored snapshots as multiclusters. */
#ifndef GRIDPLAN_COALLOCATION_STORED_H
#define GRIDPLAN_COALLOCATION_STORED_H

#include "algorithms/coallocation/grid.h"
#include "service/route.h"

#define CO_SNAPSHOT_ID_ROW(T)                                                          \
    JSON_ID(                                                                           \
        T, snapshot_id, JSON_NULLABLE,                                                 \
        "Instead of snapshot: a stored one (/v1/snapshots); its resources are summed " \
        "up by site_id",                                                               \
        JSON_NOT_WITH("snapshot"))

/* The snapshot of a decision: the one given, or the stored one that is named. Exactly one
 * may be given; with `required` one must. *out NULL: none is. */
enum error_code co_snapshot_find(struct request *rq, const struct co_snapshot *given,
                                 const char *snapshot_id, bool required,
                                 const struct co_snapshot **out);

#endif

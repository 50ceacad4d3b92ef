/* replica_counts.h - POST /v1/replica-counts: how many copies of each job. */
#ifndef GRIDPLAN_REPLICA_COUNTS_H
#define GRIDPLAN_REPLICA_COUNTS_H

#include "service/route.h"

extern const struct json_object replica_counts_request_json;

handler_fn post_replica_counts;

#endif

/* replica_counts.c - POST /v1/replica-counts: how many copies of each job. */
#include "handlers/fault_tolerance/routes.h"

#include "algorithms/replication/replication.h"
#include "handlers/common/snapshot_json.h"
#include "handlers/fault_tolerance/rounds.h"

#define T struct round_request
static const struct json_field request_rows[] = {
    ROUND_REQUEST_ROWS(T),
    {0},
};
#undef T
const struct json_object replica_counts_request_json = {
    "ReplicaCountsRequest", "Jobs, their copies, and the resources for more",
    sizeof(struct round_request), request_rows};

enum error_code post_replica_counts(struct request *rq, const void *in, void *out)
{
    return round_answer_request(rq, in, replication_policies, "failure_dependent", out);
}

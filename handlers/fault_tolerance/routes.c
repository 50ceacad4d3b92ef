/* routes.c - the endpoints of this room.
 *
 * A row: method, path, operation and tag of the description, handler; body, answer and
 * query tables; which thread, which scope, flags; documentation; prefix of its examples.
 */
#include "handlers/fault_tolerance/routes.h"

#include "handlers/common/tags.h"
#include "handlers/fault_tolerance/rounds.h"

const struct route fault_tolerance_routes[] = {
    {"POST", "/v1/fault-tolerance-plans", "decideFaultTolerancePlans",
     TAG_FAULT_TOLERANCE, post_fault_tolerance_plans, &fault_tolerance_plans_request_json,
     &round_answer_json, NULL, WORK_COMPUTE, SCOPE_DECIDE,
     ROUTE_DECISION | ROUTE_IDEMPOTENT_KEY | ROUTE_LONG | ROUTE_LOOKS_UP,
     "Checkpoints, copies, or both?",
     "What a grid scheduler should do now about failures: which copies to start and to "
     "cancel, and which jobs to checkpoint. combined swings between copies and "
     "checkpoints with the load, migration restarts from the last checkpoint, and "
     "expected_time takes for each job the remedy of least expected time within a limit "
     "of cost, and shows them all.",
     "fault_tolerance-"},
    {"POST", "/v1/replica-counts", "decideReplicaCounts", TAG_FAULT_TOLERANCE,
     post_replica_counts, &replica_counts_request_json, &round_answer_json, NULL,
     WORK_COMPUTE, SCOPE_DECIDE,
     ROUTE_DECISION | ROUTE_IDEMPOTENT_KEY | ROUTE_LONG | ROUTE_LOOKS_UP,
     "How many copies of each job, and where?",
     "From the resources with their load and the unfinished jobs with their copies: the "
     "copies to start and to cancel now, how many each job has and should have, and why "
     "others get none. Copies of a job never share a resource.",
     "replication-"},
    {0},
};

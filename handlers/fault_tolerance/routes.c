/* routes.c - the endpoints of this room.
 *
 * A row: method, path, operation and tag of the description, handler; body, answer and
 * query tables; which thread, which scope, flags; documentation; prefix of its examples.
 */
#include "handlers/fault_tolerance/routes.h"

#include "handlers/common/tags.h"
#include "handlers/fault_tolerance/rounds.h"

const struct route fault_tolerance_routes[] = {
    {"POST", "/v1/checkpoint-intervals", "decideCheckpointIntervals", TAG_FAULT_TOLERANCE,
     post_checkpoint_intervals, &checkpoint_intervals_request_json,
     &checkpoint_intervals_answer_json, NULL, WORK_INLINE, SCOPE_DECIDE,
     ROUTE_DECISION | ROUTE_IDEMPOTENT_KEY | ROUTE_LONG | ROUTE_LOOKS_UP,
     "How often should jobs checkpoint?",
     "For each job whether to checkpoint now, the work until the next request, and the "
     "expected time it costs: from the overhead of a checkpoint and the failures of its "
     "resource, which the job, the snapshot or the stored history tells. The overhead of "
     "a job that does not say it is learnt from the checkpoint logs of its application. "
     "On request also as settings of DMTCP, FTI, SCR, Slurm and VeloC.",
     "checkpoint-"},
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

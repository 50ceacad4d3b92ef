/* routes.c - the endpoints of this room.
 *
 * A row: method, path, operation and tag of the description, handler; body, answer and
 * query tables; which thread, which scope, flags; documentation; prefix of its examples.
 */
#include "handlers/checkpoint/routes.h"

#include "handlers/common/tags.h"

const struct route checkpoint_routes[] = {
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
    {0},
};

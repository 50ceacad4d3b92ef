/* routes.c - the endpoints of this room.
 *
 * A row: method, path, operation and tag of the description, handler; body, answer and
 * query tables; which thread, which scope, flags; documentation; prefix of its examples.
 */
#include "handlers/rescheduling/routes.h"

#include "handlers/common/tags.h"

const struct route rescheduling_routes[] = {
    {"POST", "/v1/reschedules", "decideReschedules", TAG_PLACEMENT, post_reschedules,
     &reschedules_request_json, &reschedules_answer_json, NULL, WORK_COMPUTE,
     SCOPE_DECIDE,
     ROUTE_DECISION | ROUTE_IDEMPOTENT_KEY | ROUTE_LONG | ROUTE_LOOKS_UP |
         ROUTE_ANSWERS_CHART,
     "What happens to running jobs after an event?",
     "kind phase_end, the default: at the end of a phase of a multi-phase application "
     "keep it, give it a new plan, or migrate it, and where to. It moves when a machine "
     "is "
     "gone, at the stop phase of its plan, or when predictions fail, if that saves time. "
     "component_error: what to do when a component of a parallel job erred, which sites "
     "have erred too often. runner_liveness: whose runners have crashed. running_jobs, "
     "also meant by algorithm gridway: one round that starts pending jobs and moves, "
     "retries or holds running ones, by events, failures and contracts. workflow_round, "
     "also meant by algorithm balanced and its kin: which running tasks of workflows to "
     "move, as POST /v1/workflow-schedules does, without starts. All of the state comes "
     "with the request.",
     "migration-"},
    {"POST", "/v1/rescheduling-plans", "decideReschedulingPlans", TAG_PARALLEL,
     post_rescheduling_plans, &rescheduling_plans_request_json,
     &rescheduling_plans_answer_json, NULL, WORK_COMPUTE, SCOPE_DECIDE,
     ROUTE_DECISION | ROUTE_IDEMPOTENT_KEY | ROUTE_LONG | ROUTE_LOOKS_UP |
         ROUTE_ANSWERS_CHART,
     "Where does each phase run, and when does the application move?",
     "For one application whose phases follow each other: intervals of phases, the site "
     "and the machines of each, and what the moves between them cost. Machines are those "
     "on which the phases of an interval take least together; an interval lasts at least "
     "min_interval_s. Costs of moving are given, worked out from the checkpoint, "
     "learnt from reported moves, or 120 and 300 s. Sites, models and past waits of "
     "batch queues are looked up when they are named, or missing. The plan holds for "
     "the loads given: make it anew from time to time, or ask POST /v1/reschedules.",
     "plan-"},
    {0},
};

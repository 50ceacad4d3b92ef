/* routes.c - the endpoints of this room.
 *
 * A row: method, path, operation and tag of the description, handler; body, answer and
 * query tables; which thread, which scope, flags; documentation; prefix of its examples.
 */
#include "handlers/coallocation/routes.h"

#include "handlers/coallocation/coallocations.h"
#include "handlers/common/tags.h"

const struct route coallocation_routes[] = {
    {"POST", "/v1/coallocations", "decideCoallocations", TAG_COALLOCATION,
     post_coallocations, &coallocations_request_json, &coallocations_answer_json, NULL,
     WORK_COMPUTE, SCOPE_DECIDE,
     ROUTE_DECISION | ROUTE_IDEMPOTENT_KEY | ROUTE_LONG | ROUTE_LOOKS_UP |
         ROUTE_ANSWERS_CHART,
     "Which clusters should run a parallel job, near its files?",
     "Gives every component of a job a site with enough processors and a replica of its "
     "file, splits flexible jobs, and says what to transfer, when to claim and when it "
     "starts; how far the longest transfer is from a lower bound; for a job without a "
     "place why, what came nearest, and whether it can ever fit.",
     "coallocation-"},
    {"POST", "/v1/coallocations/acquire-plans", "createAcquirePlan", TAG_COALLOCATION,
     post_acquire_plans, &acquire_plans_request_json, &acquire_plans_answer_json, NULL,
     WORK_INLINE, SCOPE_DECIDE, ROUTE_DECISION | ROUTE_IDEMPOTENT_KEY | ROUTE_LONG,
     "Which site to acquire next, and what to give back?",
     "For jobs that acquire several sites one after the other: all or nothing, or one "
     "order for all jobs, which cannot deadlock.",
     "acquire-plan"},
    {"POST", "/v1/coallocations/advice", "adviseCoallocation", TAG_COALLOCATION,
     post_coallocation_advice, &coallocation_advice_request_json,
     &coallocation_advice_answer_json, NULL, WORK_INLINE, SCOPE_DECIDE,
     ROUTE_DECISION | ROUTE_IDEMPOTENT_KEY | ROUTE_LONG,
     "Should a job be spread over several sites?",
     "One site if one has room; several if that slows the job down by no more than "
     "max_slowdown; else wait, and which sites to watch.",
     "co-allocate-or-not"},
    {"POST", "/v1/coallocations/flow-steps", "planFlowStep", TAG_COALLOCATION,
     post_flow_steps, &flow_steps_request_json, &flow_steps_answer_json, NULL,
     WORK_INLINE, SCOPE_DECIDE, ROUTE_DECISION | ROUTE_IDEMPOTENT_KEY | ROUTE_LONG,
     "What is next for a parallel job?",
     "From the state of a job and an event the next state, and what the scheduler does.",
     "flow-"},
    {"POST", "/v1/coallocations/launch-plans", "createLaunchPlan", TAG_COALLOCATION,
     post_launch_plans, &launch_plans_request_json, &launch_plans_answer_json, NULL,
     WORK_INLINE, SCOPE_DECIDE, ROUTE_DECISION | ROUTE_IDEMPOTENT_KEY | ROUTE_LONG,
     "How is a placed job launched?",
     "By its runner: the order of its components, a barrier, a nameserver, and what to "
     "do before and after.",
     "launch-"},
    {"POST", "/v1/coallocations/replica-lookups", "planReplicaLookup", TAG_COALLOCATION,
     post_replica_lookups, &replica_lookups_request_json, &replica_lookups_answer_json,
     NULL, WORK_INLINE, SCOPE_DECIDE, 0, "Where are copies of these files?",
     "The sites with a copy of each file, as the snapshot tells, or else the catalogue, "
     "and the files without any.",
     "replica-lookup"},
    {"POST", "/v1/coallocations/replication-advice", "adviseReplication",
     TAG_COALLOCATION, post_replication_advice, &replication_advice_request_json,
     &replication_advice_answer_json, NULL, WORK_INLINE, SCOPE_DECIDE,
     ROUTE_DECISION | ROUTE_IDEMPOTENT_KEY | ROUTE_LONG,
     "Which files should be copied where?",
     "The files that are read most, and for each the sites that read it and have no "
     "copy.",
     "file-replication"},
    {"POST", "/v1/coallocations/reservation-plans", "createReservationPlan",
     TAG_COALLOCATION, post_reservation_plans, &reservation_plans_request_json,
     &reservation_plans_answer_json, NULL, WORK_COMPUTE, SCOPE_DECIDE,
     ROUTE_DECISION | ROUTE_IDEMPOTENT_KEY | ROUTE_LONG,
     "When can processors on several sites be reserved together?",
     "The first time at which the windows of all sites leave enough processors for the "
     "whole duration; or, for a fuzzy job, the best time, number of processors and sites "
     "by a list of criteria.",
     "reservation-plan"},
    {"POST", "/v1/coallocations/transfer-estimates", "planTransferEstimate",
     TAG_COALLOCATION, post_transfer_estimates, &transfer_estimates_request_json,
     &transfer_estimates_answer_json, NULL, WORK_INLINE, SCOPE_DECIDE,
     ROUTE_DECISION | ROUTE_IDEMPOTENT_KEY | ROUTE_LONG | ROUTE_LOOKS_UP,
     "How long does a file take to each site?",
     "Every replica's time to every site, and the replica that a placement would take.",
     "transfer-estimate"},
    {0},
};

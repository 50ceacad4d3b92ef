/* routes.c - the endpoints of this room.
 *
 * A row: method, path, operation and tag of the description, handler; body, answer and
 * query tables; which thread, which scope, flags; documentation; prefix of its examples.
 */
#include "handlers/claiming/routes.h"

#include "handlers/common/tags.h"

const struct route claiming_routes[] = {
    {"POST", "/v1/claims", "decideClaims", TAG_COALLOCATION, post_claims,
     &claims_request_json, &claims_answer_json, NULL, WORK_COMPUTE, SCOPE_DECIDE,
     ROUTE_DECISION | ROUTE_IDEMPOTENT_KEY | ROUTE_LONG | ROUTE_LOOKS_UP,
     "Can a placed job get its processors?",
     "One try of incremental claiming: which components of a placed job start now, which "
     "get another site from where they are still in time, which jobs of lower priority "
     "give way, and when to try again. At its start an atomic job gets all or nothing "
     "and "
     "is placed again. kind timeline: when the tries would be; kind queue: the order of "
     "the claiming queue.",
     "claim-"},
    {"POST", "/v1/queue-scans", "decideQueueScans", TAG_COALLOCATION, post_queue_scans,
     &queue_scans_request_json, &queue_scans_answer_json, NULL, WORK_COMPUTE,
     SCOPE_DECIDE, ROUTE_DECISION | ROUTE_IDEMPOTENT_KEY | ROUTE_LONG | ROUTE_LOOKS_UP,
     "Which waiting parallel jobs are placed now?",
     "Chooses the next of the placement queues by their weights, and places what fits, "
     "head first. Others keep their position with one more try, rise a level, or fail. "
     "The queues come with the request and go back with the answer.",
     "scan-"},
    {0},
};

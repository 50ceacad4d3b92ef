/* routes.c - the endpoints of this room.
 *
 * A row: method, path, operation and tag of the description, handler; body, answer and
 * query tables; which thread, which scope, flags; documentation; prefix of its examples.
 */
#include "handlers/placement/routes.h"

#include "handlers/common/tags.h"

const struct route placement_routes[] = {
    {"POST", "/v1/placements", "decidePlacements", TAG_PLACEMENT, post_placements,
     &placements_request_json, &placements_answer_json, NULL, WORK_COMPUTE, SCOPE_DECIDE,
     ROUTE_DECISION | ROUTE_IDEMPOTENT_KEY | ROUTE_LONG | ROUTE_ANSWERS_CHART |
         ROUTE_LOOKS_UP,
     "Which resource should run which job?",
     "Places independent jobs on resources: where and when each runs, why others have no "
     "place, "
     "and how far the plan is from a lower bound. Times are seconds from now, the moment "
     "of the "
     "snapshot.",
     "placement-"},
    {"POST", "/v1/selections", "decideSelections", TAG_PLACEMENT, post_selections,
     &selections_request_json, &selections_answer_json, NULL, WORK_COMPUTE, SCOPE_DECIDE,
     ROUTE_DECISION | ROUTE_IDEMPOTENT_KEY | ROUTE_LONG | ROUTE_LOOKS_UP,
     "Which of these ready jobs should start now?",
     "The most weight that fits now, priorities one after the other, in one pool of "
     "amounts or on the resources of a snapshot, with a bound and mostly its proof. A "
     "job "
     "may stand for many alike. It decides what POST /v1/placements decides with the "
     "objective started_now_weight.",
     "selection-"},
    {0},
};

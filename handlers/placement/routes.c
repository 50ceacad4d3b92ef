/* routes.c - the endpoints of this room.
 *
 * A row: method, path, handler; body, answer and query tables; which thread, which
 * scope, flags; documentation; prefix of its examples. */
#include "handlers/placement/routes.h"

const struct route placement_routes[] = {
    {"POST", "/v1/placements", post_placements, &placements_request_json,
     &placements_answer_json, NULL, WORK_COMPUTE, SCOPE_DECIDE,
     ROUTE_DECISION | ROUTE_IDEMPOTENT_KEY | ROUTE_LONG | ROUTE_ANSWERS_CHART,
     "Which resource should run which job?",
     "Places independent jobs on resources: where and when each runs, why others have no "
     "place, "
     "and how far the plan is from a lower bound. Times are seconds from now, the moment "
     "of the "
     "snapshot.",
     "placement-"},
    {0},
};

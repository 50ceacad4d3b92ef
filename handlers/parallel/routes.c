/* routes.c - the endpoints of this room.
 *
 * A row: method, path, operation and tag of the description, handler; body, answer and
 * query tables; which thread, which scope, flags; documentation; prefix of its examples.
 */
#include "handlers/parallel/routes.h"

#include "handlers/common/tags.h"
#include "handlers/parallel/parallel_schedules.h"

const struct route parallel_routes[] = {
    {"POST", "/v1/parallel-schedules", "decideParallelSchedules", TAG_PARALLEL,
     post_parallel_schedules, &parallel_schedules_request_json,
     &parallel_schedules_answer_json, NULL, WORK_COMPUTE, SCOPE_DECIDE,
     ROUTE_DECISION | ROUTE_IDEMPOTENT_KEY | ROUTE_LONG | ROUTE_LOOKS_UP |
         ROUTE_ANSWERS_CHART,
     "Which machines should run one tightly coupled application?",
     "The set of machines of one site, and their number, with the least predicted run "
     "time: all of a set wait for its slowest cpu and its slowest link. On batch sites "
     "the wait for so many machines counts too. The model comes with the request as "
     "terms "
     "or as a combination, or is a stored one, by name or by application and site. Sites "
     "come with the request, or are those of a stored snapshot, with the load that the "
     "stored samples let expect. Every answer has a lower bound; exact and auto prove "
     "the "
     "optimum where links are alike, uplinks or a tree, and mostly elsewhere.",
     "parallel-"},
    {0},
};

/* routes.c - the endpoints of this room.
 *
 * A row: method, path, operation and tag of the description, handler; body, answer and
 * query tables; which thread, which scope, flags; documentation; prefix of its examples.
 */
#include "handlers/learning/routes.h"

#include "handlers/common/tags.h"

const struct route learning_routes[] = {
    {"POST", "/v1/resource-sizings", "decideResourceSizings", TAG_MODELS,
     post_resource_sizings, &sizing_request_json, &sizing_answer_json, NULL, WORK_COMPUTE,
     SCOPE_DECIDE, ROUTE_DECISION | ROUTE_IDEMPOTENT_KEY | ROUTE_LONG | ROUTE_LOOKS_UP,
     "How much memory to ask for?",
     "For each task the requests of its first and of all further attempts that waste "
     "least: what is held and not used, and what a failed attempt costs. From what a "
     "model "
     "of kind auto has learnt of the application's memory_peak_bytes, which comes by "
     "itself with the second execution that says its peak. A task whose attempt failed "
     "is "
     "sent again with attempt and memory_requested_bytes.",
     "sizing-"},
    {0},
};

/* routes.c - the endpoints of this room.
 *
 * A row: method, path, operation and tag of the description, handler; body, answer and
 * query tables; which thread, which scope, flags; documentation; prefix of its examples.
 */
#include "handlers/evaluation/routes.h"

#include "handlers/common/tags.h"

const struct route evaluation_routes[] = {
    {"POST", "/v1/evaluations", "evaluate", TAG_DECISIONS, post_evaluation,
     &any_evaluation_request_json, &any_evaluation_answer_json, NULL, WORK_COMPUTE,
     SCOPE_DECIDE, ROUTE_DECISION | ROUTE_IDEMPOTENT_KEY | ROUTE_LONG | ROUTE_LOOKS_UP,
     "What is a schedule worth?",
     "kind coallocation: from what became of co-allocated jobs the shares of the "
     "processors that they used, held waiting (PWT) and left to others (PGT), times in "
     "the placement queues and until the start, spread over sites, failures; for each "
     "job, for each size, for all. kind placement: whether a plan of independent jobs on "
     "resources, with amounts, groups and predecessors, can be carried out, each rule "
     "that it breaks, and how far it is from bounds by nine objectives. kind workflow: "
     "whether a schedule of tasks that "
     "depend on each other can be run, what it breaks, how far it is from a lower bound, "
     "and what becomes of it when its times are made right.",
     "evaluation-"},
    {0},
};

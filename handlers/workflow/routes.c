/* routes.c - the endpoints of this room.
 *
 * A row: method, path, operation and tag of the description, handler; body, answer and
 * query tables; which thread, which scope, flags; documentation; prefix of its examples.
 */
#include "handlers/workflow/routes.h"

#include "handlers/common/tags.h"
#include "handlers/workflow/workflow_schedules.h"

const struct route workflow_routes[] = {
    {"POST", "/v1/workflow-schedules", "decideWorkflowSchedules", TAG_WORKFLOWS,
     post_workflow_schedules, &workflow_schedules_request_json,
     &workflow_schedules_answer_json, &workflow_schedules_query_json, WORK_COMPUTE,
     SCOPE_DECIDE,
     ROUTE_DECISION | ROUTE_IDEMPOTENT_KEY | ROUTE_LONG | ROUTE_TAKES_WORKFLOW |
         ROUTE_ANSWERS_CHART | ROUTE_ANSWERS_GRAPH | ROUTE_LOOKS_UP,
     "Where and when should the tasks of workflows run?",
     "Tasks that need each other's outputs. A static algorithm (heft, cpop, peft, "
     "search, auto) schedules all of them to the end, around what runs or is done. A "
     "dynamic one (balanced and others) decides one round: which running tasks to move, "
     "so that those that a dependent waits for end together, and which ready ones to "
     "start; ask again after a while. Run times are given for each resource, or follow "
     "from speeds; transfers from times, or from bytes and links. The body may be "
     "another tool's file too, with the settings as parameters: a Pegasus DAX "
     "(application/xml), a Standard Task Graph (text/plain), or WfFormat "
     "(application/vnd.wfcommons.wfformat+json).",
     "workflow"},
    {0},
};

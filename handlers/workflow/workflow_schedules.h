/* workflow_schedules.h - POST /v1/workflow-schedules: where and when the tasks of
 * workflows run; one round for workflows that run already.
 *
 * The answer is one of two objects, told apart by `kind`: "schedule" of a static
 * algorithm, "round" of a dynamic one (workflow_round_answer.h).
 */
#ifndef GRIDPLAN_WORKFLOW_SCHEDULES_H
#define GRIDPLAN_WORKFLOW_SCHEDULES_H

#include "algorithms/workflow/workflow.h"
#include "handlers/workflow/workflow_json.h"

extern const struct json_object
    workflow_schedules_request_json; /* struct workflow_body */
extern const struct json_object workflow_schedules_answer_json;

/* Settings of a body that is another tool's file: they become members of the request. */
extern const struct json_object workflow_schedules_query_json;

/* What a static algorithm answers, also for those who draw it. */
struct workflow_schedule_answer {
    int kind; /* only "schedule" */
    struct decision_answer decision;
    struct workflow_out plan;
    const struct workflow_unplaced_answer *unplaced;
    size_t unplaced_count;
    const struct workflow_import *import; /* NULL: no file was given */
    const struct run_time_basis *run_times;
    size_t run_time_count;
};
extern const struct json_object workflow_schedule_answer_json;
extern const struct json_object workflow_placement_json; /* a task of it */

handler_fn post_workflow_schedules;

#endif

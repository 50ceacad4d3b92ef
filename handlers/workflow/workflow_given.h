/* workflow_given.h - rows of schedules that requests bring, as answers have them. */
#ifndef GRIDPLAN_WORKFLOW_GIVEN_JSON_H
#define GRIDPLAN_WORKFLOW_GIVEN_JSON_H

#include "algorithms/workflow/given.h"
#include "service/json.h"

struct workflow_given_row {
    struct workflow_given given;
    double data_ready_s, transfer_from_s; /* this and what follows is not looked at */
    int status, remaining_source;
    bool next;
    const char *partition_id, *run_time_basis;
    double run_time_index;
};

/* Of a schedule to be assessed, and of one to start from; struct workflow_given_row. */
extern const struct json_object workflow_evaluation_row_json, workflow_initial_row_json;

/* What is looked at. */
const struct workflow_given *workflow_given_of(const struct workflow_given_row *rows,
                                               size_t count, struct arena *a);

#endif

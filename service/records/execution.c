/* execution.c - an observed run of an application, or of one of its phases. */
#include "service/records/execution.h"

#include "service/records/records.h"

#define EXECUTION_NULLABLE 0
RECORD_TABLES(execution, EXECUTION_ROWS);

const struct json_object execution_json = {
    "Execution", "An observed run of an application, or of one of its phases",
    sizeof(struct execution), execution_fields};

void execution_check(struct record_check *check, const void *item)
{
    const struct execution *e = item;

    record_check_instant(check, "started_at", e->started_at_s);
    record_check_whole(check, "phase_index", e->phase_index);
    record_check_whole(check, "processors", e->processors);
    record_check_whole(check, "exit_code", e->exit_code);
    record_check_whole(check, "model_version", e->model_version);
    if (e->parameters && e->parameters[0] != '{')
        record_mistake(check, "parameters", ITEM_WRONG_TYPE, "must be an object");
}

const struct record execution_record = {
    .table = "execution",
    .json = &execution_json,
    .columns = execution_columns,
    .at = "started_at",
    .check = execution_check,
    .lock_base = 7453010373643072000,
};

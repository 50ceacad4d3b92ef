/* execution.c - an observed run of an application, or of one of its phases. */
#include "service/records/execution.h"

#include "service/records/records.h"

const char *const run_failure_names[] = {
#define X(symbol, name) #name,
    RUN_FAILURES(X)
#undef X
        NULL,
};

#define RUN_TIME_MAX_S     1e9
#define EXECUTION_NULLABLE 0
RECORD_TABLES(execution, EXECUTION_ROWS);

const struct json_object execution_json = {
    "Execution", "An observed run of an application, or of one of its phases",
    sizeof(struct execution), execution_fields};

void execution_check(struct record_check *check, const void *item)
{
    const struct execution *e = item;

    record_check_instant(check, "started_at", e->started_at_s);
    if (e->failure_kind == RUN_FAILURE_MEMORY && e->exit_code == 0)
        record_mistake(check, "failure_kind", ITEM_CONFLICT,
                       "a run that failed has no exit_code 0");
    if (e->run_time_s > RUN_TIME_MAX_S)
        record_mistake(check, "run_time_s", ITEM_OUT_OF_BOUNDS,
                       "must be at most 1e9, which is 31 years");
    if (e->parameters && e->parameters[0] != '{')
        record_mistake(check, "parameters", ITEM_WRONG_TYPE, "must be an object");
}

static enum error_code complete(void *item, struct arena *a, struct error *err)
{
    struct execution *e = item;

    (void)a;
    (void)err;
    if (e->failure_kind == RUN_FAILURE_UNSAID)
        e->failure_kind = isnan(e->exit_code) || e->exit_code == 0 ? RUN_FAILURE_NONE
                                                                   : RUN_FAILURE_ERROR;
    return OK;
}

const struct record execution_record = {
    .table = "execution",
    .json = &execution_json,
    .columns = execution_columns,
    .at = "started_at",
    .check = execution_check,
    .complete = complete,
    .lock_base = 7453010373643072000,
    .part_rows = 250000, /* each statement brings what is learnt up to date */
};

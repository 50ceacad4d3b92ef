/* checkpoint_log.c - a job's request for a checkpoint, and what it cost. */
#include "models/checkpoint_log.h"
#include "service/records/records.h"

#include <math.h>

static const char *const actions[] = {"take", "omit", NULL};
_Static_assert(sizeof(enum checkpoint_log_action) == sizeof(int), "a choice is an int");

enum { OPTIONAL = JSON_NULLABLE | JSON_OPTIONAL };

/* clang-format off */
#define T struct checkpoint_log
#define ROWS(ROW) \
    ROW(job_id, DB_TEXT, RECORD_KEY | RECORD_FILTER, \
        JSON_ID(T, job_id, JSON_REQUIRED, \
                "The job; a log of the same job and requested_at is stored once")) \
    ROW(application_id, DB_TEXT, RECORD_FILTER, \
        JSON_ID(T, application_id, JSON_REQUIRED, \
                "The application that it runs: its checkpoints cost alike")) \
    ROW(resource_id, DB_TEXT, RECORD_FILTER, \
        JSON_ID(T, resource_id, OPTIONAL, "Where it ran")) \
    ROW(requested_at, DB_INSTANT, RECORD_KEY, \
        JSON_INSTANT(T, requested_at, JSON_REQUIRED, "When the checkpoint was asked for")) \
    ROW(action, DB_TEXT, 0, \
        JSON_CHOICE(T, action, actions, CHECKPOINT_LOG_TAKE, JSON_REQUIRED, \
                    "What was done: take or omit")) \
    ROW(interval_before_s, DB_NUMBER, 0, \
        JSON_NUMBER(T, interval_before_s, 0, CHECKPOINT_FIGURE_MAX_S, NAN, OPTIONAL, \
                    "Interval in force before the request")) \
    ROW(interval_after_s, DB_NUMBER, 0, \
        JSON_NUMBER(T, interval_after_s, 0, CHECKPOINT_FIGURE_MAX_S, NAN, OPTIONAL, \
                    "Interval in force after it")) \
    ROW(overhead_s, DB_NUMBER, 0, \
        JSON_NUMBER(T, overhead_s, 0, CHECKPOINT_FIGURE_MAX_S, NAN, OPTIONAL, \
                    "How long the job stood still for it; not with omit")) \
    ROW(stored_after_s, DB_NUMBER, 0, \
        JSON_NUMBER(T, stored_after_s, 0, CHECKPOINT_FIGURE_MAX_S, NAN, OPTIONAL, \
                    "From the end of the overhead until it was safe; not with omit")) \
    ROW(restart_s, DB_NUMBER, 0, \
        JSON_NUMBER(T, restart_s, 0, CHECKPOINT_FIGURE_MAX_S, NAN, OPTIONAL, \
                    "How long a restart from it took; not with omit")) \
    ROW(bytes, DB_NUMBER, 0, \
        JSON_NUMBER(T, bytes, 0, JSON_LARGEST, NAN, OPTIONAL, \
                    "Size of the checkpoint; not with omit"))
/* clang-format on */
RECORD_TABLES(log, ROWS);

static const struct json_object checkpoint_log_json = {
    "CheckpointLog", "A job's request for a checkpoint, and what it cost", sizeof(T),
    log_fields};

static void check_log(struct record_check *check, const void *item)
{
    const struct checkpoint_log *log = item;
    const struct {
        const char *name;
        double value;
    } costs[] = {
        {"overhead_s", log->overhead_s},
        {"stored_after_s", log->stored_after_s},
        {"restart_s", log->restart_s},
        {"bytes", log->bytes},
    };

    record_check_instant(check, "requested_at", log->requested_at_s);
    for (size_t i = 0; i < sizeof(costs) / sizeof(costs[0]); i++)
        if (log->action == CHECKPOINT_LOG_OMIT && !isnan(costs[i].value))
            record_mistake(check, costs[i].name, ITEM_CONFLICT,
                           "a checkpoint that was omitted has no such figure");
}

const struct record checkpoint_log_record = {
    .table = "checkpoint_log",
    .json = &checkpoint_log_json,
    .columns = log_columns,
    .at = "requested_at",
    .check = check_log,
};

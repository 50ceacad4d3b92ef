/* workflow_given.c - rows of schedules that requests bring, as answers have them. */
#include "handlers/workflow/workflow_given.h"

#include "algorithms/workflow/words.h"
#include "handlers/workflow/workflow_json.h"

#include <math.h>

enum { RESOURCES_MAX = 100000 };

#define AS_ANSWERED "As answers have it; not looked at"
#define T           struct workflow_given_row

#define NAME_ROW(m, text, flag_bits)                                       \
    {                                                                      \
        .name = #m, .doc = (text), .type = JSON_TYPE_TEXT,                 \
        .offset = JSON_AT(T, given.m, const char *), .min = 1, .max = 256, \
        .flags = (flag_bits)                                               \
    }
#define TIME_ROW(m, text, flag_bits)                                 \
    {                                                                \
        .name = #m, .doc = (text), .type = JSON_TYPE_NUMBER,         \
        .offset = JSON_AT(T, given.m, double), .min = -JSON_LARGEST, \
        .max = JSON_LARGEST, .preset = NAN, .flags = (flag_bits)     \
    }
#define SLOT_ROW(text)                                                              \
    {                                                                               \
        .name = "slot", .doc = (text), .type = JSON_TYPE_NUMBER,                    \
        .offset = JSON_AT(T, given.slot, double), .max = JSON_EXACT, .preset = NAN, \
        .flags = JSON_NULLABLE                                                      \
    }
#define NAME_ROWS                                                                       \
    NAME_ROW(workflow_id, "Its workflow; may be missing when there is one",             \
             JSON_NULLABLE),                                                            \
        NAME_ROW(task_id, "The task", JSON_REQUIRED),                                   \
        NAME_ROW(resource_id,                                                           \
                 "Where it runs; not null of a task that has not begun, unless it has " \
                 "resource_ids",                                                        \
                 JSON_NULLABLE),                                                        \
    {                                                                                   \
        .name = "resource_ids",                                                         \
        .doc = "Where a task on several nodes runs: all of them",                       \
        .type = JSON_TYPE_TEXTS,                                                        \
        .offset = JSON_AT(T, given.resource_ids, const char *const *),                  \
        .count_offset = JSON_AT(T, given.resource_id_count, size_t),                    \
        .max = RESOURCES_MAX                                                            \
    }
#define ANSWERED_ROWS                                                                    \
    JSON_NUMBER(T, data_ready_s, -JSON_LARGEST, JSON_LARGEST, NAN, JSON_NULLABLE,        \
                AS_ANSWERED),                                                            \
        JSON_NUMBER(T, transfer_from_s, -JSON_LARGEST, JSON_LARGEST, NAN, JSON_NULLABLE, \
                    AS_ANSWERED),                                                        \
        JSON_CHOICE(T, status, workflow_status_names, 0, 0, AS_ANSWERED),                \
        JSON_BOOLEAN(T, next, 0, 0, AS_ANSWERED),                                        \
        JSON_CHOICE(T, remaining_source, workflow_source_names, 0, 0, AS_ANSWERED),      \
        JSON_TEXT(T, partition_id, JSON_NULLABLE, AS_ANSWERED),                          \
        JSON_NUMBER(T, run_time_index, 0, JSON_EXACT, NAN, JSON_NULLABLE, AS_ANSWERED),  \
    {                                                                                    \
        .name = "run_time_basis", .doc = AS_ANSWERED, .type = JSON_TYPE_RAW,             \
        .offset = JSON_AT(T, run_time_basis, const char *)                               \
    }

static const struct json_field evaluation_rows[] = {
    NAME_ROWS,
    TIME_ROW(start_s,
             "When it starts, seconds from now; not null of a task that has not begun",
             JSON_REQUIRED | JSON_NULLABLE),
    TIME_ROW(finish_s, "When it is done; default: start_s and its run time there",
             JSON_NULLABLE),
    SLOT_ROW(AS_ANSWERED),
    ANSWERED_ROWS,
    {0},
};
const struct json_object workflow_evaluation_row_json = {
    "WorkflowEvaluationRow", "Where and when a task is to run", sizeof(T),
    evaluation_rows};

static const struct json_field initial_rows[] = {
    NAME_ROWS,
    TIME_ROW(start_s,
             "When it starts, seconds from now; if a row of a task that has not begun "
             "lacks it, all are placed one by one as they stand",
             JSON_NULLABLE),
    TIME_ROW(finish_s, AS_ANSWERED, JSON_NULLABLE),
    SLOT_ROW("Slot of the resource, from 0; any if it is not said"),
    ANSWERED_ROWS,
    {0},
};
const struct json_object workflow_initial_row_json = {
    "WorkflowInitialRow", "A task of a schedule to start a search from", sizeof(T),
    initial_rows};

const struct workflow_given *workflow_given_of(const struct workflow_given_row *rows,
                                               size_t count, struct arena *a)
{
    struct workflow_given *list = NEW(a, struct workflow_given, count);

    for (size_t i = 0; i < count; i++)
        list[i] = rows[i].given;
    return list;
}

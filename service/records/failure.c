/* failure.c - a time in which a resource was down. */
#include "models/failure_history.h"
#include "service/records/records.h"

#include <math.h>

enum { LEVEL_MAX = 6 };
_Static_assert(sizeof(enum failure_kind) == sizeof(int), "a choice is an int");

/* clang-format off */
#define T struct failure
#define ROWS(ROW) \
    ROW(resource_id, DB_TEXT, RECORD_KEY | RECORD_FILTER, \
        JSON_ID(T, resource_id, JSON_REQUIRED, "The resource that failed")) \
    ROW(down_at, DB_INSTANT, RECORD_KEY, \
        JSON_INSTANT(T, down_at, JSON_REQUIRED, "When it went down")) \
    ROW(up_at, DB_INSTANT, 0, \
        JSON_INSTANT(T, up_at, JSON_NULLABLE | JSON_MAY_BE_NULL, \
                     "When it was up again, not before down_at; null: still down")) \
    ROW(cause, DB_TEXT, 0, \
        JSON_TEXT(T, cause, JSON_NULLABLE | JSON_OPTIONAL, \
                  "Free text: hardware, network ...")) \
    ROW(component, DB_TEXT, RECORD_KEY_OR_EMPTY, \
        JSON_TEXT(T, component, JSON_NULLABLE | JSON_OPTIONAL, \
                  "The part that failed; default: the whole resource")) \
    ROW(kind, DB_TEXT, 0, \
        JSON_CHOICE(T, kind, failure_kind_names, FAILURE_FAILURE, 0, \
                    "failure: it kills the jobs of the resource, and counts; " \
                    "maintenance: the resource is not at risk meanwhile; degraded: " \
                    "neither; default failure")) \
    ROW(site_id, DB_TEXT, 0, \
        JSON_ID(T, site_id, JSON_NULLABLE | JSON_OPTIONAL, "Site of the resource")) \
    ROW(detected_at, DB_INSTANT, 0, \
        JSON_INSTANT(T, detected_at, JSON_NULLABLE | JSON_OPTIONAL, \
                     "When it was noticed, not before down_at")) \
    ROW(boot_id, DB_TEXT, 0, \
        JSON_TEXT(T, boot_id, JSON_NULLABLE | JSON_OPTIONAL, "Boot that it ended")) \
    ROW(level, DB_WHOLE, 0, \
        JSON_NUMBER(T, level, 1, LEVEL_MAX, NAN, \
                    JSON_NULLABLE | JSON_OPTIONAL | JSON_WHOLE, \
                    "Lowest level of checkpoints that survives it"))
/* clang-format on */
RECORD_TABLES(failure, ROWS);

static const struct json_object failure_json = {
    "Failure", "A time in which a resource was down", sizeof(T), failure_fields};

static void check_failure(struct record_check *check, const void *item)
{
    const struct failure *f = item;

    record_check_instant(check, "down_at", f->down_at_s);
    record_check_instant(check, "up_at", f->up_at_s);
    record_check_instant(check, "detected_at", f->detected_at_s);
    if (f->up_at_s < f->down_at_s)
        record_mistake(check, "up_at", ITEM_OUT_OF_BOUNDS, "up_at is before down_at");
    if (f->detected_at_s < f->down_at_s)
        record_mistake(check, "detected_at", ITEM_OUT_OF_BOUNDS,
                       "detected_at is before down_at");
}

const struct record failure_record = {
    .table = "failure",
    .json = &failure_json,
    .columns = failure_columns,
    .at = "down_at",
    .check = check_failure,
};

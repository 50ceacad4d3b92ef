/* reschedule_event.c - a move of a running application, and what it cost. */
#include "models/reschedule_event.h"
#include "service/records/records.h"

#include <math.h>

enum { OPTIONAL = JSON_NULLABLE | JSON_OPTIONAL };

/* clang-format off */
#define T struct reschedule_event
#define ROWS(ROW) \
    ROW(run_id, DB_TEXT, RECORD_KEY | RECORD_FILTER, \
        JSON_ID(T, run_id, JSON_REQUIRED, \
                "The run of the application; a move of the same run and moved_at is " \
                "stored once")) \
    ROW(from_site_id, DB_TEXT, RECORD_FILTER, \
        JSON_ID(T, from_site_id, JSON_REQUIRED, "The site that it left")) \
    ROW(to_site_id, DB_TEXT, RECORD_FILTER, \
        JSON_ID(T, to_site_id, JSON_REQUIRED, \
                "The site that it went to; the same: to other machines there")) \
    ROW(phase, DB_WHOLE, 0, \
        JSON_NUMBER(T, phase, 1, RESCHEDULE_PHASES_MAX, NAN, OPTIONAL | JSON_WHOLE, \
                    "The phase at whose end it moved, from 1")) \
    ROW(checkpoint_bytes, DB_NUMBER, 0, \
        JSON_NUMBER(T, checkpoint_bytes, 0, JSON_LARGEST, NAN, OPTIONAL, \
                    "Size of the checkpoint that moved")) \
    ROW(cost_s, DB_NUMBER, 0, \
        JSON_NUMBER(T, cost_s, 0, 1e9, NAN, JSON_REQUIRED, \
                    "From its stop until it went on; without the wait in a batch queue, " \
                    "which plans add themselves")) \
    ROW(predicted_saving_s, DB_NUMBER, 0, \
        JSON_NUMBER(T, predicted_saving_s, -JSON_LARGEST, JSON_LARGEST, NAN, OPTIONAL, \
                    "What the move was to save")) \
    ROW(moved_at, DB_INSTANT, RECORD_KEY, \
        JSON_INSTANT(T, moved_at, JSON_REQUIRED, "When it stopped"))
/* clang-format on */
RECORD_TABLES(event, ROWS);

static const struct json_object reschedule_event_json = {
    "RescheduleEvent", "A move of a running application, and what it cost", sizeof(T),
    event_fields};

static void check_event(struct record_check *check, const void *item)
{
    const struct reschedule_event *e = item;

    record_check_instant(check, "moved_at", e->moved_at_s);
}

const struct record reschedule_event_record = {
    .table = "reschedule_event",
    .json = &reschedule_event_json,
    .columns = event_columns,
    .at = "moved_at",
    .check = check_event,
};

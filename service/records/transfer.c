/* transfer.c - a file that was copied to another site: how long it took, beside the time
 * that it should have taken. Decisions that ask for it correct their estimates by that.
 */
#include "service/records/records.h"
#include "service/store_claim.h"

#include <math.h>
#include <string.h>

enum { OPTIONAL = JSON_NULLABLE | JSON_OPTIONAL };

/* clang-format off */
#define T struct store_transfer
#define ROWS(ROW) \
    ROW(from_site_id, DB_TEXT, RECORD_KEY | RECORD_FILTER, \
        JSON_ID(T, from_site_id, JSON_REQUIRED, "Site that sent it")) \
    ROW(to_site_id, DB_TEXT, RECORD_KEY | RECORD_FILTER, \
        JSON_ID(T, to_site_id, JSON_REQUIRED, "Site that received it, another one")) \
    ROW(file_id, DB_TEXT, RECORD_KEY_OR_EMPTY, \
        JSON_ID(T, file_id, OPTIONAL, "The file")) \
    ROW(job_id, DB_TEXT, RECORD_KEY_OR_EMPTY, \
        JSON_ID(T, job_id, OPTIONAL, "The job that needed it")) \
    ROW(bytes, DB_NUMBER, 0, \
        JSON_NUMBER(T, bytes, 0, JSON_LARGEST, NAN, JSON_REQUIRED, "What was moved")) \
    ROW(estimated_s, DB_NUMBER, 0, \
        JSON_NUMBER(T, estimated_s, 1e-6, 1e12, NAN, JSON_REQUIRED, \
                    "How long it should have taken: estimated_s of the placement, as it " \
                    "was before any correction")) \
    ROW(actual_s, DB_NUMBER, 0, \
        JSON_NUMBER(T, actual_s, 1e-6, 1e12, NAN, JSON_REQUIRED, "How long it took")) \
    ROW(finished_at, DB_INSTANT, RECORD_KEY, \
        JSON_INSTANT(T, finished_at, JSON_REQUIRED, "When it was there"))
/* clang-format on */
RECORD_TABLES(transfer, ROWS);

static const struct json_object transfer_json = {"ReportedTransfer",
                                                 "A file that was copied to another site",
                                                 sizeof(T), transfer_fields};

static void check_transfer(struct record_check *check, const void *item)
{
    const struct store_transfer *t = item;

    record_check_instant(check, "finished_at", t->finished_at_s);
    if (strcmp(t->from_site_id, t->to_site_id) == 0)
        record_mistake(check, "to_site_id", ITEM_CONFLICT,
                       "nothing is copied inside a site: it must be another one");
}

const struct record transfer_record = {
    .table = "transfer_actual",
    .json = &transfer_json,
    .columns = transfer_columns,
    .at = "finished_at",
    .check = check_transfer,
};

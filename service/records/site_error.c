/* site_error.c - what components met with on a site: how many failed by its fault, and
 * how many started well, so that there is a rate of failures. */
#include "service/records/records.h"
#include "service/store_claim.h"

#include <math.h>

#define COUNT_MAX 1e9

enum { OPTIONAL = JSON_NULLABLE | JSON_OPTIONAL };

/* clang-format off */
#define T struct store_site_error
#define ROWS(ROW) \
    ROW(site_id, DB_TEXT, RECORD_KEY | RECORD_FILTER, \
        JSON_ID(T, site_id, JSON_REQUIRED, "The site")) \
    ROW(observed_at, DB_INSTANT, RECORD_KEY, \
        JSON_INSTANT(T, observed_at, JSON_REQUIRED, "When it was seen")) \
    ROW(error_count, DB_WHOLE, 0, \
        JSON_NUMBER(T, error_count, 0, COUNT_MAX, 1, JSON_WHOLE, \
                    "Components that failed by its fault since the report before; " \
                    "default 1")) \
    ROW(start_count, DB_WHOLE, 0, \
        JSON_NUMBER(T, start_count, 0, COUNT_MAX, 0, JSON_WHOLE, \
                    "Components that started well there since then; default 0")) \
    ROW(consecutive_errors, DB_WHOLE, 0, \
        JSON_NUMBER(T, consecutive_errors, 0, COUNT_MAX, NAN, OPTIONAL | JSON_WHOLE, \
                    "Errors in a row up to now")) \
    ROW(unusable, DB_BOOLEAN, 0, \
        JSON_BOOLEAN(T, unusable, 0, 0, \
                     "The scheduler does without it from now on; default false")) \
    ROW(job_id, DB_TEXT, RECORD_KEY_OR_EMPTY | RECORD_FILTER, \
        JSON_ID(T, job_id, OPTIONAL, "The job")) \
    ROW(message, DB_TEXT, 0, \
        JSON_TEXT(T, message, OPTIONAL, "For people"))
/* clang-format on */
RECORD_TABLES(error, ROWS);

static const struct json_object site_error_json = {
    "SiteErrorReport", "What components met with on a site", sizeof(T), error_fields};

static void check_report(struct record_check *check, const void *item)
{
    const struct store_site_error *e = item;

    record_check_instant(check, "observed_at", e->observed_at_s);
    if (e->error_count == 0 && e->start_count == 0)
        record_mistake(check, "error_count", ITEM_REQUIRED,
                       "neither an error nor a good start: there is nothing to report");
}

const struct record site_error_record = {
    .table = "site_error",
    .json = &site_error_json,
    .columns = error_columns,
    .at = "observed_at",
    .check = check_report,
};

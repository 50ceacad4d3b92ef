/* claim_attempt.c - a try of a placed job to get its processors. A claim that asks for it
 * chooses its L by them. */
#include "models/claim_attempt.h"
#include "service/records/records.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SITES_MAX = 1000, OPTIONAL = JSON_NULLABLE | JSON_OPTIONAL };

_Static_assert(sizeof(enum claim_decision) == sizeof(int), "a choice is an int");
static const char *const decisions[] = {
    [CLAIM_START_ALL] = "start_all", [CLAIM_START_PARTIAL] = "start_partial",
    [CLAIM_WAIT] = "wait",           [CLAIM_REQUEUE_PLACEMENT] = "requeue_placement",
    [CLAIM_FAIL] = "fail",           NULL};

/* clang-format off */
#define T struct claim_attempt
#define ROWS(ROW) \
    ROW(job_id, DB_TEXT, RECORD_KEY | RECORD_FILTER, \
        JSON_ID(T, job_id, JSON_REQUIRED, \
                "The job; a try of the same job and attempted_at is stored once")) \
    ROW(attempted_at, DB_INSTANT, RECORD_KEY, \
        JSON_INSTANT(T, attempted_at, JSON_REQUIRED, "When it was made")) \
    ROW(site_ids, DB_JSON, 0, \
        JSON_TEXTS(T, site_ids, site_count, SITES_MAX, JSON_REQUIRED, \
                   "Sites that the job was placed on, in any order")) \
    ROW(processors, DB_WHOLE, 0, \
        JSON_NUMBER(T, processors, 1, 1e9, NAN, JSON_REQUIRED | JSON_WHOLE, \
                    "Its processors on all of them")) \
    ROW(l_value, DB_NUMBER, 0, \
        JSON_NUMBER(T, l_value, 0, 1, NAN, JSON_REQUIRED, "Its L in this placement")) \
    ROW(claim_tries, DB_WHOLE, 0, \
        JSON_NUMBER(T, claim_tries, 1, 1e9, 1, JSON_WHOLE, \
                    "Number of the try, from 1; default 1")) \
    ROW(fraction_f, DB_NUMBER, 0, \
        JSON_NUMBER(T, fraction_f, 0, 1, NAN, OPTIONAL, \
                    "Share of its components that had started or could")) \
    ROW(ftt_s, DB_NUMBER, 0, \
        JSON_NUMBER(T, ftt_s, 0, 1e12, NAN, OPTIONAL, "Time of its longest transfer")) \
    ROW(decision, DB_TEXT, 0, \
        JSON_CHOICE(T, decision, decisions, CLAIM_START_ALL, JSON_REQUIRED, \
                    "What POST /v1/claims said: start_all is a success; " \
                    "requeue_placement and fail are none; the others do not end the " \
                    "placement"))
/* clang-format on */
RECORD_TABLES(attempt, ROWS);

static const struct json_object claim_attempt_json = {
    "ClaimAttempt", "A try of a placed job to get its processors", sizeof(T),
    attempt_fields};

static void check_attempt(struct record_check *check, const void *item)
{
    const struct claim_attempt *t = item;

    record_check_instant(check, "attempted_at", t->attempted_at_s);
    if (t->site_count == 0)
        record_mistake(check, "site_ids", ITEM_REQUIRED, "the list is empty");
}

static int by_name(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* The sites are a set: each once, sorted bytewise. */
static enum error_code sort_sites(void *item, struct arena *a, struct error *err)
{
    struct claim_attempt *t = item;
    const char **sorted = TRY_NEW(a, const char *, t->site_count + 1);
    size_t count = 0;

    if (!sorted)
        return fail_memory(err);
    memcpy(sorted, t->site_ids, t->site_count * sizeof(*sorted));
    if (t->site_count > 0)
        qsort(sorted, t->site_count, sizeof(*sorted), by_name);
    for (size_t i = 0; i < t->site_count; i++)
        if (i == 0 || strcmp(sorted[count - 1], sorted[i]) != 0)
            sorted[count++] = sorted[i];
    t->site_ids = sorted;
    t->site_count = count;
    return OK;
}

const struct record claim_attempt_record = {
    .table = "claim_attempt",
    .json = &claim_attempt_json,
    .columns = attempt_columns,
    .at = "attempted_at",
    .check = check_attempt,
    .complete = sort_sites,
    .other = "site_id",
    .other_doc = "Tries of jobs on this site, and others; default: any",
    .other_sql = "site_ids ?",
};

/* claim_attempts.c - /v1/claim-attempts: what became of tries to claim.
 *
 * A claim that asks for it chooses its L by them (claim_choice.c).
 *
 * Source: spec coallocation.md 19.
 */
#include "handlers/site_history/claim_attempts.h"

#include "algorithms/coallocation/claim.h"
#include "handlers/common/bulk.h"
#include "handlers/common/page.h"
#include "service/store_claim.h"

#include <stdlib.h>
#include <string.h>

enum { SITES_MAX = 1000 };

/* A try as it is in JSON. */
struct attempt {
    const char *job_id;
    double attempted_at_s;
    const char *const *site_ids;
    size_t site_count;
    double processors, l_value, claim_tries, fraction_f, ftt_s;
    enum co_claim_decision decision;
};

struct attempts_query {
    struct page_query page;
    struct range_query range;
    int order;
    const char *job_id, *site_id;
};

struct attempts_page {
    const struct attempt *claim_attempts;
    size_t attempt_count;
    const char *next_page_token;
};

#define T struct attempt
static const struct json_field attempt_rows[] = {
    JSON_ID(T, job_id, JSON_REQUIRED,
            "The job; a try of the same job and attempted_at is stored once"),
    JSON_INSTANT(T, attempted_at, JSON_REQUIRED, "When it was made"),
    JSON_TEXTS(T, site_ids, site_count, SITES_MAX, JSON_REQUIRED,
               "Sites that the job was placed on, in any order"),
    JSON_NUMBER(T, processors, 1, 1e9, NAN, JSON_REQUIRED,
                "Its processors on all of them"),
    JSON_NUMBER(T, l_value, 0, 1, NAN, JSON_REQUIRED, "Its L in this placement"),
    JSON_NUMBER(T, claim_tries, 1, 1e9, 1, 0, "Number of the try, from 1; default 1"),
    JSON_NUMBER(T, fraction_f, 0, 1, NAN, JSON_NULLABLE | JSON_OPTIONAL,
                "Share of its components that had started or could"),
    JSON_NUMBER(T, ftt_s, 0, 1e12, NAN, JSON_NULLABLE | JSON_OPTIONAL,
                "Time of its longest transfer"),
    JSON_CHOICE(T, decision, co_claim_decision_names, CO_START_ALL, JSON_REQUIRED,
                "What POST /v1/claims said: start_all is a success; requeue_placement "
                "and fail are none; the others do not end the placement"),
    {0},
};
#undef T
_Static_assert(sizeof(enum co_claim_decision) == sizeof(int), "a choice is an int");
const struct json_object claim_attempt_json = {
    "ClaimAttempt", "A try of a placed job to get its processors", sizeof(struct attempt),
    attempt_rows};

#define T struct attempts_query
static const struct json_field query_rows[] = {
    JSON_ID(T, job_id, 0, "Tries of this job only; default: any"),
    JSON_ID(T, site_id, 0, "Tries of jobs on this site, and others; default: any"),
    RANGE_ROWS(T),
    ORDER_ROW(T),
    PAGE_ROWS(T),
    {0},
};
#undef T
const struct json_object claim_attempts_query_json = {
    "ClaimAttemptsQuery", "Which tries, by attempted_at", sizeof(struct attempts_query),
    query_rows};

#define T struct attempts_page
static const struct json_field page_rows[] = {
    JSON_LIST(T, claim_attempts, attempt_count, struct attempt, &claim_attempt_json, 0, 0,
              "The tries by attempted_at; site_ids by name, each once"),
    NEXT_PAGE_ROW(T),
    {0},
};
#undef T
const struct json_object claim_attempts_page_json = {
    "ClaimAttemptsPage", "A page of claim attempts", sizeof(struct attempts_page),
    page_rows};

/* ---- sets of sites ---- */

static int by_name(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

enum error_code claim_site_set(const char *const *site_ids, size_t count,
                               const char **text, struct arena *a, struct error *err)
{
    const char **sorted = NEW(a, const char *, count);
    struct text_buffer b = {.arena = a};

    for (size_t i = 0; i < count; i++)
        sorted[i] = site_ids[i];
    if (count)
        qsort(sorted, count, sizeof(*sorted), by_name);
    text_add(&b, "[", 1);
    for (size_t i = 0; i < count; i++) {
        if (i && strcmp(sorted[i - 1], sorted[i]) == 0)
            continue;
        if (i)
            text_add(&b, ",", 1);
        json_print_text(sorted[i], &b);
    }
    text_add(&b, "]", 2); /* with the NUL */
    if (b.failed)
        return fail_memory(err);
    *text = b.data;
    return OK;
}

#define T struct attempt
static const struct json_field set_rows[] = {
    JSON_TEXTS(T, site_ids, site_count, SITES_MAX, JSON_REQUIRED, "A set of sites"),
    {0},
};
#undef T
static const struct json_object set_json = {"ClaimSites", "A set of sites",
                                            sizeof(struct attempt), set_rows};

/* The sites of a stored set. */
static enum error_code read_set(const char *text, struct attempt *out, struct arena *a,
                                struct error *err)
{
    const char *object = arena_printf(a, "{\"site_ids\":%s}", text);
    struct attempt read;

    TRY(json_read(&set_json, object, strlen(object), &read, a, err));
    out->site_ids = read.site_ids;
    out->site_count = read.site_count;
    return OK;
}

/* ---- handlers ---- */

static void check_attempt(struct record_check *check, const void *item)
{
    const struct attempt *t = item;

    record_check_instant(check, "attempted_at", t->attempted_at_s);
    record_check_whole(check, "processors", t->processors);
    record_check_whole(check, "claim_tries", t->claim_tries);
    if (t->site_count == 0)
        record_mistake(check, "site_ids", ITEM_REQUIRED, "the list is empty");
}

enum error_code post_claim_attempts(struct request *rq, const void *in, void *out)
{
    const struct attempt *records;
    struct store_claim_attempt *list;
    struct db_session *db;
    struct bulk_items given;
    const void *items;
    size_t count, stored;

    TRY(bulk_accept(rq, in, sizeof(*records), check_attempt, &given, out));
    items = given.list;
    count = given.count;
    records = items;
    list = NEW(rq->arena, struct store_claim_attempt, count);
    for (size_t i = 0; i < count; i++) {
        const struct attempt *t = &records[i];

        list[i] = (struct store_claim_attempt){
            t->job_id,     t->attempted_at_s, NULL,
            t->processors, t->l_value,        t->claim_tries,
            t->fraction_f, t->ftt_s,          co_claim_decision_names[t->decision]};
        TRY(claim_site_set(t->site_ids, t->site_count, &list[i].site_ids, rq->arena,
                           rq->err));
    }
    TRY(request_db(rq, &db));
    TRY(store_claim_attempts(db, rq->principal.tenant, list, count, &stored, rq->arena,
                             rq->err));
    return bulk_stored(rq, &given, &(struct record_stored){.stored = stored}, out);
}

static enum co_claim_decision decision_of(const char *name)
{
    int i = 0;

    while (co_claim_decision_names[i + 1] &&
           strcmp(co_claim_decision_names[i], name) != 0)
        i++;
    return (enum co_claim_decision)i;
}

enum error_code get_claim_attempts(struct request *rq, const void *in, void *out)
{
    const struct attempts_query *query = rq->query;
    struct attempts_page *page = out;
    struct store_page part = page_of(&query->page);
    struct store_filter filter = {
        .job_id = query->job_id,
        .site_id = query->site_id,
        .from_at_s = query->range.from_at_s,
        .to_at_s = query->range.to_at_s,
        .newest_first = query->order == PAGE_NEWEST_FIRST,
    };
    const struct store_claim_attempt *rows;
    struct attempt *list;
    struct db_session *db;

    (void)in;
    TRY(range_check(&query->range, rq->err));
    TRY(request_db(rq, &db));
    TRY(store_claim_attempts_read(db, rq->principal.tenant, &filter, &part, &rows,
                                  &page->attempt_count, &page->next_page_token, rq->arena,
                                  rq->err));
    list = NEW(rq->arena, struct attempt, page->attempt_count);
    for (size_t i = 0; i < page->attempt_count; i++) {
        const struct store_claim_attempt *t = &rows[i];

        list[i] = (struct attempt){.job_id = t->job_id,
                                   .attempted_at_s = t->attempted_at_s,
                                   .processors = t->processors,
                                   .l_value = t->l_value,
                                   .claim_tries = t->claim_tries,
                                   .fraction_f = t->fraction_f,
                                   .ftt_s = t->ftt_s,
                                   .decision = decision_of(t->decision)};
        TRY(read_set(t->site_ids, &list[i], rq->arena, rq->err));
    }
    page->claim_attempts = list;
    return page_link(rq, page->next_page_token);
}

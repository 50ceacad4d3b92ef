/* site_errors.c - /v1/site-errors: components that failed by the fault of their site.
 *
 * Each report also counts the components that started well, so that there is a rate of
 * failures: POST /v1/reschedules (component_error) takes its thresholds from it when it
 * is asked to.
 *
 * Source: spec coallocation.md 12, 19.
 */
#include "handlers/site_history/routes.h"

#include "handlers/common/bulk.h"
#include "handlers/common/page.h"
#include "service/store_claim.h"

#define COUNT_MAX 1e9

struct errors_query {
    struct page_query page;
    struct range_query range;
    int order;
    const char *site_id, *job_id;
};

struct errors_page {
    const struct store_site_error *site_errors;
    size_t error_count;
    const char *next_page_token;
};

#define T struct store_site_error
static const struct json_field error_rows[] = {
    JSON_ID(T, site_id, JSON_REQUIRED, "The site"),
    JSON_INSTANT(T, observed_at, JSON_REQUIRED, "When it was seen"),
    JSON_NUMBER(T, error_count, 0, COUNT_MAX, 1, 0,
                "Components that failed by its fault since the report before; default 1"),
    JSON_NUMBER(T, start_count, 0, COUNT_MAX, 0, 0,
                "Components that started well there since then; default 0"),
    JSON_NUMBER(T, consecutive_errors, 0, COUNT_MAX, NAN, JSON_NULLABLE | JSON_OPTIONAL,
                "Errors in a row up to now"),
    JSON_BOOLEAN(T, unusable, 0, 0,
                 "The scheduler does without it from now on; default false"),
    JSON_ID(T, job_id, JSON_NULLABLE | JSON_OPTIONAL, "The job"),
    JSON_TEXT(T, message, JSON_NULLABLE | JSON_OPTIONAL, "For people"),
    {0},
};
#undef T
const struct json_object site_error_json = {"SiteErrorReport",
                                            "What components met with on a site",
                                            sizeof(struct store_site_error), error_rows};

#define T struct errors_query
static const struct json_field query_rows[] = {
    JSON_ID(T, site_id, 0, "Reports of this site only; default: any"),
    JSON_ID(T, job_id, 0, "Reports of this job only; default: any"),
    RANGE_ROWS(T),
    ORDER_ROW(T),
    PAGE_ROWS(T),
    {0},
};
#undef T
const struct json_object site_errors_query_json = {
    "SiteErrorsQuery", "Which reports, by observed_at", sizeof(struct errors_query),
    query_rows};

#define T struct errors_page
static const struct json_field page_rows[] = {
    JSON_LIST(T, site_errors, error_count, struct store_site_error, &site_error_json, 0,
              0, "The reports by observed_at"),
    NEXT_PAGE_ROW(T),
    {0},
};
#undef T
const struct json_object site_errors_page_json = {"SiteErrorsPage",
                                                  "A page of reports about sites",
                                                  sizeof(struct errors_page), page_rows};

static void check_report(struct record_check *check, const void *item)
{
    const struct store_site_error *e = item;

    record_check_instant(check, "observed_at", e->observed_at_s);
    record_check_whole(check, "error_count", e->error_count);
    record_check_whole(check, "start_count", e->start_count);
    record_check_whole(check, "consecutive_errors", e->consecutive_errors);
    if (e->error_count == 0 && e->start_count == 0)
        record_mistake(check, "error_count", ITEM_REQUIRED,
                       "neither an error nor a good start: there is nothing to report");
}

enum error_code post_site_errors(struct request *rq, const void *in, void *out)
{
    struct db_session *db;
    struct bulk_items given;
    const void *items;
    size_t count;

    TRY(bulk_accept(rq, in, sizeof(struct store_site_error), check_report, &given, out));
    items = given.list;
    count = given.count;
    TRY(request_db(rq, &db));
    TRY(store_site_errors(db, rq->principal.tenant, items, count, rq->err));
    return bulk_stored(rq, &given, &(struct record_stored){.stored = count}, out);
}

enum error_code get_site_errors(struct request *rq, const void *in, void *out)
{
    const struct errors_query *query = rq->query;
    struct errors_page *page = out;
    struct store_page part = page_of(&query->page);
    struct store_filter filter = {
        .site_id = query->site_id,
        .job_id = query->job_id,
        .from_at_s = query->range.from_at_s,
        .to_at_s = query->range.to_at_s,
        .newest_first = query->order == PAGE_NEWEST_FIRST,
    };
    struct db_session *db;

    (void)in;
    TRY(range_check(&query->range, rq->err));
    TRY(request_db(rq, &db));
    TRY(store_site_errors_read(db, rq->principal.tenant, &filter, &part,
                               &page->site_errors, &page->error_count,
                               &page->next_page_token, rq->arena, rq->err));
    return page_link(rq, page->next_page_token);
}

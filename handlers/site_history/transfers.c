/* transfers.c - /v1/transfers: how long copies of files took.
 *
 * Beside the time that they should have taken: decisions that ask for it correct their
 * estimates for each link (coallocation_refine.c).
 *
 * Source: spec coallocation.md 5, 19.
 */
#include "handlers/site_history/routes.h"

#include "handlers/common/bulk.h"
#include "handlers/common/page.h"
#include "service/store_claim.h"

#include <string.h>

struct transfers_query {
    struct page_query page;
    struct range_query range;
    int order;
    const char *from_site_id, *to_site_id;
};

struct transfers_page {
    const struct store_transfer *transfers;
    size_t transfer_count;
    const char *next_page_token;
};

#define T struct store_transfer
static const struct json_field transfer_rows[] = {
    JSON_ID(T, from_site_id, JSON_REQUIRED, "Site that sent it"),
    JSON_ID(T, to_site_id, JSON_REQUIRED, "Site that received it, another one"),
    JSON_ID(T, file_id, JSON_NULLABLE | JSON_OPTIONAL, "The file"),
    JSON_ID(T, job_id, JSON_NULLABLE | JSON_OPTIONAL, "The job that needed it"),
    JSON_NUMBER(T, bytes, 0, JSON_LARGEST, NAN, JSON_REQUIRED, "What was moved"),
    JSON_NUMBER(T, estimated_s, 1e-6, 1e12, NAN, JSON_REQUIRED,
                "How long it should have taken: estimated_s of the placement, as it was "
                "before any correction"),
    JSON_NUMBER(T, actual_s, 1e-6, 1e12, NAN, JSON_REQUIRED, "How long it took"),
    JSON_INSTANT(T, finished_at, JSON_REQUIRED, "When it was there"),
    {0},
};
#undef T
const struct json_object transfer_json = {"ReportedTransfer",
                                          "A file that was copied to another site",
                                          sizeof(struct store_transfer), transfer_rows};

#define T struct transfers_query
static const struct json_field query_rows[] = {
    JSON_ID(T, from_site_id, 0, "Transfers from this site only; default: any"),
    JSON_ID(T, to_site_id, 0, "Transfers to this site only; default: any"),
    RANGE_ROWS(T),
    ORDER_ROW(T),
    PAGE_ROWS(T),
    {0},
};
#undef T
const struct json_object transfers_query_json = {
    "TransfersQuery", "Which transfers, by finished_at", sizeof(struct transfers_query),
    query_rows};

#define T struct transfers_page
static const struct json_field page_rows[] = {
    JSON_LIST(T, transfers, transfer_count, struct store_transfer, &transfer_json, 0, 0,
              "The transfers by finished_at"),
    NEXT_PAGE_ROW(T),
    {0},
};
#undef T
const struct json_object transfers_page_json = {"TransfersPage", "A page of transfers",
                                                sizeof(struct transfers_page), page_rows};

static void check_transfer(struct record_check *check, const void *item)
{
    const struct store_transfer *t = item;

    record_check_instant(check, "finished_at", t->finished_at_s);
    if (strcmp(t->from_site_id, t->to_site_id) == 0)
        record_mistake(check, "to_site_id", ITEM_CONFLICT,
                       "nothing is copied inside a site: it must be another one");
}

enum error_code post_transfers(struct request *rq, const void *in, void *out)
{
    struct db_session *db;
    struct bulk_items given;
    const void *items;
    size_t count;

    TRY(bulk_accept(rq, in, sizeof(struct store_transfer), check_transfer, &given, out));
    items = given.list;
    count = given.count;
    TRY(request_db(rq, &db));
    TRY(store_transfers(db, rq->principal.tenant, items, count, rq->err));
    return bulk_stored(rq, &given, &(struct record_stored){.stored = count}, out);
}

enum error_code get_transfers(struct request *rq, const void *in, void *out)
{
    const struct transfers_query *query = rq->query;
    struct transfers_page *page = out;
    struct store_page part = page_of(&query->page);
    struct store_filter filter = {
        .from_site_id = query->from_site_id,
        .to_site_id = query->to_site_id,
        .from_at_s = query->range.from_at_s,
        .to_at_s = query->range.to_at_s,
        .newest_first = query->order == PAGE_NEWEST_FIRST,
    };
    struct db_session *db;

    (void)in;
    TRY(range_check(&query->range, rq->err));
    TRY(request_db(rq, &db));
    TRY(store_transfers_read(db, rq->principal.tenant, &filter, &part, &page->transfers,
                             &page->transfer_count, &page->next_page_token, rq->arena,
                             rq->err));
    return page_link(rq, page->next_page_token);
}

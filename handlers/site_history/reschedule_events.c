/* reschedule_events.c - /v1/reschedule-events: moves of running applications.
 *
 * What they cost becomes a running mean for each pair of sites, and for each site: the
 * costs of later plans (plan_costs.c).
 *
 * Source: spec rescheduling-plans.md 2.2, 7.2.
 */
#include "handlers/site_history/routes.h"

#include "algorithms/plan/plan.h"
#include "handlers/common/bulk.h"
#include "handlers/common/page.h"

struct events_query {
    struct page_query page;
    struct range_query range;
    int order;
    const char *run_id, *from_site_id, *to_site_id;
};

struct events_page {
    const struct reschedule_event *reschedule_events;
    size_t event_count;
    const char *next_page_token;
};

#define T struct reschedule_event
static const struct json_field event_rows[] = {
    JSON_ID(T, run_id, JSON_REQUIRED,
            "The run of the application; a move of the same run and moved_at is stored "
            "once"),
    JSON_ID(T, from_site_id, JSON_REQUIRED, "The site that it left"),
    JSON_ID(T, to_site_id, JSON_REQUIRED,
            "The site that it went to; the same: to other machines there"),
    JSON_NUMBER(T, phase, 1, PLAN_PHASES_MAX, NAN, JSON_NULLABLE | JSON_OPTIONAL,
                "The phase at whose end it moved, from 1"),
    JSON_NUMBER(T, checkpoint_bytes, 0, JSON_LARGEST, NAN, JSON_NULLABLE | JSON_OPTIONAL,
                "Size of the checkpoint that moved"),
    JSON_NUMBER(
        T, cost_s, 0, 1e9, NAN, JSON_REQUIRED,
        "From its stop until it went on; without the wait in a batch queue, which "
        "plans add themselves"),
    JSON_NUMBER(T, predicted_saving_s, -JSON_LARGEST, JSON_LARGEST, NAN,
                JSON_NULLABLE | JSON_OPTIONAL, "What the move was to save"),
    JSON_INSTANT(T, moved_at, JSON_REQUIRED, "When it stopped"),
    {0},
};
#undef T
const struct json_object reschedule_event_json = {
    "RescheduleEvent", "A move of a running application, and what it cost",
    sizeof(struct reschedule_event), event_rows};

#define T struct events_query
static const struct json_field query_rows[] = {
    JSON_ID(T, run_id, 0, "Moves of this run only; default: any"),
    JSON_ID(T, from_site_id, 0, "Moves from this site only; default: any"),
    JSON_ID(T, to_site_id, 0, "Moves to this site only; default: any"),
    RANGE_ROWS(T),
    ORDER_ROW(T),
    PAGE_ROWS(T),
    {0},
};
#undef T
const struct json_object reschedule_events_query_json = {
    "RescheduleEventsQuery", "Which moves, by moved_at", sizeof(struct events_query),
    query_rows};

#define T struct events_page
static const struct json_field page_rows[] = {
    JSON_LIST(T, reschedule_events, event_count, struct reschedule_event,
              &reschedule_event_json, 0, 0, "The moves by moved_at"),
    NEXT_PAGE_ROW(T),
    {0},
};
#undef T
const struct json_object reschedule_events_page_json = {
    "RescheduleEventsPage", "A page of moves", sizeof(struct events_page), page_rows};

static void check_event(struct record_check *check, const void *item)
{
    const struct reschedule_event *e = item;

    record_check_instant(check, "moved_at", e->moved_at_s);
    record_check_whole(check, "phase", e->phase);
}

enum error_code post_reschedule_events(struct request *rq, const void *in, void *out)
{
    struct db_session *db;
    struct bulk_items given;
    const void *items;
    size_t count, stored;

    TRY(bulk_accept(rq, in, sizeof(struct reschedule_event), check_event, &given, out));
    items = given.list;
    count = given.count;
    TRY(request_db(rq, &db));
    TRY(store_reschedule_events(db, rq->principal.tenant, items, count, &stored,
                                rq->arena, rq->err));
    return bulk_stored(rq, &given, &(struct record_stored){.stored = stored}, out);
}

enum error_code get_reschedule_events(struct request *rq, const void *in, void *out)
{
    const struct events_query *query = rq->query;
    struct events_page *page = out;
    struct store_page part = page_of(&query->page);
    struct store_filter filter = {
        .run_id = query->run_id,
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
    TRY(store_reschedule_events_read(db, rq->principal.tenant, &filter, &part,
                                     &page->reschedule_events, &page->event_count,
                                     &page->next_page_token, rq->arena, rq->err));
    return page_link(rq, page->next_page_token);
}

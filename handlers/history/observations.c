/* observations.c - /v1/observations: since when resources have been watched. */
#include "handlers/history/routes.h"

#include "handlers/common/page.h"
#include "handlers/history/bulk.h"
#include "service/store_reliability.h"

#include <stdlib.h>
#include <string.h>

struct observations_query {
    struct page_query page;
    struct range_query range;
    int order;
    const char *resource_id, *site_id;
    double at_s;
};

struct observations_page {
    const struct observation *items;
    size_t item_count;
    const char *next_page_token;
};

struct observation_key {
    const char *resource_id, *component;
    double from_at_s;
};

enum { COMPONENT_COUNT_MAX = 1000000 };

#define T struct observation
static const struct json_field observation_rows[] = {
    JSON_ID(T, resource_id, JSON_REQUIRED, "The resource that was watched"),
    JSON_INSTANT(T, from_at, JSON_REQUIRED,
                 "Since when every failure of it is stored, as far as there was any"),
    JSON_INSTANT(T, to_at, JSON_NULLABLE | JSON_OPTIONAL,
                 "Until when, after from_at: for good when it was decommissioned; left "
                 "out: it still is"),
    JSON_ID(T, component, JSON_NULLABLE | JSON_OPTIONAL,
            "Only this part of it; default: the whole resource"),
    JSON_NUMBER(T, component_count, 1, COMPONENT_COUNT_MAX, 1, 0,
                "So many parts of it that are alike and have no names; not beside "
                "component; default 1"),
    JSON_ID(T, site_id, JSON_NULLABLE | JSON_OPTIONAL,
            "Its site: resources of one site tell of each other; default: not known"),
    {0},
};
#undef T
const struct json_object observation_json = {
    "Observation", "A time in which every failure of a resource was stored",
    sizeof(struct observation), observation_rows};

#define T struct observations_query
static const struct json_field query_rows[] = {
    JSON_ID(T, resource_id, 0, "Observations of this resource only; default: any"),
    JSON_ID(T, site_id, 0, "Observations of this site only; default: any"),
    JSON_INSTANT(T, at, 0, "Only those under way at this instant; default: all"),
    RANGE_ROWS(T),
    ORDER_ROW(T),
    PAGE_ROWS(T),
    {0},
};
#undef T
const struct json_object observations_query_json = {
    "ObservationsQuery", "Which observations, by from_at",
    sizeof(struct observations_query), query_rows};

#define T struct observations_page
static const struct json_field page_rows[] = {
    JSON_LIST(T, items, item_count, struct observation, &observation_json, 0, 0,
              "The observations by from_at"),
    NEXT_PAGE_ROW(T),
    {0},
};
#undef T
const struct json_object observations_page_json = {
    "ObservationsPage", "A page of observations", sizeof(struct observations_page),
    page_rows};

#define T struct observation_key
static const struct json_field key_rows[] = {
    JSON_ID(T, resource_id, JSON_REQUIRED, "Its resource"),
    JSON_INSTANT(T, from_at, JSON_REQUIRED, "When it began"),
    JSON_ID(T, component, 0, "Its component; default: the whole resource"),
    {0},
};
#undef T
const struct json_object observation_key_query_json = {
    "ObservationKey", "Which observation", sizeof(struct observation_key), key_rows};

static void check_observation(struct record_check *check, const void *item)
{
    const struct observation *o = item;

    record_check_instant(check, "from_at", o->from_at_s);
    record_check_instant(check, "to_at", o->to_at_s);
    record_check_whole(check, "component_count", o->component_count);
    if (o->to_at_s <= o->from_at_s)
        record_mistake(check, "to_at", ITEM_OUT_OF_BOUNDS, "to_at is not after from_at");
    if (o->component && o->component_count > 1)
        record_mistake(check, "component_count", ITEM_CONFLICT,
                       "a component that has a name is one");
}

static int compare(const void *a, const void *b)
{
    const struct observation *x = *(const struct observation *const *)a;
    const struct observation *y = *(const struct observation *const *)b;
    int order = strcmp(x->resource_id, y->resource_id);

    if (order == 0)
        order = strcmp(x->component, y->component);
    if (order == 0)
        order = (x->from_at_s > y->from_at_s) - (x->from_at_s < y->from_at_s);
    return order ? order : (x > y) - (x < y);
}

/* Notes each record that overlaps the one before it of the same key. */
static enum error_code check_overlaps(struct request *rq, const struct observation *list,
                                      size_t count)
{
    const struct observation **sorted = NEW(rq->arena, const struct observation *, count);
    struct record_check check = {.in_list = true, .err = rq->err};

    for (size_t i = 0; i < count; i++)
        sorted[i] = &list[i];
    if (count > 1)
        qsort(sorted, count, sizeof(*sorted), compare);
    for (size_t i = 1; i < count; i++) {
        const struct observation *before = sorted[i - 1], *o = sorted[i];

        if (strcmp(before->resource_id, o->resource_id) != 0 ||
            strcmp(before->component, o->component) != 0 ||
            before->to_at_s <= o->from_at_s)
            continue;
        check.index = (size_t)(o - list);
        record_mistake(&check, "from_at", ITEM_CONFLICT,
                       "overlaps another observation of the same resource in this body");
    }
    return rq->err->code;
}

enum error_code post_observations(struct request *rq, const void *in, void *out)
{
    const struct observation *items;
    struct observation *list;
    struct db_session *db;
    struct bulk_items given;
    const void *accepted;
    size_t count, stored;

    TRY(bulk_accept(rq, in, sizeof(*list), check_observation, &given, out));
    accepted = given.list;
    count = given.count;
    items = accepted;
    list = NEW(rq->arena, struct observation, count);
    for (size_t i = 0; i < count; i++) {
        list[i] = items[i];
        if (!list[i].component)
            list[i].component = "";
    }
    TRY(check_overlaps(rq, list, count));
    TRY(request_db(rq, &db));
    TRY(store_observations(db, rq->principal.tenant, list, count, &stored, rq->arena,
                           rq->err));
    if (stored == 0 && count > 0)
        return invalid(rq->err, "", ITEM_CONFLICT,
                       "an observation overlaps one that is stored of the same resource "
                       "and component with another from_at: close that one first, or "
                       "delete it");
    return bulk_stored(rq, &given, &(struct record_stored){.stored = stored}, out);
}

enum error_code get_observations(struct request *rq, const void *in, void *out)
{
    const struct observations_query *query = rq->query;
    struct observations_page *page = out;
    struct store_page part = page_of(&query->page);
    struct store_filter filter = {
        .resource_id = query->resource_id,
        .from_at_s = query->range.from_at_s,
        .to_at_s = query->range.to_at_s,
        .newest_first = query->order == PAGE_NEWEST_FIRST,
    };
    const struct observation *rows;
    struct observation *list;
    struct db_session *db;

    (void)in;
    TRY(range_check(&query->range, rq->err));
    TRY(request_db(rq, &db));
    TRY(store_observations_read(db, rq->principal.tenant, &filter, query->site_id,
                                query->at_s, &part, &rows, &page->item_count,
                                &page->next_page_token, rq->arena, rq->err));
    list = NEW(rq->arena, struct observation, page->item_count);
    for (size_t i = 0; i < page->item_count; i++) {
        list[i] = rows[i];
        if (!*list[i].component)
            list[i].component = NULL;
    }
    page->items = list;
    return page_link(rq, page->next_page_token);
}

enum error_code delete_observation(struct request *rq, const void *in, void *out)
{
    const struct observation_key *key = rq->query;
    struct db_session *db;
    size_t removed;

    (void)in;
    (void)out;
    TRY(request_db(rq, &db));
    TRY(store_observation_remove(db, rq->principal.tenant, key->resource_id,
                                 key->component ? key->component : "", key->from_at_s,
                                 &removed, rq->err));
    if (removed == 0)
        return fail(rq->err, ERR_NOT_FOUND, "", "there is no such observation");
    rq->reply->status = 204;
    return OK;
}

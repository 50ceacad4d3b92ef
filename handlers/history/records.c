/* records.c - the routes of stored records: their tables, and the handlers of all. */
#include "handlers/history/records.h"

#include "handlers/stored/removal.h"
#include "service/clock.h"
#include "service/json_patch.h"
#include "service/refits.h"
#include "service/service.h"
#include "service/store_rollup.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEPT_LEAST_S = 3600 };
enum { LIKE_BYTES = 512, FIELDS_MAX = 32, DOC_BYTES = 96, HISTORIES_MAX = 16 };
enum route_place { ROUTE_DELETE, ROUTE_GET, ROUTE_PATCH, ROUTE_POST, ROUTE_PLACES };

/* Any query of a record; `like` has the values that rows must have. */
struct record_query {
    struct page_query page;
    struct range_query range;
    int order;
    int on_conflict; /* enum record_policy */
    struct trace_query trace;
    bool dry_run;
    double at_s; /* NAN: any */
    const char *other;
    const char *const *measures;
    size_t measure_count;
    _Alignas(8) char like[LIKE_BYTES];
};

struct record_page {
    const void *items;
    size_t count;
    const char *next_page_token;
};

/* ---- tables of parameters, made from the rows ---- */

/* What is made of a row of histories. */
struct made {
    struct json_object list, remove, change, page;
    struct json_field list_fields[FIELDS_MAX], remove_fields[FIELDS_MAX],
        change_fields[FIELDS_MAX], page_fields[3];
    char names[4][48], operations[ROUTE_PLACES][48], summaries[ROUTE_PLACES][64];
    char docs[RECORD_COLUMNS_MAX + 4][DOC_BYTES];
};

static struct made made[HISTORIES_MAX];
static struct route record_routes[HISTORIES_MAX * ROUTE_PLACES + 1];

#define T struct record_query
static const struct json_field common_rows[] = {RANGE_ROWS(T), ORDER_ROW(T),
                                                PAGE_ROWS(T)};
static const struct json_field range_rows[] = {RANGE_ROWS(T)};
static const struct json_field under_way_row =
    JSON_INSTANT(T, at, 0, "Only those under way at this instant; default: all");
static const struct json_field dry_run_row = DRY_RUN_ROW(T);
static const struct json_field measures_row = JSON_TEXTS(
    T, measures, measure_count, RECORD_COLUMNS_MAX, 0,
    "Those of just these measures, with commas: they are a part of the record's name");
static const struct json_field conflict_rows[] = {
    JSON_CHOICE(T, on_conflict, record_policies, RECORD_REFUSE, 0,
                "What becomes of a record that is stored with other values: refuse (422; "
                "of NDJSON the line), keep the stored one, or replace it; default "
                "refuse"),
    {0},
};
static const struct json_field replace_rows[] = {
    JSON_CHOICE(T, on_conflict, record_policies, RECORD_REPLACE, 0,
                "What becomes of a record that is stored with other values: refuse (422; "
                "of NDJSON the line), keep the stored one, or replace it; default "
                "replace, as what is still going on is reported again with more"),
    {0},
};
static const struct json_object replace_query_json = {
    "ReplaceQuery", "How a record that is stored already is taken",
    sizeof(struct record_query), replace_rows};

static const struct json_field trace_rows[] = {
    JSON_CHOICE(T, on_conflict, record_policies, RECORD_REFUSE, 0,
                "What becomes of a record that is stored with other values: refuse (422; "
                "of NDJSON the line), keep the stored one, or replace it; default "
                "refuse"),
    TRACE_QUERY_ROWS(T),
    {0},
};
#undef T
static const struct json_object trace_query_json = {
    "ExecutionsCreateQuery",
    "How a record that is stored already is taken, and what a trace file is about",
    sizeof(struct record_query), trace_rows};

const struct json_object conflict_query_json = {
    "ConflictQuery", "How a record that is stored already is taken",
    sizeof(struct record_query), conflict_rows};

static const struct json_field next_page_row = NEXT_PAGE_ROW(struct record_page);

/* The parameter of a member: of the key of a change, or that lists are cut down by. */
static struct json_field parameter_of(const struct history *h, size_t place, bool is_key,
                                      struct made *m)
{
    unsigned role = h->record->columns[place].role;
    struct json_field f = h->record->json->fields[place];

    f.offset += offsetof(struct record_query, like);
    f.flags =
        is_key && role & RECORD_KEY && !(role & RECORD_MINUS_ONE) ? JSON_REQUIRED : 0;
    if (is_key)
        return f;
    snprintf(m->docs[place], DOC_BYTES, "Those of this %s only; default: of any", f.name);
    f.doc = m->docs[place];
    return f;
}

static void make_fields(const struct history *h, struct made *m)
{
    const struct record *record = h->record;
    struct json_field *list = m->list_fields, *remove = m->remove_fields,
                      *change = m->change_fields;
    bool has_measures = false;

    for (size_t i = 0; record->columns[i].name; i++) {
        unsigned role = record->columns[i].role;

        if (role & RECORD_FILTER)
            *list++ = parameter_of(h, i, false, m);
        if (role & (RECORD_FILTER | RECORD_KEY | RECORD_KEY_OR_EMPTY))
            *remove++ = parameter_of(h, i, false, m);
        if (role & (RECORD_KEY | RECORD_KEY_OR_EMPTY))
            *change++ = parameter_of(h, i, true, m);
        has_measures = has_measures || role & RECORD_KEY_MEASURE;
    }
    if (record->other) {
        list->name = record->other;
        list->doc = record->other_doc;
        list->type = JSON_TYPE_TEXT;
        list->offset = offsetof(struct record_query, other);
        list->min = 1;
        list->max = 256;
        *remove++ = *list++;
    }
    if (record->until)
        *list++ = under_way_row;
    if (has_measures) {
        *change = measures_row;
        change++->flags = JSON_REQUIRED;
        *remove++ = measures_row;
    }
    memcpy(list, common_rows, sizeof(common_rows));
    memcpy(remove, range_rows, sizeof(range_rows));
    remove[sizeof(range_rows) / sizeof(*range_rows)] = dry_run_row;
    m->page_fields[0] =
        (struct json_field){.name = "items",
                            .doc = "The records by time",
                            .of = record->json,
                            .type = JSON_TYPE_LIST,
                            .offset = offsetof(struct record_page, items),
                            .count_offset = offsetof(struct record_page, count)};
    m->page_fields[1] = next_page_row;
}

static void make_tables(const struct history *h, struct made *m)
{
    make_fields(h, m);
    snprintf(m->names[0], sizeof(m->names[0]), "%sQuery", h->all);
    snprintf(m->names[1], sizeof(m->names[1]), "%sRemoval", h->all);
    snprintf(m->names[2], sizeof(m->names[2]), "%sKey", h->one);
    snprintf(m->names[3], sizeof(m->names[3]), "%sPage", h->all);
    m->list = (struct json_object){m->names[0], "Which records",
                                   sizeof(struct record_query), m->list_fields};
    m->remove = (struct json_object){m->names[1], "Which records to remove",
                                     sizeof(struct record_query), m->remove_fields};
    m->change = (struct json_object){m->names[2], "Which record",
                                     sizeof(struct record_query), m->change_fields};
    m->page = (struct json_object){m->names[3], "A page of records",
                                   sizeof(struct record_page), m->page_fields};
}

static handler_fn list_records, add_records, change_record, remove_records;

/* What the routes have in common, for each method. */
static struct route route_of(const struct history *h, struct made *m,
                             enum route_place place)
{
    static const char *const methods[] = {"DELETE", "GET", "PATCH", "POST"};
    static const char *const verbs[] = {"delete", "list", "change", "add"};
    static const char *const sentences[] = {"Remove %s", "List %s", "Correct one of %s",
                                            "Store %s"};
    struct route r = {.method = methods[place],
                      .path = h->path,
                      .operation = m->operations[place],
                      .tag = h->tag,
                      .work = WORK_QUERY,
                      .scope = SCOPE_INGEST,
                      .summary = m->summaries[place]};

    snprintf(m->operations[place], sizeof(m->operations[place]), "%s%s", verbs[place],
             place == ROUTE_PATCH ? h->one : h->all);
    snprintf(m->summaries[place], sizeof(m->summaries[place]), sentences[place], h->noun);
    return r;
}

static void make_routes(const struct history *h, struct made *m, struct route *out)
{
    struct route remove = route_of(h, m, ROUTE_DELETE), get = route_of(h, m, ROUTE_GET);
    struct route patch = route_of(h, m, ROUTE_PATCH), post = route_of(h, m, ROUTE_POST);

    remove.handler = remove_records;
    remove.response = &removed_answer_json;
    remove.query = &m->remove;
    remove.doc = "Those that have all that is given, one parameter besides the range at "
                 "least; 100,000 at most, and then `more` is true. None is no failure.";
    get.handler = list_records;
    get.response = &m->page;
    get.query = &m->list;
    get.scope = SCOPE_DECIDE | SCOPE_INGEST;
    get.doc = h->list_doc;
    patch.handler = change_record;
    patch.response = h->record->json;
    patch.query = &m->change;
    patch.flags = ROUTE_MERGE_PATCH | ROUTE_LOOKS_UP;
    patch.doc = "The record whose natural key the parameters are gets other values by a "
                "merge patch (RFC 7396); the members of the key stay. The answer is the "
                "whole record.";
    post.handler = h->post ? h->post : add_records;
    post.request = h->sent ? h->sent : h->record->json;
    post.response = h->answer ? h->answer : &bulk_answer_json;
    post.query = h->replaces       ? &replace_query_json
                 : h->takes_traces ? &trace_query_json
                                   : &conflict_query_json;
    post.flags = ROUTE_BULK | ROUTE_IDEMPOTENT_KEY |
                 (h->takes_traces ? (unsigned)ROUTE_TAKES_ROWS : 0);
    post.doc = h->post_doc;
    post.example = h->example;
    out[ROUTE_DELETE] = remove;
    out[ROUTE_GET] = get;
    out[ROUTE_PATCH] = patch;
    out[ROUTE_POST] = post;
}

const struct route *history_record_routes(void)
{
    for (size_t i = 0; histories[i].record; i++) {
        if (i == HISTORIES_MAX || histories[i].record->json->size > LIKE_BYTES)
            abort(); /* raise it */
        make_tables(&histories[i], &made[i]);
        make_routes(&histories[i], &made[i], &record_routes[i * ROUTE_PLACES]);
    }
    return record_routes;
}

static const struct history *history_of(const struct request *rq)
{
    const struct history *h = histories;

    while (strcmp(h->path, rq->route->path) != 0)
        h++;
    return h;
}

/* ---- which records ---- */

static bool has_field(const struct json_object *table, const char *name)
{
    for (const struct json_field *f = table->fields; f->type != JSON_END; f++)
        if (strcmp(f->name, name) == 0)
            return true;
    return false;
}

/* What the query asks for, of the members that its table has. */
static struct record_filter filter_of(const struct record *record,
                                      const struct json_object *table,
                                      const struct record_query *query)
{
    bool under_way = record->until && has_field(table, under_way_row.name);
    struct record_filter filter = {
        .like = query->like,
        .under_way_at_s = under_way && !isnan(query->at_s) ? &query->at_s : NULL,
        .from_at_s = query->range.from_at_s,
        .to_at_s = query->range.to_at_s,
        .other = query->other,
        .newest_first = query->order == PAGE_NEWEST_FIRST,
    };

    for (const struct json_field *f = table->fields; f->type != JSON_END; f++) {
        size_t place = record_place(record, f->name);

        if (place < RECORD_COLUMNS_MAX &&
            f->offset >= offsetof(struct record_query, like) &&
            record_has_value(f, query))
            filter.columns |= 1u << place;
    }
    return filter;
}

static enum error_code refuse_measure(struct request *rq, const struct record *record,
                                      const char *name)
{
    const char *known[RECORD_COLUMNS_MAX];
    size_t count = 0;

    for (size_t i = 0; record->columns[i].name; i++)
        if (record->columns[i].role & RECORD_KEY_MEASURE)
            known[count++] = record->json->fields[i].name;
    invalid(rq->err, "?/measures", ITEM_NOT_A_CHOICE, "'%.100s' is no measure", name);
    error_allow(rq->err, name, known, count);
    return rq->err->code;
}

static enum error_code read_measures(struct request *rq, const struct record *record,
                                     struct record_filter *filter)
{
    const struct record_query *query = rq->query;

    if (!query->measures)
        return OK;
    filter->by_measures = true;
    for (size_t i = 0; i < query->measure_count; i++) {
        size_t place = record_place(record, query->measures[i]);

        if (place == RECORD_COLUMNS_MAX ||
            !(record->columns[place].role & RECORD_KEY_MEASURE))
            return refuse_measure(rq, record, query->measures[i]);
        filter->measures |= 1u << place;
    }
    return OK;
}

/* ---- handlers ---- */

static enum error_code list_records(struct request *rq, const void *in, void *out)
{
    const struct history *h = history_of(rq);
    const struct record_query *query = rq->query;
    struct record_filter filter = filter_of(h->record, rq->route->query, query);
    struct store_page part;
    struct record_page *page = out;
    struct db_session *db;

    (void)in;
    TRY(page_of(rq, &query->page, &part));
    TRY(range_check(&query->range, rq->err));
    TRY(request_db(rq, &db));
    TRY(record_read(db, rq->principal.tenant, h->record, &filter, &part, &page->items,
                    &page->count, &page->next_page_token, rq->arena, rq->err));
    return page_link(rq, &page->next_page_token);
}

const struct trace_query *records_trace_query(const struct request *rq)
{
    return &((const struct record_query *)rq->query)->trace;
}

enum error_code records_store(struct request *rq, const struct record *record,
                              const void *list, const struct bulk_items *items,
                              struct bulk_answer *answer)
{
    const struct record_query *query = rq->query;
    struct record_stored stored;
    struct db_session *db;
    int wait_s;

    TRY(request_db(rq, &db));
    wait_s = db_store_wait_s(db, rq->principal.tenant);
    if (wait_s > 0) {
        fail(rq->err, ERR_BUSY, "",
             "the database takes long to store: send it again later");
        rq->err->retry_after_s = wait_s;
        return rq->err->code;
    }
    TRY(record_store(db, rq->principal.tenant, record, list, items->count,
                     (enum record_policy)query->on_conflict, !items->line, &stored,
                     rq->arena, rq->err));
    TRY(bulk_stored(rq, items, &stored, answer));
    if (answer->replaced > 0)
        log_correction(rq, answer->replaced);
    return OK;
}

/* ---- what is older than the samples that are kept ---- */

static const struct json_field *at_of(const struct record *record)
{
    return &record->json->fields[record_place(record, record->at)];
}

/* Before it samples have been removed. Not asked when `at_s`, the oldest instant that
 * matters, is so new that it cannot be: retentions are days. */
static enum error_code kept_from(struct request *rq, const struct record *record,
                                 double at_s, double *kept_from_s)
{
    struct store_rollup_kept kept;
    struct db_session *db;

    *kept_from_s = -HUGE_VAL;
    if (!record->expires || at_s > clock_wall_s() - KEPT_LEAST_S)
        return OK;
    TRY(request_db(rq, &db));
    TRY(store_rollup_kept(db, &kept, rq->arena, rq->err));
    *kept_from_s = kept.samples_from_s;
    return OK;
}

static enum error_code refuse_expired(struct request *rq, const struct record *record,
                                      struct bulk_items *items,
                                      struct bulk_answer *answer)
{
    const struct json_field *at = at_of(record);
    double oldest_s = HUGE_VAL, kept_from_s;

    for (size_t i = 0; record->expires && i < items->count; i++) {
        double at_s;

        memcpy(&at_s, (const char *)items->list + i * record->json->size + at->offset,
               sizeof(at_s));
        oldest_s = fmin(oldest_s, at_s);
    }
    TRY(kept_from(rq, record, oldest_s, &kept_from_s));
    return oldest_s < kept_from_s
               ? bulk_expire(rq, items, record->json->size, at, kept_from_s, answer)
               : OK;
}

/* Records of a time that is gone cannot be corrected. What was removed is no part of a
 * range without a begin. */
static enum error_code check_kept(struct request *rq, const struct record *record,
                                  const struct record_filter *filter)
{
    const struct json_field *at = at_of(record);
    double at_s = HUGE_VAL, kept_from_s;

    if (filter->columns & 1u << record_place(record, record->at))
        memcpy(&at_s, (const char *)filter->like + at->offset, sizeof(at_s));
    at_s = fmin(at_s, fmin(filter->from_at_s, filter->to_at_s));
    TRY(kept_from(rq, record, at_s, &kept_from_s));
    if (!(at_s < kept_from_s))
        return OK;
    invalid(rq->err,
            at_s < filter->from_at_s || at_s > filter->from_at_s ? "?/observed_at"
                                                                 : "?/from",
            ITEM_RAW_EXPIRED, "samples are kept from %.0f on, in seconds since 1970",
            kept_from_s);
    return error_is_conflict(rq->err);
}

/* ---- storing, changing, removing ---- */

static enum error_code add_records(struct request *rq, const void *in, void *out)
{
    const struct record *record = history_of(rq)->record;
    struct bulk_items items;
    char *list;

    TRY(bulk_accept(rq, in, record->json->size, record->check, &items, out));
    TRY(refuse_expired(rq, record, &items, out));
    if (!record->complete)
        return records_store(rq, record, items.list, &items, out);
    list = arena_alloc(rq->arena, record->json->size, items.count + 1);
    memcpy(list, items.list, record->json->size * items.count);
    for (size_t i = 0; i < items.count; i++)
        TRY(record->complete(list + i * record->json->size, rq->arena, rq->err));
    return records_store(rq, record, list, &items, out);
}

/* Models may have learnt what is different now. */
static void note_correction(const struct request *rq, size_t count)
{
    log_correction(rq, count);
    refits_wake(__atomic_load_n(&rq->service->refits, __ATOMIC_ACQUIRE));
}

/* One change of a record. */
struct changing {
    struct request *rq;
    const struct record *record;
    struct record_filter filter;
    const char *patch;
    void *out;
};

/* The stored record with the patch: what comes out, if it may be. */
static enum error_code patched(const struct changing *c, const void *stored, void *item)
{
    struct request *rq = c->rq;
    const struct record *record = c->record;
    struct text_buffer b = {.arena = rq->arena, .prints_request = true};
    struct record_check check = {.now_s = clock_wall_s(), .err = rq->err};
    const char *merged;

    json_print(record->json, stored, &b);
    TRY(json_merge_patch(text_end(&b), c->patch, &merged, rq->arena, rq->err));
    TRY(json_read(record->json, merged, strlen(merged), item, &rq->renames, rq->arena,
                  rq->err));
    if (record->check)
        record->check(&check, item);
    for (size_t i = 0; record->columns[i].name; i++)
        if (record->columns[i].role & (RECORD_IN_KEY | RECORD_GENERATED) &&
            !record_same(record, i, stored, item))
            record_mistake(&check, record->json->fields[i].name, ITEM_NOT_ALLOWED,
                           record->columns[i].role & RECORD_GENERATED
                               ? "it is set by the service"
                               : "it is a part of the record's natural key: delete the "
                                 "record, and store it anew");
    if (rq->err->code != OK)
        return rq->err->code;
    return record->complete ? record->complete(item, rq->arena, rq->err) : OK;
}

static enum error_code change_stored(struct db_session *db, void *context,
                                     struct error *err)
{
    const struct changing *c = context;
    const char *tenant = c->rq->principal.tenant;
    struct arena *a = c->rq->arena;
    size_t ignored;
    void *stored = arena_alloc(a, c->record->json->size, 1);
    bool found;

    TRY(record_lock(db, tenant, c->record, &c->filter, stored, &found, a, err));
    if (!found)
        return fail(err, ERR_NOT_FOUND, "", "no such record is stored");
    TRY(patched(c, stored, c->out));
    return record_change(db, tenant, c->record, c->out, &ignored, a, err);
}

enum error_code record_patch(struct request *rq, const struct record *record,
                             const struct record_filter *filter, const void *in,
                             void *out)
{
    const struct raw_body *body = in;
    struct changing c = {rq, record, *filter, NULL, out};
    struct db_session *db;

    c.patch = arena_text(rq->arena, body->text ? body->text : "", body->length);
    TRY(request_db(rq, &db));
    TRY(db_transaction(db, change_stored, &c, rq->err));
    note_correction(rq, 1);
    return OK;
}

static enum error_code change_record(struct request *rq, const void *in, void *out)
{
    const struct record *record = history_of(rq)->record;
    struct record_filter filter = filter_of(record, rq->route->query, rq->query);

    TRY(read_measures(rq, record, &filter));
    filter.from_at_s = filter.to_at_s = NAN;
    for (size_t i = 0; record->columns[i].name; i++)
        if (record->columns[i].role & (RECORD_KEY | RECORD_KEY_OR_EMPTY))
            filter.columns |= 1u << i;
    TRY(check_kept(rq, record, &filter));
    return record_patch(rq, record, &filter, in, out);
}

static enum error_code remove_records(struct request *rq, const void *in, void *out)
{
    const struct record *record = history_of(rq)->record;
    const struct record_query *query = rq->query;
    struct record_filter filter = filter_of(record, rq->route->query, query);
    struct removed_answer *answer = out;
    struct db_session *db;
    size_t removed;

    (void)in;
    TRY(range_check(&query->range, rq->err));
    TRY(read_measures(rq, record, &filter));
    if (!filter.columns && !filter.by_measures && !filter.other)
        return invalid(rq->err,
                       arena_printf(rq->arena, "?/%s", rq->route->query->fields->name),
                       ITEM_REQUIRED,
                       "say which records: one parameter besides from and to at least");
    TRY(check_kept(rq, record, &filter));
    TRY(request_db(rq, &db));
    TRY(record_remove(db, rq->principal.tenant, record, &filter, query->dry_run, &removed,
                      &answer->more, rq->arena, rq->err));
    answer->deleted = removed;
    if (!query->dry_run)
        note_correction(rq, removed);
    return OK;
}

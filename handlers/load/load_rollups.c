/* load_rollups.c - /v1/load-rollups: what is kept of load samples by minute, hour and
 * day. */
#include "handlers/load/load_rollups.h"

#include "handlers/common/page.h"
#include "service/hash.h"
#include "service/store_rollup.h"

#include <stdlib.h>

static const char *const levels[] = {"60", "3600", "86400", NULL};
static const char *const measures[] = {"cpu_available_ratio", "memory_available_bytes",
                                       "bandwidth_mbps", "latency_s", NULL};
enum { LEVEL_HOUR = 1 };

struct rollups_query {
    struct page_query page;
    struct range_query range;
    const char *resource_id, *to_resource_id;
    int level_s; /* its place in levels */
};

struct rollup_measure_row {
    int measure;
    uint64_t count;
    double mean, m2, min, max;
    const char *sketch;
};

struct rollup_row {
    const char *resource_id, *to_resource_id;
    uint64_t level_s;
    double at_s;
    const struct rollup_measure_row *measures;
    size_t measure_count;
};

struct rollups_page {
    const struct rollup_row *items;
    size_t count;
    const char *next_page_token;
};

#define T struct rollups_query
static const struct json_field query_rows[] = {
    JSON_ID(T, resource_id, JSON_REQUIRED, "The resource, or where the link begins"),
    JSON_ID(T, to_resource_id, 0, "Where the link ends; default: any rows"),
    JSON_CHOICE(
        T, level_s, levels, LEVEL_HOUR, 0,
        "What a row covers, in seconds: a minute, an hour or a day; default 3600"),
    RANGE_ROWS(T),
    PAGE_ROWS(T),
    {0},
};
#undef T
const struct json_object load_rollups_query_json = {
    "LoadRollupsQuery", "Which roll-ups of load samples", sizeof(struct rollups_query),
    query_rows};

#define T struct rollup_measure_row
static const struct json_field measure_rows[] = {
    JSON_CHOICE(T, measure, measures, 0, 0, "The measure"),
    JSON_INTEGER(T, count, 1, JSON_EXACT, 1, 0, "Samples with the measure"),
    JSON_NUMBER(T, mean, 0, 0, 0, 0, "Mean, in the unit of the measure"),
    JSON_NUMBER(T, m2, 0, 0, 0, 0, "Sum of squared deviations from the mean"),
    JSON_NUMBER(T, min, 0, 0, 0, 0, "Least"),
    JSON_NUMBER(T, max, 0, 0, 0, 0, "Greatest"),
    JSON_TEXT(
        T, sketch, 0,
        "Quantiles within 1 %, in base64: a DDSketch. A byte 1; the number of values "
        "below 1e-9; the number of buckets; of each bucket, by rising index, the "
        "difference to the index before (the first: to 0), zigzag, and its count; "
        "numbers in LEB128. Bucket i has the values up to (1.01 / 0.99)^i"),
    {0},
};
#undef T
static const struct json_object measure_json = {
    "LoadRollupMeasure", "One measure of a roll-up", sizeof(struct rollup_measure_row),
    measure_rows};

#define T struct rollup_row
static const struct json_field row_rows[] = {
    JSON_TEXT(T, resource_id, 0, "The resource, or where the link begins"),
    JSON_TEXT(T, to_resource_id, JSON_OPTIONAL, "Where the link ends"),
    JSON_INTEGER(T, level_s, 60, JSON_EXACT, 60, 0, "What the row covers, in seconds"),
    JSON_INSTANT(T, at, 0, "When that begins"),
    JSON_LIST(T, measures, measure_count, struct rollup_measure_row, &measure_json,
              ROLLUP_MEASURES, 0, "The measures that were made"),
    {0},
};
#undef T
static const struct json_object row_json = {
    "LoadRollup", "What the samples of a minute, an hour or a day say together",
    sizeof(struct rollup_row), row_rows};

#define T struct rollups_page
static const struct json_field page_rows[] = {
    {.name = "items",
     .doc = "The rows, by time and link",
     .of = &row_json,
     .type = JSON_TYPE_LIST,
     .offset = offsetof(T, items),
     .count_offset = offsetof(T, count)},
    NEXT_PAGE_ROW(T),
    {0},
};
#undef T
const struct json_object load_rollups_page_json = {
    "LoadRollupsPage", "A page of roll-ups", sizeof(struct rollups_page), page_rows};

static void print_row(const struct load_rollup *from, struct rollup_row *to,
                      struct arena *a)
{
    struct rollup_measure_row *rows = NEW(a, struct rollup_measure_row, ROLLUP_MEASURES);

    *to = (struct rollup_row){from->resource_id,
                              *from->to_resource_id ? from->to_resource_id : NULL,
                              (uint64_t)from->level_s,
                              from->at_s,
                              rows,
                              0};
    for (int i = 0; i < ROLLUP_MEASURES; i++) {
        const struct rollup_measure *m = &from->measure[i];

        if (!(m->moments.count > 0))
            continue;
        rows[to->measure_count++] = (struct rollup_measure_row){
            i,
            (uint64_t)m->moments.count,
            m->moments.mean,
            m->moments.m2,
            m->moments.min,
            m->moments.max,
            base64_encode(m->sketch, m->sketch_bytes, a),
        };
    }
}

enum error_code get_load_rollups(struct request *rq, const void *in, void *out)
{
    const struct rollups_query *query = rq->query;
    struct store_filter filter = {.resource_id = query->resource_id,
                                  .to_resource_id = query->to_resource_id,
                                  .from_at_s = query->range.from_at_s,
                                  .to_at_s = query->range.to_at_s};
    struct store_page part;
    const struct load_rollup *list;
    struct rollups_page *page = out;
    struct rollup_row *rows;
    struct db_session *db;

    (void)in;
    TRY(page_of(rq, &query->page, &part));
    TRY(range_check(&query->range, rq->err));
    TRY(request_db(rq, &db));
    TRY(store_rollups_list(db, rq->principal.tenant, &filter,
                           strtod(levels[query->level_s], NULL), &part, &list,
                           &page->count, &page->next_page_token, rq->arena, rq->err));
    rows = NEW(rq->arena, struct rollup_row, page->count + 1);
    for (size_t i = 0; i < page->count; i++) {
        budget_step(&rq->budget, ROLLUP_MEASURES);
        print_row(&list[i], &rows[i], rq->arena);
    }
    page->items = rows;
    return page_link(rq, &page->next_page_token);
}

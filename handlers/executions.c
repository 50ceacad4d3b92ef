/* executions.c - /v1/executions: observed runs of applications. */
#include "handlers/executions.h"

#include "handlers/bulk.h"
#include "handlers/page.h"
#include "service/uuid.h"

#include <string.h>

#define WHOLE_MAX 2147483647.0 /* what a column of type integer holds */

struct executions_query {
    struct page_query page;
    struct range_query range;
    int order;
    const char *application_id, *resource_id, *site_id;
};

struct executions_page {
    const struct execution *executions;
    size_t execution_count;
    const char *next_page_token;
};

#define T struct execution
static const struct json_field execution_rows[] = {
    JSON_ID(T, execution_id, JSON_NULLABLE,
            "The caller's name of the run; a run of the same name and phase_index is "
            "stored once; default: a UUID"),
    JSON_ID(T, application_id, JSON_REQUIRED, "The application that ran"),
    JSON_ID(T, site_id, JSON_NULLABLE | JSON_OPTIONAL, "Where it ran"),
    JSON_ID(T, resource_id, JSON_NULLABLE | JSON_OPTIONAL,
            "The machine, or the first of several"),
    JSON_RAW(T, parameters, JSON_NULLABLE | JSON_OPTIONAL,
             "What it was started with: an object of any members"),
    JSON_INSTANT(T, started_at, JSON_REQUIRED, "When it started"),
    JSON_NUMBER(T, run_time_s, 0, JSON_LARGEST, NAN, JSON_REQUIRED | JSON_ABOVE_MIN,
                "How long it ran"),
    JSON_NUMBER(T, phase_index, 0, WHOLE_MAX, NAN, JSON_NULLABLE | JSON_OPTIONAL,
                "Phase that this is about, from 0; default: the whole run"),
    JSON_NUMBER(T, problem_size, 0, JSON_LARGEST, NAN,
                JSON_NULLABLE | JSON_OPTIONAL | JSON_ABOVE_MIN,
                "Size of the problem: N of the model"),
    JSON_NUMBER(T, processors, 1, WHOLE_MAX, 1, 0, "Processors used; default 1"),
    JSON_NUMBER(T, cpu_available_ratio, 0, 1, NAN,
                JSON_NULLABLE | JSON_OPTIONAL | JSON_ABOVE_MIN,
                "Share of the CPU that it got: least of the machines' means"),
    JSON_NUMBER(T, bandwidth_mbps, 0, JSON_LARGEST, NAN,
                JSON_NULLABLE | JSON_OPTIONAL | JSON_ABOVE_MIN,
                "Bandwidth that it had: least of the links' means"),
    JSON_NUMBER(T, memory_peak_bytes, 0, JSON_LARGEST, NAN, JSON_NULLABLE | JSON_OPTIONAL,
                "Most memory that it used"),
    JSON_NUMBER(T, exit_code, -WHOLE_MAX, WHOLE_MAX, NAN, JSON_NULLABLE | JSON_OPTIONAL,
                "How it ended; 0: success"),
    JSON_NUMBER(T, predicted_s, 0, JSON_LARGEST, NAN,
                JSON_NULLABLE | JSON_OPTIONAL | JSON_ABOVE_MIN,
                "Run time that had been predicted"),
    JSON_NUMBER(T, model_version, 0, WHOLE_MAX, NAN, JSON_NULLABLE | JSON_OPTIONAL,
                "Version of the model that predicted it"),
    JSON_BOOLEAN(T, dedicated, 0, 0, "Nothing else ran on the machines; default false"),
    JSON_BOOLEAN(T, outlier, 0, 0,
                 "Predicted much too badly: left out of robust fits; default false"),
    {0},
};
#undef T
const struct json_object execution_json = {
    "Execution", "An observed run of an application, or of one of its phases",
    sizeof(struct execution), execution_rows};

#define T struct executions_query
static const struct json_field query_rows[] = {
    JSON_ID(T, application_id, 0, "Runs of this application only; default: any"),
    JSON_ID(T, resource_id, 0, "Runs on this machine only; default: any"),
    JSON_ID(T, site_id, 0, "Runs at this site only; default: any"),
    RANGE_ROWS(T),
    ORDER_ROW(T),
    PAGE_ROWS(T),
    {0},
};
#undef T
const struct json_object executions_query_json = {
    "ExecutionsQuery", "Which executions, by started_at", sizeof(struct executions_query),
    query_rows};

#define T struct executions_page
static const struct json_field page_rows[] = {
    JSON_LIST(T, executions, execution_count, struct execution, &execution_json, 0, 0,
              "The executions by started_at"),
    NEXT_PAGE_ROW(T),
    {0},
};
#undef T
const struct json_object executions_page_json = {
    "ExecutionsPage", "A page of executions", sizeof(struct executions_page), page_rows};

static void check_execution(struct bulk_check *check, const void *item)
{
    const struct execution *e = item;

    bulk_check_instant(check, "started_at", e->started_at_s);
    bulk_check_whole(check, "phase_index", e->phase_index);
    bulk_check_whole(check, "processors", e->processors);
    bulk_check_whole(check, "exit_code", e->exit_code);
    bulk_check_whole(check, "model_version", e->model_version);
    if (e->parameters && e->parameters[0] != '{')
        bulk_mistake(check, "parameters", "wrong_type", "must be an object");
}

/* The list with a UUID for every run that has no name. */
static const struct execution *named(const struct execution *list, size_t count,
                                     struct arena *a)
{
    struct execution *copy = NEW(a, struct execution, count);

    if (!copy)
        return NULL;
    memcpy(copy, list, count * sizeof(*copy));
    for (size_t i = 0; i < count; i++) {
        char *id;

        if (copy[i].execution_id)
            continue;
        id = NEW(a, char, UUID_TEXT_SIZE);
        if (!id)
            return NULL;
        uuid_make(id);
        copy[i].execution_id = id;
    }
    return copy;
}

enum error_code post_executions(struct request *rq, const void *in, void *out)
{
    const struct execution *list;
    struct db_session *db;
    const void *items;
    size_t count, stored;

    TRY(bulk_accept(rq, in, sizeof(struct execution), check_execution, &items, &count,
                    out));
    list = named(items, count, rq->arena);
    if (!list)
        return fail_memory(rq->err);
    TRY(request_db(rq, &db));
    TRY(store_executions(db, rq->principal.tenant, list, count, &stored, rq->arena,
                         rq->err));
    bulk_stored(rq, stored, out);
    return OK;
}

enum error_code get_executions(struct request *rq, const void *in, void *out)
{
    const struct executions_query *query = rq->query;
    struct executions_page *page = out;
    struct store_page part = page_of(&query->page);
    struct store_filter filter = {
        .resource_id = query->resource_id,
        .application_id = query->application_id,
        .site_id = query->site_id,
        .from_at_s = query->range.from_at_s,
        .to_at_s = query->range.to_at_s,
        .newest_first = query->order == PAGE_NEWEST_FIRST,
    };
    struct db_session *db;

    (void)in;
    TRY(range_check(&query->range, rq->err));
    TRY(request_db(rq, &db));
    TRY(store_executions_read(db, rq->principal.tenant, &filter, &part, &page->executions,
                              &page->execution_count, &page->next_page_token, rq->arena,
                              rq->err));
    return page_link(rq, page->next_page_token);
}

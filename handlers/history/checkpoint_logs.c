/* checkpoint_logs.c - /v1/checkpoint-logs: checkpoints that were asked for. */
#include "handlers/history/routes.h"

#include "algorithms/checkpoint/checkpoint.h"
#include "handlers/common/bulk.h"
#include "handlers/common/page.h"

#include <string.h>

enum log_action { LOG_TAKE, LOG_OMIT };
static const char *const actions[] = {"take", "omit", NULL};

/* A log as it is in JSON; log.action is set from `action` to be stored. */
struct log_record {
    struct checkpoint_log log;
    enum log_action action;
};

struct logs_query {
    struct page_query page;
    struct range_query range;
    int order;
    const char *application_id, *resource_id, *job_id;
};

struct logs_page {
    const struct log_record *checkpoint_logs;
    size_t log_count;
    const char *next_page_token;
};

#define T struct log_record
#define LOG_ID(m, flag, text)                                                          \
    {                                                                                  \
        .name = #m, .doc = text, .type = JSON_TYPE_TEXT,                               \
        .offset = JSON_AT(T, log.m, const char *), .min = 1, .max = 256, .flags = flag \
    }
#define LOG_NUMBER(m, hi, text)                                        \
    {                                                                  \
        .name = #m, .doc = text, .type = JSON_TYPE_NUMBER,             \
        .offset = JSON_AT(T, log.m, double), .max = hi, .preset = NAN, \
        .flags = JSON_NULLABLE | JSON_OPTIONAL                         \
    }
static const struct json_field log_rows[] = {
    LOG_ID(job_id, JSON_REQUIRED,
           "The job; a log of the same job and requested_at is stored once"),
    LOG_ID(application_id, JSON_REQUIRED,
           "The application that it runs: its checkpoints cost alike"),
    LOG_ID(resource_id, JSON_NULLABLE | JSON_OPTIONAL, "Where it ran"),
    {.name = "requested_at",
     .doc = "When the checkpoint was asked for",
     .type = JSON_TYPE_INSTANT,
     .offset = JSON_AT(T, log.requested_at_s, double),
     .preset = NAN,
     .flags = JSON_REQUIRED},
    JSON_CHOICE(T, action, actions, LOG_TAKE, JSON_REQUIRED,
                "What was done: take or omit"),
    LOG_NUMBER(interval_before_s, CHECKPOINT_LONGEST_S,
               "Interval in force before the request"),
    LOG_NUMBER(interval_after_s, CHECKPOINT_LONGEST_S, "Interval in force after it"),
    LOG_NUMBER(overhead_s, CHECKPOINT_LONGEST_S,
               "How long the job stood still for it; not with omit"),
    LOG_NUMBER(stored_after_s, CHECKPOINT_LONGEST_S,
               "From the end of the overhead until it was safe; not with omit"),
    LOG_NUMBER(restart_s, CHECKPOINT_LONGEST_S,
               "How long a restart from it took; not with omit"),
    LOG_NUMBER(bytes, JSON_LARGEST, "Size of the checkpoint; not with omit"),
    {0},
};
#undef LOG_NUMBER
#undef LOG_ID
#undef T
_Static_assert(sizeof(enum log_action) == sizeof(int), "a choice is an int");
const struct json_object checkpoint_log_json = {
    "CheckpointLog", "A job's request for a checkpoint, and what it cost",
    sizeof(struct log_record), log_rows};

#define T struct logs_query
static const struct json_field query_rows[] = {
    JSON_ID(T, application_id, 0, "Logs of this application only; default: any"),
    JSON_ID(T, resource_id, 0, "Logs of jobs on this resource only; default: any"),
    JSON_ID(T, job_id, 0, "Logs of this job only; default: any"),
    RANGE_ROWS(T),
    ORDER_ROW(T),
    PAGE_ROWS(T),
    {0},
};
#undef T
const struct json_object checkpoint_logs_query_json = {
    "CheckpointLogsQuery", "Which checkpoint logs, by requested_at",
    sizeof(struct logs_query), query_rows};

#define T struct logs_page
static const struct json_field page_rows[] = {
    JSON_LIST(T, checkpoint_logs, log_count, struct log_record, &checkpoint_log_json, 0,
              0, "The logs by requested_at"),
    NEXT_PAGE_ROW(T),
    {0},
};
#undef T
const struct json_object checkpoint_logs_page_json = {
    "CheckpointLogsPage", "A page of checkpoint logs", sizeof(struct logs_page),
    page_rows};

static void check_log(struct record_check *check, const void *item)
{
    const struct log_record *record = item;
    const struct checkpoint_log *log = &record->log;
    const struct {
        const char *name;
        double value;
    } costs[] = {
        {"overhead_s", log->overhead_s},
        {"stored_after_s", log->stored_after_s},
        {"restart_s", log->restart_s},
        {"bytes", log->bytes},
    };

    record_check_instant(check, "requested_at", log->requested_at_s);
    for (size_t i = 0; i < sizeof(costs) / sizeof(costs[0]); i++)
        if (record->action == LOG_OMIT && !isnan(costs[i].value))
            record_mistake(check, costs[i].name, ITEM_CONFLICT,
                           "a checkpoint that was omitted has no such figure");
}

enum error_code post_checkpoint_logs(struct request *rq, const void *in, void *out)
{
    const struct log_record *records;
    struct checkpoint_log *list;
    struct db_session *db;
    struct bulk_items given;
    const void *items;
    size_t count, stored;

    TRY(bulk_accept(rq, in, sizeof(*records), check_log, &given, out));
    items = given.list;
    count = given.count;
    records = items;
    list = NEW(rq->arena, struct checkpoint_log, count);
    for (size_t i = 0; i < count; i++) {
        list[i] = records[i].log;
        list[i].action = actions[records[i].action];
    }
    TRY(request_db(rq, &db));
    TRY(store_checkpoint_logs(db, rq->principal.tenant, list, count, &stored, rq->arena,
                              rq->err));
    return bulk_stored(rq, &given, &(struct record_stored){.stored = stored}, out);
}

static void take_list(const struct checkpoint_log *list, size_t count,
                      struct logs_page *page, struct arena *a)
{
    struct log_record *records = NEW(a, struct log_record, count);

    for (size_t i = 0; i < count; i++) {
        records[i].log = list[i];
        records[i].action =
            strcmp(list[i].action, actions[LOG_OMIT]) == 0 ? LOG_OMIT : LOG_TAKE;
    }
    page->checkpoint_logs = records;
    page->log_count = count;
}

enum error_code get_checkpoint_logs(struct request *rq, const void *in, void *out)
{
    const struct logs_query *query = rq->query;
    struct logs_page *page = out;
    struct store_page part = page_of(&query->page);
    struct store_filter filter = {
        .application_id = query->application_id,
        .resource_id = query->resource_id,
        .job_id = query->job_id,
        .from_at_s = query->range.from_at_s,
        .to_at_s = query->range.to_at_s,
        .newest_first = query->order == PAGE_NEWEST_FIRST,
    };
    const struct checkpoint_log *list;
    struct db_session *db;
    size_t count;

    (void)in;
    TRY(range_check(&query->range, rq->err));
    TRY(request_db(rq, &db));
    TRY(store_checkpoint_logs_read(db, rq->principal.tenant, &filter, &part, &list,
                                   &count, &page->next_page_token, rq->arena, rq->err));
    take_list(list, count, page, rq->arena);
    return page_link(rq, page->next_page_token);
}

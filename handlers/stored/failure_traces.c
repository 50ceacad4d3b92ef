/* failure_traces.c - /v1/failure-traces: failure logs for simulations. */
#include "handlers/stored/failure_traces.h"

#include "handlers/stored/stored_name.h"
#include "models/base/name_pool.h"
#include "models/base/plural.h"
#include "models/failure_trace.h"
#include "service/stream.h"

#include <strings.h>

enum { FORMAT_NOT_GIVEN = -1 };

struct create_query {
    const char *id;
    int format;
    double utc_offset_s;
};

struct trace_summary {
    uint64_t resource_count, open_count, available_count;
    double from_at_s, to_at_s, utc_offset_s;
    const struct upload_skip *skipped;
    size_t skipped_count;
    const struct upload_mistake *first_skipped;
    size_t first_skipped_count;
};

#define T struct create_query
static const struct json_field create_query_rows[] = {
    UPLOAD_ID_ROW(T),
    JSON_CHOICE(T, format, failure_trace_format_names, FORMAT_NOT_GIVEN, 0,
                "Default: of text/csv lanl_cfdr, of text/tab-separated-values fta"),
    JSON_NUMBER(T, utc_offset_s, -86400, 86400, 0, 0,
                "lanl_cfdr: local time minus UTC, seconds; default 0"),
    {0},
};
#undef T
const struct json_object failure_trace_create_query_json = {
    "FailureTraceCreateQuery", "Name and format of a new failure trace",
    sizeof(struct create_query), create_query_rows};

#define T struct trace_summary
static const struct json_field summary_rows[] = {
    JSON_INTEGER(T, resource_count, 0, JSON_EXACT, 0, 0, "Resources that failed"),
    JSON_INTEGER(T, open_count, 0, JSON_EXACT, 0, 0, "Failures without an end"),
    JSON_INTEGER(T, available_count, 0, JSON_EXACT, 0, 0,
                 "fta: times of availability, which are not used"),
    JSON_INSTANT(T, from_at, 0, "Begin of the first failure"),
    JSON_INSTANT(T, to_at, 0, "Last begin or end"),
    JSON_NUMBER(T, utc_offset_s, 0, 0, 0, 0, "Local time minus UTC, as it was read"),
    JSON_LIST(T, skipped, skipped_count, struct upload_skip, &upload_skip_json, 0, 0,
              "Lines that were refused, by reason"),
    JSON_LIST(T, first_skipped, first_skipped_count, struct upload_mistake,
              &upload_mistake_json, 0, 0, "The first of them"),
    {0},
};
#undef T
static const struct json_object summary_json = {
    "FailureTraceSummary", "What a trace says", sizeof(struct trace_summary),
    summary_rows};

#define T struct store_trace
static const struct json_field info_rows[] = {
    UPLOAD_ROWS(T, failure_trace_format_names, "failure_count",
                "Failures that a simulation can use", &summary_json),
    {0},
};
#undef T
const struct json_object failure_trace_info_json = {
    "FailureTraceInfo", "A stored failure trace", sizeof(struct store_trace), info_rows};

#define T struct uploads_page
static const struct json_field page_rows[] = {
    {.name = "items",
     .doc = "The traces by id",
     .type = JSON_TYPE_LIST,
     .offset = JSON_AT(T, items, const struct store_trace *),
     .count_offset = JSON_AT(T, item_count, size_t),
     .of = &failure_trace_info_json},
    NEXT_PAGE_ROW(T),
    {0},
};
#undef T
const struct json_object failure_traces_page_json = {
    "FailureTracesPage", "A page of failure traces", sizeof(struct uploads_page),
    page_rows};

/* The format that the request names, or -1 after noting the mistake. */
static int choose_format(struct request *rq, const struct create_query *query)
{
    const char *type = rq->message->content_type;

    if (query->format != FORMAT_NOT_GIVEN)
        return query->format;
    if (type && strncasecmp(type, "text/csv", 8) == 0)
        return FAILURE_TRACE_LANL_CFDR;
    if (type && strncasecmp(type, "text/tab-separated-values", 25) == 0)
        return FAILURE_TRACE_FTA;
    invalid(rq->err, "?/format", ITEM_REQUIRED,
            "say which format it is: ?format=lanl_cfdr, or fta, or by the Content-Type "
            "text/csv or text/tab-separated-values");
    return FORMAT_NOT_GIVEN;
}

/* What is kept of a trace while it is read. */
struct looking {
    struct failure_trace_reader reader;
    struct trace_summary summary;
    struct name_pool resources;
    struct arena *arena;
    uint64_t length;
};

/* failure_sink_fn */
static enum error_code look_at(void *context, const struct failure *f, struct error *err)
{
    struct looking *l = context;
    struct trace_summary *s = &l->summary;
    const char *copy;

    (void)err;
    s->from_at_s = fmin(f->down_at_s, s->from_at_s); /* of NAN the other */
    s->to_at_s = fmax(fmax(f->down_at_s, f->up_at_s), s->to_at_s);
    name_pool_add(&l->resources, f->resource_id, 0, &copy, l->arena);
    s->resource_count = l->resources.count;
    return OK;
}

enum { BYTE_STEPS = 4 }; /* bytes of a trace that are read in a step */

/* gzip_piece_fn */
static enum error_code read_piece(void *context, const char *piece, size_t length,
                                  struct error *err)
{
    struct looking *l = context;

    l->length += length;
    TRY(json_go_on(length / BYTE_STEPS, err));
    return failure_trace_feed(&l->reader, piece, length, err);
}

static void list_refused(const struct failure_trace_counts *counts,
                         struct trace_summary *s, struct arena *a)
{
    struct upload_skip *skipped = NEW(a, struct upload_skip, FAILURE_TRACE_REFUSAL_COUNT);
    struct upload_mistake *first = NEW(a, struct upload_mistake, counts->issue_count);

    s->skipped = skipped;
    s->first_skipped = first;
    s->first_skipped_count = counts->issue_count;
    for (size_t i = 0; i < FAILURE_TRACE_REFUSAL_COUNT; i++)
        if (counts->refused_by[i])
            skipped[s->skipped_count++] = (struct upload_skip){
                failure_trace_refusal_names[i], counts->refused_by[i]};
    for (size_t i = 0; i < counts->issue_count; i++)
        first[i] = (struct upload_mistake){
            counts->issues[i].line,
            failure_trace_refusal_names[counts->issues[i].reason]};
}

/* Fills all of *trace but name and document. */
static enum error_code read_trace(struct request *rq, enum failure_trace_format format,
                                  double utc_offset_s, struct store_trace *trace,
                                  uint64_t *length)
{
    struct arena *a = rq->arena;
    struct looking *l = NEW(a, struct looking, 1);
    const struct failure_trace_counts *counts = &l->reader.counts;
    struct text_buffer text = {.arena = a};

    l->arena = a;
    l->summary = (struct trace_summary){
        .from_at_s = NAN, .to_at_s = NAN, .utc_offset_s = utc_offset_s};
    failure_trace_open(&l->reader, format, utc_offset_s, look_at, l);
    TRY(request_pieces(rq, read_piece, l));
    TRY(failure_trace_end(&l->reader, rq->err));
    *length = l->length;
    if (counts->failures == 0)
        return fail(rq->err, ERR_INVALID, "", "none of %s is a failure in the format %s",
                    counted(counts->lines, "line").text,
                    failure_trace_format_names[format]);
    list_refused(counts, &l->summary, a);
    l->summary.open_count = counts->open;
    l->summary.available_count = counts->up;
    json_print(&summary_json, &l->summary, &text);
    trace->format = failure_trace_format_names[format];
    trace->line_count = counts->lines;
    trace->record_count = counts->failures;
    trace->skipped_count = counts->refused;
    trace->summary = text_end(&text);
    return OK;
}

enum error_code post_failure_trace(struct request *rq, const void *in, void *out)
{
    static const struct create_query nothing = {.format = FORMAT_NOT_GIVEN};
    const struct create_query *query = rq->query ? rq->query : &nothing;
    struct store_trace trace = {0};
    int format = choose_format(rq, query);
    const char *name;
    uint64_t length;

    (void)in;
    stored_name_choose(rq, query->id, "?/id", &name);
    if (rq->err->code != OK)
        return rq->err->code;
    TRY(read_trace(rq, (enum failure_trace_format)format, query->utc_offset_s, &trace,
                   &length));
    return upload_store(rq, STORE_FAILURE_TRACE, name, length, &trace, out);
}

enum error_code get_failure_traces(struct request *rq, const void *in, void *out)
{
    (void)in;
    return upload_list(rq, STORE_FAILURE_TRACE, out);
}

enum error_code get_failure_trace(struct request *rq, const void *in, void *out)
{
    (void)in;
    return upload_read(rq, STORE_FAILURE_TRACE, out);
}

enum error_code get_failure_trace_document(struct request *rq, const void *in, void *out)
{
    (void)in, (void)out;
    return upload_document(rq, STORE_FAILURE_TRACE);
}

enum error_code delete_failure_trace(struct request *rq, const void *in, void *out)
{
    (void)in, (void)out;
    return upload_delete(rq, STORE_FAILURE_TRACE);
}

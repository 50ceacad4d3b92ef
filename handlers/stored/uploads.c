/* uploads.c - what /v1/workloads and /v1/failure-traces have in common. */
#include "handlers/stored/uploads.h"

#include "handlers/stored/workload_log.h"
#include "models/failure_trace.h"
#include "models/swf.h"
#include "service/etag.h"
#include "service/stream.h"

#include <math.h>
#include <string.h>

struct list_query {
    struct page_query page;
};

#define T struct list_query
static const struct json_field list_query_rows[] = {
    PAGE_ROWS(T),
    {0},
};
#undef T
const struct json_object uploads_query_json = {
    "UploadsQuery", "Which page", sizeof(struct list_query), list_query_rows};

/* Of job logs, of accounting and of failure logs. */
static const char *const skip_names[] = {
#define X(symbol, name, meaning) #name,
    SWF_SKIPS(X) FAILURE_TRACE_REFUSALS(X)
#undef X
        NULL};

#define T struct upload_skip
static const struct json_field skip_rows[] = {
    JSON_WORD(T, reason, skip_names, 0, "Why"),
    JSON_INTEGER(T, line_count, 0, JSON_EXACT, 0, 0, "Lines left out for it"),
    {0},
};
#undef T
const struct json_object upload_skip_json = {"UploadSkip",
                                             "Lines left out for the same reason",
                                             sizeof(struct upload_skip), skip_rows};

#define T struct upload_mistake
static const struct json_field mistake_rows[] = {
    JSON_INTEGER(T, line, 1, JSON_EXACT, 1, 0, "Line of the document, from 1"),
    JSON_TEXT(T, detail, 0, "What is wrong with it"),
    {0},
};
#undef T
const struct json_object upload_mistake_json = {
    "UploadMistake", "A line that could not be read", sizeof(struct upload_mistake),
    mistake_rows};

static const char *path_of(enum store_trace_kind kind)
{
    return kind == STORE_WORKLOAD ? "/v1/workloads" : "/v1/failure-traces";
}

/* An upload that is to be stored. */
struct upload {
    enum store_trace_kind kind;
    struct store_trace trace;
    struct store_trace *out;
    char *piece; /* room for STORE_PIECE_BYTES when the body is stored in pieces */
};

/* A strong ETag: what was stored under the name does not change, but another may be
 * stored there when it is deleted. A transaction that is tried again takes its own. */
static const char *etag_of(const struct request *rq, const struct store_trace *t)
{
    return arena_printf(rq->arena, "\"%llx\"",
                        (unsigned long long)llround(t->created_at_s * 1e6));
}

static void add_etag(struct request *rq, const struct store_trace *t)
{
    struct reply *reply = rq->reply;
    const char *tag = etag_of(rq, t);

    for (size_t i = 0; i < reply->header_count; i++) {
        if (strcmp(reply->headers[i].name, "ETag") != 0)
            continue;
        reply->headers[i].value = tag;
        return;
    }
    reply_header_add(reply, "ETag", tag);
}

/* Pieces on their way into the database. */
struct piecing {
    struct db_session *db;
    const char *tenant, *trace_id;
    enum store_trace_kind kind;
    char *piece;
    size_t length;
    uint64_t number;
};

static enum error_code write_piece(struct piecing *p, struct error *err)
{
    const struct db_bytes content = {(const unsigned char *)p->piece, p->length};

    p->length = 0;
    return store_trace_piece(p->db, p->tenant, p->kind, p->trace_id, p->number++, content,
                             err);
}

/* gzip_piece_fn */
static enum error_code add_to_piece(void *context, const char *piece, size_t length,
                                    struct error *err)
{
    struct piecing *p = context;

    while (length) {
        size_t room = STORE_PIECE_BYTES - p->length;
        size_t taken = length < room ? length : room;

        memcpy(p->piece + p->length, piece, taken);
        p->length += taken;
        piece += taken;
        length -= taken;
        if (p->length == STORE_PIECE_BYTES)
            TRY(write_piece(p, err));
    }
    return OK;
}

static enum error_code write_pieces(struct request *rq, struct db_session *db,
                                    const struct upload *u)
{
    struct piecing p = {.db = db,
                        .tenant = rq->principal.tenant,
                        .trace_id = u->trace.trace_id,
                        .kind = u->kind,
                        .piece = u->piece};

    TRY(request_pieces(rq, add_to_piece, &p));
    return p.length ? write_piece(&p, rq->err) : OK;
}

/* publish_fn */
static enum error_code write_upload(struct request *rq, struct db_session *db,
                                    void *context)
{
    const struct upload *u = context;

    TRY(store_trace_create(db, rq->principal.tenant, u->kind, &u->trace, u->out,
                           rq->arena, rq->err));
    if (u->piece)
        TRY(write_pieces(rq, db, u));
    add_etag(rq, u->out);
    return OK;
}

static enum error_code store(struct request *rq, const struct upload *what)
{
    struct upload *upload = NEW(rq->arena, struct upload, 1);
    const char *location;

    *upload = *what;
    TRY(request_at_publish(rq, write_upload, upload));
    location =
        arena_printf(rq->arena, "%s/%s", path_of(upload->kind), upload->trace.trace_id);
    rq->reply->status = 201;
    reply_header_add(rq->reply, "Location", location);
    return OK;
}

enum error_code upload_store(struct request *rq, enum store_trace_kind kind,
                             const char *name, uint64_t length, struct store_trace *trace,
                             struct store_trace *out)
{
    struct upload upload = {kind, *trace, out, NULL};
    struct raw_body body = {"", 0};
    struct db_session *db;

    TRY(request_db(rq, &db)); /* say now that there is none */
    upload.trace.trace_id = name;
    if (length <= STORE_PIECE_BYTES) {
        TRY(request_whole_body(rq, &body.text, &body.length));
    } else {
        upload.trace.piece_bytes = length;
        upload.piece = NEW(rq->arena, char, STORE_PIECE_BYTES);
    }
    upload.trace.document =
        (struct db_bytes){(const unsigned char *)body.text, body.length};
    return store(rq, &upload);
}

enum error_code upload_list(struct request *rq, enum store_trace_kind kind,
                            struct uploads_page *page)
{
    const struct list_query *query = rq->query;
    struct store_page part;
    struct db_session *db;

    TRY(page_of(rq, &query->page, &part));
    TRY(request_db(rq, &db));
    TRY(store_traces_list(db, rq->principal.tenant, kind, &part, &page->items,
                          &page->item_count, &page->next_page_token, rq->arena, rq->err));
    return page_link(rq, &page->next_page_token);
}

enum error_code upload_read(struct request *rq, enum store_trace_kind kind,
                            struct store_trace *out)
{
    struct db_session *db;

    TRY(request_db(rq, &db));
    TRY(store_trace_read(db, rq->principal.tenant, kind, rq->path_value[0], false, out,
                         rq->arena, rq->err));
    add_etag(rq, out);
    return OK;
}

enum error_code upload_document(struct request *rq, enum store_trace_kind kind)
{
    struct store_trace trace = {0};
    struct db_session *db;

    TRY(request_db(rq, &db));
    TRY(store_trace_read(db, rq->principal.tenant, kind, rq->path_value[0], true, &trace,
                         rq->arena, rq->err));
    if (trace.piece_bytes) /* else the row has been there as a whole */
        TRY(request_reserve(rq, (double)trace.piece_bytes));
    rq->reply->content_type = "text/plain; charset=utf-8";
    return workload_text(db, rq->principal.tenant, kind, &trace, &rq->reply->body,
                         &rq->reply->body_length, rq->arena, rq->err);
}

/* ERR_STALE unless If-Match names what is stored, or any, or is missing. */
static enum error_code check_if_match(struct request *rq, struct db_session *db,
                                      enum store_trace_kind kind)
{
    const char *if_match = rq->message->if_match, *tag;
    struct store_trace stored;

    if (!if_match)
        return OK;
    TRY(store_trace_read(db, rq->principal.tenant, kind, rq->path_value[0], false,
                         &stored, rq->arena, rq->err));
    tag = etag_of(rq, &stored);
    if (etag_matches(if_match, tag))
        return OK;
    return etag_refuse_stale(rq->err, "document", if_match, tag);
}

enum error_code upload_delete(struct request *rq, enum store_trace_kind kind)
{
    struct db_session *db;

    TRY(request_db(rq, &db));
    TRY(check_if_match(rq, db, kind));
    TRY(store_trace_delete(db, rq->principal.tenant, kind, rq->path_value[0], rq->err));
    rq->reply->status = 204;
    return OK;
}

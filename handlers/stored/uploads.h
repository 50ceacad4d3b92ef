/* uploads.h - what /v1/workloads and /v1/failure-traces have in common.
 *
 * The body of POST is a text in a format of its own, kept byte for byte under a
 * name (the parameter id, or a new UUID). Lines that say nothing a simulation
 * can use are counted by reason; the first of those that are wrong are told.
 */
#ifndef GRIDPLAN_UPLOADS_H
#define GRIDPLAN_UPLOADS_H

#include "handlers/common/page.h"
#include "service/json_holds.h"
#include "service/store_simulation.h"

enum { UPLOAD_MISTAKES_MAX = 20 };

/* Lines that were left out for the same reason. */
struct upload_skip {
    const char *reason;
    uint64_t line_count;
};

/* A line that could not be read. */
struct upload_mistake {
    uint64_t line; /* from 1 */
    const char *detail;
};

extern const struct json_object upload_skip_json;
extern const struct json_object upload_mistake_json;

struct uploads_page {
    const struct store_trace *items;
    size_t item_count;
    const char *next_page_token;
};

/* Parameters of POST: the first rows of a struct T with the member `id`. */
#define UPLOAD_ID_ROW(T) \
    JSON_ID(T, id, 0, "Name: at most 128 of A-Z a-z 0-9 . _ ~ -; default: a UUID")

/* Rows of struct store_trace; `records` is the JSON name of what a line stands for,
 * `formats` the names of formats. */
#define UPLOAD_ROWS(T, formats, records, records_doc, summary_table)                    \
    {.name = "id",                                                                      \
     .doc = "Name of the upload",                                                       \
     .type = JSON_TYPE_TEXT,                                                            \
     .offset = JSON_AT(T, trace_id, const char *)},                                     \
        JSON_WORD(T, format, formats, 0, "Format of the document"),                     \
        JSON_INTEGER(T, document_bytes, 0, JSON_EXACT, 0, 0, "Length of the document"), \
        JSON_INTEGER(T, line_count, 0, JSON_EXACT, 0, 0, "Its lines"),                  \
        {.name = records,                                                               \
         .doc = records_doc,                                                            \
         .type = JSON_TYPE_INTEGER,                                                     \
         .offset = JSON_AT(T, record_count, uint64_t),                                  \
         .max = JSON_EXACT},                                                            \
        JSON_INTEGER(T, skipped_count, 0, JSON_EXACT, 0, 0,                             \
                     "Lines that are not used, comments and empty ones not counted"),   \
        JSON_RAW(T, summary, 0, "What was found when it was read",                      \
                 JSON_HOLDS(summary_table)),                                            \
        JSON_INSTANT(T, created_at, 0, "When it was stored")

extern const struct json_object uploads_query_json;

/* Stores what was read (all but name and document are in *trace) of a body that is read
 * piece by piece (ROUTE_STREAMS), and has `length` bytes, and answers with 201. */
enum error_code upload_store(struct request *rq, enum store_trace_kind kind,
                             const char *name, uint64_t length, struct store_trace *trace,
                             struct store_trace *out);

/* The bodies of the other handlers. */
enum error_code upload_list(struct request *rq, enum store_trace_kind kind,
                            struct uploads_page *page);
enum error_code upload_read(struct request *rq, enum store_trace_kind kind,
                            struct store_trace *out);
enum error_code upload_document(struct request *rq, enum store_trace_kind kind);
enum error_code upload_delete(struct request *rq, enum store_trace_kind kind);

#endif

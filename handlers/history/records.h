/* records.h - the routes of stored records: one row a record, one way to serve all.
 *
 * From a row and its record (service/records/) come
 *
 *     GET     /v1/failures   a page, by the filters of its rows and a range of time
 *     POST    /v1/failures   bulk.h, ?on_conflict=refuse|keep|replace
 *     PATCH   /v1/failures   the record of that key (in the query) by a merge patch
 *     DELETE  /v1/failures   those that fit, 100,000 at most; dry_run counts them
 *
 * with their parameters, schemas and names in the description.
 */
#ifndef GRIDPLAN_HISTORY_RECORDS_H
#define GRIDPLAN_HISTORY_RECORDS_H

#include "handlers/common/page.h"
#include "handlers/engines/execution_trace.h"
#include "handlers/history/bulk.h"

struct history {
    const struct record *record;
    const char *path;      /* "/v1/failures" */
    const char *one, *all; /* "Failure", "Failures": in names of schemas and operations */
    const char *noun;      /* "failures": in sentences */
    const struct route_tag *tag;
    const char *list_doc, *post_doc;
    const char *example; /* prefix of the files; NULL: none */
    /* Where a record is sent in another form than it is stored. NULL: in the same. */
    const struct json_object *sent, *answer;
    handler_fn *post;
    bool replaces;     /* on_conflict: replace, unless something else is asked for */
    bool takes_traces; /* its own POST reads trace files, too */
};

extern const struct history histories[]; /* ended by {0} */

/* Their routes, made at the first call (which one thread makes before the others start);
 * ended by {0}. */
const struct route *history_record_routes(void);

/* How a body is to be stored: rq->query of a POST that has on_conflict. */
extern const struct json_object conflict_query_json;

/* What it says of a trace file. */
const struct trace_query *records_trace_query(const struct request *rq);

/* For a POST of its own: stores the records that were accepted, perhaps in another form
 * (`list`), and completes the answer. */
enum error_code records_store(struct request *rq, const struct record *record,
                              const void *list, const struct bulk_items *items,
                              struct bulk_answer *answer);

/* Changes the one record that fits by the merge patch `in`; *out is what it is then.
 * ERR_NOT_FOUND. */
enum error_code record_patch(struct request *rq, const struct record *record,
                             const struct record_filter *filter, const void *in,
                             void *out);

#endif

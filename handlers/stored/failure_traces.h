/* failure_traces.h - /v1/failure-traces: failure logs for simulations.
 *
 * The formats are those of models/failure_trace.h; without the parameter `format`
 * the Content-Type says which: text/csv lanl_cfdr, text/tab-separated-values fta.
 * Simulations name a trace by failure_trace_id.
 */
#ifndef GRIDPLAN_FAILURE_TRACES_H
#define GRIDPLAN_FAILURE_TRACES_H

#include "handlers/stored/uploads.h"

extern const struct json_object failure_trace_create_query_json;
extern const struct json_object failure_trace_info_json;
extern const struct json_object failure_traces_page_json;

/* POST /v1/failure-traces: text body; answers failure_trace_info_json. */
handler_fn post_failure_trace;

/* GET /v1/failure-traces */
handler_fn get_failure_traces;

/* GET /v1/failure-traces/{failure_trace_id}: answers failure_trace_info_json. */
handler_fn get_failure_trace;

/* GET /v1/failure-traces/{failure_trace_id}/document: the text. */
handler_fn get_failure_trace_document;

/* DELETE /v1/failure-traces/{failure_trace_id}: no content. */
handler_fn delete_failure_trace;

#endif

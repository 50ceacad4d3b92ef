/* workloads.h - /v1/workloads: job logs for simulations, in Standard Workload Format.
 *
 * A log is kept byte for byte. Simulations name it by workload_id.
 */
#ifndef GRIDPLAN_WORKLOADS_H
#define GRIDPLAN_WORKLOADS_H

#include "handlers/stored/uploads.h"

extern const struct json_object workload_create_query_json;
extern const struct json_object workload_info_json;
extern const struct json_object workloads_page_json;

/* POST /v1/workloads: text body; answers workload_info_json. */
handler_fn post_workload;

/* GET /v1/workloads */
handler_fn get_workloads;

/* GET /v1/workloads/{workload_id}: answers workload_info_json. */
handler_fn get_workload;

/* GET /v1/workloads/{workload_id}/document: the text. */
handler_fn get_workload_document;

/* DELETE /v1/workloads/{workload_id}: no content. */
handler_fn delete_workload;

#endif

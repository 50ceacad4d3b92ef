/* replicas.h - /v1/replicas: the catalogue of files and their copies. */
#ifndef GRIDPLAN_REPLICAS_H
#define GRIDPLAN_REPLICAS_H

#include "service/route.h"

extern const struct json_object replica_record_json;
extern const struct json_object replicas_query_json;
extern const struct json_object replicas_page_json;
extern const struct json_object replicas_delete_query_json;
extern const struct json_object replicas_deleted_json;

/* POST /v1/replicas (bulk): answers bulk_unique_answer_json of bulk.h. */
handler_fn post_replicas;

/* GET /v1/replicas */
handler_fn get_replicas;

/* DELETE /v1/replicas */
handler_fn delete_replicas;

#endif

/* routes.h - the endpoints of this room. */
#ifndef GRIDPLAN_SITE_HISTORY_ROUTES_H
#define GRIDPLAN_SITE_HISTORY_ROUTES_H

#include "service/route.h"

/* Sorted by path, ended by {0}. */
extern const struct route site_history_routes[];

/* ---- replicas.c - /v1/replicas: the catalogue of files and their copies. */

extern const struct json_object replica_record_json;
extern const struct json_object replicas_query_json;
extern const struct json_object replicas_page_json;
extern const struct json_object replicas_delete_query_json;
extern const struct json_object replicas_deleted_json;

/* POST /v1/replicas (bulk): answers bulk_answer_json of bulk.h. */
handler_fn post_replicas;

/* GET /v1/replicas */
handler_fn get_replicas;

/* DELETE /v1/replicas */
handler_fn delete_replicas;

/* ---- failure_resources.c - how often each resource fails. */

extern const struct json_object failure_resources_query_json;
extern const struct json_object failure_resources_page_json;

handler_fn get_failure_resources;

#endif

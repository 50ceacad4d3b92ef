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

/* ---- reschedule_events.c - /v1/reschedule-events: moves of running applications. */

extern const struct json_object reschedule_event_json;
extern const struct json_object reschedule_events_query_json;
extern const struct json_object reschedule_events_page_json;

/* POST /v1/reschedule-events (bulk): answers bulk_answer_json of bulk.h. */
handler_fn post_reschedule_events;

/* GET /v1/reschedule-events */
handler_fn get_reschedule_events;

/* ---- site_errors.c - /v1/site-errors: components that failed by the fault of their
 * site. */

extern const struct json_object site_error_json;
extern const struct json_object site_errors_query_json;
extern const struct json_object site_errors_page_json;

/* POST /v1/site-errors (bulk): answers bulk_answer_json of bulk.h. */
handler_fn post_site_errors;

/* GET /v1/site-errors */
handler_fn get_site_errors;

/* ---- transfers.c - /v1/transfers: how long copies of files took. */

extern const struct json_object transfer_json;
extern const struct json_object transfers_query_json;
extern const struct json_object transfers_page_json;

/* POST /v1/transfers (bulk): answers bulk_answer_json of bulk.h. */
handler_fn post_transfers;

/* GET /v1/transfers */
handler_fn get_transfers;

#endif

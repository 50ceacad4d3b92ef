/* routes.h - the endpoints of this room. */
#ifndef GRIDPLAN_ENGINES_ROUTES_H
#define GRIDPLAN_ENGINES_ROUTES_H

#include "service/route.h"

/* Sorted by path, ended by {0}. */
extern const struct route engines_routes[];

/* ---- nextflow_weblog.c - messages of Nextflow. */

extern const struct json_object nextflow_query_json;
extern const struct json_object nextflow_answer_json;

handler_fn post_nextflow;

/* ---- clients.c - programs for users of engines. */

handler_fn get_client;
handler_fn get_client_sums;

/* ---- cws.c - nf-cws, a plugin of Nextflow. */

handler_fn get_cws_health;
handler_fn post_cws_run;
handler_fn delete_cws_run;
handler_fn post_cws_vertices;
handler_fn delete_cws_vertices;
handler_fn post_cws_edges;
handler_fn delete_cws_edges;
handler_fn put_cws_batch;
handler_fn post_cws_task;
handler_fn get_cws_task;
handler_fn delete_cws_task;
handler_fn post_cws_metrics;
handler_fn post_cws_publish;

/* ---- cws_order.c - in which order its tasks should go. */

extern const struct json_object cws_order_json;

handler_fn get_cws_run;

/* ---- kubernetes_extender.c - the scheduler of Kubernetes. */

handler_fn post_kubernetes_filter;
handler_fn post_kubernetes_prioritize;

/* ---- tpv_destinations.c - Galaxy's Total Perspective Vortex. */

extern const struct json_object tpv_answer_json;

handler_fn post_tpv;

#endif

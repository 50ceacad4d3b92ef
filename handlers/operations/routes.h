/* routes.h - the endpoints of this room. */
#ifndef GRIDPLAN_OPERATIONS_ROUTES_H
#define GRIDPLAN_OPERATIONS_ROUTES_H

#include "service/route.h"

/* Sorted by path, ended by {0}. */
extern const struct route operations_routes[];

/* ---- algorithms.c - GET /v1/algorithms: the policy tables, printed. */

extern const struct json_object algorithms_answer_json;
extern const struct json_object algorithms_query_json;

handler_fn get_algorithms;

/* The path of the first endpoint that has an algorithm of this name; NULL: none. */
const char *algorithm_endpoint(const char *name);

/* ---- errors.c - GET /v1/errors: the codes of errors, of mistakes and of warnings. */

extern const struct json_object errors_answer_json;

handler_fn get_errors;

/* ---- operations.c - what operators and tools ask of the service itself. */

extern const struct json_object health_json;
extern const struct json_object health_query_json;

handler_fn get_livez;
handler_fn get_readyz;
handler_fn get_metrics;
handler_fn get_openapi;

/* ---- quotas.c - GET /v1/quotas: what the caller may still take. */

extern const struct json_object quotas_json;

handler_fn get_quotas;

/* ---- service_info.c - GET /v1/service-info: what this service is. */

extern const struct json_object service_info_json;

handler_fn get_service_info;

#endif

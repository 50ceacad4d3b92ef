/* operations.h - what operators and tools ask of the service itself. */
#ifndef GRIDPLAN_OPERATIONS_H
#define GRIDPLAN_OPERATIONS_H

#include "service/route.h"

extern const struct json_object health_json;
extern const struct json_object health_query_json;

handler_fn get_livez;
handler_fn get_readyz;
handler_fn get_metrics;
handler_fn get_openapi;

#endif

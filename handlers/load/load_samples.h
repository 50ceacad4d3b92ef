/* load_samples.h - /v1/load-samples/aggregates: what samples say together. */
#ifndef GRIDPLAN_LOAD_SAMPLES_H
#define GRIDPLAN_LOAD_SAMPLES_H

#include "service/route.h"

extern const struct json_object load_aggregates_query_json;
extern const struct json_object load_aggregates_json;

/* GET /v1/load-samples/aggregates */
handler_fn get_load_aggregates;

#endif

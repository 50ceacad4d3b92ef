/* load_samples.h - /v1/load-samples: observed load of resources and links. */
#ifndef GRIDPLAN_LOAD_SAMPLES_H
#define GRIDPLAN_LOAD_SAMPLES_H

#include "service/route.h"

extern const struct json_object load_sample_json;
extern const struct json_object load_samples_query_json;
extern const struct json_object load_samples_page_json;
extern const struct json_object load_aggregates_query_json;
extern const struct json_object load_aggregates_json;

/* POST /v1/load-samples (bulk): answers bulk_answer_json of bulk.h. */
handler_fn post_load_samples;

/* GET /v1/load-samples */
handler_fn get_load_samples;

/* GET /v1/load-samples/aggregates */
handler_fn get_load_aggregates;

#endif

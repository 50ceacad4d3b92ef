/* observations.h - /v1/observations: since when resources have been watched. */
#ifndef GRIDPLAN_OBSERVATIONS_H
#define GRIDPLAN_OBSERVATIONS_H

#include "service/route.h"

extern const struct json_object observation_json;
extern const struct json_object observations_query_json;
extern const struct json_object observations_page_json;
extern const struct json_object observation_key_query_json;

handler_fn get_observations;
handler_fn post_observations;
handler_fn delete_observation;

#endif

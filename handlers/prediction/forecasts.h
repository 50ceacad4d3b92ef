/* forecasts.h - GET /v1/forecasts: the load to be expected of resources and links. */
#ifndef GRIDPLAN_FORECASTS_H
#define GRIDPLAN_FORECASTS_H

#include "service/route.h"

extern const struct json_object forecasts_query_json;
extern const struct json_object forecasts_page_json;

handler_fn get_forecasts;

#endif

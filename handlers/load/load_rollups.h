/* load_rollups.h - /v1/load-rollups: what is kept of load samples by minute, hour and
 * day. */
#ifndef GRIDPLAN_LOAD_ROLLUPS_H
#define GRIDPLAN_LOAD_ROLLUPS_H

#include "service/route.h"

extern const struct json_object load_rollups_query_json;
extern const struct json_object load_rollups_page_json;
handler_fn get_load_rollups;

#endif

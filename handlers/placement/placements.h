/* placements.h - POST /v1/placements: independent jobs to resources. */
#ifndef GRIDPLAN_PLACEMENTS_H
#define GRIDPLAN_PLACEMENTS_H

#include "service/route.h"

extern const struct json_object placements_request_json;
extern const struct json_object placements_answer_json;

handler_fn post_placements;

#endif

/* search_json.h - how searches tell what they have proven and how they came to it, in the
 * answers of all families. */
#ifndef GRIDPLAN_SEARCH_JSON_H
#define GRIDPLAN_SEARCH_JSON_H

#include "service/json.h"

extern const struct json_object proven_bound_json; /* struct proven_bound */
extern const struct json_object improvement_json;  /* struct improvement */

#endif

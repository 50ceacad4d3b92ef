/* snapshot_json.h - how snapshots, resources, links and files look in JSON. */
#ifndef GRIDPLAN_SNAPSHOT_JSON_H
#define GRIDPLAN_SNAPSHOT_JSON_H

#include "models/snapshot.h"
#include "service/json.h"
#include "service/json_patch.h"

extern const struct json_object snapshot_json;
extern const struct json_object resource_json;
extern const struct json_object interruption_notice_json;
extern const struct json_object network_json;
extern const struct json_object network_route_json;
extern const struct json_object file_json;

/* Its lists whose elements have ids, ended by {0}; the first are the resources. */
extern const struct json_keyed_list snapshot_lists[];

/* What a document under PATCH /v1/snapshots/{id} must look like. */
enum { SNAPSHOT_RESOURCES_MAX = 100000, SNAPSHOT_FILES_MAX = 100000 };

#endif

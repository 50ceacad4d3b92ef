/* routes.h - the endpoints of this room. */
#ifndef GRIDPLAN_SNAPSHOTS_ROUTES_H
#define GRIDPLAN_SNAPSHOTS_ROUTES_H

#include "service/route.h"

/* Sorted by path, ended by {0}. */
extern const struct route snapshots_routes[];

/* ---- snapshots.c - /v1/snapshots: views of the grid, stored under a name.
 *
 * The body of POST and PUT is the snapshot document itself, kept byte for byte;
 * PATCH merges into it. The name is the query parameter `id` of POST, and the
 * path of the others. */

extern const struct json_object snapshot_create_query_json;
extern const struct json_object snapshots_query_json;
extern const struct json_object snapshots_page_json;
extern const struct json_object snapshot_info_json;   /* without the document */
extern const struct json_object stored_snapshot_json; /* with it */

/* POST /v1/snapshots: raw body; answers snapshot_info_json. */
handler_fn post_snapshot;

/* GET /v1/snapshots */
handler_fn get_snapshots;

/* GET /v1/snapshots/{snapshot_id}: answers stored_snapshot_json. */
handler_fn get_snapshot;

/* PUT /v1/snapshots/{snapshot_id}: raw body; answers snapshot_info_json. */
handler_fn put_snapshot;

/* PATCH /v1/snapshots/{snapshot_id}: merge patch; answers snapshot_info_json. */
handler_fn patch_snapshot;

/* DELETE /v1/snapshots/{snapshot_id}: no content. */
handler_fn delete_snapshot;

/* ---- resources.c - /v1/snapshots/{snapshot_id}/resources: single ones of a snapshot. */

extern const struct json_object stored_resource_json;

/* GET /v1/snapshots/{snapshot_id}/resources/{resource_id}: answers stored_resource_json,
 * as the next two. */
handler_fn get_resource;

/* PUT ...: raw body */
handler_fn put_resource;

/* PATCH ...: merge patch */
handler_fn patch_resource;

/* DELETE ...: no content. */
handler_fn delete_resource;

/* ---- leases.c - /v1/snapshots/{snapshot_id}/leases: amounts that are given away. */

extern const struct json_object leases_query_json;
extern const struct json_object leases_page_json;
extern const struct json_object lease_change_json;

/* POST .../leases: lease_request_json; answers lease_json, as the next two and the last.
 */
handler_fn post_lease;
handler_fn get_lease;
handler_fn patch_lease;
handler_fn get_leases;
handler_fn delete_lease;

/* POST .../leases/{lease_id}/confirm: no body. */
handler_fn post_lease_confirm;

#endif

/* snapshots.h - /v1/snapshots: views of the grid, stored under a name.
 *
 * The body of POST and PUT is the snapshot document itself, kept byte for byte;
 * PATCH merges into it. The name is the query parameter `id` of POST, and the
 * path of the others.
 */
#ifndef GRIDPLAN_SNAPSHOTS_H
#define GRIDPLAN_SNAPSHOTS_H

#include "service/route.h"

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

#endif

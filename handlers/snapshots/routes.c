/* routes.c - the endpoints of this room.
 *
 * A row: method, path, operation and tag of the description, handler; body, answer and
 * query tables; which thread, which scope, flags; documentation; prefix of its examples.
 */
#include "handlers/snapshots/routes.h"

#include "handlers/common/snapshot_json.h"
#include "handlers/common/tags.h"
#include "handlers/snapshots/lease.h"

const struct route snapshots_routes[] = {
    {"GET", "/v1/snapshots", "listSnapshots", TAG_PLACEMENT, get_snapshots, NULL,
     &snapshots_page_json, &snapshots_query_json, WORK_QUERY, SCOPE_DECIDE | SCOPE_INGEST,
     0, "List stored snapshots", "By id, in pages, without their documents.", NULL},
    {"POST", "/v1/snapshots", "createSnapshot", TAG_PLACEMENT, post_snapshot,
     &snapshot_json, &snapshot_info_json, &snapshot_create_query_json, WORK_QUERY,
     SCOPE_INGEST, ROUTE_RAW_BODY | ROUTE_IDEMPOTENT_KEY | ROUTE_VERSIONED,
     "Store a snapshot",
     "The body is the snapshot itself; its name is the parameter id, or a new UUID. "
     "Decisions use it by snapshot_id. What decisions about amounts would refuse of it "
     "is "
     "refused here. 409 when there is one of that name.",
     NULL},
    {"DELETE", "/v1/snapshots/{snapshot_id}", "deleteSnapshot", TAG_PLACEMENT,
     delete_snapshot, NULL, NULL, NULL, WORK_QUERY, SCOPE_INGEST, ROUTE_VERSIONED,
     "Delete a stored snapshot",
     "If-Match is honoured. Stored decisions that used it keep their copy.", NULL},
    {"GET", "/v1/snapshots/{snapshot_id}", "getSnapshot", TAG_PLACEMENT, get_snapshot,
     NULL, &stored_snapshot_json, NULL, WORK_QUERY, SCOPE_DECIDE | SCOPE_INGEST,
     ROUTE_VERSIONED, "Read a stored snapshot",
     "The document byte for byte, with its generation. The ETag is strong; "
     "If-None-Match is honoured.",
     NULL},
    {"PATCH", "/v1/snapshots/{snapshot_id}", "changeSnapshot", TAG_PLACEMENT,
     patch_snapshot, NULL, &snapshot_info_json, NULL, WORK_QUERY, SCOPE_INGEST,
     ROUTE_MERGE_PATCH | ROUTE_VERSIONED, "Change a stored snapshot",
     "A JSON Merge Patch (RFC 7396) on the snapshot document: members are replaced, null "
     "removes one. Lists are replaced whole, but `resources_by_id` (id -> what is merged "
     "into that resource, or makes it; null removes it) changes single ones; so do "
     "`partitions_by_id`, `running_by_id` and `reservations_by_id`, the latter two also "
     "inside a resource. Rows of what runs and is reserved give instants there "
     "(`expected_end_at`, `started_at`, `start_at`, `end_at`), which take the place of "
     "their seconds. The result "
     "must be a valid snapshot; mistakes have their places in the patch. All of it is "
     "done or nothing, and raises the generation by 1. If-Match is optional and "
     "honoured: 412 when it is stale; without it the newest version is changed.",
     NULL},
    {"PUT", "/v1/snapshots/{snapshot_id}", "replaceSnapshot", TAG_PLACEMENT, put_snapshot,
     &snapshot_json, &snapshot_info_json, NULL, WORK_QUERY, SCOPE_INGEST,
     ROUTE_RAW_BODY | ROUTE_VERSIONED, "Replace a stored snapshot",
     "The body is the new snapshot: 200, or 201 when there was none of that name. "
     "If-Match "
     "with the ETag that GET gave replaces only that version, * only one that is there: "
     "412 when it is stale. If-None-Match: * makes it only when there is none: else 412.",
     NULL},
    {"GET", "/v1/snapshots/{snapshot_id}/leases", "listLeases", TAG_PLACEMENT, get_leases,
     NULL, &leases_page_json, &leases_query_json, WORK_QUERY, SCOPE_DECIDE | SCOPE_INGEST,
     0, "List the leases of a stored snapshot",
     "Those that have not expired, by age, in pages.", NULL},
    {"POST", "/v1/snapshots/{snapshot_id}/leases", "createLease", TAG_PLACEMENT,
     post_lease, &lease_request_json, &lease_json, NULL, WORK_QUERY,
     SCOPE_DECIDE | SCOPE_INGEST, ROUTE_IDEMPOTENT_KEY | ROUTE_MAKES,
     "Lease amounts of a stored snapshot",
     "Gives jobs amounts of resources for a while, before what runs shows it, if they "
     "fit "
     "beside what runs, is reserved and is leased already: all of it, or 409 with an "
     "element of errors for each placement that does not, which says what is short and "
     "whose leases are in the way. A job is in one live lease at most, and in none when "
     "it runs. The lease goes on until it expires, by the database's clock, unless it is "
     "prolonged; its end is no end of what it holds. Decisions that name the snapshot "
     "see it.",
     NULL},
    {"DELETE", "/v1/snapshots/{snapshot_id}/leases/{lease_id}", "deleteLease",
     TAG_PLACEMENT, delete_lease, NULL, NULL, NULL, WORK_QUERY,
     SCOPE_DECIDE | SCOPE_INGEST, 0, "Give a lease back", "404 when it has expired.",
     NULL},
    {"GET", "/v1/snapshots/{snapshot_id}/leases/{lease_id}", "getLease", TAG_PLACEMENT,
     get_lease, NULL, &lease_json, NULL, WORK_QUERY, SCOPE_DECIDE | SCOPE_INGEST, 0,
     "Read a lease", "404 when it has expired.", NULL},
    {"PATCH", "/v1/snapshots/{snapshot_id}/leases/{lease_id}", "changeLease",
     TAG_PLACEMENT, patch_lease, &lease_change_json, &lease_json, NULL, WORK_QUERY,
     SCOPE_DECIDE | SCOPE_INGEST, ROUTE_MERGE_PATCH, "Prolong a lease",
     "It expires ttl_s seconds from now. 404 when it has expired already.", NULL},
    {"POST", "/v1/snapshots/{snapshot_id}/leases/{lease_id}/confirm", "confirmLease",
     TAG_PLACEMENT, post_lease_confirm, NULL, &lease_json, NULL, WORK_QUERY,
     SCOPE_DECIDE | SCOPE_INGEST, 0, "Make a lease a part of the snapshot",
     "Its placements move into `running` of the snapshot, but for jobs that are there "
     "already, and the lease ends; the generation is raised by 1. 409, and nothing "
     "moves, "
     "when one begins later than now or its resource is gone. For snapshots that nobody "
     "else fills: the next whole PUT would lose the rows.",
     NULL},
    {"DELETE", "/v1/snapshots/{snapshot_id}/resources/{resource_id}", "deleteResource",
     TAG_PLACEMENT, delete_resource, NULL, NULL, NULL, WORK_QUERY, SCOPE_INGEST,
     ROUTE_VERSIONED, "Remove a resource of a stored snapshot",
     "The generation of the snapshot is raised by 1. If-Match, with the snapshot's ETag, "
     "is honoured. 409 when running, reservations or partitions of the snapshot name the "
     "resource.",
     NULL},
    {"GET", "/v1/snapshots/{snapshot_id}/resources/{resource_id}", "getResource",
     TAG_PLACEMENT, get_resource, NULL, &stored_resource_json, NULL, WORK_QUERY,
     SCOPE_DECIDE | SCOPE_INGEST, ROUTE_VERSIONED, "Read a resource of a stored snapshot",
     "With the generation and the ETag of the snapshot; If-None-Match is honoured.",
     NULL},
    {"PATCH", "/v1/snapshots/{snapshot_id}/resources/{resource_id}", "changeResource",
     TAG_PLACEMENT, patch_resource, NULL, &stored_resource_json, NULL, WORK_QUERY,
     SCOPE_INGEST, ROUTE_MERGE_PATCH | ROUTE_VERSIONED,
     "Change a resource of a stored snapshot",
     "A JSON Merge Patch (RFC 7396) on the resource: members are replaced, null removes "
     "one; `running_by_id` and `reservations_by_id` change single rows, which give "
     "instants and no seconds. The generation of the snapshot is raised by 1. If-Match, "
     "with the snapshot's "
     "ETag, is optional and honoured.",
     NULL},
    {"PUT", "/v1/snapshots/{snapshot_id}/resources/{resource_id}", "replaceResource",
     TAG_PLACEMENT, put_resource, &resource_json, &stored_resource_json, NULL, WORK_QUERY,
     SCOPE_INGEST, ROUTE_RAW_BODY | ROUTE_VERSIONED,
     "Replace a resource of a stored snapshot",
     "The body is the whole resource, which keeps its place: 200; or 201 when there was "
     "none of that id, then it goes behind the others. Its id, if it has one, is that of "
     "the path. Rows of what runs and is reserved give instants and no seconds. The "
     "generation of the snapshot is raised by 1. If-Match, with the "
     "snapshot's ETag, is honoured; If-None-Match: * makes it only when there is none: "
     "else 412.",
     NULL},
    {0},
};

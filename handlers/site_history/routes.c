/* routes.c - the endpoints of this room.
 *
 * A row: method, path, operation and tag of the description, handler; body, answer and
 * query tables; which thread, which scope, flags; documentation; prefix of its examples.
 */
#include "handlers/site_history/routes.h"

#include "handlers/common/tags.h"
#include "handlers/history/bulk.h"

const struct route site_history_routes[] = {
    {"GET", "/v1/failures/statistics/resources", "listFailureRates", TAG_FAULT_TOLERANCE,
     get_failure_resources, NULL, &failure_resources_page_json,
     &failure_resources_query_json, WORK_COMPUTE, SCOPE_DECIDE | SCOPE_INGEST, 0,
     "How often does each resource fail?",
     "Of each stored resource, in pages: its failures, how available it was, its mean "
     "time to repair; its time at risk, the failures in it, and the mean time between "
     "failures that decisions use, with its interval and what the "
     "other hosts of the site teach.",
     NULL},
    {"DELETE", "/v1/replicas", "deleteReplicas", TAG_COALLOCATION, delete_replicas, NULL,
     &replicas_deleted_json, &replicas_delete_query_json, WORK_QUERY, SCOPE_INGEST, 0,
     "Forget copies of files",
     "Those of a file, those on a site, or, with both, one. None is no failure.", NULL},
    {"GET", "/v1/replicas", "listReplicas", TAG_COALLOCATION, get_replicas, NULL,
     &replicas_page_json, &replicas_query_json, WORK_QUERY, SCOPE_DECIDE | SCOPE_INGEST,
     0, "List copies of files",
     "The catalogue by file_id, then by site_id, in pages; quick with file_id.", NULL},
    {"POST", "/v1/replicas", "addReplicas", TAG_COALLOCATION, post_replicas,
     &replica_record_json, &bulk_answer_json, NULL, WORK_QUERY, SCOPE_INGEST,
     ROUTE_BULK | ROUTE_IDEMPOTENT_KEY, "Store copies of files",
     "Adds copies to the catalogue, or replaces what it has of the same file and site. "
     "An object or an array is stored whole or not at all; of NDJSON the good lines are "
     "stored and the bad ones refused, each with its line. Of several records of the "
     "same file and site the last counts, the others are counted in duplicates. 201: "
     "each is stored; 200: some were refused or repeated; 422: nothing is stored.",
     NULL},
    {0},
};

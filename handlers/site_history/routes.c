/* routes.c - the endpoints of this room.
 *
 * A row: method, path, operation and tag of the description, handler; body, answer and
 * query tables; which thread, which scope, flags; documentation; prefix of its examples.
 */
#include "handlers/site_history/routes.h"

#include "handlers/common/bulk.h"
#include "handlers/common/tags.h"
#include "handlers/site_history/claim_attempts.h"

const struct route site_history_routes[] = {
    {"GET", "/v1/claim-attempts", "listClaimAttempts", TAG_COALLOCATION,
     get_claim_attempts, NULL, &claim_attempts_page_json, &claim_attempts_query_json,
     WORK_QUERY, SCOPE_DECIDE | SCOPE_INGEST, 0, "List claim attempts",
     "Tries to claim by attempted_at, in pages; quick with job_id.", NULL},
    {"POST", "/v1/claim-attempts", "addClaimAttempts", TAG_COALLOCATION,
     post_claim_attempts, &claim_attempt_json, &bulk_answer_json, NULL, WORK_QUERY,
     SCOPE_INGEST, ROUTE_BULK | ROUTE_IDEMPOTENT_KEY, "Store claim attempts",
     "What became of the tries of placed jobs to get their processors: claims that ask "
     "for it choose their L by that. An object or an array is stored whole or not at "
     "all; of NDJSON the good lines are stored and the bad ones refused, each with its "
     "line. 201: all are new; 200: some were refused or stored before; 422: nothing is "
     "stored. A try with the job_id and attempted_at of a stored one is left as it is "
     "and counted in duplicates.",
     "attempt-"},
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
    {"GET", "/v1/reschedule-events", "listRescheduleEvents", TAG_PARALLEL,
     get_reschedule_events, NULL, &reschedule_events_page_json,
     &reschedule_events_query_json, WORK_QUERY, SCOPE_DECIDE | SCOPE_INGEST, 0,
     "List moves of running applications",
     "Moves by moved_at, in pages; quick with run_id.", NULL},
    {"POST", "/v1/reschedule-events", "addRescheduleEvents", TAG_PARALLEL,
     post_reschedule_events, &reschedule_event_json, &bulk_answer_json, NULL, WORK_QUERY,
     SCOPE_INGEST, ROUTE_BULK | ROUTE_IDEMPOTENT_KEY,
     "Store moves of running applications",
     "What moves cost: plans that are not told take the mean of the reported moves from "
     "the one site to the other, or inside the site. An object or an array is stored "
     "whole or not at all; of NDJSON the good lines are stored and the bad ones refused, "
     "each with its line. 201: all are new; 200: some were refused or stored before; "
     "422: nothing is stored. A move with the run_id and moved_at of a stored one is "
     "left as it is and counted in duplicates.",
     NULL},
    {"GET", "/v1/site-errors", "listSiteErrors", TAG_COALLOCATION, get_site_errors, NULL,
     &site_errors_page_json, &site_errors_query_json, WORK_QUERY,
     SCOPE_DECIDE | SCOPE_INGEST, 0, "List errors of sites",
     "Reports by observed_at, in pages; quick with site_id.", NULL},
    {"POST", "/v1/site-errors", "addSiteErrors", TAG_COALLOCATION, post_site_errors,
     &site_error_json, &bulk_answer_json, NULL, WORK_QUERY, SCOPE_INGEST,
     ROUTE_BULK | ROUTE_IDEMPOTENT_KEY, "Store errors of sites",
     "How many components failed by the fault of a site, and how many started well: "
     "component_error of POST /v1/reschedules takes its thresholds from that when it is "
     "asked to. An object or an array is stored whole or not at all; of NDJSON the good "
     "lines are stored and the bad ones refused, each with its line. 201: all are "
     "stored; 200: some lines were refused; 422: nothing is stored.",
     "site-error-"},
    {"GET", "/v1/transfers", "listTransfers", TAG_COALLOCATION, get_transfers, NULL,
     &transfers_page_json, &transfers_query_json, WORK_QUERY, SCOPE_DECIDE | SCOPE_INGEST,
     0, "List transfers",
     "Copies of files by finished_at, in pages; quick with from_site_id.", NULL},
    {"POST", "/v1/transfers", "addTransfers", TAG_COALLOCATION, post_transfers,
     &transfer_json, &bulk_answer_json, NULL, WORK_QUERY, SCOPE_INGEST,
     ROUTE_BULK | ROUTE_IDEMPOTENT_KEY, "Store transfers",
     "How long copies of files took, beside what was estimated: decisions about parallel "
     "jobs correct their estimates by that when they are asked to. An object or an array "
     "is stored whole or not at all; of NDJSON the good lines are stored and the bad "
     "ones refused, each with its line. 201: all are stored; 200: some lines were "
     "refused; 422: nothing is stored.",
     "transferred-"},
    {0},
};

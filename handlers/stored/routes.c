/* routes.c - the endpoints of this room.
 *
 * A row: method, path, operation and tag of the description, handler; body, answer and
 * query tables; which thread, which scope, flags; documentation; prefix of its examples.
 */
#include "handlers/stored/routes.h"

#include "handlers/common/tags.h"
#include "handlers/pictures/pictures.h"
#include "handlers/queue/workload_summary.h"
#include "handlers/stored/failure_traces.h"
#include "handlers/stored/removal.h"
#include "handlers/stored/uploads.h"
#include "handlers/stored/workloads.h"

const struct route stored_routes[] = {
    {"DELETE", "/v1/decisions", "deleteDecisions", TAG_DECISIONS, delete_decisions, NULL,
     &removed_answer_json, &decisions_removal_json, WORK_QUERY, SCOPE_INGEST, 0,
     "Remove stored decisions",
     "Those of an endpoint or of a range of time; 100,000 at most, and then `more` is "
     "true. None is no failure.",
     NULL},
    {"GET", "/v1/decisions", "listDecisions", TAG_DECISIONS, get_decisions, NULL,
     &decisions_page_json, &decisions_query_json, WORK_QUERY, SCOPE_DECIDE | SCOPE_INGEST,
     0, "List stored decisions",
     "The decisions whose requests said `store`, newest first, in pages, without their "
     "requests and answers.",
     NULL},
    {"DELETE", "/v1/decisions/{decision_id}", "deleteDecision", TAG_DECISIONS,
     delete_decision, NULL, NULL, NULL, WORK_QUERY, SCOPE_INGEST, 0,
     "Remove a stored decision",
     "With its request, its answer and all that it looked up.", NULL},
    {"GET", "/v1/decisions/{decision_id}", "getDecision", TAG_DECISIONS, get_decision,
     NULL, &stored_decision_json, &decision_query_json, WORK_QUERY,
     SCOPE_DECIDE | SCOPE_INGEST, ROUTE_ANSWERS_CHART | ROUTE_VERSIONED,
     "Read a stored decision",
     "The request as it came, the snapshot that it named and what else it looked up as "
     "it was then, and the answer, with an ETag that never changes. With Accept: "
     "image/svg+xml the answer as a picture.",
     NULL},
    {"GET", "/v1/decisions/{decision_id}/chart", "getDecisionChart", TAG_DECISIONS,
     get_decision_chart, NULL, NULL, &chart_query_json, WORK_QUERY,
     SCOPE_DECIDE | SCOPE_INGEST, ROUTE_RAW_REPLY | ROUTE_RAW_PICTURE | ROUTE_LOOKS_UP,
     "A stored decision as a picture",
     "Who does what when, as SVG: the answer of an endpoint whose answers have times. "
     "406 "
     "when this one has none.",
     NULL},
    {"POST", "/v1/decisions/{decision_id}/replay", "replayDecision", TAG_DECISIONS,
     post_decision_replay, NULL, &replay_answer_json, &replay_query_json, WORK_COMPUTE,
     SCOPE_DECIDE, 0, "Decide it again",
     "Answers the stored request again, with the snapshot that it named and all else "
     "that "
     "it looked up as it was then, and compares the answers in all but decision_id and "
     "timings; with_current_models asks the models as they are now. A search that its "
     "time limit ended (status cut) is repeated by its steps instead: the answer's steps "
     "become options.max_steps, its algorithm is named, and there is no time limit; "
     "status, warnings and because are then not compared. What was cut before its first "
     "step is answered again as it came, and may differ. Nothing is stored.",
     NULL},
    {"GET", "/v1/failure-traces", "listFailureTraces", TAG_SIMULATION, get_failure_traces,
     NULL, &failure_traces_page_json, &uploads_query_json, WORK_QUERY,
     SCOPE_DECIDE | SCOPE_INGEST, 0, "List failure traces",
     "By id, in pages, without their documents.", NULL},
    {"POST", "/v1/failure-traces", "createFailureTrace", TAG_SIMULATION,
     post_failure_trace, NULL, &failure_trace_info_json, &failure_trace_create_query_json,
     WORK_COMPUTE, SCOPE_INGEST,
     ROUTE_TEXT_BODY | ROUTE_STREAMS | ROUTE_IDEMPOTENT_KEY | ROUTE_LONG |
         ROUTE_VERSIONED,
     "Store a failure trace",
     "The body is a failure log: a CSV of the Computer Failure Data Repository, or an "
     "event_trace.tab of the Failure Trace Archive, which Content-Type or format says, "
     "compressed or not (Content-Encoding: gzip), of up to 4 GiB unless the service is "
     "set otherwise (GRIDPLAN_MAX_UPLOAD_BYTES). "
     "Lines that are no failures are counted by reason and the first are listed; 422 "
     "when none is one. Simulations use it by failure_trace_id.",
     NULL},
    {"DELETE", "/v1/failure-traces/{failure_trace_id}", "deleteFailureTrace",
     TAG_SIMULATION, delete_failure_trace, NULL, NULL, NULL, WORK_QUERY, SCOPE_INGEST,
     ROUTE_VERSIONED, "Delete a failure trace",
     "Simulations that wait and name it will fail. If-Match is honoured.", NULL},
    {"GET", "/v1/failure-traces/{failure_trace_id}", "getFailureTrace", TAG_SIMULATION,
     get_failure_trace, NULL, &failure_trace_info_json, NULL, WORK_QUERY,
     SCOPE_DECIDE | SCOPE_INGEST, ROUTE_VERSIONED, "Read about a failure trace",
     "What was found in it; without the document.", NULL},
    {"GET", "/v1/failure-traces/{failure_trace_id}/document", "getFailureTraceDocument",
     TAG_SIMULATION, get_failure_trace_document, NULL, NULL, NULL, WORK_QUERY,
     SCOPE_DECIDE | SCOPE_INGEST, ROUTE_RAW_REPLY, "Read a failure trace",
     "The document byte for byte.", NULL},
    {"GET", "/v1/workloads", "listWorkloads", TAG_SIMULATION, get_workloads, NULL,
     &workloads_page_json, &uploads_query_json, WORK_QUERY, SCOPE_DECIDE | SCOPE_INGEST,
     0, "List workloads", "By id, in pages, without their documents.", NULL},
    {"POST", "/v1/workloads", "createWorkload", TAG_SIMULATION, post_workload, NULL,
     &workload_info_json, &workload_create_query_json, WORK_COMPUTE, SCOPE_INGEST,
     ROUTE_TEXT_BODY | ROUTE_STREAMS | ROUTE_IDEMPOTENT_KEY | ROUTE_LONG |
         ROUTE_VERSIONED,
     "Store a workload",
     "The body is a job log in the Standard Workload Format, compressed or not "
     "(Content-Encoding: gzip), of up to 4 GiB unless the service is set otherwise "
     "(GRIDPLAN_MAX_UPLOAD_BYTES) and 20,000,000 lines, or with kind=sacct Slurm's "
     "accounting. Lines that are "
     "no usable jobs are counted by reason "
     "and the first are listed; 422 when none is one. Lines may be in any order. "
     "Simulations use it by workload_id.",
     NULL},
    {"DELETE", "/v1/workloads/{workload_id}", "deleteWorkload", TAG_SIMULATION,
     delete_workload, NULL, NULL, NULL, WORK_QUERY, SCOPE_INGEST, ROUTE_VERSIONED,
     "Delete a workload",
     "Simulations that wait and name it will fail. If-Match is honoured.", NULL},
    {"GET", "/v1/workloads/{workload_id}", "getWorkload", TAG_SIMULATION, get_workload,
     NULL, &workload_info_json, NULL, WORK_QUERY, SCOPE_DECIDE | SCOPE_INGEST,
     ROUTE_VERSIONED, "Read about a workload",
     "What was found in it; without the document.", NULL},
    {"GET", "/v1/workloads/{workload_id}/document", "getWorkloadDocument", TAG_SIMULATION,
     get_workload_document, NULL, NULL, NULL, WORK_QUERY, SCOPE_DECIDE | SCOPE_INGEST,
     ROUTE_RAW_REPLY, "Read a workload", "The document byte for byte.", NULL},
    {"GET", "/v1/workloads/{workload_id}/summary", "getWorkloadSummary", TAG_SIMULATION,
     get_workload_summary, NULL, &workload_summary_json, NULL, WORK_COMPUTE,
     SCOPE_DECIDE | SCOPE_INGEST, 0, "Who asked for what in a workload, and when?",
     "Jobs and processor time by user, by partition and by week of arrival.", NULL},

    {0},
};

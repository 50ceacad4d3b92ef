/* routes.c - the route table: what the API consists of. */
#include "handlers/routes.h"

#include "handlers/algorithms.h"
#include "handlers/bulk.h"
#include "handlers/checkpoint_intervals.h"
#include "handlers/checkpoint_logs.h"
#include "handlers/decisions.h"
#include "handlers/executions.h"
#include "handlers/failure_traces.h"
#include "handlers/failures.h"
#include "handlers/fault_tolerance_plans.h"
#include "handlers/load_samples.h"
#include "handlers/operations.h"
#include "handlers/placements.h"
#include "handlers/replica_counts.h"
#include "handlers/rounds.h"
#include "handlers/service_info.h"
#include "handlers/simulation_json.h"
#include "handlers/simulations.h"
#include "handlers/snapshot_json.h"
#include "handlers/snapshots.h"
#include "handlers/workloads.h"

/* Sorted by path. A row: method, path, handler; body, answer and query tables;
 * which thread, which scope, flags; documentation; prefix of its examples. */
const struct route routes[] = {
    {"GET", "/healthz", get_livez, NULL, &health_json, NULL, WORK_INLINE, SCOPE_NONE, 0,
     "Is the process alive? (alias of /livez)",
     "200 as long as the process answers; knows nothing of the database.", NULL},
    {"GET", "/livez", get_livez, NULL, &health_json, NULL, WORK_INLINE, SCOPE_NONE, 0,
     "Is the process alive?",
     "200 as long as the process answers; knows nothing of the database.", NULL},
    {"GET", "/metrics", get_metrics, NULL, NULL, NULL, WORK_INLINE, SCOPE_NONE,
     ROUTE_RAW_REPLY, "Metrics for Prometheus",
     "Prometheus text 0.0.4, or OpenMetrics 1.0 when Accept asks for it.", NULL},
    {"GET", "/openapi.json", get_openapi, NULL, NULL, NULL, WORK_COMPUTE, SCOPE_NONE,
     ROUTE_RAW_REPLY, "This description",
     "OpenAPI 3.1, printed from the service's own tables.", NULL},
    {"GET", "/readyz", get_readyz, NULL, &health_json, &health_query_json, WORK_QUERY,
     SCOPE_NONE, 0, "Does it take requests?",
     "200 when the database answers and has the right schema; 503 when it does not, or "
     "while the "
     "service shuts down. Decisions that carry their inputs are answered all the same.",
     NULL},
    {"GET", "/v1/algorithms", get_algorithms, NULL, &algorithms_answer_json,
     &algorithms_query_json, WORK_INLINE, SCOPE_NONE, 0,
     "All algorithms with their options",
     "Every policy of every family: name, purpose, source, and its options with type, "
     "bounds and "
     "default.",
     NULL},
    {"POST", "/v1/checkpoint-intervals", post_checkpoint_intervals,
     &checkpoint_intervals_request_json, &checkpoint_intervals_answer_json, NULL,
     WORK_INLINE, SCOPE_DECIDE, ROUTE_DECISION | ROUTE_IDEMPOTENT_KEY,
     "How often should jobs checkpoint?",
     "For each job whether to checkpoint now, the work until the next request, and the "
     "expected time it costs: from the overhead of a checkpoint and the failures of its "
     "resource, which the job, the snapshot or the stored history tells. The overhead of "
     "a job that does not say it is learnt from the checkpoint logs of its application. "
     "On request also as settings of DMTCP, FTI, SCR, Slurm and VeloC.",
     "checkpoint-"},
    {"GET", "/v1/checkpoint-logs", get_checkpoint_logs, NULL, &checkpoint_logs_page_json,
     &checkpoint_logs_query_json, WORK_QUERY, SCOPE_DECIDE | SCOPE_INGEST, 0,
     "List checkpoint logs",
     "Requests for checkpoints by requested_at, in pages; quick with application_id.",
     NULL},
    {"POST", "/v1/checkpoint-logs", post_checkpoint_logs, &checkpoint_log_json,
     &bulk_unique_answer_json, NULL, WORK_QUERY, SCOPE_INGEST,
     ROUTE_BULK | ROUTE_IDEMPOTENT_KEY, "Store checkpoint logs",
     "What jobs did when they asked for a checkpoint, and what it cost: the intervals of "
     "later jobs of the application are decided from that. An object or an array is "
     "stored whole or not at all; of NDJSON the good lines are stored and the bad ones "
     "refused, each with its line. 201: all are new; 200: some were refused or stored "
     "before; 422: nothing is stored. A log with the job_id and requested_at of a stored "
     "one is left as it is and counted in duplicates.",
     NULL},
    {"GET", "/v1/decisions", get_decisions, NULL, &decisions_page_json,
     &decisions_query_json, WORK_QUERY, SCOPE_DECIDE | SCOPE_INGEST, 0,
     "List stored decisions",
     "The decisions whose requests said `store`, newest first, in pages, without their "
     "requests and answers.",
     NULL},
    {"GET", "/v1/decisions/{decision_id}", get_decision, NULL, &stored_decision_json,
     NULL, WORK_QUERY, SCOPE_DECIDE | SCOPE_INGEST, 0, "Read a stored decision",
     "The request as it came, the snapshot that it named and what else it looked up as "
     "it was then, and the answer.",
     NULL},
    {"POST", "/v1/decisions/{decision_id}/replay", post_decision_replay, NULL,
     &replay_answer_json, NULL, WORK_COMPUTE, SCOPE_DECIDE, 0, "Decide it again",
     "Answers the stored request again, with the snapshot that it named and all else "
     "that "
     "it looked up as it was then, and compares the answers in all but decision_id and "
     "timings. A search that its "
     "time limit ended (status cut) is repeated by its steps instead: the answer's steps "
     "become options.max_steps, its algorithm is named, and there is no time limit; "
     "status, warnings and because are then not compared. What was cut before its first "
     "step is answered again as it came, and may differ. Nothing is stored.",
     NULL},
    {"GET", "/v1/executions", get_executions, NULL, &executions_page_json,
     &executions_query_json, WORK_QUERY, SCOPE_DECIDE | SCOPE_INGEST, 0,
     "List executions",
     "Observed runs by started_at, in pages; quick with application_id.", NULL},
    {"POST", "/v1/executions", post_executions, &execution_json, &bulk_unique_answer_json,
     NULL, WORK_QUERY, SCOPE_INGEST, ROUTE_BULK | ROUTE_IDEMPOTENT_KEY,
     "Store executions",
     "Observed runs of applications. An object or an array is stored whole or not at "
     "all; of NDJSON the good lines are stored and the bad ones refused, each with its "
     "line. 201: all are new; 200: some were refused or stored before; 422: nothing is "
     "stored. A run with the execution_id and phase_index of a stored one is left as it "
     "is and counted in duplicates.",
     NULL},
    {"GET", "/v1/failure-traces", get_failure_traces, NULL, &failure_traces_page_json,
     &uploads_query_json, WORK_QUERY, SCOPE_DECIDE | SCOPE_INGEST, 0,
     "List failure traces", "By id, in pages, without their documents.", NULL},
    {"POST", "/v1/failure-traces", post_failure_trace, NULL, &failure_trace_info_json,
     &failure_trace_create_query_json, WORK_COMPUTE, SCOPE_INGEST,
     ROUTE_TEXT_BODY | ROUTE_IDEMPOTENT_KEY, "Store a failure trace",
     "The body is a failure log: a CSV of the Computer Failure Data Repository, or an "
     "event_trace.tab of the Failure Trace Archive, which Content-Type or format says. "
     "Lines that are no failures are counted by reason and the first are listed; 422 "
     "when none is one. Simulations use it by failure_trace_id.",
     NULL},
    {"DELETE", "/v1/failure-traces/{failure_trace_id}", delete_failure_trace, NULL, NULL,
     NULL, WORK_QUERY, SCOPE_INGEST, 0, "Delete a failure trace",
     "Simulations that wait and name it will fail.", NULL},
    {"GET", "/v1/failure-traces/{failure_trace_id}", get_failure_trace, NULL,
     &failure_trace_info_json, NULL, WORK_QUERY, SCOPE_DECIDE | SCOPE_INGEST, 0,
     "Read about a failure trace", "What was found in it; without the document.", NULL},
    {"GET", "/v1/failure-traces/{failure_trace_id}/document", get_failure_trace_document,
     NULL, NULL, NULL, WORK_QUERY, SCOPE_DECIDE | SCOPE_INGEST, ROUTE_RAW_REPLY,
     "Read a failure trace", "The document byte for byte.", NULL},
    {"GET", "/v1/failures", get_failures, NULL, &failures_page_json, &failures_query_json,
     WORK_QUERY, SCOPE_DECIDE | SCOPE_INGEST, 0, "List failures",
     "Failures by down_at, in pages; quick with resource_id.", NULL},
    {"POST", "/v1/failures", post_failures, &failure_json, &bulk_answer_json, NULL,
     WORK_QUERY, SCOPE_INGEST, ROUTE_BULK | ROUTE_IDEMPOTENT_KEY, "Store failures",
     "Times in which resources were down; without up_at a failure is open until a "
     "recovery ends it. An object or an array is stored whole or not at all; of NDJSON "
     "the good lines are stored and the bad ones refused, each with its line. 201: all "
     "are stored; 200: some lines were refused; 422: nothing is stored.",
     NULL},
    {"POST", "/v1/failures/recoveries", post_recovery, &recovery_json,
     &recovery_answer_json, NULL, WORK_QUERY, SCOPE_INGEST, 0, "A resource is up again",
     "Ends the open failures of a resource that began before up_at. Sending it again "
     "does no harm.",
     NULL},
    {"GET", "/v1/failures/statistics", get_failure_statistics, NULL,
     &failure_statistics_json, &failure_statistics_query_json, WORK_COMPUTE,
     SCOPE_DECIDE | SCOPE_INGEST, 0, "What do the failures say?",
     "Counts, availability, mean times between failures (by several estimators) and to "
     "repair, and the fits of Weibull, exponential and lognormal distributions to the "
     "gaps between failures, of one resource or of all taken together. Overlapping, "
     "simultaneous and open failures are understood.",
     NULL},
    {"POST", "/v1/fault-tolerance-plans", post_fault_tolerance_plans,
     &fault_tolerance_plans_request_json, &round_answer_json, NULL, WORK_COMPUTE,
     SCOPE_DECIDE, ROUTE_DECISION | ROUTE_IDEMPOTENT_KEY, "Checkpoints, copies, or both?",
     "What a grid scheduler should do now about failures: which copies to start and to "
     "cancel, and which jobs to checkpoint. combined swings between copies and "
     "checkpoints with the load, migration restarts from the last checkpoint, and "
     "expected_time takes for each job the remedy of least expected time within a limit "
     "of cost, and shows them all.",
     "fault_tolerance-"},
    {"GET", "/v1/load-samples", get_load_samples, NULL, &load_samples_page_json,
     &load_samples_query_json, WORK_QUERY, SCOPE_DECIDE | SCOPE_INGEST, 0,
     "List load samples",
     "Load samples by observed_at, in pages; quick with resource_id.", NULL},
    {"POST", "/v1/load-samples", post_load_samples, &load_sample_json, &bulk_answer_json,
     NULL, WORK_QUERY, SCOPE_INGEST, ROUTE_BULK | ROUTE_IDEMPOTENT_KEY,
     "Store load samples",
     "Observations of resources and links; each has one measure at least. An object or "
     "an array is stored whole or not at all; of NDJSON the good lines are stored and "
     "the bad ones refused, each with its line. 201: all are stored; 200: some lines "
     "were refused; 422: nothing is stored.",
     NULL},
    {"GET", "/v1/load-samples/aggregates", get_load_aggregates, NULL,
     &load_aggregates_json, &load_aggregates_query_json, WORK_QUERY,
     SCOPE_DECIDE | SCOPE_INGEST, 0, "Statistics of load samples",
     "Mean, extremes and percentiles of one measure for each interval that has samples; "
     "10000 intervals at most.",
     NULL},
    {"POST", "/v1/placements", post_placements, &placements_request_json,
     &placements_answer_json, NULL, WORK_COMPUTE, SCOPE_DECIDE,
     ROUTE_DECISION | ROUTE_IDEMPOTENT_KEY, "Which resource should run which job?",
     "Places independent jobs on resources: where and when each runs, why others have no "
     "place, "
     "and how far the plan is from a lower bound. Times are seconds from now, the moment "
     "of the "
     "snapshot.",
     "placement-"},
    {"POST", "/v1/replica-counts", post_replica_counts, &replica_counts_request_json,
     &round_answer_json, NULL, WORK_COMPUTE, SCOPE_DECIDE,
     ROUTE_DECISION | ROUTE_IDEMPOTENT_KEY, "How many copies of each job, and where?",
     "From the resources with their load and the unfinished jobs with their copies: the "
     "copies to start and to cancel now, how many each job has and should have, and why "
     "others get none. Copies of a job never share a resource.",
     "replication-"},
    {"GET", "/v1/service-info", get_service_info, NULL, &service_info_json, NULL,
     WORK_INLINE, SCOPE_NONE, 0, "What this service is",
     "Identity in the form of GA4GH's service-info.", NULL},
    {"GET", "/v1/simulations", get_simulations, NULL, &simulations_page_json,
     &simulations_query_json, WORK_QUERY, SCOPE_DECIDE | SCOPE_INGEST, 0,
     "List simulations without a client",
     "Those that were asked for with Prefer: respond-async, newest first, in pages, "
     "without their results.",
     NULL},
    {"POST", "/v1/simulations", post_simulation, &simulation_request_json,
     &simulation_answer_json, NULL, WORK_COMPUTE, SCOPE_DECIDE,
     ROUTE_DECISION | ROUTE_IDEMPOTENT_KEY | ROUTE_ASYNC,
     "What do policies achieve on a grid with failures?",
     "Plays a grid, its failures and its jobs by discrete events, several times, under "
     "each of several policies, which meet the same jobs and failures; figures are means "
     "over the runs with 95 % confidence intervals. Time up or max_events executed: "
     "status cut, and figures of the runs that are complete for every policy. At most "
     "2000 resources, 200000 given jobs, 20 runs. With Prefer: respond-async the answer "
     "is 202, and Location says where to ask; any replica plays it, and if one dies "
     "another begins it again, with the same seeds and so the same result. With wait=N "
     "besides, it is answered as usual if it ends within N seconds.",
     "simulation-"},
    {"DELETE", "/v1/simulations/{simulation_id}", delete_simulation, NULL,
     &simulation_info_json, NULL, WORK_QUERY, SCOPE_DECIDE, 0,
     "Cancel or delete a simulation",
     "One that waits is cancelled: 200. One that runs is asked to stop: 202; it becomes "
     "cancelled and keeps the runs that are complete. One that has finished is deleted: "
     "204. So to be rid of one that runs, send it again when it has stopped.",
     NULL},
    {"GET", "/v1/simulations/{simulation_id}", get_simulation, NULL,
     &stored_simulation_json, NULL, WORK_QUERY, SCOPE_DECIDE | SCOPE_INGEST, 0,
     "Read a simulation",
     "How far it is, with Retry-After; once it has finished its result, which is what "
     "POST would have answered.",
     NULL},
    {"GET", "/v1/snapshots", get_snapshots, NULL, &snapshots_page_json,
     &snapshots_query_json, WORK_QUERY, SCOPE_DECIDE | SCOPE_INGEST, 0,
     "List stored snapshots", "By id, in pages, without their documents.", NULL},
    {"POST", "/v1/snapshots", post_snapshot, &snapshot_json, &snapshot_info_json,
     &snapshot_create_query_json, WORK_QUERY, SCOPE_INGEST,
     ROUTE_RAW_BODY | ROUTE_IDEMPOTENT_KEY, "Store a snapshot",
     "The body is the snapshot itself; its name is the parameter id, or a new UUID. "
     "Decisions use it by snapshot_id. 409 when there is one of that name.",
     NULL},
    {"DELETE", "/v1/snapshots/{snapshot_id}", delete_snapshot, NULL, NULL, NULL,
     WORK_QUERY, SCOPE_INGEST, 0, "Delete a stored snapshot",
     "If-Match is honoured. Stored decisions that used it keep their copy.", NULL},
    {"GET", "/v1/snapshots/{snapshot_id}", get_snapshot, NULL, &stored_snapshot_json,
     NULL, WORK_QUERY, SCOPE_DECIDE | SCOPE_INGEST, 0, "Read a stored snapshot",
     "The document byte for byte, with its generation. The ETag is strong; "
     "If-None-Match is honoured.",
     NULL},
    {"PATCH", "/v1/snapshots/{snapshot_id}", patch_snapshot, NULL, &snapshot_info_json,
     NULL, WORK_QUERY, SCOPE_INGEST, ROUTE_MERGE_PATCH, "Change a stored snapshot",
     "A JSON Merge Patch (RFC 7396) on the snapshot document: members are replaced, null "
     "removes one. Lists are replaced whole, so `resources` and `files` must be given "
     "complete. The result must be a valid snapshot. If-Match is optional and honoured: "
     "412 when it is stale; without it the patch is merged into the newest version.",
     NULL},
    {"PUT", "/v1/snapshots/{snapshot_id}", put_snapshot, &snapshot_json,
     &snapshot_info_json, NULL, WORK_QUERY, SCOPE_INGEST, ROUTE_RAW_BODY,
     "Replace a stored snapshot",
     "The body is the new snapshot. If-Match is needed: the ETag that GET gave (412 when "
     "it is stale), or * for any version; without it 428.",
     NULL},
    {"GET", "/v1/workloads", get_workloads, NULL, &workloads_page_json,
     &uploads_query_json, WORK_QUERY, SCOPE_DECIDE | SCOPE_INGEST, 0, "List workloads",
     "By id, in pages, without their documents.", NULL},
    {"POST", "/v1/workloads", post_workload, NULL, &workload_info_json,
     &workload_create_query_json, WORK_COMPUTE, SCOPE_INGEST,
     ROUTE_TEXT_BODY | ROUTE_IDEMPOTENT_KEY, "Store a workload",
     "The body is a job log in the Standard Workload Format, compressed or not "
     "(Content-Encoding: gzip). Lines that are no usable jobs are counted by reason and "
     "the first are listed; 422 when none is one. Simulations use it by workload_id.",
     NULL},
    {"DELETE", "/v1/workloads/{workload_id}", delete_workload, NULL, NULL, NULL,
     WORK_QUERY, SCOPE_INGEST, 0, "Delete a workload",
     "Simulations that wait and name it will fail.", NULL},
    {"GET", "/v1/workloads/{workload_id}", get_workload, NULL, &workload_info_json, NULL,
     WORK_QUERY, SCOPE_DECIDE | SCOPE_INGEST, 0, "Read about a workload",
     "What was found in it; without the document.", NULL},
    {"GET", "/v1/workloads/{workload_id}/document", get_workload_document, NULL, NULL,
     NULL, WORK_QUERY, SCOPE_DECIDE | SCOPE_INGEST, ROUTE_RAW_REPLY, "Read a workload",
     "The document byte for byte.", NULL},
    {0},
};

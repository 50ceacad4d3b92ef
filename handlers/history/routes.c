/* routes.c - the endpoints of this room.
 *
 * A row: method, path, operation and tag of the description, handler; body, answer and
 * query tables; which thread, which scope, flags; documentation; prefix of its examples.
 */
#include "handlers/history/routes.h"

#include "handlers/common/tags.h"
#include "handlers/history/bulk.h"
#include "handlers/history/progress_samples.h"
#include "handlers/history/records.h"
#include "handlers/load/load_rollups.h"
#include "handlers/load/load_samples.h"
#include "service/records/records.h"

#define WHOLE_OR_LINES                                                                  \
    " An object or an array is stored whole or not at all; of NDJSON the good lines "   \
    "are "                                                                              \
    "stored and the bad ones refused, each with its line. 201: all are new; 200: some " \
    "were refused or stored before; 422: nothing is stored."

const struct history histories[] = {
    {&checkpoint_log_record, "/v1/checkpoint-logs", "CheckpointLog", "CheckpointLogs",
     "checkpoint logs", TAG_FAULT_TOLERANCE,
     "Requests for checkpoints by requested_at, in pages; quick with job_id or "
     "application_id.",
     "What jobs did when they asked for a checkpoint, and what it cost: the intervals of "
     "later jobs of the application are decided from that. job_id and requested_at are "
     "the natural key." WHOLE_OR_LINES,
     NULL, NULL, NULL, NULL, false, false},
    {&claim_attempt_record, "/v1/claim-attempts", "ClaimAttempt", "ClaimAttempts",
     "claim attempts", TAG_COALLOCATION,
     "Tries to claim by attempted_at, in pages; quick with job_id.",
     "What became of the tries of placed jobs to get their processors: claims that ask "
     "for it choose their L by that. job_id and attempted_at are the natural "
     "key." WHOLE_OR_LINES,
     "attempt-", NULL, NULL, NULL, false, false},
    {&execution_record, "/v1/executions", "Execution", "Executions", "executions",
     TAG_MODELS, "Observed runs by started_at, in pages; quick with application_id.",
     "Observed runs of applications. The models of the application at the site learn "
     "those that ended well, in the background; of a single run the answer says what "
     "they would have predicted. The load during the run is given, or worked out from "
     "load_samples. execution_id and phase_index are the natural key; a run that differs "
     "in its load alone counts as stored before." WHOLE_OR_LINES,
     NULL, &sent_execution_json, &executions_answer_json, post_executions, false, true},
    {&failure_record, "/v1/failures", "Failure", "Failures", "failures",
     TAG_FAULT_TOLERANCE, "Failures by down_at, in pages; quick with resource_id.",
     "Times in which resources were down; without up_at a failure is open until a "
     "recovery ends it. resource_id, component and down_at are the natural "
     "key." WHOLE_OR_LINES,
     NULL, NULL, NULL, NULL, false, false},
    {&load_sample_record, "/v1/load-samples", "LoadSample", "LoadSamples", "load samples",
     TAG_LOAD, "Load samples by observed_at, in pages; quick with resource_id.",
     "Observations of resources and links; each has one measure at least. resource_id, "
     "to_resource_id, observed_at and which measures there are make the natural "
     "key." WHOLE_OR_LINES,
     NULL, NULL, NULL, NULL, false, false},
    {&observation_record, "/v1/observations", "Observation", "Observations",
     "observations", TAG_FAULT_TOLERANCE,
     "Times in which resources were watched, by from_at, in pages; quick with "
     "resource_id.",
     "Since when, and until when, every failure of a resource has been stored: without "
     "it nobody knows how long a resource did not fail. resource_id, component and "
     "from_at are the natural key; sent again it takes the new values, for instance a "
     "to_at. Observations of one resource and component must not "
     "overlap." WHOLE_OR_LINES,
     NULL, NULL, NULL, post_observations, true, false},
    {&progress_sample_record, "/v1/progress-samples", "ProgressSample", "ProgressSamples",
     "reports of progress", TAG_MODELS,
     "Reports of tasks by received_at, in pages; quick with task_id.",
     "What running tasks say of their progress: POST /v1/predictions, kind "
     "remaining_time, reads them by task_id. A report at 100 %, actual_ref_s, or an "
     "execution whose execution_id is the task_id, ends a task: later tasks of its "
     "application_id learn from it. task_id and elapsed_s are the natural key; sent "
     "again it takes the new values." WHOLE_OR_LINES,
     "progress-", &progress_sample_json, NULL, post_progress_samples, true, false},
    {&reschedule_event_record, "/v1/reschedule-events", "RescheduleEvent",
     "RescheduleEvents", "moves of running applications", TAG_PARALLEL,
     "Moves by moved_at, in pages; quick with run_id.",
     "What moves cost: plans that are not told take the mean of the reported moves from "
     "the one site to the other, or inside the site; of those that are corrected or "
     "removed too. run_id and moved_at are the natural key." WHOLE_OR_LINES,
     NULL, NULL, NULL, NULL, false, false},
    {&site_error_record, "/v1/site-errors", "SiteError", "SiteErrors", "errors of sites",
     TAG_COALLOCATION, "Reports by observed_at, in pages; quick with site_id.",
     "How many components failed by the fault of a site, and how many started well: "
     "component_error of POST /v1/reschedules takes its thresholds from that when it is "
     "asked to. site_id, job_id and observed_at are the natural key." WHOLE_OR_LINES,
     "site-error-", NULL, NULL, NULL, false, false},
    {&transfer_record, "/v1/transfers", "Transfer", "Transfers", "transfers",
     TAG_COALLOCATION,
     "Copies of files by finished_at, in pages; quick with from_site_id.",
     "How long copies of files took, beside what was estimated: decisions about parallel "
     "jobs correct their estimates by that when they are asked to. from_site_id, "
     "to_site_id, file_id, job_id and finished_at are the natural key." WHOLE_OR_LINES,
     "transferred-", NULL, NULL, NULL, false, false},
    {0},
};

const struct route history_routes[] = {
    {"DELETE", "/v1/executions/{execution_id}", "deleteExecution", TAG_MODELS,
     delete_execution, NULL, NULL, &execution_phase_json, WORK_QUERY, SCOPE_INGEST,
     ROUTE_LOOKS_UP, "Remove an execution",
     "Models that had learnt it forget it, and are trained anew.", NULL},
    {"PATCH", "/v1/executions/{execution_id}", "changeExecutionById", TAG_MODELS,
     patch_execution, NULL, &execution_json, &execution_phase_json, WORK_QUERY,
     SCOPE_INGEST, ROUTE_MERGE_PATCH | ROUTE_LOOKS_UP, "Correct an execution",
     "It gets other values by a merge patch (RFC 7396); its id and phase stay. Models "
     "that "
     "had learnt it are trained anew.",
     NULL},
    {"POST", "/v1/failures/recoveries", "recordRecovery", TAG_FAULT_TOLERANCE,
     post_recovery, &recovery_json, &recovery_answer_json, NULL, WORK_QUERY, SCOPE_INGEST,
     0, "A resource is up again",
     "Ends the open failures of a resource that began before up_at. Sending it again "
     "does no harm.",
     NULL},
    {"GET", "/v1/failures/statistics", "getFailureStatistics", TAG_FAULT_TOLERANCE,
     get_failure_statistics, NULL, &failure_statistics_json,
     &failure_statistics_query_json, WORK_COMPUTE, SCOPE_DECIDE | SCOPE_INGEST, 0,
     "What do the failures say?",
     "Counts, availability, mean times between failures (by several estimators) and to "
     "repair, and the fits of Weibull, exponential and lognormal distributions to the "
     "gaps between failures, of one resource or of all taken together. Overlapping, "
     "simultaneous and open failures are understood. mtbf_bayes_s is the mean time that "
     "decisions use: from the time at risk, the failures in it, and what the other hosts "
     "of the site teach.",
     NULL},
    {"GET", "/v1/load-rollups", "listLoadRollups", TAG_LOAD, get_load_rollups, NULL,
     &load_rollups_page_json, &load_rollups_query_json, WORK_QUERY,
     SCOPE_DECIDE | SCOPE_INGEST, 0, "List roll-ups of load samples",
     "What the samples of a resource say by minute, hour or day: counts, means, extremes "
     "and sketches of the quantiles, which can be added up. An hour is made 15 minutes "
     "after its end, and again when samples of it come late, are corrected or removed.",
     NULL},
    {"GET", "/v1/load-samples/aggregates", "getLoadAggregates", TAG_LOAD,
     get_load_aggregates, NULL, &load_aggregates_json, &load_aggregates_query_json,
     WORK_QUERY, SCOPE_DECIDE | SCOPE_INGEST, 0, "Statistics of load samples",
     "Mean, extremes and percentiles of one measure for each interval that has samples; "
     "10000 intervals at most. Of long times it is made from roll-ups: the counts, means "
     "and extremes are the same, percentiles within 1 % and not interpolated.",
     NULL},
    {"GET", "/v1/progress-applications", "listProgressApplications", TAG_MODELS,
     get_progress_applications, NULL, &progress_applications_page_json,
     &progress_applications_query_json, WORK_QUERY, SCOPE_DECIDE | SCOPE_INGEST, 0,
     "List what finished tasks of applications say",
     "Of each application, by name, in pages: how far off fits and extrapolations were "
     "with 10, 20 and 50 % of the work done, the usual course of their estimates, and "
     "which of the two answers for it.",
     NULL},
    {0},
};

/* routes.c - the route table: what the API consists of. */
#include "handlers/routes.h"

#include "handlers/claiming/claims.h"
#include "handlers/claiming/queue_scans.h"
#include "handlers/coallocation/coallocation_flow.h"
#include "handlers/coallocation/coallocations.h"
#include "handlers/common/bulk.h"
#include "handlers/common/snapshot_json.h"
#include "handlers/evaluation/evaluations.h"
#include "handlers/fault_tolerance/checkpoint_intervals.h"
#include "handlers/fault_tolerance/fault_tolerance_plans.h"
#include "handlers/fault_tolerance/replica_counts.h"
#include "handlers/fault_tolerance/rounds.h"
#include "handlers/history/checkpoint_logs.h"
#include "handlers/history/executions.h"
#include "handlers/history/failures.h"
#include "handlers/history/load_samples.h"
#include "handlers/history/observations.h"
#include "handlers/history/progress_samples.h"
#include "handlers/model/model_fits.h"
#include "handlers/model/models.h"
#include "handlers/operations/algorithms.h"
#include "handlers/operations/operations.h"
#include "handlers/operations/quotas.h"
#include "handlers/operations/service_info.h"
#include "handlers/parallel/parallel_schedules.h"
#include "handlers/placement/placements.h"
#include "handlers/prediction/experiment_plans.h"
#include "handlers/prediction/forecasts.h"
#include "handlers/prediction/predictions.h"
#include "handlers/queue/queue_orders.h"
#include "handlers/rescheduling/reschedules.h"
#include "handlers/rescheduling/rescheduling_plans.h"
#include "handlers/simulation/simulation_json.h"
#include "handlers/simulation/simulation_queue.h"
#include "handlers/simulation/simulations.h"
#include "handlers/site_history/claim_attempts.h"
#include "handlers/site_history/replicas.h"
#include "handlers/site_history/reschedule_events.h"
#include "handlers/site_history/site_errors.h"
#include "handlers/site_history/transfers.h"
#include "handlers/stored/decisions.h"
#include "handlers/stored/failure_traces.h"
#include "handlers/stored/snapshots.h"
#include "handlers/stored/workloads.h"
#include "handlers/workflow/workflow_schedules.h"

/* Sorted by path. A row: method, path, handler; body, answer and query tables;
 * which thread, which scope, flags; documentation; prefix of its examples. */
const struct route routes[] = {
    {"GET", "/healthz", get_livez, NULL, &health_json, NULL, WORK_INLINE, SCOPE_NONE,
     ROUTE_PROBE, "Is the process alive? (alias of /livez)",
     "200 as long as the process answers; knows nothing of the database.", NULL},
    {"GET", "/livez", get_livez, NULL, &health_json, NULL, WORK_INLINE, SCOPE_NONE,
     ROUTE_PROBE, "Is the process alive?",
     "200 as long as the process answers; knows nothing of the database.", NULL},
    {"GET", "/metrics", get_metrics, NULL, NULL, NULL, WORK_INLINE, SCOPE_NONE,
     ROUTE_RAW_REPLY | ROUTE_PROBE | ROUTE_METRICS, "Metrics for Prometheus",
     "Prometheus text 0.0.4, or OpenMetrics 1.0 when Accept asks for it.", NULL},
    {"GET", "/openapi.json", get_openapi, NULL, NULL, NULL, WORK_COMPUTE, SCOPE_NONE,
     ROUTE_RAW_REPLY, "This description",
     "OpenAPI 3.1, printed from the service's own tables.", NULL},
    {"GET", "/readyz", get_readyz, NULL, &health_json, &health_query_json, WORK_QUERY,
     SCOPE_NONE, ROUTE_PROBE, "Does it take requests?",
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
     WORK_INLINE, SCOPE_DECIDE, ROUTE_DECISION | ROUTE_IDEMPOTENT_KEY | ROUTE_LONG,
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
    {"GET", "/v1/claim-attempts", get_claim_attempts, NULL, &claim_attempts_page_json,
     &claim_attempts_query_json, WORK_QUERY, SCOPE_DECIDE | SCOPE_INGEST, 0,
     "List claim attempts",
     "Tries to claim by attempted_at, in pages; quick with job_id.", NULL},
    {"POST", "/v1/claim-attempts", post_claim_attempts, &claim_attempt_json,
     &bulk_unique_answer_json, NULL, WORK_QUERY, SCOPE_INGEST,
     ROUTE_BULK | ROUTE_IDEMPOTENT_KEY, "Store claim attempts",
     "What became of the tries of placed jobs to get their processors: claims that ask "
     "for it choose their L by that. An object or an array is stored whole or not at "
     "all; of NDJSON the good lines are stored and the bad ones refused, each with its "
     "line. 201: all are new; 200: some were refused or stored before; 422: nothing is "
     "stored. A try with the job_id and attempted_at of a stored one is left as it is "
     "and counted in duplicates.",
     "attempt-"},
    {"POST", "/v1/claims", post_claims, &claims_request_json, &claims_answer_json, NULL,
     WORK_COMPUTE, SCOPE_DECIDE, ROUTE_DECISION | ROUTE_IDEMPOTENT_KEY | ROUTE_LONG,
     "Can a placed job get its processors?",
     "One try of incremental claiming: which components of a placed job start now, which "
     "get another site from where they are still in time, which jobs of lower priority "
     "give way, and when to try again. At its start an atomic job gets all or nothing "
     "and "
     "is placed again. mode timeline: when the tries would be; mode queue: the order of "
     "the claiming queue.",
     "claim-"},
    {"POST", "/v1/coallocations", post_coallocations, &coallocations_request_json,
     &coallocations_answer_json, NULL, WORK_COMPUTE, SCOPE_DECIDE,
     ROUTE_DECISION | ROUTE_IDEMPOTENT_KEY | ROUTE_LONG,
     "Which clusters should run a parallel job, near its files?",
     "Gives every component of a job a site with enough processors and a replica of its "
     "file, splits flexible jobs, and says what to transfer, when to claim and when it "
     "starts; how far the longest transfer is from a lower bound; for a job without a "
     "place why, what came nearest, and whether it can ever fit.",
     "coallocation-"},
    {"POST", "/v1/coallocations/acquire-plans", post_acquire_plans,
     &acquire_plans_request_json, &acquire_plans_answer_json, NULL, WORK_INLINE,
     SCOPE_DECIDE, ROUTE_DECISION | ROUTE_IDEMPOTENT_KEY | ROUTE_LONG,
     "Which site to acquire next, and what to give back?",
     "For jobs that acquire several sites one after the other: all or nothing, or one "
     "order for all jobs, which cannot deadlock.",
     "acquire-plan"},
    {"POST", "/v1/coallocations/advice", post_coallocation_advice,
     &coallocation_advice_request_json, &coallocation_advice_answer_json, NULL,
     WORK_INLINE, SCOPE_DECIDE, ROUTE_DECISION | ROUTE_IDEMPOTENT_KEY | ROUTE_LONG,
     "Should a job be spread over several sites?",
     "One site if one has room; several if that slows the job down by no more than "
     "max_slowdown; else wait, and which sites to watch.",
     "co-allocate-or-not"},
    {"POST", "/v1/coallocations/flow-steps", post_flow_steps, &flow_steps_request_json,
     &flow_steps_answer_json, NULL, WORK_INLINE, SCOPE_DECIDE,
     ROUTE_DECISION | ROUTE_IDEMPOTENT_KEY | ROUTE_LONG,
     "What is next for a parallel job?",
     "From the state of a job and an event the next state, and what the scheduler does.",
     "flow-"},
    {"POST", "/v1/coallocations/launch-plans", post_launch_plans,
     &launch_plans_request_json, &launch_plans_answer_json, NULL, WORK_INLINE,
     SCOPE_DECIDE, ROUTE_DECISION | ROUTE_IDEMPOTENT_KEY | ROUTE_LONG,
     "How is a placed job launched?",
     "By its runner: the order of its components, a barrier, a nameserver, and what to "
     "do before and after.",
     "launch-"},
    {"POST", "/v1/coallocations/replica-lookups", post_replica_lookups,
     &replica_lookups_request_json, &replica_lookups_answer_json, NULL, WORK_INLINE,
     SCOPE_DECIDE, 0, "Where are copies of these files?",
     "The sites with a copy of each file, as the snapshot tells, or else the catalogue, "
     "and the files without any.",
     "replica-lookup"},
    {"POST", "/v1/coallocations/replication-advice", post_replication_advice,
     &replication_advice_request_json, &replication_advice_answer_json, NULL, WORK_INLINE,
     SCOPE_DECIDE, ROUTE_DECISION | ROUTE_IDEMPOTENT_KEY | ROUTE_LONG,
     "Which files should be copied where?",
     "The files that are read most, and for each the sites that read it and have no "
     "copy.",
     "file-replication"},
    {"POST", "/v1/coallocations/reservation-plans", post_reservation_plans,
     &reservation_plans_request_json, &reservation_plans_answer_json, NULL, WORK_COMPUTE,
     SCOPE_DECIDE, ROUTE_DECISION | ROUTE_IDEMPOTENT_KEY | ROUTE_LONG,
     "When can processors on several sites be reserved together?",
     "The first time at which the windows of all sites leave enough processors for the "
     "whole duration; or, for a fuzzy job, the best time, number of processors and sites "
     "by a list of criteria.",
     "reservation-plan"},
    {"POST", "/v1/coallocations/transfer-estimates", post_transfer_estimates,
     &transfer_estimates_request_json, &transfer_estimates_answer_json, NULL, WORK_INLINE,
     SCOPE_DECIDE, ROUTE_DECISION | ROUTE_IDEMPOTENT_KEY | ROUTE_LONG,
     "How long does a file take to each site?",
     "Every replica's time to every site, and the replica that a placement would take.",
     "transfer-estimate"},
    {"GET", "/v1/decisions", get_decisions, NULL, &decisions_page_json,
     &decisions_query_json, WORK_QUERY, SCOPE_DECIDE | SCOPE_INGEST, 0,
     "List stored decisions",
     "The decisions whose requests said `store`, newest first, in pages, without their "
     "requests and answers.",
     NULL},
    {"GET", "/v1/decisions/{decision_id}", get_decision, NULL, &stored_decision_json,
     NULL, WORK_QUERY, SCOPE_DECIDE | SCOPE_INGEST, ROUTE_ANSWERS_CHART,
     "Read a stored decision",
     "The request as it came, the snapshot that it named and what else it looked up as "
     "it was then, and the answer. With Accept: image/svg+xml the answer as a picture.",
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
    {"POST", "/v1/evaluations", post_evaluation, &any_evaluation_request_json,
     &any_evaluation_answer_json, NULL, WORK_COMPUTE, SCOPE_DECIDE,
     ROUTE_DECISION | ROUTE_IDEMPOTENT_KEY | ROUTE_LONG, "What is a schedule worth?",
     "kind coallocation: from what became of co-allocated jobs the shares of the "
     "processors that they used, held waiting (PWT) and left to others (PGT), times in "
     "the placement queues and until the start, spread over sites, failures; for each "
     "job, for each size, for all. kind workflow: whether a schedule of tasks that "
     "depend on each other can be run, what it breaks, how far it is from a lower bound, "
     "and what becomes of it when its times are made right.",
     "evaluation-"},
    {"GET", "/v1/executions", get_executions, NULL, &executions_page_json,
     &executions_query_json, WORK_QUERY, SCOPE_DECIDE | SCOPE_INGEST, 0,
     "List executions",
     "Observed runs by started_at, in pages; quick with application_id.", NULL},
    {"POST", "/v1/executions", post_executions, &sent_execution_json,
     &executions_answer_json, NULL, WORK_QUERY, SCOPE_INGEST,
     ROUTE_BULK | ROUTE_IDEMPOTENT_KEY, "Store executions",
     "Observed runs of applications. The models of the application at the site learn "
     "those that ended well, in the background; of a single run the answer says what "
     "they would have predicted. The load during the run is given, or worked out from "
     "load_samples. An object or an array is stored whole or not at "
     "all; of NDJSON the good lines are stored and the bad ones refused, each with its "
     "line. 201: all are new; 200: some were refused or stored before; 422: nothing is "
     "stored. A run with the execution_id and phase_index of a stored one is left as it "
     "is and counted in duplicates.",
     NULL},
    {"POST", "/v1/experiment-plans", post_experiment_plan, &experiment_plan_request_json,
     &experiment_plan_answer_json, NULL, WORK_COMPUTE, SCOPE_DECIDE,
     ROUTE_DECISION | ROUTE_IDEMPOTENT_KEY | ROUTE_LONG,
     "Which runs to make for a model?",
     "Without a model: the runs of a first training, from the bounds of the problem size "
     "and the processors, and what other strategies would take. With a comprehensive "
     "model, stored or in the request: the runs on which its combinations disagree most.",
     "experiment-"},
    {"GET", "/v1/failure-traces", get_failure_traces, NULL, &failure_traces_page_json,
     &uploads_query_json, WORK_QUERY, SCOPE_DECIDE | SCOPE_INGEST, 0,
     "List failure traces", "By id, in pages, without their documents.", NULL},
    {"POST", "/v1/failure-traces", post_failure_trace, NULL, &failure_trace_info_json,
     &failure_trace_create_query_json, WORK_COMPUTE, SCOPE_INGEST,
     ROUTE_TEXT_BODY | ROUTE_IDEMPOTENT_KEY | ROUTE_LONG, "Store a failure trace",
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
     "simultaneous and open failures are understood. mtbf_bayes_s is the mean time that "
     "decisions use: from the time at risk, the failures in it, and what the other hosts "
     "of the site teach.",
     NULL},
    {"POST", "/v1/fault-tolerance-plans", post_fault_tolerance_plans,
     &fault_tolerance_plans_request_json, &round_answer_json, NULL, WORK_COMPUTE,
     SCOPE_DECIDE, ROUTE_DECISION | ROUTE_IDEMPOTENT_KEY | ROUTE_LONG,
     "Checkpoints, copies, or both?",
     "What a grid scheduler should do now about failures: which copies to start and to "
     "cancel, and which jobs to checkpoint. combined swings between copies and "
     "checkpoints with the load, migration restarts from the last checkpoint, and "
     "expected_time takes for each job the remedy of least expected time within a limit "
     "of cost, and shows them all.",
     "fault_tolerance-"},
    {"GET", "/v1/forecasts", get_forecasts, NULL, &forecasts_page_json,
     &forecasts_query_json, WORK_QUERY, SCOPE_DECIDE | SCOPE_INGEST, 0, "Forecast loads",
     "The next average of 600 s of each resource's CPU and each link's bandwidth, from "
     "the stored load samples, by the one of 18 forecasters that was best so far; by "
     "resource_id, in pages.",
     NULL},
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
    {"POST", "/v1/model-evaluations", post_model_evaluation,
     &model_evaluation_request_json, &model_evaluation_answer_json, NULL, WORK_COMPUTE,
     SCOPE_DECIDE, 0, "How good were predictions?",
     "Mean error, its spread and bias of pairs of actual and predicted times, and what "
     "is lost when configurations are chosen by their predicted times.",
     "model-evaluation"},
    {"POST", "/v1/model-fits", post_model_fit, &model_fit_request_json,
     &model_fit_answer_json, NULL, WORK_COMPUTE, SCOPE_DECIDE,
     ROUTE_DECISION | ROUTE_IDEMPOTENT_KEY | ROUTE_LONG, "Fit a model to runs",
     "Trains a model from the runs in the request and stores nothing. `packed` of the "
     "answer is the model, for POST /v1/predictions.",
     "model-fit-"},
    {"GET", "/v1/models", get_models, NULL, &models_page_json, &models_query_json,
     WORK_QUERY, SCOPE_DECIDE | SCOPE_INGEST, 0, "List models",
     "By id, in pages, without their coefficients.", NULL},
    {"POST", "/v1/models", post_model, &model_create_json, &created_model_json, NULL,
     WORK_QUERY, SCOPE_INGEST, ROUTE_IDEMPOTENT_KEY, "Make a model",
     "A model of an application at a site, of whole runs or of one phase. It begins with "
     "the latest 2000 executions that are stored, is trained in the background as soon "
     "as they are enough, and learns every further one. 409 when there is one of that "
     "name, or of the same application_id, site_id, phase_index and kind.",
     NULL},
    {"DELETE", "/v1/models/{model_id}", delete_model, NULL, NULL, NULL, WORK_QUERY,
     SCOPE_INGEST, 0, "Delete a model",
     "With all its versions; executions stay. If-Match is honoured.", NULL},
    {"GET", "/v1/models/{model_id}", get_model, NULL, &stored_model_json,
     &model_query_json, WORK_QUERY, SCOPE_DECIDE | SCOPE_INGEST, 0, "Read a model",
     "Its state, the version that predicts, its coefficients, what it was fitted to, and "
     "its errors on executions that it had not seen. The ETag is strong; If-None-Match "
     "is honoured.",
     NULL},
    {"POST", "/v1/models/{model_id}/port", post_model_port, &model_port_json,
     &learnt_model_json, NULL, WORK_COMPUTE, SCOPE_INGEST, 0,
     "Carry over a model from another site",
     "Two factors, found from a few dedicated runs on both sites, carry the computation "
     "and the communication of a trained comprehensive model over to this one, which "
     "then learns its own executions. The outcome has a reason when that is not "
     "possible. If-Match is honoured.",
     NULL},
    {"POST", "/v1/models/{model_id}/refine", post_model_refine, NULL, &learnt_model_json,
     NULL, WORK_COMPUTE, SCOPE_INGEST, ROUTE_UPKEEP, "Let a model learn what waits",
     "What the service does by itself in the background: every execution that is new is "
     "predicted, then learnt. 409 while another replica is at it.",
     NULL},
    {"POST", "/v1/models/{model_id}/roll-back", post_model_roll_back,
     &model_roll_back_json, &model_info_json, NULL, WORK_QUERY, SCOPE_INGEST, 0,
     "Go back to an earlier version",
     "That version predicts again. Those after it are abandoned, and the executions that "
     "they brought are left out until the model is trained anew. If-Match is honoured.",
     NULL},
    {"GET", "/v1/models/{model_id}/samples", get_model_samples, NULL,
     &model_samples_page_json, &model_page_query_json, WORK_QUERY,
     SCOPE_DECIDE | SCOPE_INGEST, 0, "List the executions of a model",
     "The latest 2000, newest first, in pages: what was predicted for each, and what "
     "became of it.",
     NULL},
    {"POST", "/v1/models/{model_id}/train", post_model_train, NULL, &learnt_model_json,
     NULL, WORK_COMPUTE, SCOPE_INGEST, 0, "Train a model anew",
     "From its latest 2000 executions, those left out by a roll-back too. Predictions go "
     "on with the version before. The outcome has a reason when there is no model. 409 "
     "while another replica is at it; the training then follows by itself. If-Match is "
     "honoured.",
     NULL},
    {"GET", "/v1/models/{model_id}/versions", get_model_versions, NULL,
     &model_versions_page_json, &model_page_query_json, WORK_QUERY,
     SCOPE_DECIDE | SCOPE_INGEST, 0, "List the versions of a model",
     "The latest 20, newest first, in pages, without their coefficients.", NULL},
    {"GET", "/v1/models/{model_id}/versions/{version}", get_model_version, NULL,
     &model_version_json, &model_query_json, WORK_QUERY, SCOPE_DECIDE | SCOPE_INGEST, 0,
     "Read a version of a model", "With its coefficients.", NULL},
    {"DELETE", "/v1/observations", delete_observation, NULL, NULL,
     &observation_key_query_json, WORK_QUERY, SCOPE_INGEST, 0, "Delete an observation",
     "The one of this resource, component and begin.", NULL},
    {"GET", "/v1/observations", get_observations, NULL, &observations_page_json,
     &observations_query_json, WORK_QUERY, SCOPE_DECIDE | SCOPE_INGEST, 0,
     "List observations", "Times in which resources were watched, by from_at, in pages.",
     NULL},
    {"POST", "/v1/observations", post_observations, &observation_json, &bulk_answer_json,
     NULL, WORK_QUERY, SCOPE_INGEST, ROUTE_BULK | ROUTE_IDEMPOTENT_KEY,
     "Store observations",
     "Since when, and until when, every failure of a resource has been stored: without "
     "it nobody knows how long a resource did not fail. Sent again with the same "
     "resource, component and from_at it replaces the one that is stored, for instance "
     "with a to_at. Observations of one resource and component must not overlap.",
     NULL},
    {"POST", "/v1/parallel-schedules", post_parallel_schedules,
     &parallel_schedules_request_json, &parallel_schedules_answer_json, NULL,
     WORK_COMPUTE, SCOPE_DECIDE, ROUTE_DECISION | ROUTE_IDEMPOTENT_KEY | ROUTE_LONG,
     "Which machines should run one tightly coupled application?",
     "The set of machines of one site, and their number, with the least predicted run "
     "time: all of a set wait for its slowest cpu and its slowest link. On batch sites "
     "the wait for so many machines counts too. The model comes with the request as "
     "terms "
     "or as a combination, or is a stored one, by name or by application and site. Sites "
     "come with the request, or are those of a stored snapshot, with the load that the "
     "stored samples let expect. Every answer has a lower bound; exact and auto prove "
     "the "
     "optimum where links are alike, uplinks or a tree, and mostly elsewhere.",
     "parallel-"},
    {"POST", "/v1/placements", post_placements, &placements_request_json,
     &placements_answer_json, NULL, WORK_COMPUTE, SCOPE_DECIDE,
     ROUTE_DECISION | ROUTE_IDEMPOTENT_KEY | ROUTE_LONG | ROUTE_ANSWERS_CHART,
     "Which resource should run which job?",
     "Places independent jobs on resources: where and when each runs, why others have no "
     "place, "
     "and how far the plan is from a lower bound. Times are seconds from now, the moment "
     "of the "
     "snapshot.",
     "placement-"},
    {"POST", "/v1/predictions", post_predictions, &any_prediction_request_json,
     &any_prediction_answer_json, NULL, WORK_QUERY, SCOPE_DECIDE,
     ROUTE_DECISION | ROUTE_IDEMPOTENT_KEY | ROUTE_LONG, "How long will a job run?",
     "kind run_time: from a stored model, or one in the request, the problem size, the "
     "processors and "
     "the load to be expected, which is given or forecast for resource_ids. With an "
     "interval, what it rests on, and warnings where the model is asked far outside what "
     "it has seen. One job, many of the same model (queries), or the phases of one. kind "
     "load: only the forecast for resource_ids. kind remaining_time: a job that runs, "
     "from what it said of its progress, in the request or stored; with an interval, the "
     "work that is left, and the wall time on other resources.",
     "prediction-"},
    {"GET", "/v1/progress-applications", get_progress_application, NULL,
     &progress_application_answer_json, &progress_application_query_json, WORK_QUERY,
     SCOPE_DECIDE | SCOPE_INGEST, 0, "What finished tasks of an application say",
     "How far off fits and extrapolations were with 10, 20 and 50 % of the work done, "
     "the "
     "usual course of their estimates, and which of the two answers for it.",
     NULL},
    {"GET", "/v1/progress-samples", get_progress_samples, NULL,
     &progress_samples_page_json, &progress_samples_query_json, WORK_QUERY,
     SCOPE_DECIDE | SCOPE_INGEST, 0, "List reports of progress",
     "Reports of tasks by received_at, in pages; quick with task_id.", NULL},
    {"POST", "/v1/progress-samples", post_progress_samples, &progress_sample_json,
     &bulk_answer_json, NULL, WORK_QUERY, SCOPE_INGEST, ROUTE_BULK | ROUTE_IDEMPOTENT_KEY,
     "Store reports of progress",
     "What running tasks say of their progress: POST /v1/predictions, kind "
     "remaining_time, reads them by task_id. A report at 100 %, actual_ref_s, or an "
     "execution whose execution_id is the task_id, ends a task: later tasks of its "
     "application_id learn from it. An object or an array is stored whole or not at all; "
     "of NDJSON the good lines are stored and the bad ones refused, each with its line. "
     "201: all are stored; 200: some lines were refused; 422: nothing is stored.",
     "progress-"},
    {"POST", "/v1/queue-orders", post_queue_orders, &queue_orders_request_json,
     &queue_orders_answer_json, NULL, WORK_COMPUTE, SCOPE_DECIDE,
     ROUTE_DECISION | ROUTE_IDEMPOTENT_KEY | ROUTE_LONG | ROUTE_ANSWERS_CHART,
     "Which waiting jobs of a queue start now?",
     "From the running and the waiting jobs of a cluster, their processors and run time "
     "estimates, and reservations: who starts now, when the others will start if all "
     "estimates hold and nobody else comes, and who or what each of them waits for. "
     "Times are seconds on any one scale, of which now_s is the present.",
     "queue-"},
    {"POST", "/v1/queue-scans", post_queue_scans, &queue_scans_request_json,
     &queue_scans_answer_json, NULL, WORK_COMPUTE, SCOPE_DECIDE,
     ROUTE_DECISION | ROUTE_IDEMPOTENT_KEY | ROUTE_LONG,
     "Which waiting parallel jobs are placed now?",
     "Chooses the next of the placement queues by their weights, and places what fits, "
     "head first. Others keep their position with one more try, rise a level, or fail. "
     "The queues come with the request and go back with the answer.",
     "scan-"},
    {"GET", "/v1/quotas", get_quotas, NULL, &quotas_json, NULL, WORK_INLINE,
     SCOPE_DECIDE | SCOPE_INGEST, 0, "What the caller may still take",
     "For each limit of the key, or of all keys of its tenant, what there is and what is "
     "left: requests, seconds of processor, computations at once, memory. gridplan key "
     "create and gridplan tenant set set them.",
     NULL},
    {"POST", "/v1/replica-counts", post_replica_counts, &replica_counts_request_json,
     &round_answer_json, NULL, WORK_COMPUTE, SCOPE_DECIDE,
     ROUTE_DECISION | ROUTE_IDEMPOTENT_KEY | ROUTE_LONG,
     "How many copies of each job, and where?",
     "From the resources with their load and the unfinished jobs with their copies: the "
     "copies to start and to cancel now, how many each job has and should have, and why "
     "others get none. Copies of a job never share a resource.",
     "replication-"},
    {"DELETE", "/v1/replicas", delete_replicas, NULL, &replicas_deleted_json,
     &replicas_delete_query_json, WORK_QUERY, SCOPE_INGEST, 0, "Forget copies of files",
     "Those of a file, those on a site, or, with both, one. None is no failure.", NULL},
    {"GET", "/v1/replicas", get_replicas, NULL, &replicas_page_json, &replicas_query_json,
     WORK_QUERY, SCOPE_DECIDE | SCOPE_INGEST, 0, "List copies of files",
     "The catalogue by file_id, then by site_id, in pages; quick with file_id.", NULL},
    {"POST", "/v1/replicas", post_replicas, &replica_record_json,
     &bulk_unique_answer_json, NULL, WORK_QUERY, SCOPE_INGEST,
     ROUTE_BULK | ROUTE_IDEMPOTENT_KEY, "Store copies of files",
     "Adds copies to the catalogue, or replaces what it has of the same file and site. "
     "An object or an array is stored whole or not at all; of NDJSON the good lines are "
     "stored and the bad ones refused, each with its line. Of several records of the "
     "same file and site the last counts, the others are counted in duplicates. 201: "
     "each is stored; 200: some were refused or repeated; 422: nothing is stored.",
     NULL},
    {"GET", "/v1/reschedule-events", get_reschedule_events, NULL,
     &reschedule_events_page_json, &reschedule_events_query_json, WORK_QUERY,
     SCOPE_DECIDE | SCOPE_INGEST, 0, "List moves of running applications",
     "Moves by moved_at, in pages; quick with run_id.", NULL},
    {"POST", "/v1/reschedule-events", post_reschedule_events, &reschedule_event_json,
     &bulk_unique_answer_json, NULL, WORK_QUERY, SCOPE_INGEST,
     ROUTE_BULK | ROUTE_IDEMPOTENT_KEY, "Store moves of running applications",
     "What moves cost: plans that are not told take the mean of the reported moves from "
     "the one site to the other, or inside the site. An object or an array is stored "
     "whole or not at all; of NDJSON the good lines are stored and the bad ones refused, "
     "each with its line. 201: all are new; 200: some were refused or stored before; "
     "422: nothing is stored. A move with the run_id and moved_at of a stored one is "
     "left as it is and counted in duplicates.",
     NULL},
    {"POST", "/v1/reschedules", post_reschedules, &reschedules_request_json,
     &reschedules_answer_json, NULL, WORK_COMPUTE, SCOPE_DECIDE,
     ROUTE_DECISION | ROUTE_IDEMPOTENT_KEY | ROUTE_LONG,
     "What happens to running jobs after an event?",
     "event phase_end, the default: at the end of a phase of a multi-phase application "
     "keep it, give it a new plan, or migrate it, and where to. It moves when a machine "
     "is "
     "gone, at the stop phase of its plan, or when predictions fail, if that saves time. "
     "component_error: what to do when a component of a parallel job erred, which sites "
     "have erred too often. runner_liveness: whose runners have crashed. running_jobs, "
     "also meant by algorithm gridway: one round that starts pending jobs and moves, "
     "retries or holds running ones, by events, failures and contracts. workflow_round, "
     "also meant by algorithm balanced and its kin: which running tasks of workflows to "
     "move, as POST /v1/workflow-schedules does, without starts. All of the state comes "
     "with the request.",
     "migration-"},
    {"POST", "/v1/rescheduling-plans", post_rescheduling_plans,
     &rescheduling_plans_request_json, &rescheduling_plans_answer_json, NULL,
     WORK_COMPUTE, SCOPE_DECIDE, ROUTE_DECISION | ROUTE_IDEMPOTENT_KEY | ROUTE_LONG,
     "Where does each phase run, and when does the application move?",
     "For one application whose phases follow each other: intervals of phases, the site "
     "and the machines of each, and what the moves between them cost. Machines are those "
     "on which the phases of an interval take least together; an interval lasts at least "
     "min_interval_s. Costs of moving are given, worked out from the checkpoint, "
     "learnt from reported moves, or 120 and 300 s. Sites, models and past waits of "
     "batch queues are looked up when they are named, or missing. The plan holds for "
     "the loads given: make it anew from time to time, or ask POST /v1/reschedules.",
     "plan-"},
    {"GET", "/v1/service-info", get_service_info, NULL, &service_info_json, NULL,
     WORK_INLINE, SCOPE_NONE, 0, "What this service is",
     "Identity in the form of GA4GH's service-info.", NULL},
    {"GET", "/v1/simulations", get_simulations, NULL, &simulations_page_json,
     &simulations_query_json, WORK_QUERY, SCOPE_DECIDE | SCOPE_INGEST, 0,
     "List simulations without a client",
     "Those that were asked for with Prefer: respond-async, newest first, in pages, "
     "without their results.",
     NULL},
    {"POST", "/v1/simulations", post_simulation, &any_simulation_request_json,
     &any_simulation_answer_json, &queue_simulation_query_json, WORK_COMPUTE,
     SCOPE_DECIDE,
     ROUTE_DECISION | ROUTE_IDEMPOTENT_KEY | ROUTE_LONG | ROUTE_ASYNC | ROUTE_TAKES_SWF |
         ROUTE_ANSWERS_TEXT | ROUTE_ANSWERS_CHART,
     "What do policies achieve?",
     "kind grid: on a grid with failures. Plays a grid, its failures and its jobs by "
     "discrete events, several times, under "
     "each of several policies, which meet the same jobs and failures; figures are means "
     "over the runs with 95 % confidence intervals. Time up or max_events executed: "
     "status cut, and figures of the runs that are complete for every policy. At most "
     "2000 resources, 200000 given jobs, 20 runs. kind queue: on a batch system. Plays a "
     "job log under each of several queue policies; the body may be the log itself, "
     "text/plain in Standard Workload Format, with the settings as parameters, and with "
     "Accept: text/plain so is the schedule of one policy. Lines that are no usable jobs "
     "(no run time, cut in the middle) are left out and counted by reason. kind "
     "coallocation: parallel jobs with files on clusters with local jobs; streams and "
     "clusters of KOALA's experiments, or given ones. With Prefer: respond-async the "
     "answer "
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
     &stored_simulation_json, NULL, WORK_QUERY, SCOPE_DECIDE | SCOPE_INGEST,
     ROUTE_ANSWERS_CHART, "Read a simulation",
     "How far it is, with Retry-After; once it has finished its result, which is what "
     "POST would have answered.",
     NULL},
    {"GET", "/v1/simulations/{simulation_id}/schedule", get_simulation_schedule, NULL,
     NULL, &queue_schedule_query_json, WORK_QUERY, SCOPE_DECIDE | SCOPE_INGEST,
     ROUTE_RAW_REPLY, "Read the schedule of a simulation of kind queue",
     "The log as a policy ran it, in Standard Workload Format, if the request said "
     "as_swf: waits, run times and processors are those of the simulation.",
     NULL},
    {"GET", "/v1/site-errors", get_site_errors, NULL, &site_errors_page_json,
     &site_errors_query_json, WORK_QUERY, SCOPE_DECIDE | SCOPE_INGEST, 0,
     "List errors of sites", "Reports by observed_at, in pages; quick with site_id.",
     NULL},
    {"POST", "/v1/site-errors", post_site_errors, &site_error_json, &bulk_answer_json,
     NULL, WORK_QUERY, SCOPE_INGEST, ROUTE_BULK | ROUTE_IDEMPOTENT_KEY,
     "Store errors of sites",
     "How many components failed by the fault of a site, and how many started well: "
     "component_error of POST /v1/reschedules takes its thresholds from that when it is "
     "asked to. An object or an array is stored whole or not at all; of NDJSON the good "
     "lines are stored and the bad ones refused, each with its line. 201: all are "
     "stored; 200: some lines were refused; 422: nothing is stored.",
     "site-error-"},
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
    {"GET", "/v1/transfers", get_transfers, NULL, &transfers_page_json,
     &transfers_query_json, WORK_QUERY, SCOPE_DECIDE | SCOPE_INGEST, 0, "List transfers",
     "Copies of files by finished_at, in pages; quick with from_site_id.", NULL},
    {"POST", "/v1/transfers", post_transfers, &transfer_json, &bulk_answer_json, NULL,
     WORK_QUERY, SCOPE_INGEST, ROUTE_BULK | ROUTE_IDEMPOTENT_KEY, "Store transfers",
     "How long copies of files took, beside what was estimated: decisions about parallel "
     "jobs correct their estimates by that when they are asked to. An object or an array "
     "is stored whole or not at all; of NDJSON the good lines are stored and the bad "
     "ones refused, each with its line. 201: all are stored; 200: some lines were "
     "refused; 422: nothing is stored.",
     "transferred-"},
    {"POST", "/v1/workflow-schedules", post_workflow_schedules,
     &workflow_schedules_request_json, &workflow_schedules_answer_json,
     &workflow_schedules_query_json, WORK_COMPUTE, SCOPE_DECIDE,
     ROUTE_DECISION | ROUTE_IDEMPOTENT_KEY | ROUTE_LONG | ROUTE_TAKES_WORKFLOW |
         ROUTE_ANSWERS_CHART | ROUTE_ANSWERS_GRAPH,
     "Where and when should the tasks of workflows run?",
     "Tasks that need each other's outputs. A static algorithm (heft, cpop, peft, "
     "search, auto) schedules all of them to the end, around what runs or is done. A "
     "dynamic one (balanced and others) decides one round: which running tasks to move, "
     "so that those that a dependent waits for end together, and which ready ones to "
     "start; ask again after a while. Run times are given for each resource, or follow "
     "from speeds; transfers from times, or from bytes and links. The body may be "
     "another tool's file too, with the settings as parameters: a Pegasus DAX "
     "(application/xml), a Standard Task Graph (text/plain), or WfFormat "
     "(application/vnd.wfcommons.wfformat+json).",
     "workflow"},
    {"GET", "/v1/workloads", get_workloads, NULL, &workloads_page_json,
     &uploads_query_json, WORK_QUERY, SCOPE_DECIDE | SCOPE_INGEST, 0, "List workloads",
     "By id, in pages, without their documents.", NULL},
    {"POST", "/v1/workloads", post_workload, NULL, &workload_info_json,
     &workload_create_query_json, WORK_COMPUTE, SCOPE_INGEST,
     ROUTE_TEXT_BODY | ROUTE_IDEMPOTENT_KEY | ROUTE_LONG, "Store a workload",
     "The body is a job log in the Standard Workload Format, compressed or not "
     "(Content-Encoding: gzip), of up to 128 MiB unless the service is set otherwise "
     "(GRIDPLAN_MAX_UPLOAD_BYTES). Lines that are no usable jobs are counted by reason "
     "and the first are listed; 422 when none is one. Lines may be in any order. "
     "Simulations use it by workload_id.",
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

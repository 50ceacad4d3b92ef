/* routes.c - the endpoints of this room.
 *
 * A row: method, path, operation and tag of the description, handler; body, answer and
 * query tables; which thread, which scope, flags; documentation; prefix of its examples.
 */
#include "handlers/engines/routes.h"

#include "handlers/common/tags.h"

#define NEXTFLOW_DOC                                                                     \
    "Messages as Nextflow sends them with -with-weblog. Of each task that has ended an " \
    "execution is stored, of the application NAME/PROCESS; the models of that learn "    \
    "it. "                                                                               \
    "Parameters, command lines, scripts and folders are neither stored nor logged. Any " \
    "message that is understood is answered 200; errors are plain text. A key may come " \
    "as the password of Basic, with the scope ingest or facade."

#define CWS_DOC                                                                          \
    "The interface of the Common Workflow Scheduler, with every success exactly 200: "   \
    "runs "                                                                              \
    "and their tasks are kept for a day after the last call, what a task took becomes "  \
    "an "                                                                                \
    "execution of the application cws/PROCESS. A task is UNSCHEDULED until the "         \
    "extender of "                                                                       \
    "kube-scheduler was asked for its pod, then SCHEDULED, FINISHED when it has ended. " \
    "A "                                                                                 \
    "run that is not known is refused with 400. The graph is kept with the run."

const struct route engines_routes[] = {
    {"GET", "/clients/SHA256SUMS", "listClients", TAG_OPERATIONS, get_client_sums, NULL,
     NULL, NULL, WORK_INLINE, SCOPE_NONE, ROUTE_RAW_REPLY,
     "Programs for users of engines, and their checksums",
     "A line for each file, as sha256sum --check reads it: checksum and path below "
     "/clients/.",
     NULL},
    {"GET", "/clients/{folder}/{file}", "getClient", TAG_OPERATIONS, get_client, NULL,
     NULL, NULL, WORK_INLINE, SCOPE_NONE, ROUTE_RAW_REPLY,
     "A program for users of an engine",
     "One file in Python that needs nothing but its standard library, "
     "snakemake/gridplan_snakemake.py for example.",
     NULL},
    {"GET", "/compat/cws/health", "getCwsHealth", TAG_WORKFLOWS, get_cws_health, NULL,
     NULL, NULL, WORK_INLINE, SCOPE_NONE, ROUTE_RAW_REPLY, "Is it there? (nf-cws)",
     CWS_DOC, NULL},
    {"POST", "/compat/cws/v1/file/{execution}/publish", "publishCwsFiles", TAG_WORKFLOWS,
     post_cws_publish, NULL, NULL, NULL, WORK_INLINE, SCOPE_INGEST | SCOPE_FACADE,
     ROUTE_RAW_REPLY | ROUTE_FACADE, "The run publishes its files (nf-cws)", CWS_DOC,
     NULL},
    {"DELETE", "/compat/cws/v1/scheduler/{execution}", "endCwsRun", TAG_WORKFLOWS,
     delete_cws_run, NULL, NULL, NULL, WORK_QUERY, SCOPE_INGEST | SCOPE_FACADE,
     ROUTE_RAW_REPLY, "A run has ended (nf-cws)", CWS_DOC, NULL},
    {"GET", "/compat/cws/v1/scheduler/{execution}", "getCwsRun", TAG_WORKFLOWS,
     get_cws_run, NULL, &cws_order_json, NULL, WORK_QUERY,
     SCOPE_DECIDE | SCOPE_INGEST | SCOPE_FACADE, 0,
     "In which order the tasks of a run should go",
     "What is kept of a run of nf-cws: its processes with their ranks, and its tasks in "
     "the order of these, or of their arrival with the strategy fifo. The rank of a task "
     "is the longest path, in mean run times of executions of cws/PROCESS, from its "
     "process to the end of the graph, itself included. Cycles are cut at the edge that "
     "closes them. nf-cws does not ask for this; it is for who watches a run.",
     NULL},
    {"POST", "/compat/cws/v1/scheduler/{execution}", "startCwsRun", TAG_WORKFLOWS,
     post_cws_run, NULL, NULL, NULL, WORK_QUERY, SCOPE_INGEST | SCOPE_FACADE,
     ROUTE_RAW_REPLY | ROUTE_FACADE, "A run begins, perhaps anew (nf-cws)", CWS_DOC,
     NULL},
    {"DELETE", "/compat/cws/v1/scheduler/{execution}/DAG/edges", "removeCwsEdges",
     TAG_WORKFLOWS, delete_cws_edges, NULL, NULL, NULL, WORK_QUERY,
     SCOPE_INGEST | SCOPE_FACADE, ROUTE_RAW_REPLY | ROUTE_FACADE,
     "Edges of a run's graph go (nf-cws)", CWS_DOC, NULL},
    {"POST", "/compat/cws/v1/scheduler/{execution}/DAG/edges", "addCwsEdges",
     TAG_WORKFLOWS, post_cws_edges, NULL, NULL, NULL, WORK_QUERY,
     SCOPE_INGEST | SCOPE_FACADE, ROUTE_RAW_REPLY | ROUTE_FACADE,
     "Edges of a run's graph (nf-cws)", CWS_DOC, NULL},
    {"DELETE", "/compat/cws/v1/scheduler/{execution}/DAG/vertices", "removeCwsVertices",
     TAG_WORKFLOWS, delete_cws_vertices, NULL, NULL, NULL, WORK_QUERY,
     SCOPE_INGEST | SCOPE_FACADE, ROUTE_RAW_REPLY | ROUTE_FACADE,
     "Vertices of a run's graph go (nf-cws)", CWS_DOC, NULL},
    {"POST", "/compat/cws/v1/scheduler/{execution}/DAG/vertices", "addCwsVertices",
     TAG_WORKFLOWS, post_cws_vertices, NULL, NULL, NULL, WORK_QUERY,
     SCOPE_INGEST | SCOPE_FACADE, ROUTE_RAW_REPLY | ROUTE_FACADE,
     "Vertices of a run's graph (nf-cws)", CWS_DOC, NULL},
    {"PUT", "/compat/cws/v1/scheduler/{execution}/endBatch", "endCwsBatch", TAG_WORKFLOWS,
     put_cws_batch, NULL, NULL, NULL, WORK_QUERY, SCOPE_INGEST | SCOPE_FACADE,
     ROUTE_RAW_REPLY | ROUTE_FACADE, "A batch of tasks ends (nf-cws)", CWS_DOC, NULL},
    {"PUT", "/compat/cws/v1/scheduler/{execution}/startBatch", "startCwsBatch",
     TAG_WORKFLOWS, put_cws_batch, NULL, NULL, NULL, WORK_QUERY,
     SCOPE_INGEST | SCOPE_FACADE, ROUTE_RAW_REPLY | ROUTE_FACADE,
     "A batch of tasks starts (nf-cws)", CWS_DOC, NULL},
    {"POST", "/compat/cws/v1/scheduler/{execution}/metrics/task/{id}", "addCwsMetrics",
     TAG_WORKFLOWS, post_cws_metrics, NULL, NULL, NULL, WORK_QUERY,
     SCOPE_INGEST | SCOPE_FACADE, ROUTE_RAW_REPLY | ROUTE_FACADE,
     "What a task took (nf-cws)", CWS_DOC, NULL},
    {"DELETE", "/compat/cws/v1/scheduler/{execution}/task/{id}", "endCwsTask",
     TAG_WORKFLOWS, delete_cws_task, NULL, NULL, NULL, WORK_QUERY,
     SCOPE_INGEST | SCOPE_FACADE, ROUTE_RAW_REPLY,
     "A task has ended, or is withdrawn (nf-cws)", CWS_DOC, NULL},
    {"GET", "/compat/cws/v1/scheduler/{execution}/task/{id}", "getCwsTask", TAG_WORKFLOWS,
     get_cws_task, NULL, NULL, NULL, WORK_QUERY, SCOPE_INGEST | SCOPE_FACADE,
     ROUTE_RAW_REPLY | ROUTE_RAW_JSON, "How a task is (nf-cws)", CWS_DOC, NULL},
    {"POST", "/compat/cws/v1/scheduler/{execution}/task/{id}", "addCwsTask",
     TAG_WORKFLOWS, post_cws_task, NULL, NULL, NULL, WORK_QUERY,
     SCOPE_INGEST | SCOPE_FACADE, ROUTE_RAW_REPLY | ROUTE_FACADE | ROUTE_RAW_JSON,
     "A task is ready (nf-cws)", CWS_DOC, NULL},
    {"POST", "/compat/k8s/filter", "filterNodes", TAG_PLACEMENT, post_kubernetes_filter,
     NULL, NULL, NULL, WORK_QUERY, SCOPE_DECIDE | SCOPE_FACADE,
     ROUTE_FACADE | ROUTE_RAW_REPLY | ROUTE_RAW_JSON,
     "Which nodes may take this pod? (extender of kube-scheduler)",
     "An ExtenderFilterResult in the form, of Nodes or NodeNames, that was asked. A node "
     "of the snapshot k8s_snapshot_id fails when the 0.95 quantile of the pod's "
     "predicted "
     "peak of memory, or a need of its task, exceeds what is free there. If all would "
     "fail, or anything goes wrong, every node passes.",
     NULL},
    {"POST", "/compat/k8s/prioritize", "prioritizeNodes", TAG_PLACEMENT,
     post_kubernetes_prioritize, NULL, NULL, NULL, WORK_QUERY,
     SCOPE_DECIDE | SCOPE_FACADE, ROUTE_FACADE | ROUTE_RAW_REPLY | ROUTE_RAW_JSON,
     "Which nodes should take this pod? (extender of kube-scheduler)",
     "A HostPriorityList: a score from 0 to 10 for every node, 10 where the pod's task "
     "would end first, by the leases and run times of the snapshot k8s_snapshot_id. It "
     "never fails: whatever goes wrong, every score is 0. It says where a pod goes, not "
     "in which order pods do.",
     NULL},
    {"POST", "/compat/nextflow", "addNextflowMessage", TAG_MODELS, post_nextflow, NULL,
     &nextflow_answer_json, &nextflow_query_json, WORK_QUERY, SCOPE_INGEST | SCOPE_FACADE,
     ROUTE_FACADE, "A message of Nextflow (alias of /v1/ingest/nextflow)", NEXTFLOW_DOC,
     NULL},
    {"POST", "/compat/tpv/process_data", "sortDestinations", TAG_PLACEMENT, post_tpv,
     NULL, &tpv_answer_json, NULL, WORK_QUERY, SCOPE_DECIDE | SCOPE_FACADE, ROUTE_FACADE,
     "Which destination is best for this job? (Galaxy's Total Perspective Vortex)",
     "All destinations that were sent: first those where the tool has run, of the "
     "application galaxy/TOOL_ID at that site, by how long it waited and ran there; then "
     "the others by their distance to the object store that holds most of the data; then "
     "those that do not say where they are.",
     NULL},
    {"POST", "/v1/ingest/nextflow", "ingestNextflow", TAG_MODELS, post_nextflow, NULL,
     &nextflow_answer_json, &nextflow_query_json, WORK_QUERY, SCOPE_INGEST | SCOPE_FACADE,
     ROUTE_FACADE, "A message of Nextflow", NEXTFLOW_DOC, NULL},
    {0},
};

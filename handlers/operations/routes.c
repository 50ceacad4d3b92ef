/* routes.c - the endpoints of this room.
 *
 * A row: method, path, operation and tag of the description, handler; body, answer and
 * query tables; which thread, which scope, flags; documentation; prefix of its examples.
 */
#include "handlers/operations/routes.h"

#include "handlers/common/tags.h"

const struct route operations_routes[] = {
    {"GET", "/healthz", "getHealth", TAG_OPERATIONS, get_livez, NULL, &health_json, NULL,
     WORK_INLINE, SCOPE_NONE, ROUTE_PROBE, "Is the process alive? (alias of /livez)",
     "200 as long as the process answers; knows nothing of the database.", NULL},
    {"GET", "/livez", "getLiveness", TAG_OPERATIONS, get_livez, NULL, &health_json, NULL,
     WORK_INLINE, SCOPE_NONE, ROUTE_PROBE, "Is the process alive?",
     "200 as long as the process answers; knows nothing of the database.", NULL},
    {"GET", "/metrics", "getMetrics", TAG_OPERATIONS, get_metrics, NULL, NULL, NULL,
     WORK_INLINE, SCOPE_NONE, ROUTE_RAW_REPLY | ROUTE_PROBE | ROUTE_METRICS,
     "Metrics for Prometheus",
     "Prometheus text 0.0.4, or OpenMetrics 1.0 when Accept asks for it.", NULL},
    {"GET", "/openapi.json", "getDescription", TAG_OPERATIONS, get_openapi, NULL, NULL,
     NULL, WORK_INLINE, SCOPE_NONE, ROUTE_RAW_REPLY | ROUTE_VERSIONED | ROUTE_RAW_JSON,
     "This description", "OpenAPI 3.1, printed from the service's own tables.", NULL},
    {"GET", "/readyz", "getReadiness", TAG_OPERATIONS, get_readyz, NULL, &health_json,
     &health_query_json, WORK_QUERY, SCOPE_NONE, ROUTE_PROBE | ROUTE_TELLS_STATE,
     "Does it take requests?",
     "200 when the database answers and has the right schema; 503 when it does not, or "
     "while the "
     "service shuts down. Decisions that carry their inputs are answered all the same.",
     NULL},
    {"GET", "/v1/algorithms", "listAlgorithms", TAG_OPERATIONS, get_algorithms, NULL,
     &algorithms_answer_json, &algorithms_query_json, WORK_INLINE, SCOPE_NONE, 0,
     "All algorithms with their options",
     "Every policy of every family: name, purpose, source, and its options with type, "
     "bounds and "
     "default.",
     NULL},
    {"GET", "/v1/errors", "listErrors", TAG_OPERATIONS, get_errors, NULL,
     &errors_answer_json, NULL, WORK_INLINE, SCOPE_NONE, 0, "What may go wrong",
     "Every code of a problem, of the elements of its errors, and of a warning: what "
     "leads to it, and what to do then.",
     NULL},
    {"GET", "/v1/quotas", "getQuotas", TAG_OPERATIONS, get_quotas, NULL, &quotas_json,
     NULL, WORK_INLINE, SCOPE_DECIDE | SCOPE_INGEST, 0, "What the caller may still take",
     "For each limit of the key, or of all keys of its tenant, what there is and what is "
     "left: requests, seconds of processor, computations at once, memory, time limit. "
     "gridplan key create and gridplan tenant set set them.",
     NULL},
    {"GET", "/v1/service-info", "getServiceInfo", TAG_OPERATIONS, get_service_info, NULL,
     &service_info_json, NULL, WORK_INLINE, SCOPE_NONE, 0, "What this service is",
     "Identity in the form of GA4GH's service-info, what the key that asks may do, "
     "limits, and "
     "where more is to be read.",
     NULL},
    {0},
};

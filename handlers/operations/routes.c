/* routes.c - the endpoints of this room.
 *
 * A row: method, path, handler; body, answer and query tables; which thread, which
 * scope, flags; documentation; prefix of its examples. */
#include "handlers/operations/routes.h"

const struct route operations_routes[] = {
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
    {"GET", "/v1/errors", get_errors, NULL, &errors_answer_json, NULL, WORK_INLINE,
     SCOPE_NONE, 0, "What may go wrong",
     "Every code of a problem, of the elements of its errors, and of a warning: what "
     "leads to it, and what to do then.",
     NULL},
    {"GET", "/v1/quotas", get_quotas, NULL, &quotas_json, NULL, WORK_INLINE,
     SCOPE_DECIDE | SCOPE_INGEST, 0, "What the caller may still take",
     "For each limit of the key, or of all keys of its tenant, what there is and what is "
     "left: requests, seconds of processor, computations at once, memory, time limit. "
     "gridplan key create and gridplan tenant set set them.",
     NULL},
    {"GET", "/v1/service-info", get_service_info, NULL, &service_info_json, NULL,
     WORK_INLINE, SCOPE_NONE, 0, "What this service is",
     "Identity in the form of GA4GH's service-info.", NULL},
    {0},
};

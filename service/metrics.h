/* metrics.h - what is counted, for Prometheus.
 *
 * Counting is lock-free and may be done by any thread. Labels come from fixed
 * tables: routes by their template, algorithms and reasons up to a limit,
 * beyond which they are "other".
 */
#ifndef GRIDPLAN_METRICS_H
#define GRIDPLAN_METRICS_H

#include "service/route.h"

struct metrics;

/* The table is ended by {0} and must stay; NULL without memory. */
struct metrics *metrics_create(const struct route *route_table);
void metrics_close(struct metrics *m);

/* http_requests_total{route,code}, http_request_duration_seconds{route}.
 * `route` NULL: none fitted. Accepts m NULL, as all that count do. */
void metrics_request(struct metrics *m, const struct route *route, int status,
                     double duration_s);

/* decision_duration_seconds{endpoint,algorithm}; decision_gap_ratio unless
 * `gap_ratio` is NAN. */
void metrics_decision(struct metrics *m, const struct route *route, const char *algorithm,
                      double duration_s, double gap_ratio);

/* jobs_unplaced_total{reason} */
void metrics_unplaced(struct metrics *m, const char *reason, size_t count);

/* gridplan_check_failures_total{endpoint}: plans that the independent checker refused. */
void metrics_check_failure(struct metrics *m, const struct route *route);

/* gridplan_memory_estimate_ratio{work}: what a request took of what it was guessed to. */
void metrics_estimate(struct metrics *m, const struct route *route, double ratio);

/* model_error_ratio: relative error of a prediction against what came. */
void metrics_model_error(struct metrics *m, double error_ratio);

/* gridplan_renamed_members_total: members of a request that had an old name. */
void metrics_renamed(struct metrics *m, size_t count);

/* A number that is asked for when the metrics are printed. Register all before
 * the server starts. `labels`: "" or e.g. "pool=\"compute\""; the texts must
 * stay. Rows of one name must follow each other. */
enum metric_type { METRIC_GAUGE, METRIC_COUNTER };
typedef double metric_fn(void *context);
bool metrics_add(struct metrics *m, enum metric_type type, const char *name,
                 const char *labels, const char *help, metric_fn *read, void *context);

/* Content types of the two formats. */
#define METRICS_TYPE_TEXT "text/plain; version=0.0.4; charset=utf-8"
#define METRICS_TYPE_OPENMETRICS \
    "application/openmetrics-text; version=1.0.0; charset=utf-8"

/* Whether an Accept header asks for OpenMetrics. NULL: no. */
bool metrics_wants_openmetrics(const char *accept);

/* Prometheus text 0.0.4, or OpenMetrics 1.0. `governor`: what its largest owners have
 * under way is shown too, by name, for the listener that only operators reach; NULL: not.
 */
struct governor_stats;
void metrics_print(const struct metrics *m, const struct governor_stats *governor,
                   bool openmetrics, struct text_buffer *out);

#endif

/* metrics.h - what is counted, for Prometheus.
 *
 * Counting may be done by any thread, and takes a lock only when a combination of labels
 * is seen first: a series appears with its first event. Values of labels come from closed
 * tables, never from clients; nevertheless a family has METRICS_SERIES_MAX series at
 * most, and what goes beyond is counted as dropped. All names begin with gridplan_ but
 * those that every process has.
 */
#ifndef GRIDPLAN_METRICS_H
#define GRIDPLAN_METRICS_H

#include "service/route.h"

struct metrics;

enum { METRICS_SERIES_MAX = 2000 }; /* of a family */

/* `with_former`: also by the names and labels of the release before, which had no prefix.
 * NULL without memory. */
struct metrics *metrics_create(bool with_former);
void metrics_close(struct metrics *m);

/* http_requests_total{route,code}, http_request_duration_seconds{work},
 * http_request_seconds_total{route}. `route` NULL: none fitted. Accepts m NULL, as all
 * that count do. */
void metrics_request(struct metrics *m, const struct route *route, int status,
                     double duration_s);

/* decision_duration_seconds{endpoint}, decisions_total and decision_seconds_total
 * {endpoint,algorithm}, decision_status_total{endpoint,status}; decision_gap_ratio
 * {endpoint} unless `gap_ratio` is NAN. */
void metrics_decision(struct metrics *m, const struct route *route, const char *algorithm,
                      enum decision_status status, double duration_s, double gap_ratio);

/* jobs_unplaced_total{reason} */
void metrics_unplaced(struct metrics *m, const char *reason, size_t count);

/* check_failures_total{endpoint}: plans that the independent checker refused. */
void metrics_check_failure(struct metrics *m, const struct route *route);

/* memory_estimate_ratio{work}: what a request took of what it was guessed to. */
void metrics_estimate(struct metrics *m, const struct route *route, double ratio);

/* worker_queue_wait_seconds{work}: what it waited for a worker, or for memory. */
void metrics_queue_wait(struct metrics *m, const struct route *route, double wait_s);

/* model_error_ratio{kind}: relative error of a model's prediction against what came;
 * forecast_error_ratio{method}: the like of a forecaster of loads. NAN: not known. */
void metrics_model_error(struct metrics *m, const char *kind, double error_ratio);
void metrics_forecast_error(struct metrics *m, const char *method, double error_ratio);

/* ingest_rows_total{history,result}: the records of one request to a route whose path
 * ends in the history's name. */
void metrics_ingested(struct metrics *m, const struct route *route,
                      const struct metrics_rows *rows);

/* workflow_session_events_total{kind,result}: "stored", "duplicate", "refused";
 * workflow_session_plan_seconds: time that a plan of a session took. */
void metrics_session_event(struct metrics *m, const char *kind, const char *result,
                           size_t count);
void metrics_session_plan(struct metrics *m, double duration_s);

/* refits_total, refit_seconds_total{kind,result}: a model learnt, or tried to. */
void metrics_refit(struct metrics *m, const char *kind, const char *result,
                   double duration_s);

/* facade_events_total{facade,result}: what became of messages of other tools:
 * "stored", "duplicate", "ignored" ... from closed tables. Of "incomplete", "no_run_time"
 * and "refused" also facade_dropped_total{facade,reason}. metrics_request() counts
 * facade_requests_total{facade,code}. */
void metrics_facade(struct metrics *m, const char *facade, const char *result,
                    size_t count);

/* renamed_members_total: members of a request that had an old name. */
void metrics_renamed(struct metrics *m, size_t count);

/* A number that is asked for when the metrics are printed. Register all before the
 * server starts. `labels`: "" or e.g. "pool=\"compute\""; the texts must stay. Rows of
 * one name must follow each other. */
enum metric_type { METRIC_GAUGE, METRIC_COUNTER };
typedef double metric_fn(void *context);
struct metric_row {
    enum metric_type type;
    const char *name, *labels, *help;
    metric_fn *read;
    void *context;
    bool had_no_prefix; /* in the release before */
};
bool metrics_add(struct metrics *m, const struct metric_row *row);

/* Every family: those with labels from closed tables, then what was added. */
typedef void metric_seen_fn(void *context, const char *name, const char *type,
                            const char *labels, const char *help);
void metrics_each(struct metrics *m, metric_seen_fn *seen, void *context);

/* Content types of the two formats. */
#define METRICS_TYPE_TEXT "text/plain; version=0.0.4; charset=utf-8"
#define METRICS_TYPE_OPENMETRICS \
    "application/openmetrics-text; version=1.0.0; charset=utf-8"

/* Whether an Accept header names OpenMetrics. NULL: no. */
bool metrics_names_openmetrics(const char *accept);

/* Prometheus text 0.0.4, or OpenMetrics 1.0. `governor`: what its largest owners have
 * under way is shown too, by name, for the listener that only operators reach; NULL: not.
 */
struct governor_stats;
void metrics_print(struct metrics *m, const struct governor_stats *governor,
                   bool openmetrics, struct text_buffer *out);

#endif

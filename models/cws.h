/* cws.h - what nf-cws, the plugin of Nextflow for the Common Workflow Scheduler, sends.
 *
 * Source: F. Lehmann et al. 2023, "How Workflow Engines Should Talk to Resource Managers:
 * A Proposal for a Common Workflow Scheduling Interface"; the plugin's README.
 */
#ifndef GRIDPLAN_CWS_H
#define GRIDPLAN_CWS_H

#include "models/base/error.h"

#include <stddef.h>

/* NULL, NAN: not said. */
struct cws_task {
    const char *process, *pod;
    double cpus, memory_bytes, input_bytes; /* > 0 */
    double attempt;                         /* from 1 */
};

/* What became of a task. */
struct cws_metrics {
    double peak_rss_bytes, run_time_s;
};

/* The member `strategy` of a registration; NULL: none. */
enum error_code cws_strategy_read(const char *text, size_t length, const char **strategy,
                                  struct arena *a, struct error *err);

/* ERR_MALFORMED: no JSON object; of a task: without the name of its process. Members that
 * are not known are stepped over. */
enum error_code cws_task_read(const char *text, size_t length, struct cws_task *out,
                              struct arena *a, struct error *err);
enum error_code cws_metrics_read(const char *text, size_t length, struct cws_metrics *out,
                                 struct arena *a, struct error *err);

#endif

/* coallocation_durations.h - how long a reservation must be, from stored executions.
 *
 * Source: spec coallocation.md 19 (4).
 */
#ifndef GRIDPLAN_COALLOCATION_DURATIONS_H
#define GRIDPLAN_COALLOCATION_DURATIONS_H

#include "service/route.h"

/* What a request says; its presence is the wish. */
struct co_duration_request {
    const char *application_id;
    double quantile;
    double min_samples, window_s;
    double at_s; /* instant; NAN: now */
};
extern const struct json_object co_duration_request_json;

/* The run times that were found, by processors. */
struct co_run_times {
    bool unavailable; /* they cannot be read now */
    const double *processors, *run_time_s;
    size_t count;
};

/* What was looked up is kept for a replay. */
enum error_code co_run_times_find(struct request *rq,
                                  const struct co_duration_request *in,
                                  struct co_run_times *out);

/* Quantile of the run times on so many processors, linear between them; *samples counts
 * them. NAN: they are too few. */
void co_run_time_of(const struct co_run_times *runs, const struct co_duration_request *in,
                    double processors, double *run_time_s, size_t *samples,
                    struct arena *a);

#endif

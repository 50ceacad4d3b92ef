/* progress/learnt.h - how far off predictions of finished tasks of the application were,
 * with as much reported: from 20 such tasks on that is an interval.
 *
 * An error is ln(actual / predicted) of a task at the first report of a tenth of its
 * progress. Their interval is that of run times (models/performance/log_interval.h) at
 * PROGRESS_INTERVAL_LEVEL: half = q s0, estimate exp(-half) to estimate exp(half). Of 20
 * to 49 errors both ends are the farther of the two intervals'; from 50 on theirs alone
 * count.
 *
 * Source: learning.md 16, 3.
 */
#ifndef GRIDPLAN_PROGRESS_LEARNT_H
#define GRIDPLAN_PROGRESS_LEARNT_H

#include "models/progress/progress.h"

enum {
    PROGRESS_BINS = 10,
    PROGRESS_ERRORS_LEAST = 20,
    PROGRESS_ERRORS_ALONE = 50,
    PROGRESS_ERRORS_MAX = 500
};

/* Which tenth a report of 0..100 % is in, 0..9. */
size_t progress_bin_of(double progress_pct);

/* The tenth in which the task is: by the median of its last three reports, as one alone
 * may be wrong. count >= 1, in any order. */
size_t progress_bin_now(const struct progress_sample *samples, size_t count);

/* What would have been predicted, without an interval, when only these points of the
 * history were known, >= 1; thins them: *count are left. */
enum error_code progress_predict_by(const struct progress_history *history,
                                    struct progress_point *points, size_t *count,
                                    struct progress_out *out, struct arena *a);

/* The error at each tenth of a finished task; NAN: no report in it, or no prediction. Up
 * to ten predictions. */
enum error_code progress_bin_errors(const struct progress_history *history,
                                    double actual_ref_s, double *out, struct arena *a);

/* Changes the interval of a prediction by the errors of finished tasks, the latest
 * PROGRESS_ERRORS_MAX of them; false: too few, or there is no prediction. Never below the
 * work done. O(count log count). */
bool progress_learnt_interval(const double *errors, size_t count, double work_ref_s,
                              struct progress_out *out, struct arena *a);

#endif

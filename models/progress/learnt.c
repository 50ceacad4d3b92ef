/* progress/learnt.c - how far off predictions of finished tasks were. */
#include "models/progress/learnt.h"

#include "models/base/order.h"
#include "models/performance/log_interval.h"

#include <math.h>
#include <string.h>

size_t progress_bin_of(double progress_pct)
{
    double bin = floor(progress_pct * PROGRESS_BINS / 100);

    return bin >= PROGRESS_BINS ? PROGRESS_BINS - 1 : bin > 0 ? (size_t)bin : 0;
}

enum { LATEST = 3 };

size_t progress_bin_now(const struct progress_sample *samples, size_t count)
{
    const struct progress_sample *latest[LATEST];
    double pct[LATEST];
    size_t n = 0;

    for (size_t i = 0; i < count; i++) {
        size_t at = n < LATEST ? n++ : LATEST - 1;

        if (n == LATEST && i >= LATEST && samples[i].elapsed_s <= latest[at]->elapsed_s)
            continue;
        for (; at > 0 && samples[i].elapsed_s > latest[at - 1]->elapsed_s; at--)
            latest[at] = latest[at - 1];
        latest[at] = &samples[i];
    }
    for (size_t i = 0; i < n; i++)
        pct[i] = latest[i]->progress_pct;
    return progress_bin_of(sort_median(pct, n));
}

enum error_code progress_predict_by(const struct progress_history *history,
                                    struct progress_point *points, size_t *count,
                                    struct progress_out *out, struct arena *a)
{
    struct progress_in in = {.options = progress_options_init()};

    in.options.interval = PROGRESS_NO_INTERVAL;
    in.history.points = points;
    in.history.sample_count = *count;
    in.history.count = *count = progress_thin(points, *count, in.options.max_points);
    in.history.work_known = history->work_known;
    return progress_predict(&in, out, a);
}

/* By the first `count` points. */
static enum error_code error_after(const struct progress_history *history, size_t count,
                                   double actual_ref_s, double *error, struct arena *a)
{
    struct progress_point *points = NEW(a, struct progress_point, count);
    struct progress_out answer;

    memcpy(points, history->points, count * sizeof(*points));
    TRY(progress_predict_by(history, points, &count, &answer, a));
    if (answer.estimate_ref_s > 0 && isfinite(answer.estimate_ref_s))
        *error = log(actual_ref_s / answer.estimate_ref_s);
    return OK;
}

enum error_code progress_bin_errors(const struct progress_history *history,
                                    double actual_ref_s, double *out, struct arena *a)
{
    for (size_t k = 0; k < PROGRESS_BINS; k++)
        out[k] = (double)NAN;
    for (size_t i = 0; i < history->count; i++) {
        const struct progress_point *p = &history->points[i];
        double share_pct =
            p->estimate_ref_s > 0 ? 100 * p->work_ref_s / p->estimate_ref_s : 0;
        size_t bin = progress_bin_of(share_pct);

        if (isnan(out[bin]) && share_pct < 100)
            TRY(error_after(history, i + 1, actual_ref_s, &out[bin], a));
    }
    return OK;
}

static bool is_predicted(const struct progress_out *p)
{
    return p->source != PROGRESS_FROM_none && p->source != PROGRESS_FROM_finished &&
           p->source != PROGRESS_FROM_cached &&
           p->source != PROGRESS_FROM_initial_estimate && p->estimate_ref_s > 0;
}

bool progress_learnt_interval(const double *errors, size_t count, double work_ref_s,
                              struct progress_out *out, struct arena *a)
{
    struct log_errors groups[LOG_GROUP_COUNT] = {{NULL, 0}};
    struct log_recent *recent = NEW(a, struct log_recent, LOG_GROUP_COUNT);
    struct log_set set;
    size_t used = count < PROGRESS_ERRORS_MAX ? count : PROGRESS_ERRORS_MAX;
    double half, low, high;

    if (used < PROGRESS_ERRORS_LEAST || !is_predicted(out))
        return false;
    groups[LOG_SAME].list = NEW(a, struct log_error, used);
    groups[LOG_SAME].count = used;
    for (size_t i = 0; i < used; i++)
        groups[LOG_SAME].list[i] = (struct log_error){errors[i], 0, (double)i};
    log_set_of(groups, recent, LOG_SAME, &set, a);
    half = log_set_quantile(&set, PROGRESS_INTERVAL_LEVEL) * set.scale;
    low = fmax(work_ref_s, out->estimate_ref_s * exp(-half));
    high = out->estimate_ref_s * exp(half);
    if (used < PROGRESS_ERRORS_ALONE) { /* NAN: the task's own reports gave none */
        low = fmin(low, out->low_ref_s);
        high = fmax(high, out->high_ref_s);
    }
    out->low_ref_s = fmin(low, out->estimate_ref_s);
    out->high_ref_s = high;
    return true;
}

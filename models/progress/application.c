/* progress/application.c - what the finished tasks of an application say.
 *
 * Source: spec runtime-prediction.md 12.
 */
#include "models/progress/application.h"

#include <math.h>

static const double shares[PROGRESS_SHARES] = {0.1, 0.2, 0.5};
static const double nodes_pct[PROGRESS_NODES] = {5, 10, 20, 50};

/* Errors at one share of the work, with what was reported by then. */
static enum error_code score_share(const struct progress_history *history, double actual,
                                   size_t share, struct progress_score *out,
                                   struct arena *a)
{
    struct progress_point *points = NEW(a, struct progress_point, history->count);
    struct progress_out answer;
    size_t count = 0;

    for (size_t i = 0; i < history->count; i++)
        if (history->points[i].work_ref_s <= shares[share] * actual)
            points[count++] = history->points[i];
    if (count == 0)
        return OK;
    TRY(progress_predict_by(history, points, &count, &answer, a));
    out->fit_error[share] = fabs(answer.estimate_ref_s - actual) / actual;
    out->extrapolation_error[share] =
        fabs(fmax(answer.extrapolated_ref_s, points[count - 1].work_ref_s) - actual) /
        actual;
    return OK;
}

/* The curve of the whole history. */
static enum error_code score_shape(const struct progress_history *history,
                                   struct progress_score *out, struct arena *a)
{
    struct progress_in in = {.history = *history, .options = progress_options_init()};
    struct progress_out answer;
    const struct progress_candidate *c;

    in.history.finished = false; /* it is, but its curve is wanted */
    in.options.interval = PROGRESS_NO_INTERVAL;
    in.options.abscissa = PROGRESS_WORK;
    TRY(progress_predict(&in, &answer, a));
    if (answer.candidate_count == 0)
        return OK;
    c = &answer.candidates[answer.chosen]; /* its limit may well be just below the work */
    if (!(c->param[0] > 0) || !(c->param[1] > 0) || !isfinite(c->res_norm))
        return OK;
    out->function = progress_function_names[c->function];
    out->amplitude_ratio = c->param[1] / c->param[0];
    out->decay_ratio = c->param[2] * c->param[0];
    return OK;
}

enum error_code progress_score_of(const struct progress_history *history,
                                  double actual_ref_s, struct progress_score *out,
                                  struct arena *a)
{
    struct progress_score score = {.amplitude_ratio = (double)NAN,
                                   .decay_ratio = (double)NAN};

    for (size_t k = 0; k < PROGRESS_SHARES; k++)
        score.fit_error[k] = score.extrapolation_error[k] = (double)NAN;
    for (size_t k = 0; k < PROGRESS_NODES; k++)
        score.estimate_ratio[k] = (double)NAN;
    for (size_t i = history->count; i-- > 0;) {
        const struct progress_point *p = &history->points[i];

        for (size_t k = 0; k < PROGRESS_NODES; k++)
            if (100 * p->work_ref_s >= nodes_pct[k] * p->estimate_ref_s)
                score.estimate_ratio[k] = p->estimate_ref_s / actual_ref_s;
    }
    for (size_t k = 0; k < PROGRESS_SHARES && history->count > 0; k++)
        TRY(score_share(history, actual_ref_s, k, &score, a));
    TRY(progress_bin_errors(history, actual_ref_s, score.log_error, a));
    if (history->count > 0)
        TRY(score_shape(history, &score, a));
    *out = score;
    return OK;
}

bool progress_fit_loses(const struct progress_application *known)
{
    double fit = 0, extrapolation = 0;

    if (!known || !(known->task_count >= PROGRESS_TASKS_POLICY))
        return false;
    for (size_t k = 0; k < PROGRESS_SHARES; k++) {
        if (isnan(known->fit_error[k]) || isnan(known->extrapolation_error[k]))
            continue;
        fit += known->fit_error[k];
        extrapolation += known->extrapolation_error[k];
    }
    return fit > extrapolation;
}

double progress_estimate_ratio(const struct progress_application *known,
                               double progress_pct)
{
    double ratio = 1, before_pct = 0;

    if (!known || !(known->task_count >= PROGRESS_TASKS_LEAST))
        return 1;
    for (size_t k = 0; k < PROGRESS_NODES; k++) {
        double next = known->estimate_ratio[k];

        if (!(next > 0) || !isfinite(next))
            continue;
        if (before_pct == 0 && progress_pct <= nodes_pct[k])
            return next;
        if (before_pct > 0 && progress_pct <= nodes_pct[k])
            return ratio + (next - ratio) * (progress_pct - before_pct) /
                               (nodes_pct[k] - before_pct);
        ratio = next;
        before_pct = nodes_pct[k];
    }
    return ratio;
}

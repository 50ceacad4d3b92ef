/* workflow/simulation_reports.c - what tasks say of their progress, and what the
 * scheduler makes of it.
 *
 * The information service looks at all resources every interval: at their load, the work
 * that tasks have done, and the reports that they made since. A report depends on the
 * work only, so it is made up when somebody looks. The scheduler extrapolates the last
 * report (or takes the mean of all), or fits their sequence.
 *
 * Source: spec runtime-prediction.md 2, 6, 7.2; workflows.md 3.2, 5.3, 6.3.
 */
#include "algorithms/workflow/round_plan.h"
#include "algorithms/workflow/simulation_parts.h"

#include <math.h>
#include <string.h>

enum { RECENT = sizeof(((struct wsim_reported *)0)->recent_ref_s) / sizeof(double) };

/* ---- reports ---- */

static void keep_point(struct wsim *s, struct wsim_task *t, double elapsed_s)
{
    struct wsim_reported *n = &t->reported;
    size_t most = s->set->fit_points;

    if (!s->fits)
        return;
    if (!n->points)
        n->points = NEW(s->a, struct progress_point, most + 1);
    n->points[n->point_count++] =
        (struct progress_point){elapsed_s, n->reported_ref_s, n->estimate_ref_s};
    n->point_count = progress_thin(n->points, n->point_count, most);
}

static void report(struct wsim *s, struct wsim_task *t, double work_ref_s,
                   double elapsed_s)
{
    struct wsim_reported *n = &t->reported;

    n->reported_ref_s = work_ref_s;
    n->estimate_ref_s = evolution_report_ref_s(&t->given->evolution, work_ref_s, &n->rng);
    n->estimate_sum_ref_s += n->estimate_ref_s;
    n->report_count++;
    memmove(n->recent_ref_s, n->recent_ref_s + 1, (RECENT - 1) * sizeof(double));
    n->recent_ref_s[RECENT - 1] = n->estimate_ref_s;
    s->out.report_count++;
    keep_point(s, t, elapsed_s);
}

/* All reports since the last look; their times by the mean speed since then. */
static void look_at(struct wsim *s, struct wsim_task *t)
{
    struct wsim_reported *n = &t->reported;
    double work = wsim_task_work(t), had = n->seen_work_ref_s, from_s = n->elapsed_s;
    double step = s->set->report_ratio * t->given->nominal_ref_s;

    n->seen_work_ref_s = work;
    n->elapsed_s = t->elapsed_s;
    if (t->stage == WSIM_RUNNING)
        n->elapsed_s += 1e-3 * (double)(s->kernel.now_ms - t->began_ms);
    if (!(work > had))
        return;
    if (step <= 0) {
        report(s, t, work, n->elapsed_s);
        return;
    }
    while (n->reported_ref_s + step <= work && !s->failed) {
        double at = n->reported_ref_s + step;

        report(s, t, at,
               from_s + (n->elapsed_s - from_s) * fmax(0, at - had) / (work - had));
    }
}

void wsim_poll(struct wsim *s)
{
    s->looked_ms = s->kernel.now_ms;
    for (size_t i = 0; i < s->in->grid.resource_count; i++) {
        struct wsim_host *h = &s->hosts[i];

        wsim_host_advance(s, h);
        h->seen_speed = wsim_host_speed(h);
        for (size_t r = 0; r < h->running_count; r++)
            look_at(s, h->running[r]);
    }
}

/* ---- estimates ---- */

static double extrapolated(const struct wsim *s, const struct wsim_task *t)
{
    const double *param = s->in->policy.param;
    const struct wsim_reported *n = &t->reported;
    size_t recent = n->report_count < RECENT ? n->report_count : RECENT;
    int filter = (int)param[WF_ESTIMATE_FILTER];
    size_t window = (size_t)param[WF_FILTER_WINDOW];

    if (!n->report_count)
        return t->given->initial_estimate_ref_s;
    if (filter == PROGRESS_FILTER_AVERAGE ||
        (filter == PROGRESS_FILTER_AUTO &&
         progress_oscillates(n->recent_ref_s + (RECENT - recent), recent,
                             window < RECENT ? window : RECENT)))
        return n->estimate_sum_ref_s / (double)n->report_count;
    return n->estimate_ref_s;
}

static double fitted(struct wsim *s, struct wsim_task *t)
{
    struct wsim_reported *n = &t->reported;
    struct progress_in in = {
        .history = {.points = n->points,
                    .count = n->point_count,
                    .sample_count = n->report_count,
                    .work_known = true},
        .options = s->prediction,
        .initial_estimate_ref_s = t->given->initial_estimate_ref_s,
    };
    struct progress_out out;

    if (n->predicted_count == n->report_count)
        return n->predicted_ref_s;
    if (progress_predict(&in, &out, s->in->scratch) != OK) {
        s->failed = s->err->code;
        return (double)NAN;
    }
    n->predicted_ref_s = out.estimate_ref_s;
    n->predicted_count = n->report_count;
    n->spread_ref_s = isnan(out.low_ref_s) ? 0 : (out.high_ref_s - out.low_ref_s) / 2;
    return n->predicted_ref_s;
}

double wsim_remaining_ref_s(struct wsim *s, struct wsim_task *t)
{
    const struct wsim_reported *n = &t->reported;
    double work = t->stage == WSIM_RUNNING ? n->seen_work_ref_s : t->work_ref_s;
    bool has_fit = s->fits && n->report_count > 0;
    double estimate, pct;

    if (s->in->policy.no_estimates)
        return (double)NAN;
    estimate = has_fit ? fitted(s, t) : extrapolated(s, t);
    if (isnan(estimate))
        return (double)NAN;
    pct = n->report_count ? evolution_progress_pct(n->reported_ref_s, n->estimate_ref_s)
                          : evolution_progress_pct(work, fmax(estimate, 1e-9));
    return progress_remaining_ref_s(
        (enum progress_rule)s->in->policy.param[WF_REMAINING_RULE], estimate, work, pct);
}

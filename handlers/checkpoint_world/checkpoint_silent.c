/* checkpoint_silent.c - jobs with silent errors: verified checkpoints. */
#include "handlers/checkpoint/checkpoint_decision.h"

#include "algorithms/checkpoint/silent_errors.h"

#include <string.h>

/* The policy plans by what it knows of failures: with silent errors it plans anew. */
static bool plans_best(const struct policy *policy)
{
    return strcmp(policy->name, "finite") == 0 || strcmp(policy->name, "exact") == 0;
}

/* An equal part of the work near the interval, the one that ends sooner. */
static double even_interval_s(const struct silent_job *job, double work_s,
                              double interval_s)
{
    double fewer = fmax(1, floor(work_s / interval_s)), more = fewer + 1;

    return silent_expected_s(job, work_s, work_s / more) <
                   silent_expected_s(job, work_s, work_s / fewer)
               ? work_s / more
               : work_s / fewer;
}

void checkpoint_add_silent(struct checkpoint_work *w, const struct checkpoint_job *job,
                           const struct checkpoint_in *in,
                           struct checkpoint_interval *out)
{
    const struct checkpoint_silent *x = job->world.silent;
    struct silent_job errors = {.mean_s = in->mean_failure_interval_s,
                                .silent_mean_s = x->mean_interval_s,
                                .verification_s = x->verification_s,
                                .overhead_s = in->checkpoint_overhead_s,
                                .restart_s = in->restart_s,
                                .scratch_s = in->restart_from_scratch_s,
                                .delay_s = in->reschedule_delay_s};
    bool ends = in->execution_time_s > 0 && !isinf(in->execution_time_s);
    double interval_s = out->out.interval_s, expected_s = NAN;
    double least_s = checkpoint_floor_s(in, w->param, &out->out);

    if (!(errors.mean_s > 0) || isinf(errors.mean_s))
        return;
    if (plans_best(w->policy)) {
        interval_s = silent_best_interval_s(&errors, least_s);
        if (ends && strcmp(w->policy->name, "finite") == 0)
            interval_s = even_interval_s(&errors, in->execution_time_s, interval_s);
    }
    if (ends)
        expected_s = silent_expected_s(&errors, in->execution_time_s, interval_s);
    if (!isfinite(silent_segment_s(&errors, interval_s)))
        checkpoint_affect(w, CHECKPOINT_WARNS_HOPELESS, job);
    checkpoint_put_interval(in, interval_s, expected_s, out);
    out->out.expected_time_ratio =
        isinf(interval_s) ? HUGE_VAL : silent_segment_s(&errors, interval_s) / interval_s;
    if (!ends)
        out->out.waste_ratio = 1 - 1 / out->out.expected_time_ratio;
    w->is_unproved = true;
}

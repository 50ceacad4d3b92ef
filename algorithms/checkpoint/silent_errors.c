/* checkpoint/silent_errors.c - checkpoints where results may be wrong unnoticed. */
#include "algorithms/checkpoint/silent_errors.h"

#include "algorithms/checkpoint/finite_plan.h"
#include "algorithms/checkpoint/golden_section.h"

#include <assert.h>
#include <math.h>

/* T with this checkpoint and restart. */
static double segment_s(const struct silent_job *job, double work_s, double overhead_s,
                        double restart_s)
{
    double m = job->mean_s, lasts = (work_s + job->verification_s) / m;
    double p1 = exp(-lasts), fails1 = -expm1(-lasts);
    double ps = exp(-work_s / job->silent_mean_s);
    double wrong = -expm1(-work_s / job->silent_mean_s);
    double p2 = exp(-overhead_s / m), fails2 = -expm1(-overhead_s / m);
    double z = (m + job->delay_s) * expm1(restart_s / m);
    double failed = fails1 + p1 * ps * fails2;
    double ends = p1 * ps * p2;
    double sum_s = failed * (m + job->delay_s + z) + p1 * wrong * z;

    return ends > 0 && isfinite(sum_s / ends) ? sum_s / ends : HUGE_VAL;
}

double silent_segment_s(const struct silent_job *job, double work_s)
{
    return segment_s(job, work_s, job->overhead_s, job->restart_s);
}

double silent_first_order_interval_s(const struct silent_job *job)
{
    double rate = 1 / job->silent_mean_s + 0.5 / job->mean_s;

    return sqrt((job->verification_s + job->overhead_s) / rate);
}

static double time_ratio(const void *context, double work_s)
{
    return silent_segment_s(context, work_s) / work_s;
}

double silent_best_interval_s(const struct silent_job *job, double least_s)
{
    double near_s = silent_first_order_interval_s(job);

    assert(least_s > 0 && job->mean_s > 0 && job->silent_mean_s > 0);
    if (near_s < least_s / 20)
        return least_s;
    /* no further from it than a factor of the order of C/M: the exact one is at most M */
    return fmax(least_s, golden_least_at(time_ratio, job, fmin(near_s, job->mean_s) / 20,
                                         near_s * 20, 1e-8));
}

double silent_expected_s(const struct silent_job *job, double work_s, double interval_s)
{
    double checkpoints = finite_checkpoints_of_interval(work_s, interval_s);
    double sum_s;

    if (checkpoints < 1)
        return segment_s(job, work_s, 0, job->scratch_s);
    sum_s = segment_s(job, interval_s, job->overhead_s, job->scratch_s);
    if (checkpoints > 1)
        sum_s += (checkpoints - 1) * silent_segment_s(job, interval_s);
    return sum_s + segment_s(job, work_s - checkpoints * interval_s, 0, job->restart_s);
}

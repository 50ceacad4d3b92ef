/* checkpoint/interruptions.c - machines that are taken back after a notice. */
#include "algorithms/checkpoint/interruptions.h"

#include <math.h>

static bool is_foreseen(const struct interruptions *x)
{
    return x->notice_s >= x->overhead_s;
}

double interrupted_mean_s(const struct interruptions *x, double mean_s)
{
    double rate;

    if (is_foreseen(x) || x->per_s <= 0)
        return mean_s;
    rate = 1 / mean_s + x->per_s;

    return rate > 0 ? 1 / rate : HUGE_VAL;
}

struct interrupted_plan interrupted_best(const struct finite_job *job,
                                         const struct interruptions *x)
{
    struct interrupted_plan out = {.is_foreseen = is_foreseen(x)};
    struct finite_job planned = *job;
    double each_s = out.is_foreseen ? x->per_s : 0;

    out.mean_s = planned.mean_s = interrupted_mean_s(x, job->mean_s);
    out.plan = finite_best(&planned);
    out.expected_s = out.plan.expected_s *
                     (1 + each_s * (x->overhead_s + job->restart_s + job->delay_s));
    out.busy_s = out.plan.expected_s * (out.mean_s / (out.mean_s + job->delay_s) +
                                        each_s * (x->overhead_s + job->restart_s));
    return out;
}

/* migration/gridway_contract.c - does a job run as fast as was agreed? */
#include "algorithms/migration/gridway_contract.h"

#include <math.h>

static struct gridway_contract check_metric(const struct reschedule_contract *contract,
                                            const struct reschedule_sample *samples,
                                            size_t count)
{
    struct gridway_contract out = {CONTRACT_UNKNOWN, NAN, 1};
    double expected_per_s = isnan(contract->expected_per_s)
                                ? 1 / contract->expected_s_per_step
                                : contract->expected_per_s;
    const struct reschedule_sample *first, *last;

    if (count <= contract->window)
        return out;
    last = &samples[count - 1];
    first = last - contract->window;
    if (!(last->t_s > first->t_s))
        return out;
    out.observed_per_s = (last->value - first->value) / (last->t_s - first->t_s);
    if (!isfinite(out.observed_per_s)) {
        out.observed_per_s = NAN;
        return out;
    }
    out.rate_ratio = fmax(0, out.observed_per_s / expected_per_s);
    out.state = out.observed_per_s < (1 - contract->tolerance_ratio) * expected_per_s
                    ? CONTRACT_VIOLATED
                    : CONTRACT_KEPT;
    return out;
}

struct gridway_contract gridway_contract_check(const struct reschedule_job *job,
                                               double cpu_threshold_ratio)
{
    if (job->contract)
        return check_metric(job->contract, job->samples, job->sample_count);
    if (isnan(job->job_cpu_ratio) || isnan(job->idle_cpu_ratio))
        return (struct gridway_contract){CONTRACT_NONE, NAN, 1};
    return (struct gridway_contract){job->job_cpu_ratio < cpu_threshold_ratio &&
                                             job->idle_cpu_ratio < cpu_threshold_ratio
                                         ? CONTRACT_VIOLATED
                                         : CONTRACT_KEPT,
                                     NAN, 1};
}

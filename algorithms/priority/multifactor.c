/* multifactor.c - the priority of a waiting job. */
#include "algorithms/priority/multifactor.h"

#include <math.h>

static double share(double part, double all)
{
    return all > 0 ? fmin(fmax(part / all, 0), 1) : 0;
}

static double size_factor(const struct priority_settings *s,
                          const struct priority_job *job)
{
    double minutes = fmax(job->limit_s / 60, 1), factor;

    if (s->cluster_nodes <= 0 || s->cluster_cpus <= 0)
        return 0;
    if (s->relative_to_time)
        factor = share(fmax(job->cpus, job->nodes * s->cluster_cpus / s->cluster_nodes) /
                           minutes,
                       s->cluster_cpus);
    else
        factor =
            (share(job->nodes, s->cluster_nodes) + share(job->cpus, s->cluster_cpus)) / 2;
    return s->favors_small ? 1 - factor : factor;
}

struct priority priority_of(const struct priority_settings *s,
                            const struct priority_job *job, double *terms)
{
    const struct priority_weights *w = &s->weights;
    struct priority p = {
        .age = w->age * share(job->age_s, s->max_age_s),
        .association = w->association * job->association,
        .fair_share = w->fair_share * job->fair_share,
        .job_size = w->job_size * size_factor(s, job),
        .partition = w->partition * share(job->partition_factor, s->partition_factor_max),
        .qos = w->qos * share(job->qos, s->qos_max),
        .site = job->site_factor,
        .nice = -job->nice,
    };

    for (size_t k = 0; k < s->amount_count && s->amount_weights; k++) {
        double term = s->amount_weights[k] * share(job->asked[k], job->there[k]);

        p.amounts += term;
        if (terms)
            terms[k] = term;
    }
    if (job->held)
        return p;
    p.total = trunc(p.site + p.age + p.association + p.fair_share + p.job_size +
                    p.partition + p.qos + p.amounts + p.nice);
    p.total = fmin(fmax(p.total, 1), PRIORITY_MAX);
    return p;
}

/* priority/multifactor.h - the priority of a waiting job as a sum of weighted factors.
 *
 *     P = trunc(site_factor + W_age f_age + W_assoc f_assoc + W_fs F + W_size f_size
 *               + W_part f_part + W_qos f_qos + sum_t W_t f_t - nice)
 *
 * within 1..2^32 - 1; 0 for a job that is held. The sum is made in double and truncated
 * once. All factors are in 0..1:
 *
 *     f_age   time that it has been eligible / max_age_s
 *     f_size  n of N nodes, c of C cpus: (n/N + c/C) / 2; relative to the time:
 *             max(c, n C/N) / (limit in minutes) / C; 1 minus that for small jobs first
 *     f_part  of its partition's factor and the largest of all; f_qos likewise
 *     f_t     what it asks of an amount / what its partition has of it
 *
 * Source: Slurm's documentation, page "Multifactor Priority Plugin". The maximum in the
 * second form of f_size is not in its words: Slurm 22.05 reckons so.
 */
#ifndef GRIDPLAN_PRIORITY_MULTIFACTOR_H
#define GRIDPLAN_PRIORITY_MULTIFACTOR_H

#include <stdbool.h>
#include <stddef.h>

#define PRIORITY_MAX 4294967295.0

/* Parts of a priority: name, meaning. */
#define PRIORITY_PARTS(X)                                              \
    X(age, "Time that it has been eligible")                           \
    X(association, "The factor of its account or user")                \
    X(fair_share, "Past use of its account or user against its share") \
    X(job_size, "Its part of all nodes and cpus")                      \
    X(partition, "The factor of its partition")                        \
    X(qos, "The priority of its quality of service")                   \
    X(site, "What the site adds")                                      \
    X(nice, "What its user takes off, negative: this lowers the priority")

struct priority_weights {
    double age, association, fair_share, job_size, partition, qos;
};

struct priority_settings {
    struct priority_weights weights;
    const double *amount_weights; /* [amount_count]; NULL: none */
    size_t amount_count;
    double max_age_s; /* > 0 */
    bool favors_small, relative_to_time;
    double cluster_nodes, cluster_cpus;   /* totals; 0: the size does not count */
    double partition_factor_max, qos_max; /* over all; 0: they do not count */
};

struct priority_job {
    bool held;
    double age_s;                   /* since it is eligible; < 0 counts as 0 */
    double association, fair_share; /* factors, 0..1 */
    double nodes, cpus, limit_s;    /* cpus of all its nodes */
    double partition_factor, qos;
    double site_factor, nice;
    /* What it asks in all, and what there is in its partition; [amount_count]. */
    const double *asked, *there;
};

struct priority {
    double total; /* whole */
    /* The terms of the sum. */
#define X(name, meaning) double name;
    PRIORITY_PARTS(X)
#undef X
    double amounts; /* sum over all of them */
};

/* The priority, and if `terms` is not NULL the terms of its amounts, [amount_count]. */
struct priority priority_of(const struct priority_settings *s,
                            const struct priority_job *job, double *terms);

#endif

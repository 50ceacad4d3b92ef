/* placement/buckets.h - jobs of about the same needs and time.
 *
 * Where what is free on a resource has holes, the earliest start of a job is found by a
 * search. Jobs fall into buckets by powers of two of cpus and memory and of four of the
 * run time; the corner of a bucket needs no more, and no longer, than any of its jobs, so
 * that the corner's earliest start is a lower bound for all of them. While a plan grows
 * such a start only gets later.
 *
 * Source: world-model.md 4.1.
 */
#ifndef GRIDPLAN_PLACEMENT_BUCKETS_H
#define GRIDPLAN_PLACEMENT_BUCKETS_H

#include "algorithms/placement/free_profile.h"
#include "algorithms/placement/problem.h"

struct bucket {
    struct amounts need; /* of the corner */
    double estimate_ref_s;
};

struct buckets {
    struct bucket *list;
    size_t count;
    size_t *of_job;
};

/* At most so many that a number for each and each resource stays below 32 MiB. `scale` is
 * that of cpus and memory. O(n). */
void buckets_make(const struct placement_problem *p, const double *scale,
                  struct buckets *out, struct arena *a);

#endif

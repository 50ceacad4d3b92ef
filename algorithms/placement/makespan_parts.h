/* placement/makespan_parts.h - what the files makespan_*.c share.
 *
 * They count time in units of their own, `scale` of which make a second: a
 * power of two, so that nothing is rounded, which brings the longest time to at
 * most 1, so that nothing overflows.
 */
#ifndef GRIDPLAN_PLACEMENT_MAKESPAN_PARTS_H
#define GRIDPLAN_PLACEMENT_MAKESPAN_PARTS_H

#include "algorithms/placement/makespan.h"

/* Units per second for a problem: see above. */
double makespan_scale(const struct makespan_problem *problem);

/* Wait of a machine in seconds. */
static inline double makespan_wait(const struct makespan_problem *problem, size_t machine)
{
    return problem->wait_s ? problem->wait_s[machine] : 0;
}

/* A machine on which a job might go, apart from where it is. */
struct makespan_pair {
    uint32_t job, machine;
    double time;  /* units */
    double extra; /* reduced cost: price * time above the job's least, units */
};

/* The pairs the search looks at, by job and again by machine. */
struct makespan_pairs {
    size_t count;
    struct makespan_pair *by_job, *by_machine;
    size_t *job_first, *machine_first; /* index of the first; one more at the end */
};

/* Chooses the pairs of least reduced cost; see makespan_pairs.c. `bound` in units. */
enum error_code makespan_pairs_choose(const struct makespan_problem *problem,
                                      const double *price, double bound, double scale,
                                      struct makespan_pairs *out, struct arena *a,
                                      struct error *err);

/* Looks for the optimum of a problem of at most MAKESPAN_EXACT_JOBS jobs, starting
 * from `assignment` of length `makespan` units, and improves both. *proven: the
 * whole tree was searched within a limit of nodes. */
enum error_code makespan_exact(const struct makespan_problem *problem,
                               const struct makespan_prices *bound, double scale,
                               size_t *assignment, double *makespan, bool *proven,
                               struct arena *a, struct error *err);

enum { MAKESPAN_EXACT_JOBS = 20 };

/* Length of an assignment in units, summed in the order of the jobs; `load` is
 * room for one number per machine. */
double makespan_length(const struct makespan_problem *problem, double scale,
                       const size_t *assignment, double *load);

#endif

/* placement/makespan_exact.c - the optimum of very small problems.
 *
 * Depth first over the jobs, longest least time first, and over their machines in
 * order. A branch is left when a machine would end no sooner than the best known
 * assignment, or when the priced bound of makespan_bound.c with the placed jobs
 * fixed says so:
 *
 *     sum of p_j min(wait_j, B) + sum over placed of p_j t_ij
 *                               + sum over the others of min_j p_j t_ij.
 *
 * Source: ours. Cost: at most NODES_MAX nodes of machine_count each.
 */
#include "algorithms/placement/makespan_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NODES_MAX = 100000 };

static const double ROUNDING = 1e-12; /* an improvement must be larger */

struct tree_job {
    size_t job;
    double least;       /* units, on the fastest machine */
    double least_price; /* price * time on the cheapest one */
    double rest;        /* sum of least_price of this and all later jobs */
};

struct tree {
    const struct makespan_problem *problem;
    const double *price;
    double scale;
    size_t machine_count;
    struct tree_job jobs[MAKESPAN_EXACT_JOBS];
    size_t machine_of[MAKESPAN_EXACT_JOBS];
    double *load; /* wait and placed jobs */
    double limit; /* ends before this are wanted */
    double makespan;
    size_t *assignment; /* best so far */
    size_t nodes;
};

static int longest_first(const void *left, const void *right)
{
    const struct tree_job *l = left, *r = right;

    if (l->least != r->least)
        return l->least > r->least ? -1 : 1;
    return l->job < r->job ? -1 : 1;
}

static void keep(struct tree *t, double end)
{
    for (size_t d = 0; d < t->problem->job_count; d++)
        t->assignment[t->jobs[d].job] = t->machine_of[d];
    t->makespan = end;
    t->limit = end * (1 - ROUNDING);
}

/* Places the jobs from `depth` on; `end` is when the ones before it end, `value`
 * their part of the priced bound. */
static void branch(struct tree *t, size_t depth, double end, double value)
{
    const struct tree_job *job = &t->jobs[depth];
    size_t job_count = t->problem->job_count;

    if (depth == job_count) {
        keep(t, end);
        return;
    }
    for (size_t j = 0; j < t->machine_count && t->nodes < NODES_MAX; j++) {
        double time = t->problem->time_s[job->job * t->machine_count + j] * t->scale;
        double before = t->load[j], after = before + time;
        double value_after = value + t->price[j] * time;
        double rest = depth + 1 < job_count ? t->jobs[depth + 1].rest : 0;

        t->nodes++;
        if (after >= t->limit || value_after + rest >= t->limit)
            continue;
        t->load[j] = after;
        t->machine_of[depth] = j;
        branch(t, depth + 1, fmax(end, after), value_after);
        t->load[j] = before;
    }
}

static void describe_jobs(struct tree *t)
{
    size_t job_count = t->problem->job_count;
    double rest = 0;

    for (size_t i = 0; i < job_count; i++) {
        struct tree_job *job = &t->jobs[i];
        *job = (struct tree_job){i, HUGE_VAL, HUGE_VAL, 0};
        for (size_t j = 0; j < t->machine_count; j++) {
            double time = t->problem->time_s[i * t->machine_count + j] * t->scale;
            job->least = fmin(job->least, time);
            job->least_price = fmin(job->least_price, t->price[j] * time);
        }
    }
    qsort(t->jobs, job_count, sizeof(*t->jobs), longest_first);
    for (size_t d = job_count; d-- > 0;) {
        rest += t->jobs[d].least_price;
        t->jobs[d].rest = rest;
    }
}

enum error_code makespan_exact(const struct makespan_problem *problem,
                               const struct makespan_prices *bound, double scale,
                               size_t *assignment, double *makespan, bool *proven,
                               struct arena *a, struct error *err)
{
    struct tree *t = NEW(a, struct tree, 1);
    double value = 0;

    if (!t || !(t->load = NEW(a, double, problem->machine_count)))
        return fail_memory(err);
    t->problem = problem;
    t->price = bound->price;
    t->scale = scale;
    t->machine_count = problem->machine_count;
    t->assignment = assignment;
    t->makespan = *makespan;
    t->limit = *makespan * (1 - ROUNDING);
    for (size_t j = 0; j < t->machine_count; j++) {
        t->load[j] = makespan_wait(problem, j) * scale;
        value += t->price[j] * fmin(t->load[j], bound->bound_s * scale);
    }
    describe_jobs(t);
    branch(t, 0, 0, value);
    *makespan = t->makespan;
    *proven = t->nodes < NODES_MAX;
    return OK;
}

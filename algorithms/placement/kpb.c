/* placement/kpb.c - jobs in order, each where it completes first among the fastest.
 *
 * k-percent best: the resource of least completion time among the ceil(k % of the
 * feasible resources) that run the job fastest. k near 0 is met, 100 is mct. Ties:
 * lowest resource index.
 *
 * Source: Maheswaran et al. 1999 (J. Parallel Distrib. Comput. 59); default 20 there.
 * Cost: with estimates one count of feasible resources a stream and a scan a job;
 * O(m log m) a job for rows of a matrix.
 */
#include "algorithms/placement/plan.h"

#include <stdlib.h>

enum { K_PERCENT };

const struct param placement_kpb_params[] = {
    [K_PERCENT] =
        {"k_percent", 0, 100, 20,
         "Share of the feasible resources that is looked at, fastest first, in %",
         PARAM_NUMBER, NULL},
    {0},
};

struct candidate {
    double time_s;
    size_t pos, index;
};

static int by_time(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;

    if (x->time_s != y->time_s)
        return x->time_s < y->time_s ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static size_t part(size_t count, double k_percent)
{
    size_t k = (size_t)ceil((double)count * k_percent / 100 - 1e-9);

    return k ? k : 1;
}

/* The first position beyond the k-th feasible one: positions go by falling speed. */
static size_t limit_of(struct placement_plan *plan, size_t job, double k_percent)
{
    const struct placement_problem *p = plan->problem;
    size_t feasible = 0, k, pos = 0;

    plan->work += 2 * p->resource_count;
    for (size_t i = 0; i < p->resource_count; i++)
        feasible += plan_can_run(plan, job, i);
    if (feasible == 0)
        return 0;
    for (k = part(feasible, k_percent); k > 0; pos++)
        k -= plan_can_run(plan, job, pos);
    return pos;
}

static size_t best_of_row(struct placement_plan *plan, size_t job, double k_percent,
                          struct candidate *candidates)
{
    const struct placement_problem *p = plan->problem;
    size_t count = 0, best = NO_INDEX;
    double best_s = HUGE_VAL;

    plan->work += 8 * p->resource_count;
    for (size_t pos = 0; pos < p->resource_count; pos++)
        if (plan_can_run(plan, job, pos))
            candidates[count++] = (struct candidate){
                problem_execution_s(p, &p->jobs[job], pos), pos, p->resources[pos].index};
    if (count == 0)
        return NO_INDEX;
    qsort(candidates, count, sizeof(*candidates), by_time);
    for (size_t i = 0; i < part(count, k_percent); i++) {
        size_t pos = candidates[i].pos;
        double done_s = plan_fit(plan, job, pos).done_s;

        if (done_s < best_s || (done_s <= best_s && best != NO_INDEX &&
                                candidates[i].index < p->resources[best].index)) {
            best = pos;
            best_s = done_s;
        }
    }
    return best;
}

enum error_code placement_kpb(const struct placement_problem *problem,
                              const double *param, struct placement_plan *plan,
                              struct arena *a, struct error *err)
{
    struct candidate *candidates = NEW(a, struct candidate, problem->resource_count);
    size_t *limits = NEW(a, size_t, problem->stream_count); /* 1 more; 0: not known */

    for (size_t i = 0; i < problem->job_count && !plan_spent(plan); i++) {
        size_t job = problem->order[i], *limit = &limits[problem->jobs[job].stream], pos;

        if (problem->has_matrix) {
            pos = best_of_row(plan, job, param[K_PERCENT], candidates);
        } else {
            if (*limit == 0)
                *limit = limit_of(plan, job, param[K_PERCENT]) + 1;
            pos = plan_best(plan, job, RIVAL_NONE, *limit - 1).pos;
        }
        if (pos != NO_INDEX)
            TRY(plan_place(plan, job, pos, err));
    }
    return OK;
}

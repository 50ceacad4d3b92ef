/* placement/met.c - jobs in order, each where it runs fastest, whatever the load.
 *
 * Source: Maheswaran et al. 1999; spec gridway.md 5.1. Ties: lowest resource index.
 * Cost: with estimates, as far as the first resource that suits; O(m) a job for rows
 * of a matrix.
 */
#include "algorithms/placement/plan.h"

const struct param placement_met_params[] = {{0}};

/* NO_INDEX: the job cannot run anywhere. */
static size_t fastest(struct placement_plan *plan, size_t job)
{
    const struct placement_problem *p = plan->problem;
    const struct problem_job *j = &p->jobs[job];
    size_t best = NO_INDEX;
    double best_s = HUGE_VAL;

    for (size_t pos = 0; pos < p->resource_count; pos++) {
        double time_s = problem_execution_s(p, j, pos);

        plan->work++;
        if (time_s > best_s && !p->has_matrix)
            break; /* positions go by falling speed */
        if (time_s > best_s || !plan_can_run(plan, job, pos))
            continue;
        if (time_s < best_s || p->resources[pos].index < p->resources[best].index) {
            best = pos;
            best_s = time_s;
        }
    }
    return best;
}

enum error_code placement_met(const struct placement_problem *problem,
                              const double *param, struct placement_plan *plan,
                              struct arena *a, struct error *err)
{
    (void)param;
    (void)a;
    for (size_t i = 0; i < problem->job_count && !plan_spent(plan); i++) {
        size_t pos = fastest(plan, problem->order[i]);

        if (pos != NO_INDEX)
            TRY(plan_place(plan, problem->order[i], pos, err));
    }
    return OK;
}

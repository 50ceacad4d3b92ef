/* placement/mct.c - jobs in order, each where it completes first.
 *
 * Source: Maheswaran et al. 1999; spec gridway.md 5.1. Ties: lowest resource index.
 * Cost: one scan a job (plan.h).
 */
#include "algorithms/placement/plan.h"

const struct param placement_mct_params[] = {{0}};

enum error_code placement_mct(const struct placement_problem *problem,
                              const double *param, struct placement_plan *plan,
                              struct arena *a, struct error *err)
{
    (void)problem;
    (void)param;
    (void)a;
    return plan_rest(plan, err);
}

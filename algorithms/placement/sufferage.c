/* placement/sufferage.c - the job that would suffer most elsewhere goes first.
 *
 * Repeat: sufferage(i) = second-best - best completion time over resources; place
 * the job with the largest sufferage on its best resource. With one feasible resource
 * it is infinite. Ties: lowest job, lowest resource index.
 *
 * Source: Maheswaran et al. 1999; spec gridway.md 5.1.
 * Cost: batch.h.
 */
#include "algorithms/placement/batch.h"

const struct param placement_sufferage_params[] = {{0}};

enum error_code placement_sufferage(const struct placement_problem *problem,
                                    const double *param, struct placement_plan *plan,
                                    struct arena *a, struct error *err)
{
    (void)problem;
    (void)param;
    (void)a;
    return batch_place(plan, BATCH_SUFFERAGE, err);
}

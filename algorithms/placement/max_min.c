/* placement/max_min.c - the job whose best is worst goes first.
 *
 * Repeat: best(i) = least completion time of each unplaced job; place the job with
 * the largest best(i) there. Ties: lowest job, lowest resource index.
 *
 * Source: Ibarra and Kim 1977; spec gridway.md 5.1.
 * Cost: batch.h; with files quadratic in the jobs.
 * Deviation: as in min_min.c.
 */
#include "algorithms/placement/batch.h"

const struct param placement_max_min_params[] = {{0}};

enum error_code placement_max_min(const struct placement_problem *problem,
                                  const double *param, struct placement_plan *plan,
                                  struct arena *a, struct error *err)
{
    (void)problem;
    (void)param;
    (void)a;
    return batch_place(plan, BATCH_LARGEST, err);
}

/* placement/min_min.c - the job that can be done first goes first.
 *
 * Repeat: best(i) = least completion time of each unplaced job; place the job with
 * the least best(i) there. Ties: lowest job, lowest resource index.
 *
 * Source: Ibarra and Kim 1977; spec gridway.md 5.1.
 * Cost: batch.h.
 * Deviation: jobs of one stream whose completion times differ by rounding only go by
 * rising estimate.
 */
#include "algorithms/placement/batch.h"

const struct param placement_min_min_params[] = {{0}};

enum error_code placement_min_min(const struct placement_problem *problem,
                                  const double *param, struct placement_plan *plan,
                                  struct arena *a, struct error *err)
{
    (void)problem;
    (void)param;
    (void)a;
    return batch_place(plan, BATCH_LEAST, err);
}

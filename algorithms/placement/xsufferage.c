/* placement/xsufferage.c - sufferage between sites, for jobs that share files.
 *
 * As sufferage, with the best completion time of each site: second-best site - best
 * site; then the best resource. Equal hosts of one site give ordinary sufferage 0,
 * although leaving the site and its files would hurt. With file_scope = resource each
 * resource is a site of its own.
 *
 * Source: Casanova et al. 2000; spec gridway.md 5.1.
 * Cost: batch.h.
 */
#include "algorithms/placement/batch.h"

const struct param placement_xsufferage_params[] = {{0}};

enum error_code placement_xsufferage(const struct placement_problem *problem,
                                     const double *param, struct placement_plan *plan,
                                     struct arena *a, struct error *err)
{
    (void)problem;
    (void)param;
    (void)a;
    return batch_place(plan, BATCH_XSUFFERAGE, err);
}

/* plan/auto.c - the optimum of one cluster, the best plan known for several.
 *
 * Source: spec rescheduling-plans.md 9.
 */
#include "algorithms/plan/plan_run.h"

enum error_code plan_auto(struct plan_run *run, struct error *err)
{
    if (run->in->site_count > 1) {
        run->algorithm = "mcrp_optimal";
        return plan_mcrp_optimal(run, err);
    }
    run->algorithm = "optimal";
    return plan_by_site(run, plan_optimal, err);
}

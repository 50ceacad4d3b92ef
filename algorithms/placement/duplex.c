/* placement/duplex.c - the better of min_min and max_min.
 *
 * The one that places more jobs, else the one of less makespan; tie: min_min.
 *
 * Source: Braun et al. 2001; spec gridway.md 5.1.
 * Cost: that of both.
 */
#include "algorithms/placement/batch.h"

const struct param placement_duplex_params[] = {{0}};

enum error_code placement_duplex(const struct placement_problem *problem,
                                 const double *param, struct placement_plan *plan,
                                 struct arena *a, struct error *err)
{
    struct plan_copy least;

    (void)problem;
    (void)param;
    (void)a;
    plan_copy_create(plan, &least);
    TRY(batch_place(plan, BATCH_LEAST, err));
    if (plan->cut) /* the rest goes to what min_min has placed */
        return OK;
    plan_save(plan, &least);
    plan_reset(plan);
    TRY(batch_place(plan, BATCH_LARGEST, err));
    if (plan->cut || !plan_better(plan, &least))
        plan_load(plan, &least);
    return OK;
}

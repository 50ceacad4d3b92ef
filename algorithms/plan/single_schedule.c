/* plan/single_schedule.c - one schedule for all phases, never left: the baseline.
 *
 * With a current place, the three ways of going on are compared once.
 *
 * Source: 003_a5f9349f46eae656.txt 5.5, table 5.3 [L2096]; spec rescheduling-plans.md
 * 3.5. One question a cluster.
 */
#include "algorithms/plan/plan_run.h"

enum error_code plan_single_schedule(struct plan_run *run, struct error *err)
{
    const struct plan_in *in = run->in;
    bool found;

    (void)err;
    TRY(plan_choose(&run->grid, in->first_phase, in->phase_count, &in->current,
                    in->min_saving_ratio, &run->intervals[0], &run->first, &found));
    run->count = found ? 1 : 0;
    if (found)
        run->intervals[0].valid = true; /* there is nothing to be thrashed */
    return OK;
}

/* plan/incremental.c - grow an interval while its first schedule stays good.
 *
 * An interval starts with as many phases as make it valid, on their best schedule. It
 * then takes phase after phase, as long as that schedule is at most the cost of a move
 * slower on the whole interval than the best schedule for it:
 *
 *     time on the first schedule <= t(start, end + 1) + cost
 *
 * Otherwise the next interval begins there.
 *
 * Source: 003_a5f9349f46eae656.txt 5.3.1, figure 5.2 [L1805-1871]; spec
 * rescheduling-plans.md 3.2. At most 2N questions.
 * Deviation: the figure compares by the mean CPU and bandwidth, we by the model, that
 * is by the least; it stores the schedule of the interval with the refused phase, we
 * the best for the final one; it does not say what happens on equality (we go on), at
 * the last phase, or with phases at the end that make no valid interval.
 */
#include "algorithms/plan/grow.h"
#include "algorithms/plan/plan.h"

static bool still_good(const struct plan_site_in *in, size_t start, size_t end,
                       size_t *schedule, bool *take)
{
    const struct plan_best *fresh = plan_table_best(in->table, start, end + 1);

    if (!fresh)
        return false;
    *take = plan_table_time_on(in->table, *schedule, start, end + 1) <=
            fresh->time_s + in->cost_s;
    return true;
}

enum error_code plan_incremental(const struct plan_site_in *in, struct plan_site_out *out,
                                 struct error *err)
{
    (void)err;
    return plan_grow(in, still_good, out);
}

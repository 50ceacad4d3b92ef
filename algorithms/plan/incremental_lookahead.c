/* plan/incremental_lookahead.c - grow an interval, and look one valid interval ahead.
 *
 * The incremental planner compares schedules of whole intervals, so that it sees a
 * change late or never. This one asks after each phase whether to move now: with e2
 * the least phase such that end+1..e2 is valid (else the last one),
 *
 *     cut if  time on the schedule (start..end) + cost + t(end+1, e2)
 *             < time on the schedule (start..e2)
 *
 * and grows on the better of the schedule and the best one for what it has.
 *
 * Source: spec rescheduling-plans.md 3.2. About 2N questions.
 */
#include "algorithms/plan/grow.h"
#include "algorithms/plan/plan.h"

static bool move_later(const struct plan_site_in *in, size_t start, size_t end,
                       size_t *schedule, bool *take)
{
    const struct plan_best *own = plan_table_best(in->table, start, end);
    const struct plan_best *next;
    double grown_s, ahead_s;
    size_t e2;

    if (!own || !plan_first_valid(in, end + 1, &e2))
        return false;
    if (e2 > in->last)
        e2 = in->last;
    next = plan_table_best(in->table, end + 1, e2);
    if (!next)
        return false;
    grown_s = plan_table_time_on(in->table, *schedule, start, end);
    if (own->time_s < grown_s) {
        *schedule = own->schedule;
        grown_s = own->time_s;
    }
    ahead_s = plan_table_time_on(in->table, *schedule, start, e2);
    *take = grown_s + in->cost_s + next->time_s >= ahead_s;
    return true;
}

enum error_code plan_incremental_lookahead(const struct plan_site_in *in,
                                           struct plan_site_out *out, struct error *err)
{
    (void)err;
    return plan_grow(in, move_later, out);
}

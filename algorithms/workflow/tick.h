/* workflow/tick.h - counting work, to ask for the time once in a while.
 *
 * A unit is a look at one pair of a task and a processor, one edge, or one place: some
 * nanoseconds. Every loop whose length depends on the request counts its units here.
 */
#ifndef GRIDPLAN_WORKFLOW_TICK_H
#define GRIDPLAN_WORKFLOW_TICK_H

#include "models/base/budget.h"

#define WORKFLOW_TICK_UNITS 16384.0
#define WORKFLOW_LIST_SHARE 0.8 /* of the budget; then the rest is placed in haste */

struct workflow_clock {
    struct budget *budget; /* NULL: no limit */
    double share;          /* of the budget that may be used, 0..1 */
    double units;          /* since it was asked */
    bool spent;
};

static inline struct workflow_clock workflow_clock_make(struct budget *budget,
                                                        double share)
{
    return (struct workflow_clock){budget, share, WORKFLOW_TICK_UNITS, false};
}

/* Counts so many units; false: the time is up, now and from here on. */
static inline bool workflow_tick(struct workflow_clock *clock, double units)
{
    clock->units += units;
    if (clock->units >= WORKFLOW_TICK_UNITS && !clock->spent) {
        clock->units = 0;
        clock->spent = budget_used(clock->budget) >= clock->share;
    }
    return !clock->spent;
}

#endif

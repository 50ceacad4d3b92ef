/* workflow/tick.h - the budget as workflow policies count on it.
 *
 * A unit is a look at one pair of a task and a processor, one edge, or one place: some
 * nanoseconds. Every loop whose length depends on the request counts its units here.
 */
#ifndef GRIDPLAN_WORKFLOW_TICK_H
#define GRIDPLAN_WORKFLOW_TICK_H

#include "models/base/budget.h"

#define WORKFLOW_LIST_SHARE  0.8 /* of the budget at most is what list policies take */
#define WORKFLOW_LOOKS_PER_S 1.2e9

struct workflow_clock {
    struct budget part; /* of the budget */
    bool spent;
};

/* `share` of the budget may be used, 0..1; budget NULL: no limit. */
static inline struct workflow_clock workflow_clock_make(struct budget *budget,
                                                        double share)
{
    return (struct workflow_clock){budget_part(budget, 0, share), false};
}

/* Counts so many units; false: the time is up, now and from here on. */
static inline bool workflow_tick(struct workflow_clock *clock, double units)
{
    clock->spent = budget_step(&clock->part, (size_t)units) || clock->spent;
    return !clock->spent;
}

#endif

/* placement/ticks.h - the clock as the searches and bounds ask it.
 *
 * Work is counted in looks at one number (a matrix cell, a pair); after ASK_EVERY of
 * them the budget is asked, which is some tens of microseconds of work.
 */
#ifndef GRIDPLAN_PLACEMENT_TICKS_H
#define GRIDPLAN_PLACEMENT_TICKS_H

#include "models/base/budget.h"

enum { ASK_EVERY = 1 << 14 };

struct ticks {
    struct budget *budget; /* may be NULL */
    double until;          /* share of the time at which it is spent; > 0 */
    size_t work;           /* since the budget was asked last */
    bool spent;            /* and stays it */
};

static inline bool ticks_ask(struct ticks *t)
{
    t->work = 0;
    t->spent = t->spent || budget_used(t->budget) >= t->until;
    return t->spent;
}

/* Counts the work; true: stop. */
static inline bool ticks_spent(struct ticks *t, size_t work)
{
    t->work += work;
    return t->work < ASK_EVERY ? t->spent : ticks_ask(t);
}

#endif

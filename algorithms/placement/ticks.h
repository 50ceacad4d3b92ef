/* placement/ticks.h - the budget as the searches and bounds of placements count on it.
 *
 * Work is counted in looks at one number (a matrix cell, a pair). How much of the time
 * may be used changes on the way: `until`, not the budget, says when it is spent.
 */
#ifndef GRIDPLAN_PLACEMENT_TICKS_H
#define GRIDPLAN_PLACEMENT_TICKS_H

#include "models/base/budget.h"

struct ticks {
    struct budget *budget; /* may be NULL */
    double until;          /* share of the time at which it is spent; > 0 */
    size_t work;           /* since the budget was asked last */
    bool spent;            /* and stays it */
    struct budget part;    /* counts: the budget to `asked_until` */
    double asked_until;    /* 0: it was not asked yet */
};

/* Another budget counts from here on; it is asked next. */
static inline void ticks_use(struct ticks *t, struct budget *budget)
{
    t->budget = budget;
    t->part.left = 0;
    t->asked_until = 0;
}

static inline bool ticks_ask(struct ticks *t)
{
    t->work = 0;
    if (t->asked_until != t->until) {
        struct budget part = budget_part(t->budget, 0, t->until);

        part.grain = t->part.grain; /* the work is as dear as before */
        part.looked_at_s = t->part.looked_at_s;
        t->part = part;
        t->asked_until = t->until;
    }
    t->spent = t->spent || budget_look(&t->part);
    return t->spent;
}

/* Counts the work; true: stop. */
static inline bool ticks_spent(struct ticks *t, size_t work)
{
    t->work += work;
    return (int64_t)t->work < t->part.left ? t->spent : ticks_ask(t);
}

#endif

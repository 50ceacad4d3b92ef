/* base/budget.h - how long an algorithm may go on.
 *
 * Algorithms have no clock. Whoever calls one gives it a budget: a number of
 * steps (reproducible) and a question it may ask (a deadline that has passed, a
 * client that has gone). Ask between pieces of work of about a millisecond.
 */
#ifndef GRIDPLAN_BASE_BUDGET_H
#define GRIDPLAN_BASE_BUDGET_H

#include <stdbool.h>
#include <stddef.h>

struct budget {
    double (*used)(
        void *context); /* share of the time used, >= 1: stop; NULL: no limit */
    void *context;
    size_t max_steps; /* 0: no limit; what a step is, the algorithm says */
};

/* Share of the time that is used up: 0 at the start, >= 1 when it is time to
 * stop; always 0 without a clock. Accepts NULL. */
static inline double budget_used(const struct budget *b)
{
    return b && b->used ? b->used(b->context) : 0;
}

static inline bool budget_spent(const struct budget *b)
{
    return budget_used(b) >= 1;
}

#endif

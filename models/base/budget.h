/* base/budget.h - how long an algorithm may go on.
 *
 * Whoever calls an algorithm gives it a budget: a number of steps (reproducible) and a
 * question that may be asked (a deadline that has passed, a client that has gone). One
 * budget goes through a whole request. Every loop whose length comes from input counts
 * its work with budget_step(): elements read, compared, written. That is a subtraction;
 * the question is asked about once a millisecond.
 *
 *     for (size_t i = 0; i < row_count; i++) {
 *         if (budget_step(in->budget, column_count))
 *             break;                     // it says so from here on
 *         ...
 */
#ifndef GRIDPLAN_BASE_BUDGET_H
#define GRIDPLAN_BASE_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Made by {.used = ..., .context = ...}; what is not named is zero. */
struct budget {
    double (*used)(
        void *context); /* share of the time used, >= 1: stop; NULL: no limit */
    void *context;
    size_t max_steps;      /* 0: no limit; what a step is, the algorithm says */
    bool no_steps;         /* none at all: what a search begins with is its answer */
    struct budget *finish; /* budget_finish() */
    /* Of that time this is the part [from, from + span); span 0: all of it. */
    double from, span;
    /* The counter. */
    int64_t left;       /* work until the question is asked; <= 0: now */
    int64_t grain;      /* work between two questions; 0: none was asked yet */
    double looked_at_s; /* when it was asked last, monotonic clock */
    bool spent;         /* and stays it */
};

/* Asks, and says after how much work to ask again: budget_step() calls it. */
bool budget_look(struct budget *b);

/* Counts n elementary steps, of some nanoseconds each; true: the budget is spent, now and
 * from here on. Accepts NULL. */
static inline bool budget_step(struct budget *b, size_t n)
{
    return b && (b->left -= (int64_t)n) <= 0 && budget_look(b);
}

/* The share of the time that is used up: 0 at the start, >= 1 when it is time to
 * stop; always 0 without a clock. By it searches pace themselves. Accepts NULL. */
double budget_used(const struct budget *b);

/* Asks at once, whatever was counted. Accepts NULL. */
static inline bool budget_spent(struct budget *b)
{
    return b && budget_look(b);
}

/* The part of a budget from the share `from` of its time to `to`: a budget of its own,
 * with its own counter and no max_steps, that is spent at `to`. Accepts NULL. */
struct budget budget_part(const struct budget *whole, double from, double to);

/* What goes on when a budget is spent: work that a correct answer needs and that is
 * linear in request and answer (one plan by the cheapest rule, printing). It has no limit
 * in time and ends when nobody waits for the answer any more. NULL: nothing ends it. */
static inline struct budget *budget_finish(const struct budget *b)
{
    return b ? b->finish : NULL;
}

#endif

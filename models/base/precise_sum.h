/* base/precise_sum.h - a sum whose rounding does not grow with the number of its terms.
 *
 * Of terms of one sign it is off by a few units in the last place of a long double. So
 * what fills a whole is never printed as more than it: of jobs one behind the other on a
 * resource the sum of end - start is at most the last end, where that of their run times,
 * which are rounded into the ends, may be more. Neumaier's way: what each addition cuts
 * off is added up beside it.
 *
 *     struct precise_sum busy_s = {0};
 *
 *     for (size_t i = 0; i < count; i++)
 *         precise_add(&busy_s, (long double)end_s[i] - start_s[i]);
 *     ratio = (double)(precise_total(&busy_s) / whole_s);
 */
#ifndef GRIDPLAN_BASE_PRECISE_SUM_H
#define GRIDPLAN_BASE_PRECISE_SUM_H

#include <math.h>

struct precise_sum {
    long double sum, rest;
};

/* Of finite terms. */
static inline void precise_add(struct precise_sum *s, long double term)
{
    long double next = s->sum + term;

    s->rest +=
        fabsl(s->sum) >= fabsl(term) ? (s->sum - next) + term : (term - next) + s->sum;
    s->sum = next;
}

/* Divide it by the whole before it is rounded to a double: once only. */
static inline long double precise_total(const struct precise_sum *s)
{
    return s->sum + s->rest;
}

#endif

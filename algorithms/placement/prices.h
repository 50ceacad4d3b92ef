/* placement/prices.h - what a second on each machine is worth.
 *
 * Rows (jobs) take a time in each column (machines, or groups of equal ones), and each
 * slot of a column has a wait. For any price_j >= 0 with sum_j slots_j price_j = 1 no
 * assignment ends before
 *
 *     sum_i min_j price_j time_ij + sum over slots of price_j min(wait, F),
 *
 * F being any lower bound: an unused slot may count its wait no longer than that. Good
 * prices give a good bound and tell a search which pairs are worth a look. Times are in
 * any unit. Source: spec search.md 4.1.
 */
#ifndef GRIDPLAN_PLACEMENT_PRICES_H
#define GRIDPLAN_PLACEMENT_PRICES_H

#include "algorithms/placement/ticks.h"
#include "models/base/error.h"

/* Slots of a column that are free after a wait; those without a wait need none. */
struct prices_wait {
    size_t column;
    double wait;   /* > 0 */
    double weight; /* number of such slots, or their speeds together */
};

struct prices_problem {
    size_t row_count, column_count; /* columns >= 1 */
    const double *time;  /* [row * column_count + column] >= 0; HUGE_VAL: cannot */
    const double *slots; /* by column >= 0: slots, or their speeds together; NULL: 1 */
    const struct prices_wait *waits;
    size_t wait_count;
};

struct prices {
    double *price; /* by column, the best found; empty: equal ones */
    double value;  /* the sum above for them, before any rounding is taken off */
    double floor;  /* in: a lower bound; out: the largest of it and all values */
};

enum { PRICES_ROUNDS = 240, PRICES_ROUNDS_FAST = 60 };

/* Takes this off a bound that was summed up in doubles, of up to 4 million rows. */
#define PRICES_SAFETY 5e-10

/* Improves prices that are equal at first, by PRICES_ROUNDS rounds; of a problem of more
 * than 2^20 cells by as many on a part of the rows, then some over all. O(rounds *
 * cells); when the clock ends it, what was found so far counts. */
enum error_code prices_find(const struct prices_problem *p, struct ticks *ticks,
                            struct prices *out, struct arena *a);

/* The same in a quarter of the time: PRICES_ROUNDS_FAST rounds, or a part of the rows
 * from 2^16 cells on. */
enum error_code prices_find_fast(const struct prices_problem *p, struct ticks *ticks,
                                 struct prices *out, struct arena *a);

/* Goes on from out->price, which must belong to a problem of as many columns: `rounds`
 * more, the steps of the prices falling from `first_eta` to `last_eta`. 1 round values
 * the prices as they are. */
enum error_code prices_improve(const struct prices_problem *p, size_t rounds,
                               double first_eta, double last_eta, struct ticks *ticks,
                               struct prices *out, struct arena *a);

#endif

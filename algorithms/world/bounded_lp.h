/* world/bounded_lp.h - a linear program with few rows and bounded columns.
 *
 *     largest sum of w_c x_c  with  sum of a_cr x_c <= 1 for each row r,  0 <= x_c <= n_c
 *
 * by the simplex for bounded variables with the inverse of the basis. What counts are the
 * prices u of the rows: for *any* u >= 0
 *
 *     sum of u_r + sum of n_c max(0, w_c - u a_c)
 *
 * is an upper bound, so that it is valid whatever rounding did on the way.
 *
 * Cost: O(columns * rows + rows^2) for a change of the basis, O(columns) for a column
 * that goes from one of its bounds to the other.
 * Source: world-model.md 6.
 */
#ifndef GRIDPLAN_WORLD_BOUNDED_LP_H
#define GRIDPLAN_WORLD_BOUNDED_LP_H

#include "models/base/arena.h"
#include "models/base/budget.h"

#include <stddef.h>

struct bounded_lp {
    size_t row_count, column_count;
    const double *columns; /* a, column after column, >= 0 */
    const double *gains;   /* w, >= 0 */
    const double *most;    /* n, > 0 */
};

/* x by column, prices by row (>= 0). A spent budget ends it early: the prices are then
 * worse, but still prices. */
void bounded_lp_solve(const struct bounded_lp *lp, double *x, double *prices,
                      struct budget *budget, struct arena *a);

#endif

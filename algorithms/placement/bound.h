/* placement/bound.h - what no plan of these jobs can beat. */
#ifndef GRIDPLAN_PLACEMENT_BOUND_H
#define GRIDPLAN_PLACEMENT_BOUND_H

#include "algorithms/placement/plan.h"

/* A linear programme over machines: row i has time_s[i * column_count + r] on a slot
 * of column r (HUGE_VAL: cannot run there). */
struct bound_rows {
    size_t row_count, column_count;
    const double *time_s;
    const double *slots;  /* by column: slots, or their speeds together */
    const double *wait_s; /* by column: sum over its slots of the time until it is free */
};

/* Best value found of sum_i min_r lambda_r * time(i, r) + sum_r lambda_r * wait(r) over
 * lambda >= 0 with sum_r slots_r * lambda_r = 1: no schedule of the rows is shorter.
 * `lambda` has room for 2 * column_count. O(steps * rows * columns). */
double bound_ascent_s(const struct bound_rows *b, size_t steps, double *lambda);

/* A lower bound of the makespan of the placed jobs, in seconds. */
enum error_code bound_of(struct placement_plan *plan, double *bound_s, struct error *err);

#endif

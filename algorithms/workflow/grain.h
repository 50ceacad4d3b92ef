/* workflow/grain.h - the step in which all ends of a workflow come.
 *
 * If every run time, transfer, release, end of a blocked interval and end of a running
 * task is a multiple of g, so is the makespan of every schedule without needless waiting,
 * and a bound may be rounded up to the next multiple.
 *
 * Source: spec search.md 4.4, 5.4. The unit u is the first of 1, 0.1, ..., 1e-6 of which
 * all are whole multiples (to 1e-12 of them, at most 1e9); g is u times their greatest
 * common divisor.
 */
#ifndef GRIDPLAN_WORKFLOW_GRAIN_H
#define GRIDPLAN_WORKFLOW_GRAIN_H

#include "algorithms/workflow/problem.h"
#include "algorithms/workflow/tick.h"

/* 0: there is none, or the time was up first. O(tasks * processors + edges), and edges *
 * sites^2 while there is one for those whose transfers follow from links. */
double workflow_grain_s(const struct workflow_problem *problem,
                        struct workflow_clock *clock);

/* The least multiple of grain_s that is not below bound_s; bound_s if that is 0. What
 * rounding may have added to a bound, 1e-9 of it, is taken off first. */
double workflow_round_up_s(double bound_s, double grain_s);

#endif

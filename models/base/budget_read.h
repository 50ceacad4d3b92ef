/* base/budget_read.h - what reading and printing count on.
 *
 * Importers, JSON, SVG and gzip are far from any input that could carry a budget: they
 * count on the one that the thread was given. Algorithms are given theirs (budget.h).
 */
#ifndef GRIDPLAN_BASE_BUDGET_READ_H
#define GRIDPLAN_BASE_BUDGET_READ_H

#include "models/base/budget.h"

/* From here on on this thread; NULL: on nothing. */
void budget_read_on(struct budget *budget);

/* budget_step() of that one. */
bool budget_read_step(size_t n);

#endif

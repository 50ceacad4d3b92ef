/* placement/initial.h - a plan that the request brings, to start a search from. */
#ifndef GRIDPLAN_PLACEMENT_INITIAL_H
#define GRIDPLAN_PLACEMENT_INITIAL_H

#include "algorithms/placement/plan.h"

/* Places the rows of p->in->initial in the order of their starts, or as they stand if
 * some have none, and lays the plan aside in *out; *plan is empty afterwards. NULL: there
 * are no rows, or they are no valid plan, which a warning says. Unknown or repeated ids
 * and jobs that are left out are mistakes, in *err. */
enum error_code initial_read(struct placement_problem *p, struct placement_plan *plan,
                             const struct plan_copy **out, struct error *err);

#endif

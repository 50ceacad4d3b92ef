/* placement/identical.h - when the static optimum for identical jobs applies. */
#ifndef GRIDPLAN_PLACEMENT_IDENTICAL_H
#define GRIDPLAN_PLACEMENT_IDENTICAL_H

#include "algorithms/placement/plan.h"

/* What stands against identical_optimum; NULL: it applies. O(m). */
const char *identical_obstacle(const struct placement_problem *p);

#endif

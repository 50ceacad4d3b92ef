/* placement/amounts_identical.h - when the optimum for identical jobs is known where
 * amounts count. */
#ifndef GRIDPLAN_PLACEMENT_AMOUNTS_IDENTICAL_H
#define GRIDPLAN_PLACEMENT_AMOUNTS_IDENTICAL_H

#include "algorithms/world/world.h"

/* What stands against it; NULL: it applies. */
const char *amounts_identical_obstacle(const struct world *w);

/* Then: the least makespan of jobs that fit somewhere; 0: none does. */
double amounts_identical_makespan_s(const struct world *w, struct arena *a);

#endif

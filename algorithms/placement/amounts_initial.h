/* placement/amounts_initial.h - a plan that the request brings, to start a search from,
 * where amounts count. */
#ifndef GRIDPLAN_PLACEMENT_AMOUNTS_INITIAL_H
#define GRIDPLAN_PLACEMENT_AMOUNTS_INITIAL_H

#include "algorithms/placement/amounts_plans.h"

/* Puts the rows on m->board: at their starts, or, if some have none, as early as they fit
 * in the order of the rows. The checker looks at them first. false: they are no valid
 * plan, which a warning says. Unknown and repeated ids, and jobs that are left out, are
 * mistakes, in *err: ERR_INVALID. */
enum error_code amounts_initial(struct amounts_maker *m, const struct amounts *checked,
                                bool *loaded, struct error *err);

#endif

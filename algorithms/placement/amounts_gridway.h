/* placement/amounts_gridway.h - the policy gridway where amounts count. */
#ifndef GRIDPLAN_PLACEMENT_AMOUNTS_GRIDWAY_H
#define GRIDPLAN_PLACEMENT_AMOUNTS_GRIDWAY_H

#include "algorithms/placement/amounts_plans.h"

/* Starts jobs now, by rank and within the round's limits; fills m->best. holds_back: only
 * those that least completion times start now. */
void amounts_gridway(struct amounts_maker *m, bool holds_back);

#endif

/* routes.h - the endpoints of this room. */
#ifndef GRIDPLAN_HANDLERS_SLURM_ROUTES_H
#define GRIDPLAN_HANDLERS_SLURM_ROUTES_H

#include "service/route.h"

/* Sorted by path, ended by {0}. */
extern const struct route slurm_routes[];

#endif

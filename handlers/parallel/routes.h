/* routes.h - the endpoints of this room. */
#ifndef GRIDPLAN_PARALLEL_ROUTES_H
#define GRIDPLAN_PARALLEL_ROUTES_H

#include "service/route.h"

/* Sorted by path, ended by {0}. */
extern const struct route parallel_routes[];

#endif

/* routes.h - the endpoints of this room. */
#ifndef GRIDPLAN_WORKFLOW_ROUTES_H
#define GRIDPLAN_WORKFLOW_ROUTES_H

#include "service/route.h"

/* Sorted by path, ended by {0}. */
extern const struct route workflow_routes[];

#endif

/* routes.h - the endpoints of this room. */
#ifndef GRIDPLAN_SESSION_ROUTES_H
#define GRIDPLAN_SESSION_ROUTES_H

#include "service/route.h"

/* Sorted by path, ended by {0}. */
extern const struct route session_routes[];

#endif

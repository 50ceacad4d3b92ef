/* routes.h - what the API consists of. */
#ifndef GRIDPLAN_ROUTES_H
#define GRIDPLAN_ROUTES_H

#include "service/route.h"

/* All endpoints, sorted by path, ended by {0}. To add one, write its handler's file and
 * its row in the routes.c of its room. */
const struct route *routes(void);

#endif

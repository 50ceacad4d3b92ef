/* routes.h - the route table: what the API consists of. */
#ifndef GRIDPLAN_ROUTES_H
#define GRIDPLAN_ROUTES_H

#include "service/route.h"

/* Sorted by path, ended by {0}. To add an endpoint, write its handler's file and
 * its row here. */
extern const struct route routes[];

#endif

/* nearest.h - where a path that there is not may have been meant to lead. */
#ifndef GRIDPLAN_NEAREST_H
#define GRIDPLAN_NEAREST_H

#include "service/route.h"

/* The row whose path is most like `path`: as many segments, each at most three letters
 * apart, without regard to case, '_' for '-' and an 's' at the end. Of equal ones that of
 * the method, then the first. NULL: none is near. *there: its path, with the given
 * values for its {names}; without memory NULL is returned. */
const struct route *nearest_route(const struct route *table, const char *method,
                                  const char *path, const char **there, struct arena *a);

/* ERR_NOT_FOUND for such a path, or ERR_METHOD with what `allow` lists. */
enum error_code nearest_refuse(struct request *rq, enum error_code code,
                               const char *allow);

/* Whether the path is one of the table but for a slash at its end, and the method GET or
 * HEAD: then rq->reply leads there (308). */
bool nearest_redirect(struct request *rq);

#endif

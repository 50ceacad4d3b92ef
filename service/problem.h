/* problem.h - failures as application/problem+json (RFC 9457). */
#ifndef GRIDPLAN_PROBLEM_H
#define GRIDPLAN_PROBLEM_H

#include "service/route.h"

/* Makes `reply` the description of *err, all mistakes included. Headers that are
 * already there stay. Takes memory beyond the arena's cap if need be. */
void problem_reply(const struct error *err, const char *instance, const char *request_id,
                   struct reply *reply, struct arena *a);

#endif

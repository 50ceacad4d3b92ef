/* problem.h - failures as application/problem+json (RFC 9457). */
#ifndef GRIDPLAN_PROBLEM_H
#define GRIDPLAN_PROBLEM_H

#include "service/route.h"

struct config;
struct json_object;

/* What its body is, for the description; no rows. */
extern const struct json_object problem_json;

/* Makes `reply` the description of *err, all mistakes included; `instance` is
 * a path. The addresses of pages are absolute when config->public_url is set. Headers
 * that are already there stay. Takes memory beyond the arena's cap if need be. */
void problem_reply(const struct config *config, const struct error *err,
                   const char *instance, const char *request_id, struct reply *reply,
                   struct arena *a);

#endif

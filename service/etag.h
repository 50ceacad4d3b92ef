/* etag.h - whether a condition of a request names the version that there is (RFC 9110,
 * 8.8.3 and 13.1). */
#ifndef GRIDPLAN_ETAG_H
#define GRIDPLAN_ETAG_H

#include "models/base/error.h"

#include <stdbool.h>

/* Whether `list`, a value of If-Match, names the strong tag `tag` ("\"g1-5\"") or is *.
 * W/ in front makes another tag, which never matches. NULL: no. */
bool etag_matches(const char *list, const char *tag);

/* The same of If-None-Match, where W/ makes no difference. */
bool etag_matches_weakly(const char *list, const char *tag);

/* ERR_STALE, of the header If-Match, which does not name `tag` of what is stored; what
 * to send instead. */
enum error_code etag_refuse_stale(struct error *err, const char *what,
                                  const char *if_match, const char *tag);

/* ERR_STALE, of the header If-None-Match: * : there is such a thing already. */
enum error_code etag_refuse_double(struct error *err, const char *what, const char *name);

#endif

/* estimate.h - how much memory a request will take, guessed before it is read.
 *
 * A route says how many bytes a byte of its body becomes (route_cost()); what
 * its requests really took corrects that: each route has a factor on top, which follows
 * the largest needs quickly and small ones slowly. A guess never refuses anything.
 */
#ifndef GRIDPLAN_ESTIMATE_H
#define GRIDPLAN_ESTIMATE_H

#include "service/route.h"

struct estimates;

/* The table is ended by {0} and must stay; NULL without memory. Counting and asking may
 * be done by any thread. */
struct estimates *estimates_create(const struct route *route_table);
void estimates_close(struct estimates *e);

/* Bytes that the body will have: its length, or of gzip what it says itself, which may be
 * a lie, at most `limit_bytes`. */
size_t estimate_body_bytes(const struct message *m, size_t limit_bytes);

/* 1 MiB + route_cost().memory_factor * body_bytes, before the route's factor. */
size_t estimate_plain_bytes(const struct route *route, size_t body_bytes);

/* The guess: the same times the route's factor, at most `cap_bytes`. e NULL: 1. */
size_t estimate_bytes(const struct estimates *e, const struct route *route,
                      size_t body_bytes, size_t cap_bytes);

/* The same for a stored request, of a route by its path. */
size_t estimate_stored_bytes(const struct estimates *e, const char *path,
                             size_t body_bytes, size_t cap_bytes);

/* A request of that body has taken `used_bytes`. Accepts e NULL. */
void estimate_learn(struct estimates *e, const struct route *route, size_t body_bytes,
                    size_t used_bytes);

/* The rule: the factor after a request with used / plain estimate = ratio. */
double estimate_next_factor(double factor, double ratio);

#endif

/* lookup.h - keys that are not remembered, on their way to the database.
 *
 * They wait in a line of their own, for threads of their own: whoever sends many unknown
 * keys delays other unknown keys, never the queries of those whose key is known. A key
 * that was known before goes to the front.
 */
#ifndef GRIDPLAN_LOOKUP_H
#define GRIDPLAN_LOOKUP_H

#include "service/worker.h"

struct lookup_line;

/* Beside so many that answer requests: half as many, at least one. */
static inline size_t lookups_at_once(size_t query_workers)
{
    return query_workers > 1 ? query_workers / 2 : 1;
}

/* A member of what waits; it must stay until `run` has begun. */
struct lookup {
    worker_fn *run;
    void *context;
    struct lookup *next; /* in the line */
};

/* At most `at_once` run on the pool, at most `waiting_max` wait. NULL without memory. */
struct lookup_line *lookup_line_create(struct worker_pool *pool, size_t at_once,
                                       size_t waiting_max);

/* Runs lookup->run(lookup->context) on the pool, in the order of submission, those that
 * were `known` before the others. False: too many wait, and it was not known, or the pool
 * takes no more; then it is not run. */
bool lookup_submit(struct lookup_line *line, struct lookup *lookup, bool known);

/* No look-up may wait or run any more; the pool must still run. Accepts NULL. */
void lookup_line_close(struct lookup_line *line);

#endif

/* placement/each.h - one job, and each resource on its own: when it would end there, and
 * which of its amounts is not free there now.
 *
 * For those who choose a resource themselves and ask for an opinion on each. Nothing is
 * planned: each resource is looked at as if the job went there.
 *
 * Source: engines.md 10; what is free and when, world-model.md 3 and 4.1.
 */
#ifndef GRIDPLAN_PLACEMENT_EACH_H
#define GRIDPLAN_PLACEMENT_EACH_H

#include "algorithms/placement/problem.h"

struct placement_each {
    double finish_s;      /* seconds from now; NAN: never, not known, or the budget was
                             spent */
    const char *short_of; /* memory_bytes or a named need of which less is free now than
                             the job takes; NULL: none */
    double needed, free;  /* of it, as on the wire */
};

/* Of in->jobs[0], the only job; in->world is not NULL. *out by snapshot index.
 * ERR_INVALID: mistakes are in *err. O(m + rows of what is taken). */
enum error_code placement_each_find(const struct placement_in *in,
                                    const struct placement_each **out, struct arena *a,
                                    struct error *err);

#endif

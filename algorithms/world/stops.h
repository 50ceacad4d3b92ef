/* world/stops.h - what to stop for several jobs, one after the other.
 *
 * Jobs that want it and do not start at 0 are asked for by falling priority, then by
 * index: world_preempt() on what is left when what was stopped before is gone, and the
 * jobs that start instead hold what they need.
 *
 * A stopped job's end stays what it was for those that wait for it.
 * The order is ours.
 */
#ifndef GRIDPLAN_WORLD_STOPS_H
#define GRIDPLAN_WORLD_STOPS_H

#include "algorithms/world/preempt.h"

struct world_stops {
    struct world *world;         /* without what is stopped; holders keep their indexes */
    const size_t *jobs;          /* for whom something is stopped, in that order; */
    const struct preemption *of; /* what, by these */
    size_t count;
    size_t stop_count; /* of holders */
};

/* `plan`: of all jobs. wants: by job. Cut short when the budget is spent. O(jobs * (m +
 * holders + placed jobs)) beside the searches of world_preempt(). */
void world_stop(const struct world *w, const struct world_plan *plan, const bool *wants,
                struct world_stops *out, struct arena *a);

#endif

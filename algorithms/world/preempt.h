/* world/preempt.h - what to stop so that a job can start now.
 *
 * Candidates run, are preemptible, and have a smaller priority than the job. On each
 * resource that is large enough the cheapest set of them that gives back what the job
 * lacks at 0 and at each later time of its run at which something else begins to be held;
 * of the resources the one of least weight, then fewest stops, then least snapshot index.
 *
 * A job on several nodes: the resources of least cost of their own, then what turns out
 * not to be needed is left running. A stopped job gives back all its nodes and counts
 * once. Nothing is stopped here: it is a proposal.
 *
 * Source: world-model.md 7.3.
 */
#ifndef GRIDPLAN_WORLD_PREEMPT_H
#define GRIDPLAN_WORLD_PREEMPT_H

#include "algorithms/world/world.h"

struct preemption {
    bool possible; /* false: nothing helps */
    const size_t
        *positions; /* where the job could then start, by rising snapshot index */
    size_t position_count;
    size_t choice;
    const size_t *stop; /* holders, rising; none: it can start without */
    size_t stop_count;
    double weight; /* sum of theirs */
    bool proven;   /* no other set is better */
};

/* `plan`: its jobs that start at 0 hold what they need; NULL: none. The lists are in the
 * arena. max_nodes: of the search on a resource; 0: COVER_NODES_MAX. */
void world_preempt(const struct world *w, const struct world_plan *plan, size_t job,
                   size_t max_nodes, struct preemption *out, struct arena *a);

#endif

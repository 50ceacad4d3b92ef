/* replication/node_sets.h - the nodes that copies of a job on several may be put on.
 *
 * A copy on N nodes takes them at one site, works as fast as the slowest of them and is
 * killed by a failure of any: with the rates 1/M of its nodes
 *
 *     E = the largest E of them        1/M = the sum of 1/M of them
 *
 * Of each site the set that ends soonest on average if nothing is saved, one attempt
 * after another, M (e^(E/M) - 1), is taken out, and so on with the nodes that are left.
 * With the quickest j of a site, j >= N, the best set is that of the N of least rate;
 * all j are tried.
 *
 * Source: spec reliability.md 2.5 and 4.4; the order in which sets are taken is ours.
 * Deviation: sets that share nodes are not weighed against each other.
 */
#ifndef GRIDPLAN_REPLICATION_NODE_SETS_H
#define GRIDPLAN_REPLICATION_NODE_SETS_H

#include "models/base/arena.h"
#include "models/base/budget.h"

#include <stddef.h>

/* A node that is free. */
struct free_node {
    size_t resource, site;
    double time_s; /* E of the job there, > 0; infinite: it does not end */
    double mean_s; /* M, > 0 */
};

struct node_set {
    const size_t *nodes; /* rising */
    size_t count;
    double time_s, mean_s;
};

/* At most sets_max of each site, `size` >= 1 nodes each, by site and then as they are
 * found. No set that was passed by is quicker than *left_out_s; infinite: none was.
 * Orders `nodes` anew. O(count * (log count + sets_max * log size)). */
void node_sets_find(struct free_node *nodes, size_t count, size_t size, size_t sets_max,
                    struct node_set **sets, size_t *set_count, double *left_out_s,
                    struct budget *budget, struct arena *a);

#endif

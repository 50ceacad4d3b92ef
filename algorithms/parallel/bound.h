/* parallel/bound.h - a score that no set of machines goes below.
 *
 * For a set of a given size the score never rises with its least cpu c or its least
 * link b, so the rectangle of all (c, b) is split into boxes: the upper corner of a box
 * gives the least score, its lower corner bounds the size of the sets in it, since they
 * are cliques in the graph of links >= b between machines with cpu >= c. Where the links
 * have structure (all alike, the worse of two uplinks, the narrowest link on the way
 * through a tree of switches) the bound is the optimum itself.
 *
 * Source: spec parallel-scheduling.md 4.9.
 */
#ifndef GRIDPLAN_PARALLEL_BOUND_H
#define GRIDPLAN_PARALLEL_BOUND_H

#include "algorithms/parallel/evaluate.h"

/* No set has a score below *bound_s, and *bound_s <= score_s, the score of an answer
 * (infinite: there is none); equal (but for rounding): the answer is proven. Infinite:
 * no set has a finite score. Looks at most at 2000 boxes, and stops with the best bound
 * so far when s->in->budget is spent. Reads from *s what search_create() set, changes
 * nothing there. O(n^2) with structure, else O(n^2) a box, mostly far less. */
enum error_code parallel_bound(const struct parallel_search *s, double score_s,
                               double *bound_s);

#endif

/* fault_tolerance/host_sets.h - which hosts copies of a job are best on, together.
 *
 * A copy on a quick host that fails and one on a slow host that does not are better
 * together than two of either: the hosts of k copies are chosen as a set. Hosts with
 * the same run time and the same failures are one class. A set's time is that of
 * copies.h; the best set is found by
 *
 *     greedy        the best single host, then the one that lowers the time most, then
 *                   one pass in which each is exchanged for a better one
 *     enumeration   of all sets, in which those that begin with hosts that no others
 *                   can make up for are passed by; given up after so many products
 *
 * Bound: no k copies have less left at a time than the product of the k least G(t).
 *
 * Source: spec reliability.md 6.5. Times are seconds.
 */
#ifndef GRIDPLAN_HOST_SETS_H
#define GRIDPLAN_HOST_SETS_H

#include "algorithms/fault_tolerance/copies.h"

enum { HOST_SET_MAX = 16, HOST_SETS_PRODUCTS_MAX = 5000 };

struct host_class {
    struct copy copy;
    size_t host_count; /* hosts like this, >= 1 */
};

struct host_sets_in {
    const struct host_class *classes; /* ties go to the first */
    size_t class_count;               /* 1 .. COPIES_MAX */
    size_t fixed_count;  /* the first of them, of one host each, are in every set that
                            has room, in this order */
    size_t copies_max;   /* 1 .. HOST_SET_MAX, and no more than there are hosts */
    size_t products_max; /* of each enumeration; 0: greedy alone */
    double left_out_s;   /* least work_s of hosts that are in no class; infinite: none */
    double max_cost_s;   /* a single copy that costs more is second choice; infinite */
    double deadline_s;   /* NAN: none */
    bool wants_bounds;
};

/* The best of k copies. */
struct host_set {
    size_t count;
    size_t classes[HOST_SET_MAX]; /* fixed ones first, then rising */
    double time_s, cost_s;        /* expected; NAN: without end, or not known */
    double lower_bound_s;         /* of k copies on any hosts; NAN: not asked for */
    double done_probability;      /* by the deadline; NAN: likewise */
    bool is_complete;             /* no other set of the classes is better */
};

/* Fills sets[0 .. copies_max - 1], of 1 .. copies_max copies. `work` keeps memory from
 * call to call, and has the budget. O(classes * steps * segments) for the courses, then
 * at most (products_max + 3 * copies_max * classes) * steps for each number of copies. */
void host_sets_search(const struct host_sets_in *in, struct copies *work,
                      struct host_set *sets, struct arena *a);

#endif

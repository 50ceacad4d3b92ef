/* fault_tolerance/copies.h - copies of a job on hosts that are unlike.
 *
 * Each copy runs on a host of its own, fails at that host's rate and comes back there
 * after D, from its own last image or from scratch; the job ends with the first copy
 * that ends. Copies are independent of each other, so with G_i(t) the chance that
 * copy i is not done at t
 *
 *     E[time] = integral of prod G_i(t)
 *     E[cost of copy i] = integral of H_i(t) prod_(j != i) G_j(t)
 *
 * H_i: that it is not done and on its host. Both are worked out on a grid of time, to
 * about 0.1 % of the run time.
 *
 * Source: spec reliability.md 6.5. Times are seconds.
 */
#ifndef GRIDPLAN_COPIES_H
#define GRIDPLAN_COPIES_H

#include "algorithms/checkpoint/finite_plan.h"
#include "models/base/arena.h"
#include "models/base/error.h"

#include <stdbool.h>
#include <stddef.h>

/* One copy: its work there, its failures, and how its work is cut. */
struct copy {
    struct finite_job job;
    struct finite_plan plan; /* count 1: without checkpoints */
};

enum { COPIES_STEPS_MAX = 100000, COPIES_SEGMENTS_MAX = 2000, COPIES_MAX = 64 };

/* What a copy does on the grid, at each step; equal copies share it. */
struct copy_course {
    double *left; /* G */
    double *held; /* H */
};

/* A set of copies on one grid; keep it for the next set, it keeps its memory. */
struct copies {
    struct copy_course course[COPIES_MAX];
    size_t count;
    double step_s;
    size_t step_count;
    double *memory; /* of `room` steps for each */
    size_t room;
    double *products; /* likewise, of host_sets.h */
    size_t product_room;
    struct budget *budget; /* when it is spent, no set is good; NULL: no limit */
};

/* Works out the courses of `count` copies, 1 .. COPIES_MAX, on a grid that is fine
 * enough for all and ends when the one of least expected time is sure to be done.
 * *is_good false: it is not within COPIES_STEPS_MAX steps, or a copy has more than
 * COPIES_SEGMENTS_MAX segments, or the budget is spent. O(count * steps * segments). */
void copies_follow(struct copies *c, const struct copy *list, size_t count, bool *is_good,
                   struct arena *a);

/* Less than this is left of a product where it may be taken as done. */
#define COPIES_LEFT_MIN 1e-9

/* The integral of a product of courses behind the grid's last step, by its geometric
 * tail: from `left` there, and what was left copies_behind() steps before. Infinite: it
 * does not end. */
size_t copies_behind(const struct copies *c);
double copies_rest_s(const struct copies *c, double left, double before);

struct copies_figures {
    double time_s, cost_s;
};

/* Of those with these places in the list, together; one may be there more than once.
 * NAN: they do not end. O(count^2 * steps). */
struct copies_figures copies_together(const struct copies *c, const size_t *places,
                                      size_t count);

/* That the copy is done within time_s; `copy` is the one at that place. */
double copies_done(const struct copies *c, size_t place, const struct copy *copy,
                   double time_s);

#endif

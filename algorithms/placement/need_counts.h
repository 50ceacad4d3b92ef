/* placement/need_counts.h - how many resources the tests behind the requirement drop.
 *
 * Each test asks whether a number of the job (cpus, memory, estimate) is at most a limit
 * of the resource. The resources stand in order of each limit, and for every so many of
 * them there is the set of those behind, so that a job's counts are a handful of
 * operations on sets of m bits: O(m / 64 + spacing) a job instead of m tests, the same
 * numbers.
 *
 * Jobs with a row of a matrix are counted by the tests themselves, O(m), which is the
 * length of the row; so are jobs with files or outputs, up to COUNT_LOOKS_MAX looks in
 * all, after which they are "not counted".
 *
 * Memory: a few sets of m bits for each 64 resources, at most 256 a limit.
 */
#ifndef GRIDPLAN_PLACEMENT_NEED_COUNTS_H
#define GRIDPLAN_PLACEMENT_NEED_COUNTS_H

#include "algorithms/placement/problem.h"

enum { COUNT_LOOKS_MAX = 50 * 1000 * 1000 };

/* Resources that have less of an amount than a job needs. */
struct need_short {
    size_t count, alone; /* of these: that have enough of the other one */
    size_t nearest;      /* position with the most among `alone`, else among all of them,
                            the first in the snapshot; NO_INDEX: none is short */
    double largest;      /* that any resource has, short or not, if one is short */
};

/* Over the resources that the filters of the job's class left. */
struct need_counts {
    size_t dropped[FILTER_COUNT], passed;
    struct need_short cpus, memory;
    bool known; /* false: not counted */
};

struct need_counter;

/* `estimate`: a job must have an estimate. O(m log m). */
struct need_counter *need_counter_create(const struct placement_problem *p, bool estimate,
                                         struct arena *a);

void need_counts_of(struct need_counter *c, size_t job, struct need_counts *out);

/* By the tests themselves, whatever the job: O(m). */
void need_counts_scan(const struct placement_problem *p, size_t job, bool estimate,
                      struct need_counts *out);

#endif

/* world/what_if.h - which change of one capacity would let most jobs run somewhere.
 *
 * A change raises one amount of one resource to a need of a job without a place that is
 * above it. It helps the jobs that pass all filters there and lack nothing else. It says
 * "could run there", not "would start now".
 *
 * Source: world-model.md 7.2.
 */
#ifndef GRIDPLAN_WORLD_WHAT_IF_H
#define GRIDPLAN_WORLD_WHAT_IF_H

#include "algorithms/world/world.h"

enum { WHAT_IF_CHANGES_MAX = 5, WHAT_IF_JOBS_MAX = 10 };

struct what_if_change {
    size_t position, amount;
    int64_t capacity, value;       /* now, and raised */
    size_t job_count;              /* jobs that it helps */
    double weight;                 /* of these */
    size_t jobs[WHAT_IF_JOBS_MAX]; /* the first of them */
    size_t listed_count;
};

/* Best first: most jobs, most weight, least value / capacity, snapshot index, amount. */
struct what_if {
    struct what_if_change changes[WHAT_IF_CHANGES_MAX];
    size_t change_count;
    bool cut; /* the budget was spent: there may be better ones */
};

/* `jobs`: without a place, rising. O(classes of equal jobs * resources). */
void world_what_if(const struct world *w, const size_t *jobs, size_t job_count,
                   struct what_if *out, struct arena *a);

#endif

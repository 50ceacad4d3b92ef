/* world/reasons.h - why a job has no place.
 *
 * What the filters dropped the builder of the world knows. Here: of the resources that
 * passed them, how many are too small, by what, and which is nearest; then the one cause
 * for which the job waits for those that are large enough. Counts are exact at any size.
 *
 * Source: world-model.md 7.1.
 */
#ifndef GRIDPLAN_WORLD_REASONS_H
#define GRIDPLAN_WORLD_REASONS_H

#include "algorithms/world/world.h"

enum { REASON_BLOCKERS_MAX = 5 };

/* By enum world_wait: its name, "" where a filter is to be named, and what it means; NULL
 * where the name is "". */
extern const char *const world_wait_names[], *const world_wait_details[];

/* An amount that some of the resources looked at have too little of. */
struct reason_amount {
    size_t amount;
    int64_t needed;
    size_t short_count;      /* resources that have less */
    size_t alone_count;      /* of these: all else suffices */
    int64_t largest;         /* of all that were looked at */
    size_t largest_position; /* the least snapshot index that has it */
};

struct reason_amounts {
    size_t looked_at_count; /* resources */
    size_t short_count;     /* that lack something */
    const struct reason_amount *amounts;
    size_t amount_count;
};

struct world_reason {
    size_t passed_count; /* resources that passed the filters, of any partition */
    struct reason_amounts too_small; /* by capacity, of those */
    size_t nearest;           /* position of the nearest miss; WORLD_NONE: none is short,
                                 or not looked for */
    double nearest_shortfall; /* sum of (needed - has) / max(needed, 1) */
    bool nearest_omitted;     /* there is one, but too much was looked at already */

    enum world_wait wait;           /* WORLD_WAIT_NONE: no cause was found here */
    size_t wait_on;                 /* as the plan says */
    size_t resource_count;          /* NO_FREE_NOW, UNKNOWN_END, RESERVED_FOR_EVER: large
                                       enough ones that wait for this; TOO_FEW_NODES:
                                       eligible ones */
    struct reason_amounts free_now; /* NO_FREE_NOW: what is free at 0, of those */
    size_t later_count;             /* NO_FREE_NOW: free at 0, but not for its run */
    const size_t *blockers;         /* UNKNOWN_END: holders */
    size_t blocker_count;           /* at most REASON_BLOCKERS_MAX */
    size_t amount;                  /* SHARED_SHORT */
    int64_t needed, free;           /* SHARED_SHORT, units; TOO_FEW_NODES: needed nodes */
};

struct reasons;

/* For the jobs without a place of this plan. starts_now: of a decision that starts jobs
 * now or not at all. What is free is only looked at when a job asks. */
struct reasons *reasons_create(const struct world *w, const struct world_plan *plan,
                               bool starts_now, struct arena *a);

/* Of one job. What it points to is in the arena. A cause that the plan names and that is
 * not about amounts stays as it is. */
void reasons_of(struct reasons *r, size_t job, struct world_reason *out);

#endif

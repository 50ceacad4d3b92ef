/* queue/waiting.h - the waiting jobs, to be found by rank, width and estimate.
 *
 * A min_tree holds a number for each position, infinite for an empty one, and finds
 * the first position with a small one. The waiting jobs are in two of them: by their
 * rank in the queue, and by width and then rank among those that backfill.
 *
 * Cost: O(log n) for a change and a question; memory O(n).
 */
#ifndef GRIDPLAN_QUEUE_WAITING_H
#define GRIDPLAN_QUEUE_WAITING_H

#include "algorithms/queue/queue.h"

struct min_tree {
    double *least; /* of the subtree; [1] is the root, [leaf_count] the first leaf */
    size_t leaf_count;
};

/* All empty. */
void min_tree_create(struct min_tree *t, size_t count, struct arena *a);

void min_tree_set(struct min_tree *t, size_t position, double value);

/* The first position from `from` on whose value is at most `limit`; SIZE_MAX: none. */
size_t min_tree_first(const struct min_tree *t, size_t from, double limit);

/* The least of all values. */
double min_tree_least(const struct min_tree *t);

/* Jobs that need the same number of processors: positions begin..end of by_width. */
struct width_class {
    uint64_t processors;
    size_t begin, end;
    size_t waiting_count;
};

struct waiting {
    const struct queue_job *jobs; /* all that may ever wait, in order of arrival */
    size_t *rank;                 /* in the queue, of each job */
    size_t *job_of_rank;
    struct min_tree by_rank; /* 0 for a waiting job; conservative: its planned start */
    bool has_backfill;       /* what follows is there: the rules fit and easy */
    size_t *backfill_rank;
    size_t *width_position; /* of each job in by_width */
    size_t *job_of_width_position;
    size_t *class_of;
    struct width_class *classes; /* by processors, ascending */
    size_t class_count;
    struct min_tree by_width; /* estimates */
    size_t count;             /* of the waiting */
};

/* All jobs, none of them waiting. */
void waiting_create(struct waiting *w, const struct policy *policy,
                    const struct queue_job *jobs, size_t count, struct arena *a);

/* by_rank gets `value`. */
void waiting_add(struct waiting *w, size_t job, double value);
void waiting_remove(struct waiting *w, size_t job);

/* The first job of the queue; SIZE_MAX: none waits. */
size_t waiting_first(const struct waiting *w);

#endif

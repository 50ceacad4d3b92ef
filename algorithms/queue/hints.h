/* queue/hints.h - what is known of where jobs fit, while the profile only fills up.
 *
 * Where a job fits first, no wider and longer one fits earlier, also later on, as long
 * as nothing is given back. So whoever is laid into a profile with many gaps that are
 * too short begins behind those that others have looked at in vain.
 *
 * Kept is the latest such place for all that are at most so wide and at most so long:
 * prefix maxima over classes of width and length (a Fenwick tree in two dimensions).
 * A class is a width, or a length, that some job has; of more than HINTS_CLASSES of
 * them it is several neighbours, and a job then asks only about narrower classes, or
 * shorter ones.
 *
 * Cost: O(n log n) to begin with, O(log W log L) for a question and a note; O(W L)
 * memory.
 */
#ifndef GRIDPLAN_QUEUE_HINTS_H
#define GRIDPLAN_QUEUE_HINTS_H

#include "algorithms/queue/queue.h"

enum { HINTS_CLASSES = 512 };

/* The classes of all jobs in one dimension, from 1. */
struct hint_classes {
    uint16_t *of; /* each job's */
    size_t count;
    bool exact; /* one for each value */
};

struct hints {
    struct hint_classes widths, lengths;
    double *start_s; /* (widths.count + 1) rows of lengths.count + 1 */
};

/* For these jobs; nothing is known. */
void hints_create(struct hints *h, const struct queue_job *jobs, size_t count,
                  struct arena *a);

/* A job fits at start_s, and not before. */
void hints_note(struct hints *h, size_t job, double start_s);

/* Before that time a job fits nowhere; -HUGE_VAL: nothing is known. */
double hints_earliest(const struct hints *h, size_t job);

#endif

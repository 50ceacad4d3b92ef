/* queue/hints.h - what is known of where jobs fit, while the profile only fills up.
 *
 * Where a job fits first, no wider and longer one fits earlier, also later on, as long
 * as nothing is given back. So whoever is laid into a profile with many gaps that are
 * too short begins behind those that others have looked at in vain.
 *
 * Kept is the latest such place for all that are at most so wide and at most so long:
 * prefix maxima over classes of width and length (a Fenwick tree in two dimensions).
 * Lengths are in classes of 1/32 of an octave.
 *
 * Cost: O(log W log L) for a question and a note; O(W L) memory, within bounds.
 */
#ifndef GRIDPLAN_QUEUE_HINTS_H
#define GRIDPLAN_QUEUE_HINTS_H

#include "models/base/arena.h"

#include <stdbool.h>
#include <stdint.h>

struct hint {
    double start_s;
    uint64_t age; /* of the hints in which it was noted */
};

struct hints {
    struct hint *cells;
    size_t class_count; /* of widths, as they are given */
    size_t rows;        /* in which these are kept */
    uint64_t age;
};

/* For widths 0..class_count - 1, ascending. False without memory. */
bool hints_create(struct hints *h, size_t class_count, struct arena *a);

/* Something was given back: all hints are void. */
void hints_forget(struct hints *h);

/* Jobs of that width class and length fit at start_s, and not before. */
void hints_note(struct hints *h, size_t width, double length_s, double start_s);

/* Before that time such jobs fit nowhere; -HUGE_VAL: nothing is known. */
double hints_earliest(const struct hints *h, size_t width, double length_s);

#endif

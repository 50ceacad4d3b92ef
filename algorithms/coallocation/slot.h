/* coallocation/slot.h - when reservations on several sites can begin together.
 *
 * Each site says in which windows of time how many processors are free. The common slot
 * is the first time t, not before earliest_s, so that on every site windows with enough
 * free processors cover [t, t + duration) without a gap and all ends by latest_end_s.
 *
 * Source: spec coallocation.md 14; 001_546dfcc428821807 1.1.2, 3.1.
 */
#ifndef GRIDPLAN_COALLOCATION_SLOT_H
#define GRIDPLAN_COALLOCATION_SLOT_H

#include "models/base/error.h"

/* In [start_s, end_s) so many processors are free; start_s < end_s. */
struct co_window {
    double start_s, end_s;
    double processors_free;
};

struct co_slot_site {
    const struct co_window *windows; /* in any order, none overlaps another */
    size_t window_count;
    double processors; /* needed here; 0: the site does not count */
};

/* *start_s NAN: there is none. O(W log W + S W) for W windows in all. */
enum error_code co_common_slot(const struct co_slot_site *sites, size_t site_count,
                               double duration_s, double earliest_s, double latest_end_s,
                               double *start_s, struct arena *a, struct error *err);

/* Position of a window that overlaps an earlier one of the list; SIZE_MAX: none does. */
enum error_code co_window_overlap(const struct co_window *windows, size_t count,
                                  size_t *position, struct arena *a, struct error *err);

#endif

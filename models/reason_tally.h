/* reason_tally.h - how many have no place, by their main reasons.
 *
 * Every decision that leaves jobs or tasks without a place says so in one form:
 * "unplaced: 3, too_small: 2, unknown_end: 1", most first, equal ones in the order in
 * which they were met. Source: spec world-model.md 5.1.
 */
#ifndef GRIDPLAN_REASON_TALLY_H
#define GRIDPLAN_REASON_TALLY_H

#include "models/base/arena.h"

#include <stddef.h>

enum { REASON_TALLY_NAMES = 64 }; /* more than any family has reasons */

/* Zeroed, it has counted nothing. */
struct reason_tally {
    const char *name[REASON_TALLY_NAMES]; /* as given, of the caller */
    size_t count[REASON_TALLY_NAMES], name_count, total;
};

/* One more without a place. `reason`: a name on the wire, for as long as the tally. */
void reason_tally_add(struct reason_tally *t, const char *reason);

/* The text above; "unplaced: 0" when nothing was counted. O(names^2). */
const char *reason_tally_text(const struct reason_tally *t, struct arena *a);

#endif

/* snapshot_at.h - a snapshot as it is at a later instant.
 *
 * Seconds in a snapshot count from the instant when it was made. Whoever looks at it
 * later sees less of them left: ends come nearer, what runs has run for longer.
 *
 * Source: world-model.md 2.2.
 */
#ifndef GRIDPLAN_SNAPSHOT_AT_H
#define GRIDPLAN_SNAPSHOT_AT_H

#include "models/base/arena.h"
#include "models/snapshot.h"

/* The same, its seconds counted from now_at_s instead of from_at_s, and now_at_s as its
 * taken_at. Reservations that have ended are left out; what runs and should have ended
 * keeps an end that is past; what started later starts now. Lists that do not change are
 * shared with *s. O(rows). */
struct snapshot snapshot_at(const struct snapshot *s, double from_at_s, double now_at_s,
                            struct arena *a);

#endif

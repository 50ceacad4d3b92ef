/* session/host.h - what to start now on one host, from a plan that was made a while ago.
 *
 * The host's tasks are taken in the order of the plan. The first that cannot start yet
 * keeps its place: a task behind it starts only if that one still fits at the time that
 * the plan has for it, given the expected ends of what runs. Inside one host this is EASY
 * backfilling.
 *
 * Source: D. A. Lifka, "The ANL/IBM SP scheduling system", 1995; the rest is ours.
 */
#ifndef GRIDPLAN_SESSION_HOST_H
#define GRIDPLAN_SESSION_HOST_H

#include "models/base/arena.h"
#include "models/base/budget.h"

#include <stdbool.h>
#include <stddef.h>

/* What has amounts of the host in [from_s, to_s), seconds from now. */
struct session_hold {
    const double *amounts; /* [amount_count] */
    double from_s, to_s;   /* to_s HUGE_VAL: not known */
};

/* A task of the plan that has not begun. */
struct session_waiting {
    const double *amounts;
    double time_s;  /* how long it would run from now on */
    double start_s; /* when the plan starts it, from now; below 0: it should have */
    bool may_start; /* all that it waits for is done */
};

/* starts[i]: row i is to start now. `capacity` has HUGE_VAL for what is not limited; rows
 * are in the order of the plan. O(rows x holds^2 x
 * amounts), on the budget. */
void session_host_starts(const double *capacity, size_t amount_count,
                         const struct session_hold *holds, size_t hold_count,
                         const struct session_waiting *rows, size_t row_count,
                         bool *starts, struct budget *budget, struct arena *a);

#endif

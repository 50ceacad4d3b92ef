/* aside.h - parts of a computation that other slots play beside it.
 *
 * A computation may consist of parts that know nothing of each other and are taken in the
 * order of their numbers. It plays them itself; while it does, other jobs of its owner
 * play parts that are still to come, in slots that the governor gives them: as with any
 * computation others go first when it is their turn, and what such a job takes is leased
 * to the owner, and charged. How many helped is seen in the time only: what a part is
 * does not depend on who played it.
 *
 * The end of the computation ends them; those that never began are forgotten.
 */
#ifndef GRIDPLAN_ASIDE_H
#define GRIDPLAN_ASIDE_H

#include "service/route.h"

struct aside;

/* A part that is to be played. */
struct aside_part {
    size_t number;
    struct budget *budget;
    struct arena *result;          /* stays until aside_end() */
    struct arena *trial, *scratch; /* emptied before */
    const void *data;              /* to be said, in `result` */
    size_t length;
};

/* Plays it, on any thread: it may read what does not change before aside_end(), and
 * nothing else. A computation (arena.h). False: it was not ended, or failed; whoever
 * wants it plays it then, to say so. */
typedef bool aside_fn(void *context, struct aside_part *part);

/* Parts 0 to `count` - 1 of a computation that runs in a slot. NULL: it has no slot, or
 * there is none for others, or its owner may have few computations at once. Nothing but
 * these calls may come between it and aside_end(). */
struct aside *aside_begin(struct request *rq, size_t count, aside_fn *play,
                          void *context);

/* The part is wanted now. True: somebody has played it, and *data is what it said. False:
 * nobody has, and nobody will. While another one is at it, those behind it are played
 * here. Accepts NULL. */
bool aside_take(struct aside *s, size_t number, const void **data, size_t *length);

/* Ends what others play; waits for them. Accepts NULL. */
void aside_end(struct aside *s);

#endif

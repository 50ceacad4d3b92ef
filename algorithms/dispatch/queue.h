/* dispatch/queue.h - waiting jobs, one after another to the fastest resource. */
#ifndef GRIDPLAN_DISPATCH_QUEUE_H
#define GRIDPLAN_DISPATCH_QUEUE_H

#include "algorithms/replication/work.h"

enum queue_order { QUEUE_ARRIVAL, QUEUE_LONGEST, QUEUE_SHORTEST };

/* Starts jobs of which no copy was started, until no CPU is free. */
enum error_code queue_dispatch(struct round_work *w, enum queue_order order);

/* A whole round of that. Nothing hangs on how free CPUs are counted: slots and
 * resources that have some run out together. */
enum error_code queue_round(const struct round_in *in, enum queue_order order,
                            struct round_out *out, struct arena *a, struct error *err);

#endif

/* dispatch/queue.h - waiting jobs, one after another to the fastest resource. */
#ifndef GRIDPLAN_DISPATCH_QUEUE_H
#define GRIDPLAN_DISPATCH_QUEUE_H

#include "algorithms/replication/work.h"

enum queue_order { QUEUE_ARRIVAL, QUEUE_LONGEST, QUEUE_SHORTEST };

/* Starts jobs of which no copy was started, until no CPU is free. */
enum error_code queue_dispatch(struct round_work *w, enum queue_order order);

/* A whole round of that. */
enum error_code queue_round(const struct round_in *in, enum queue_order order,
                            enum capacity_unit unit, struct round_out *out,
                            struct arena *a, struct error *err);

/* The one option of most dispatch policies. */
enum { QUEUE_CAPACITY_UNIT };
#define QUEUE_ROWS [QUEUE_CAPACITY_UNIT] = ROW_CAPACITY_UNIT

#endif

/* world/queue_parts.h - what queue.c and queue_promises.c tell each other. */
#ifndef GRIDPLAN_WORLD_QUEUE_PARTS_H
#define GRIDPLAN_WORLD_QUEUE_PARTS_H

#include "algorithms/world/board_groups.h"
#include "algorithms/world/queue.h"

/* Lays the jobs with a promise in at their promises; those that do not fit there, when
 * all others are in, each where it completes first. Then, unless `keeps_gaps`, each moves
 * up, in the order of the queue, if it completes no later. `queue`: all jobs. Ends early
 * when the budget is spent: then some are open still. */
void queue_keep_promises(struct board *b, const size_t *queue,
                         const struct world_queue_promises *promises, struct arena *a);

#endif

/* world/queue_parts.h - what queue.c, queue_promises.c and queue_units.c tell each other.
 */
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

/* ---- queue_units.c ---- */

/* A gang or a pack of which nobody has a place yet, by a member that is open. */
bool queue_unit_is_whole(const struct board *b, size_t job);

/* All of a gang may start at now_s, some member of a pack may; and what any of them waits
 * for outside has had its turn. */
bool queue_unit_is_ready(const struct board *b, size_t job, double now_s);

/* Places it, no member before now_s; when the last of them starts. HUGE_VAL: none has a
 * place, and those who can never have one are refused. */
double queue_unit_place(struct board *b, size_t job, double now_s);

/* Members that start later than after_s lose their places. */
void queue_unit_take_back(struct board *b, size_t job, double after_s);

/* Members that were refused may have their turn again. */
void queue_unit_reopen(struct board *b, size_t job);

#endif

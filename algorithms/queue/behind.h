/* queue/behind.h - a start for the jobs that there was no time to plan. */
#ifndef GRIDPLAN_QUEUE_BEHIND_H
#define GRIDPLAN_QUEUE_BEHIND_H

#include "algorithms/queue/machine.h"

/* Gives each job that has neither started nor a plan, and that is not too wide, a start
 * in start_s (by job, NAN before): from the instant on at which all that runs, is planned
 * or reserved has ended they follow one another in the order of the queue, each as soon
 * as enough processors are free, none before one that is ahead of it. Asks no clock: it
 * is what makes an answer when the time is up. O(jobs * log(jobs)). */
enum error_code queue_place_behind(const struct machine *m, double *start_s,
                                   size_t *count);

#endif

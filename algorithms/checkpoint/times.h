/* checkpoint/times.h - how long a job runs and how much of it is left, from its length.
 *
 *     E = length / speed,  RE = (length - completed) / speed,  0 when all is done
 *
 * The speed is what an E that is given says, else the resource's: what others leave of
 * it, shared evenly by the jobs that are there. Without speed the job never ends.
 * Source: M. Chtepen, thesis, chapter 4.
 */
#ifndef GRIDPLAN_CHECKPOINT_TIMES_H
#define GRIDPLAN_CHECKPOINT_TIMES_H

#include "algorithms/checkpoint/checkpoint.h"
#include "models/resource.h"

/* Sets what is NAN of in->execution_time_s and in->remaining_s as far as the rest says
 * it. Lengths in million instructions, NAN: not known; completed NAN: nothing. `r` NULL:
 * not known. */
void checkpoint_fill_times(double length_mi, double completed_mi,
                           const struct resource *r, struct checkpoint_in *in);

#endif

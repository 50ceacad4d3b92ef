/* checkpoint/energy.h - the energy that checkpoints and failures take.
 *
 * Where the time of a plan of finite_plan.h goes, on average: of segment j, with restart
 * r_j and length L_j, the failures are
 *
 *     F_j = e^(L_j/M) - e^(r_j/M),      F their sum
 *     total time (M + D) F, on the machine M F
 *     recovery   sum F_j M (1 - e^(-r_j/M))
 *     checkpoint (n - 1) M (e^(C/M) - 1)
 *     work       sum over j of M e^(C_j/M) (e^(w_j/M) - 1), C_j = 0 for the last: what is
 *                left of the time on the machine, without the difference of large sums
 *
 * and a node takes static power all the time, compute power in addition while it works,
 * and power for input and output while it reads or writes images. A plan of other n than
 * the fastest may need less of it: work that is lost burns more than a checkpoint. The
 * frontier lists the plans than which none is both faster and needs less.
 *
 * Source: G. Aupy, A. Benoit, T. Herault, Y. Robert, J. Dongarra, "Optimal checkpointing
 * period: time vs. energy", PMBS 2013, for the question. Deviation: finite jobs, exact.
 */
#ifndef GRIDPLAN_CHECKPOINT_ENERGY_H
#define GRIDPLAN_CHECKPOINT_ENERGY_H

#include "algorithms/checkpoint/finite_plan.h"

#include <stddef.h>

/* Of a node, W, >= 0; the second and third are added to the first. */
struct power {
    double static_w, compute_w, io_w;
};

/* Expected values until the job ends, seconds, but for the failures. */
struct time_parts {
    double total_s, on_machine_s, work_s, checkpoint_s, recovery_s;
    double failures;
};

/* Where the time of a plan goes; plan->count >= 1. All infinite if it never ends. */
struct time_parts finite_time_parts(const struct finite_job *job,
                                    const struct finite_plan *plan);

/* Of one node, J. */
double energy_j(const struct power *power, const struct time_parts *parts);

/* The number of segments of least energy, given the fastest plan's. */
double energy_best_count(const struct finite_job *job, const struct power *power,
                         double fastest);

/* The numbers of segments between the fastest plan and the one of least energy, by
 * rising time, none dominated: at most `most` >= 2 of them, evenly spread with both ends
 * if there are more. Gives how many it wrote, and in *all how many there are. */
size_t energy_frontier(const struct finite_job *job, const struct power *power,
                       double fastest, size_t most, double *counts, double *all);

#endif

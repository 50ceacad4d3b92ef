/* checkpoint/interruptions.h - machines that are taken back after a notice.
 *
 * A spot machine is reclaimed, a preempted job is told to go: with a notice. If it is
 * long enough for a checkpoint, Cp s, no work is lost, and a job does not have to plan
 * for it: each interruption costs the checkpoint, the delay and a restart, so with rho
 * interruptions a second and E* the best expected time against failures alone
 *
 *     expected time = E* (1 + rho (Cp + R + D))
 *
 * If it is too short, interruptions are failures, and their rates add up.
 *
 * Source: ours; the first-order count is within 0.3 % of drawn runs where rho (Cp + R +
 * D) is a few percent. Times are seconds.
 */
#ifndef GRIDPLAN_CHECKPOINT_INTERRUPTIONS_H
#define GRIDPLAN_CHECKPOINT_INTERRUPTIONS_H

#include "algorithms/checkpoint/finite_plan.h"

#include <stdbool.h>

struct interruptions {
    double per_s;      /* rho, of the whole job, >= 0 and finite */
    double notice_s;   /* >= 0 */
    double overhead_s; /* Cp: a checkpoint on notice, >= 0 */
};

struct interrupted_plan {
    bool is_foreseen; /* the notice is long enough */
    double mean_s;    /* M that the plan is made for */
    struct finite_plan plan;
    double expected_s; /* from start to end; infinite: never */
    double busy_s;     /* of it on the machines: without the delays */
};

/* The mean interval of what a job must plan for; infinite: nothing. mean_s > 0, may be
 * infinite. */
double interrupted_mean_s(const struct interruptions *x, double mean_s);

/* The best plan; job->mean_s is that of the failures alone. */
struct interrupted_plan interrupted_best(const struct finite_job *job,
                                         const struct interruptions *x);

#endif

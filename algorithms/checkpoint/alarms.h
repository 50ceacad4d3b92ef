/* checkpoint/alarms.h - checkpoints on alarms of a failure predictor.
 *
 * A predictor foresees the share r (recall) of all failures, lead_s before they strike,
 * and the share p (precision) of its alarms is followed by one. So unforeseen failures
 * come with the rate (1 - r)/M, foreseen ones with r/M, and false alarms with
 * r (1 - p)/(p M). Planned checkpoints are those against M/(1 - r). On an alarm a
 * checkpoint of Cp s is worth its time if the work since the last image is at least Cp/p:
 * it saves that work with the chance p.
 *
 * A first-order sum, C/I + (1-r) I/(2M) + r Cp/(p M) + (R+D)/M, is too high, by a third
 * where alarms are many: a checkpoint on an alarm takes the place of a planned one. So
 * expected times are drawn.
 *
 * Source: G. Aupy, Y. Robert, F. Vivien, D. Zaidouni, "Checkpointing algorithms and fault
 * prediction", Journal of Parallel and Distributed Computing 74(2), 2014. Times are
 * seconds.
 */
#ifndef GRIDPLAN_CHECKPOINT_ALARMS_H
#define GRIDPLAN_CHECKPOINT_ALARMS_H

#include "algorithms/checkpoint/finite_plan.h"
#include "models/base/budget.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct predictor {
    double recall_ratio;    /* r, 0..1 */
    double precision_ratio; /* p, 0..1, > 0 if r > 0 */
    double lead_s;          /* >= 0 */
    double overhead_s;      /* Cp, >= 0 */
};

/* A lead that is shorter than the checkpoint helps nobody: the predictor is not used. */
bool predictor_is_used(const struct predictor *x);

/* M of the failures that checkpoints are planned against; infinite: there are none. */
double predictor_mean_s(const struct predictor *x, double mean_s);

/* The work since the last image from which on an alarm is worth a checkpoint. */
double predictor_threshold_s(const struct predictor *x);

/* A job and its checkpoints, to be drawn: one after every interval_s of work (infinite:
 * none), the last segment without; is_even spreads what is left over so many segments
 * of equal length, the last longer by the overhead, as the best plans have it. */
struct alarm_play {
    struct finite_job job; /* mean_s is that of all failures */
    struct predictor predictor;
    double interval_s; /* > 0 */
    bool is_even;
    double threshold_s; /* 0: every alarm has its checkpoint */
    uint64_t seed;
    const char *name;      /* of the stream: the job's id */
    size_t trials_max;     /* >= 1 */
    double precision;      /* stops when half the interval is at most this part of the
                              mean; 0: never */
    struct budget *budget; /* NULL: no limit */
};

struct alarm_drawn {
    double mean_s;      /* expected time; NAN: no block of trials was finished */
    double half_s;      /* of the interval at 95 % */
    double checkpoints; /* on average, planned ones and those on alarms */
    size_t trial_count;
    bool is_cut; /* the budget was spent first */
};

/* Blocks of 1000 trials, each with a stream of its own, added in order: the same bits
 * however they are shared out. The job must have a chance to end. */
struct alarm_drawn alarms_draw(const struct alarm_play *play);

#endif

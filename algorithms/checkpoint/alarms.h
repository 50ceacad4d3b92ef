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
 * expected times are drawn, by trials with foresight.
 *
 * Source: G. Aupy, Y. Robert, F. Vivien, D. Zaidouni, "Checkpointing algorithms and fault
 * prediction", Journal of Parallel and Distributed Computing 74(2), 2014. Times are
 * seconds.
 */
#ifndef GRIDPLAN_CHECKPOINT_ALARMS_H
#define GRIDPLAN_CHECKPOINT_ALARMS_H

#include "algorithms/checkpoint/trials.h"

#include <stdbool.h>

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

/* What trials of a job are told: mean_s is M of all failures. */
struct trial_foresight predictor_foresight(const struct predictor *x, double mean_s);

#endif

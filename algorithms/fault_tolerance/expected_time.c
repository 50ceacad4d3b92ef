/* fault_tolerance/expected_time.c - for each job the remedy of least expected time.
 *
 * Of all remedies (remedy.c) on the hosts that are best for each, with a cost of
 * max_cost_ratio * E at most, the one of least expected time, where each copy more must
 * save min_gain_ratio of it: joint_round.c.
 *
 * Source: spec reliability.md 6.5; options of fault-tolerance.md 7.4.
 */
#include "algorithms/fault_tolerance/fault_tolerance.h"

#include <math.h>

const struct param fault_tolerance_expected_time_params[] = {
    JOINT_ROWS,
    {0},
};

enum error_code fault_tolerance_expected_time(const struct round_in *in,
                                              const double *param, struct round_out *out,
                                              struct arena *a, struct error *err)
{
    struct joint_options options = {
        .replicas_max = (size_t)param[JOINT_REPLICAS_MAX],
        .max_cost_ratio = param[JOINT_MAX_COST_RATIO],
        .min_gain_ratio = param[JOINT_MIN_GAIN],
        .unit = (enum capacity_unit)param[JOINT_CAPACITY_UNIT],
    };

    return joint_round(in, &options, out, a, err);
}

/* fault_tolerance/joint.c - hosts, remedy and copies of each job, chosen together.
 *
 * As expected_time, and it says when its answer is proved: for each remedy and number of
 * copies all sets of hosts were weighed, or none can beat a bound that is reached. Copies
 * may read each other's images; the times of such are played (copies_play.h).
 *
 * Source: spec reliability.md 6.5.
 */
#include "algorithms/fault_tolerance/fault_tolerance.h"

#include <math.h>

enum {
    OPTION_SHARED_IMAGES = JOINT_OPTION_COUNT,
};

const struct param fault_tolerance_joint_params[] = {
    JOINT_ROWS,
    [OPTION_SHARED_IMAGES] = {"shared_images", 0, 1, 0,
                              "Copies read each other's images after a failure",
                              PARAM_BOOLEAN, NULL},
    {0},
};

enum error_code fault_tolerance_joint(const struct round_in *in, const double *param,
                                      struct round_out *out, struct arena *a,
                                      struct error *err)
{
    struct joint_options options = {
        .replicas_max = (size_t)param[JOINT_REPLICAS_MAX],
        .max_cost_ratio = param[JOINT_MAX_COST_RATIO],
        .min_gain_ratio = param[JOINT_MIN_GAIN],
        .proves = true,
        .shares_images = param[OPTION_SHARED_IMAGES] != 0,
        .unit = (enum capacity_unit)param[JOINT_CAPACITY_UNIT],
    };

    return joint_round(in, &options, out, a, err);
}

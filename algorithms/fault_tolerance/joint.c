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
    OPTION_REPLICAS_MAX,
    OPTION_MAX_COST_RATIO,
    OPTION_CAPACITY_UNIT,
    OPTION_DETECTION,
    OPTION_MF_ESTIMATOR,
    OPTION_PRIOR,
    OPTION_MEAN_FLOOR,
    OPTION_MIN_GAIN,
    OPTION_SHARED_IMAGES,
};

const struct param fault_tolerance_joint_params[] = {
    [OPTION_REPLICAS_MAX] = {"replicas_max", 1, REMEDY_COPIES_MAX, 3,
                             "Most copies of each job", PARAM_INTEGER, NULL},
    [OPTION_MAX_COST_RATIO] = {"max_cost_ratio", 1, 1e9, (double)NAN,
                               "CPU time that may be expected to be used, over the run "
                               "time without failures; not set: no limit",
                               PARAM_NUMBER, NULL},
    [OPTION_CAPACITY_UNIT] = ROW_CAPACITY_UNIT,
    [OPTION_DETECTION] = ROW_DETECTION,
    [OPTION_MF_ESTIMATOR] = ROW_MF_ESTIMATOR,
    [OPTION_PRIOR] = ROW_PRIOR,
    [OPTION_MEAN_FLOOR] = ROW_MEAN_FLOOR,
    [OPTION_MIN_GAIN] = {"min_gain_ratio", 0, 1, 0.01,
                         "Share of the expected time that each copy more must save",
                         PARAM_NUMBER, NULL},
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
        .replicas_max = (size_t)param[OPTION_REPLICAS_MAX],
        .max_cost_ratio = param[OPTION_MAX_COST_RATIO],
        .min_gain_ratio = param[OPTION_MIN_GAIN],
        .proves = true,
        .shares_images = param[OPTION_SHARED_IMAGES] != 0,
        .unit = (enum capacity_unit)param[OPTION_CAPACITY_UNIT],
    };

    return joint_round(in, &options, out, a, err);
}

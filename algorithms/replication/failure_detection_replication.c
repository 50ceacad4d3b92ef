/* replication/failure_detection_replication.c - keep k copies of each job active.
 *
 * unconditional, but copies that are known to have failed are replaced, in the
 * order in which their jobs arrived. They start from scratch.
 *
 * Source: 000_168dd5aef5075332.txt, 2.2 [L732]; spec fault-tolerance.md 6.5.
 * Cost: O(jobs + resources + starts * k log resources).
 */
#include "algorithms/replication/replication.h"
#include "algorithms/replication/work.h"

enum {
    OPTION_REPLICAS,
    OPTION_PLACEMENT,
    OPTION_CAPACITY_UNIT,
    OPTION_DETECTION,
    OPTION_MAX_RESTARTS,
};

const struct param replication_failure_detection_replication_params[] = {
    [OPTION_REPLICAS] = ROW_REPLICAS(2),
    [OPTION_PLACEMENT] = ROW_PLACEMENT(PLACE_SPREAD),
    [OPTION_CAPACITY_UNIT] = ROW_CAPACITY_UNIT,
    [OPTION_DETECTION] = ROW_DETECTION,
    [OPTION_MAX_RESTARTS] = ROW_MAX_RESTARTS,
    {0},
};

enum error_code replication_failure_detection_replication(const struct round_in *in,
                                                          const double *param,
                                                          struct round_out *out,
                                                          struct arena *a,
                                                          struct error *err)
{
    struct fill_rules rules = {
        .replicas_min = (size_t)param[OPTION_REPLICAS],
        .replicas_max = (size_t)param[OPTION_REPLICAS],
        .free_cpu_limit = 1,
        .counts_active = true,
        .placement = (enum placement_rule)param[OPTION_PLACEMENT],
        .starts_max =
            work_starts_max((size_t)param[OPTION_REPLICAS], param[OPTION_MAX_RESTARTS]),
    };

    return work_fill_round(in, &rules, (enum capacity_unit)param[OPTION_CAPACITY_UNIT],
                           out, a, err);
}

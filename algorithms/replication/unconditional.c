/* replication/unconditional.c - k copies of each job, whatever the load.
 *
 * Jobs in the order of arrival get k copies each, on different resources, until
 * no CPU is free. What was started counts, failed or not: there is no detection.
 *
 * Source: 000_168dd5aef5075332.txt, 2.2 [L725] and 4.4.4 [L1435-L1445]; spec
 * fault-tolerance.md 6.2. Cost: O(jobs + resources + starts * k log resources).
 */
#include "algorithms/replication/replication.h"
#include "algorithms/replication/work.h"

enum { OPTION_REPLICAS, OPTION_PLACEMENT, OPTION_CAPACITY_UNIT };

const struct param replication_unconditional_params[] = {
    [OPTION_REPLICAS] = ROW_REPLICAS(2),
    [OPTION_PLACEMENT] = ROW_PLACEMENT(PLACE_SPREAD),
    [OPTION_CAPACITY_UNIT] = ROW_CAPACITY_UNIT,
    {0},
};

enum error_code replication_unconditional(const struct round_in *in, const double *param,
                                          struct round_out *out, struct arena *a,
                                          struct error *err)
{
    struct fill_rules rules = {
        .replicas_min = (size_t)param[OPTION_REPLICAS],
        .replicas_max = (size_t)param[OPTION_REPLICAS],
        .free_cpu_limit = 1,
        .placement = (enum placement_rule)param[OPTION_PLACEMENT],
    };

    return work_fill_round(in, &rules, (enum capacity_unit)param[OPTION_CAPACITY_UNIT],
                           out, a, err);
}

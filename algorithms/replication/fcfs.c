/* replication/fcfs.c - first come, first served: one copy of each job.
 *
 * Each job gets one copy on a random free resource, in the order of arrival.
 * Nothing is done about failures: what fails is lost. unconditional with one
 * copy and placement random.
 *
 * Source: 000_168dd5aef5075332.txt, 2.2 [L721]; spec fault-tolerance.md 6.2.
 * Cost: O(jobs + resources + starts * log resources).
 */
#include "algorithms/replication/replication.h"
#include "algorithms/replication/work.h"

enum { OPTION_CAPACITY_UNIT };

const struct param replication_fcfs_params[] = {
    [OPTION_CAPACITY_UNIT] = ROW_CAPACITY_UNIT,
    {0},
};

enum error_code replication_fcfs(const struct round_in *in, const double *param,
                                 struct round_out *out, struct arena *a,
                                 struct error *err)
{
    struct fill_rules rules = {
        .replicas_min = 1,
        .replicas_max = 1,
        .free_cpu_limit = 1,
        .placement = PLACE_RANDOM,
    };

    return work_fill_round(in, &rules, (enum capacity_unit)param[OPTION_CAPACITY_UNIT],
                           out, a, err);
}

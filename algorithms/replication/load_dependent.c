/* replication/load_dependent.c - copies while CPUs are free, fewer at peak hours.
 *
 *     limit = replicas_max if CA >= CL, else replicas_min
 *
 * The job that arrived first with fewer copies than the limit gets one, until no
 * CPU is free; so a job is filled before the next, and jobs that were cut short
 * get the rest when CPUs are free again. What was started counts: there is no
 * detection.
 *
 * Source: 002_6355fdf65728109f.txt, 4.1 [L175-L193]; 000_168dd5aef5075332.txt,
 * 4.4.1 [L1363-L1400], defaults [L1435]; spec fault-tolerance.md 6.4.
 * Cost: O(jobs + resources + starts * k log resources); the spec's loop rescans
 * the jobs after each start, which finds nothing new as CA only falls.
 */
#include "algorithms/replication/replication.h"
#include "algorithms/replication/work.h"

const struct param replication_load_dependent_params[] = {
    LOAD_ROWS,
    {0},
};

enum error_code replication_load_dependent(const struct round_in *in, const double *param,
                                           struct round_out *out, struct arena *a,
                                           struct error *err)
{
    struct fill_rules rules;

    TRY(work_load_rules(in, param, &rules, err));
    return work_fill_round(in, &rules, (enum capacity_unit)param[LOAD_CAPACITY_UNIT], out,
                           a, err);
}

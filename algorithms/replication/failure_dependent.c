/* replication/failure_dependent.c - load_dependent that replaces failed copies.
 *
 * Copies believed active count, so that a detected failure makes its job a
 * candidate again, in the order of the first arrival. Copies start from scratch.
 * An outage that nobody noticed leaves a copy that counts but is gone.
 *
 * Source: 002_6355fdf65728109f.txt, 4.2 [L195-L197]; 000_168dd5aef5075332.txt,
 * 4.4.2 [L1402-L1404]; spec fault-tolerance.md 6.6.
 * Cost: O(jobs + resources + starts * k log resources).
 */
#include "algorithms/replication/replication.h"
#include "algorithms/replication/work.h"

enum { OPTION_DETECTION = LOAD_OPTION_COUNT, OPTION_MAX_RESTARTS };

const struct param replication_failure_dependent_params[] = {
    LOAD_ROWS,
    [OPTION_DETECTION] = ROW_DETECTION,
    [OPTION_MAX_RESTARTS] = ROW_MAX_RESTARTS,
    {0},
};

enum error_code replication_failure_dependent(const struct round_in *in,
                                              const double *param, struct round_out *out,
                                              struct arena *a, struct error *err)
{
    struct fill_rules rules;

    TRY(work_load_rules(in, param, &rules, err));
    rules.counts_active = true;
    rules.starts_max = work_starts_max(rules.replicas_max, param[OPTION_MAX_RESTARTS]);
    return work_fill_round(in, &rules, (enum capacity_unit)param[LOAD_CAPACITY_UNIT], out,
                           a, err);
}

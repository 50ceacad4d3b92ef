/* migration/gridway_contract.h - does a job run as fast as was agreed?
 *
 *     observed = (value_last - value_first) / (t_last - t_first)
 *                over the last window + 1 samples; fewer, or equal times: no verdict
 *     violated if observed < (1 - tolerance_ratio) * expected_per_s
 *     its rate is then v(present) * observed / expected_per_s
 *
 * Without a metric the host tells: violated if both the job's part of the processor and
 * the idle part are below a threshold, so that it gets little although others are busy.
 *
 * Source: spec gridway.md 3.3; 004_f687c06842f61aec.txt section 2 names the idea.
 */
#ifndef GRIDPLAN_MIGRATION_GRIDWAY_CONTRACT_H
#define GRIDPLAN_MIGRATION_GRIDWAY_CONTRACT_H

#include "algorithms/migration/gridway.h"

struct gridway_contract {
    enum gridway_contract_state state;
    double observed_per_s; /* NAN: no verdict, or no metric */
    double rate_ratio;     /* observed over expected, >= 0; 1 without a verdict */
};

/* O(1). */
struct gridway_contract gridway_contract_check(const struct reschedule_job *job,
                                               double cpu_threshold_ratio);

#endif

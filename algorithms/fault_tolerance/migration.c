/* fault_tolerance/migration.c - one copy of each job, restarted from its image.
 *
 * Jobs whose resource has failed wait again, in the order of their first arrival,
 * and go on elsewhere from the last image that can be used; without one they start
 * anew. This is how every checkpointing policy recovers.
 *
 * Source: 000_168dd5aef5075332.txt, 2.2 [L727]; spec fault-tolerance.md 7.1. The
 * source does not say where jobs go in its checkpoint experiments: rule 6.1 is
 * ours. Cost: O(jobs + resources + starts * log resources).
 */
#include "algorithms/fault_tolerance/fault_tolerance.h"
#include "algorithms/replication/work.h"

enum { OPTION_PLACEMENT, OPTION_CAPACITY_UNIT, OPTION_DETECTION, OPTION_MAX_RESTARTS };

const struct param fault_tolerance_migration_params[] = {
    [OPTION_PLACEMENT] = ROW_PLACEMENT(PLACE_SPREAD),
    [OPTION_CAPACITY_UNIT] = ROW_CAPACITY_UNIT,
    [OPTION_DETECTION] = ROW_DETECTION,
    [OPTION_MAX_RESTARTS] = ROW_MAX_RESTARTS,
    {0},
};

static enum error_code turn_on(struct round_work *w, size_t job, size_t active_before)
{
    const struct round_action *start = &w->actions[w->action_count - 1];

    (void)active_before;
    if (!w->in->can_checkpoint)
        return OK;
    work_act(w, (struct round_action){.kind = ROUND_CHECKPOINT_ON,
                                      .job = job,
                                      .replica = start->replica,
                                      .resource = start->resource});
    return OK;
}

enum error_code fault_tolerance_migration(const struct round_in *in, const double *param,
                                          struct round_out *out, struct arena *a,
                                          struct error *err)
{
    struct fill_rules rules = {
        .replicas_min = 1,
        .replicas_max = 1,
        .free_cpu_limit = 1,
        .counts_active = true,
        .placement = (enum placement_rule)param[OPTION_PLACEMENT],
        .restarts_use_image = true,
        .starts_max = work_starts_max(1, param[OPTION_MAX_RESTARTS]),
    };
    struct round_work w;

    TRY(work_begin(&w, in, (enum capacity_unit)param[OPTION_CAPACITY_UNIT], a, err));
    w.target = 1;
    w.counts_active = true;
    w.starts_max = rules.starts_max;
    TRY(work_fill(&w, &rules, false, turn_on));
    work_end(&w, out);
    return OK;
}

/* workflow/simulation_presets.c - the experiments of chapters 5 and 6.
 *
 * What the source leaves open is as in the spec's own replications (workflows.md 10):
 * half of the resources have load U(0, 0.5), lengths of 2 h times U(0.05, 1.95), work for
 * half of what is free, input and output 16 s, no contention in the LAN.
 *
 * Source: spec workflows.md 9.1, 10; runtime-prediction.md 7.2, 9.2.
 */
#include "algorithms/workflow/simulation.h"

#include <math.h>

const char *const workflow_sim_preset_names[] = {
#define X(name, doc) #name,
    WORKFLOW_SIM_PRESETS(X)
#undef X
        NULL,
};

static struct workflow_sim_experiment chapter_5(void)
{
    struct evolution_setting evolution = evolution_setting_init();

    evolution.over_limit_ratio = (struct evolution_range){1, 1};
    evolution.under_base_ratio = 0;
    evolution.floor_factor = 1.001;
    return (struct workflow_sim_experiment){
        .grid = {.site_count = 4,
                 .resources_per_site = 32,
                 .mips_min = 0.1,
                 .mips_max = 4,
                 .n_max = 2,
                 .loaded_ratio = 0.5,
                 .external_ratio = 0.5,
                 .lan_mbps = 1000,
                 .lan_latency_s = 1e-3,
                 .wan_mbps = 5,
                 .wan_latency_min_s = 3e-3,
                 .wan_latency_max_s = 10e-3},
        .workload = {.shape = WORKFLOW_SIM_fork_join,
                     .parallelism = 10,
                     .tasks_mean = 10,
                     .levels = 3,
                     .nominal_ref_s = 7200,
                     .spread_ratio = 0.95,
                     .sweep = WORKFLOW_SIM_model,
                     .mix = WORKFLOW_SIM_fluctuating,
                     .evolution = evolution,
                     .initial_estimate = true,
                     .bytes = 1e9,
                     .checkpoint_bytes = 1e9,
                     .arrivals = WORKFLOW_SIM_lublin,
                     .load_ratio = 0.5},
        .settings = {.round_interval_s = 600,
                     .information_interval_s = 300,
                     .load_interval_s = 1200,
                     .load_change_min = 0.01,
                     .load_change_max = 1,
                     .checkpoint_s = 2,
                     .stage_in_s = 16,
                     .stage_out_s = 16,
                     .storage_site = WORKFLOW_SIM_NONE,
                     .fit_points = 500,
                     .horizon_s = 86400},
    };
}

struct workflow_sim_experiment workflow_sim_preset(enum workflow_sim_preset_kind preset)
{
    struct workflow_sim_experiment e = chapter_5();

    if (preset == WORKFLOW_SIM_ch5_workflow)
        return e;
    e.grid.mips_min = 0.5;
    e.grid.loaded_ratio = 0;
    e.workload.shape = WORKFLOW_SIM_layered;
    e.workload.mix = WORKFLOW_SIM_mixed;
    e.workload.evolution = evolution_setting_init();
    e.workload.initial_estimate = false;
    e.settings.load_interval_s = 0;
    e.settings.report_ratio = 0.005;
    return e;
}

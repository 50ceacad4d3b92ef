/* coallocation/simulation_presets.c - grids and settings of the source's experiments.
 *
 * Source: spec coallocation.md 20 (Tables 5.1, 5.2, 6.2 of the source, settings of 5.1
 * and 5.2), 20.2 (bandwidths), 20.5 (error rates), 21 (4 x 32); the source does not give
 * bandwidths and error rates.
 */
#include "algorithms/coallocation/simulation.h"

const char *const co_sim_grid_names[] = {
#define X(name, doc) #name,
    CO_SIM_GRIDS(X)
#undef X
        NULL,
};

static const struct co_sim_site table_5_1[] = {
    {"Delft", 64, 0}, {"Leiden", 56, 0}, {"Utrecht", 64, 0},
    {"UvA", 56, 0},   {"VU", 144, 0},
};
static const struct co_sim_site table_5_2[] = {
    {"Delft", 62, 0.6},
    {"Utrecht", 64, 0.05},
    {"UvA", 48, 0.05},
    {"VU", 138, 0.05},
};
static const struct co_sim_site table_6_2[] = {
    {"Delft", 60, 0}, {"Leiden", 36, 0}, {"Utrecht", 50, 0},
    {"UvA", 32, 0},   {"VU", 134, 0},
};
static const struct co_sim_site four_by_32[] = {
    {"site1", 32, 0}, {"site2", 32, 0}, {"site3", 32, 0}, {"site4", 32, 0}};

/* Those with Leiden last, so that a grid without it takes a prefix. */
static const struct co_link das[] = {
    {"VU", "UvA", 900, 0, true},       {"VU", "Delft", 500, 0, true},
    {"VU", "Utrecht", 400, 0, true},   {"UvA", "Delft", 450, 0, true},
    {"UvA", "Utrecht", 400, 0, true},  {"Delft", "Utrecht", 300, 0, true},
    {"VU", "Leiden", 600, 0, true},    {"Leiden", "UvA", 550, 0, true},
    {"Leiden", "Delft", 700, 0, true}, {"Leiden", "Utrecht", 350, 0, true},
};
enum { DAS_LINKS = sizeof(das) / sizeof(das[0]), WITHOUT_LEIDEN = 6 };

static const struct co_sim_grid grids[] = {
    [CO_SIM_GRID_table_5_1] = {table_5_1, 5, das, DAS_LINKS, (double)NAN},
    [CO_SIM_GRID_table_5_2] = {table_5_2, 4, das, WITHOUT_LEIDEN, (double)NAN},
    [CO_SIM_GRID_table_6_2] = {table_6_2, 5, das, DAS_LINKS, (double)NAN},
    [CO_SIM_GRID_four_by_32] = {four_by_32, 4, NULL, 0, 1000},
};

struct co_sim_grid co_sim_grid(enum co_sim_grid_kind kind)
{
    return grids[kind];
}

enum co_sim_grid_kind co_sim_grid_of(enum co_workload_kind kind)
{
    switch (kind) {
    case CO_WORKLOAD_unreliable:
        return CO_SIM_GRID_table_5_2;
    case CO_WORKLOAD_w_nc:
    case CO_WORKLOAD_w_c:
        return CO_SIM_GRID_table_6_2;
    default:
        return CO_SIM_GRID_table_5_1;
    }
}

struct co_sim_settings co_sim_presets(enum co_workload_kind kind)
{
    struct co_sim_settings s = {
        .background = {0.30, 0.03, 0.40, 0.7, 300, 30},
        .try_on_arrival = true,
        .scan_interval_s = 60,
        .weights = CO_SCAN_WEIGHTS,
        .scan = CO_SCAN_OPTIONS,
        .claim = CO_CLAIM_OPTIONS,
        .error_threshold = CO_ERROR_THRESHOLD,
        .unusable_cooldown_s = HUGE_VAL,
        .local_priority = true,
        .max_run_time_s = HUGE_VAL,
        .slowdown_ratio = 1,
        .horizon_s = 30 * 86400.0,
    };

    if (kind == CO_WORKLOAD_unreliable) {
        s.background.lower_ratio = 0.20;
        s.try_on_arrival = false;
        s.scan_interval_s = 240;
        s.weights.level[CO_HIGH] = 2;
        s.claim.t_threshold = 0;
    }
    return s;
}

/* plan/plan_simulation.h - multi-phase applications on random clusters whose loads
 * change.
 *
 * A run draws clusters (number, machines, speed, link capacity) and, for each epoch,
 * the loads of all machines and links; every policy then runs the application through
 * the same epochs:
 *
 *     single    one schedule, chosen at the start, for ever
 *     fixed     the plan made at the start
 *     remade    a new plan at each marker, for the loads of then
 *     no_model  all machines of the first cluster, for ever
 *
 * Epochs change never, after each phase, or after each interval. In the last case a
 * remade plan has an epoch for each of its own intervals, and the others meet the
 * epochs of the first remade policy (of an incremental one if there is none): with
 * phases on the same epochs as there.
 *
 * Source: spec rescheduling-plans.md 6.2, 6.3, 6.5; 003_a5f9349f46eae656.txt 5.5
 * [L1964-2123].
 */
#ifndef GRIDPLAN_PLAN_SIMULATION_H
#define GRIDPLAN_PLAN_SIMULATION_H

#include "algorithms/plan/machines.h"
#include "algorithms/plan/plan.h"

/* Substitutes for the source's applications, whose models are not published. */
enum plan_application { PLAN_APP_GIVEN, PLAN_APP_MD, PLAN_APP_LAMMPS, PLAN_APP_CHANGA };
extern const char *const plan_application_names[];

enum { PLAN_SUBSTITUTE_PHASES = 30 };

/* Phases of a substitute for clusters of about `machines` machines, `merged` of its 30
 * phases taken as one (1 .. 30). *count: how many. */
struct perf_terms *plan_substitute(enum plan_application application, double machines,
                                   size_t merged, size_t *count, struct arena *a);

enum plan_redraw { PLAN_REDRAW_NEVER, PLAN_REDRAW_INTERVAL, PLAN_REDRAW_PHASE };
extern const char *const plan_redraw_names[];

enum plan_sim_mode {
    PLAN_SIM_SINGLE,
    PLAN_SIM_FIXED,
    PLAN_SIM_REMADE,
    PLAN_SIM_NO_MODEL
};
extern const char *const plan_sim_mode_names[];

struct plan_sim_policy {
    enum plan_sim_mode mode;
    const struct policy *planner; /* of fixed and remade */
};

/* Drawn uniformly, the bounds included; choices likewise. */
struct plan_sim_grid {
    size_t sites_min, sites_max;           /* 1 <= min <= max */
    size_t machines_min, machines_max;     /* of a cluster; likewise */
    const double *cpu_scaling_factors;     /* computation times, > 0 */
    size_t factor_count;                   /* >= 1 */
    const double *capacities_mbps;         /* of links inside a cluster, > 0 */
    size_t capacity_count;                 /* >= 1 */
    double link_share_min, link_share_max; /* of the capacity, 0 < min <= max <= 1 */
    double cpu_min, cpu_max;               /* available, 0 < min <= max <= 1 */
    double intra_cost_s, inter_cost_s;     /* >= 0 */
};

struct plan_sim_in {
    enum plan_application application;
    size_t merged;                   /* phases of a substitute taken as one, >= 1 */
    const struct perf_terms *phases; /* PLAN_APP_GIVEN */
    size_t phase_count;
    struct plan_sim_grid grid;
    enum plan_redraw redraw;
    const struct plan_sim_policy *policies;
    size_t policy_count;  /* >= 1 */
    const double *option; /* of plan_common_params, bound */
    const struct policy *scheduler;
    const double *scheduler_param;
    uint64_t seed;
    struct budget *budget;
    struct arena *scratch; /* emptied after each question to the scheduler */
};

/* Figures of a policy in a run: name, meaning. */
#define PLAN_SIM_FIGURES(X)                                        \
    X(time_s, "Time of the application")                           \
    X(expected_s, "What was predicted at the start; NAN: nothing") \
    X(move_count, "Moves")
struct plan_sim_run {
#define X(name, doc) double name;
    PLAN_SIM_FIGURES(X)
#undef X
};

/* Plays run number `run`, with grids and loads of its own, under every policy. Fills
 * played[policy_count]; *is_cut: the budget ended, nothing else counts. The memory in the
 * arena may go afterwards. Errors: as plan_decide(). */
enum error_code plan_simulate(const struct plan_sim_in *in, size_t run,
                              struct plan_sim_run *played, bool *is_cut, struct arena *a,
                              struct error *err);

/* One policy over the runs. */
struct plan_sim_result {
    double mean_s, sd_s; /* total time over the runs; sd NAN with one run */
    double min_s, max_s;
    double expected_mean_s; /* predicted at the start */
    double mean_ratio;      /* to the best policy of the run */
    double mean_moves;
    size_t wins; /* runs in which no policy before it was as fast, none after faster */
};

/* Fills results[policies] of played[runs][policies], runs >= 1. */
void plan_sim_summarise(const struct plan_sim_run *played, size_t runs, size_t policies,
                        struct plan_sim_result *results);

#endif

/* simulation_run.h - several policies on the same scenario, several times: the
 * experiment (algorithms/simulation/experiment.h) of the grid simulator. */
#ifndef GRIDPLAN_SIMULATION_RUN_H
#define GRIDPLAN_SIMULATION_RUN_H

#include "algorithms/simulation/experiment.h"
#include "service/route.h"

enum { SIMULATION_RUNS_MAX = 20, SIMULATION_LABELS_MAX = 32 };

/* One policy that is compared. */
struct simulation_label {
    struct sim_policy policy;
    const char *algorithm;  /* as it was found in its table */
    const char *checkpoint; /* likewise; NULL: jobs are not checkpointed */
};

struct simulation_plan {
    const struct sim_scenario *scenario;
    const struct simulation_label *labels;
    size_t label_count;
    uint64_t seed, run_count;
    enum experiment_seeds seed_scheme;
    uint64_t max_events;      /* of all runs and labels together; 0: no limit */
    struct sim_output wanted; /* of the first run */
};

/* What came out for one label. */
struct simulation_result {
    struct sim_summary metrics[SIM_METRIC_COUNT];
    struct sim_run_out first; /* of the first run, if it is complete: its rows */
};

struct simulation_outcome {
    enum decision_status status;       /* DECISION_FEASIBLE, or _CUT: not all runs */
    bool events_spent;                 /* cut by max_events, not by the clock */
    struct simulation_result *results; /* by label */
    size_t *ranking;                   /* positions of labels, best first */
    uint64_t runs_completed, events_executed;
    uint64_t truncated_count; /* complete runs that ended when their workload did */
    double truncated_s;       /* the first of these instants; NAN: none */
};

/* Plays it, as simulation_experiment() does. */
enum error_code simulation_play(struct request *rq, const struct simulation_plan *plan,
                                struct simulation_outcome *out);

#endif

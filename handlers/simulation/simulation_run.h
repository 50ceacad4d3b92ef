/* simulation_run.h - several policies on the same scenario, several times.
 *
 * Every label meets the same jobs and failures in the run of the same number: its
 * seed follows from the request's. Runs are played one after the other, in
 * each all labels; what has been played of a run that could not be ended for all
 * labels does not count.
 */
#ifndef GRIDPLAN_SIMULATION_RUN_H
#define GRIDPLAN_SIMULATION_RUN_H

#include "algorithms/simulation/simulation.h"
#include "service/route.h"

enum { SIMULATION_RUNS_MAX = 20, SIMULATION_LABELS_MAX = 32 };

/* Where the seeds of the runs come from. */
enum simulation_seeds {
    SIMULATION_SEEDS_SPREAD,   /* the first is the request's, the others follow from it
                                  by splitmix64: neighbours share no run */
    SIMULATION_SEEDS_SEQUENCE, /* the request's and those after it */
};
extern const char *const simulation_seed_schemes[]; /* ended by NULL */

/* Seed of a run, below 2^53 if the request's is. */
uint64_t simulation_seed(uint64_t seed, enum simulation_seeds scheme, uint64_t run);

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
    enum simulation_seeds seed_scheme;
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

/* Plays it within rq->budget and keeps rq->progress up to date; games that are among
 * rq->parts are not played again. */
enum error_code simulation_play(struct request *rq, const struct simulation_plan *plan,
                                struct simulation_outcome *out);

#endif

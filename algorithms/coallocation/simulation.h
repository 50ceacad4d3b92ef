/* coallocation/simulation.h - the reference simulator of co-allocation.
 *
 * Clusters with local queueing systems, local jobs and a controller of their load; a
 * stream of parallel jobs with files; the scheduler itself, that is, the very functions
 * of this folder: co_place() at an arrival and in scans of the placement queues, the
 * claiming of processors near the job start time, the counting of soft errors. At equal
 * times: ends, arrivals, claims, the monitor of the load, scans.
 *
 *     local jobs   Poisson, sizes 2, 4, 8, 16 equally likely, exponential run times;
 *                  FCFS on their cluster, the first that does not fit blocks the others
 *     controller   every interval: load < lower_ratio: dummy jobs fill it up to
 *                  lower_ratio + add_ratio, as far as processors are idle;
 *                  load > upper_ratio: its dummy jobs are removed
 *     claim        needs idle processors and, with local_priority, no local job waiting
 *     run          from JST; runtime, times slowdown_ratio on more than one site
 *
 * Pure: all numbers are drawn from streams of the seed, those of local jobs apart for
 * each site, so that policies meet the same arrivals.
 *
 * Source: spec coallocation.md 20, 21; 001_546dfcc428821807 5.1, 5.2, 5.3, 6.2.
 */
#ifndef GRIDPLAN_COALLOCATION_SIMULATION_H
#define GRIDPLAN_COALLOCATION_SIMULATION_H

#include "algorithms/coallocation/claim.h"
#include "algorithms/coallocation/faults.h"
#include "algorithms/coallocation/metrics.h"
#include "algorithms/coallocation/scan.h"
#include "algorithms/coallocation/workload.h"

struct co_sim_site {
    const char *id;
    size_t processors;    /* >= 1 */
    double failure_ratio; /* a component that starts there meets a soft error; 0 .. 1 */
};

/* Sites of the source, with the links of spec 20.2 between them, and those of the
 * simulation studies: name, what they are. */
#define CO_SIM_GRIDS(X)                                                                \
    X(table_5_1, "DAS-2: 144, 64, 64, 56, 56 processors")                              \
    X(table_5_2, "DAS-2 without Leiden: 138, 64, 62, 48; 60 % of the starts at Delft " \
                 "fail, 5 % elsewhere")                                                \
    X(table_6_2, "DAS-2: 134, 60, 50, 36, 32 processors")                              \
    X(four_by_32, "4 equal sites of 32 processors, 1000 Mbit/s between them")

enum co_sim_grid_kind {
#define X(name, doc) CO_SIM_GRID_##name,
    CO_SIM_GRIDS(X)
#undef X
        CO_SIM_GRID_COUNT
};
extern const char *const co_sim_grid_names[]; /* ended by NULL */

struct co_sim_grid {
    const struct co_sim_site *sites;
    size_t site_count; /* 1 .. CO_SITES_MAX */
    const struct co_link *links;
    size_t link_count;
    double default_bandwidth_mbps; /* NAN: none */
};

/* One of the grids above; their text is constant. */
struct co_sim_grid co_sim_grid(enum co_sim_grid_kind kind);

/* Load by local jobs. */
struct co_sim_background {
    double lower_ratio;        /* 0: no controller and, with it, no local jobs */
    double add_ratio;          /* dummies up to lower_ratio + this */
    double upper_ratio;        /* dummies are removed above it */
    double local_ratio;        /* local jobs come at this share of lower_ratio */
    double local_run_time_s;   /* mean, > 0 */
    double monitor_interval_s; /* > 0 */
};

struct co_sim_settings {
    struct co_sim_background background;
    bool try_on_arrival;
    bool event_driven;      /* a scan of all queues after every arrival and end, none by
                               the clock */
    double scan_interval_s; /* > 0; without event_driven */
    struct co_scan_weights weights;
    struct co_scan_options scan;
    struct co_claim_options claim;
    size_t error_threshold;     /* soft errors in a row that make a site unusable, >= 1 */
    double unusable_cooldown_s; /* until it is taken back; infinite: never */
    bool avoid_failed_sites;    /* a job that failed avoids the site, if it can */
    bool local_priority;        /* a waiting local job bars claims at its site */
    double max_run_time_s;      /* longer runs are ended and have failed; infinite: no
                                  limit */
    double slowdown_ratio;      /* run time on several sites over that on one; > 0 */
    size_t backlog;   /* > 0: jobs arrive so that as many wait all the time, not at their
                         times; maximal_utilisation_ratio is measured */
    double warmup_s;  /* left out of that, >= 0 */
    double horizon_s; /* it ends then, > 0 */
};

/* What the source's experiment with that stream had, and where it ran. */
struct co_sim_settings co_sim_presets(enum co_workload_kind kind);
enum co_sim_grid_kind co_sim_grid_of(enum co_workload_kind kind);

struct co_sim_in {
    struct co_sim_grid grid;
    const struct co_sim_job *jobs; /* by submit_s */
    size_t job_count;
    const struct policy *policy;
    const double *param; /* of policy_bind() */
    struct co_sim_settings settings;
    uint64_t seed;
    struct budget *budget; /* NULL: none; a step is an event */
    struct arena *scratch; /* emptied after every question to the scheduler */
};

/* Figures of a run besides those of struct co_metrics: name, meaning. */
#define CO_SIM_FIGURES(X)                                                              \
    X(mean_response_s, "From submission to end, mean over the jobs that ended")        \
    X(local_mean_response_s, "The same of local jobs")                                 \
    X(median_placement_s, "Median of total_placement_s")                               \
    X(end_after_last_arrival_s, "From the last arrival to the last end")               \
    X(maximal_utilisation_ratio,                                                       \
      "Busy share of all processors after the warm-up, while jobs wait; null: no "     \
      "backlog was kept")                                                              \
    X(background_exceeded_s,                                                           \
      "Longest time that a site without dummy jobs was above upper_ratio; the source " \
      "repeated runs with more than a minute")

/* Counts of a run: name, meaning. */
#define CO_SIM_COUNTS(X)                                                      \
    X(failed_count, "Jobs that were given up: too many tries, ran too long")  \
    X(never_fit_count, "Jobs that the grid could never hold")                 \
    X(unfinished_count, "Jobs that had not ended at the horizon")             \
    X(requeue_count, "Returns to the placement queues from failed claims")    \
    X(preemption_count, "Jobs stopped for others")                            \
    X(soft_error_count, "Runs that ended by a soft error")                    \
    X(replaced_count, "Components that a claim moved to another site")        \
    X(promotion_count, "Moves to a higher queue")                             \
    X(unusable_site_count, "Sites that were taken out after too many errors") \
    X(event_count, "Events that were played")

struct co_sim_out {
    bool is_cut; /* the budget was spent: nothing else counts */
    struct co_metrics metrics;
#define X(name, doc) double name;
    CO_SIM_FIGURES(X)
#undef X
#define X(name, doc) size_t name;
    CO_SIM_COUNTS(X)
#undef X
    const struct co_run_job *records; /* of each job */
    const bool *site_unusable;        /* of each site of the grid, in its order */
    double processor_seconds;         /* of all runs, also those that were stopped */
};

/* Plays one run. Fails with ERR_INVALID where grid or jobs make no sense. O(log n) for
 * an event, and what the scheduler takes. */
enum error_code co_simulate(const struct co_sim_in *in, struct co_sim_out *out,
                            struct arena *a, struct error *err);

#endif

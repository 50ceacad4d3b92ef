/* coallocation/metrics.h - what a schedule of co-allocated jobs was worth.
 *
 * From records of runs (when a job entered the queue, was placed, claimed processors,
 * started and ended) come the shares of the processors, the waiting times, the spread
 * over sites and the failures, for each job, for each size of jobs ("4x16": 4 components
 * of 16 processors) and for all.
 *
 *     runs      processors (end - start) of the run that ended
 *     wasted    processors (JST - claim) of all that was claimed: held, not working
 *     gained    processors (claim - JPT) of the same: others could use them
 *     total     background + runs + wasted
 *
 * each over capacity * window, of what lies in the window. A time that is not known is
 * NAN; so is a figure without anything to count.
 *
 * Source: spec coallocation.md 7, 16; 001_546dfcc428821807 4.1, 5.1, 5.2, 6.2.
 */
#ifndef GRIDPLAN_COALLOCATION_METRICS_H
#define GRIDPLAN_COALLOCATION_METRICS_H

#include "models/base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct co_run_component {
    size_t site; /* any numbers, one for each site */
    size_t processors;
    double claimed_s; /* NAN: not claimed */
    bool has_progress;
    double progress_ratio; /* share of its work that is done, 0..1, if that is known */
};

/* A placement of a job: the first, and one for each time it came back. */
struct co_run_placement {
    double queue_entry_s, jpt_s, jst_s;
    const struct co_run_component *components;
    size_t component_count; /* >= 1 */
    bool started;           /* all components were claimed and launched */
    bool failed_soft;       /* and then a soft error brought the job back */
};

struct co_run_job {
    double submit_s;
    double deployed_s;        /* its runner began to deploy it; NAN: not known */
    double start_s, finish_s; /* of the run that ended; NAN: there is none (yet) */
    const struct co_run_placement *placements; /* in their order */
    size_t placement_count;
    double placement_tries, claim_tries; /* NAN: not known */
};

struct co_metrics_in {
    const struct co_run_job *jobs;
    size_t job_count;
    double capacity_processors; /* > 0 */
    double window_start_s, window_end_s;
    double background_processor_s; /* of local jobs in the window; NAN: not known */
};

/* Figures of a job: name, meaning. */
#define CO_JOB_FIGURES(X)                                                              \
    X(placement_s, "Time in the placement queue, the last time")                       \
    X(total_placement_s, "Time in the placement queue, all times together")            \
    X(transfer_s, "Estimated time of its longest transfer (FTT), the last time")       \
    X(gained_s, "From placement to claim (PGT), mean over the processors")             \
    X(wasted_s, "From claim to start (PWT), mean over the processors")                 \
    X(waiting_s, "From submission to the start of the run that ended (TWT)")           \
    X(start_delay_s, "Job start time of the run that ended less that of the first "    \
                     "placement")                                                      \
    X(run_time_s, "From start to end")                                                 \
    X(start_overhead_s, "From deploying to start (STO)")                               \
    X(spread_ratio, "Execution sites over components, the last time; 1 with a single " \
                    "component")                                                       \
    X(co_allocated_ratio, "1: on more than one site, else 0; the last time")           \
    X(failure_ratio, "Runs that ended by a soft error over runs")                      \
    X(failures, "Runs that ended by a soft error")                                     \
    X(placement_tries, "Tries to place it")                                            \
    X(claim_tries, "Tries to claim its processors")

struct co_job_figures {
#define X(name, doc) double name;
    CO_JOB_FIGURES(X)
#undef X
};

/* Jobs of one size: means over those that have the figure. */
struct co_size_metrics {
    size_t component_count, processors; /* of the first placement's largest component */
    size_t job_count;
    struct co_job_figures mean;
    double placement_p25_s, placement_p50_s, placement_p90_s; /* of total_placement_s */
};

/* Figures of all: name, meaning. */
#define CO_RUN_FIGURES(X)                                                             \
    X(background_load_ratio, "Share of the processors that local jobs used")          \
    X(job_load_ratio, "Share that the jobs used while they ran")                      \
    X(wasted_ratio, "Share that was claimed and waited for the start (PWT)")          \
    X(gained_ratio, "Share that was placed on and others could use (PGT)")            \
    X(total_load_ratio, "background + jobs + wasted")                                 \
    X(throughput_per_min, "Jobs that started for good, per minute of the window")     \
    X(failure_ratio, "Runs that ended by a soft error over runs")                     \
    X(co_allocated_ratio, "Share of the placed jobs that were on more than one site") \
    X(max_queue_length, "Most jobs in the placement queues at once")

struct co_metrics {
    size_t job_count, placed_count, started_count, finished_count;
#define X(name, doc) double name;
    CO_RUN_FIGURES(X)
#undef X
    struct co_job_figures mean;       /* over the jobs that have the figure */
    const struct co_job_figures *job; /* of each */
    const struct co_size_metrics *sizes;
    size_t size_count; /* by component count, then processors */
};

/* O(n log n) in jobs and placements. */
enum error_code co_metrics(const struct co_metrics_in *in, struct co_metrics *out,
                           struct arena *a, struct error *err);

/* Co-allocation skew of a job: the progress of the fastest component of a placement less
 * that of the slowest, of those of which it is known; NAN: it is of fewer than two, and
 * there are others. Source: spec coallocation.md 15, rule SQ. */
double co_skew(const struct co_run_placement *placement);

/* Jobs that run or have ended by each instant: started_by[count]. O(n log n). */
void co_cumulative(const struct co_run_job *jobs, size_t job_count, const double *at_s,
                   size_t count, size_t *started_by, struct arena *a);

/* The p-th percentile (0 .. 100) of sorted values, linear between order statistics; NAN
 * of none. */
double co_percentile(const double *sorted, size_t count, double p);

#endif

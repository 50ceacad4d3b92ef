/* simulation/simulation.h - a discrete-event simulator of a grid.
 *
 * A scenario says what the grid is, which jobs arrive and how resources fail; a
 * policy says what a scheduler does about it. sim_run() plays one run of both and
 * fills its figures; the policies are the very functions that the service calls.
 *
 * All randomness comes from streams named by purpose and entity ("job.arrival",
 * "cr17.failure"), so that every policy meets the same jobs and the same failures
 * for the same seed. The same input gives the same output, to the bit.
 *
 * Units: s, bytes, MI (10^6 instructions), MIPS, Mbit/s. Time 0 is the start; inside,
 * time is whole milliseconds. Names in byte order break ties.
 *
 * A job takes one slot of one resource, however many CPUs it names.
 *
 * Memory is bounded by the jobs that are alive, not by those that have been: finished
 * ones leave nothing but what sim_output asks for. Cost: O(log n) an event for n
 * pending ones, plus what the policy's rounds cost.
 *
 * Source: spec simulator.md; fault-tolerance.md 2, 4, 6 and 9; 000_168dd5aef5075332
 * (T) 2 and 4; 002_6355fdf65728109f (P) 3.4.
 */
#ifndef GRIDPLAN_SIMULATION_H
#define GRIDPLAN_SIMULATION_H

#include "algorithms/checkpoint/checkpoint.h"
#include "algorithms/replication/round.h"
#include "models/base/budget.h"
#include "models/distribution.h"
#include "models/failure_stats.h"

struct workload; /* workload.h */
struct policy;   /* vm.h */

/* Longest run and largest instant: 3,168 years. */
#define SIM_TIME_MAX_S 1e11

/* ---- the grid ---- */

enum sim_sharing {
    SIM_SHARING_EQUAL,    /* running jobs share the speed equally */
    SIM_SHARING_FRACTION, /* each runs at the speed it demands; admitted while that fits
                           */
};

/* Load from outside the grid that goes up or down from time to time. */
struct sim_load {
    double interval_s;                    /* between changes, > 0; 0: no such process */
    struct distribution change_percent;   /* of the load at the start; sign 1/2 */
    struct distribution initial_fraction; /* of mips_total */
};

/* Load from outside by a trace: it is mips_external from at_s on. */
struct sim_load_point {
    double at_s, mips_external; /* >= 0; ascending instants */
};

/* What a trace says of one resource. */
struct sim_trace {
    const struct failure_interval
        *outages; /* any order, may overlap; NAN end: for ever */
    size_t outage_count;
    const struct sim_load_point *load;
    size_t load_count;
};

/* Failures that come together: when a member fails of its own, every other member
 * that is up fails too with the probability, after a delay that is uniform up to
 * burst_delay_s. */
enum sim_burst_rate {
    SIM_BURST_KEPT,  /* own failures are rarer, so that the mean time stays as stated:
                        times of being up are multiplied by 1 + p (members - 1) */
    SIM_BURST_ADDED, /* bursts come on top */
};
extern const char *const sim_burst_rate_names[]; /* ended by NULL */

struct sim_failure_group {
    double burst_probability; /* 0..1 */
    double burst_delay_s;     /* >= 0 */
    enum sim_burst_rate burst_rate;
};

#define SIM_NO_FAILURE_GROUP SIZE_MAX

/* Resources that are alike. One has the id as it is; several have it followed by
 * first_number, first_number + 1 ... */
struct sim_group {
    const char *id;
    const char *pointer; /* JSON pointer, for what is wrong with it; NULL: /groups/N */
    size_t count;        /* >= 1 */
    size_t first_number; /* with count 1, 0: no number at all */
    size_t site;         /* index in the scenario's sites */
    size_t node;         /* 1 + its node in the network; 0: that of its site */
    struct distribution mips_total; /* drawn for each: stream ID.mips */
    size_t n_max;                   /* jobs at once, >= 1 */
    enum sim_sharing sharing;
    double register_s; /* when they join, >= 0 */
    bool fails;        /* by the two distributions, seconds */
    struct distribution failure, restore;
    size_t failure_group;           /* index; SIM_NO_FAILURE_GROUP: none */
    const struct sim_trace *traces; /* NULL, or `count` of them: instead of the above */
    struct sim_load load;
};

enum sim_initial_state { SIM_INITIAL_UP, SIM_INITIAL_STATIONARY };
enum sim_network_mode { SIM_NETWORK_NONE, SIM_NETWORK_FIXED, SIM_NETWORK_SHARED };
enum sim_detection { SIM_DETECTION_INCARNATION, SIM_DETECTION_POLL };

/* Names on the wire, by the enums, ended by NULL. */
extern const char *const sim_sharing_names[];
extern const char *const sim_initial_state_names[];
extern const char *const sim_network_mode_names[];
extern const char *const sim_detection_names[];

/* A node of the network is a number: below site_count it is that site's, site_count that
 * of the services (storage and checkpoint server, unless they say otherwise), beyond it
 * site_count + 1 + index in the nodes of the network. */

enum sim_link_kind { SIM_LINK_LAN, SIM_LINK_WAN };
extern const char *const sim_link_kind_names[]; /* by enum, ended by NULL */

struct sim_link {
    const char *id;
    enum sim_link_kind kind; /* lan: shared by its transfers; wan: each gets all of it */
    double bandwidth_mbps, latency_s;
};

enum { SIM_ROUTE_LINKS_MAX = 8 };

/* The way between two nodes, in both directions unless the other one has its own. */
struct sim_route {
    size_t from, to; /* nodes */
    const size_t *links;
    size_t link_count; /* at most SIM_ROUTE_LINKS_MAX */
};

/* Where inputs are and outputs go. With several, a transfer uses the one that is nearest
 * by time alone, an output the nearest that has room; ties: the first. */
struct sim_storage {
    const char *id;
    size_t node;           /* 1 + its node; 0: the services */
    double capacity_bytes; /* for outputs; 0: no limit */
};

/* Where images are. The first of several takes all (spec 3.4). */
struct sim_checkpoint_server {
    const char *id;
    size_t node; /* 1 + its node; 0: the services */
};

struct sim_network {
    enum sim_network_mode mode;
    /* fixed: every transfer alone */
    double bandwidth_mbps, latency_s;
    /* shared: a star in each site, the switches joined pairwise */
    double lan_mbps, lan_latency_s;    /* of each resource's link */
    double wan_share_mbps;             /* of each route; infinite: no limit */
    struct distribution wan_latency_s; /* drawn for each pair of sites */
    /* shared, instead of these: links and routes one by one. A transfer between two
     * resources without a route goes by way of the first storage. */
    const struct sim_link *links;
    size_t link_count; /* 0: the star above */
    const struct sim_route *routes;
    size_t route_count;
    const char *const *nodes; /* names of those that are neither sites nor services */
    size_t node_count;
};

/* Constant delays, seconds, >= 0 (spec 6). */
struct sim_overhead {
    double is_query_s, prediction_s, scheduling_s, rescheduling_s;
    double dispatch_s; /* before the input of each start */
    double rollback_s; /* before each restart from an image runs */
};

/* A scenario says nothing of policies; one that sim_scenario_prepare() accepts can
 * be run with any. All that it points to must stay. */
struct sim_scenario {
    const char *const *sites; /* names */
    size_t site_count;
    const struct sim_group *groups;
    size_t group_count;
    const struct sim_failure_group *failure_groups;
    size_t failure_group_count;

    enum sim_initial_state initial_state;
    double warm_up_s;            /* stationary: failures begin so long before time 0 */
    double is_interval_s;        /* period of the information service; 0: immediate */
    double scheduler_interval_s; /* 0: after each instant at which something changed */
    struct sim_network network;
    struct sim_overhead overhead;
    double storage_bytes; /* for output; 0: no limit; without storages */
    const struct sim_storage *storages;
    size_t storage_count; /* 0: one with storage_bytes, at the services */
    const struct sim_checkpoint_server *checkpoint_servers;
    size_t checkpoint_server_count; /* 0: one at the services */
    enum sim_detection detection;

    const struct workload *workload; /* prepared */

    double stop_time_s;  /* end of the run, > 0, at most SIM_TIME_MAX_S */
    uint64_t stop_jobs;  /* end when so many jobs are done, rejected or lost for good; 0:
                            no  matter */
    bool stop_when_done; /* end when no job will come any more and none is left */
    double stable_after_s; /* figures are of what comes after, and of jobs that do */
    uint64_t max_events;   /* 0: no limit */
};

/* Scenario with everything at its preset: no network, immediate information service,
 * scheduling after each instant, warm-up 8 weeks. */
struct sim_scenario sim_scenario_preset(void);

/* Checks all but the workload, and prepares the distributions, in copies of the groups
 * in the arena. Collects every mistake, with JSON pointers below `pointer` ("" at the
 * top): PREFIX/stop/time_s, PREFIX/stop/jobs, PREFIX/stable_after_s, PREFIX/warm_up_s,
 * PREFIX/information_service/interval_s, PREFIX/scheduler/interval_s,
 * PREFIX/network/NAME, PREFIX/network/links/N/NAME, PREFIX/network/routes/N/NAME,
 * PREFIX/overhead_s/NAME, PREFIX/storage_bytes, PREFIX/storage_resources/N/NAME,
 * PREFIX/checkpoint_servers/N/NAME, PREFIX/failure_groups/N/NAME; of a group, its own
 * pointer and /NAME. */
enum error_code sim_scenario_prepare(struct sim_scenario *s, const char *pointer,
                                     struct arena *a, struct error *err);

/* Names of all resources, each with its group: in byte order, which is that of `resource`
 * in a job of the workload. The scenario must be prepared. */
struct sim_resource_name {
    const char *id;
    size_t group;
    size_t number; /* in the group, from 0 */
};
void sim_resource_names(const struct sim_scenario *s,
                        const struct sim_resource_name **names, size_t *count,
                        struct arena *a);

/* ---- the policy ---- */

/* What the scheduler does. Without a round and without a VM policy only jobs that the
 * workload itself puts on a resource run. */
struct sim_policy {
    const char *label;
    const struct policy *round; /* NULL: none */
    const double *round_param;  /* bound: a value for each row */
    /* How jobs are checkpointed; NULL: they are not. Every running job, unless the
     * round policy says itself which (ROUND_CHECKPOINTS). */
    const struct policy *checkpoint;
    const double *checkpoint_param;
    /* Sessions: placed at once or rejected; NULL: none. All resources must share by
     * fraction. */
    const struct policy *vm;
    const double *vm_param;
};

/* ---- what comes out ---- */

/* name (with its unit), meaning. A ratio or mean without any case is NAN. "After the
 * warm-up" goes without saying. */
#define SIM_METRICS(X)                                                                   \
    X(jobs_submitted, "Jobs that arrived")                                               \
    X(jobs_assigned, "Jobs that were assigned to a resource at least once")              \
    X(jobs_done, "Jobs that finished")                                                   \
    X(jobs_lost, "Jobs of which every replica failed and nobody knows (spec 6.1)")       \
    X(jobs_rejected, "Jobs that were turned away")                                       \
    X(jobs_left, "Jobs that wait or run at the end")                                     \
    X(jobs_lost_ratio, "Lost, of those lost or done")                                    \
    X(jobs_per_hour, "Throughput: jobs done per hour")                                   \
    X(copies_started, "Assignments to resources, replicas included")                     \
    X(copies_done, "Replicas that finished")                                             \
    X(copies_failed, "Replicas that failed with their resource")                         \
    X(copies_cancelled, "Replicas that were cancelled")                                  \
    X(starts_refused, "Assignments that a resource refused: it was down or full")        \
    X(migrations, "Running jobs that were moved")                                        \
    X(job_turnaround_s, "Mean time from submission to stored output")                    \
    X(job_wait_s, "Mean time from submission to the first assignment")                   \
    X(job_run_time_s, "Mean time from the first assignment to stored output")            \
    X(job_execution_s, "Mean time the finished replica was on its resource, from its "   \
                       "start to the end of its work")                                   \
    X(job_length_mi, "Mean length of jobs done")                                         \
    X(failed_length_mi, "Mean length of jobs of which a replica failed, once a failure") \
    X(makespan_s, "From the first submission to the last completion")                    \
    X(checkpoints_per_job, "Checkpoints taken of a job, all its replicas, mean over "    \
                           "jobs done")                                                  \
    X(checkpoints_taken, "Checkpoints taken")                                            \
    X(checkpoints_omitted, "Requests that a checkpoint policy turned down")              \
    X(availability_ratio, "Mean over resources of their time up")                        \
    X(failures, "Failures of resources")                                                 \
    X(failures_detected, "Replicas that the scheduler found failed")                     \
    X(submitted_mi, "Work submitted")                                                    \
    X(processed_mi, "Work processed by all resources")                                   \
    X(useful_mi, "Work of jobs done")                                                    \
    X(useful_ratio, "Work of jobs done, of work processed")                              \
    X(useful_work_fraction, "Work of jobs done, of work submitted")                      \
    X(processed_ratio, "Work processed, of work submitted")                              \
    X(utilisation_ratio, "Work processed, of what all resources could have done up")     \
    X(non_idle_ratio, "Mean over resources of the time with a job")                      \
    X(fully_loaded_ratio, "Mean over resources of the time with n_max jobs")             \
    X(jobs_on_resource, "Mean number of jobs running on a resource")                     \
    X(light_sessions, "Sessions at or below the light threshold")                        \
    X(light_sessions_accepted, "Of these, placed")                                       \
    X(heavy_sessions, "Sessions above the light threshold")                              \
    X(heavy_sessions_accepted, "Of these, placed")                                       \
    X(cpu_demand_ratio, "Mean share of a resource that accepted jobs demand")            \
    X(fairness_ratio, "Jain index of the work done for each user; 1: equal")             \
    X(input_bytes, "Input brought to resources")                                         \
    X(output_bytes, "Output brought to storage")                                         \
    X(checkpoint_bytes, "Images brought to the checkpoint server")                       \
    X(restart_bytes, "Images brought to resources")                                      \
    X(storage_used_bytes, "Mean space that outputs take")                                \
    X(storage_refused, "Outputs for which there was no space")                           \
    X(rounds, "Rounds of the scheduler")                                                 \
    X(rounds_skipped, "Rounds that could not have decided anything")                     \
    X(events, "Events executed")                                                         \
    X(simulated_s, "Time simulated")

#define X(name, doc) SIM_METRIC_##name,
enum sim_metric { SIM_METRICS(X) SIM_METRIC_COUNT };
#undef X

struct sim_metrics {
#define X(name, doc) double name;
    SIM_METRICS(X)
#undef X
};

struct sim_metric_row {
    const char *name, *doc;
};
extern const struct sim_metric_row sim_metric_rows[]; /* by enum, ended by {0} */

static inline double sim_metric(const struct sim_metrics *m, enum sim_metric metric)
{
    return ((const double *)m)[metric];
}

/* One resource. */
struct sim_resource_row {
    const char *resource_id, *site_id;
    double mips_total;
    double availability_ratio, downtime_s;
    double non_idle_s, fully_loaded_s;
    double processed_mi;
    uint64_t failures;
    uint64_t copies_started;           /* assignments: input that was sent here */
    uint64_t jobs_done;                /* replicas that finished here */
    double received_bytes, sent_bytes; /* between it and storage, or other resources */
};

/* One storage resource. */
struct sim_storage_row {
    const char *storage_id;
    double used_mean_bytes, used_end_bytes; /* by outputs */
    uint64_t refused_count;                 /* outputs for which it had no room, being the
                                               nearest when none had */
};

/* A pair of nodes between which something moved, or jobs were sent: from the storage to
 * the resource. */
struct sim_path_row {
    const char *from_node_id, *to_node_id;
    uint64_t jobs_allocated;
    double jobs_allocated_ratio; /* of all assignments; NAN: there are none */
    uint64_t transfer_count;
    double bytes;
};

enum sim_job_state {
    SIM_JOB_WAITING, /* at the end of the run */
    SIM_JOB_RUNNING, /* likewise */
    SIM_JOB_DONE,
    SIM_JOB_LOST,
    SIM_JOB_REJECTED,
};
extern const char *const sim_job_state_names[];

/* One job, as it ended. */
struct sim_job_row {
    uint64_t number; /* from 1, in the order of arrival */
    size_t given;    /* index in what the workload was given; SIZE_MAX: generated */
    enum sim_job_state state;
    double length_mi;
    double arrival_s;
    double start_s, finish_s; /* first assignment, completion; NAN: none */
    const char *resource_id;  /* of the replica that finished, or runs; NULL: none */
    size_t started_count, failed_count; /* replicas */
    size_t checkpoint_count;
    double processed_mi; /* work of all its replicas, lost work included */
};

#define SIM_LOG_KINDS(X)                        \
    X(RESOURCE_ADD, "Resource.Add")             \
    X(JOB_SUBMIT, "Job.Submit")                 \
    X(JOB_REJECT, "Job.Reject")                 \
    X(JOB_START, "Job.Start")                   \
    X(JOB_REFUSE, "Job.Refuse")                 \
    X(JOB_RUN, "Job.Run")                       \
    X(JOB_WORK_DONE, "Job.WorkDone")            \
    X(JOB_DONE, "Job.Done")                     \
    X(JOB_CANCEL, "Job.Cancel")                 \
    X(JOB_FAIL, "Job.Fail")                     \
    X(JOB_DETECT, "Job.Detect")                 \
    X(JOB_MIGRATE, "Job.Migrate")               \
    X(CHECKPOINT_REQUEST, "Checkpoint.Request") \
    X(CHECKPOINT_DONE, "Checkpoint.Done")       \
    X(CHECKPOINT_STORED, "Checkpoint.Stored")   \
    X(RESOURCE_FAIL, "CR.Fail")                 \
    X(RESOURCE_RESTORE, "CR.Restore")           \
    X(RESOURCE_LOAD, "CR.Load")                 \
    X(INFORMATION_POLL, "IS.Poll")              \
    X(SCHEDULER_RUN, "Sched.Run")               \
    X(END, "End")

#define X(symbol, name) SIM_LOG_##symbol,
enum sim_log_kind { SIM_LOG_KINDS(X) SIM_LOG_KIND_COUNT };
#undef X
extern const char *const sim_log_kind_names[]; /* by enum, ended by NULL */

/* One line of the log. */
struct sim_log_row {
    double at_s;
    enum sim_log_kind kind;
    double job_number;       /* from 1; NAN: none */
    const char *resource_id; /* NULL: none */
    double value; /* CR.Load: mips_external; Checkpoint.Stored, Job.Run: progress in MI;
                     NAN: none */
};

/* What is wanted beside the metrics. */
struct sim_output {
    bool per_resource; /* storages too */
    bool per_path;
    size_t job_rows_max; /* 0: none; the first ones that end, then those left */
    size_t log_rows_max; /* 0: none; the first ones */
};

/* How far a run has come; written every few thousand events, before the budget is
 * asked, so that its function can look. */
struct sim_progress {
    uint64_t events;
    double time_ratio; /* 0..1 */
};

struct sim_run_out {
    enum decision_status status; /* DECISION_FEASIBLE; _CUT: budget or max_events */
    double truncated_s; /* the run ended then, before its time, as more jobs would have
                           come than the workload may have; NAN: it did not */
    struct sim_metrics metrics;
    const struct sim_resource_row *resources; /* by id */
    size_t resource_count;
    const struct sim_storage_row *storages;
    size_t storage_count;
    const struct sim_path_row *paths; /* by names */
    size_t path_count;
    const struct sim_job_row *jobs;
    size_t job_count;
    const struct sim_log_row *log;
    size_t log_count;
    uint64_t event_hash; /* of all events executed: equal runs have equal ones */
};

/* Plays one run. `budget` (may be NULL) is polled; max_steps adds to max_events.
 * `wanted` and `progress` may be NULL. Working memory is private and given back; only
 * rows go into the arena, whose free space also bounds the working memory. Fails with
 * what the workload, a distribution or a policy's options make fail. The scenario must be
 * prepared. */
enum error_code sim_run(const struct sim_scenario *scenario,
                        const struct sim_policy *policy, uint64_t seed,
                        struct budget *budget, const struct sim_output *wanted,
                        struct sim_progress *progress, struct sim_run_out *out,
                        struct arena *a, struct error *err);

/* ---- several runs ---- */

/* Over the runs in which the figure is known. */
struct sim_summary {
    size_t count;
    double mean;     /* NAN: count 0 */
    double variance; /* of the sample, n - 1; NAN below 2 */
    double ci95;     /* half width of the 95 % confidence interval; NAN below 2 */
};

struct sim_summary sim_summarise(const double *values, size_t count);

/* Likewise of values[0], values[step], values[2 * step] ... */
struct sim_summary sim_summarise_every(const double *values, size_t count, size_t step);

/* ---- presets (presets.c, spec 14) ---- */

struct sim_preset {
    const char *name, *purpose;
};

/* Names of all presets, ended by {0}. */
extern const struct sim_preset sim_presets[];

/* Fills the scenario, workload included; what it points to is in the arena.
 * ERR_NOT_FOUND when there is no preset of that name. */
enum error_code sim_preset_load(const char *name, struct sim_scenario *out,
                                struct arena *a, struct error *err);

#endif

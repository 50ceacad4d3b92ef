/* workflow/simulation.h - a day of a grid that runs workflows, round after round.
 *
 * Sites of resources whose slots share what outside load leaves; workflows that arrive;
 * an information service whose reports are old; and the scheduler itself, that is,
 * workflow_round_run() of this folder, asked every few minutes, whose moves and starts
 * are carried out with what they cost:
 *
 *     start      a slot is taken at once; input arrives; then the task shares the speed;
 *                share and slot are given back before the output leaves
 *     migration  the slot of the target is taken, that of the source given back; C for
 *                the checkpoint; input and checkpoint over the network; R to go on
 *     eviction   the same; postponed: checkpoint, and back to the queue
 *     share      (mips_total - mips_external) / running tasks               (5.1)
 *     network    routes between sites have a fixed bandwidth each; links of resources
 *                are shared by 1 / round trip (simulation/network.h), or not at all
 *     load       mips_external changes every load_interval_s by + or - P of what it was
 *                at first
 *     progress   a task says what its evolution (models/progress/evolution.h) makes it
 *                believe; the scheduler extrapolates or fits that
 *
 * Pure: all numbers are drawn from streams of the seed, those of workflows, resources
 * and loads apart, so that policies meet the same world.
 *
 * Source: spec workflows.md 2, 3.3, 7, 9, 10; runtime-prediction.md 6 to 9;
 * simulator.md 2 to 8; 000_168dd5aef5075332 [L1571-L2035], [L2155-L2385].
 */
#ifndef GRIDPLAN_WORKFLOW_SIMULATION_H
#define GRIDPLAN_WORKFLOW_SIMULATION_H

#include "algorithms/workflow/round.h"
#include "models/progress/evolution.h"

#define WORKFLOW_SIM_NONE SIZE_MAX

/* ---- the grid ---- */

struct workflow_sim_resource {
    const char *id; /* NULL: drawn */
    size_t site;
    double mips_total;    /* > 0 */
    double mips_external; /* at first, 0 .. mips_total */
    size_t n_max;         /* slots, >= 1 */
};

struct workflow_sim_grid {
    const struct workflow_sim_resource *resources;
    size_t resource_count;
    size_t site_count;
    double lan_mbps,
        lan_latency_s;           /* link of each resource; inside a site: two of them */
    double wan_mbps;             /* of a route between sites */
    const double *wan_latency_s; /* [site_count * site_count], symmetric */
};

/* What a grid is drawn from. */
struct workflow_sim_grid_setting {
    size_t site_count, resources_per_site; /* >= 1 */
    double mips_min, mips_max;             /* uniform */
    size_t n_max;
    double loaded_ratio;   /* of the resources have load from outside */
    double external_ratio; /* uniform from 0 to this, of mips_total; < 1 */
    double lan_mbps, lan_latency_s, wan_mbps;
    double wan_latency_min_s, wan_latency_max_s; /* uniform, for each pair of sites */
};

enum error_code workflow_sim_grid_draw(const struct workflow_sim_grid_setting *setting,
                                       uint64_t seed, struct workflow_sim_grid *out,
                                       struct arena *a);

/* ---- the workflows ---- */

struct workflow_sim_task {
    const char *id;                /* NULL: generated */
    struct evolution evolution;    /* limit_ref_s: its true length */
    double nominal_ref_s;          /* reports come by parts of it */
    double initial_estimate_ref_s; /* NAN: none */
    double input_bytes, output_bytes, checkpoint_bytes;
};

struct workflow_sim_job {
    const char *id; /* NULL: generated */
    double arrival_s;
    const struct workflow_sim_task *tasks;
    size_t task_count;
    const size_t *parent_first; /* [task_count + 1] */
    const size_t *parents;      /* numbers of tasks of the job, ascending for each */
};

/* name, meaning */
#define WORKFLOW_SIM_SHAPES(X)                                                       \
    X(fork_join, "A root, tasks beside each other, a final task")                    \
    X(layered, "A root, levels of tasks that need some of the level above, a final " \
               "task")
#define WORKFLOW_SIM_ARRIVALS(X)                            \
    X(lublin, "In the daily cycle of Lublin and Feitelson") \
    X(daytime, "80 % from 8 to 20 h, the others at night")  \
    X(together, "All at the start")
#define WORKFLOW_SIM_SWEEPS(X)                     \
    X(model, "Every task has a length of its own") \
    X(parameter, "The tasks of a workflow are of about the same length")
#define WORKFLOW_SIM_MIXES(X)                 \
    X(over, "All are overestimated at first") \
    X(under, "All are underestimated")        \
    X(fluctuating, "All estimates swing")     \
    X(mixed, "Each task is one of the three") \
    X(exact, "Estimates are right")

#define X(name, meaning) WORKFLOW_SIM_##name,
enum workflow_sim_shape { WORKFLOW_SIM_SHAPES(X) };
enum workflow_sim_arrival { WORKFLOW_SIM_ARRIVALS(X) };
enum workflow_sim_sweep { WORKFLOW_SIM_SWEEPS(X) };
enum workflow_sim_mix { WORKFLOW_SIM_MIXES(X) };
#undef X
/* Ended by NULL. */
extern const char *const workflow_sim_shape_names[], *const workflow_sim_arrival_names[];
extern const char *const workflow_sim_sweep_names[], *const workflow_sim_mix_names[];

/* What workflows are drawn from. */
struct workflow_sim_workload {
    enum workflow_sim_shape shape;
    size_t parallelism;   /* fork_join: tasks between root and final task, >= 1 */
    double tasks_mean;    /* layered: of a workflow, with root and final task, >= 3 */
    size_t levels;        /* layered: with those of root and final task, >= 3 */
    double nominal_ref_s; /* mean length, before the evolution makes it longer, > 0 */
    double spread_ratio;  /* lengths are uniform in nominal (1 -+ this), 0 .. 0.99 */
    enum workflow_sim_sweep sweep;
    enum workflow_sim_mix mix;
    struct evolution_setting evolution;
    bool initial_estimate; /* tasks come with one: their model at a random point */
    double bytes, checkpoint_bytes; /* input and output; of a checkpoint */
    enum workflow_sim_arrival arrivals;
    double load_ratio; /* work, as a share of what the grid could do till the horizon */
    size_t workflow_count; /* > 0: so many instead */
};

enum { WORKFLOW_SIM_TASKS_MAX = 200000 }; /* of a run */

/* Model, estimates and bytes of a task of this nominal length (> 0). */
struct workflow_sim_task
workflow_sim_task_draw(const struct workflow_sim_workload *workload, double nominal_ref_s,
                       struct rng *rng);

/* `count` instants in [0, horizon_s), ascending; with lublin it may become less. */
enum error_code workflow_sim_arrivals_draw(enum workflow_sim_arrival arrivals,
                                           double horizon_s, uint64_t seed, double **at_s,
                                           size_t *count, struct arena *a,
                                           struct error *err);

/* How many it will be. ERR_INVALID, field "/workload": too many tasks. */
enum error_code workflow_sim_workload_count(const struct workflow_sim_workload *workload,
                                            const struct workflow_sim_grid *grid,
                                            double horizon_s, size_t *count,
                                            struct error *err);

/* Draws them, by arrival. ERR_INVALID likewise. */
enum error_code workflow_sim_workload_draw(const struct workflow_sim_workload *workload,
                                           const struct workflow_sim_grid *grid,
                                           double horizon_s, uint64_t seed,
                                           struct workflow_sim_job **jobs, size_t *count,
                                           struct arena *a, struct error *err);

/* *at: a task that waits for itself by way of others; WORKFLOW_SIM_NONE: none does.
 * O(tasks + dependencies). */
void workflow_sim_cycle(const struct workflow_sim_job *job, size_t *at, struct arena *a);

/* ---- a run ---- */

struct workflow_sim_settings {
    double round_interval_s;                 /* > 0 */
    double information_interval_s;           /* 0: always up to date */
    double load_interval_s;                  /* 0: the load stays */
    double load_change_min, load_change_max; /* P, as a share */
    double checkpoint_s, restart_s;          /* C, R, >= 0 */
    double stage_in_s, stage_out_s;          /* without storage_site */
    size_t storage_site;                     /* where inputs and outputs are;
                                                WORKFLOW_SIM_NONE: everywhere */
    bool share_lan;                          /* transfers share links */
    double report_ratio;                     /* reports by parts of the nominal length;
                                                0: at each look of the information
                                                service */
    size_t fit_points; /* predictor `fit`: reports that are kept of a task */
    double horizon_s;  /* > 0 */
};

struct workflow_sim_policy {
    const struct policy *policy;
    const double *param; /* bound */
    bool no_estimates;   /* it is told none, and places at random */
};

struct workflow_sim_in {
    struct workflow_sim_grid grid;
    const struct workflow_sim_job *jobs; /* by arrival */
    size_t job_count;
    struct workflow_sim_policy policy;
    struct workflow_sim_settings settings;
    uint64_t seed;
    struct budget *budget; /* NULL: none; a step is an event */
    double *time_ratio;    /* how far it is, written before the budget is asked;
                              NULL: nobody looks */
    struct arena *scratch; /* emptied after every round */
};

/* Figures of a run: name, meaning. */
#define WORKFLOW_SIM_FIGURES(X)                                                       \
    X(mean_makespan_s,                                                                \
      "From arrival to the last output, mean over the workflows that finished")       \
    X(done_ratio, "Workflows that finished, of those that arrived")                   \
    X(useful_submitted_ratio,                                                         \
      "Work of finished workflows over work of all that arrived: useful workload of " \
      "(6.6)")                                                                        \
    X(useful_processed_ratio,                                                         \
      "Work of finished tasks over all work processed: useful workload of chapter 5") \
    X(utilisation_ratio, "Work processed over what the resources had free")           \
    X(slot_utilisation_ratio, "Slots taken over slots")                               \
    X(checkpoints_per_task, "Checkpoints over tasks that were started")               \
    X(network_bytes, "Inputs and checkpoints that moved with tasks")                  \
    X(staging_bytes, "Inputs and outputs to and from the storage site")               \
    X(processed_ref_s, "Work processed")                                              \
    X(submitted_ref_s, "Work of the workflows that arrived")                          \
    X(mean_wait_s, "From the moment that a task is ready to its first assignment, mean")

/* Counts of a run: name, meaning. */
#define WORKFLOW_SIM_COUNTS(X)                                              \
    X(submitted_count, "Workflows that arrived")                            \
    X(finished_count, "Workflows that finished")                            \
    X(task_count, "Tasks of those that arrived")                            \
    X(started_task_count, "Tasks that were assigned")                       \
    X(finished_task_count, "Tasks that finished")                           \
    X(move_count, "Migrations of members of parent sets")                   \
    X(eviction_count, "Root tasks that were moved out of the way")          \
    X(postponed_count, "Root tasks that went back to the queue for others") \
    X(checkpoint_count, "Checkpoints, one for each of these")               \
    X(restart_count, "Starts from a checkpoint")                            \
    X(report_count, "Progress reports")                                     \
    X(round_count, "Rounds of the scheduler")                               \
    X(event_count, "Events that were played")

/* What became of a task. */
struct workflow_sim_task_row {
    double start_s;  /* first assignment; NAN: never */
    double finish_s; /* of its work; NAN: not */
    double work_ref_s;
    size_t resource; /* last; WORKFLOW_SIM_NONE */
    size_t moves;
};

/* What became of a workflow. */
struct workflow_sim_job_row {
    double finish_s; /* with its outputs; NAN: not */
    size_t done_count;
    const struct workflow_sim_task_row *tasks;
};

struct workflow_sim_out {
    bool is_cut; /* the budget was spent: nothing else counts */
#define X(name, doc) double name;
    WORKFLOW_SIM_FIGURES(X)
#undef X
#define X(name, doc) size_t name;
    WORKFLOW_SIM_COUNTS(X)
#undef X
    const struct workflow_sim_job_row *jobs; /* [job_count] */
    size_t slots_exceeded; /* times that a resource had more tasks than slots: 0 */
};

/* Plays one run. ERR_INVALID where a job has a cycle. O(log n) for an event, and what
 * the scheduler takes. */
enum error_code workflow_simulate(const struct workflow_sim_in *in,
                                  struct workflow_sim_out *out, struct arena *a,
                                  struct error *err);

/* ---- presets ---- */

/* name, what it is */
#define WORKFLOW_SIM_PRESETS(X)                                                        \
    X(ch5_workflow, "Chapter 5, table 5.2: resources under load, one evolution model") \
    X(ch6_prediction, "Chapter 6, table 6.1: dedicated resources, mixed models")

enum workflow_sim_preset_kind {
#define X(name, doc) WORKFLOW_SIM_##name,
    WORKFLOW_SIM_PRESETS(X)
#undef X
};
extern const char *const workflow_sim_preset_names[]; /* ended by NULL */

/* Everything that an experiment of the source says; what it does not say is from
 * workflows.md 10. */
struct workflow_sim_experiment {
    struct workflow_sim_grid_setting grid;
    struct workflow_sim_workload workload;
    struct workflow_sim_settings settings;
};

struct workflow_sim_experiment workflow_sim_preset(enum workflow_sim_preset_kind preset);

#endif

/* fault_tolerance/fault_tolerance.h - checkpointing, copies, or both.
 *
 * A policy is a round_fn (replication/round.h): it says which replicas to start,
 * which to cancel, and which jobs to checkpoint. How often a job is then
 * checkpointed is the business of algorithms/checkpoint.
 *
 * Source: spec fault-tolerance.md 7; 000_168dd5aef5075332 (T) 2.2 and 4.4.3;
 * 002_6355fdf65728109f (P) 4.3.
 */
#ifndef GRIDPLAN_FAULT_TOLERANCE_H
#define GRIDPLAN_FAULT_TOLERANCE_H

#include "algorithms/fault_tolerance/host_sets.h"
#include "algorithms/replication/work.h"

/* Every policy: name, purpose, source, flags. To add one, write
 * fault_tolerance/NAME.c with fault_tolerance_NAME() and
 * fault_tolerance_NAME_params[], and its row here. */
#define FAULT_TOLERANCE_POLICIES(X)                                                      \
    X(combined, "Copies while CPUs are free, checkpoints when they are not",             \
      FROM(CITES(IN_WORK(chtepen2010, "chapter 4.4.3"),                                  \
                 IN_WORK(chtepen2009, "section 4.3")),                                   \
           BUT("When copies give way to checkpoints the round goes on, so that the "     \
               "jobs behind are served too")),                                           \
      ROUND_DETECTS | ROUND_RESTARTS | ROUND_CHECKPOINTS | ROUND_COMPARES)               \
    X(expected_time, "For each job the remedy of least expected time",                   \
      OURS("Of copies and checkpoints, together or alone, what lets a job end soonest "  \
           "on average, within a limit of the cost"),                                    \
      ROUND_DETECTS | ROUND_RESTARTS | ROUND_CHECKPOINTS | ROUND_RELIABILITY |           \
          ROUND_PROGRESS)                                                                \
    X(joint, "Hosts, remedy and number of copies of each job, chosen together",          \
      OURS("Of all hosts, each with its own speed and failures, those on which copies "  \
           "and checkpoints, together or alone, let a job end soonest on average, with " \
           "a bound on what any hosts could do"),                                        \
      ROUND_DETECTS | ROUND_RESTARTS | ROUND_CHECKPOINTS | ROUND_RELIABILITY |           \
          ROUND_PROGRESS)                                                                \
    X(migration, "One copy of each job, restarted elsewhere from its last image",        \
      FROM(CITES(IN_WORK(chtepen2010, "chapter 2.2")),                                   \
           BUT("Where a job restarts is ours: the resource that would serve it best")),  \
      ROUND_DETECTS | ROUND_RESTARTS)

#define X(name, purpose, source, flags) \
    round_fn fault_tolerance_##name;    \
    extern const struct param fault_tolerance_##name##_params[];
FAULT_TOLERANCE_POLICIES(X)
#undef X

extern const struct policy fault_tolerance_policies[]; /* sorted by name, ended by {0} */

/* ---- expected_time and joint ---- */

/* What to do about failures, in the order that breaks ties. */
enum remedy { REMEDY_NONE, REMEDY_CHECKPOINTING, REMEDY_REPLICATION, REMEDY_BOTH };

enum { REMEDY_COPIES_MAX = HOST_SET_MAX };
enum { REMEDY_OPTIONS_MAX = 2 * REMEDY_COPIES_MAX };

/* A job on the hosts that may take it, each class with its own run time and failures. */
struct remedy_in {
    const struct host_class *plain; /* without checkpoints */
    const struct host_class
        *saved;         /* the same hosts, with the best checkpoints of each */
    size_t class_count; /* 1 .. COPIES_MAX */
    size_t fixed_count; /* as in host_sets.h, likewise the next */
    size_t copies_max;
    double left_out_s[2]; /* of hosts in no class, which may be in a best set of plain
                             copies, of saved ones; infinite: none */
    double max_cost_s;    /* infinite: no limit */
    double deadline_s;    /* NAN: none */
    bool wants_bounds;
};

struct remedy_option {
    enum remedy remedy;
    uint64_t replicas;
    double interval_s;          /* between checkpoints of the first copy; NAN: none */
    double expected_time_s;     /* NAN: without end */
    double expected_cost_cpu_s; /* NAN: without end */
    double success_probability; /* that some copy needs no restart */
    double done_probability;    /* by the deadline; NAN: none, or not known */
    double independent_s; /* expected_time_s if images were not shared; NAN: they are
                             not */
    double lower_bound_s; /* of this remedy with as many copies on any hosts; NAN:
                             not asked for */
    bool is_proved;       /* no other hosts are better for it */
    size_t classes[REMEDY_COPIES_MAX]; /* of the copies */
};

/* A copy of a job on one host: cut into its best segments, or not at all. */
struct copy remedy_copy(const struct finite_job *job, bool is_saved);

/* Fills at most REMEDY_OPTIONS_MAX options, in the order none, checkpointing,
 * replication 2 .., both 2 .., each on the hosts that are best for it; *count is their
 * number. `work` keeps memory from call to call. */
void remedy_compare(const struct remedy_in *in, struct copies *work,
                    struct remedy_option *options, size_t *count, struct arena *a);

/* The option of least time among those that cost at most max_cost_s and take at most
 * copies_max copies, where each copy more must save min_gain_ratio of the time of fewer;
 * ties: fewer copies, least cost, then the first. SIZE_MAX: there is none. */
size_t remedy_choose(const struct remedy_option *options, size_t count, double max_cost_s,
                     size_t copies_max, double min_gain_ratio);

/* The option of least cost, ties: the first, among those with at most copies_max
 * copies; SIZE_MAX: all of them are without end. */
size_t remedy_cheapest(const struct remedy_option *options, size_t count,
                       size_t copies_max);

/* A copy of the choice. */
struct round_host {
    const size_t *nodes; /* resources, rising */
    size_t node_count;
    struct copy copy;
    double left_mi; /* work that it has before it */
};

/* What is best for a job. */
struct round_choice {
    size_t job;
    double execution_s;             /* E on the hosts of the choice's first copy */
    double lower_bound_s;           /* the least E of the hosts that were compared */
    double mean_failure_interval_s; /* of the former */
    const struct remedy_option *options;
    size_t option_count;
    size_t chosen;                  /* index; SIZE_MAX: none keeps to the limit */
    size_t cheapest;                /* index; SIZE_MAX: all are without end */
    size_t placeable_count;         /* copies that there is room for */
    const struct round_host *hosts; /* explain: of the chosen copies */
    size_t host_count;
};

/* Options of both policies, as the first rows. */
enum {
    JOINT_REPLICAS_MAX,
    JOINT_MAX_COST_RATIO,
    JOINT_CAPACITY_UNIT,
    JOINT_DETECTION,
    JOINT_MF_ESTIMATOR,
    JOINT_PRIOR,
    JOINT_MEAN_FLOOR,
    JOINT_MIN_GAIN,
    JOINT_OPTION_COUNT
};
#define JOINT_ROWS                                                                      \
    [JOINT_REPLICAS_MAX] =                                                              \
        {"replicas_max", 1,   REMEDY_COPIES_MAX, 3, "Most copies of each job",          \
         PARAM_INTEGER,  NULL},                                                         \
    [JOINT_MAX_COST_RATIO] = {"max_cost_ratio",                                         \
                              1,                                                        \
                              1e9,                                                      \
                              (double)NAN,                                              \
                              "CPU time that may be expected to be used, over the run " \
                              "time without failures; not set: no limit",               \
                              PARAM_NUMBER,                                             \
                              NULL},                                                    \
    [JOINT_CAPACITY_UNIT] = ROW_CAPACITY_UNIT, [JOINT_DETECTION] = ROW_DETECTION,       \
    [JOINT_MF_ESTIMATOR] = ROW_MF_ESTIMATOR, [JOINT_PRIOR] = ROW_PRIOR,                 \
    [JOINT_MEAN_FLOOR] = ROW_MEAN_FLOOR,                                                \
    [JOINT_MIN_GAIN] = {"min_gain_ratio",                                               \
                        0,                                                              \
                        1,                                                              \
                        0.01,                                                           \
                        "Share of the expected time that each copy more must save",     \
                        PARAM_NUMBER,                                                   \
                        NULL}

/* What the two policies differ in. */
struct joint_options {
    size_t replicas_max;   /* 1 .. REMEDY_COPIES_MAX */
    double max_cost_ratio; /* NAN: no limit */
    double min_gain_ratio;
    enum capacity_unit unit;
    bool shares_images; /* copies read each other's */
    bool proves;        /* status optimal where one job's choice is proved */
};

/* The round of both (joint_round.c). */
enum error_code joint_round(const struct round_in *in,
                            const struct joint_options *options, struct round_out *out,
                            struct arena *a, struct error *err);

#endif

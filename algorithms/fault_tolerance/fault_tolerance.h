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

#include "algorithms/replication/round.h"

/* Every policy: name, purpose, source, flags. To add one, write
 * fault_tolerance/NAME.c with fault_tolerance_NAME() and
 * fault_tolerance_NAME_params[], and its row here. */
#define FAULT_TOLERANCE_POLICIES(X)                                               \
    X(combined, "Copies while CPUs are free, checkpoints when they are not",      \
      "T 4.4.3; P 4.3", ROUND_DETECTS | ROUND_RESTARTS | ROUND_CHECKPOINTS)       \
    X(expected_time, "For each job the remedy of least expected time", "ours",    \
      ROUND_DETECTS | ROUND_RESTARTS | ROUND_CHECKPOINTS)                         \
    X(migration, "One copy of each job, restarted elsewhere from its last image", \
      "T 2.2", ROUND_DETECTS | ROUND_RESTARTS)

#define X(name, purpose, source, flags) \
    round_fn fault_tolerance_##name;    \
    extern const struct param fault_tolerance_##name##_params[];
FAULT_TOLERANCE_POLICIES(X)
#undef X

extern const struct round_policy
    fault_tolerance_policies[]; /* sorted by name, ended by {0} */

/* NULL if there is no such policy. */
const struct round_policy *fault_tolerance_policy_find(const char *name);

/* ---- expected_time ---- */

/* What to do about failures, in the order that breaks ties. */
enum remedy { REMEDY_NONE, REMEDY_CHECKPOINTING, REMEDY_REPLICATION, REMEDY_BOTH };

enum { REMEDY_COPIES_MAX = 16 };
enum { REMEDY_OPTIONS_MAX = 2 * REMEDY_COPIES_MAX };

/* A job on a resource that fails with the constant rate 1/M. Seconds. */
struct remedy_in {
    double execution_s;             /* E: run time without failures, > 0 */
    double mean_failure_interval_s; /* M, > 0 */
    double checkpoint_overhead_s;   /* C, >= 0 */
    double restart_s;               /* R, >= 0 */
    double reschedule_delay_s;      /* D, >= 0 */
    double min_interval_s;          /* the interval is not shorter, > 0 */
    size_t copies_max;              /* 1 .. REMEDY_COPIES_MAX */
};

struct remedy_option {
    enum remedy remedy;
    uint64_t replicas;
    double interval_s;          /* between checkpoints; NAN: none are taken */
    double expected_time_s;     /* NAN: without end */
    double expected_cost_cpu_s; /* NAN: without end */
    double success_probability; /* that the job needs no restart */
};

/* Fills at most REMEDY_OPTIONS_MAX options, in the order none, checkpointing,
 * replication 2 .., both 2 ..; returns their number. O(copies_max^2). */
size_t remedy_compare(const struct remedy_in *in, struct remedy_option *options);

/* The option of least time among those that cost at most max_cost_s (NAN: no
 * limit) and take at most copies_max copies; ties: least cost, then the first.
 * SIZE_MAX: there is none. */
size_t remedy_choose(const struct remedy_option *options, size_t count, double max_cost_s,
                     size_t copies_max);

/* The option of least cost, ties: the first, among those with at most copies_max
 * copies; SIZE_MAX: all of them are without end. */
size_t remedy_cheapest(const struct remedy_option *options, size_t count,
                       size_t copies_max);

/* What expected_time found for a job. */
struct round_choice {
    size_t job;
    double execution_s; /* E on the resource that rule 6.1 picks; also the lower bound */
    double mean_failure_interval_s;
    const struct remedy_option *options;
    size_t option_count;
    size_t chosen;          /* index; SIZE_MAX: none keeps to the limit */
    size_t cheapest;        /* index; SIZE_MAX: all are without end */
    size_t placeable_count; /* copies that rule 6.1 finds room for */
};

#endif

/* checkpoint/checkpoint.h - how long a job should run between two checkpoints.
 *
 * A checkpoint policy looks at one job and says after how much work it should
 * be checkpointed. Policies are pure: no clock, no I/O, no global state, O(1).
 *
 * The figures beside the interval assume that failures come independently with
 * a constant rate 1/M. With interval I, overhead C and restart R, a second of
 * work then takes
 *
 *     exp(R/M) * M * (exp((I + C)/M) - 1) / I     seconds.
 *
 * Source: spec fault-tolerance.md 4, 5.4 and 7.4 (with D = 0); J. T. Daly, "A
 * higher order estimate of the optimum checkpoint interval for restart dumps",
 * Future Generation Computer Systems 22, 2006.
 */
#ifndef GRIDPLAN_CHECKPOINT_H
#define GRIDPLAN_CHECKPOINT_H

#include "models/base/param.h"

#include <stdbool.h>

/* Bounds of what comes in, seconds; no interval is shorter than the first. */
#define CHECKPOINT_SHORTEST_S 1e-3
#define CHECKPOINT_LONGEST_S  1e15

struct checkpoint_in {
    double checkpoint_overhead_s;   /* C: the job stands still so long, >= 0 */
    double mean_failure_interval_s; /* M: of its resource, >= CHECKPOINT_SHORTEST_S */
    double restart_s;               /* R: to fetch the checkpoint after a failure, >= 0 */
    double execution_time_s;        /* E: work of the whole job, > 0; NAN: unknown */
};

struct checkpoint_out {
    double interval_s; /* work from the end of a checkpoint to the next request */
    bool at_minimum;   /* raised to min_interval_s */
    double expected_time_ratio; /* time per second of work, >= 1; may be infinite */
    double waste_ratio;         /* share of the time that is no work, 0..1 */
    double
        gap_ratio; /* expected_time_ratio over its least value, less 1; NAN: infinite */
    double checkpoint_count;      /* on a run without failures; NAN: E unknown */
    double expected_completion_s; /* from the start to the end; NAN: E unknown */
};

/* Fills interval_s and at_minimum. param holds one value for each row of the
 * policy's param table. */
typedef enum error_code checkpoint_fn(const struct checkpoint_in *in, const double *param,
                                      struct checkpoint_out *out, struct error *err);

struct checkpoint_policy {
    const char *name, *purpose, *source;
    checkpoint_fn *run;
    const struct param *params;
};

/* Every checkpoint policy. To add one, write checkpoint/NAME.c with
 * checkpoint_NAME() and checkpoint_NAME_params[], and its row here. */
#define CHECKPOINT_POLICIES(X)                                  \
    X(daly, "Close to the best interval, by a series",          \
      "Daly 2006; fault-tolerance.md 5.4")                      \
    X(exact, "The best interval under a constant failure rate", \
      "fault-tolerance.md 5.4")                                 \
    X(young, "First-order estimate of the best interval",       \
      "Young 1974; fault-tolerance.md 5.4")

#define X(name, purpose, source)     \
    checkpoint_fn checkpoint_##name; \
    extern const struct param checkpoint_##name##_params[];
CHECKPOINT_POLICIES(X)
#undef X

extern const struct checkpoint_policy
    checkpoint_policies[]; /* sorted by name, ended by {0} */

/* NULL if there is no such policy. */
const struct checkpoint_policy *checkpoint_policy_find(const char *name);

/* Runs the policy and adds the figures. */
enum error_code checkpoint_decide(const struct checkpoint_policy *policy,
                                  const struct checkpoint_in *in, const double *param,
                                  struct checkpoint_out *out, struct error *err);

/* ---- for the policies ---- */

/* The option that policies with a formula share, as the first row. */
enum { CHECKPOINT_MIN_INTERVAL };
#define CHECKPOINT_MIN_INTERVAL_ROW                                      \
    {                                                                    \
        .name = "min_interval_s", .min = 0, .max = CHECKPOINT_LONGEST_S, \
        .doc = "Shortest interval, seconds; 0: only the least "          \
               "of all intervals, 0.001 s"                               \
    }

/* Sets interval_s, at least min_interval_s. */
void checkpoint_set_interval(double interval_s, double min_interval_s,
                             struct checkpoint_out *out);

/* The I that makes the expected time least; 0 if C = 0, at most M. */
double checkpoint_best_interval_s(const struct checkpoint_in *in);

/* Expected time per second of work with the interval I > 0; may be infinite. */
double checkpoint_expected_time_ratio(const struct checkpoint_in *in, double interval_s);

#endif

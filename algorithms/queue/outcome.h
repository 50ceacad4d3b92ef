/* queue/outcome.h - what became of the jobs of a replay, whoever has played it.
 *
 * Figures that compare jobs, users or policies are of an array of these: those of a
 * replay on equal processors (replay.h), or of one on a cluster's nodes.
 */
#ifndef GRIDPLAN_QUEUE_OUTCOME_H
#define GRIDPLAN_QUEUE_OUTCOME_H

#include "algorithms/queue/replay.h"

/* By what jobs are told apart: symbol, column of a log that says it. */
#define QUEUE_KEYS(X)       \
    X(USER, user)           \
    X(ACCOUNT, group)       \
    X(PARTITION, partition) \
    X(QOS, queue)

enum queue_key {
#define X(symbol, column) QUEUE_KEY_##symbol,
    QUEUE_KEYS(X)
#undef X
        QUEUE_KEY_COUNT
};

struct queue_outcome {
    double submit_s;
    double start_s;    /* its first start; NAN: it never ran */
    double wait_s;     /* from arrival to that */
    double run_s;      /* of the attempt that counts */
    double response_s; /* from arrival to the end */
    double cores;      /* that it ran on, all nodes together, >= 1 */
    double bounded;    /* slowdown, >= 1 */
    double priority;   /* larger ones are before others; equal ones by arrival */
    double key[QUEUE_KEY_COUNT]; /* number, or index of a name; NAN: not known */
};

static inline bool queue_ran(const struct queue_outcome *o)
{
    return o->start_s == o->start_s;
}

/* max(1, response / max(run, bound)). */
double queue_bounded_slowdown(double response_s, double run_s, double bound_s);

/* Those of a replay, in the order of its jobs; all of the same priority. Lives in `a`. */
struct queue_outcome *queue_outcomes(const struct queue_replay_in *in,
                                     const struct queue_replay_out *out, struct arena *a);

/* Linear between order statistics (type 7 of R. Hyndman, Y. Fan, "Sample quantiles in
 * statistical packages", The American Statistician 50(4), 1996), of `count` >= 1 values
 * in rising order; percent 0..100. */
double queue_percentile(const double *sorted, size_t count, double percent);

#endif

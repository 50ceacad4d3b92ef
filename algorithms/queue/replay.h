/* queue/replay.h - a whole job log under a queue policy.
 *
 * Jobs arrive as the log says, in the order of arrival and then of number, on a
 * cluster of identical processors. A scheduler counts on the greater of the run time
 * that the user asked for and the one that the job took; with QUEUE_EXACT it knows
 * how long each takes, and with `cut_at_request` a job ends when what the user asked
 * for is over. At equal instants jobs end before others arrive. Jobs wider than the
 * cluster are left out of all figures and counted.
 *
 * Source: rules and expected figures of data/README.md; the bounded slowdown is that
 * of D. Feitelson et al., "Theory and practice in parallel job scheduling", 1997.
 */
#ifndef GRIDPLAN_QUEUE_REPLAY_H
#define GRIDPLAN_QUEUE_REPLAY_H

#include "algorithms/queue/queue.h"
#include "models/base/budget.h"
#include "models/swf.h"

enum queue_estimates { QUEUE_REQUESTED, QUEUE_EXACT };

struct queue_replay_in {
    const struct swf_job *jobs; /* usable ones (models/swf.h), in any order */
    size_t job_count;
    uint64_t processors; /* of the cluster, 1..QUEUE_PROCESSORS_MAX */
    enum queue_estimates estimates;
    bool cut_at_request;
    double bound_s; /* of the slowdown: shorter run times count as this, > 0 */
    const struct queue_reservation *reservations; /* as queue_check() wants them */
    size_t reservation_count;
};

/* Figures of a replay: name, meaning. NAN without a job that ran. */
#define QUEUE_FIGURES(X)                                                             \
    X(mean_wait_s, "Mean time from arrival to start")                                \
    X(max_wait_s, "Longest such time")                                               \
    X(mean_response_s, "Mean time from arrival to end")                              \
    X(mean_bounded_slowdown, "Mean of (wait + run) / max(run, bound_s), at least 1") \
    X(utilisation_ratio, "Busy share of the processors during makespan_s")           \
    X(makespan_s, "From the first arrival to the last end")

struct queue_figures {
#define X(name, doc) double name;
    QUEUE_FIGURES(X)
#undef X
};

struct queue_replay_out {
    bool is_cut; /* the budget was spent: nothing else counts */
    uint64_t run_count;
    uint64_t never_fit_count;
    struct queue_figures figures;
    double *start_s; /* of each job of the input; NAN: never fits */
    double *run_s;   /* likewise: run time, cut if that was asked for */
};

/* Says how much of the log has been played, 0..1; may be NULL. */
typedef void queue_progress_fn(void *context, double ratio);

struct queue_replay_watch {
    struct budget *budget; /* NULL: no limit */
    queue_progress_fn *progress;
    void *context;
};

enum error_code queue_replay(const struct policy *policy,
                             const struct queue_replay_in *in,
                             const struct queue_replay_watch *watch,
                             struct queue_replay_out *out, struct arena *a,
                             struct error *err);

/* How long a job of the input runs. */
double queue_replay_run_s(const struct queue_replay_in *in, const struct swf_job *job);

/* The job as it ran in a replay: wait, run time and processors are those of the replay,
 * all else is as it was. One that never fits is as it was, without a wait, and cancelled,
 * so that the schedule reads back as the log. */
struct swf_job queue_replayed_job(const struct queue_replay_in *in,
                                  const struct queue_replay_out *out, size_t job);

#endif

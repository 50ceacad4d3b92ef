/* queue/queue.h - which waiting jobs of a batch queue start now, and why not the others.
 *
 * A cluster of identical processors runs rigid jobs: each needs a fixed number of
 * processors, all at once, and says how long it will take at most. A policy is an
 * order of the queue, a rule for jobs that backfill, and the order in which they do:
 *
 *     head          nobody backfills: the first job starts, or all wait
 *     fit           whoever fits starts; the first job may wait for ever
 *     easy          the first job that cannot start gets a reservation at the earliest
 *                   time the estimates allow; others start if they do not delay it
 *     conservative  every job gets a reservation when it arrives; when a job ends
 *                   before its estimate, all move up, none moves back
 *
 * Ties go to the earlier submission, then to the lower index. Estimated starts are what
 * happens when every job takes its estimate and nobody else arrives.
 *
 * Cost: of head, fit and easy, with W different sizes of jobs, W questions to a profile
 * (profile.h) and to a tree for each job that starts; of conservative one change of the
 * profile for each arrival and, when a job ended early, a question for each that waits.
 *
 * Source: A. Mu'alem, D. Feitelson, "Utilization, predictability, workloads, and user
 * runtime estimates in scheduling the IBM SP2 with backfilling", IEEE TPDS 12(6), 2001;
 * D. Tsafrir, Y. Etsion, D. Feitelson, "Backfilling using system-generated predictions
 * rather than user runtime estimates", IEEE TPDS 18(6), 2007 (SJBF).
 */
#ifndef GRIDPLAN_QUEUE_H
#define GRIDPLAN_QUEUE_H

#include "models/base/budget.h"
#include "models/base/error.h"
#include "models/base/policy.h"

#include <stdbool.h>
#include <stdint.h>

#define QUEUE_PROCESSORS_MAX 1000000000.0
#define QUEUE_TIME_MAX_S     1e15

/* ---- policies ---- */

enum queue_order { QUEUE_ARRIVAL, QUEUE_SHORTEST, QUEUE_LARGEST };
enum queue_rule { QUEUE_HEAD, QUEUE_FIT, QUEUE_EASY, QUEUE_CONSERVATIVE };

/* The traits of a policy. */
struct queue_discipline {
    enum queue_order order; /* of the queue */
    enum queue_rule rule;
    enum queue_order backfill_order; /* order of those that backfill (fit, easy) */
};

static inline const struct queue_discipline *
queue_discipline_of(const struct policy *policy)
{
    return (const struct queue_discipline *)policy->traits;
}

/* Every queue policy: name, order, rule, order of those that backfill, purpose, source.
 * To add one, write its row here; a new rule is a function in rules.c. conservative
 * goes with the order ARRIVAL only. */
#define QUEUE_POLICIES(X)                                                                \
    X(conservative, ARRIVAL, CONSERVATIVE, ARRIVAL,                                      \
      "Every job has a reservation that nobody may delay",                               \
      CITES(IN_WORK(mualem2001, NULL)))                                                  \
    X(easy, ARRIVAL, EASY, ARRIVAL,                                                      \
      "Later jobs may start early if they do not delay the first one",                   \
      CITES(IN_WORK(mualem2001, NULL)))                                                  \
    X(easy_sjbf, ARRIVAL, EASY, SHORTEST, "EASY, the shortest of the later jobs first",  \
      CITES(IN_WORK(tsafrir2007, NULL)))                                                 \
    X(easy_sjf, SHORTEST, EASY, SHORTEST,                                                \
      "Shortest job first; others may start early if they do not delay the shortest",    \
      OURS("EASY on a queue that is sorted by estimate: the reservation is that of the " \
           "shortest job"))                                                              \
    X(fcfs, ARRIVAL, HEAD, ARRIVAL, "First come, first served",                          \
      CITES(IN_WORK(mualem2001, NULL)))                                                  \
    X(first_fit, ARRIVAL, FIT, ARRIVAL,                                                  \
      "The earliest job that fits starts; wide jobs may wait for ever",                  \
      FOLKLORE("Goes through the queue once and starts whatever fits"))                  \
    X(largest_first, LARGEST, FIT, LARGEST,                                              \
      "The widest job that fits starts; narrow jobs may wait for ever",                  \
      FOLKLORE("first_fit on a queue that is sorted by width, the widest first"))        \
    X(sjf, SHORTEST, HEAD, SHORTEST, "Shortest job first, nobody overtakes",             \
      FOLKLORE("Sorts the queue by estimate and starts its head as long as that fits"))

extern const struct policy queue_policies[]; /* sorted by name, ended by {0} */

/* Options of the rule conservative; the others have those from QUEUE_PLAN_WITH on, which
 * only resources with amounts look at (world/queue.h). */
enum { QUEUE_COMPRESS, QUEUE_PLAN_WITH, QUEUE_OPTION_COUNT };
extern const struct param queue_conservative_params[];

/* ---- what is there ---- */

/* A waiting job. Times in seconds on one scale, of which now_s is the present. */
struct queue_job {
    double submit_s;     /* for the order only: later ones than now_s count as now_s */
    double estimate_s;   /* run time at most, >= 0 */
    uint64_t processors; /* >= 1 */
};

/* A running job. One that should have ended already is taken to end a second from
 * now (ours). */
struct queue_running {
    double expected_end_s; /* by its estimate */
    uint64_t processors;
};

/* Processors that are set aside; no job may run into them. */
struct queue_reservation {
    double start_s, end_s;
    uint64_t processors;
};

struct queue_in {
    double now_s;
    uint64_t processors; /* of the cluster, 1..QUEUE_PROCESSORS_MAX */
    const struct queue_job *jobs;
    size_t job_count;
    /* conservative: the start that each job was promised by a decision before; NAN:
     * none; NULL: nobody has one. */
    const double *planned_start_s;
    bool keeps_gaps; /* conservative: those do not move up now */
    const struct queue_running *running;
    size_t running_count;
    const struct queue_reservation *reservations;
    size_t reservation_count;
    struct budget *budget; /* NULL: no limit */
};

/* ---- what is decided ---- */

/* Why a job waits: symbol, name on the wire, meaning */
#define QUEUE_REASONS(X)                                                       \
    X(STARTS, starts, "it starts now")                                         \
    X(NEVER_FITS, never_fits, "it needs more processors than the cluster has") \
    X(PROCESSORS, processors, "too few processors are free")                   \
    X(RESERVATION, reservation, "it would run into a reservation")             \
    X(ORDER, order, "it would overtake the first job of the queue")            \
    X(WOULD_DELAY, would_delay, "it would delay a job that is before it")      \
    X(TIME_LIMIT, time_limit, "the time was up before it was looked at")       \
    X(NO_ESTIMATE, no_estimate, "nobody says how long it takes at most")

enum queue_reason {
#define X(symbol, name, meaning) QUEUE_REASON_##symbol,
    QUEUE_REASONS(X)
#undef X
        QUEUE_REASON_COUNT
};

extern const char *const queue_reason_names[]; /* by enum, ended by NULL */

enum queue_blocker {
    QUEUE_NOTHING,
    QUEUE_BY_RUNNING,
    QUEUE_BY_JOB,
    QUEUE_BY_RESERVATION
};

/* What becomes of a waiting job. */
struct queue_verdict {
    /* now_s if it starts, else estimated; NAN: never fits. Of a cut answer those that
     * there was no time for have the reason TIME_LIMIT and follow one another, in the
     * order of the queue, behind all others. */
    double start_s;
    enum queue_reason reason;
    /* Who or what is in the way: a running job that has to end, a job of the queue, a
     * reservation; `blocker` is its index in the input. BY_JOB: one that starts now, or
     * waits, by the reason. */
    enum queue_blocker by;
    size_t blocker;
    double until_s; /* PROCESSORS: enough are free then; others: the blocker's start */
    double plan_s;  /* conservative: the start it is promised; NAN: none */
    /* How much later that is than what it was promised before, and who is in the way
     * until then. NAN: it is not. */
    double broken_by_s;
    enum queue_blocker breaker_by;
    size_t breaker;
};

struct queue_out {
    bool is_cut;         /* the budget was spent: not all is known; what is, holds */
    size_t behind_count; /* jobs that were only placed behind all others */
    struct queue_verdict *verdicts; /* one for each job of the input */
    size_t *order;                  /* indexes of the jobs, first of the queue first */
    uint64_t start_count;           /* jobs that start now */
    uint64_t free_processors;       /* after they have started */
    double makespan_s;              /* until the last of all jobs ends; 0: no job */
    double lower_bound_s;           /* which no order of these jobs can beat */
    uint64_t broken_count;          /* promises that are not kept */
};

/* Decides. A cut answer comes before the budget is spent: the last fifth of it is the
 * caller's, who has to tell it. What is done at any rate, also without time: the first
 * jobs of the queue start as far as they fit, and all others have a start. The jobs must
 * be within the bounds above; running jobs and reservations too, see queue_check(). */
enum error_code queue_decide(const struct policy *policy, const struct queue_in *in,
                             struct queue_out *out, struct arena *a, struct error *err);

/* Adds the mistakes of the input to *err, with pointers "/running" and
 * "/reservations/I": more processors run, or are reserved at a time, than there are. */
enum error_code queue_check(const struct queue_in *in, struct arena *a,
                            struct error *err);

/* Reservations of which running jobs hold a part: there nothing can start. That is no
 * mistake, it happens. */
struct queue_overlap {
    size_t count; /* of such reservations */
    size_t first; /* of them, index in the input */
};

/* For an input that queue_check() finds right. */
enum error_code queue_overlaps(const struct queue_in *in, struct queue_overlap *out,
                               struct arena *a, struct error *err);

#endif

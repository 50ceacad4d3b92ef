/* queue/study.h - whether a variant serves jobs better than another one, or it was luck.
 *
 * Two replays of the same jobs are paired by job: d = the variant's figure less the
 * base's, over the jobs that ran in both and arrived between warm-up and cool-down.
 * Jobs of a week depend on one another (one queue, the same users), so whole weeks are
 * drawn again, with replacement, as many as there are: the mean of a resample is the sum
 * of d over its weeks by their number of jobs, and the interval is that of the resamples'
 * percentiles. With fewer than eight weeks days are drawn, with fewer than eight days
 * there is no interval.
 *
 * Blocks are counted from the first arrival; those in which the base ran no job that
 * counts are none. A resample without any job is left out.
 *
 * Sources: B. Efron, R. Tibshirani, "An Introduction to the Bootstrap", 1993, chapters 8
 * and 13; H. Kunsch, "The jackknife and the bootstrap for general stationary
 * observations", The Annals of Statistics 17(3), 1989 (blocks).
 */
#ifndef GRIDPLAN_QUEUE_STUDY_H
#define GRIDPLAN_QUEUE_STUDY_H

#include "algorithms/queue/outcome.h"

#define QUEUE_STUDY_FIGURES(X)                            \
    X(wait_s, wait_s, "Time from arrival to start")       \
    X(response_s, response_s, "Time from arrival to end") \
    X(bounded_slowdown, bounded, "Bounded slowdown, see bound_s")

enum queue_study_figure {
#define X(name, member, doc) QUEUE_STUDY_##name,
    QUEUE_STUDY_FIGURES(X)
#undef X
        QUEUE_STUDY_FIGURE_COUNT
};

enum queue_verdict_of_study { QUEUE_BETTER, QUEUE_WORSE, QUEUE_UNDECIDED };
extern const char *const queue_study_verdicts[]; /* ended by NULL */

enum queue_block { QUEUE_WEEKS, QUEUE_DAYS, QUEUE_NO_BLOCKS };
extern const char *const queue_block_names[]; /* week, day; ended by NULL */

enum {
    QUEUE_BLOCKS_MIN = 8, /* fewer tell nothing */
    QUEUE_RESAMPLES_MAX = 100000,
    QUEUE_HURT_MAX = 10, /* users that are named */
    QUEUE_NOT_COUNTED = UINT32_MAX
};

/* The jobs and the blocks of a study. */
struct queue_study {
    size_t job_count;
    uint32_t *block_of; /* of each job; QUEUE_NOT_COUNTED: not in the window, or the base
                           did not run it */
    size_t counted;     /* jobs that are in a block */
    enum queue_block block;
    size_t block_count; /* QUEUE_NO_BLOCKS: 1, all jobs */
    const struct queue_outcome *base;
    uint64_t seed;
    size_t resamples;  /* >= 1 */
    double confidence; /* (0, 1) */
    struct budget *budget;
};

/* Of one figure. */
struct queue_change {
    double mean;                         /* NAN: no job ran in both */
    double low, high;                    /* NAN: no interval */
    double better_ratio, worse_ratio;    /* of the jobs; the rest is the same */
    enum queue_verdict_of_study verdict; /* of the interval, when it excludes 0 */
};

/* A user who waits longer under the variant. */
struct queue_hurt {
    double user; /* NAN: not known */
    uint64_t job_count;
    double mean_wait_change_s; /* > 0 */
    double mean_slowdown_change;
};

struct queue_comparison {
    bool is_cut;      /* the budget was spent: nothing else counts */
    size_t job_count; /* that ran in both */
    struct queue_change change[QUEUE_STUDY_FIGURE_COUNT];
    const struct queue_hurt *hurt; /* the longest change first */
    size_t hurt_count;
};

/* Fills job_count to block_count of *study from the base's outcomes, which must stay; the
 * other members are the caller's. submit_s: arrivals by which blocks and window are told,
 * of each job. */
void queue_study_begin(struct queue_study *study, const struct queue_outcome *base,
                       const double *submit_s, size_t job_count, double warm_up_s,
                       double cool_down_s, struct arena *a);

/* Compares a variant's outcomes, of the same jobs, with the base's. What is kept lives in
 * `a`. */
void queue_study_compare(const struct queue_study *study,
                         const struct queue_outcome *variant,
                         struct queue_comparison *out, struct arena *a,
                         struct arena *scratch);

/* The interval alone: sums of d and counts of jobs by block. False: the budget was spent,
 * or every resample was without a job. Resample R draws block_count times rng_index() of
 * the stream "study.R" of the seed. */
bool queue_study_interval(const struct queue_study *study, const double *sums,
                          const double *counts, double *low, double *high,
                          struct arena *scratch);

#endif

/* checkpoint/levels.h - checkpoints at several levels.
 *
 * An image on the node itself is cheap and dies with the node; one on a partner, in an
 * erasure code or on the file system costs more and outlives more. Level l costs C_l,
 * which contains all lower levels (the copy on the file system starts from the local
 * one), is read back in R_l, and survives the share f_l of all failures. So failures
 * come in classes, of the rates
 *
 *     lambda_l = (f_l - f_(l-1)) / M,    f_0 = 0,    Lambda = their sum = 1/M
 *
 * and one of class l goes back to the last checkpoint of a level >= l. The answer is a
 * pattern of P segments of work tau that repeats; level l is written every
 * m_1 ... m_(l-1) of them, the highest that is due.
 *
 * First order, with the added costs c_l = C_l - C_(l-1): tau_l = sqrt(2 c_l/lambda_l),
 * overhead the sum of sqrt(2 lambda_l c_l) if the tau_l ascend. From there the m are
 * searched, for each choice of levels, with the exact time of a pattern: T_i from
 * boundary i to the end of the pattern, a_i = tau + C of the level of boundary i + 1,
 *
 *     T_i = (1 - e^(-Lambda a_i)) (1/Lambda + D + sum_l lambda_l/Lambda Q_l(i))
 *           + e^(-Lambda a_i) T_(i+1)
 *     Q_l(i) = (1 - e^(-Lambda R_l)) (1/Lambda + D + sum_k lambda_k/Lambda Q_max(k,l)(i))
 *              + e^(-Lambda R_l) T_(b_l(i))
 *
 * where b_l(i) is the last boundary <= i of a level >= l. These linear equations have a
 * form that substitution solves in O(P levels): T_(i+1) is known but for the boundaries
 * that a failure leads back to, at most one for each level. All terms are positive and
 * nothing cancels.
 *
 * Source: A. Benoit, A. Cavelan, V. Le Fevre, Y. Robert, H. Sun, "Towards optimal
 * multi-level checkpointing", IEEE Transactions on Computers 66(7), 2017.
 * Deviation: the exact time, and the search by it. Times are seconds.
 */
#ifndef GRIDPLAN_CHECKPOINT_LEVELS_H
#define GRIDPLAN_CHECKPOINT_LEVELS_H

#include "models/base/budget.h"

#include <stdbool.h>
#include <stddef.h>

enum { LEVELS_MAX = 6 };
#define LEVELS_SEGMENTS_MAX 256.0 /* of a pattern */

struct level {
    double overhead_s;     /* C, >= 0, not falling from level to level */
    double restart_s;      /* R, >= 0 */
    double survives_ratio; /* f, 0..1, not falling; of the last 1 */
};

struct levels_job {
    const struct level *levels;
    size_t level_count;    /* 1..LEVELS_MAX */
    double mean_s;         /* M, > 0 and finite */
    double delay_s;        /* D, >= 0 */
    struct budget *budget; /* NULL: no limit */
};

struct levels_pattern {
    size_t level_count;        /* that are used, >= 1 */
    size_t levels[LEVELS_MAX]; /* which, indexes into the job's, ascending */
    double every[LEVELS_MAX];  /* segments between checkpoints of this level or higher;
                                  the first is 1, each divides the next, the last is P */
    double segment_s;          /* tau */
    double pattern_s;          /* T_0: expected time of P segments; infinite: never */
    double overhead_ratio;     /* H = T_0/(P tau) - 1 */
    double first_order_ratio;  /* the same by first order; NAN: its intervals do not
                                  ascend */
    bool is_cut;               /* the budget was spent before the search was over */
};

/* The pattern of least overhead; among equal ones of fewer levels. */
struct levels_pattern levels_best(const struct levels_job *job);

/* The best tau, and with it the time, for the levels and `every` of the pattern. */
void levels_best_segment(const struct levels_job *job, struct levels_pattern *pattern);

/* T_0 of levels, every and segment_s of a pattern; infinite: never. */
double levels_pattern_s(const struct levels_job *job,
                        const struct levels_pattern *pattern);

/* Expected time of a job of work_s > 0 that goes by the pattern, without a checkpoint
 * at its end; before the first image a restart takes scratch_s. O(work_s/segment_s),
 * and beyond a million segments by whole patterns;
 * NAN: the budget was spent. */
double levels_expected_s(const struct levels_job *job,
                         const struct levels_pattern *pattern, double work_s,
                         double scratch_s);

/* Checkpoints of that on a run without failures. */
double levels_checkpoints(const struct levels_pattern *pattern, double work_s);

#endif

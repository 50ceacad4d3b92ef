/* checkpoint/finite_plan.h - the best checkpoints of a job that ends.
 *
 * A job of W s of work, on a resource that fails with the constant rate 1/M. An
 * attempt is a restart after a failure, some work and, unless it ends the job, a
 * checkpoint; a failure takes back to the last image, and D s pass before the next
 * attempt, in which nothing fails. Of an attempt of work w, checkpoint c, restart r
 *
 *     expected time = (M + D) (e^((r + w + c)/M) - e^(r/M))
 *
 * and a job's is their sum. The sum of convex terms under a fixed sum is least when
 * all attempts are equally long: with n of them
 *
 *     L(n) = (W + (n-1)(C + R) + R0) / n
 *     E(n) = (M + D) (n e^(L/M) - e^(R0/M) - (n-1) e^(R/M))
 *
 * so the last segment, which saves its checkpoint, is longer by C. E is convex in n.
 * If the first segment would have no work left (R0 > R), it is an image before any
 * work, and the others share the rest.
 *
 * Source: spec reliability.md 2.1 and 3.1 to 3.3. Times are seconds.
 */
#ifndef GRIDPLAN_CHECKPOINT_FINITE_PLAN_H
#define GRIDPLAN_CHECKPOINT_FINITE_PLAN_H

#include <stdbool.h>

struct finite_job {
    double work_s;     /* W, > 0 and finite */
    double mean_s;     /* M, > 0 and finite */
    double overhead_s; /* C, >= 0, likewise the next */
    double restart_s;  /* R: from an image */
    double scratch_s;  /* R0: where there is none */
    double delay_s;    /* D */
    double least_s;    /* between checkpoints no less work is done than this, > 0 */
};

struct finite_plan {
    double count;      /* n, segments */
    double expected_s; /* E(n); infinite: no number of segments ends */
    /* Work in the first, each in between, and the last; a plan of one has first_s
     * alone, of two first_s and last_s; the others are NAN. */
    double first_s, middle_s, last_s;
    bool is_proved; /* recounted segment by segment, and no better with n - 1 or n + 1 */
    bool at_floor;  /* more segments or shorter ones were better, but for least_s */
};

/* The plan of least expected time. O(steps from W over the endless optimum), few. */
struct finite_plan finite_best(const struct finite_job *job);

/* E with n segments as above, whatever least_s is; infinite if there is no such plan. */
double finite_expected_s(const struct finite_job *job, double n);

/* A plan of n segments as above, where one would be shorter than least_s of those that
 * are not; count 0: there is none of so many. */
struct finite_plan finite_plan_of_count(const struct finite_job *job, double n);

/* Expected time when a checkpoint is taken after every interval_s of work, but none
 * at the end; interval_s > 0, may be infinite. */
double finite_expected_of_interval_s(const struct finite_job *job, double interval_s);

/* The same as a plan. */
struct finite_plan finite_plan_of_interval(const struct finite_job *job,
                                           double interval_s);

/* Checkpoints of that on a run without failures. */
double finite_checkpoints_of_interval(double work_s, double interval_s);

/* A job that asks whether to take a checkpoint now. */
struct finite_request {
    struct finite_job job; /* work_s has no part in it */
    double since_image_s;  /* u: work since the last image, or the start, >= 0 */
    double left_s;         /* q: work left, > 0 */
    bool has_image;        /* then R is the restart, else R0 */
};

struct finite_answer {
    bool take;       /* now; else after in_s more work */
    double in_s;     /* infinite: never again */
    double segments; /* after that checkpoint; 0: none is taken */
    double next_s;   /* work from it to the next one; infinite: there is none */
    double value_s;  /* expected time from now to the end */
    double never_s;  /* the same without a further checkpoint */
    double take_s;   /* the same with one now */
};

struct finite_answer finite_decide(const struct finite_request *request);

/* The work between checkpoints that makes a job without an end cheapest: 0 if C = 0,
 * at most M. */
double finite_endless_interval_s(double overhead_s, double mean_s);

#endif

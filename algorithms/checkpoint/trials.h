/* checkpoint/trials.h - a plan of checkpoints played with drawn failures.
 *
 * A job of W s of work on nodes with laws and ages. An attempt is a restart after a
 * failure, work, and a checkpoint unless it ends the job; a failure of any node ends it
 * at once, what was done since the image that can be read is lost, and D s pass in which
 * nothing fails and no node ages. The failed node is as new then, the others go on
 * ageing. What the work of each attempt is, the plan says, which is asked at every image
 * and after every failure.
 *
 * With levels a failure has a class, drawn by the levels' shares; it is read back from
 * the last image whose level is at least the class, and images below are lost. A failure
 * in a restart raises the class, never lowers it.
 *
 * With silent errors work may be wrong: a verification after it tells, before the
 * checkpoint or the end of the job. What is wrong is done again from the last image,
 * after a restart but without a delay, and no node is renewed.
 *
 * Trials come in blocks of 1000, each with a stream of its own, and are summed up in
 * their order: the same bytes whoever plays which block. Pure, for a seed.
 *
 * With foresight failures come at a constant rate, and the job is told of some of them,
 * or of interruptions, beforehand: foretold_trials.c.
 *
 * Times are seconds.
 */
#ifndef GRIDPLAN_CHECKPOINT_TRIALS_H
#define GRIDPLAN_CHECKPOINT_TRIALS_H

#include "algorithms/checkpoint/finite_plan.h"
#include "algorithms/checkpoint/renewal.h"
#include "models/base/arena.h"
#include "models/base/budget.h"
#include "models/base/rng.h"
#include "models/job_hazard.h"

#include <stdint.h>

enum { TRIALS_BLOCK = 1000, TRIALS_PRESET = 20000, TRIALS_MAX = 1000000 };
enum { TRIAL_LEVELS_MAX = 6 };

/* Where the job is when its plan is asked. */
struct trial_state {
    double done_s, left_s; /* work behind the image it goes on from, and before it */
    size_t segment;        /* number of attempts that got it there */
    double age_s;          /* of its node, which a restart follows; several: NAN */
    bool is_restarted;     /* after a failure, before the restart */
};

struct trial_segment {
    double work_s;       /* > 0, or 0 for an image before any; left_s or more: the end */
    double checkpoint_s; /* not at the end */
    size_t level;        /* of that image, 0 .. level_count - 1 */
};

typedef struct trial_segment trial_plan_fn(const void *plan,
                                           const struct trial_state *state);

struct trial_level {
    double restart_s;
    double failure_ratio; /* share of the failures that have this class; their sum: 1 */
};

/* What a job is told of. */
struct trial_foresight {
    double foreseen_ratio;     /* of the failures have an alarm, 0..1 */
    double lead_s;             /* from it to the failure, >= 0 */
    double false_alarms_per_s; /* >= 0 */
    double notices_per_s;      /* interruptions that are told in time, >= 0 */
    double overhead_s;         /* of a checkpoint when it is told, >= 0 */
    double threshold_s;        /* an alarm with less work to lose is ignored, >= 0 */
};

struct trials_in {
    double work_s;            /* W, > 0 */
    double restart_s;         /* R; without levels */
    double scratch_s;         /* R0: where there is no image */
    double delay_s;           /* D */
    bool has_image;           /* at the start: then R0 is not paid */
    struct job_hazard hazard; /* at least one row */
    const struct trial_level *levels;
    size_t level_count; /* 0: one level, restart_s */
    const struct trial_foresight
        *foresight; /* NULL: none. Not with levels; hazard has one row, exponential */
    double silent_mean_s;  /* of work until it is wrong, > 0; 0: it never is */
    double verification_s; /* V; silent errors are not with levels or foresight */
    trial_plan_fn *next;
    const void *plan;
    uint64_t seed;
    const char *stream;      /* with the seed: which draws; the job's id */
    size_t trial_count;      /* at most TRIALS_MAX */
    double half_width_ratio; /* of the mean: enough from there on; 0: all trials */
    double *times_s;         /* of each trial, room for all of them; NULL: not kept */
    struct budget *budget;
};

struct trials_out {
    double mean_s;
    double ci95_s;      /* half width of the interval of 95 % */
    double checkpoints; /* of a trial, in the mean */
    size_t trial_count; /* whole blocks; 0: not one was played, the others are NAN */
    bool cut;           /* the budget was spent first, or: */
    bool endless;       /* a trial met a million failures */
};

void trials_run(const struct trials_in *in, struct trials_out *out, struct arena *a);

/* ---- blocks, for who plays them side by side ---- */

struct trials_sum {
    double count, above_s, square; /* of times, as far as they are above W */
    double checkpoints;
    double longer; /* trials that took longer than the shortest of their block */
};

/* Before so many were longer a mean is not known, however little they differ: what is
 * rare has not happened yet. */
#define TRIALS_LONGER_MIN 30.0

/* One trial of a job with foresight; false: the budget was spent. */
bool trials_play_foretold(const struct trials_in *in, struct rng *rng, double *time_s,
                          double *checkpoints);

/* What playing needs of memory, reused from block to block by one thread; nothing with
 * foresight, where a is not looked at and the answer is NULL. */
struct trials_room;
struct trials_room *trials_room_create(const struct trials_in *in, struct arena *a);

/* Plays `count` trials of a block; times_s: of in->times_s at the block's begin. false:
 * the budget was spent first. */
bool trials_block(const struct trials_in *in, struct trials_room *room, size_t block,
                  size_t count, struct trials_sum *out);
void trials_add(struct trials_sum *sum, const struct trials_sum *block);
struct trials_out trials_total(const struct trials_in *in, const struct trials_sum *sum);

/* ---- plans ---- */

/* The segments of a struct finite_plan with the overhead of its job. */
struct trial_finite {
    struct finite_plan plan;
    double overhead_s;
};
trial_plan_fn trial_next_finite;

/* A checkpoint after each interval. */
struct trial_interval {
    double interval_s; /* infinite: none */
    double overhead_s;
};
trial_plan_fn trial_next_interval;

/* The same from wherever the last image is, which need not be where one was planned;
 * is_even: the work that is left in segments of equal length, about interval_s long, the
 * last longer by the overhead, as the best plans have it. */
struct trial_even {
    double interval_s; /* infinite: none */
    double overhead_s;
    bool is_even;
};
trial_plan_fn trial_next_even;

/* What a struct renewal_table says. */
trial_plan_fn trial_next_renewal;

/* The rule of the policy weibull at each image, for one node; the table is filled by
 * trial_midpoint_of(). */
enum { TRIAL_MIDPOINT_AGES = 256 };
struct trial_midpoint {
    double overhead_s, restart_s, least_s;
    double first_age_s, growth; /* ages: 0, then geometric */
    double interval_s[TRIAL_MIDPOINT_AGES], again_s;
};
struct trial_midpoint trial_midpoint_of(const struct failure_law *law, double overhead_s,
                                        double restart_s, double least_s, double work_s);
trial_plan_fn trial_next_midpoint;

#endif

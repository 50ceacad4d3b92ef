/* fault_tolerance/copies_play.h - copies of a job, played event by event.
 *
 * A check of what copies.h works out, and the only figure there is for copies that read
 * each other's images: a copy that fails then goes on, after D and a restart, from the
 * newest image of any, cut from there on as its own plan cuts the rest. What a copy
 * gains so is seldom lost again, so the time without sharing is an upper bound.
 *
 * Trials come in blocks of 1000 whose sums are added in order; after each the mean's
 * interval of 95 % is looked at. Deterministic for a seed.
 *
 * Source: spec reliability.md 4.3 and 6.5. Times are seconds.
 */
#ifndef GRIDPLAN_COPIES_PLAY_H
#define GRIDPLAN_COPIES_PLAY_H

#include "algorithms/fault_tolerance/copies.h"

/* Half the interval over the mean at which there are trials enough. */
#define PLAY_PRECISION_RATIO 1e-3

enum { PLAY_TRIALS_MAX = 1000000, PLAY_TRIALS_PRESET = 20000 };

struct play_in {
    const struct copy *copies; /* 1 .. COPIES_MAX */
    const double *left; /* shared images: the work that each has before it, in one unit */
    size_t count;
    bool shares_images;
    uint64_t seed;
    const char *stream;     /* of random numbers: the job's name */
    uint64_t trial_count;   /* most, >= 1 */
    double precision_ratio; /* ends when half the interval is no more of the mean */
    struct budget *budget;
};

struct played {
    double mean_s, ci95_s; /* the mean, and half its interval; NAN: no block was played */
    uint64_t trial_count;
    bool is_cut; /* the budget was spent */
};

/* O(trials * events of a trial). NAN: all of them are without end, or hardly ever
 * end. */
void copies_play(const struct play_in *in, struct played *out);

#endif

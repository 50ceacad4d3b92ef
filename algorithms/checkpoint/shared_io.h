/* checkpoint/shared_io.h - many jobs that checkpoint to one file system.
 *
 * Each job writes for C_j s if it is alone, every T_j s of work. Together they may use
 * the share U of the time. Least lost node time is
 *
 *     min sum n_j (C_j/T_j + T_j/(2 M_j))   with   sum C_j/T_j <= U
 *     T_j = sqrt(2 M_j C_j (1 + mu/n_j)),   mu = 0 if that fits, else by bisection
 *
 * So that they do not write at the same time, periods become powers of two of the
 * shortest one (rounded down, and scaled alike if that is too much), and each gets an
 * offset: in the order of rising period, then falling C, then id, the earliest of 0 and
 * the ends of what is placed that meets the least of it over the longest period.
 *
 * Source: T. Herault, Y. Robert, A. Bouteiller, D. Arnold, K. Ferreira, G. Bosilca,
 * J. Dongarra, "Optimal cooperative checkpointing for shared high-performance computing
 * platforms", APDCM 2018, for the periods; the offsets are ours.
 */
#ifndef GRIDPLAN_CHECKPOINT_SHARED_IO_H
#define GRIDPLAN_CHECKPOINT_SHARED_IO_H

#include "models/base/arena.h"
#include "models/base/budget.h"

#include <stdbool.h>
#include <stddef.h>

enum { SHARED_IO_JOBS_MAX = 10000 };
#define SHARED_IO_SPREAD_MAX 1024.0 /* longest period over the shortest */

/* What a job is, and what it is answered; seconds. */
struct shared_io_job {
    const char *id;
    double overhead_s; /* C, > 0 and finite */
    double mean_s;     /* M, > 0 and finite */
    double nodes;      /* n, > 0 */

    double interval_s; /* T */
    double period_s;   /* of its place: at most T, unless all were scaled */
    double offset_s;   /* 0 <= offset < period; NAN: the budget was spent before it */
    double overlap_s;  /* time within the longest period at which others write as well,
                          each of them counted; NAN likewise */
};

struct shared_io_load {
    double unconstrained_ratio; /* sum of C/T with mu = 0 */
    double load_ratio;          /* with the periods */
    double mu;                  /* price of the file system, node seconds per second */
    double longest_s;           /* period after which everything repeats */
    bool is_capped; /* a period was cut to SHARED_IO_SPREAD_MAX shortest ones */
    bool is_cut;    /* the budget was spent before all had their offset */
};

/* T of each job for the share U = use_ratio of the time, 0 < U <= 1. */
void shared_io_intervals(struct shared_io_job *jobs, size_t count, double use_ratio,
                         struct shared_io_load *load);

/* Periods and offsets; after shared_io_intervals(). O(jobs^2) for jobs of few periods. */
void shared_io_stagger(struct shared_io_job *jobs, size_t count, double use_ratio,
                       struct shared_io_load *load, struct arena *a,
                       struct budget *budget);

#endif

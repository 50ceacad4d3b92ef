/* sizing/sizing.h - how much memory to ask for, and how much more when it was too little.
 *
 * The peak of a task is not known, only what it may be: points with weights. An attempt
 * that asks for a holds a - peak in vain when the peak is not above a; else it fails
 * after a share of the run and costs
 *
 *     failure_share a + retry_penalty       and the next attempt
 *
 * A ladder is the requests of all attempts, ascending, the last of them the cap. That of
 * least expected cost (per second of the run) is found exactly, by dynamic programming:
 * between two points the cost grows with the request, so only points are requested.
 *
 * Ours; the cost is that of B. Tovar et al., "A job sizing strategy for high-throughput
 * scientific workflows", 2018, extended to any number of attempts.
 */
#ifndef GRIDPLAN_SIZING_H
#define GRIDPLAN_SIZING_H

#include "models/base/arena.h"
#include "models/base/budget.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    SIZING_ATTEMPTS_MAX = 10,
    SIZING_ERRORS_MAX = 200, /* the latest, of sizing_points() */
    SIZING_POINTS_MAX = 80,  /* neighbours are merged when there are more */
};

struct sizing_point {
    double peak;   /* > 0 */
    double weight; /* > 0; all together 1 */
};

struct sizing_rules {
    size_t attempts;          /* 1..SIZING_ATTEMPTS_MAX, that are left */
    double failure_share;     /* (0, 1]: of the run, before it fails */
    double retry_penalty;     /* >= 0, of the peak's unit */
    double first_failure_max; /* (0, 1]: that the first of them may have */
    double step;              /* > 0: requests are multiples, but the capacity */
    double least;             /* > 0: no request is below */
    double capacity;          /* >= least; HUGE_VAL: none */
};

struct sizing_ladder {
    double request[SIZING_ATTEMPTS_MAX];
    double failure[SIZING_ATTEMPTS_MAX]; /* weight of the peaks above */
    size_t count;
    double cost;
};

/* What a peak may be. */
struct sizing_peak {
    double y;            /* ln of the estimate */
    double scale;        /* of ln errors, > 0 */
    const double *error; /* ln(actual / estimate), over the scale they had; any order */
    size_t error_count;  /* the last SIZING_ERRORS_MAX count */
    double cap;          /* > 0: what is above counts here, and the run not yet seen */
    double failed;       /* a request that was too little; 0: none */
};

/* Its points, ascending, the last at the cap; *cut: weight that was above the cap. */
void sizing_points(const struct sizing_peak *peak, struct sizing_point **points,
                   size_t *count, double *cut, struct arena *a);

/* The ladder of least cost. points: ascending by peak, at least one; the last is the
 * cap. Among ladders of equal cost that with fewer attempts. O(attempts count^2). */
void sizing_best(const struct sizing_point *points, size_t count,
                 const struct sizing_rules *rules, struct budget *budget,
                 struct sizing_ladder *out, struct arena *a);

/* x rounded up to a multiple of the step; what is above one by rounding errors only, by
 * 1e-12 of it, is that one. x > 0, step > 0. */
double sizing_round_up(double x, double step);

/* The cost of given requests, ascending; what is above the last of them fails there,
 * once.
 */
double sizing_cost(const struct sizing_point *points, size_t count,
                   const struct sizing_rules *rules, const double *request,
                   size_t request_count);

#endif

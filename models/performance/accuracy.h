/* performance/accuracy.h - how good predictions were.
 *
 *     PPE = 100 * |actual - predicted| / actual     APPE = mean of PPE
 *
 * and, since what matters is the schedule, the loss of choosing by prediction:
 * problem sizes whose dedicated times differ by at most 50 s form a group; in it
 * A is the actual time of the configuration with the least predicted time, B the
 * least actual time, loss = 100 * (A - B) / B.
 *
 * Source: spec performance-models.md, section 14.
 */
#ifndef GRIDPLAN_PERFORMANCE_ACCURACY_H
#define GRIDPLAN_PERFORMANCE_ACCURACY_H

#include "models/base/error.h"

#define LOSS_GROUP_SPREAD_S 50.0

struct accuracy_pair {
    double actual_s;    /* > 0 */
    double predicted_s; /* finite; may be wrong in any way */
};

struct accuracy {
    size_t count;
    double appe_pct;       /* NAN: no pair */
    double ppe_sd_pct;     /* sample (n - 1); NAN: fewer than two */
    double below_30_pct;   /* share of PPE < 30, percent; NAN: no pair */
    double below_40_pct;   /* likewise < 40 */
    double bias_pct;       /* mean of 100 * (predicted - actual) / actual: > 0 too long */
    double worst_ppe_pct;  /* NAN: no pair */
    double median_ppe_pct; /* NAN: no pair */
};

double ppe_pct(double actual_s, double predicted_s);

/* ERR_INVALID, all at once: actual_s not > 0 or not finite, predicted_s not finite
 * (pointer "/pairs/I/MEMBER"). */
enum error_code accuracy_of(const struct accuracy_pair *pairs, size_t count,
                            struct accuracy *out, struct arena *a, struct error *err);

/* Standard error of a fit with `term_count` coefficients, spec 6.2; NAN unless
 * count > term_count. */
double standard_error(const struct accuracy_pair *pairs, size_t count, size_t term_count);

/* One configuration tried. Run several times, it is several rows. */
struct loss_row {
    double problem_size, processors;
    double actual_s;    /* > 0 */
    double predicted_s; /* finite */
    size_t group;       /* index of its group, below the number of rows */
};

struct loss_group {
    size_t row_count;
    double loss_pct;                 /* >= 0; NAN: no rows */
    double chosen_s, best_s;         /* A and B; NAN: no rows */
    double problem_size, processors; /* chosen; ties: smaller N, then smaller P */
};

/* One group for each index up to the greatest. max_loss_pct: NAN without rows.
 * ERR_INVALID as in accuracy_of (pointer "/rows/I/MEMBER"). O(n). */
enum error_code scheduling_loss(const struct loss_row *rows, size_t count,
                                struct loss_group **groups, size_t *group_count,
                                double *max_loss_pct, struct arena *a, struct error *err);

/* Groups of sizes from their dedicated times, all on as many processors: greedy
 * from the smallest size, a size joins while max - min of the group is at most
 * 50 s. group[i] is the group of size i, numbered from 0 in ascending size; equal
 * sizes share one. ERR_INVALID: a size or time not > 0 and finite (pointer
 * "/sizes/I/MEMBER"). O(n log n). */
enum error_code loss_groups(const double *problem_size, const double *dedicated_s,
                            size_t count, size_t *group, struct arena *a,
                            struct error *err);

#endif

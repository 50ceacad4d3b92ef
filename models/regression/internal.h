/* regression/internal.h - what the kinds of models share.
 *
 * Every model's coefficients begin with the number of runs, the least and the
 * greatest time and the range of each input; a kind's own follow.
 */
#ifndef GRIDPLAN_REGRESSION_INTERNAL_H
#define GRIDPLAN_REGRESSION_INTERNAL_H

#include "models/regression/regression.h"

enum {
    COEFFICIENT_RUNS,
    COEFFICIENT_LEAST_S,
    COEFFICIENT_GREATEST_S,
    COEFFICIENT_RANGES
};

/* Greater than this, or less than its inverse, a number is not computed with: its
 * square, and the sum of many, must stay finite. */
#define REGRESSION_NUMBER_MAX 1e120

/* Where a kind's own coefficients begin. */
static inline size_t regression_base(const struct regression_model *m)
{
    return COEFFICIENT_RANGES + 2 * m->input_count;
}

/* An empty model of the shape of the data. */
void regression_begin(struct regression_model *m, size_t input_count);

/* Counts a run and widens the ranges. */
void regression_see(struct regression_model *m, const double *inputs, double time_s);

/* Finite and of bounded size; times > 0, inputs > 0 if `positive`. */
bool regression_usable(const double *inputs, size_t count, bool positive, double time_s);

/* Indexes of the usable runs. Counts the others. */
size_t *regression_usable_runs(const struct regression_data *data, bool positive,
                               struct regression_report *report, struct arena *a);

/* t with P(|T| < t) = level for Student's T with `freedom` >= 1 degrees; from 200 on
 * that of 200. NAN for a level of NAN: no interval is wanted. */
double student_quantile(double level, double freedom);

/* That of a level: looked up if it is known for `freedom`. */
static inline double level_quantile(const struct regression_level *level, double freedom)
{
    return level->freedom == freedom ? level->quantile
                                     : student_quantile(level->level, freedom);
}

/* Runs with equal inputs, one group after the other. */
struct run_groups {
    size_t *run;   /* indexes of runs, by group, in their order within it */
    size_t *start; /* of group g in `run`; start[count] is the end */
    size_t count;
};

/* Groups `count` runs, ascending by their inputs. */
void regression_group(const struct regression_data *data, const size_t *runs,
                      size_t count, struct run_groups *out, struct arena *a);

/* Name of an input: the caller's, or x1, x2, ... */
const char *regression_input_name(const char *const *names, size_t input,
                                  struct arena *a);

#endif

/* performance/row.h - a run with every function of its values worked out.
 *
 * Thousands of combinations are fitted to the same runs: each function of a run is
 * worked out once. Of this folder only.
 */
#ifndef GRIDPLAN_PERFORMANCE_ROW_H
#define GRIDPLAN_PERFORMANCE_ROW_H

#include "models/performance/combination.h"

enum { PERF_P_SLOTS = 19, PERF_BW_SLOTS = PERF_BW_IDS + 1 };

struct perf_row {
    double basis[PERF_BASES];
    double p_inverse[PERF_P_SLOTS];   /* 1 / f_P by id; 1 on one processor */
    double bw_inverse[PERF_BW_SLOTS]; /* 1 / f_bw by id */
    double cpu_inverse;
    double time_s;
    bool parallel;    /* two processors or more: communicates */
    bool size_log_ok; /* N > 1 */
    bool bw_log_ok;   /* bandwidth > 1 */
};

void perf_row_of(const struct perf_sample *sample, struct perf_row *row);

/* Can the combination's logarithms take it? */
bool perf_row_taken(const struct perf_combination *c, const struct perf_row *row);

/* The row of [A | y]: the combination's terms, then the time; `relative`: all of it
 * divided by the time. Returns the number of terms. */
size_t perf_row_terms(const struct perf_combination *c, const struct perf_row *row,
                      bool relative, double *out);

/* perf_combination_add() for a row. */
void perf_row_add(struct perf_combination *c, const struct perf_row *row,
                  struct perf_fit_rule rule);

/* Fits a combination to rows by one factorisation, statistics included; streak and
 * functions stay. `matrix`: count * (PERF_TERMS_MAX + 1) numbers, `work`:
 * LEAST_SQUARES_WORK(PERF_TERMS_MAX + 1). */
void perf_rows_fit(struct perf_combination *c, const struct perf_row *rows, size_t count,
                   struct perf_fit_rule rule, double *matrix, double *work);

/* Mean of |error| / time of a fitted combination over rows; NAN without rows. */
double perf_rows_appe(const struct perf_combination *c, const struct perf_row *rows,
                      size_t count);

#endif

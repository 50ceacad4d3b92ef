/* performance/sweep.h - very many small least squares problems that share columns.
 *
 * The combinations of one f_comp differ in their communication columns only. The
 * computation columns are factored once, their reflections are applied once to every
 * communication column that can occur, and each combination is then left with a
 * problem of at most two columns, solved by modified Gram-Schmidt with the time as
 * last column (as stable as Householder reflections for least squares). Residuals
 * are formed, not differenced, so that an exact fit shows as one.
 *
 * Cost: O(rows) for one combination. Of this folder only.
 *
 * Source: spec performance-models.md 6.1; Bjorck, "Numerical Methods for Least
 * Squares Problems", 2.4 (modified Gram-Schmidt).
 */
#ifndef GRIDPLAN_PERFORMANCE_SWEEP_H
#define GRIDPLAN_PERFORMANCE_SWEEP_H

#include "models/base/error.h"
#include "models/performance/row.h"

enum {
    SWEEP_BACK_MAX = 2 * PERF_P_SLOTS > PERF_BW_IDS *PERF_BASES
                         ? 2 * PERF_P_SLOTS
                         : PERF_BW_IDS *PERF_BASES, /* communication columns */
    SWEEP_NO_COLUMN = -1,
};

/* A communication column before it is worked out: one basis function over one
 * function of the bandwidth and one of P. */
struct sweep_column {
    int bit, bw_id, p_id;
};

struct sweep {
    const struct perf_row *rows;
    size_t row_count;
    struct perf_fit_rule rule;
    bool by_appe;
    bool size_logs_ok, bw_logs_ok; /* for every row */
    double time_norm, time_mean;   /* of the right side, as weighted */

    /* Given: columns as they are, for errors of single rows. */
    double *front, *back, *time; /* row_count numbers a column */
    size_t front_count, back_count;
    double front_norm[2], back_norm[SWEEP_BACK_MAX]; /* 0: unusable */

    /* Worked out: after the reflections of the front. */
    double *factored, tau[2];
    double *turned; /* back columns, then the time */
    double tail_square[SWEEP_BACK_MAX], tail_dot[SWEEP_BACK_MAX];
    double tail_time_square;
    bool front_ok;
    double *work, *spare;
};

/* What one fit says: coefficients of the front, then of the back columns. */
struct sweep_fit {
    double standard_error; /* infinite: no fit */
    double rank_error;
    double coefficients[PERF_TERMS_MAX];
};

/* Space for rows; everything else of the sweep is set by the calls below. */
void sweep_create(struct sweep *s, const struct perf_row *rows, size_t row_count,
                  struct perf_fit_rule rule, bool by_appe, struct arena *a);

/* Communication columns of all fits to come. */
void sweep_set_back(struct sweep *s, const struct sweep_column *columns, size_t count);

/* Computation columns, those of `mask` (one or two bits) over f_P, and all that
 * depends on them: after sweep_set_back(). */
void sweep_set_front(struct sweep *s, unsigned mask, int p_id);

/* One fit with back columns u and v in this order; SWEEP_NO_COLUMN: without. */
struct sweep_fit sweep_solve(const struct sweep *s, int u, int v);

#endif

/* performance/combination.h - one model of the run time: functions and coefficients.
 *
 *     T = sum_k c_k b_k(N) / (cpu f_P(P)) + sum_k d_k b_k(N) / (f_bw(bw) f_P'(P))
 *
 * With the functions chosen the model is linear in its coefficients. What it has
 * seen is kept as the triangle of a QR factorisation, so that one more run refines
 * it in O(terms^2) without the runs before, and gives the same numbers as a fit of
 * all of them.
 *
 * Source: spec performance-models.md 3, 5, 6, 10.1; 003_a5f9349f46eae656 3.4.
 */
#ifndef GRIDPLAN_PERFORMANCE_COMBINATION_H
#define GRIDPLAN_PERFORMANCE_COMBINATION_H

#include "models/performance/functions.h"
#include "models/performance/term.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    PERF_TERMS_MAX = 4,
    PERF_TRIANGLE_MAX = (PERF_TERMS_MAX + 1) * (PERF_TERMS_MAX + 2) / 2,
    PERF_PACKED = 13 + PERF_TERMS_MAX + PERF_TRIANGLE_MAX, /* numbers of one, packed */
};

/* Below this share of the mean time an error is rounding: the fit is exact. */
#define PERF_EXACT_SHARE 1e-9
/* A coefficient is negative when its column takes this share of the times away. */
#define PERF_NEGATIVE_SHARE 1e-9

/* Bounds of a run, inclusive: beyond them powers and squares would leave the range
 * of a double. */
#define PERF_SIZE_LEAST      1e-9
#define PERF_SIZE_MOST       1e15
#define PERF_PROCESSORS_MOST 1e9
#define PERF_LOAD_LEAST      1e-6 /* CPU and Mbit/s */
#define PERF_BANDWIDTH_MOST  1e12
#define PERF_TIME_LEAST_S    1e-9
#define PERF_TIME_MOST_S     1e15

/* One finished run. Positive: size, processors, time; 0 < CPU <= 1; bandwidth > 0
 * unless processors is 1, where it is not read (give NAN). CPU and bandwidth are
 * those measured during the run: averages over time, then the least over the
 * machines and links used. */
struct perf_sample {
    double problem_size;
    double processors; /* a whole number */
    double cpu_available_ratio;
    double bandwidth_mbps;
    double time_s;
    bool dedicated; /* nobody else used the machines */
    bool outlier;   /* far from its prediction: left out of fits that leave them out */
};

/* What is asked: the load is the one expected. */
struct perf_query {
    double problem_size;
    double processors;
    double cpu_available_ratio; /* 0 .. 1 */
    double bandwidth_mbps;      /* >= 0; NAN on one processor */
};

/* Which runs count, and how. */
struct perf_fit_rule {
    bool relative;    /* least squares of relative errors: rows divided by their time */
    bool nonnegative; /* a combination with a negative coefficient is out */
};

struct perf_combination {
    /* Its name: all that has to be given. Bits of basis functions: perf_bases(). */
    unsigned comp_mask, comm_mask; /* comm_mask 0: computation only */
    int bw_id, pcomp_id, pcomm_id; /* PERF_NONE: no such function (constant 1) */

    /* The fit: computation bits ascending, then communication bits ascending. */
    double coefficients[PERF_TERMS_MAX];
    double standard_error; /* s, relative: a ratio; infinite: of no use now */
    double appe_ratio;     /* mean |error| / time over the rows; NAN: not worked out */
    double rank_error;     /* what lists are ordered by: the standard error, or the APPE
                              of sets that rank by it, to 10 digits */

    /* What it was fitted to. The triangle is row by row: U00 U01 .. U0t, U11 ..,
     * with the times as last column. */
    double triangle[PERF_TRIANGLE_MAX];
    size_t sample_count;
    double time_sum;        /* of the times in the triangle: relative ones are 1 each */
    size_t refused_count;   /* runs whose N or bandwidth its logarithms cannot take: it
                               is out until the next time it is fitted from all runs */
    size_t low_rank_streak; /* updates in a row among the worst tenth */
};

/* Number of coefficients: bits of both masks. */
size_t perf_term_count(const struct perf_combination *c);

/* Does it name functions there are, at least one and at most PERF_TERMS_MAX terms? */
bool perf_combination_valid(const struct perf_combination *c);

/* Order of a list: lower rank_error, fewer terms, smaller numbers of f_comp, f_comm,
 * f_bw, f_Pcomp, f_Pcomm. < 0: a comes first. */
int perf_combination_compare(const struct perf_combination *a,
                             const struct perf_combination *b);

/* An error to 10 digits: fits that are equal but for rounding compare equal. */
double perf_rank_error(double error);

/* The same functions? */
bool perf_combination_same(const struct perf_combination *a,
                           const struct perf_combination *b);

/* Forgets what it has seen: statistics and coefficients, not the functions. */
void perf_combination_clear(struct perf_combination *c);

/* One more run, without a fault (perf_sample_fault() in performance.h): rotates its row
 * into the triangle; O(terms^2). The coefficients are those from before until
 * perf_combination_solve(). */
void perf_combination_add(struct perf_combination *c, const struct perf_sample *sample,
                          struct perf_fit_rule rule);

/* Coefficients and standard error from the triangle; O(terms^2). The error is
 * infinite when the columns depend on each other, when there are not more rows than
 * terms, when a run was refused, or by rule.nonnegative. */
void perf_combination_solve(struct perf_combination *c, struct perf_fit_rule rule);

/* Coefficients >= 0 from the triangle: the least error among the fits of subsets
 * of its columns that have no negative one. False: there is none. */
bool perf_combination_solve_nonnegative(struct perf_combination *c);

/* Can its functions take this problem size and bandwidth? */
bool perf_combination_takes(const struct perf_combination *c, double problem_size,
                            double processors, double bandwidth_mbps);

/* Its part of a schedule's model at a problem size, each side by a factor (1: as
 * fitted); a problem size that its logarithms cannot take gives NAN. */
struct perf_term perf_combination_term(const struct perf_combination *c,
                                       double problem_size, double cpu_factor,
                                       double bandwidth_factor);

/* The time; not positive or not finite is the caller's to see. A bandwidth that
 * a logarithm cannot take is raised as in term.h. On one processor: f_comp / cpu. */
double perf_combination_time_s(const struct perf_combination *c,
                               const struct perf_query *query);

/* May T only fall as P grows, at every N? Ids of P 0 .. 8 and no negative
 * coefficient. */
bool perf_combination_monotone(const struct perf_combination *c);

/* All of it as numbers, for a column of doubles (infinity and NAN among them), and
 * back; every integer in it is below 2^53. False: not a packed combination. */
void perf_combination_pack(const struct perf_combination *c, double out[]);
bool perf_combination_unpack(const double packed[], size_t count,
                             struct perf_combination *out);

#endif

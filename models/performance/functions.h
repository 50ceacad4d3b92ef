/* performance/functions.h - the functions a performance model is made of.
 *
 * A model of the run time of a tightly coupled application is a sum of terms
 *
 *     b(N) / (cpu * f_P(P))      and      b(N) / (f_bw(bandwidth) * f_P(P))
 *
 * with a basis function b of the problem size, a function of the processors and
 * one of the bandwidth, each named by a number that is stored and printed. All
 * logarithms are natural, the bandwidth is in Mbit/s: coefficients depend on both.
 *
 * Source: spec performance-models.md 5; 003_a5f9349f46eae656 tables 3.1 and 3.2.
 * The source counts 77 candidates of N but does not list them: ours are every one
 * and every two of twelve basis functions, without the constant alone.
 */
#ifndef GRIDPLAN_PERFORMANCE_FUNCTIONS_H
#define GRIDPLAN_PERFORMANCE_FUNCTIONS_H

#include <stdbool.h>

enum {
    PERF_BASES = 12,      /* bits of a mask of basis functions */
    PERF_CANDIDATES = 77, /* functions of the problem size, F1 .. F77 */
    PERF_P_IDS = 16,      /* of the source: 1 .. 16; ours besides: 0, 17, 18 */
    PERF_BW_IDS = 8,      /* 1 .. 8 */
    PERF_NONE = -1,       /* in place of an id: the term has no such function */
};

/* Function of the number of processors, >= 1, which stands in the denominator:
 * 1 sqrt(P), 2 P, 3 P^1.5, 4 P^2, 5 P^2.5, 6 P^3, 7 ln P, 8 P ln P, 9 .. 16 one
 * divided by 1 .. 8; beyond the source 0 constant 1, 17 P / ln P, 18 ln P / P.
 * At P = 1 those with a logarithm are 0 or infinite: a model leaves all of them
 * out there. NAN for another id. */
double perf_p_value(int id, double processors);

/* Function of the bandwidth, which stands in the denominator: 1 sqrt(x), 2 x,
 * 3 x^1.5, 4 x^2, 5 x^2.5, 6 x^3, 7 ln x, 8 x ln x. The last two are of use for
 * x > 1 only, and are not clamped here. NAN for another id. */
double perf_bw_value(int id, double bandwidth_mbps);

bool perf_p_id_valid(int id);  /* 0 .. 18 */
bool perf_bw_id_valid(int id); /* 1 .. 8 */

/* Basis function of the problem size N by its bit: 0 1, 1 ln N, 2 N^0.5, 3 N,
 * 4 N ln N, 5 N (ln N)^2, 6 N^1.5, 7 N^2, 8 N^2 ln N, 9 N^2.5, 10 N^3,
 * 11 N^3 ln N. */
double perf_basis(int bit, double problem_size);

/* All of them at once: cheaper than one by one. */
void perf_bases(double problem_size, double value[]);

/* Does the mask hold a function with a logarithm, which needs N > 1? */
bool perf_mask_needs_log(unsigned mask);

/* Masks of F1 .. F77, at the index of the number less 1. */
extern const unsigned short perf_candidates[];

/* The number of a mask, 1 .. 77; 0: not a candidate. */
int perf_candidate_of(unsigned mask);

#endif

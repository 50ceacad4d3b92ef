/* performance/triangle.h - least squares one row at a time.
 *
 * The upper triangle U of a QR factorisation of [A | y], packed row by row: of order
 * `terms` + 1, the last column for y. U holds all that a fit needs of the rows, and
 * plane rotations bring in one more in O(terms^2). The root of the sum of squared
 * errors is |U_tt|.
 *
 * Source: spec performance-models.md 6.1, 10.1; Golub, Van Loan, "Matrix
 * Computations", 5.1 and 6.5 (updating).
 */
#ifndef GRIDPLAN_PERFORMANCE_TRIANGLE_H
#define GRIDPLAN_PERFORMANCE_TRIANGLE_H

#include <stdbool.h>
#include <stddef.h>

/* A column whose part that is new is smaller than this, of its length, depends on
 * those before it. */
#define TRIANGLE_RANK_LEAST 1e-10

/* Numbers of a triangle for so many terms, and the place of row i, column j >= i. */
#define TRIANGLE_SIZE(terms)     (((terms) + 1) * ((terms) + 2) / 2)
#define TRIANGLE_AT(terms, i, j) ((i) * (2 * (terms) + 3 - (i)) / 2 + (j) - (i))

/* Brings in one row of terms + 1 numbers, which are used up. */
void perf_triangle_add(double *u, size_t terms, double *row);

/* Coefficients of the least squares solution; false when columns depend on each
 * other or a number is not finite (x is then in part written). */
bool perf_triangle_solve(const double *u, size_t terms, double *x);

/* Length of column j: of its data column, or of y for j = terms. */
double perf_triangle_norm(const double *u, size_t terms, size_t j);

#endif

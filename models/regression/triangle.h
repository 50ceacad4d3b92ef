/* regression/triangle.h - least squares from what is left of the rows.
 *
 * Internal to this folder. The rows [a_1 .. a_t | y] of a linear problem are
 * rotated one by one into the upper triangle U of their QR factorisation, kept row
 * by row in (t+1)(t+2)/2 numbers: all that later fits and further rows need. A row
 * is weighted by scaling it. No normal equations: the condition is not squared.
 *
 * Source: spec performance-models.md 10.1; C. L. Lawson and R. J. Hanson, "Solving
 * Least Squares Problems", 1974, chapter 23 (non-negative coefficients).
 */
#ifndef GRIDPLAN_REGRESSION_TRIANGLE_H
#define GRIDPLAN_REGRESSION_TRIANGLE_H

#include <stdbool.h>
#include <stddef.h>

enum {
    TRIANGLE_COLUMNS_MAX = 8,
    TRIANGLE_SIZE_MAX = (TRIANGLE_COLUMNS_MAX + 1) * (TRIANGLE_COLUMNS_MAX + 2) / 2,
};

#define TRIANGLE_SIZE(t) (((t) + 1) * ((t) + 2) / 2)

/* Rotates in a row of t + 1 numbers. O(t^2). */
void triangle_add(double *u, size_t t, const double *row);

/* Coefficients of the columns in `mask` (bit k: column k), 0 for the others, and the
 * sum of squared residuals; false: the columns depend on each other. O(t^3). */
bool triangle_solve(const double *u, size_t t, unsigned mask, double *coefficient,
                    double *squares);

/* Coefficients >= 0 of the least sum of squares, by Lawson and Hanson's active sets.
 * The mask of those that are not 0. A column that depends on others is left out. */
unsigned triangle_solve_nonnegative(const double *u, size_t t, double *coefficient,
                                    double *squares);

/* x (A'A)^-1 x' over the columns in `mask`; infinite where they depend. */
double triangle_leverage(const double *u, size_t t, unsigned mask, const double *row);

#endif

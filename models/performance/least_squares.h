/* performance/least_squares.h - QR factorisations by LAPACK.
 *
 * Matrices are column by column, one after another. Nothing is allocated: work space
 * is the caller's. Householder reflections without pivoting treat every column by
 * itself, so columns need no scaling; ranks are assessed by the length of each column.
 */
#ifndef GRIDPLAN_PERFORMANCE_LEAST_SQUARES_H
#define GRIDPLAN_PERFORMANCE_LEAST_SQUARES_H

#include <stddef.h>

/* Numbers of work space for matrices of so many columns. */
#define LEAST_SQUARES_WORK(columns) (64 * (columns))

/* Factors `matrix` in place: R above and on the diagonal, reflections below, their
 * factors in tau (one for each column). `columns` >= 1. */
void least_squares_factor(double *matrix, size_t rows, size_t columns, double *tau,
                          double *work);

/* block = Q' * block for the Q of a factored matrix. */
void least_squares_apply(const double *matrix, size_t rows, size_t columns,
                         const double *tau, double *block, size_t block_columns,
                         double *work);

/* The packed triangle (triangle.h, diagonal >= 0) of all rows of [A | y] at once;
 * `matrix` of terms + 1 columns is used up. */
void least_squares_triangle(double *matrix, size_t rows, size_t terms, double *triangle,
                            double *work);

#endif

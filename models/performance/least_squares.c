/* performance/least_squares.c - QR factorisations by LAPACK: the only file that
 * knows it. The _work variants of LAPACKE neither allocate nor look for NAN; what
 * comes in is finite (perf_sample_fault). */
#include "models/performance/least_squares.h"

#include "models/performance/triangle.h"

#include <assert.h>
#include <lapacke.h>
#include <math.h>

enum { TERMS_MAX = 64 };

void least_squares_factor(double *matrix, size_t rows, size_t columns, double *tau,
                          double *work)
{
    lapack_int info = LAPACKE_dgeqrf_work(
        LAPACK_COL_MAJOR, (lapack_int)rows, (lapack_int)columns, matrix, (lapack_int)rows,
        tau, work, (lapack_int)LEAST_SQUARES_WORK(columns));

    assert(info == 0);
    (void)info;
}

void least_squares_apply(const double *matrix, size_t rows, size_t columns,
                         const double *tau, double *block, size_t block_columns,
                         double *work)
{
    lapack_int info = LAPACKE_dormqr_work(
        LAPACK_COL_MAJOR, 'L', 'T', (lapack_int)rows, (lapack_int)block_columns,
        (lapack_int)columns, matrix, (lapack_int)rows, tau, block, (lapack_int)rows, work,
        (lapack_int)LEAST_SQUARES_WORK(block_columns));

    assert(info == 0);
    (void)info;
}

void least_squares_triangle(double *matrix, size_t rows, size_t terms, double *triangle,
                            double *work)
{
    double tau[TERMS_MAX];

    assert(terms < TERMS_MAX);
    if (rows > 0)
        least_squares_factor(matrix, rows, terms + 1, tau, work);
    for (size_t i = 0; i <= terms; i++) {
        double sign = i < rows && matrix[i * rows + i] < 0 ? -1 : 1;

        for (size_t j = i; j <= terms; j++)
            triangle[TRIANGLE_AT(terms, i, j)] =
                i < rows ? sign * matrix[j * rows + i] : 0;
    }
}

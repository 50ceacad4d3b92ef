/* performance/triangle.c - least squares one row at a time. */
#include "models/performance/triangle.h"

#include <math.h>

void perf_triangle_add(double *u, size_t terms, double *row)
{
    for (size_t k = 0; k <= terms; k++) {
        double *uk = u + TRIANGLE_AT(terms, k, k);
        double h, c, s;

        if (row[k] == 0)
            continue;
        h = hypot(*uk, row[k]);
        c = *uk / h;
        s = row[k] / h;
        for (size_t j = k; j <= terms; j++) {
            double upper = uk[j - k], lower = row[j];

            uk[j - k] = c * upper + s * lower;
            row[j] = c * lower - s * upper;
        }
    }
}

double perf_triangle_norm(const double *u, size_t terms, size_t j)
{
    double norm = 0;

    for (size_t i = 0; i <= j; i++)
        norm = hypot(norm, u[TRIANGLE_AT(terms, i, j)]);
    return norm;
}

bool perf_triangle_solve(const double *u, size_t terms, double *x)
{
    for (size_t k = terms; k-- > 0;) {
        double diagonal = u[TRIANGLE_AT(terms, k, k)];
        double sum = u[TRIANGLE_AT(terms, k, terms)];

        if (!(fabs(diagonal) >= TRIANGLE_RANK_LEAST * perf_triangle_norm(u, terms, k)) ||
            diagonal == 0)
            return false;
        for (size_t j = k + 1; j < terms; j++)
            sum -= u[TRIANGLE_AT(terms, k, j)] * x[j];
        x[k] = sum / diagonal;
        if (!isfinite(x[k]))
            return false;
    }
    return true;
}

/* regression/triangle.c - least squares from what is left of the rows. */
#include "models/regression/triangle.h"

#include <math.h>
#include <string.h>

/* A column whose part orthogonal to the ones before is a smaller share of it than
 * this depends on them. */
#define RANK_MIN 1e-10

/* Position of U[k][j], k <= j, among rows of t + 1, t, ... numbers. */
static size_t at(size_t t, size_t k, size_t j)
{
    return k * (t + 1) - (k * k - k) / 2 + (j - k);
}

void triangle_add(double *u, size_t t, const double *row)
{
    double r[TRIANGLE_COLUMNS_MAX + 1];

    memcpy(r, row, (t + 1) * sizeof(*r));
    for (size_t k = 0; k <= t; k++) {
        double h = hypot(u[at(t, k, k)], r[k]), c, s;

        if (r[k] == 0)
            continue;
        c = u[at(t, k, k)] / h;
        s = r[k] / h;
        for (size_t j = k; j <= t; j++) {
            double old = u[at(t, k, j)];

            u[at(t, k, j)] = c * old + s * r[j];
            r[j] = c * r[j] - s * old;
        }
    }
}

/* The triangle of the columns in `mask`, in v; their number. */
static size_t choose(const double *u, size_t t, unsigned mask, double *v)
{
    size_t column[TRIANGLE_COLUMNS_MAX + 1], count = 0;

    for (size_t k = 0; k < t; k++) {
        if (mask >> k & 1)
            column[count++] = k;
    }
    if (count == t) {
        memcpy(v, u, TRIANGLE_SIZE(t) * sizeof(*v));
        return count;
    }
    column[count] = t;
    memset(v, 0, TRIANGLE_SIZE_MAX * sizeof(*v));
    for (size_t k = 0; k <= t; k++) {
        double row[TRIANGLE_COLUMNS_MAX + 1];

        for (size_t j = 0; j <= count; j++)
            row[j] = column[j] >= k ? u[at(t, k, column[j])] : 0;
        triangle_add(v, count, row);
    }
    return count;
}

static bool independent(const double *v, size_t t)
{
    for (size_t j = 0; j < t; j++) {
        double norm = 0;

        for (size_t k = 0; k <= j; k++)
            norm = hypot(norm, v[at(t, k, j)]);
        if (!(fabs(v[at(t, j, j)]) > RANK_MIN * norm) || !isfinite(norm))
            return false;
    }
    return true;
}

bool triangle_solve(const double *u, size_t t, unsigned mask, double *coefficient,
                    double *squares)
{
    double v[TRIANGLE_SIZE_MAX], x[TRIANGLE_COLUMNS_MAX] = {0};
    size_t count = choose(u, t, mask, v), next = count;

    if (!independent(v, count))
        return false;
    for (size_t k = count; k-- > 0;) {
        x[k] = v[at(count, k, count)];
        for (size_t j = k + 1; j < count; j++)
            x[k] -= v[at(count, k, j)] * x[j];
        x[k] /= v[at(count, k, k)];
    }
    for (size_t k = t; k-- > 0;)
        coefficient[k] = mask >> k & 1 ? x[--next] : 0;
    *squares = v[at(count, count, count)] * v[at(count, count, count)];
    return true;
}

double triangle_leverage(const double *u, size_t t, unsigned mask, const double *row)
{
    double v[TRIANGLE_SIZE_MAX], x[TRIANGLE_COLUMNS_MAX] = {0}, sum = 0;
    size_t count = choose(u, t, mask, v), next = 0;

    if (!independent(v, count))
        return HUGE_VAL;
    for (size_t k = 0; k < t; k++) {
        if (mask >> k & 1)
            x[next++] = row[k];
    }
    for (size_t k = 0; k < count; k++) { /* x R^-1, column by column */
        for (size_t j = 0; j < k; j++)
            x[k] -= x[j] * v[at(count, j, k)];
        x[k] /= v[at(count, k, k)];
        sum += x[k] * x[k];
    }
    return sum;
}

/* ---- coefficients that may not be negative ---- */

/* The column outside `mask` along which the sum of squares falls fastest, by its
 * share of the column's length; t: none. */
static size_t steepest(const double *u, size_t t, unsigned mask,
                       const double *coefficient)
{
    double most = 0, residual[TRIANGLE_COLUMNS_MAX + 1], length = 0;
    size_t best = t;

    for (size_t k = 0; k <= t; k++) {
        residual[k] = u[at(t, k, t)];
        length = hypot(length, residual[k]);
        for (size_t j = k; j < t; j++)
            residual[k] -= u[at(t, k, j)] * coefficient[j];
    }
    for (size_t j = 0; j < t; j++) {
        double gradient = 0, norm = 0;

        for (size_t k = 0; k <= j; k++) {
            gradient += u[at(t, k, j)] * residual[k];
            norm = hypot(norm, u[at(t, k, j)]);
        }
        if (!(mask >> j & 1) && norm > 0 && gradient / norm > most * (1 + RANK_MIN)) {
            most = gradient / norm;
            best = j;
        }
    }
    return most > RANK_MIN * length ? best : t;
}

/* Goes from `from` towards `to` until the first coefficient is 0; drops what is. */
static unsigned step(size_t t, unsigned mask, double *from, const double *to)
{
    double share = 1;

    for (size_t k = 0; k < t; k++) {
        if (mask >> k & 1 && to[k] <= 0)
            share = fmin(share, from[k] > 0 ? from[k] / (from[k] - to[k]) : 0);
    }
    for (size_t k = 0; k < t; k++) {
        from[k] += share * (to[k] - from[k]);
        if (mask >> k & 1 && to[k] <= 0 && !(from[k] > RANK_MIN * fabs(to[k]))) {
            from[k] = 0;
            mask &= ~(1U << k);
        }
    }
    return mask;
}

static bool any_negative(size_t t, unsigned mask, const double *trial)
{
    for (size_t k = 0; k < t; k++) {
        if (mask >> k & 1 && trial[k] <= 0)
            return true;
    }
    return false;
}

/* Moves to the solution over `mask`, dropping columns until none is negative; the
 * columns that are left. */
static unsigned move(const double *u, size_t t, unsigned mask, double *coefficient,
                     double *trial, double *squares)
{
    while (any_negative(t, mask, trial)) {
        unsigned left = step(t, mask, coefficient, trial);

        if (left == mask || !triangle_solve(u, t, left, trial, squares))
            return left;
        mask = left;
    }
    memcpy(coefficient, trial, t * sizeof(*trial));
    return mask;
}

/* The exact solution over the columns that are above 0; rounding may leave a last
 * one below. */
static unsigned finish(const double *u, size_t t, double *coefficient, double *squares)
{
    unsigned mask = 0;

    for (size_t k = 0; k < t; k++)
        mask |= coefficient[k] > 0 ? 1U << k : 0;
    if (!triangle_solve(u, t, mask, coefficient, squares))
        memset(coefficient, 0, t * sizeof(*coefficient));
    for (size_t k = 0; k < t; k++)
        coefficient[k] = fmax(coefficient[k], 0);
    return mask;
}

unsigned triangle_solve_nonnegative(const double *u, size_t t, double *coefficient,
                                    double *squares)
{
    enum { ROUNDS_MAX = 100 };
    unsigned mask = 0, barred = 0;
    double trial[TRIANGLE_COLUMNS_MAX] = {0};

    memset(coefficient, 0, t * sizeof(*coefficient));
    for (int round = 0; round < ROUNDS_MAX; round++) {
        size_t enters = steepest(u, t, mask | barred, coefficient);

        if (enters == t)
            break;
        if (triangle_solve(u, t, mask | 1U << enters, trial, squares) &&
            trial[enters] > 0)
            mask = move(u, t, mask | 1U << enters, coefficient, trial, squares);
        else
            barred |= 1U << enters; /* it depends on others, or rounding */
    }
    return finish(u, t, coefficient, squares);
}

/* performance/sweep.c - very many small least squares problems that share columns. */
#include "models/performance/sweep.h"

#include "models/performance/least_squares.h"
#include "models/performance/triangle.h"

#include <math.h>
#include <string.h>

static double dot(const double *x, const double *y, size_t count)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += x[i] * y[i];
    return sum;
}

static double weight_of(const struct sweep *s, size_t row)
{
    return s->rule.relative ? 1 / s->rows[row].time_s : 1;
}

static void set_time(struct sweep *s)
{
    double sum = 0;

    s->size_logs_ok = s->bw_logs_ok = true;
    for (size_t i = 0; i < s->row_count; i++) {
        s->time[i] = s->rule.relative ? 1 : s->rows[i].time_s;
        sum += s->time[i];
        s->size_logs_ok = s->size_logs_ok && s->rows[i].size_log_ok;
        s->bw_logs_ok = s->bw_logs_ok && s->rows[i].bw_log_ok;
    }
    s->time_norm = sqrt(dot(s->time, s->time, s->row_count));
    s->time_mean = s->row_count > 0 ? sum / (double)s->row_count : 0;
}

void sweep_create(struct sweep *s, const struct perf_row *rows, size_t row_count,
                  struct perf_fit_rule rule, bool by_appe, struct arena *a)
{
    *s = (struct sweep){
        .rows = rows, .row_count = row_count, .rule = rule, .by_appe = by_appe};
    s->front = NEW(a, double, 2 * row_count);
    s->factored = NEW(a, double, 2 * row_count);
    s->back = NEW(a, double, SWEEP_BACK_MAX *row_count);
    s->turned = NEW(a, double, (SWEEP_BACK_MAX + 1) * row_count);
    s->time = NEW(a, double, row_count);
    s->spare = NEW(a, double, 2 * row_count);
    s->work = NEW(a, double, LEAST_SQUARES_WORK(SWEEP_BACK_MAX + 1));
    set_time(s);
}

/* The length of a column that may be used; 0: it may not. */
static double usable_norm(const struct sweep *s, const double *column, int bit, int bw_id)
{
    double norm = sqrt(dot(column, column, s->row_count));

    if (!isfinite(norm) || (perf_mask_needs_log(1U << bit) && !s->size_logs_ok) ||
        (bw_id >= 7 && !s->bw_logs_ok))
        return 0;
    return norm;
}

void sweep_set_back(struct sweep *s, const struct sweep_column *columns, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        const struct sweep_column *x = &columns[k];
        double *column = s->back + k * s->row_count;

        for (size_t i = 0; i < s->row_count; i++) {
            const struct perf_row *row = &s->rows[i];

            column[i] = weight_of(s, i) * row->basis[x->bit] * row->bw_inverse[x->bw_id] *
                        row->p_inverse[x->p_id];
        }
        s->back_norm[k] = usable_norm(s, column, x->bit, x->bw_id);
    }
    s->back_count = count;
}

static void fill_front(struct sweep *s, unsigned mask, int p_id)
{
    s->front_count = 0;
    for (int bit = 0; bit < PERF_BASES; bit++) {
        double *column = s->front + s->front_count * s->row_count;

        if (!(mask >> bit & 1U))
            continue;
        for (size_t i = 0; i < s->row_count; i++) {
            const struct perf_row *row = &s->rows[i];
            double p = p_id == PERF_NONE ? 1 : row->p_inverse[p_id];

            column[i] = weight_of(s, i) * row->basis[bit] * row->cpu_inverse * p;
        }
        s->front_norm[s->front_count] = usable_norm(s, column, bit, 0);
        s->front_count++;
    }
}

static bool front_independent(const struct sweep *s)
{
    for (size_t k = 0; k < s->front_count; k++) {
        if (!(s->front_norm[k] > 0) || !(fabs(s->factored[k * s->row_count + k]) >=
                                         TRIANGLE_RANK_LEAST * s->front_norm[k]))
            return false;
    }
    return true;
}

/* Inner products below the front's rows, once for all fits. */
static void measure_tails(struct sweep *s)
{
    size_t skip = s->front_count, length = s->row_count - skip;
    const double *time = s->turned + s->back_count * s->row_count + skip;

    for (size_t k = 0; k < s->back_count; k++) {
        const double *column = s->turned + k * s->row_count + skip;

        s->tail_square[k] = dot(column, column, length);
        s->tail_dot[k] = dot(column, time, length);
    }
    s->tail_time_square = dot(time, time, length);
}

void sweep_set_front(struct sweep *s, unsigned mask, int p_id)
{
    size_t n = s->row_count;

    fill_front(s, mask, p_id);
    s->front_ok = s->front_count < n;
    if (!s->front_ok)
        return;
    memcpy(s->factored, s->front, sizeof(double) * n * s->front_count);
    least_squares_factor(s->factored, n, s->front_count, s->tau, s->work);
    s->front_ok = front_independent(s);
    if (!s->front_ok)
        return;
    memcpy(s->turned, s->back, sizeof(double) * n * s->back_count);
    memcpy(s->turned + n * s->back_count, s->time, sizeof(double) * n);
    least_squares_apply(s->factored, n, s->front_count, s->tau, s->turned,
                        s->back_count + 1, s->work);
    measure_tails(s);
}

/* ---- one fit ---- */

static bool long_enough(double square, double norm)
{
    return norm > 0 && sqrt(square) >= TRIANGLE_RANK_LEAST * norm;
}

/* Errors of a fit with one back column; its coefficient. */
static double solve_one(const struct sweep *s, int u, double *coefficient)
{
    size_t skip = s->front_count, length = s->row_count - skip;
    const double *x = s->turned + (size_t)u * s->row_count + skip;
    const double *time = s->turned + s->back_count * s->row_count + skip;
    double share = s->tail_dot[u] / s->tail_square[u], square = 0;

    for (size_t i = 0; i < length; i++) {
        double rest = time[i] - share * x[i];

        square += rest * rest;
    }
    *coefficient = share;
    return square;
}

/* The same with two; negative when the second depends on the first. */
static double solve_two(const struct sweep *s, int u, int v, double coefficients[2])
{
    size_t skip = s->front_count, length = s->row_count - skip;
    const double *x = s->turned + (size_t)u * s->row_count + skip;
    const double *y = s->turned + (size_t)v * s->row_count + skip;
    const double *time = s->turned + s->back_count * s->row_count + skip;
    double *rest_y = s->spare, *rest_time = s->spare + s->row_count;
    double share = s->tail_dot[u] / s->tail_square[u];
    double overlap = dot(x, y, length) / s->tail_square[u];
    double norm = 0, product = 0, second, square = 0;

    for (size_t i = 0; i < length; i++) {
        rest_y[i] = y[i] - overlap * x[i];
        rest_time[i] = time[i] - share * x[i];
        norm += rest_y[i] * rest_y[i];
        product += rest_y[i] * rest_time[i];
    }
    if (!long_enough(norm, s->back_norm[v]))
        return -1;
    second = product / norm;
    for (size_t i = 0; i < length; i++) {
        double rest = rest_time[i] - second * rest_y[i];

        square += rest * rest;
    }
    coefficients[0] = share - overlap * second;
    coefficients[1] = second;
    return square;
}

/* Coefficients of the front, by the rows of R, given those of the back. */
static void solve_front(const struct sweep *s, const int *column, size_t back_count,
                        double *coefficients)
{
    for (size_t k = s->front_count; k-- > 0;) {
        double sum = s->turned[s->back_count * s->row_count + k];

        for (size_t j = 0; j < back_count; j++)
            sum -= s->turned[(size_t)column[j] * s->row_count + k] *
                   coefficients[s->front_count + j];
        for (size_t j = k + 1; j < s->front_count; j++)
            sum -= s->factored[j * s->row_count + k] * coefficients[j];
        coefficients[k] = sum / s->factored[k * s->row_count + k];
    }
}

static bool negative(const struct sweep *s, const int *column, size_t back_count,
                     double *coefficients)
{
    double least = -PERF_NEGATIVE_SHARE * s->time_norm;

    for (size_t k = 0; k < s->front_count + back_count; k++) {
        double norm = k < s->front_count ? s->front_norm[k]
                                         : s->back_norm[column[k - s->front_count]];

        if (coefficients[k] * norm < least)
            return true;
        coefficients[k] = fmax(coefficients[k], 0);
    }
    return false;
}

static double appe_of(const struct sweep *s, const int *column, size_t back_count,
                      const double *coefficients)
{
    double sum = 0;

    for (size_t i = 0; i < s->row_count; i++) {
        double fitted = 0;

        for (size_t k = 0; k < s->front_count; k++)
            fitted += coefficients[k] * s->front[k * s->row_count + i];
        for (size_t k = 0; k < back_count; k++)
            fitted += coefficients[s->front_count + k] *
                      s->back[(size_t)column[k] * s->row_count + i];
        sum += fabs(1 - fitted / s->time[i]);
    }
    return sum / (double)s->row_count;
}

/* Sum of squared errors with these back columns; negative: they depend on others. */
static double solve_back(const struct sweep *s, const int *column, size_t count,
                         double *coefficients)
{
    if (count == 0)
        return s->tail_time_square;
    if (!long_enough(s->tail_square[column[0]], s->back_norm[column[0]]))
        return -1;
    return count == 1 ? solve_one(s, column[0], coefficients)
                      : solve_two(s, column[0], column[1], coefficients);
}

struct sweep_fit sweep_solve(const struct sweep *s, int u, int v)
{
    struct sweep_fit fit = {.standard_error = HUGE_VAL, .rank_error = HUGE_VAL};
    int column[2] = {u, v};
    size_t back_count = (size_t)(u != SWEEP_NO_COLUMN) + (size_t)(v != SWEEP_NO_COLUMN);
    size_t terms = s->front_count + back_count;
    double square, error;

    if (!s->front_ok || s->row_count <= terms)
        return fit;
    square = solve_back(s, column, back_count, fit.coefficients + s->front_count);
    if (!(square >= 0))
        return fit;
    solve_front(s, column, back_count, fit.coefficients);
    if (s->rule.nonnegative && negative(s, column, back_count, fit.coefficients))
        return fit;
    error = sqrt(square / (double)(s->row_count - terms));
    if (!isfinite(error))
        return fit;
    fit.standard_error = error < PERF_EXACT_SHARE * s->time_mean ? 0 : error;
    fit.rank_error =
        perf_rank_error(s->by_appe ? appe_of(s, column, back_count, fit.coefficients)
                                   : fit.standard_error);
    return fit;
}

/* ensemble/ridge.c - least squares that never lacks an answer.
 *
 * Columns: z = (ln x - mu) / sd of each number that is used (x itself where one is not
 * positive), z^2 - 1, one of 0 and 1 for each value of a category, and 1. Minimises
 *
 *     sum w (y - mean - columns b)^2 + sum penalty_k b_k^2
 *
 * by the normal equations. Far outside, |z| above 6 grows as a logarithm.
 * Source: A. Hoerl, R. Kennard, "Ridge regression", 1970; penalties are ours.
 * Cost: O(runs c^2 + columns^3), c: columns of a run that are not 0, at most 57.
 */
#include "models/ensemble/internal.h"

#include <math.h>
#include <string.h>

#define PENALTY_LINEAR   0.1
#define PENALTY_SQUARE   1.0
#define PENALTY_CATEGORY 0.5
#define PENALTY_CONSTANT 1e-6
#define PIVOT_LEAST      1e-12
#define SD_LEAST         1e-9
#define Z_FREE           6.0

enum {
    COLUMNS_MAX = 2 * ENSEMBLE_NUMBERS_MAX + ENSEMBLE_CATEGORICAL_MAX * CODES_MAX + 1,
    ENTRIES_MAX = 2 * ENSEMBLE_NUMBERS_MAX + ENSEMBLE_CATEGORICAL_MAX + 1,
};

/* What of a row is not 0. */
struct entries {
    size_t column[ENTRIES_MAX];
    double value[ENTRIES_MAX];
    size_t count;
};

/* Columns, in order: all z, all squares, the categories, 1. */
struct columns {
    size_t linear[ENSEMBLE_INPUTS_MAX], square[ENSEMBLE_INPUTS_MAX];
    size_t category[ENSEMBLE_INPUTS_MAX]; /* the first of the input */
    size_t constant, count;
};

static double z_of(const struct ridge_input *in, double x)
{
    double z;

    if (isnan(x))
        return 0; /* as the mean */
    if (in->logs && !(x > 0))
        x = in->least / 2;
    z = ((in->logs ? log(x) : x) - in->mu) / in->sd;
    return fabs(z) > Z_FREE ? copysign(Z_FREE + log(fabs(z) - (Z_FREE - 1)), z) : z;
}

/* Mean and deviation of an input over the rows that have it; false: one value only. */
static bool scale_input(const struct part *part, size_t k, struct ridge_input *in)
{
    double sum = 0, squares = 0, low = HUGE_VAL, high = -HUGE_VAL;
    size_t count = 0;

    for (size_t i = 0; i < part->count; i++) {
        double x = part_x(part, i)[k];

        if (isnan(x))
            continue;
        low = fmin(low, x);
        high = fmax(high, x);
        count++;
    }
    if (!(low < high))
        return false;
    in->logs = low > 0;
    in->least = low;
    for (size_t i = 0; i < part->count; i++) {
        double x = part_x(part, i)[k];

        if (!isnan(x))
            sum += in->logs ? log(x) : x;
    }
    in->mu = sum / (double)count;
    for (size_t i = 0; i < part->count; i++) {
        double x = part_x(part, i)[k], off;

        if (isnan(x))
            continue;
        off = (in->logs ? log(x) : x) - in->mu;
        squares += off * off;
    }
    in->sd = fmax(sqrt(squares / (double)count), SD_LEAST);
    return true;
}

static void lay_out(const struct part *part, struct ridge *ridge, struct columns *c)
{
    const struct ensemble *e = part->table->e;

    *c = (struct columns){0};
    for (size_t k = 0; k < e->input_count; k++) {
        struct ridge_input *in = &ridge->number[k];

        in->is_in =
            !e->input[k].is_text && e->input[k].is_used && scale_input(part, k, in);
        if (in->is_in)
            c->linear[k] = c->count++;
    }
    for (size_t k = 0; k < e->input_count; k++)
        if (ridge->number[k].is_in)
            c->square[k] = c->count++;
    for (size_t k = 0; k < e->input_count; k++) {
        if (!e->input[k].is_text || !e->input[k].is_used)
            continue;
        c->category[k] = c->count;
        c->count += e->input[k].value_count + e->input[k].has_rest;
    }
    c->constant = c->count++;
}

static void enter(struct entries *row, size_t column, double value)
{
    row->column[row->count] = column;
    row->value[row->count++] = value;
}

static void entries_of(const struct ensemble *e, const struct ridge *ridge,
                       const struct columns *c, const double *x, struct entries *row)
{
    row->count = 0;
    for (size_t k = 0; k < e->input_count; k++) {
        double z;

        if (e->input[k].is_text && e->input[k].is_used && !isnan(x[k]))
            enter(row, c->category[k] + (size_t)x[k], 1);
        if (!ridge->number[k].is_in)
            continue;
        z = z_of(&ridge->number[k], x[k]);
        enter(row, c->linear[k], z);
        enter(row, c->square[k], z * z - 1);
    }
    enter(row, c->constant, 1);
}

static void penalise(const struct ensemble *e, const struct ridge *ridge,
                     const struct columns *c, double *normal)
{
    for (size_t k = 0; k < c->count; k++)
        normal[k * c->count + k] = PENALTY_CATEGORY;
    for (size_t k = 0; k < e->input_count; k++) {
        if (!ridge->number[k].is_in)
            continue;
        normal[c->linear[k] * c->count + c->linear[k]] = PENALTY_LINEAR;
        normal[c->square[k] * c->count + c->square[k]] = PENALTY_SQUARE;
    }
    normal[c->constant * c->count + c->constant] = PENALTY_CONSTANT;
}

/* Solves A x = b in place, A symmetric, its lower half given. */
static void solve(double *matrix, double *b, size_t n, struct budget *budget)
{
    for (size_t j = 0; j < n; j++) {
        double *row = matrix + j * n;

        budget_step(budget, j * j + 1);
        for (size_t k = 0; k < j; k++) {
            const double *other = matrix + k * n;
            double sum = row[k];

            for (size_t i = 0; i < k; i++)
                sum -= row[i] * other[i];
            row[k] = sum / other[k];
        }
        for (size_t i = 0; i < j; i++)
            row[j] -= row[i] * row[i];
        row[j] = sqrt(fmax(row[j], PIVOT_LEAST));
    }
    for (size_t j = 0; j < n; j++) {
        for (size_t i = 0; i < j; i++)
            b[j] -= matrix[j * n + i] * b[i];
        b[j] /= matrix[j * n + j];
    }
    for (size_t j = n; j-- > 0;) {
        for (size_t i = j + 1; i < n; i++)
            b[j] -= matrix[i * n + j] * b[i];
        b[j] /= matrix[j * n + j];
    }
}

static void add_row(const struct entries *row, double y, double weight, size_t n,
                    double *normal, double *right)
{
    for (size_t i = 0; i < row->count; i++) {
        double v = weight * row->value[i];

        right[row->column[i]] += v * y;
        for (size_t k = 0; k < row->count; k++)
            if (row->column[k] <= row->column[i])
                normal[row->column[i] * n + row->column[k]] += v * row->value[k];
    }
}

static void keep(const struct ensemble *e, const struct columns *c, const double *b,
                 struct ridge *ridge)
{
    size_t text = 0;

    for (size_t k = 0; k < e->input_count; k++) {
        if (ridge->number[k].is_in) {
            ridge->number[k].linear = b[c->linear[k]];
            ridge->number[k].square = b[c->square[k]];
        }
        if (!e->input[k].is_text)
            continue;
        if (e->input[k].is_used)
            memcpy(ridge->category[text], b + c->category[k],
                   (e->input[k].value_count + e->input[k].has_rest) * sizeof(*b));
        text++;
    }
    ridge->constant = b[c->constant];
}

void ridge_fit(const struct part *part, struct budget *budget, struct ridge *out,
               struct arena *a)
{
    const struct table *t = part->table;
    struct arena_mark mark;
    struct columns c;
    struct entries row;
    double *normal, *right, weights = 0;

    *out = (struct ridge){0};
    for (size_t i = 0; i < part->count; i++) {
        weights += t->weight[part->row[i]];
        out->mean += t->weight[part->row[i]] * t->y[part->row[i]];
    }
    out->mean /= weights;
    lay_out(part, out, &c);
    mark = arena_mark(a);
    normal = NEW(a, double, c.count *c.count);
    right = NEW(a, double, c.count);
    penalise(t->e, out, &c, normal);
    for (size_t i = 0; i < part->count; i++) {
        entries_of(t->e, out, &c, part_x(part, i), &row);
        budget_step(budget, row.count * row.count);
        add_row(&row, t->y[part->row[i]] - out->mean, t->weight[part->row[i]], c.count,
                normal, right);
    }
    solve(normal, right, c.count, budget);
    keep(t->e, &c, right, out);
    arena_rewind(a, mark);
}

double ridge_answer(const struct ensemble *e, const struct ridge *ridge, const double *x)
{
    double y = ridge->mean + ridge->constant;
    size_t text = 0;

    for (size_t k = 0; k < e->input_count; k++) {
        const struct ridge_input *in = &ridge->number[k];

        if (e->input[k].is_text) {
            if (!isnan(x[k]))
                y += ridge->category[text][(size_t)x[k]];
            text++;
        } else if (in->is_in) {
            double z = z_of(in, x[k]);

            y += in->linear * z + in->square * (z * z - 1);
        }
    }
    return y;
}

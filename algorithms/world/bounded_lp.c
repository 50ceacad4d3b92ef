/* world/bounded_lp.c - a linear program with few rows and bounded columns.
 *
 * Columns column_count and above are the slacks of the rows. The basis begins with them
 * and the densest columns at their most, which is feasible because no a is negative.
 */
#include "algorithms/world/bounded_lp.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
    LARGEST_GAIN_CHANGES = 2000, /* then the first gain: no circles */
    CHANGES_MAX = 20000          /* of the basis */
};

static const double GAIN_LEAST = 1e-11; /* of the largest w */
static const double PIVOT_LEAST = 1e-10;

enum place { AT_ZERO, AT_MOST, IN_BASIS };

struct simplex {
    const struct bounded_lp *lp;
    size_t rows, columns;   /* with slacks */
    double *inverse;        /* of the basis, row after row */
    size_t *basis;          /* by row */
    double *value;          /* of the basic variables, by row */
    unsigned char *place;   /* by column, with slacks */
    double *reduced;        /* w_c - u a_c, by column, with slacks */
    double *prices, *entry; /* u; the entering column in terms of the basis */
    double least;           /* gain that counts */
};

static double most_of(const struct simplex *s, size_t column)
{
    return column < s->lp->column_count ? s->lp->most[column] : HUGE_VAL;
}

static void price(struct simplex *s)
{
    const struct bounded_lp *lp = s->lp;

    memset(s->prices, 0, s->rows * sizeof(double));
    for (size_t i = 0; i < s->rows; i++) {
        double w = s->basis[i] < lp->column_count ? lp->gains[s->basis[i]] : 0;

        for (size_t r = 0; w != 0 && r < s->rows; r++)
            s->prices[r] += w * s->inverse[i * s->rows + r];
    }
    for (size_t c = 0; c < lp->column_count; c++) {
        double d = lp->gains[c];

        for (size_t r = 0; r < s->rows; r++)
            d -= s->prices[r] * lp->columns[c * s->rows + r];
        s->reduced[c] = d;
    }
    for (size_t r = 0; r < s->rows; r++)
        s->reduced[lp->column_count + r] = -s->prices[r];
}

static double gain_of(const struct simplex *s, size_t column)
{
    return s->place[column] == AT_ZERO   ? s->reduced[column]
           : s->place[column] == AT_MOST ? -s->reduced[column]
                                         : 0;
}

static void express(struct simplex *s, size_t column)
{
    for (size_t i = 0; i < s->rows; i++) {
        const double *row = s->inverse + i * s->rows;

        if (column >= s->lp->column_count) {
            s->entry[i] = row[column - s->lp->column_count];
            continue;
        }
        s->entry[i] = 0;
        for (size_t r = 0; r < s->rows; r++)
            s->entry[i] += row[r] * s->lp->columns[column * s->rows + r];
    }
}

/* How far the column can go from its bound in `direction`; *leaving: the row whose
 * variable is in the way, s->rows: the column reaches its other bound. */
static double longest_step(const struct simplex *s, size_t column, double direction,
                           size_t *leaving)
{
    double step = most_of(s, column);

    *leaving = s->rows;
    for (size_t i = 0; i < s->rows; i++) {
        double fall = direction * s->entry[i], way = HUGE_VAL;

        if (fall > PIVOT_LEAST)
            way = fmax(0, s->value[i]) / fall;
        else if (fall < -PIVOT_LEAST)
            way = fmax(0, most_of(s, s->basis[i]) - s->value[i]) / -fall;
        if (way < step) {
            step = way;
            *leaving = i;
        }
    }
    return step;
}

static void exchange(struct simplex *s, size_t column, size_t leaving, double direction,
                     double step)
{
    size_t out = s->basis[leaving];
    double *row = s->inverse + leaving * s->rows;

    s->place[out] = direction * s->entry[leaving] > 0 ? AT_ZERO : AT_MOST;
    s->value[leaving] = s->place[column] == AT_MOST ? most_of(s, column) - step : step;
    s->place[column] = IN_BASIS;
    s->basis[leaving] = column;
    for (size_t r = 0; r < s->rows; r++)
        row[r] /= s->entry[leaving];
    for (size_t i = 0; i < s->rows; i++)
        for (size_t r = 0; i != leaving && s->entry[i] != 0 && r < s->rows; r++)
            s->inverse[i * s->rows + r] -= s->entry[i] * row[r];
}

/* false: the column goes to its other bound, and the prices stay. */
static bool move(struct simplex *s, size_t column)
{
    double direction = s->place[column] == AT_ZERO ? 1 : -1;
    size_t leaving;
    double step;

    express(s, column);
    step = longest_step(s, column, direction, &leaving);
    for (size_t i = 0; i < s->rows; i++)
        s->value[i] -= direction * step * s->entry[i];
    if (leaving == s->rows) {
        s->place[column] = s->place[column] == AT_ZERO ? AT_MOST : AT_ZERO;
        return false;
    }
    exchange(s, column, leaving, direction, step);
    price(s);
    return true;
}

/* One change of the basis, by a column of nearly the largest gain, after as many moves
 * from bound to bound as there are before it; false: nothing gains any more. `first`: by
 * the first column that gains. */
static bool improve(struct simplex *s, bool first, struct budget *budget)
{
    for (;;) {
        double best = 0, enough;

        for (size_t c = 0; c < s->columns; c++)
            best = fmax(best, gain_of(s, c));
        if (best <= s->least)
            return false;
        enough = first ? s->least : fmax(s->least, 0.9 * best);
        for (size_t c = 0; c < s->columns; c++) {
            if (gain_of(s, c) < enough)
                continue;
            if (budget_step(budget, s->rows * (1 + s->rows)))
                return false;
            if (move(s, c))
                return true;
        }
    }
}

struct dense {
    double ratio; /* weight by needs, the rows by how much they are asked for */
    size_t column;
};

static int densest_first(const void *a, const void *b)
{
    const struct dense *x = a, *y = b;

    if (x->ratio != y->ratio)
        return x->ratio > y->ratio ? -1 : 1;
    return x->column < y->column ? -1 : 1;
}

/* Columns at their most, the densest first, as long as all rows have room: nearer to the
 * end than x = 0. */
static void begin_dense(struct simplex *s, struct arena *a)
{
    const struct bounded_lp *lp = s->lp;
    struct dense *list = NEW(a, struct dense, lp->column_count);
    double *asked = NEW(a, double, s->rows);

    for (size_t i = 0; i < lp->column_count * s->rows; i++)
        asked[i % s->rows] += lp->columns[i] * lp->most[i / s->rows];
    for (size_t c = 0; c < lp->column_count; c++) {
        double size = 0;

        for (size_t r = 0; r < s->rows; r++)
            size += asked[r] * lp->columns[c * s->rows + r];
        list[c] = (struct dense){size > 0 ? lp->gains[c] / size : HUGE_VAL, c};
    }
    qsort(list, lp->column_count, sizeof(*list), densest_first);
    for (size_t i = 0; i < lp->column_count; i++) {
        size_t c = list[i].column;
        bool fits = true;

        for (size_t r = 0; r < s->rows; r++)
            fits &= lp->columns[c * s->rows + r] * lp->most[c] <= s->value[r];
        if (!fits)
            break;
        for (size_t r = 0; r < s->rows; r++)
            s->value[r] -= lp->columns[c * s->rows + r] * lp->most[c];
        s->place[c] = AT_MOST;
    }
}

static void begin(struct simplex *s, struct arena *a)
{
    double largest = 0;

    s->rows = s->lp->row_count;
    s->columns = s->lp->column_count + s->rows;
    s->inverse = NEW(a, double, s->rows * s->rows);
    s->basis = NEW(a, size_t, s->rows);
    s->value = NEW(a, double, s->rows);
    s->place = NEW(a, unsigned char, s->columns);
    s->reduced = NEW(a, double, s->columns);
    s->entry = NEW(a, double, s->rows);
    for (size_t r = 0; r < s->rows; r++) {
        s->inverse[r * s->rows + r] = 1;
        s->basis[r] = s->lp->column_count + r;
        s->place[s->basis[r]] = IN_BASIS;
        s->value[r] = 1;
    }
    for (size_t c = 0; c < s->lp->column_count; c++)
        largest = fmax(largest, s->lp->gains[c]);
    s->least = GAIN_LEAST * largest;
    begin_dense(s, a);
    price(s);
}

void bounded_lp_solve(const struct bounded_lp *lp, double *x, double *prices,
                      struct budget *budget, struct arena *a)
{
    struct simplex s = {.lp = lp, .prices = prices};
    size_t changes = 0;

    budget_step(budget, lp->column_count * lp->row_count);
    begin(&s, a);
    while (changes < CHANGES_MAX && improve(&s, changes > LARGEST_GAIN_CHANGES, budget)) {
        changes++;
        if (budget_step(budget, s.columns * (1 + s.rows)))
            break;
    }
    for (size_t c = 0; c < lp->column_count; c++)
        x[c] = s.place[c] == AT_MOST ? lp->most[c] : 0;
    for (size_t r = 0; r < s.rows; r++) {
        if (s.basis[r] < lp->column_count)
            x[s.basis[r]] = fmin(fmax(0, s.value[r]), lp->most[s.basis[r]]);
        prices[r] = fmax(0, prices[r]);
    }
}

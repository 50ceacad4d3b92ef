/* progress/simplex.c - the exponential with a limit by Nelder and Mead's simplex.
 *
 * The source's method: vertices at the start and at the start with one coordinate 5 %
 * larger (0.00025 if it is 0); the worst vertex is reflected (-1), then expanded (2) or
 * contracted (0.5), else all shrink towards the best (0.5). Outside b >= 0, k > 0 the sum
 * of squares counts as 1e30. It ends when the values at worst and best vertex differ by
 * less than 1e-12 of themselves, when even the worst is below 1e-28, or after 5000
 * evaluations.
 *
 * It is written out here, and not left to a library, because what it finds where two
 * points cannot determine three parameters depends on the path, and the spec fixes that
 * path and gives numbers for it.
 *
 * Source: spec runtime-prediction.md 4.3, after "Numerical Recipes in C", 10.4, which
 * 000_168dd5aef5075332 [L2290-L2322] names. Cost: up to 5000 n exponentials.
 */
#include "models/progress/internal.h"

enum { DIMENSIONS = 3, VERTICES = DIMENSIONS + 1, EVALUATIONS_MAX = 5000 };
static const double OUTSIDE = 1e30, TOLERANCE = 1e-12, TINY = 1e-28;

struct simplex {
    const struct progress_series *s;
    double sign;
    double vertex[VERTICES][DIMENSIONS]; /* a, b, k */
    double value[VERTICES];
    double sum[DIMENSIONS]; /* of the vertices */
    size_t evaluations;
    size_t worst, second, best; /* vertices; second: next to the worst */
};

static double evaluate(struct simplex *x, const double *p)
{
    double res = 0;

    x->evaluations++;
    if (!(p[1] >= 0) || !(p[2] > 0))
        return OUTSIDE;
    for (size_t i = 0; i < x->s->count; i++) {
        double r = p[0] + x->sign * p[1] * exp(-p[2] * x->s->u[i]) - x->s->v[i];

        res += r * r;
    }
    return isfinite(res) ? res : OUTSIDE;
}

static void add_up(struct simplex *x)
{
    for (size_t d = 0; d < DIMENSIONS; d++) {
        x->sum[d] = 0;
        for (size_t i = 0; i < VERTICES; i++)
            x->sum[d] += x->vertex[i][d];
    }
}

static void start_at(struct simplex *x, const double *start)
{
    for (size_t i = 0; i < VERTICES; i++) {
        for (size_t d = 0; d < DIMENSIONS; d++)
            x->vertex[i][d] = start[d];
        if (i > 0)
            x->vertex[i][i - 1] = start[i - 1] != 0 ? start[i - 1] * 1.05 : 0.00025;
        x->value[i] = evaluate(x, x->vertex[i]);
    }
    add_up(x);
}

static void rank(struct simplex *x)
{
    x->best = 0;
    x->worst = x->value[0] > x->value[1] ? 0 : 1;
    x->second = 1 - x->worst;
    for (size_t i = 0; i < VERTICES; i++) {
        if (x->value[i] <= x->value[x->best])
            x->best = i;
        if (x->value[i] > x->value[x->worst]) {
            x->second = x->worst;
            x->worst = i;
        } else if (x->value[i] > x->value[x->second] && i != x->worst) {
            x->second = i;
        }
    }
}

/* Moves the worst vertex by a factor through the face of the others, if that is better.
 */
static double try_worst(struct simplex *x, double factor)
{
    double to_face = (1 - factor) / DIMENSIONS, to_worst = to_face - factor;
    double *worst = x->vertex[x->worst], p[DIMENSIONS], value;

    for (size_t d = 0; d < DIMENSIONS; d++)
        p[d] = x->sum[d] * to_face - worst[d] * to_worst;
    value = evaluate(x, p);
    if (value < x->value[x->worst]) {
        x->value[x->worst] = value;
        for (size_t d = 0; d < DIMENSIONS; d++) {
            x->sum[d] += p[d] - worst[d];
            worst[d] = p[d];
        }
    }
    return value;
}

static void shrink(struct simplex *x)
{
    for (size_t i = 0; i < VERTICES; i++) {
        if (i == x->best)
            continue;
        for (size_t d = 0; d < DIMENSIONS; d++)
            x->vertex[i][d] = 0.5 * (x->vertex[i][d] + x->vertex[x->best][d]);
        x->value[i] = evaluate(x, x->vertex[i]);
    }
    add_up(x);
}

static void step(struct simplex *x)
{
    double before, value = try_worst(x, -1);

    if (value <= x->value[x->best]) {
        try_worst(x, 2);
    } else if (value >= x->value[x->second]) {
        before = x->value[x->worst];
        value = try_worst(x, 0.5);
        if (value >= before)
            shrink(x);
    }
}

static bool is_done(const struct simplex *x)
{
    double high = x->value[x->worst], low = x->value[x->best];
    double spread = 2 * fabs(high - low) / (fabs(high) + fabs(low) + 1e-30);

    return spread < TOLERANCE || high < TINY || x->evaluations >= EVALUATIONS_MAX;
}

void progress_simplex(const struct progress_series *s, enum progress_function f,
                      const double *start, struct progress_fitted *out)
{
    struct simplex x = {.s = s, .sign = progress_sign(f)};

    start_at(&x, start);
    for (rank(&x); !is_done(&x); rank(&x))
        step(&x);
    *out = (struct progress_fitted){x.vertex[x.best][0], x.vertex[x.best][1],
                                    x.vertex[x.best][2], x.value[x.best]};
    if (!(out->res < OUTSIDE))
        out->res = HUGE_VAL;
}

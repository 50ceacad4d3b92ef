/* regression/normal_form.c - powers and logarithms of the inputs, cross-validated.
 *
 * The performance-model normal form: a constant and terms that are products, over
 * the inputs, of factors x^i log2(x)^j with the exponents that algorithms have:
 *
 *     t = c0 + sum_k c_k prod_l x_l^i_kl log2(x_l)^j_kl
 *
 * Runs with equal inputs are one point, their mean. Each candidate is fitted to the
 * points by least squares and assessed by leaving one point out at a time (from the
 * leverages, without fitting again): root of the mean squared error, as a share of
 * the mean time, so that the great times decide, where scaling shows. The least wins,
 * a further term having to be worth a fifth. With one input the
 * candidates are the constant, each factor, and each pair of them from 8 points on.
 * With several, each input's three best factors are found along lines, on which the
 * other inputs stay the same (without such lines from all points), and then combined
 * into all sets of up to three products; then one factor at a time is exchanged.
 *
 * Interval: +- t s sqrt(1 + leverage), s from the errors of points left out.
 *
 * Source: A. Calotoiu, T. Hoefler, M. Poke, F. Wolf, "Using automated performance
 * modeling to find scalability bugs in complex codes", SC 2013; exponents and the
 * search per input as in Extra-P. Deviation: leave-one-out decides, not the residual;
 * above 500 points the search uses 500 of them or fewer, if possible a grid. Not refined
 * run by run: its functions are what a new run puts in doubt. Cost: O(candidates *
 * points).
 */
#include "models/regression/internal.h"

#include "models/regression/triangle.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    INPUTS_MAX = 3,
    TERMS_MAX = 3,
    BEST_MAX = 3, /* factors of each input that are combined */
    SEARCH_POINTS = 500,
    POINTS_MIN = 4,   /* distinct ones of a model, and of a line */
    GRID_POINTS = 25, /* of a coarser grid, to search with it */
    PAIR_POINTS = 8,  /* for two terms of one input */
    ITERATIONS = 3,   /* of improvement */
    ALL_TERMS = TERMS_MAX,
    NO_FACTOR = -1,
};

#define TERM_PRICE  1.2  /* a further term must lower the error by this factor */
#define ERROR_ZERO  1e-9 /* errors below are rounding */
#define ERROR_WORST 2.0

struct factor {
    double power, log_power;
};

/* Simple ones first: a later one has to be better. */
static const struct factor factors[] = {
    {1, 0},        {2, 0},       {3, 0},       {1.0 / 2, 0}, {0, 1},       {1, 1},
    {2, 1},        {3, 1},       {3.0 / 2, 0}, {5.0 / 2, 0}, {0, 2},       {1, 2},
    {2, 2},        {1.0 / 4, 0}, {1.0 / 3, 0}, {2.0 / 3, 0}, {3.0 / 4, 0}, {5.0 / 4, 0},
    {4.0 / 3, 0},  {5.0 / 3, 0}, {7.0 / 4, 0}, {9.0 / 4, 0}, {7.0 / 3, 0}, {8.0 / 3, 0},
    {11.0 / 4, 0}, {1.0 / 4, 1}, {1.0 / 3, 1}, {1.0 / 2, 1}, {2.0 / 3, 1}, {3.0 / 4, 1},
    {5.0 / 4, 1},  {4.0 / 3, 1}, {3.0 / 2, 1}, {5.0 / 2, 1}, {1.0 / 4, 2}, {1.0 / 3, 2},
    {1.0 / 2, 2},  {2.0 / 3, 2}, {3.0 / 4, 2}, {3.0 / 2, 2}, {5.0 / 2, 2}};

enum { FACTOR_COUNT = sizeof(factors) / sizeof(factors[0]) };

/* Of one candidate: the factor of each input in each term. */
struct candidate {
    size_t term_count;
    int factor[TERMS_MAX][INPUTS_MAX];
};

struct point {
    const double *inputs;
    double mean_s;
    size_t group;        /* of the runs */
    const double *value; /* of every factor of every input, in that order; NULL: not
                            worked out */
};

struct points {
    struct point *point;
    size_t count, input_count;
};

struct fit {
    double triangle[TRIANGLE_SIZE(TERMS_MAX + 1)];
    double coefficient[TERMS_MAX + 1];
    double error; /* of points left out, share of the mean time */
};

/* Own coefficients, then of each term its coefficient, and power and power of the
 * logarithm of each input. */
enum {
    POINTS,
    SCATTER,
    TERM_COUNT,
    CONSTANT,
    TRIANGLE,
    OWN = TRIANGLE + TRIANGLE_SIZE(TERMS_MAX + 1),
};

/* ---- one candidate ---- */

static double factor_value(struct factor f, double x)
{
    return pow(x, f.power) * (f.log_power > 0 ? pow(log2(x), f.log_power) : 1);
}

static void terms(const struct candidate *c, const struct point *p, size_t input_count,
                  double *row)
{
    row[0] = 1;
    for (size_t k = 0; k < c->term_count; k++) {
        row[k + 1] = 1;
        for (size_t i = 0; i < input_count; i++) {
            int f = c->factor[k][i];

            if (f != NO_FACTOR)
                row[k + 1] *= p->value ? p->value[i * FACTOR_COUNT + (size_t)f]
                                       : factor_value(factors[f], p->inputs[i]);
        }
    }
}

static bool solve(const struct points *p, const struct candidate *c, struct fit *out)
{
    size_t t = c->term_count + 1;
    double row[TERMS_MAX + 2], squares;

    memset(out, 0, sizeof(*out));
    out->error = HUGE_VAL;
    if (p->count <= t)
        return false;
    for (size_t i = 0; i < p->count; i++) {
        terms(c, &p->point[i], p->input_count, row);
        row[t] = p->point[i].mean_s;
        triangle_add(out->triangle, t, row);
    }
    return triangle_solve(out->triangle, t, (1U << t) - 1, out->coefficient, &squares);
}

/* What the points without it say of point i; NAN: they cannot. */
static double left_out(const struct points *p, size_t i, const struct candidate *c,
                       const struct fit *f)
{
    size_t t = c->term_count + 1;
    double row[TERMS_MAX + 1], predicted_s = 0, leverage;

    terms(c, &p->point[i], p->input_count, row);
    leverage = triangle_leverage(f->triangle, t, (1U << t) - 1, row);
    for (size_t k = 0; k < t; k++)
        predicted_s += f->coefficient[k] * row[k];
    if (!(leverage < 1 - 1e-9))
        return NAN;
    return p->point[i].mean_s - (p->point[i].mean_s - predicted_s) / (1 - leverage);
}

/* Fits a candidate and assesses it. */
static void try_candidate(const struct points *p, const struct candidate *c,
                          struct fit *out)
{
    double squares = 0, mean_s = 0;

    if (!solve(p, c, out))
        return;
    for (size_t i = 0; i < p->count; i++)
        mean_s += p->point[i].mean_s / (double)p->count;
    for (size_t i = 0; i < p->count; i++) {
        double off = (left_out(p, i, c, out) - p->point[i].mean_s) / mean_s;

        squares += isnan(off) ? ERROR_WORST * ERROR_WORST : off * off;
    }
    out->error = sqrt(squares / (double)p->count);
    if (out->error < ERROR_ZERO)
        out->error = 0;
}

/* Keeps the better of two, the price of its terms included. */
static void compare(const struct points *p, const struct candidate *c,
                    struct candidate *best, double *best_error)
{
    struct fit f;
    double error;

    try_candidate(p, c, &f);
    error = f.error * pow(TERM_PRICE, (double)c->term_count);
    if (error < *best_error * (1 - 1e-6)) {
        *best = *c;
        *best_error = error;
    }
}

/* ---- the search ---- */

static struct candidate single(size_t input, int factor)
{
    struct candidate c = {.term_count = 1};

    for (size_t i = 0; i < INPUTS_MAX; i++)
        c.factor[0][i] = i == input ? factor : NO_FACTOR;
    return c;
}

static void search_one(const struct points *p, struct candidate *best, double *error)
{
    for (int f = 0; f < FACTOR_COUNT; f++) {
        struct candidate c = single(0, f);

        compare(p, &c, best, error);
    }
    for (int f = 0; p->count >= PAIR_POINTS && f < FACTOR_COUNT; f++) {
        for (int g = f + 1; g < FACTOR_COUNT; g++) {
            struct candidate c = single(0, f);

            c.term_count = 2;
            c.factor[1][0] = g;
            compare(p, &c, best, error);
        }
    }
}

static bool same_line(const struct points *p, size_t a, size_t b, size_t input)
{
    for (size_t i = 0; i < p->input_count; i++) {
        if (i != input && p->point[a].inputs[i] != p->point[b].inputs[i])
            return false;
    }
    return true;
}

/* Adds to each factor's error what it has on the line of point `first`, unless an
 * earlier point is on it; number of points on the line, 0: too few. */
static size_t assess_line(const struct points *p, size_t first, size_t input,
                          struct point *room, double *error)
{
    struct points line = {room, 0, p->input_count};

    for (size_t k = 0; k < p->count; k++) {
        if (!same_line(p, first, k, input))
            continue;
        if (k < first)
            return 0;
        room[line.count++] = p->point[k];
    }
    if (line.count < POINTS_MIN)
        return 0;
    for (int f = 0; f < FACTOR_COUNT; f++) {
        struct candidate c = single(input, f);
        struct fit fit;

        try_candidate(&line, &c, &fit);
        error[f] += fmin(fit.error, ERROR_WORST) * (double)line.count;
    }
    return line.count;
}

/* The three best factors of an input. */
static void rank_factors(const struct points *p, size_t input, struct point *room,
                         int best[BEST_MAX])
{
    double error[FACTOR_COUNT] = {0};
    size_t on_lines = 0;

    for (size_t i = 0; i < p->count; i++)
        on_lines += assess_line(p, i, input, room, error);
    for (int f = 0; on_lines == 0 && f < FACTOR_COUNT; f++) {
        struct candidate c = single(input, f);
        struct fit fit;

        try_candidate(p, &c, &fit);
        error[f] = fit.error;
    }
    for (size_t k = 0; k < BEST_MAX; k++) {
        best[k] = 0;
        for (int f = 1; f < FACTOR_COUNT; f++) {
            if (error[f] < error[best[k]])
                best[k] = f;
        }
        error[best[k]] = HUGE_VAL;
    }
}

/* The set of products: bit m - 1 of `set` is the product of the inputs in mask m. */
static bool make_set(unsigned set, size_t input_count, const int *chosen,
                     struct candidate *c)
{
    c->term_count = 0;
    for (unsigned mask = 1; mask < 1U << input_count; mask++) {
        if (!(set >> (mask - 1) & 1))
            continue;
        if (c->term_count == TERMS_MAX)
            return false;
        for (size_t i = 0; i < INPUTS_MAX; i++)
            c->factor[c->term_count][i] = mask >> i & 1 ? chosen[i] : NO_FACTOR;
        c->term_count++;
    }
    return true;
}

static void try_sets(const struct points *p, const int *chosen, struct candidate *best,
                     double *error)
{
    for (unsigned set = 1; set < 1U << ((1U << p->input_count) - 1); set++) {
        struct candidate c;

        if (make_set(set, p->input_count, chosen, &c))
            compare(p, &c, best, error);
    }
}

/* Tries every factor of an input in one term of the best candidate, or in all. */
static void exchange(const struct points *p, size_t input, size_t term,
                     struct candidate *best, double *error)
{
    for (int f = 0; f < FACTOR_COUNT; f++) {
        struct candidate c = *best;

        for (size_t k = 0; k < c.term_count; k++) {
            if (c.factor[k][input] != NO_FACTOR && (term == ALL_TERMS || term == k))
                c.factor[k][input] = f;
        }
        compare(p, &c, best, error);
    }
}

/* Replaces the factor of one input after the other in the best candidate, then looks
 * at all sets again: finds what factors assessed alone do not show. */
static void improve(const struct points *p, struct candidate *best, double *error)
{
    int chosen[INPUTS_MAX] = {0};

    for (size_t i = 0; i < p->input_count; i++) {
        exchange(p, i, ALL_TERMS, best, error);
        for (size_t k = 0; k < best->term_count; k++)
            exchange(p, i, k, best, error);
    }
    for (size_t k = 0; k < best->term_count; k++) {
        for (size_t i = 0; i < p->input_count; i++) {
            if (best->factor[k][i] != NO_FACTOR)
                chosen[i] = best->factor[k][i];
        }
    }
    try_sets(p, chosen, best, error);
}

static void search_many(const struct points *p, struct point *room,
                        struct candidate *best, double *error)
{
    int ranked[INPUTS_MAX][BEST_MAX] = {{0}}, chosen[INPUTS_MAX] = {0};
    size_t choices = 1;

    for (size_t i = 0; i < p->input_count; i++) {
        rank_factors(p, i, room, ranked[i]);
        choices *= BEST_MAX;
    }
    for (size_t choice = 0; choice < choices; choice++) {
        size_t rest = choice;

        for (size_t i = 0; i < p->input_count; i++) {
            chosen[i] = ranked[i][rest % BEST_MAX];
            rest /= BEST_MAX;
        }
        try_sets(p, chosen, best, error);
    }
    for (int i = 0; i < ITERATIONS; i++)
        improve(p, best, error);
}

/* ---- the model ---- */

static void store(struct regression_model *m, const struct points *p,
                  const struct candidate *c, const struct fit *f)
{
    double *own = m->coefficients + regression_base(m), *term = own + OWN;

    own[POINTS] = (double)p->count;
    own[TERM_COUNT] = (double)c->term_count;
    own[CONSTANT] = f->coefficient[0];
    memcpy(own + TRIANGLE, f->triangle, sizeof(f->triangle));
    for (size_t k = 0; k < c->term_count; k++) {
        *term++ = f->coefficient[k + 1];
        for (size_t i = 0; i < p->input_count; i++) {
            int factor = c->factor[k][i];

            *term++ = factor == NO_FACTOR ? 0 : factors[factor].power;
            *term++ = factor == NO_FACTOR ? 0 : factors[factor].log_power;
        }
    }
    m->coefficient_count = (size_t)(term - m->coefficients);
}

/* Scatter and relative error of each run around what the other points say. */
static void measure(struct regression_model *m, const struct regression_data *data,
                    const struct run_groups *g, const struct points *p,
                    const struct candidate *c, const struct fit *f,
                    struct regression_report *report)
{
    double squares = 0, relative = 0, count = 0;

    for (size_t i = 0; i < p->count; i++) {
        double other_s = left_out(p, i, c, f);
        size_t group = p->point[i].group;

        for (size_t k = g->start[group]; k < g->start[group + 1]; k++) {
            double time_s = data->time_s[g->run[k]], off = time_s - other_s;

            regression_see(m, p->point[i].inputs, time_s);
            if (isnan(off))
                continue;
            count++;
            squares += off * off;
            relative += fabs(off) / time_s;
        }
    }
    if (count > 0) {
        m->coefficients[regression_base(m) + SCATTER] = sqrt(squares / count);
        report->cross_appe_pct = 100 * relative / count;
    }
}

static void average(const struct regression_data *data, const struct run_groups *g,
                    struct points *p)
{
    for (size_t i = 0; i < g->count; i++) {
        double mean_s = 0;

        for (size_t k = g->start[i]; k < g->start[i + 1]; k++)
            mean_s += (data->time_s[g->run[k]] - mean_s) / (double)(k - g->start[i] + 1);
        p->point[i] = (struct point){
            data->inputs + g->run[g->start[i]] * data->input_count, mean_s, i, NULL};
    }
}

/* ---- points to search with ---- */

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* At most `most` of an input's distinct values, evenly by rank; their number. */
static size_t values_of(const struct points *p, size_t input, size_t most, double *value)
{
    size_t count = 0;

    for (size_t i = 0; i < p->count; i++)
        value[i] = p->point[i].inputs[input];
    qsort(value, p->count, sizeof(*value), compare_doubles);
    for (size_t i = 0; i < p->count; i++) {
        if (count == 0 || value[i] != value[count - 1])
            value[count++] = value[i];
    }
    assert(most > 1);
    if (count <= most)
        return count;
    for (size_t i = 0; i < most; i++)
        value[i] = value[i * (count - 1) / (most - 1)];
    return most;
}

static bool on_grid(const struct point *p, size_t input_count, double *const *value,
                    const size_t *count)
{
    for (size_t i = 0; i < input_count; i++) {
        if (!bsearch(&p->inputs[i], value[i], count[i], sizeof(**value), compare_doubles))
            return false;
    }
    return true;
}

/* Points of a coarser grid, so that lines stay whole; where that leaves few,
 * evenly taken ones. */
static bool thin(const struct points *all, struct points *few, struct arena *a)
{
    static const size_t most[] = {SEARCH_POINTS, 22, 7};
    size_t count[INPUTS_MAX] = {0};
    double *value[INPUTS_MAX] = {NULL};

    few->count = 0;
    for (size_t i = 0; i < all->input_count; i++) {
        value[i] = NEW(a, double, all->count);
        count[i] = values_of(all, i, most[all->input_count - 1], value[i]);
    }
    for (size_t i = 0; i < all->count; i++) {
        if (on_grid(&all->point[i], all->input_count, value, count))
            few->point[few->count++] = all->point[i];
    }
    if (few->count >= GRID_POINTS || few->count == all->count)
        return true;
    few->count = all->count < SEARCH_POINTS ? all->count : SEARCH_POINTS;
    assert(few->count > 1);
    for (size_t i = 0; i < few->count; i++)
        few->point[i] = all->point[i * (all->count - 1) / (few->count - 1)];
    return true;
}

/* Works out every factor of the points. */
static bool fill_values(struct points *p, struct arena *a)
{
    double *value = NEW(a, double, p->count * p->input_count * FACTOR_COUNT);

    for (size_t i = 0; i < p->count; i++) {
        p->point[i].value = value;
        for (size_t k = 0; k < p->input_count; k++) {
            for (int f = 0; f < FACTOR_COUNT; f++)
                *value++ = factor_value(factors[f], p->point[i].inputs[k]);
        }
    }
    return true;
}

enum error_code regression_fit_normal_form(const struct regression_data *data,
                                           const struct regression_options *options,
                                           struct regression_model *model,
                                           struct regression_report *report,
                                           struct arena *a, struct error *err)
{
    size_t *run = regression_usable_runs(data, true, report, a);
    struct candidate best = {.term_count = 0};
    struct points all = {NULL, 0, data->input_count}, few = all;
    struct point *room = NEW(a, struct point, SEARCH_POINTS);
    double error = HUGE_VAL;
    struct run_groups g;
    struct fit fit;

    (void)err;
    (void)options;
    regression_group(data, run, report->used_count, &g, a);
    report->reason = g.count == 0           ? REGRESSION_NO_DATA
                     : g.count < POINTS_MIN ? REGRESSION_TOO_FEW
                                            : REGRESSION_OK;
    if (report->reason != REGRESSION_OK)
        return OK;
    all.count = g.count;
    all.point = NEW(a, struct point, all.count);
    few.point = NEW(a, struct point, SEARCH_POINTS);
    average(data, &g, &all);
    thin(&all, &few, a);
    fill_values(&few, a);
    compare(&few, &best, &best, &error);
    if (data->input_count == 1)
        search_one(&few, &best, &error);
    else
        search_many(&few, room, &best, &error);
    if (!solve(&all, &best, &fit)) {
        report->reason = REGRESSION_RANK;
        return OK;
    }
    store(model, &all, &best, &fit);
    measure(model, data, &g, &all, &best, &fit, report);
    return OK;
}

/* Number of terms of a model of this kind; > TERMS_MAX: it is none. */
static size_t terms_of(const struct regression_model *m)
{
    size_t base = regression_base(m), count;

    if (m->input_count < 1 || m->input_count > INPUTS_MAX ||
        m->coefficient_count < base + OWN ||
        !(m->coefficients[base + TERM_COUNT] >= 0 &&
          m->coefficients[base + TERM_COUNT] <= TERMS_MAX))
        return TERMS_MAX + 1;
    count = (size_t)m->coefficients[base + TERM_COUNT];
    if (m->coefficient_count != base + OWN + count * (1 + 2 * m->input_count))
        return TERMS_MAX + 1;
    return count;
}

double regression_freedom_normal_form(const struct regression_model *model)
{
    const double *own = model->coefficients + regression_base(model);
    size_t term_count = terms_of(model), t = term_count + 1;

    return term_count <= TERMS_MAX && own[POINTS] > (double)t ? own[POINTS] - (double)t
                                                              : (double)NAN;
}

void regression_predict_normal_form(const struct regression_model *model,
                                    const double *inputs,
                                    const struct regression_level *level,
                                    struct regression_prediction *out)
{
    const double *own = model->coefficients + regression_base(model), *term = own + OWN;
    size_t term_count = terms_of(model), t = term_count + 1;
    double row[TERMS_MAX + 1] = {1}, leverage;

    out->reason = REGRESSION_NO_DATA;
    if (term_count > TERMS_MAX)
        return;
    out->reason = REGRESSION_BAD_INPUT;
    for (size_t i = 0; i < model->input_count; i++) {
        if (!(inputs[i] > 0))
            return;
    }
    out->reason = REGRESSION_OK;
    out->time_s = own[CONSTANT];
    for (size_t k = 0; k < term_count; k++) {
        double coefficient = *term++;

        row[k + 1] = 1;
        for (size_t i = 0; i < model->input_count; i++, term += 2)
            row[k + 1] *= factor_value((struct factor){term[0], term[1]}, inputs[i]);
        out->time_s += coefficient * row[k + 1];
    }
    if (!(own[POINTS] > (double)t))
        return;
    leverage = triangle_leverage(own + TRIANGLE, t, (1U << t) - 1, row);
    leverage = level_quantile(level, own[POINTS] - (double)t) * own[SCATTER] *
               sqrt(1 + leverage);
    out->basis = REGRESSION_BASIS_RESIDUALS;
    out->low_s = out->time_s - leverage;
    out->high_s = out->time_s + leverage;
}

bool regression_refine_normal_form(struct regression_model *model, const double *inputs,
                                   double time_s)
{
    (void)model;
    (void)inputs;
    (void)time_s;
    return false;
}

/* `text` with the factors of one input behind it. */
static const char *append_factors(const char *text, const char *name,
                                  const double *powers, struct arena *a)
{
    if (powers[0] == 1)
        text = arena_printf(a, "%s %s", text, name);
    else if (powers[0] > 0)
        text = arena_printf(a, "%s %s^%.4g", text, name, powers[0]);
    if (!(powers[1] > 0))
        return text;
    if (powers[1] == 1)
        return arena_printf(a, "%s log2(%s)", text, name);
    return arena_printf(a, "%s log2(%s)^%g", text, name, powers[1]);
}

const char *regression_formula_normal_form(const struct regression_model *model,
                                           const char *const *input_names,
                                           struct arena *a)
{
    const double *own = model->coefficients + regression_base(model), *term = own + OWN;
    const char *text = arena_printf(a, "%.6g", own[CONSTANT]);
    size_t term_count = terms_of(model);

    for (size_t k = 0; k < term_count; k++) {
        text = arena_printf(a, "%s + %.6g", text, *term++);
        for (size_t i = 0; i < model->input_count; i++, term += 2)
            text =
                append_factors(text, regression_input_name(input_names, i, a), term, a);
    }
    return text;
}

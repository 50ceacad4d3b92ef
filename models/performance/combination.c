/* performance/combination.c - one model of the run time: functions, coefficients. */
#include "models/performance/combination.h"

#include "models/performance/row.h"
#include "models/performance/triangle.h"

#include <math.h>
#include <string.h>

static size_t bits(unsigned mask)
{
    return (size_t)__builtin_popcount(mask);
}

size_t perf_term_count(const struct perf_combination *c)
{
    return bits(c->comp_mask) + bits(c->comm_mask);
}

static bool p_id_fits(int id)
{
    return id == PERF_NONE || perf_p_id_valid(id);
}

bool perf_combination_valid(const struct perf_combination *c)
{
    size_t terms = perf_term_count(c);

    if (c->comp_mask == 0 || ((c->comp_mask | c->comm_mask) >> PERF_BASES) != 0 ||
        terms > PERF_TERMS_MAX || !p_id_fits(c->pcomp_id) || !p_id_fits(c->pcomm_id))
        return false;
    return c->comm_mask == 0 ? c->bw_id == PERF_NONE && c->pcomm_id == PERF_NONE
                             : perf_bw_id_valid(c->bw_id);
}

double perf_rank_error(double error)
{
    double scale;

    if (!(error > 0) || !isfinite(error))
        return error;
    scale = pow(10, 9 - floor(log10(error)));
    return isfinite(scale) && scale > 0 ? rint(error * scale) / scale : error;
}

static int order_of(double a, double b)
{
    return (a > b) - (a < b);
}

static int number_of(unsigned mask)
{
    int number = perf_candidate_of(mask);

    return number > 0 || mask == 0 ? number : PERF_CANDIDATES + (int)mask;
}

int perf_combination_compare(const struct perf_combination *a,
                             const struct perf_combination *b)
{
    int order = order_of(a->rank_error, b->rank_error);

    if (order == 0)
        order = (int)perf_term_count(a) - (int)perf_term_count(b);
    if (order == 0)
        order = number_of(a->comp_mask) - number_of(b->comp_mask);
    if (order == 0)
        order = number_of(a->comm_mask) - number_of(b->comm_mask);
    if (order == 0)
        order = a->bw_id - b->bw_id;
    if (order == 0)
        order = a->pcomp_id - b->pcomp_id;
    return order != 0 ? order : a->pcomm_id - b->pcomm_id;
}

bool perf_combination_same(const struct perf_combination *a,
                           const struct perf_combination *b)
{
    return a->comp_mask == b->comp_mask && a->comm_mask == b->comm_mask &&
           a->bw_id == b->bw_id && a->pcomp_id == b->pcomp_id &&
           a->pcomm_id == b->pcomm_id;
}

static void no_fit(struct perf_combination *c)
{
    memset(c->coefficients, 0, sizeof(c->coefficients));
    c->standard_error = c->rank_error = HUGE_VAL;
    c->appe_ratio = (double)NAN;
}

void perf_combination_clear(struct perf_combination *c)
{
    memset(c->triangle, 0, sizeof(c->triangle));
    c->sample_count = c->refused_count = 0;
    c->time_sum = 0;
    no_fit(c);
}

void perf_combination_add(struct perf_combination *c, const struct perf_sample *sample,
                          struct perf_fit_rule rule)
{
    struct perf_row row;

    perf_row_of(sample, &row);
    perf_row_add(c, &row, rule);
}

/* Rounding below zero becomes zero; false: a coefficient is truly negative. */
static bool settle_signs(const double *triangle, size_t terms, double *x)
{
    double least = -PERF_NEGATIVE_SHARE * perf_triangle_norm(triangle, terms, terms);

    for (size_t k = 0; k < terms; k++) {
        if (x[k] * perf_triangle_norm(triangle, terms, k) < least)
            return false;
        x[k] = fmax(x[k], 0);
    }
    return true;
}

static double error_of(const double *triangle, size_t terms, size_t count,
                       double time_mean)
{
    double root = fabs(triangle[TRIANGLE_AT(terms, terms, terms)]);
    double error = root / sqrt((double)(count - terms));

    return error < PERF_EXACT_SHARE * time_mean ? 0 : error;
}

void perf_combination_solve(struct perf_combination *c, struct perf_fit_rule rule)
{
    size_t terms = perf_term_count(c);
    double x[PERF_TERMS_MAX] = {0};

    no_fit(c);
    if (c->sample_count <= terms || c->refused_count > 0 ||
        !perf_triangle_solve(c->triangle, terms, x))
        return;
    if (rule.nonnegative && !settle_signs(c->triangle, terms, x))
        return;
    memcpy(c->coefficients, x, sizeof(x));
    c->standard_error = error_of(c->triangle, terms, c->sample_count,
                                 c->time_sum / (double)c->sample_count);
    c->rank_error = perf_rank_error(c->standard_error);
}

/* The triangle with the columns of `subset` only, and y. */
static void restrict_to(const double *u, size_t terms, unsigned subset, double *out)
{
    size_t kept = bits(subset);

    memset(out, 0, sizeof(double) * TRIANGLE_SIZE(kept));
    for (size_t i = 0; i <= terms; i++) {
        double row[PERF_TERMS_MAX + 1];
        size_t count = 0;

        for (size_t j = 0; j <= terms; j++) {
            if (j == terms || (subset >> j & 1U))
                row[count++] = j < i ? 0 : u[TRIANGLE_AT(terms, i, j)];
        }
        perf_triangle_add(out, kept, row);
    }
}

bool perf_combination_solve_nonnegative(struct perf_combination *c)
{
    size_t terms = perf_term_count(c);
    double best = HUGE_VAL;

    for (unsigned subset = 1; subset < 1U << terms; subset++) {
        double u[PERF_TRIANGLE_MAX], x[PERF_TERMS_MAX];
        size_t kept = bits(subset), next = 0;
        double root;

        restrict_to(c->triangle, terms, subset, u);
        root = fabs(u[TRIANGLE_AT(kept, kept, kept)]);
        if (c->sample_count <= kept || !(root < best) ||
            !perf_triangle_solve(u, kept, x) || !settle_signs(u, kept, x))
            continue;
        best = root;
        c->standard_error =
            error_of(u, kept, c->sample_count, c->time_sum / (double)c->sample_count);
        for (size_t k = 0; k < terms; k++)
            c->coefficients[k] = subset >> k & 1U ? x[next++] : 0;
    }
    return isfinite(best);
}

bool perf_combination_takes(const struct perf_combination *c, double problem_size,
                            double processors, double bandwidth_mbps)
{
    if (!(problem_size > 1) && perf_mask_needs_log(c->comp_mask | c->comm_mask))
        return false;
    if (processors < 2 || c->comm_mask == 0)
        return true;
    return bandwidth_mbps > (c->bw_id >= 7 ? 1 : 0);
}

/* Sum of coefficients times basis functions; takes the coefficients it used. */
static double weigh(unsigned mask, const double *basis, const double **coefficient)
{
    double sum = 0;

    for (int bit = 0; bit < PERF_BASES; bit++) {
        if (mask >> bit & 1U)
            sum += *(*coefficient)++ * basis[bit];
    }
    return sum;
}

/* PERF_NONE is the constant, whose id is 0. */
static int p_id_of(int id)
{
    return id == PERF_NONE ? 0 : id;
}

struct perf_term perf_combination_term(const struct perf_combination *c,
                                       double problem_size, double cpu_factor,
                                       double bandwidth_factor)
{
    const double *coefficient = c->coefficients;
    double basis[PERF_BASES];
    struct perf_term term = {
        .pcomp_id = p_id_of(c->pcomp_id),
        .bw_id = c->comm_mask ? c->bw_id : PERF_NONE,
        .pcomm_id = p_id_of(c->pcomm_id),
    };

    if (!(problem_size > 1) && perf_mask_needs_log(c->comp_mask | c->comm_mask)) {
        term.comp_s = term.comm = (double)NAN;
        return term;
    }
    perf_bases(problem_size, basis);
    term.comp_s = cpu_factor * weigh(c->comp_mask, basis, &coefficient);
    term.comm = bandwidth_factor * weigh(c->comm_mask, basis, &coefficient);
    return term;
}

double perf_combination_time_s(const struct perf_combination *c,
                               const struct perf_query *query)
{
    struct perf_term term = perf_combination_term(c, query->problem_size, 1, 1);
    double computation_s, communication_s;

    if (query->processors < 2)
        return term.comp_s / fmax(query->cpu_available_ratio, PERF_CPU_LEAST_RATIO);
    perf_term_parts(&term, query->processors, query->cpu_available_ratio,
                    query->bandwidth_mbps, &computation_s, &communication_s);
    return computation_s + communication_s;
}

static bool p_id_falls(int id)
{
    return id <= 8;
}

bool perf_combination_monotone(const struct perf_combination *c)
{
    for (size_t k = 0; k < perf_term_count(c); k++) {
        if (!(c->coefficients[k] >= 0))
            return false;
    }
    return p_id_falls(c->pcomp_id) && (c->comm_mask == 0 || p_id_falls(c->pcomm_id));
}

/* ---- packed ---- */

void perf_combination_pack(const struct perf_combination *c, double out[])
{
    double head[] = {(double)c->comp_mask,
                     (double)c->comm_mask,
                     c->bw_id,
                     c->pcomp_id,
                     c->pcomm_id,
                     c->standard_error,
                     c->appe_ratio,
                     c->rank_error,
                     (double)c->sample_count,
                     c->time_sum,
                     (double)c->refused_count,
                     (double)c->low_rank_streak,
                     (double)perf_term_count(c)};
    size_t count = sizeof(head) / sizeof(head[0]);

    _Static_assert(sizeof(head) / sizeof(head[0]) + PERF_TERMS_MAX + PERF_TRIANGLE_MAX ==
                       PERF_PACKED,
                   "every number has its place");
    memcpy(out, head, sizeof(head));
    memcpy(out + count, c->coefficients, sizeof(c->coefficients));
    memcpy(out + count + PERF_TERMS_MAX, c->triangle, sizeof(c->triangle));
}

static bool whole(double value, double low, double high)
{
    return value >= low && value <= high && value == floor(value);
}

static bool heads_fit(const double *packed)
{
    static const double high[] = {4095, 4095, PERF_BW_IDS, 18, 18};

    for (size_t i = 0; i < 5; i++) {
        if (!whole(packed[i], i < 2 ? 0 : PERF_NONE, high[i]))
            return false;
    }
    for (size_t i = 8; i < 12; i++) {
        if (i != 9 && !whole(packed[i], 0, 0x1p53))
            return false;
    }
    return true;
}

bool perf_combination_unpack(const double packed[], size_t count,
                             struct perf_combination *out)
{
    enum { HEAD = PERF_PACKED - PERF_TERMS_MAX - PERF_TRIANGLE_MAX };
    struct perf_combination c = {0};

    if (count != PERF_PACKED || !heads_fit(packed))
        return false;
    c.comp_mask = (unsigned)packed[0];
    c.comm_mask = (unsigned)packed[1];
    c.bw_id = (int)packed[2];
    c.pcomp_id = (int)packed[3];
    c.pcomm_id = (int)packed[4];
    c.standard_error = packed[5];
    c.appe_ratio = packed[6];
    c.rank_error = packed[7];
    c.sample_count = (size_t)packed[8];
    c.time_sum = packed[9];
    c.refused_count = (size_t)packed[10];
    c.low_rank_streak = (size_t)packed[11];
    memcpy(c.coefficients, packed + HEAD, sizeof(c.coefficients));
    memcpy(c.triangle, packed + HEAD + PERF_TERMS_MAX, sizeof(c.triangle));
    if (!perf_combination_valid(&c) || packed[12] != (double)perf_term_count(&c))
        return false;
    *out = c;
    return true;
}

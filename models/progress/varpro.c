/* progress/varpro.c - separable least squares for an exponential with a limit.
 *
 * For fixed k the rest is linear: with z_i = exp(-k u_i) and means zm, vm
 *
 *     slope = sum (z_i - zm)(v_i - vm) / sum (z_i - zm)^2     psi1: >= 0, psi2: <= 0
 *     a = vm - slope zm,  b = |slope|,  res = sum (a + slope z_i - v_i)^2
 *
 * and res is minimised over k in [k_min, k_max]: 200 values at equal logarithmic steps
 * (ties go to the smallest k), then golden section between the neighbours of the best
 * one. No starting values, no local optimum at the wrong end.
 *
 * k_min bounds what nearly straight points can say: with k -> 0 they are fitted ever
 * better by a limit ever farther away. Both functions read the same grid, as their
 * lines differ only in which sign of the slope is allowed.
 *
 * Source: spec runtime-prediction.md 4.4. Cost: about 250 n exponentials for both.
 */
#include "models/progress/internal.h"

enum { GRID_COUNT = 200, PROFILE_COUNT = 100 };
static const double BRACKET = 1e-12; /* of log k */

/* The line through the points (z, v) at one k; zz: spread of the z. */
struct line {
    double zm, vm, zz, slope;
};

static double mean_of(const double *value, size_t count)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += value[i];
    return sum / (double)count;
}

static struct line line_at(const struct progress_series *s, double vm, double k)
{
    struct line line = {.vm = vm};
    double zv = 0;

    for (size_t i = 0; i < s->count; i++)
        s->z[i] = exp(-k * s->u[i]);
    line.zm = mean_of(s->z, s->count);
    for (size_t i = 0; i < s->count; i++) {
        double dz = s->z[i] - line.zm;

        line.zz += dz * dz;
        zv += dz * (s->v[i] - vm);
    }
    line.slope = line.zz > 0 ? zv / line.zz : 0;
    return line;
}

/* Sum of squares about a + slope z, with the exponentials that s->z holds. */
static double squares(const struct progress_series *s, double a, double slope)
{
    double res = 0;

    for (size_t i = 0; i < s->count; i++) {
        double r = a + slope * s->z[i] - s->v[i];

        res += r * r;
    }
    return res;
}

/* The better of what `out` has and the line at k, whose exponentials s->z holds. */
static void keep_better(const struct progress_series *s, const struct line *line,
                        double k, double sign, struct progress_fitted *out)
{
    double slope = sign * line->slope > 0 ? line->slope : 0;
    double a = line->vm - slope * line->zm, res = squares(s, a, slope);

    if (res < out->res)
        *out = (struct progress_fitted){a, fabs(slope), k, res};
}

static double residual_at(const struct progress_series *s, double vm, double log_k,
                          double sign)
{
    struct progress_fitted fitted = {.res = HUGE_VAL};
    double k = exp(log_k);
    struct line line = line_at(s, vm, k);

    keep_better(s, &line, k, sign, &fitted);
    return fitted.res;
}

/* Golden section in [low, high]; its middle if that is better than the grid's best. */
static void refine(const struct progress_series *s, double vm, double low, double high,
                   double sign, struct progress_fitted *out)
{
    const double golden = (sqrt(5) - 1) / 2;
    double left = high - golden * (high - low), right = low + golden * (high - low);
    double left_res = residual_at(s, vm, left, sign);
    double right_res = residual_at(s, vm, right, sign);
    struct line line;
    double k;

    while (high - low >= BRACKET) {
        if (left_res <= right_res) {
            high = right;
            right = left;
            right_res = left_res;
            left = high - golden * (high - low);
            left_res = residual_at(s, vm, left, sign);
        } else {
            low = left;
            left = right;
            left_res = right_res;
            right = low + golden * (high - low);
            right_res = residual_at(s, vm, right, sign);
        }
    }
    k = exp((low + high) / 2);
    line = line_at(s, vm, k);
    keep_better(s, &line, k, sign, out);
}

void progress_varpro(const struct progress_series *s, double k_min, double k_max,
                     struct progress_fitted *out)
{
    static const double signs[] = {1, -1};
    double vm = mean_of(s->v, s->count);
    double first = log(k_min), step = (log(k_max) - first) / (GRID_COUNT - 1);
    size_t best[2] = {0, 0};

    out[0].res = out[1].res = HUGE_VAL;
    for (size_t i = 0; i < GRID_COUNT; i++) {
        double k = i == 0                ? k_min
                   : i == GRID_COUNT - 1 ? k_max
                                         : exp(first + (double)i * step);
        struct line line = line_at(s, vm, k);

        for (size_t f = 0; f < 2; f++) {
            keep_better(s, &line, k, signs[f], &out[f]);
            best[f] = out[f].k == k ? i : best[f];
        }
    }
    for (size_t f = 0; f < 2; f++)
        if (best[f] > 0 && best[f] < GRID_COUNT - 1 && out[f].b > 0)
            refine(s, vm, first + (double)(best[f] - 1) * step,
                   first + (double)(best[f] + 1) * step, signs[f], &out[f]);
}

void progress_profile(const struct progress_series *s, double k_min, double k_max,
                      double res_max, double *low, double *high)
{
    double vm = mean_of(s->v, s->count);
    double first = log(k_min), step = (log(k_max) - first) / (PROFILE_COUNT - 1);

    for (size_t i = 0; i < PROFILE_COUNT; i++) {
        struct line line = line_at(s, vm, exp(first + (double)i * step));
        double a = vm - line.slope * line.zm, res = squares(s, a, line.slope), half;

        if (!(line.zz > 0) || !(res <= res_max))
            continue;
        half =
            sqrt((res_max - res) * (1 / (double)s->count + line.zm * line.zm / line.zz));
        *low = fmin(*low, a - half);
        *high = fmax(*high, a + half);
    }
}

void progress_mean(const struct progress_series *s, struct progress_fitted *out)
{
    *out = (struct progress_fitted){.a = mean_of(s->v, s->count)};
    for (size_t i = 0; i < s->count; i++) {
        double r = out->a - s->v[i];

        out->res += r * r;
    }
}

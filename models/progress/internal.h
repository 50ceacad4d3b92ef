/* progress/internal.h - what the fits share.
 *
 * Internal to this folder. Fits run on scaled points, u = t / t_n and v = E / max |E|,
 * where psi is v = a + sign b exp(-k u): then x1 = a S, x2 = b S, x3 = k / t_n and
 * ResNorm = res S^2.
 *
 * Source: spec runtime-prediction.md 4.2.
 */
#ifndef GRIDPLAN_PROGRESS_INTERNAL_H
#define GRIDPLAN_PROGRESS_INTERNAL_H

#include "models/progress/progress.h"

#include <math.h>

struct progress_series {
    const double *u, *v; /* scaled; u of the last point is 1 */
    size_t count;        /* >= 2 */
    double range, scale; /* t_n and S, > 0 */
    double *z;           /* room for `count` exponentials */
};

/* One function on a series. */
struct progress_fitted {
    double a, b, k;
    double res; /* HUGE_VAL: no fit */
};

/* The sign of the exponential. */
static inline double progress_sign(enum progress_function f)
{
    return f == PROGRESS_psi2 ? -1 : 1;
}

/* psi1 and psi2, in this order, by separable least squares (varpro.c). */
void progress_varpro(const struct progress_series *s, double k_min, double k_max,
                     struct progress_fitted *out);

/* One of them by Nelder-Mead (simplex.c); start: a, b, k. */
void progress_simplex(const struct progress_series *s, enum progress_function f,
                      const double *start, struct progress_fitted *out);

/* The mean. */
void progress_mean(const struct progress_series *s, struct progress_fitted *out);

/* Functions in force: the caller's, or psi1 and psi2. */
const struct progress_function_in *progress_functions_of(const struct progress_in *in,
                                                         size_t *count);

/* sqrt(ResNorm / (n - 3)) in scaled units; NAN unless n > 3. */
double progress_deviation(const struct progress_series *s,
                          const struct progress_fitted *f);

/* Widens low..high to all limits a, of either sign of the exponential, that leave a sum
 * of squares of at most res_max for some k in between. 100 n exponentials. */
void progress_profile(const struct progress_series *s, double k_min, double k_max,
                      double res_max, double *low, double *high);

/* Sets the interval of an answer that is complete but for it. `s` and `fitted`, the
 * chosen function's: of a fit; else NULL. */
void progress_interval(const struct progress_in *in, const struct progress_series *s,
                       const struct progress_fitted *fitted, struct progress_out *out,
                       struct arena *a);

#endif

/* progress/interval.c - how far off a prediction may be, at a level of 90 %.
 *
 * Of a fit in scaled units, with s = sqrt(ResNorm / (n - 3)) and J the derivatives of psi
 * by a, b and k at the points,
 *
 *     se = s sqrt(C[0][0]),  C = inverse of J'J
 *
 * and, where that matrix is singular, the deviation of a line's intercept. The spec's
 * interval is E -+ 1.645 se; of what is no fit it spans the last 8 estimates.
 *
 * That held the truth in 42 to 100 % of the tasks of section 9.1 (67 to 100 % from 20 %
 * of the work on), as it knows neither what k_min hides, nor how skewed the error of a
 * limit is, nor that reports cannot exceed 100 %. The preset, steady, is learning.md
 * 10.2: with p the limit, p' the fit of the first two thirds of the n reports, if these
 * are 8 at least, and E the last extrapolation,
 *
 *     half = max(1.645 se + |p - E| / 2 + |p - p'|, 0.05 p) (1 + 10 / n)
 *
 * and of what is no fit the last 8 estimates, and 0.4 E to 1.6 E. Calibrated, which was
 * the preset before, is
 *
 *   - 1.2 times the spec's width, for deviations that few and uneven points give
 *   - with every limit that, for some k from k_min / 5 to k_max and either direction,
 *     leaves ResNorm <= (1 + 2.706 / (n - 3)) of the least one (2.706 = 1.645^2); that
 *     is the profile of the sum of squares, asymmetric where the points do not bend yet
 *   - down to the work done when 5 % of the later half of the reports say 99 % or more:
 *     progress that stands at its ceiling says nothing about what is left
 *   - and no further up than a limit would be believed, max_factor max E.
 *
 * Steady held 85 to 100 % at 10 % of the work and 90 to 100 % from 20 % on, with 3 % of
 * bad reports 88 and 93; calibrated 87 and 89, with them 83 and 87
 * (tests/bench/progress.c).
 *
 * Source: spec runtime-prediction.md 4.5, learning.md 10.2. Cost: steady: a second fit;
 * calibrated: 100 n exponentials, 350 n at k_min.
 */
#include "models/progress/internal.h"

#include <string.h>

static const double NORMAL_95 = 1.645, WIDENING = 1.2, K_BELOW = 5;
static const double CEILING = 0.99, CEILING_SHARE = 0.05;
static const double LAST_SHARE = 0.5, HALF_LEAST = 0.05, FEW = 10;
static const double LOW_SHARE = 0.4, HIGH_SHARE = 1.6;
enum { RECENT = 8, EARLIER_LEAST = 8 };

/* C[0][0] of the inverse of a symmetric matrix; NAN: singular. */
static double corner_of_inverse(double m[3][3])
{
    double minor = m[1][1] * m[2][2] - m[1][2] * m[1][2];
    double det = m[0][0] * minor - m[0][1] * (m[0][1] * m[2][2] - m[1][2] * m[0][2]) +
                 m[0][2] * (m[0][1] * m[1][2] - m[1][1] * m[0][2]);

    return det > 0 && minor > 0 ? minor / det : (double)NAN;
}

/* Variance of the intercept of the line through (z, v), over that of the points. */
static double line_variance(const struct progress_series *s, double k)
{
    double n = (double)s->count, zm = 0, zz = 0;

    for (size_t i = 0; i < s->count; i++)
        zm += exp(-k * s->u[i]) / n;
    for (size_t i = 0; i < s->count; i++) {
        double dz = exp(-k * s->u[i]) - zm;

        zz += dz * dz;
    }
    return 1 / n + (zz > 0 ? zm * zm / zz : 0);
}

/* Standard error of the limit in scaled units; NAN: too few points. */
static double standard_error(const struct progress_series *s, enum progress_function f,
                             const struct progress_fitted *fitted)
{
    double sign = progress_sign(f), m[3][3] = {{0}}, variance;

    if (f == PROGRESS_constant)
        return progress_deviation(s, fitted) / sqrt((double)s->count);
    for (size_t i = 0; i < s->count; i++) {
        double z = exp(-fitted->k * s->u[i]);
        double row[] = {1, sign * z, -sign * fitted->b * s->u[i] * z};

        for (size_t x = 0; x < 3; x++)
            for (size_t y = 0; y < 3; y++)
                m[x][y] += row[x] * row[y];
    }
    variance = fitted->b > 0 ? corner_of_inverse(m) : (double)NAN;
    if (!(variance > 0) || !isfinite(variance))
        variance = line_variance(s, fitted->k);
    return progress_deviation(s, fitted) * sqrt(variance);
}

/* Of what is no fit: what the last points said. */
static void span_recent(const struct progress_in *in, struct progress_out *out)
{
    const struct progress_history *h = &in->history;
    size_t first = h->count > RECENT ? h->count - RECENT : 0;

    if (h->count < 2)
        return;
    out->low_ref_s = out->high_ref_s = out->estimate_ref_s;
    for (size_t i = first; i < h->count; i++) {
        out->low_ref_s = fmin(out->low_ref_s, h->points[i].estimate_ref_s);
        out->high_ref_s = fmax(out->high_ref_s, h->points[i].estimate_ref_s);
    }
}

/* Whether reports stand at 100 %, where they cannot say more. */
static bool at_ceiling(const struct progress_history *h)
{
    size_t first = h->count / 2, found = 0;

    for (size_t i = first; i < h->count; i++)
        found += h->points[i].work_ref_s >= CEILING * h->points[i].estimate_ref_s;
    return (double)found >= CEILING_SHARE * (double)(h->count - first);
}

/* The interval in scaled units; `half` is the spec's. */
static void calibrate(const struct progress_in *in, const struct progress_series *s,
                      const struct progress_fitted *fitted, double half, double *low,
                      double *high)
{
    double k_low = in->options.k_min / K_BELOW, res = fitted->res, greatest = 0;
    struct progress_fitted beyond[2];

    *low = fitted->a - WIDENING * half;
    *high = fitted->a + WIDENING * half;
    if (fitted->b > 0 && fitted->k <= in->options.k_min * (1 + 1e-6)) {
        progress_varpro(s, k_low, in->options.k_max, beyond);
        for (size_t f = 0; f < 2; f++) {
            if (!(beyond[f].res <= res))
                continue;
            *low = fmin(*low, beyond[f].a);
            *high = fmax(*high, beyond[f].a);
            res = beyond[f].res;
        }
    }
    progress_profile(s, k_low, in->options.k_max,
                     res * (1 + NORMAL_95 * NORMAL_95 / (double)(s->count - 3)), low,
                     high);
    if (at_ceiling(&in->history))
        *low = 0;
    for (size_t i = 0; i < s->count; i++)
        greatest = fmax(greatest, s->v[i]);
    if (!in->options.strict_seed)
        *high = fmin(*high, in->options.max_factor * greatest);
}

/* What the first two thirds of the reports would have been fitted to; NAN: too few, or no
 * fit. */
static double earlier_limit(const struct progress_in *in, struct arena *a)
{
    struct progress_in earlier = *in;
    struct progress_out out;

    earlier.history.count = 2 * in->history.count / 3;
    if (earlier.history.count < EARLIER_LEAST)
        return (double)NAN;
    earlier.previous_count = 0;
    earlier.options.interval = PROGRESS_NO_INTERVAL;
    earlier.options.screen = false; /* it was done */
    if (progress_predict(&earlier, &out, a) != OK || out.source != PROGRESS_FROM_fit)
        return (double)NAN;
    return out.estimate_ref_s;
}

static double last_estimate(const struct progress_history *h)
{
    return h->points[h->count - 1].estimate_ref_s;
}

/* In units of the limit; `half` is the spec's. */
static double steady_half(const struct progress_in *in, double limit, double half,
                          struct arena *a)
{
    const struct progress_history *h = &in->history;
    double n = (double)h->count, earlier = earlier_limit(in, a);

    half += LAST_SHARE * fabs(limit - last_estimate(h));
    half += isnan(earlier) ? 0 : fabs(limit - earlier);
    return fmax(half, HALF_LEAST * limit) * (1 + FEW / n);
}

/* What is no fit: the last estimates, and far to both sides of the last one. */
static void span_wide(const struct progress_in *in, struct progress_out *out)
{
    const struct progress_history *h = &in->history;

    span_recent(in, out);
    if (h->count < 2)
        return;
    out->low_ref_s = fmin(out->low_ref_s, LOW_SHARE * last_estimate(h));
    out->high_ref_s = fmax(out->high_ref_s, HIGH_SHARE * last_estimate(h));
}

/* Never below the work done, and with the prediction in it. */
static void keep_in_bounds(const struct progress_in *in, struct progress_out *out)
{
    const struct progress_history *h = &in->history;
    double work = h->count ? h->points[h->count - 1].work_ref_s : 0;

    if (isnan(out->low_ref_s) || isnan(out->high_ref_s))
        return;
    out->low_ref_s = fmin(fmax(out->low_ref_s, work), out->estimate_ref_s);
    out->high_ref_s = fmax(out->high_ref_s, out->estimate_ref_s);
}

void progress_interval(const struct progress_in *in, const struct progress_series *s,
                       const struct progress_fitted *fitted, struct progress_out *out,
                       struct arena *a)
{
    enum progress_interval_rule rule = in->options.interval;
    double half, low, high;

    if (rule == PROGRESS_NO_INTERVAL)
        return;
    if (!s && rule == PROGRESS_STEADY) {
        span_wide(in, out);
    } else if (!s || (s->count <= 3 && rule == PROGRESS_CALIBRATED)) {
        span_recent(in, out);
    } else {
        half =
            NORMAL_95 * standard_error(s, out->candidates[out->chosen].function, fitted);
        low = fitted->a - half;
        high = fitted->a + half;
        if (rule == PROGRESS_STEADY) {
            half = steady_half(in, fitted->a * s->scale, half * s->scale, a) / s->scale;
            low = fitted->a - half;
            high = fitted->a + half;
        }
        if (rule == PROGRESS_CALIBRATED)
            calibrate(in, s, fitted, half, &low, &high);
        out->low_ref_s = low * s->scale;
        out->high_ref_s = high * s->scale;
    }
    keep_in_bounds(in, out);
}

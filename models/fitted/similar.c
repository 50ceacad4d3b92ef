/* fitted/similar.c - an application of which no run is known, told by those that are like
 * it. */
#include "models/fitted/similar.h"

#include "models/base/order.h"

#include <math.h>
#include <stdlib.h>

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

bool fitted_guess_make(const double *medians_s, size_t count, struct fitted_guess *out,
                       struct arena *a)
{
    double *kept = NEW(a, double, count + 1);
    size_t n = 0;

    for (size_t i = 0; i < count; i++)
        if (medians_s[i] > 0 && isfinite(medians_s[i]))
            kept[n++] = medians_s[i];
    if (n == 0)
        return false;
    out->time_s = sort_median(kept, n);
    for (size_t i = 0; i < n; i++)
        kept[i] = fabs(log(kept[i]) - log(out->time_s));
    qsort(kept, n, sizeof(*kept), ascending);
    out->distances = kept;
    out->count = n;
    return true;
}

#define LEAST_RATIO 3.0
#define USUAL_LEVEL 0.8 /* of predictions */

double fitted_guess_half(const struct fitted_guess *g, double level)
{
    double rank = ceil(level * (double)(g->count + 1));
    size_t at = rank < (double)g->count ? (size_t)fmax(rank, 1) - 1 : g->count - 1;
    /* Of the tail nothing is known: exponential. */
    double least = log(LEAST_RATIO) * log1p(-level) / log1p(-USUAL_LEVEL);

    return fmax(least, g->distances[at]);
}

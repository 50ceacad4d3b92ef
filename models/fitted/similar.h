/* fitted/similar.h - an application of which no run is known, told by those that are like
 * it.
 *
 * Pure. Times are seconds; levels 0 < level < 1.
 *
 * Source: learning.md 16, 5.
 */
#ifndef GRIDPLAN_FITTED_SIMILAR_H
#define GRIDPLAN_FITTED_SIMILAR_H

#include "models/base/arena.h"

#include <stdbool.h>
#include <stddef.h>

enum { SIMILAR_APPLICATIONS_MAX = 100 };

/* What the interval rests on, and how the time was found. */
#define FITTED_BY_SIMILAR "similar_applications"

struct fitted_guess {
    double time_s;           /* the median of their median run times; > 0 */
    const double *distances; /* |ln(median / time_s)| of each, ascending */
    size_t count;            /* of them; >= 1 */
    bool by_name;            /* they have its name, else inputs of it */
    const char *first;       /* one of them */
};

/* From the median run time of each; those that are not above 0 and finite are left out.
 * false: there are none. O(count log count). */
bool fitted_guess_make(const double *medians_s, size_t count, struct fitted_guess *out,
                       struct arena *a);

/* Half of the interval of ln(time): what a share `level` of them keep to, and at the
 * level 0.8 ln 3 at least. Rises with the level. */
double fitted_guess_half(const struct fitted_guess *g, double level);

#endif

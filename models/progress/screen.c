/* progress/screen.c - reports that cannot be true beside their neighbours.
 *
 * With l the logarithm of what a report says of the whole task, d its distance to the
 * median of its neighbours (three on each side; near an end the window of seven is moved
 * inwards; of fewer than seven reports all others) and S = 1.4826 median |d|, a report is
 * dropped if
 *
 *     |d| > max(ln 1.5, 6 S)
 *
 * Fewer than five reports are all believed, and three or more in a row that would be
 * dropped and say the same, by less than a factor of 1.5, are a phase of the task: they
 * stay.
 *
 * Source: spec learning.md 10.1. Cost: O(n log n).
 */
#include "models/progress/progress.h"

#include "models/base/order.h"

#include <math.h>
#include <string.h>

enum { LEAST = 5, SIDE = 3, WINDOW = 2 * SIDE + 1, PHASE_LEAST = 3 };

/* From the median of the neighbours of report i. */
static double distance(const double *l, size_t count, size_t i)
{
    size_t width = count < WINDOW ? count : WINDOW;
    size_t first = i < SIDE ? 0 : i - SIDE, used = 0;
    double others[WINDOW];

    if (first + width > count)
        first = count - width;
    for (size_t k = first; k < first + width; k++)
        if (k != i)
            others[used++] = l[k];
    return l[i] - sort_median(others, used);
}

/* How many from `first` on are to be dropped and say the same. */
static size_t run_of(const double *l, const double *d, double limit, size_t count,
                     size_t first)
{
    size_t end = first;

    while (end < count && fabs(d[end]) > limit && fabs(l[end] - l[first]) <= log(1.5))
        end++;
    return end - first;
}

void progress_screen(const struct progress_history *in, struct progress_history *out,
                     size_t *dropped, struct arena *a)
{
    size_t n = in->count, kept = 0;
    struct progress_point *points = NEW(a, struct progress_point, n);
    double *l = NEW(a, double, n), *d = NEW(a, double, n), *sizes = NEW(a, double, n);
    double limit;

    *dropped = 0;
    *out = *in;
    if (n < LEAST)
        return;
    for (size_t i = 0; i < n; i++)
        l[i] = log(in->points[i].estimate_ref_s);
    for (size_t i = 0; i < n; i++)
        sizes[i] = fabs(d[i] = distance(l, n, i));
    limit = fmax(log(1.5), 6 * 1.4826 * sort_median(sizes, n));
    for (size_t i = 0; i < n;) {
        size_t run = run_of(l, d, limit, n, i);

        if (run == 0 || run >= PHASE_LEAST)
            for (size_t k = 0; k < (run ? run : 1); k++)
                points[kept++] = in->points[i + k];
        i += run ? run : 1;
    }
    *dropped = n - kept;
    out->points = points;
    out->count = kept;
}

/* base/order.c - numbers in order: sorting, median, quantile. */
#include "models/base/order.h"

#include <stdlib.h>

/* Few enough to sort by insertion. */
enum { FEW = 16 };

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void insert(double *value, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        double x = value[i];
        size_t at = i;

        for (; at > 0 && value[at - 1] > x; at--)
            value[at] = value[at - 1];
        value[at] = x;
    }
}

static double middle_of(double a, double b, double c)
{
    double low = a < b ? a : b, high = a < b ? b : a;

    return c < low ? low : c > high ? high : c;
}

/* Quicksort without a call for each comparison; when parts stay unequal, the library's.
 */
static void sort_deep(double *value, size_t count, size_t depth)
{
    while (count > FEW) {
        double pivot = middle_of(value[0], value[count / 2], value[count - 1]);
        size_t low = 0, high = count - 1;

        if (depth-- == 0) {
            qsort(value, count, sizeof(*value), ascending);
            return;
        }
        for (;; low++, high--) {
            double x;

            while (value[low] < pivot)
                low++;
            while (value[high] > pivot)
                high--;
            if (low >= high)
                break;
            x = value[low];
            value[low] = value[high];
            value[high] = x;
        }
        sort_deep(value + high + 1, count - high - 1, depth);
        count = high + 1;
    }
    insert(value, count);
}

void sort_numbers(double *value, size_t count)
{
    size_t depth = 4;

    for (size_t n = count; n > 1; n /= 2)
        depth += 2;
    sort_deep(value, count, depth);
}

double sort_median(double *value, size_t count)
{
    sort_numbers(value, count);
    return value[(count - 1) / 2] / 2 + value[count / 2] / 2; /* their sum may overflow */
}

double sorted_quantile(const double *sorted, size_t count, double p)
{
    double at = p * (double)(count - 1);
    size_t below = (size_t)at;

    if (below + 1 >= count)
        return sorted[count - 1];
    return sorted[below] + (sorted[below + 1] - sorted[below]) * (at - (double)below);
}

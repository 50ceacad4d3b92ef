/* base/order.c - numbers in order: sorting, median, quantile. */
#include "models/base/order.h"

#include <stdlib.h>

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

void sort_numbers(double *value, size_t count)
{
    qsort(value, count, sizeof(*value), ascending);
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

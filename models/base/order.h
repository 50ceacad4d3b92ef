/* base/order.h - numbers in order: sorting, median, quantile. */
#ifndef GRIDPLAN_BASE_ORDER_H
#define GRIDPLAN_BASE_ORDER_H

#include <stddef.h>

/* Ascending. None may be NAN. */
void sort_numbers(double *value, size_t count);

/* Median of `count` >= 1 values, which it sorts; of two in the middle their mean. */
double sort_median(double *value, size_t count);

/* Quantile p of `count` >= 1 ascending values, 0 <= p <= 1, linear between two. */
double sorted_quantile(const double *sorted, size_t count, double p);

#endif

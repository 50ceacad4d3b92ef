/* checkpoint/golden_section.c - where a function of one variable is least. */
#include "algorithms/checkpoint/golden_section.h"

#include <assert.h>
#include <math.h>

#define GOLDEN 0.6180339887498949

double golden_least_at(double (*f)(const void *context, double x), const void *context,
                       double low, double high, double width_ratio)
{
    double from = log(low), to = log(high);
    double left = to - GOLDEN * (to - from), right = from + GOLDEN * (to - from);
    double at_left = f(context, exp(left)), at_right = f(context, exp(right));

    assert(0 < low && low < high && width_ratio > 0);
    for (int step = 0; step < 200 && to - from > width_ratio; step++) {
        if (at_left <= at_right) { /* two infinite ones: the valley is to the left */
            to = right;
            right = left;
            at_right = at_left;
            left = to - GOLDEN * (to - from);
            at_left = f(context, exp(left));
        } else {
            from = left;
            left = right;
            at_left = at_right;
            right = from + GOLDEN * (to - from);
            at_right = f(context, exp(right));
        }
    }
    return exp(at_left <= at_right ? left : right);
}

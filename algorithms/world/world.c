/* world/world.c - amounts in whole units. */
#include "algorithms/world/world.h"

int64_t amount_units(double value, double per_one)
{
    double units;

    if (isnan(value) || value >= 1e18)
        return AMOUNT_UNLIMITED;
    if (value <= 0)
        return 0;
    units = floor(value * per_one + 0.5);
    if (units < 1)
        return 1;
    return units < (double)AMOUNT_UNLIMITED ? (int64_t)units : AMOUNT_UNLIMITED;
}

double amount_value(const struct world *w, size_t amount, int64_t units)
{
    return (double)units / w->amounts[amount].per_one;
}

int64_t amount_add(int64_t a, int64_t b)
{
    if (a >= AMOUNT_UNLIMITED || b >= AMOUNT_UNLIMITED - (a > 0 ? a : 0))
        return AMOUNT_UNLIMITED;
    if (a <= -AMOUNT_UNLIMITED || b <= -AMOUNT_UNLIMITED - (a < 0 ? a : 0))
        return -AMOUNT_UNLIMITED;
    return a + b;
}

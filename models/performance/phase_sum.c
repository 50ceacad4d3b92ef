/* performance/phase_sum.c - the run time of a whole run from those of its phases. */
#include "models/performance/phase_sum.h"

#include <math.h>

void phase_sum_add(struct phase_sum *sum, double time_s, double low_s, double high_s)
{
    sum->time_s += time_s;
    sum->low_s += low_s;
    sum->high_s += high_s;
}

void phase_sum_miss(struct phase_sum *sum, double share_ratio)
{
    sum->missing_ratio += isnan(share_ratio) ? 1 : share_ratio;
}

bool phase_sum_end(struct phase_sum *sum)
{
    double rest = 1 - sum->missing_ratio;

    if (!(rest > 0)) {
        sum->time_s = sum->low_s = sum->high_s = (double)NAN;
        return false;
    }
    sum->time_s /= rest;
    sum->low_s /= rest;
    sum->high_s /= rest;
    return true;
}

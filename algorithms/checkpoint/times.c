/* checkpoint/times.c - how long a job runs and how much of it is left, from its length.
 */
#include "algorithms/checkpoint/times.h"

#include <math.h>

void checkpoint_fill_times(double length_mi, double completed_mi,
                           const struct resource *r, struct checkpoint_in *in)
{
    double left_mi = length_mi, speed_mips = NAN;

    if (!isnan(length_mi) && !isnan(completed_mi))
        left_mi = fmax(0, length_mi - completed_mi);
    if (!isnan(in->execution_time_s))
        speed_mips = length_mi / in->execution_time_s;
    else if (r)
        speed_mips = (r->mips_total * r->cpu_available_ratio - r->mips_external) /
                     fmax(1, r->job_count);
    if (isnan(in->execution_time_s) && !isnan(length_mi) && r)
        in->execution_time_s = speed_mips > 0 ? length_mi / speed_mips : HUGE_VAL;
    if (!isnan(in->remaining_s))
        return;
    if (isnan(left_mi) || isnan(speed_mips))
        in->remaining_s = in->execution_time_s;
    else if (left_mi > 0)
        in->remaining_s = speed_mips > 0 ? left_mi / speed_mips : HUGE_VAL;
    else
        in->remaining_s = 0;
}

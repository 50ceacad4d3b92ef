/* migration/gridway_worth.c - is a migration worthwhile? */
#include "algorithms/migration/gridway_worth.h"

#include <math.h>

double gridway_stay_s(double remaining_ref_s, double rate_mips)
{
    if (remaining_ref_s <= 0)
        return 0;
    return rate_mips > 0 ? remaining_ref_s / rate_mips : HUGE_VAL;
}

double gridway_move_s(const struct gridway_move *move)
{
    return move->queue_wait_s + move->stage_s +
           gridway_stay_s(move->left_ref_s, move->speed_mips) + move->outputs_s;
}

bool gridway_rank_passes(double present, double fresh, double threshold)
{
    if (isnan(fresh))
        return false;
    if (isnan(present))
        return true;
    if (present == 0)
        return fresh > 0;
    return fresh - present >= threshold * fabs(present);
}

bool gridway_pays(double stay_s, double move_s, double min_gain_s, double min_gain_ratio)
{
    if (!(move_s < HUGE_VAL))
        return false;
    if (!(stay_s < HUGE_VAL))
        return stay_s > 0; /* not NAN */
    return stay_s - move_s > fmax(min_gain_s, min_gain_ratio * stay_s);
}

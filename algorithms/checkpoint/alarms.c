/* checkpoint/alarms.c - checkpoints on alarms of a failure predictor. */
#include "algorithms/checkpoint/alarms.h"

#include <math.h>

bool predictor_is_used(const struct predictor *x)
{
    return x->recall_ratio > 0 && x->lead_s >= x->overhead_s;
}

double predictor_mean_s(const struct predictor *x, double mean_s)
{
    if (!predictor_is_used(x))
        return mean_s;
    return x->recall_ratio < 1 ? mean_s / (1 - x->recall_ratio) : HUGE_VAL;
}

double predictor_threshold_s(const struct predictor *x)
{
    return x->precision_ratio > 0 ? x->overhead_s / x->precision_ratio : HUGE_VAL;
}

struct trial_foresight predictor_foresight(const struct predictor *x, double mean_s)
{
    struct trial_foresight out = {.lead_s = x->lead_s,
                                  .overhead_s = x->overhead_s,
                                  .threshold_s = predictor_threshold_s(x)};

    if (!predictor_is_used(x))
        return out;
    out.foreseen_ratio = x->recall_ratio;
    out.false_alarms_per_s =
        x->recall_ratio * (1 - x->precision_ratio) / (x->precision_ratio * mean_s);
    return out;
}

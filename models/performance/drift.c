/* performance/drift.c - has the world changed, or was it one strange run? */
#include "models/performance/drift.h"

#include <math.h>

#define OUTLIER_SCALES 4.0  /* an error of fewer scales is no outlier */
#define OLD_HALF       10.0 /* new runs after which one of before counts half */

const struct drift_rule drift_rule_preset = {
    .cusum_slack = 1,
    .cusum_limit = 5,
    .error_clamp = 3,
    .scale_floor = 0.05,
    .outlier_ratio = 3,
    .window_runs = 2000,
};

bool drift_is_outlier(const struct drift_rule *rule, double r, double s)
{
    return fabs(r) >
           fmax(log(rule->outlier_ratio), OUTLIER_SCALES * fmax(rule->scale_floor, s));
}

enum drift_verdict drift_add(struct drift_sums *sums, const struct drift_rule *rule,
                             size_t index, double r, double s, size_t *start)
{
    double scaled = r / fmax(rule->scale_floor, s);
    double z = fmin(fmax(scaled, -rule->error_clamp), rule->error_clamp);

    sums->up = fmax(0, sums->up + z - rule->cusum_slack);
    sums->down = fmax(0, sums->down - z - rule->cusum_slack);
    if (!(sums->up > 0))
        sums->up_start = index + 1;
    if (!(sums->down > 0))
        sums->down_start = index + 1;
    if (sums->up > rule->cusum_limit || sums->down > rule->cusum_limit) {
        *start = sums->up > rule->cusum_limit ? sums->up_start : sums->down_start;
        *sums = (struct drift_sums){0, 0, index + 1, index + 1};
        return DRIFT_CHANGE;
    }
    return drift_is_outlier(rule, r, s) ? DRIFT_OUTLIER : DRIFT_NONE;
}

double drift_old_weight(size_t new_count)
{
    return new_count >= DRIFT_OLD_UNTIL ? 0 : OLD_HALF / (OLD_HALF + (double)new_count);
}

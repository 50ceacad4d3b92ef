/* performance/drift.h - has the world changed, or was it one strange run?
 *
 * A run is assessed by the error r = ln(actual / predicted) that the model made before
 * it learnt the run, and by the scale s of such errors: half the width, in logarithms,
 * of the interval that holds 68.27 % of the runs. Two sums go along:
 *
 *     z    = r / s, not beyond +- error_clamp
 *     up   = max(0, up + z - cusum_slack)      down = max(0, down - z - cusum_slack)
 *
 * One run, however strange, adds error_clamp - cusum_slack at most; a sum above
 * cusum_limit is a change, which began with the first run since the sum was last 0.
 * Too long and too short are treated alike.
 *
 * Source: spec learning.md 3; E. S. Page, "Continuous inspection schemes", 1954.
 */
#ifndef GRIDPLAN_PERFORMANCE_DRIFT_H
#define GRIDPLAN_PERFORMANCE_DRIFT_H

#include <stdbool.h>
#include <stddef.h>

struct drift_rule {
    double cusum_slack;   /* 0.25..3; of z */
    double cusum_limit;   /* 2..20; of z */
    double error_clamp;   /* 2..10; of z */
    double scale_floor;   /* 0.001..1; least s */
    double outlier_ratio; /* 1.5..100; a run off by less is no outlier */
    double window_runs;   /* 20..20000, whole; runs that are remembered */
};

extern const struct drift_rule drift_rule_preset;

struct drift_sums {
    double up, down;
    size_t up_start, down_start; /* index of the first run since the sum was 0 */
};

enum drift_verdict { DRIFT_NONE, DRIFT_OUTLIER, DRIFT_CHANGE };

/* Takes the run of this index (0, 1 ... in the order of learning) into the sums; r
 * finite, s > 0. With DRIFT_CHANGE *start is the index of the first run of the new
 * world and the sums are 0 again. */
enum drift_verdict drift_add(struct drift_sums *sums, const struct drift_rule *rule,
                             size_t index, double r, double s, size_t *start);

/* Is an error r an outlier at the scale s, whatever came before? */
bool drift_is_outlier(const struct drift_rule *rule, double r, double s);

enum { DRIFT_OLD_MAX = 200, DRIFT_OLD_UNTIL = 60 };

/* Weight of a run of before a change when `new_count` runs have come since; 0: those of
 * before are forgotten. */
double drift_old_weight(size_t new_count);

#endif

/* migration/gridway_worth.h - is a migration worthwhile?
 *
 *     stay = remaining_ref_s / rate_present
 *     move = queue wait + stage-in + (remaining_ref_s + lost_ref_s) / v(new)
 *            + outputs that must be fetched from the old host
 *     rank test   rank_new - rank_present >= rank_threshold * |rank_present|;
 *                 present rank 0 or undefined: the new one above 0, or defined
 *     pay test    stay - move > max(min_gain_s, min_gain_ratio * stay)
 *
 * At a present rate of 0 stay has no end, and any finite move pays.
 *
 * Source: spec gridway.md 3.2; 004_f687c06842f61aec.txt section 6 names the terms.
 */
#ifndef GRIDPLAN_MIGRATION_GRIDWAY_WORTH_H
#define GRIDPLAN_MIGRATION_GRIDWAY_WORTH_H

#include <stdbool.h>

struct gridway_move {
    double queue_wait_s, stage_s, outputs_s; /* HUGE_VAL: never */
    double left_ref_s;                       /* remaining and lost; NAN: not known */
    double speed_mips;                       /* of the new resource */
};

/* HUGE_VAL: without end. O(1). */
double gridway_stay_s(double remaining_ref_s, double rate_mips);
double gridway_move_s(const struct gridway_move *move);

/* NAN ranks are undefined. */
bool gridway_rank_passes(double present, double fresh, double threshold);
bool gridway_pays(double stay_s, double move_s, double min_gain_s, double min_gain_ratio);

#endif

/* coallocation/timeline.h - when a placed job is claimed and starts.
 *
 *     JPT  job placement time: its last component was placed
 *     FTT  file transfer time: its longest transfer
 *     JST  job start time = JPT + FTT
 *     JCT  job claiming time: JCT_0 = JPT + L FTT, JCT_n+1 = JCT_n + L (JST - JCT_n)
 *
 * so JST - JCT_n = (1 - L)^(n+1) FTT. Instants are seconds on the caller's clock.
 *
 * Source: spec coallocation.md 7, 8; 001_546dfcc428821807 4.1, 4.2.2.
 * Deviation: the source's JCT never reaches JST for 0 < L < 1; a step is at least
 * min_interval_s, and a time nearer to JST than that is JST itself: the final try. With
 * L = 0 a step is zero_l_interval_s.
 */
#ifndef GRIDPLAN_COALLOCATION_TIMELINE_H
#define GRIDPLAN_COALLOCATION_TIMELINE_H

#include "models/base/error.h"

/* Steps of claiming; both > 0. */
struct co_claim_steps {
    double min_interval_s;    /* 1 */
    double zero_l_interval_s; /* 10 */
};

#define CO_CLAIM_STEPS ((struct co_claim_steps){1.0, 10.0})

/* Tolerance of "it is JST" and of "it is not yet JCT". */
#define CO_TIME_SLACK_S 1e-9

double co_jst_s(double jpt_s, double ftt_s);

/* JCT_0; 0 <= l <= 1. */
double co_first_claim_s(double jpt_s, double ftt_s, double l,
                        const struct co_claim_steps *steps);

/* The next JCT after a try at jct_s that did not succeed; JST: the final one. */
double co_next_claim_s(double jct_s, double jst_s, double l,
                       const struct co_claim_steps *steps);

/* All tries, the last at JST, if every one fails. Fails with ERR_TOO_LARGE beyond a
 * million. */
enum error_code co_claim_schedule(double jpt_s, double ftt_s, double l,
                                  const struct co_claim_steps *steps,
                                  const double **claim_s, size_t *count, struct arena *a,
                                  struct error *err);

/* What a run of a job took (spec 7); NAN where its inputs are. */
struct co_times {
    double submitted_s, queue_entry_s, jpt_s, jst_s;
    double claimed_s;           /* when the claim succeeded */
    double transfers_done_at_s; /* when they really ended; NAN: by JST */
    double original_jst_s;      /* of the first placement; NAN: this one's */
    double earlier_placement_s; /* placement times of earlier placements, summed */
};

struct co_durations {
    double start_s;           /* max(JST, end of transfers, claim) */
    double gained_s;          /* PGT: others could use the processors */
    double wasted_s;          /* PWT: held, not working; >= 0 */
    double waiting_s;         /* TWT: from submission to launch */
    double placement_s;       /* this time in the placement queue */
    double total_placement_s; /* with the earlier ones */
    double start_delay_s;     /* JST less the original one */
};

struct co_durations co_durations(const struct co_times *t);

#endif

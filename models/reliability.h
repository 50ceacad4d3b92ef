/* reliability.h - how often a resource fails, and how long it has been up.
 *
 * struct reliability holds counters that every failure and every restore moves
 * on: what it says of the resource costs O(1), and following a simulated grid
 * costs nothing more. reliability_of() makes the same from a stored history.
 * Instants are seconds on any one scale.
 *
 * Mean time between failures, with k failures seen:
 *
 *     censored       (now - observed since) / max(1, k)
 *     gap_mean       (last failure - observed since) / k;  k = 0: as censored
 *     uptime_mean    time up / max(1, k)
 *
 * Source: spec fault-tolerance.md 2.2, 3 and 12.
 */
#ifndef GRIDPLAN_RELIABILITY_H
#define GRIDPLAN_RELIABILITY_H

#include "models/failure_stats.h"

/* MF_BAYES: time up / (k + 1/2), the mean rate that Jeffreys' prior gives, as long as
 * no more is known (failure_rate.h). MF_AUTO: MF_BAYES for what the store counted,
 * MF_CENSORED for what a request says or a simulation sees. */
enum mf_estimator { MF_CENSORED, MF_GAP_MEAN, MF_UPTIME_MEAN, MF_BAYES, MF_AUTO };

/* Names for JSON, ended by NULL. */
extern const char *const mf_estimator_names[];

/* From reliability_begin(). An outage ends before the next one begins. */
struct reliability {
    double observed_since_s;
    double last_failure_at_s; /* NAN: none yet */
    double up_since_s;        /* last restore, else observed_since_s; while down: of the
                                 time up before it */
    double uptime_total_s;    /* finished times up: without the present one */
    double repair_total_s;    /* finished repairs */
    size_t failure_count;
    size_t repair_count;
    bool down;
};

/* Up, and observed from at_s on. */
void reliability_begin(struct reliability *r, double at_s);

/* It went down; while it is down already nothing changes. */
void reliability_fail(struct reliability *r, double at_s);

/* It is up again; while it is up nothing changes. */
void reliability_restore(struct reliability *r, double at_s);

/* Mean time between failures, >= 0. */
double reliability_mean_s(const struct reliability *r, enum mf_estimator estimator,
                          double now_s);

/* The same, drawn to the mean site_mean_s of the resource's site as if the latter
 * had been seen in `weight` failures: (T + weight * site_mean_s) / (k + weight),
 * with T = mean * max(1, k); weight > 0. */
double reliability_shrunk_mean_s(const struct reliability *r, enum mf_estimator estimator,
                                 double now_s, double site_mean_s, double weight);

/* now - last failure, or - observed since; a failure in the future: 0. */
double reliability_failure_age_s(const struct reliability *r, double now_s);

/* Since the last restore; 0 while down. */
double reliability_uptime_s(const struct reliability *r, double now_s);

/* All time up, the present one included. */
double reliability_uptime_total_s(const struct reliability *r, double now_s);

/* Mean time to repair; NAN: no repair yet. */
double reliability_mttr_s(const struct reliability *r);

/* Time up over time observed, 0..1; NAN: observed for no time. */
double reliability_availability_ratio(const struct reliability *r, double now_s);

/* The counters at now_s of a resource that was observed from observed_since_s on
 * (NAN: from its first failure on, or from now_s) and had these failures. They may
 * come in any order and overlap: overlapping ones are one. What lies outside
 * [observed_since_s, now_s] is cut off. Puts the gaps between the begins of
 * failures that are longer than 0 into gap_s, if that is not NULL: *gap_count, less
 * than `count`. O(count log count); uses `a` for a copy. ERR_TOO_LARGE when it is
 * full. */
void reliability_of(const struct failure_interval *failures, size_t count,
                    double observed_since_s, double now_s, struct reliability *out,
                    double *gap_s, size_t *gap_count, struct arena *a);

/* Fewer gaps than this say nothing about a distribution. */
enum { RELIABILITY_GAPS_MIN = 8 };

#endif

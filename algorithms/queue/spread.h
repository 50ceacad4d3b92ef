/* queue/spread.h - how unevenly a replay serves its jobs: percentiles, users, widths.
 *
 * Percentiles are linear between order statistics (type 7 of R. Hyndman, Y. Fan,
 * "Sample quantiles in statistical packages", The American Statistician 50(4), 1996).
 * A table has a row for each group of jobs, those with most processor seconds first.
 *
 * Cost: O(n log n).
 */
#ifndef GRIDPLAN_QUEUE_SPREAD_H
#define GRIDPLAN_QUEUE_SPREAD_H

#include "algorithms/queue/replay.h"

#define QUEUE_PERCENTILES(X) X(p50, 50) X(p75, 75) X(p90, 90) X(p95, 95) X(p99, 99)

struct queue_percentiles {
#define X(name, percent) double name;
    QUEUE_PERCENTILES(X)
#undef X
};

/* Of the jobs that ran; there is at least one. */
struct queue_spread {
    struct queue_percentiles wait_s, response_s, bounded_slowdown;
};

/* Classes of processors: from 1, 2, 5, 17, 65, 257 and 1025 on. */
extern const char *const queue_size_names[]; /* ended by NULL */

/* A group of jobs that ran. Figures: name, meaning. */
#define QUEUE_GROUP_FIGURES(X)                          \
    X(core_s, "Seconds times processors that they ran") \
    X(mean_wait_s, "Mean time from arrival to start")   \
    X(p50_wait_s, "Median of it")                       \
    X(p90_wait_s, "90th percentile of it")              \
    X(max_wait_s, "Longest such time")                  \
    X(mean_bounded_slowdown, "Mean bounded slowdown")

struct queue_group {
    double key;     /* number of the user, NAN: not known; index of the class */
    bool is_others; /* all groups beyond the greatest number of rows */
    uint64_t job_count;
#define X(name, doc) double name;
    QUEUE_GROUP_FIGURES(X)
#undef X
};

struct queue_table {
    const struct queue_group *groups; /* by core_s, falling, then by key; others last */
    size_t count, rest_count;         /* groups that are in the others */
};

enum queue_grouping { QUEUE_BY_USER, QUEUE_BY_SIZE };

/* False in *ran: no job ran, and *spread is as it was. */
enum error_code queue_spread(const struct queue_replay_in *in,
                             const struct queue_replay_out *out,
                             struct queue_spread *spread, bool *ran, struct arena *a,
                             struct error *err);

/* At most rows_max groups, and the others. */
void queue_tabulate(const struct queue_replay_in *in, const struct queue_replay_out *out,
                    enum queue_grouping grouping, size_t rows_max,
                    struct queue_table *table, struct arena *a);

#endif

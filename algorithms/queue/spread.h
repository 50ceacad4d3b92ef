/* queue/spread.h - how unevenly a replay serves its jobs: percentiles, users, widths.
 *
 * Percentiles are linear between order statistics (queue_percentile()). A table has a
 * row for each group of jobs, those with most processor seconds first.
 *
 * Cost: O(n log n).
 */
#ifndef GRIDPLAN_QUEUE_SPREAD_H
#define GRIDPLAN_QUEUE_SPREAD_H

#include "algorithms/queue/outcome.h"

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
    double key;     /* as the jobs have it, NAN: not known; index of the class */
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

/* One of enum queue_key, or: */
enum { QUEUE_BY_SIZE = QUEUE_KEY_COUNT };

/* False: no job ran, and *spread is as it was. `a` is for what is in between. */
bool queue_spread(const struct queue_outcome *outcomes, size_t count,
                  struct queue_spread *spread, struct arena *a);

/* At most rows_max groups, and the others. */
void queue_tabulate(const struct queue_outcome *outcomes, size_t job_count, int grouping,
                    size_t rows_max, struct queue_table *table, struct arena *a);

#endif

/* coallocation/priority.h - which of the levels a job gets.
 *
 * The scheduler gives the level, not the user: by the class of the job, by how long it
 * runs, or by the group that it belongs to. The number of levels is CO_LEVEL_COUNT.
 *
 * Source: spec coallocation.md 4; 001_546dfcc428821807 2.2.3.
 */
#ifndef GRIDPLAN_COALLOCATION_PRIORITY_H
#define GRIDPLAN_COALLOCATION_PRIORITY_H

#include "algorithms/coallocation/coallocation.h"

/* Names on the wire, ended by NULL. */
enum co_priority_policy { CO_BY_CLASS, CO_BY_RUNTIME, CO_BY_GROUP };
extern const char *const co_priority_policy_names[];

/* The longest run times of all levels but the least, the highest level first. */
enum { CO_RUNTIME_THRESHOLDS = CO_LEVEL_COUNT - 1 };
extern const double co_runtime_thresholds_s[CO_RUNTIME_THRESHOLDS]; /* 300 1800 14400 */

/* The higher the level the shorter the job: up to threshold_s[0] (inclusive) the
 * highest, beyond the last the least. NAN: the least. Thresholds ascend. */
enum co_level co_priority_by_runtime(double run_time_s, const double *threshold_s,
                                     size_t threshold_count);

struct co_group_level {
    const char *group;
    enum co_level level;
};

/* false: the group is not in the list. */
bool co_priority_by_group(const char *group, const struct co_group_level *list,
                          size_t count, enum co_level *level);

/* The level above, the highest itself. */
enum co_level co_level_above(enum co_level level);

#endif

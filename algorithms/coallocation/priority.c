/* coallocation/priority.c - which of the levels a job gets.
 *
 * Source: spec coallocation.md 4; 001_546dfcc428821807 2.2.3 [L411-L423].
 * Deviation: the thresholds of run times are ours; the source says only that longer jobs
 * may get lower levels.
 */
#include "algorithms/coallocation/priority.h"

#include <string.h>

const char *const co_priority_policy_names[] = {"class", "runtime", "group", NULL};
const double co_runtime_thresholds_s[CO_RUNTIME_THRESHOLDS] = {300, 1800, 14400};

enum co_level co_priority_by_runtime(double run_time_s, const double *threshold_s,
                                     size_t threshold_count)
{
    for (size_t i = 0; i < threshold_count && i < CO_LEVEL_COUNT - 1; i++)
        if (run_time_s <= threshold_s[i])
            return (enum co_level)(CO_LEVEL_COUNT - 1 - i);
    return CO_SUPER_LOW;
}

bool co_priority_by_group(const char *group, const struct co_group_level *list,
                          size_t count, enum co_level *level)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(list[i].group, group) != 0)
            continue;
        *level = list[i].level;
        return true;
    }
    return false;
}

enum co_level co_level_above(enum co_level level)
{
    return level + 1 < CO_LEVEL_COUNT ? (enum co_level)(level + 1) : level;
}

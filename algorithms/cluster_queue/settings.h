/* cluster_queue/settings.h - settings of the policy slurm_backfill, and the policy
 * itself.
 *
 * Names, defaults and bounds are those of slurm.conf(5) of Slurm 22.05, times in seconds.
 */
#ifndef GRIDPLAN_CLUSTER_SETTINGS_H
#define GRIDPLAN_CLUSTER_SETTINGS_H

#include "models/base/policy.h"

/* Settings: name, least, most, default, meaning. Those that may be 0 for "no limit" say
 * so. */
#define CLUSTER_NUMBERS(X)                                                               \
    X(bf_interval_s, -1, 10800, 30, "Seconds between two passes of backfill; -1: none")  \
    X(bf_window_s, 60, 2592000, 86400, "How far ahead it plans, in seconds")             \
    X(bf_resolution_s, 1, 3600, 60, "Its plans are rounded to multiples of so many s")   \
    X(bf_max_job_test, 1, 1e6, 500, "Rows that a pass tests")                            \
    X(bf_max_job_user, 0, 1e6, 0, "Of one user; 0: no limit")                            \
    X(bf_max_job_user_part, 0, 1e6, 0, "Of one user in one partition; 0: no limit")      \
    X(bf_max_job_part, 0, 1e6, 0, "Of one partition; 0: no limit")                       \
    X(bf_max_job_assoc, 0, 1e6, 0, "Of one association; 0: no limit")                    \
    X(bf_max_job_start, 0, 1e6, 0, "Jobs that a pass starts; 0: no limit")               \
    X(bf_max_job_array_resv, 0, 1000, 20, "Plans for tasks of one array")                \
    X(bf_window_linear_s, 0, 1e6, 0,                                                     \
      "Running jobs are released in groups, whose width grows by this; 0: it doubles")   \
    X(sched_interval_s, 1, 1e6, 60, "Seconds between two runs of the main loop")         \
    X(sched_min_interval_s, 0, 1e6, 0.000002, "At least, between two of its runs")       \
    X(default_queue_depth, 0, 1e6, 100, "Rows of a run of the main loop after an event") \
    X(partition_job_depth, 0, 1e6, 0, "Rows of a partition in it; 0: no limit")          \
    X(sched_max_job_start, 0, 1e6, 0, "Jobs that it starts; 0: no limit")                \
    X(preempt_exempt_s, 0, 1e9, 0, "A job is not preempted before it has run so long")   \
    X(requeue_delay_s, 0, 1e6, 125, "A preempted job may start again after this")        \
    X(over_time_limit_s, 0, 1e9, 0, "Jobs are ended so long after their limit")          \
    X(kill_wait_s, 0, 1e6, 30, "And killed so long after that")

/* Likewise: name, default, meaning. */
#define CLUSTER_SWITCHES(X)                                                            \
    X(bf_licenses, false, "Licences are planned as nodes are")                         \
    X(bf_running_job_reserve, false, "Also for jobs that run")                         \
    X(defer, false, "Jobs are not tried when they are submitted")                      \
    X(assoc_limit_stop, false, "A row that a limit holds back closes its partition")   \
    X(bf_end_grouping, true,                                                           \
      "Running jobs that end close together are released together")                    \
    X(reserve_whole_nodes, true,                                                       \
      "A plan keeps its nodes as a whole from those behind it, not its amounts alone") \
    X(strict_reservations, false, "No plan runs into a reservation")

/* Its options are the numbers, then the switches, in this order. */
enum {
#define X(name, ...) CLUSTER_OPTION_##name,
    CLUSTER_NUMBERS(X) CLUSTER_SWITCHES(X)
#undef X
        CLUSTER_OPTION_COUNT
};

extern const struct policy cluster_policies[]; /* ended by {0} */

#endif

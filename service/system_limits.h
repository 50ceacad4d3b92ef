/* system_limits.h - how much memory and processor time this process may use at most.
 *
 * The least of what the machine has and of the limits of the control groups that the
 * process is in, of version 2 or 1, and of all groups above them. `root`: where /proc and
 * /sys are, "" but for tests.
 *
 * Source: cgroups(7) and the kernel's Documentation: cgroup-v2 (memory.max, cpu.max),
 * cgroup-v1 memory (memory.limit_in_bytes), scheduler/sched-bwc (cpu.cfs_quota_us,
 * cpu.cfs_period_us).
 */
#ifndef GRIDPLAN_SYSTEM_LIMITS_H
#define GRIDPLAN_SYSTEM_LIMITS_H

#include <stddef.h>

size_t system_memory_bytes(const char *root);

/* Processors, > 0: a quota may allow half of one, or two and a half. */
double system_processors(const char *root);

/* How many may compute at once: the processors rounded up, so that half a processor is
 * one, and none of it stands idle; 1 to `most`. */
size_t system_slots(double processors, size_t most);

#endif

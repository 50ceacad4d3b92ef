/* system_memory.h - how much memory this process may use at most. */
#ifndef GRIDPLAN_SYSTEM_MEMORY_H
#define GRIDPLAN_SYSTEM_MEMORY_H

#include <stddef.h>

/* The least of the machine's memory and the limits of the control groups that the process
 * is in, of version 2 (memory.max) or 1 (memory.limit_in_bytes). `root`: where /proc and
 * /sys are, "" but for tests. */
size_t system_memory_bytes(const char *root);

#endif

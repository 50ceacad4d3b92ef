/* clock.h - the clocks of the service, in seconds. */
#ifndef GRIDPLAN_CLOCK_H
#define GRIDPLAN_CLOCK_H

#include <time.h>

/* Only goes forward; for durations and deadlines. */
static inline double clock_monotonic_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* In builds for tests: what the file says that GRIDPLAN_TEST_CLOCK_FILE names, in
 * seconds, so that the wall clock of one process can jump; 0 without it, and with NDEBUG.
 */
double clock_offset_s(void);

/* Since the epoch; may jump. */
static inline double clock_wall_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9 + clock_offset_s();
}

/* What this thread has computed; costs more than the others to read (1.6 us in a virtual
 * machine). */
static inline double clock_thread_cpu_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

#endif

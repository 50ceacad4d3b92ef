/* own_clock.c - a clock for tests/torture/limit, to be preloaded: for threads that
 * compute CLOCK_MONOTONIC goes on only while they run. So a time limit is one of
 * processor time, and can be measured on a machine that is busy with something else. */
#define _GNU_SOURCE
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static _Thread_local struct timespec offset; /* tv_sec 0: not one of them, so far */

int clock_gettime(clockid_t clock, struct timespec *out)
{
    char name[16] = "";
    struct timespec own;
    int failed = (int)syscall(SYS_clock_gettime, clock, out);

    if (failed || clock != CLOCK_MONOTONIC)
        return failed;
    syscall(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, &own);
    if (offset.tv_sec == 0) {
        if (pthread_getname_np(pthread_self(), name, sizeof(name)) != 0 ||
            strncmp(name, "compute", 7) != 0)
            return 0;
        offset.tv_sec = out->tv_sec - own.tv_sec;
        offset.tv_nsec = out->tv_nsec - own.tv_nsec;
    }
    out->tv_sec = own.tv_sec + offset.tv_sec;
    out->tv_nsec = own.tv_nsec + offset.tv_nsec;
    if (out->tv_nsec < 0) {
        out->tv_nsec += 1000000000;
        out->tv_sec--;
    } else if (out->tv_nsec >= 1000000000) {
        out->tv_nsec -= 1000000000;
        out->tv_sec++;
    }
    return 0;
}

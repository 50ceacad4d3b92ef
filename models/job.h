/* job.h - one independent job that waits for a place. */
#ifndef GRIDPLAN_JOB_H
#define GRIDPLAN_JOB_H

#include <stddef.h>

struct job {
    const char *id;
    double estimate_ref_s; /* run time at 1 MIPS, >= 0; NAN: not known */
    const double *etc_s;   /* run time on each resource of the snapshot, in its order; */
    size_t etc_count;      /* NAN: cannot run there; 0: use estimate_ref_s */
    double cpus;           /* needed while it runs, > 0 */
    double memory_bytes;   /* needed while it runs, >= 0 */
    const char *user;      /* NULL: anonymous */
    const char *const *organisations;
    size_t organisation_count;
    const char *requirement; /* expression, NULL: true */
    const char *rank; /* expression, NULL: -turnaround_s, or 0 without an estimate */
    const char *const *input_file_ids;
    size_t input_file_count;
    double output_bytes;    /* goes to the snapshot's home site, >= 0 */
    double release_s;       /* not to start before, seconds from now, >= 0 */
    double deadline_s;      /* to be done by, seconds from now; NAN: none */
    double queued_at_s;     /* instant; NAN: now */
    double deadline_at_s;   /* instant; NAN: none; used when deadline_s is not given */
    double fixed_priority;  /* 0..19; 20: urgent (spec gridway.md 4.1) */
    double task_index;      /* of a parameter sweep: ${GW_TASK_ID}; NAN: position */
    double param_start;     /* whole; ${PARAM} is this + param_increment * task_index; */
    double param_increment; /* whole; NAN: 0 and 1 */
};

#endif

/* history.h - what accounting says of jobs that ended, and of nodes that failed.
 *
 * Rows of sacct -D: each attempt of a job is a run, told apart by its start. A run that
 * did not complete is censored: it says how long the job ran at least (time_limit), or
 * that it needed more memory (memory), or nothing (error, cancelled, host).
 * Steps of a job give its peak of memory. Rows of sacctmgr show event are failures.
 *
 * Source: Slurm's manual pages sacct(1) and sacctmgr(1).
 */
#ifndef GRIDPLAN_SLURM_HISTORY_H
#define GRIDPLAN_SLURM_HISTORY_H

#include "models/slurm/pattern.h"

/* Why a run did not complete: "time_limit" ..., ended by NULL. */
extern const char *const slurm_failure_kind_names[];

struct slurm_run {
    const char *execution_id;   /* slurm:CLUSTER:JOB:START */
    const char *application_id; /* by the pattern */
    const char *resource_id;    /* of a job of one node; NULL: several */
    double started_at_s, run_time_s, queue_wait_s; /* queue_wait_s NAN: not known */
    double processors;
    double memory_peak_bytes, memory_requested_bytes; /* NAN: not known */
    double exit_code;                                 /* 0 for what completed only */
    double attempt;           /* of the job, from 1, in the order of their starts */
    const char *failure_kind; /* NULL: it completed */
};

struct slurm_failure {
    const char *resource_id;
    double down_at_s, up_at_s; /* up NAN: still down */
    const char *cause;         /* NULL: not said */
    bool of_job;               /* which it ended; how long it lasted is not known */
};

struct slurm_history {
    struct slurm_run *runs;
    size_t run_count;
    struct slurm_failure *failures;
    size_t failure_count;
    size_t not_ended; /* jobs that run or wait, */
    size_t never_ran; /* were cancelled before they started, */
    size_t unusable;  /* or lack an id, a start, an end, a state: all left out */
    size_t unknown_states;
    size_t local_times; /* runs whose times depend on the zone */
    size_t loose_steps; /* with a peak of memory, of jobs that have no row */
};

struct slurm_history_options {
    const struct slurm_pattern *application; /* of its name */
    bool drain_is_failure;
    double tz_offset_s;  /* of times written as text */
    const char *cluster; /* of rows that do not say theirs */
};

/* Of a job or a step, what it asks for by that name; NULL: it has none. */
const char *slurm_row_id(const struct slurm_record *r);

/* A text of MaxRSS: bytes, or with a suffix; NAN: it says nothing. */
double slurm_peak_bytes(const char *text);

/* Converts the records of jobs, of which there must be rows of accounting, and events. */
void slurm_history_read(const struct slurm_records *from,
                        const struct slurm_history_options *options,
                        struct slurm_history *out, struct arena *a);

#endif

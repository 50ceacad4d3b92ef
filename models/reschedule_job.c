/* reschedule_job.c - names of what happens to running jobs. */
#include "models/reschedule_job.h"

const char *const reschedule_stage_names[] = {"submission", "prolog", "wrapper", "epilog",
                                              NULL};

const char *const reschedule_failure_names[] = {
#define X(symbol, name) name,
    RESCHEDULE_FAILURES(X)
#undef X
        NULL};

const char *const reschedule_event_names[] = {
#define X(symbol, name) name,
    RESCHEDULE_EVENTS_OF_JOB(X)
#undef X
        NULL};

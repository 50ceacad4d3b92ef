/* reschedule_job.h - a job that runs, and what happened to it. */
#ifndef GRIDPLAN_RESCHEDULE_JOB_H
#define GRIDPLAN_RESCHEDULE_JOB_H

#include "models/job.h"

#include <stdbool.h>
#include <stdint.h>

/* A file from which the job can go on. Without a place it lies on the job's own host. */
struct reschedule_restart {
    double work_done_ref_s;  /* of the job when it was written, >= 0 */
    double bytes;            /* >= 0 */
    const char *site_id;     /* where it is; NULL: on the host below */
    const char *resource_id; /* its host, gone with it; NULL: the job's own */
};

/* What the job promised to report. Exactly one of the two rates is given. */
struct reschedule_contract {
    double expected_per_s;      /* growth of the metric, > 0; NAN: the next one */
    double expected_s_per_step; /* its inverse, > 0; NAN: the one before */
    double tolerance_ratio;     /* 0..1 */
    uint64_t window;            /* intervals between samples that count, >= 1 */
};

struct reschedule_sample {
    double t_s, value; /* times do not go backwards */
};

enum reschedule_stage { STAGE_SUBMISSION, STAGE_PROLOG, STAGE_WRAPPER, STAGE_EPILOG };
extern const char *const reschedule_stage_names[]; /* ended by NULL */

/* What was found, and what is wrong with it. */
#define RESCHEDULE_FAILURES(X)                                                         \
    X(FAILURE_OTHER, "other")                                                          \
    X(FAILURE_CONNECTION, "connection")                                                \
    X(FAILURE_AUTHENTICATION, "authentication")                                        \
    X(FAILURE_AUTHORISATION, "authorisation")                                          \
    X(FAILURE_JOB_DESCRIPTION, "job_description")                                      \
    X(FAILURE_STAGING, "staging")                                                      \
    X(FAILURE_CREDENTIAL_EXPIRED, "credential_expired")                                \
    X(FAILURE_JOB_MANAGER_SILENT, "job_manager_silent") /* needs gatekeeper_answers */ \
    X(FAILURE_ENDED, "ended") /* the wrapper has ended; see exit_code */

enum reschedule_failure_kind {
#define X(symbol, name) symbol,
    RESCHEDULE_FAILURES(X)
#undef X
};
extern const char *const reschedule_failure_names[]; /* ended by NULL */

struct reschedule_failure {
    int stage, kind;          /* enum reschedule_stage, enum reschedule_failure_kind */
    uint64_t failed_attempts; /* of this stage, this one included, >= 1 */
    double exit_code;         /* a whole number; NAN: none was set */
    bool gatekeeper_answers;
    bool cancelled; /* by user or owner */
};

/* Events, the strongest first: the first of a job's that moves it whatever it costs
 * counts, else the first. */
#define RESCHEDULE_EVENTS_OF_JOB(X)                       \
    X(EVENT_RESOURCE_FAILED, "resource_failed")           \
    X(EVENT_NETWORK_FAILED, "network_failed")             \
    X(EVENT_CANCELLED_BY_OWNER, "cancelled_by_owner")     \
    X(EVENT_SUSPENDED_BY_OWNER, "suspended_by_owner")     \
    X(EVENT_USER_REQUESTED, "user_requested")             \
    X(EVENT_CONTRACT_VIOLATED, "contract_violated")       \
    X(EVENT_REQUIREMENTS_CHANGED, "requirements_changed") \
    X(EVENT_RESOURCE_DISCOVERED, "resource_discovered")   \
    X(EVENT_NONE, "none")

enum reschedule_event_kind {
#define X(symbol, name) symbol,
    RESCHEDULE_EVENTS_OF_JOB(X)
#undef X
};
extern const char *const reschedule_event_names[]; /* ended by NULL */

/* Requirement and rank are those that hold now. */
struct reschedule_job {
    struct job job;                  /* first: its table of members is used on this */
    const char *resource_id;         /* where it runs; NULL: */
    const char *const *resource_ids; /* on several nodes: all of them */
    size_t resource_id_count;
    double work_done_ref_s;                   /* >= 0, at most the estimate */
    const struct reschedule_restart *restart; /* NULL: from the beginning */
    const char *const *history;               /* ids of resources where it was before */
    size_t history_count;
    int event;                 /* enum reschedule_event_kind */
    const char *const *events; /* or several, by name */
    size_t event_count;
    double suspended_s; /* since when, for suspended_by_owner, >= 0 */
    const struct reschedule_failure *failure;   /* NULL: none */
    const struct reschedule_contract *contract; /* NULL: none */
    const struct reschedule_sample *samples;    /* oldest first */
    size_t sample_count;
    double job_cpu_ratio, idle_cpu_ratio; /* of its host, 0..1; NAN: not known */
    double queued_output_bytes; /* on its host, to be fetched before it is left */
    double elapsed_s;           /* since its last start, >= 0; NAN: not known */
    double last_moved_s_ago;    /* >= 0; NAN: never */
};

#endif

/* execution.h - one observed run of an application, or of one of its phases. */
#ifndef GRIDPLAN_EXECUTION_H
#define GRIDPLAN_EXECUTION_H

#include <stdbool.h>
#include <stddef.h>

/* symbol, name on the wire: why a run failed */
#define RUN_FAILURES(X)       \
    X(NONE, none)             \
    X(ERROR, error)           \
    X(MEMORY, memory)         \
    X(DISK, disk)             \
    X(TIME_LIMIT, time_limit) \
    X(HOST, host)             \
    X(CANCELLED, cancelled)

enum run_failure {
    RUN_FAILURE_UNSAID = -1, /* NONE or ERROR, by the exit code */
#define X(symbol, name) RUN_FAILURE_##symbol,
    RUN_FAILURES(X)
#undef X
};

/* A NULL text or NAN is "not known" unless said otherwise. */
struct execution {
    const char *execution_id;   /* the caller's; equal ids are the same run */
    const char *application_id; /* never NULL */
    const char *site_id;        /* where it ran */
    const char *resource_id;    /* the machine, or the first of several */
    const char *parameters;     /* JSON object, as text */
    double started_at_s;        /* instant; never NAN */
    double run_time_s;          /* > 0; never NAN */
    double phase_index;         /* whole, >= 0; NAN: the whole run */
    double problem_size;        /* N of the model, > 0 */
    double processors;          /* whole, >= 1; never NAN */
    double cpu_available_ratio; /* (0, 1]: least of the machines' means during the run */
    double bandwidth_mbps;      /* > 0: least of the links' means during the run */
    double memory_peak_bytes;   /* >= 0 */
    double memory_requested_bytes; /* > 0 */
    double disk_peak_bytes;        /* >= 0 */
    double cpus_used;              /* >= 0: mean */
    double attempt;                /* whole, >= 1; NAN: the first */
    const char *resource_class;    /* type of the machine */
    int failure_kind;              /* enum run_failure; stored: not UNSAID */
    bool ignored;                  /* no model is to learn it */
    double exit_code;              /* whole; 0: success */
    double queue_wait_s;           /* >= 0: in a batch queue, before it started */
    double predicted_s;            /* run time that was predicted, > 0 */
    double model_version;          /* whole: of the model that predicted it */
    bool dedicated;                /* nothing else ran on the machines */
    bool outlier;                  /* predicted much too badly: left out of robust fits */
};

#endif

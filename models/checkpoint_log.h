/* checkpoint_log.h - one request of a job for a checkpoint, and what it cost. */
#ifndef GRIDPLAN_CHECKPOINT_LOG_H
#define GRIDPLAN_CHECKPOINT_LOG_H

enum checkpoint_log_action { CHECKPOINT_LOG_TAKE, CHECKPOINT_LOG_OMIT };

#define CHECKPOINT_FIGURE_MAX_S 1e15

/* A NULL text or NAN is "not known" unless said otherwise. */
struct checkpoint_log {
    const char *job_id;         /* never NULL */
    const char *application_id; /* what the job runs; never NULL */
    const char *resource_id;    /* where it ran */
    double requested_at_s;      /* instant; never NAN */
    enum checkpoint_log_action action;
    double interval_before_s; /* interval in force before the request, >= 0 */
    double interval_after_s;  /* ... and after it, >= 0 */
    double overhead_s;        /* C: the job stood still, >= 0 */
    double stored_after_s;    /* L: from then until it was safe, >= 0 */
    double restart_s;         /* R: a restart from it took, >= 0; NAN: there was none */
    double bytes;             /* size of the checkpoint, >= 0 */
};

#endif

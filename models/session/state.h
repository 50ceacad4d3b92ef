/* session/state.h - what the folded events of a run mean for its tasks: which are done,
 * run, may start, or never will.
 */
#ifndef GRIDPLAN_SESSION_STATE_H
#define GRIDPLAN_SESSION_STATE_H

#include "models/session/fold.h"

/* As it is said on the wire. */
enum session_task_status {
    SESSION_TASK_IDLE, /* it waits for others */
    SESSION_TASK_READY,
    SESSION_TASK_RUNNING,
    SESSION_TASK_DONE,
    SESSION_TASK_FAILED,
    SESSION_TASK_CANCELLED,
    SESSION_TASK_BLOCKED, /* it waits for one that failed or was cancelled */
    SESSION_TASK_STATUS_COUNT
};
extern const char *const session_task_status_names[]; /* ended by NULL */

enum session_status { SESSION_IS_RUNNING, SESSION_IS_FINISHED, SESSION_IS_STUCK };
extern const char *const session_status_names[]; /* "running", "finished", "stuck" */

#define SESSION_NO_TASK ((size_t)-1)

/* A task of the run's graph. */
struct session_task {
    const char *id;
    uint64_t attempts_max; /* failed attempts after which it has failed, >= 1 */
    bool removed;          /* counts as cancelled */
    const size_t *parents; /* by number; SESSION_NO_TASK: none of that id is known */
    size_t parent_count;
};

/* What became of it. */
struct session_task_state {
    enum session_task_status status;
    const struct session_attempt *attempts; /* by rising number; NULL: none */
    const struct session_attempt *shown; /* the attempt that the status is of; NULL: idle
                                            and never tried */
    uint64_t next_attempt;               /* >= 1 */
    uint64_t attempt_count;              /* that count: started, or with an end */
    bool waits_for_unknown; /* it, or what it waits for, needs a task of no known id */
};

/* An attempt that should not be running. */
struct session_cancel {
    size_t task;
    const struct session_attempt *attempt;
    const char *resource_id;             /* where: one of several has a row each */
    const struct session_event *started; /* since when; which process of the attempt */
    bool holds;                          /* it has the amounts there until it is over */
};

struct session_state {
    const struct session_task *tasks;
    size_t task_count;
    struct session_task_state *of; /* [task_count] */
    size_t counts[SESSION_TASK_STATUS_COUNT];
    const size_t *order; /* parents first; those of a cycle are not in it */
    size_t order_count;
    size_t unknown_count;                /* dependencies on ids that there are not */
    const struct session_cancel *cancel; /* by task, attempt, resource */
    size_t cancel_count;
};

/* O(tasks + edges + attempts). A cycle, which whoever stores tasks refuses, waits. */
void session_state_of(const struct session_task *tasks, size_t task_count,
                      const struct session_fold *fold, struct session_state *state,
                      struct budget *budget, struct arena *a);

/* What the task is by all of its attempts (session_attempts()) alone: RUNNING, DONE,
 * FAILED, CANCELLED, or IDLE where other tasks decide. */
enum session_task_status session_task_alone(const struct session_task *task,
                                            const struct session_attempt *attempts);

/* `granted_count`: tasks that somebody has been told to start. */
enum session_status session_status_of(const struct session_state *state,
                                      size_t granted_count);

/* What is left of a running attempt of `total_s` that began `elapsed_s` ago: beyond
 * four fifths of its time it is expected to last another quarter of what it has lasted.
 * `progress` of it, if one tells more, replaces the total. All in seconds, >= 0. */
double session_remaining_s(double total_s, double elapsed_s);
double session_total_s(double total_s, const struct session_attempt *attempt);

#endif

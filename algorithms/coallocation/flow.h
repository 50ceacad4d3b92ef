/* coallocation/flow.h - the states of a job from submission to its end.
 *
 * Placing, transferring, claiming, launching: an event takes a job from one state to the
 * next, and says what the scheduler does then. The rows are one table; what a step needs
 * beside them (tries, times, what the runner can do) comes with the step.
 *
 * Source: spec coallocation.md 11; 001_546dfcc428821807 3.6.
 */
#ifndef GRIDPLAN_COALLOCATION_FLOW_H
#define GRIDPLAN_COALLOCATION_FLOW_H

#include "algorithms/coallocation/faults.h"
#include "models/base/error.h"

/* symbol, name on the wire */
#define CO_FLOW_STATES(X)                        \
    X(CO_SUBMITTED, submitted)                   \
    X(CO_IN_PLACEMENT_QUEUE, in_placement_queue) \
    X(CO_CLAIM_WAIT, claim_wait)                 \
    X(CO_CLAIMING, claiming)                     \
    X(CO_LAUNCHING, launching)                   \
    X(CO_RUNNING, running)                       \
    X(CO_FINISHED, finished)                     \
    X(CO_FAILED, failed)

enum co_flow_state {
#define X(symbol, name) symbol,
    CO_FLOW_STATES(X)
#undef X
        CO_FLOW_STATE_COUNT
};
extern const char *const co_flow_state_names[]; /* ended by NULL */

#define CO_FLOW_EVENTS(X)                                \
    X(CO_EVENT_ACCEPTED, accepted)                       \
    X(CO_EVENT_PLACED, placed)                           \
    X(CO_EVENT_PLACEMENT_FAILED, placement_failed)       \
    X(CO_EVENT_JCT_REACHED, jct_reached)                 \
    X(CO_EVENT_START_ALL, start_all)                     \
    X(CO_EVENT_START_PARTIAL, start_partial)             \
    X(CO_EVENT_WAIT, wait)                               \
    X(CO_EVENT_REQUEUE_PLACEMENT, requeue_placement)     \
    X(CO_EVENT_CLAIM_FAIL, fail)                         \
    X(CO_EVENT_COMPONENTS_STARTED, components_started)   \
    X(CO_EVENT_SOFT_ERROR, soft_error)                   \
    X(CO_EVENT_APPLICATION_ERROR, application_error)     \
    X(CO_EVENT_RUNTIME_EXCEEDED, runtime_exceeded)       \
    X(CO_EVENT_PREEMPTED, preempted)                     \
    X(CO_EVENT_ALL_COMPONENTS_DONE, all_components_done) \
    X(CO_EVENT_HARD_ERROR, hard_error)                   \
    X(CO_EVENT_RUNNER_DEAD, runner_dead)

enum co_flow_event {
#define X(symbol, name) symbol,
    CO_FLOW_EVENTS(X)
#undef X
        CO_FLOW_EVENT_COUNT
};
extern const char *const co_flow_event_names[]; /* ended by NULL */

#define CO_FLOW_ACTIONS(X)                              \
    X(CO_DO_ENQUEUE, enqueue)                           \
    X(CO_DO_START_TRANSFERS, start_transfers)           \
    X(CO_DO_SET_TIMER, set_timer)                       \
    X(CO_DO_WAIT_NEXT_SCAN, wait_next_scan)             \
    X(CO_DO_CALL_CLAIM, call_claim)                     \
    X(CO_DO_SEND_COMPONENTS, send_components)           \
    X(CO_DO_BARRIER, barrier)                           \
    X(CO_DO_ABORT_STARTED, abort_started)               \
    X(CO_DO_LOWER_L, lower_l)                           \
    X(CO_DO_STOP_COMPONENTS, stop_components)           \
    X(CO_DO_RETRY_BY_RUNNER, component_retry_by_runner) \
    X(CO_DO_REPLACE_COMPONENTS, replace_components)     \
    X(CO_DO_PASS_THROUGH, pass_through)                 \
    X(CO_DO_NOTIFY_RUNNER, notify_runner)               \
    X(CO_DO_ABORT_JOB, abort_job)                       \
    X(CO_DO_ABORT_JOB_AND_RUNNER, abort_job_and_runner) \
    X(CO_DO_FREE_PROCESSORS, free_processors)           \
    X(CO_DO_STAGE_OUT, stage_out)                       \
    X(CO_DO_POST_PHASE, post_phase)                     \
    X(CO_DO_REPORT, report)

enum co_flow_do {
#define X(symbol, name) symbol,
    CO_FLOW_ACTIONS(X)
#undef X
        CO_FLOW_ACTION_COUNT
};
extern const char *const co_flow_action_names[]; /* ended by NULL */

/* Times are NAN where the step does not know them. */
struct co_flow_in {
    enum co_flow_state state;
    enum co_flow_event event;
    double now_s;
    size_t tries, max_tries; /* placement tries with this one; SIZE_MAX: no limit */
    double ftt_s, jct_s, jst_s, next_jct_s;
    double max_run_time_s; /* NAN: no limit */
    double l, l_decrement, l_min;
    bool atomic, handles_soft, handles_application;
};

struct co_flow_action {
    enum co_flow_do what;
    double at_s; /* set_timer, barrier: when; NAN: at once, or not known */
};

enum { CO_FLOW_ACTIONS_MAX = 6 };

struct co_flow_out {
    enum co_flow_state next;
    struct co_flow_action actions[CO_FLOW_ACTIONS_MAX];
    size_t action_count;
    double l; /* lowered by requeue_placement */
};

/* Whether the event can happen in the state. */
bool co_flow_possible(enum co_flow_state state, enum co_flow_event event);

/* One step; an event that cannot happen in the state is ERR_INVALID with pointer
 * /event. */
enum error_code co_flow_step(const struct co_flow_in *in, struct co_flow_out *out,
                             struct error *err);

#endif

/* coallocation/flow.c - the states of a job from submission to its end.
 *
 * One row for each state and event; where the row leaves a choice (tries, what the runner
 * can do, a start in part) a function decides.
 *
 * Source: spec coallocation.md 11; 001_546dfcc428821807 3.6 [L688-L721].
 * Deviation: components_started, which tells launching from running, is ours, as is that
 * start_partial sends its components. A job that is not atomic launches with what it got
 * when JST has come, and its other components are placed again.
 */
#include "algorithms/coallocation/flow.h"

#include <math.h>

#define X(symbol, name) [symbol] = #name,
const char *const co_flow_state_names[] = {CO_FLOW_STATES(X) NULL};
const char *const co_flow_event_names[] = {CO_FLOW_EVENTS(X) NULL};
const char *const co_flow_action_names[] = {CO_FLOW_ACTIONS(X) NULL};
#undef X

static void act_at(struct co_flow_out *out, enum co_flow_do what, double at_s)
{
    out->actions[out->action_count++] = (struct co_flow_action){what, at_s};
}

static void act(struct co_flow_out *out, enum co_flow_do what)
{
    act_at(out, what, NAN);
}

typedef void step_fn(const struct co_flow_in *in, struct co_flow_out *out);

static void accepted(const struct co_flow_in *in, struct co_flow_out *out)
{
    (void)in;
    out->next = CO_IN_PLACEMENT_QUEUE;
    act(out, CO_DO_ENQUEUE);
}

static void placed(const struct co_flow_in *in, struct co_flow_out *out)
{
    bool transfers = in->ftt_s > 0;

    out->next = CO_CLAIM_WAIT;
    if (transfers)
        act(out, CO_DO_START_TRANSFERS);
    act_at(out, CO_DO_SET_TIMER, transfers ? in->jct_s : in->now_s);
}

static void placement_failed(const struct co_flow_in *in, struct co_flow_out *out)
{
    bool failed = in->tries > in->max_tries;

    out->next = failed ? CO_FAILED : CO_IN_PLACEMENT_QUEUE;
    act(out, failed ? CO_DO_REPORT : CO_DO_WAIT_NEXT_SCAN);
}

static void jct_reached(const struct co_flow_in *in, struct co_flow_out *out)
{
    (void)in;
    out->next = CO_CLAIMING;
    act(out, CO_DO_CALL_CLAIM);
}

static void start_all(const struct co_flow_in *in, struct co_flow_out *out)
{
    out->next = CO_LAUNCHING;
    act(out, CO_DO_SEND_COMPONENTS);
    act_at(out, CO_DO_BARRIER, in->jst_s);
}

static void start_partial(const struct co_flow_in *in, struct co_flow_out *out)
{
    if (!in->atomic && in->now_s >= in->jst_s) {
        start_all(in, out);
        act(out, CO_DO_LOWER_L);
        act(out, CO_DO_ENQUEUE);
        out->l = fmin(in->l, fmax(in->l_min, in->l - in->l_decrement));
        return;
    }
    out->next = CO_CLAIM_WAIT;
    act(out, CO_DO_SEND_COMPONENTS);
    act_at(out, CO_DO_SET_TIMER, in->next_jct_s);
}

static void claim_later(const struct co_flow_in *in, struct co_flow_out *out)
{
    out->next = CO_CLAIM_WAIT;
    act_at(out, CO_DO_SET_TIMER, in->next_jct_s);
}

static void requeue_placement(const struct co_flow_in *in, struct co_flow_out *out)
{
    out->next = CO_IN_PLACEMENT_QUEUE;
    act(out, CO_DO_ABORT_STARTED);
    act(out, CO_DO_LOWER_L);
    act(out, CO_DO_ENQUEUE);
    out->l = fmin(in->l, fmax(in->l_min, in->l - in->l_decrement));
}

static void claim_fail(const struct co_flow_in *in, struct co_flow_out *out)
{
    (void)in;
    out->next = CO_FAILED;
    act(out, CO_DO_ABORT_STARTED);
    act(out, CO_DO_REPORT);
}

static void components_started(const struct co_flow_in *in, struct co_flow_out *out)
{
    out->next = CO_RUNNING;
    if (!isnan(in->max_run_time_s))
        act_at(out, CO_DO_SET_TIMER, in->now_s + in->max_run_time_s);
}

static void error_step(const struct co_flow_in *in, enum co_error_group group,
                       struct co_flow_out *out)
{
    static const enum co_flow_do actions[CO_FAULT_ACTION_COUNT] = {
        [CO_NOTIFY_RUNNER] = CO_DO_NOTIFY_RUNNER,
        [CO_COMPONENT_RETRY_BY_RUNNER] = CO_DO_RETRY_BY_RUNNER,
        [CO_ABORT_JOB] = CO_DO_ABORT_JOB,
        [CO_RESTART_JOB] = CO_DO_ENQUEUE,
        [CO_REPLACE_COMPONENTS] = CO_DO_REPLACE_COMPONENTS,
        [CO_PASS_THROUGH] = CO_DO_PASS_THROUGH,
        [CO_ABORT_JOB_AND_RUNNER] = CO_DO_ABORT_JOB_AND_RUNNER,
    };
    struct co_fault_out fault = co_fault_decide(
        &(struct co_fault_in){.group = group,
                              .handles_soft = in->handles_soft,
                              .handles_application = in->handles_application,
                              .atomic = in->atomic});

    out->next = in->state;
    if (fault.failed)
        out->next = CO_FAILED;
    else if (fault.free_job)
        out->next = CO_IN_PLACEMENT_QUEUE;
    for (size_t i = 0; i < fault.action_count; i++) {
        act(out, actions[fault.actions[i]]);
        if (fault.actions[i] == CO_ABORT_JOB ||
            fault.actions[i] == CO_ABORT_JOB_AND_RUNNER)
            act(out, CO_DO_FREE_PROCESSORS);
    }
    if (fault.failed)
        act(out, CO_DO_REPORT);
}

static void soft_error(const struct co_flow_in *in, struct co_flow_out *out)
{
    error_step(in, CO_ERROR_SOFT, out);
}

static void application_error(const struct co_flow_in *in, struct co_flow_out *out)
{
    error_step(in, CO_ERROR_APPLICATION, out);
}

static void hard_error(const struct co_flow_in *in, struct co_flow_out *out)
{
    error_step(in, CO_ERROR_HARD, out);
}

/* Also of a runner that is dead: there is nobody to tell. */
static void abort_job(const struct co_flow_in *in, struct co_flow_out *out)
{
    (void)in;
    out->next = CO_FAILED;
    act(out, CO_DO_ABORT_JOB);
    act(out, CO_DO_FREE_PROCESSORS);
    act(out, CO_DO_REPORT);
}

static void preempted(const struct co_flow_in *in, struct co_flow_out *out)
{
    (void)in;
    out->next = CO_IN_PLACEMENT_QUEUE;
    act(out, CO_DO_STOP_COMPONENTS);
    act(out, CO_DO_FREE_PROCESSORS);
    act(out, CO_DO_ENQUEUE);
}

static void done(const struct co_flow_in *in, struct co_flow_out *out)
{
    (void)in;
    out->next = CO_FINISHED;
    act(out, CO_DO_STAGE_OUT);
    act(out, CO_DO_POST_PHASE);
}

#define IN(state) (1u << (state))
#define ALIVE     (IN(CO_FINISHED) - 1)
#define LAUNCHED  (IN(CO_LAUNCHING) | IN(CO_RUNNING))

/* Of each event: the states in which it can happen, and what it does. */
static const struct {
    unsigned states;
    step_fn *step;
} steps[CO_FLOW_EVENT_COUNT] = {
    [CO_EVENT_ACCEPTED] = {IN(CO_SUBMITTED), accepted},
    [CO_EVENT_PLACED] = {IN(CO_IN_PLACEMENT_QUEUE), placed},
    [CO_EVENT_PLACEMENT_FAILED] = {IN(CO_IN_PLACEMENT_QUEUE), placement_failed},
    [CO_EVENT_JCT_REACHED] = {IN(CO_CLAIM_WAIT), jct_reached},
    [CO_EVENT_START_ALL] = {IN(CO_CLAIMING), start_all},
    [CO_EVENT_START_PARTIAL] = {IN(CO_CLAIMING), start_partial},
    [CO_EVENT_WAIT] = {IN(CO_CLAIMING), claim_later},
    [CO_EVENT_REQUEUE_PLACEMENT] = {IN(CO_CLAIMING), requeue_placement},
    [CO_EVENT_CLAIM_FAIL] = {IN(CO_CLAIMING), claim_fail},
    [CO_EVENT_COMPONENTS_STARTED] = {IN(CO_LAUNCHING), components_started},
    [CO_EVENT_SOFT_ERROR] = {LAUNCHED, soft_error},
    [CO_EVENT_APPLICATION_ERROR] = {LAUNCHED, application_error},
    [CO_EVENT_RUNTIME_EXCEEDED] = {IN(CO_RUNNING), abort_job},
    [CO_EVENT_PREEMPTED] = {IN(CO_CLAIM_WAIT) | LAUNCHED, preempted},
    [CO_EVENT_ALL_COMPONENTS_DONE] = {IN(CO_RUNNING), done},
    [CO_EVENT_HARD_ERROR] = {ALIVE, hard_error},
    [CO_EVENT_RUNNER_DEAD] = {ALIVE, abort_job},
};

bool co_flow_possible(enum co_flow_state state, enum co_flow_event event)
{
    return steps[event].states >> state & 1;
}

enum error_code co_flow_step(const struct co_flow_in *in, struct co_flow_out *out,
                             struct error *err)
{
    struct co_flow_out answer = {.next = in->state, .l = in->l};

    if (!co_flow_possible(in->state, in->event))
        return invalid(err, "/event", ITEM_NOT_POSSIBLE,
                       "%s cannot happen to a job that is %s",
                       co_flow_event_names[in->event], co_flow_state_names[in->state]);
    steps[in->event].step(in, &answer);
    *out = answer;
    return OK;
}

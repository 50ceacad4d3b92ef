/* migration/gridway_case.c - what happened to a running job, and what that asks for.
 *
 * Of several events the first of the table (models/reschedule_job.h) that forces a move
 * counts, else the first. The job manager's silence and a violated contract are events
 * too. A failure that needs no other place has its verdict at once.
 *
 * Source: spec gridway.md 3.1, 3.3, 3.4.
 */
#include "algorithms/migration/gridway_failure.h"
#include "algorithms/migration/gridway_parts.h"

#include <string.h>

/* Which events the job has, by number. */
struct events {
    bool has[EVENT_NONE + 1];
};

static struct events events_of(const struct reschedule_job *job)
{
    struct events e = {0};

    e.has[job->event] = true;
    for (size_t k = 0; k < job->event_count; k++)
        for (size_t i = 0; i < EVENT_NONE; i++)
            e.has[i] = e.has[i] || strcmp(job->events[k], reschedule_event_names[i]) == 0;
    return e;
}

/* The host of a job with new requirements meets them. */
static bool still_meets(const struct gridway_run *run, const struct gridway_case *c)
{
    const struct expr *e = select_requirement(run->problem, c->job);
    struct select_state state;

    if (!e)
        return true;
    state = gridway_present_state(run, c);
    return expr_requirement(e, select_values(run->problem, e, c->job, c->pos, &state)) ==
           EXPR_TRUE;
}

static bool forces(const struct gridway_run *run, const struct gridway_case *c,
                   enum reschedule_event_kind event)
{
    switch (event) {
    case EVENT_RESOURCE_FAILED:
    case EVENT_NETWORK_FAILED:
    case EVENT_CANCELLED_BY_OWNER:
    case EVENT_USER_REQUESTED:
        return true;
    case EVENT_SUSPENDED_BY_OWNER:
        return c->given->suspended_s >= run->param[GRIDWAY_SUSPENSION_TIMEOUT];
    case EVENT_REQUIREMENTS_CHANGED:
        return !still_meets(run, c);
    case EVENT_CONTRACT_VIOLATED:
    case EVENT_RESOURCE_DISCOVERED:
    case EVENT_NONE:
        break;
    }
    return false;
}

/* A suspension that has not lasted long enough yields to any other event. */
static void choose_event(const struct gridway_run *run, const struct events *e,
                         struct gridway_case *c)
{
    c->event = EVENT_NONE;
    for (size_t i = 0; i < EVENT_NONE; i++) {
        enum reschedule_event_kind event = (enum reschedule_event_kind)i;

        if (!e->has[i])
            continue;
        if (forces(run, c, event)) {
            c->event = event;
            c->forced = true;
            return;
        }
        if (c->event == EVENT_NONE || c->event == EVENT_SUSPENDED_BY_OWNER)
            c->event = event;
    }
}

/* Time of the rest where the job is, at so much of the host's speed. */
static double stay_s(const struct gridway_run *run, const struct gridway_case *c,
                     double rate_ratio)
{
    const struct job *job = &c->given->job;
    const struct gridway_nodes *nodes = &run->request->nodes[c->number];
    double whole_ref_s = isnan(job->estimate_ref_s) && !job->etc_count
                             ? job->estimate_s
                             : job->estimate_ref_s;
    double remaining_ref_s = whole_ref_s - c->given->work_done_ref_s;
    double time_s;

    if (isnan(remaining_ref_s) && !job->etc_count)
        return NAN;
    time_s = gridway_execution_s(run, c, c->pos, remaining_ref_s);
    for (size_t k = 1; k < nodes->count; k++) /* the slowest node counts */
        time_s = fmax(time_s,
                      gridway_execution_s(run, c, run->problem->position_of[nodes->at[k]],
                                          remaining_ref_s));
    if (rate_ratio <= 0)
        return time_s > 0 ? HUGE_VAL : 0;
    return time_s / rate_ratio;
}

static void measure(const struct gridway_run *run, double rate_ratio,
                    struct gridway_case *c, struct gridway_verdict *v)
{
    struct select_state state;

    c->stay_s = stay_s(run, c, c->event == EVENT_CONTRACT_VIOLATED ? rate_ratio : 1);
    state = gridway_present_state(run, c);
    c->rank_present = run->request->nodes[c->number].count > 1
                          ? (double)NAN
                          : select_rank(run->problem, c->job, c->pos, &state);
    if (!c->runs)
        c->stay_s = HUGE_VAL;
    v->stay_s = c->stay_s <= LONGEST_S ? c->stay_s : (double)NAN;
    v->rank_present = c->rank_present;
}

/* Why a job with an event that does not force a move stays anyway; REASON_NO_EVENT: it
 * may move. */
static enum gridway_reason kept_back(const struct gridway_run *run,
                                     const struct gridway_case *c)
{
    const double *param = run->param;

    if (c->event == EVENT_SUSPENDED_BY_OWNER)
        return REASON_SUSPENDED_SHORTLY;
    if (c->given->last_moved_s_ago < param[GRIDWAY_COOL_DOWN])
        return REASON_COOLING_DOWN;
    if (c->rank_test && c->given->elapsed_s >= param[GRIDWAY_MAX_RUN])
        return REASON_RAN_TOO_LONG;
    return isnan(c->stay_s) ? REASON_NO_ESTIMATE : REASON_NO_EVENT;
}

/* A verdict without a search for another place. */
static void settle(struct gridway_run *run, const struct gridway_case *c,
                   struct gridway_ruling ruling, struct gridway_verdict *v)
{
    const char *step = NULL;
    struct gridway_step *steps;

    v->action = ruling.action;
    v->reason = ruling.reason;
    if (ruling.action == ACTION_RETRY)
        step = reschedule_stage_names[c->given->failure->stage];
    if (ruling.action == ACTION_RESTART_JOB_MANAGER)
        step = gridway_step_names[STEP_job_manager];
    if (!step)
        return;
    steps = NEW(run->arena, struct gridway_step, 1);
    steps[0] = (struct gridway_step){
        .step = step,
        .resource_id = run->problem->resources[c->pos].given->id,
        .duration_s = NAN,
    };
    if (c->given->resource_id_count > 1) {
        steps[0].resource_ids = c->given->resource_ids;
        steps[0].resource_id_count = c->given->resource_id_count;
    }
    v->steps = steps;
    v->step_count = 1;
}

/* Reads the failure; true: it has the last word. */
static bool failure_rules(const struct gridway_run *run, struct gridway_case *c,
                          struct events *e, struct gridway_ruling *ruling)
{
    bool gone;

    if (!c->given->failure)
        return false;
    *ruling = gridway_failure_rule(c->given->failure, run->param);
    if (ruling->resource_failed) {
        e->has[EVENT_RESOURCE_FAILED] = true;
        return false;
    }
    gone = e->has[EVENT_RESOURCE_FAILED] || e->has[EVENT_NETWORK_FAILED] ||
           e->has[EVENT_CANCELLED_BY_OWNER];
    if (gone && (ruling->action == ACTION_RETRY || ruling->action == ACTION_RESCHEDULE ||
                 ruling->action == ACTION_RESTART_JOB_MANAGER))
        return false;
    c->failed_stage = ruling->action == ACTION_RESCHEDULE;
    return !c->failed_stage;
}

static enum gridway_reason reason_without_event(enum gridway_contract_state contract)
{
    if (contract == CONTRACT_KEPT)
        return REASON_CONTRACT_KEPT;
    return contract == CONTRACT_UNKNOWN ? REASON_NO_VERDICT : REASON_NO_EVENT;
}

/* What the event asks of a target. */
static void demand(const struct gridway_run *run, const struct events *e,
                   struct gridway_case *c)
{
    const struct gridway_nodes *nodes = &run->request->nodes[c->number];
    bool down = false, any = c->failed_stage;

    for (size_t k = 0; k < nodes->count; k++)
        down = down || run->request->snapshot.resources[nodes->at[k]].failed;

    choose_event(run, e, c);
    any = any || c->event != EVENT_NONE;
    if (down && any && !c->failed_stage && !c->forced)
        c->event = EVENT_RESOURCE_FAILED;
    c->forced = c->forced || c->failed_stage || (down && any);
    c->host_down =
        down || c->event == EVENT_RESOURCE_FAILED || c->event == EVENT_NETWORK_FAILED;
    c->runs = !c->failed_stage && !c->host_down && c->event != EVENT_CANCELLED_BY_OWNER;
    c->rank_test = !c->forced && (c->event == EVENT_REQUIREMENTS_CHANGED ||
                                  c->event == EVENT_RESOURCE_DISCOVERED);
    if (nodes->count > 1)
        c->rank_test = false; /* no rank is one of a set of resources */
    c->skip_history = c->event == EVENT_SUSPENDED_BY_OWNER ||
                      c->event == EVENT_USER_REQUESTED ||
                      c->event == EVENT_RESOURCE_DISCOVERED;
}

void gridway_case_make(struct gridway_run *run, size_t number, struct gridway_case *c,
                       struct gridway_verdict *v, bool *moves)
{
    const struct gridway_request *request = run->request;
    const struct reschedule_job *job = &request->in->jobs[number];
    struct gridway_contract contract =
        gridway_contract_check(job, run->param[GRIDWAY_CPU_THRESHOLD]);
    struct events e = events_of(job);
    struct gridway_ruling ruling = {0};
    enum gridway_reason reason;

    *moves = false;
    *c = (struct gridway_case){
        .given = job,
        .job = problem_pending(run->problem) + number,
        .number = number,
        .pos = run->problem->position_of[request->present[number]],
        .runs = true,
    };
    *v = (struct gridway_verdict){
        .job_id = job->job.id,
        .contract = contract.state,
        .observed_per_s = contract.observed_per_s,
        .start_s = NAN,
        .stay_s = NAN,
        .move_s = NAN,
        .gain_s = NAN,
        .move_bound_s = NAN,
        .rank_present = NAN,
        .rank_new = NAN,
        .lost_ref_s = NAN,
        .exit_code = job->failure ? job->failure->exit_code : (double)NAN,
        .run_time_index = UINT64_MAX,
    };
    e.has[EVENT_CONTRACT_VIOLATED] =
        e.has[EVENT_CONTRACT_VIOLATED] || contract.state == CONTRACT_VIOLATED;
    if (failure_rules(run, c, &e, &ruling)) {
        v->event = ruling.action == ACTION_KEEP ? NULL : GRIDWAY_STAGE_FAILED;
        settle(run, c, ruling, v);
        return;
    }
    demand(run, &e, c);
    measure(run, contract.rate_ratio, c, v);
    if (c->event == EVENT_NONE && !c->failed_stage) {
        v->reason = reason_without_event(contract.state);
        return;
    }
    v->event = c->failed_stage ? GRIDWAY_STAGE_FAILED : reschedule_event_names[c->event];
    v->forced = c->forced;
    v->reason = ruling.reason;
    v->move_bound_s = gridway_move_bound_s(run, c);
    reason = c->forced ? REASON_NO_EVENT : kept_back(run, c);
    *moves = reason == REASON_NO_EVENT;
    if (!*moves)
        v->reason = reason;
}

/* coallocation_flow.c - POST /v1/coallocations/flow-steps: the next state of a job, and
 * .../launch-plans: how a runner launches it.
 *
 * Source: spec coallocation.md 11, 13.
 */
#include "handlers/coallocation/routes.h"

#include "algorithms/coallocation/flow.h"
#include "algorithms/coallocation/launch.h"
#include "algorithms/coallocation/priority.h"
#include "handlers/coallocation/coallocation_json.h"
#include "handlers/coallocation/launch_plan.h"
#include "models/base/names.h"
#include "models/base/param.h"
#include "models/base/pointer.h"

#include <stdio.h>
#include <string.h>

enum { COMPONENTS_MAX = 100000, POOL_MAX = 10000, AFTER_MAX = 10000 };
#define TIME_MAX_S 1e12

#define INSTANT_S(T, m, flag, text) \
    JSON_NUMBER(T, m, -TIME_MAX_S, TIME_MAX_S, NAN, flag, text)

/* Neither endpoint has options or policies. */
static void check_envelope(const struct decision_request *decision, struct error *err)
{
    if (decision->algorithm && strcmp(decision->algorithm, "auto") != 0)
        invalid(err, "/algorithm", ITEM_UNKNOWN_ALGORITHM,
                "there is only one: leave it out");
    params_bind(NULL, decision->options, decision->option_count, NULL, err);
}

/* ---- flow steps ---- */

struct flow_job {
    const char *id;
    int state;
    bool atomic;
    uint64_t placement_tries;
    double ftt_s, jct_s, jst_s, next_jct_s, l_value;
    int priority, job_class;
    const char *group;
    double estimate_s;
};

struct flow_levels {
    int policy;
    const double *runtime_thresholds_s;
    size_t threshold_count;
    const struct co_group_level *groups;
    size_t group_count;
};

struct flow_capabilities {
    bool handles_soft, handles_application;
};

struct flow_limits {
    double max_placement_tries, max_run_time_s, l_decrement, l_min;
};

struct flow_request {
    struct decision_request decision;
    double now_s;
    struct flow_job job;
    int event;
    struct flow_capabilities runner_capabilities;
    struct flow_limits limits;
    struct flow_levels levels;
};

struct flow_action {
    const char *action;
    double at_s;
};

struct flow_answer {
    struct decision_answer decision;
    const char *job_id;
    int state;
    const struct flow_action *actions;
    size_t action_count;
    double l_value;
    const char *queue;
};

#define T struct flow_job
static const struct json_field flow_job_rows[] = {
    JSON_ID(T, id, JSON_REQUIRED, "Name"),
    JSON_CHOICE(T, state, co_flow_state_names, CO_SUBMITTED, JSON_REQUIRED,
                "Its state before the event"),
    JSON_BOOLEAN(T, atomic, 1, 0, "All components or none; default true"),
    JSON_INTEGER(T, placement_tries, 0, 1e12, 0, 0, "Tries to place it, with this one"),
    JSON_NUMBER(T, ftt_s, 0, TIME_MAX_S, 0, 0,
                "Time of its longest transfer; default 0: it has no files"),
    INSTANT_S(T, jct_s, JSON_NULLABLE, "When it is claimed; placed needs it with files"),
    INSTANT_S(T, jst_s, JSON_NULLABLE,
              "When it starts; start_all, start_partial need it"),
    INSTANT_S(T, next_jct_s, JSON_NULLABLE,
              "When it is claimed again; wait and start_partial need it"),
    JSON_NUMBER(T, l_value, 0, 1, 0.75, 0, "Its L; default 0.75"),
    {.name = "priority",
     .doc = "Its level; default: by levels",
     .type = JSON_TYPE_CHOICE,
     .choices = co_level_names,
     .preset = -1,
     .offset = JSON_AT(T, priority, int)},
    JSON_CHOICE(T, job_class, co_job_class_names, CO_LOW, 0,
                "Stands for the levels super_low, low, high, super_high; default batch"),
    JSON_ID(T, group, JSON_NULLABLE, "Group of its user"),
    JSON_NUMBER(T, estimate_s, 0, TIME_MAX_S, NAN, JSON_NULLABLE,
                "How long it runs; default: not known, the least level",
                JSON_WAS({"estimated_runtime_s", 0})),
    {0},
};
#undef T
static const struct json_object flow_job_json = {"FlowJob",
                                                 "A job between submission and end",
                                                 sizeof(struct flow_job), flow_job_rows};

#define T struct flow_capabilities
static const struct json_field capabilities_rows[] = {
    JSON_BOOLEAN(T, handles_soft, 0, 0,
                 "It deals with errors of sites itself; default false"),
    JSON_BOOLEAN(T, handles_application, 0, 0,
                 "It deals with errors of the program itself; default false"),
    {0},
};
#undef T
static const struct json_object flow_capabilities_json = {
    "FlowRunnerCapabilities", "What the runner can do", sizeof(struct flow_capabilities),
    capabilities_rows};

#define T struct flow_limits
static const struct json_field limits_rows[] = {
    JSON_NUMBER(T, max_placement_tries, 0, 1e12, NAN, JSON_NULLABLE,
                "A job fails with the try after so many; default: never"),
    JSON_NUMBER(T, max_run_time_s, 0, TIME_MAX_S, NAN, JSON_NULLABLE,
                "A job is aborted after so long; default: never",
                JSON_WAS({"max_runtime_s", 0})),
    JSON_NUMBER(T, l_decrement, 0, 1, 0.25, 0,
                "What L loses when a start was missed; default 0.25"),
    JSON_NUMBER(T, l_min, 0, 1, 0, 0, "Least L; default 0"),
    {0},
};
#undef T
static const struct json_object limits_json = {"FlowLimits", "Limits of the scheduler",
                                               sizeof(struct flow_limits), limits_rows};

#define T struct co_group_level
static const struct json_field group_rows[] = {
    {.name = "id",
     .doc = "Name",
     .type = JSON_TYPE_TEXT,
     .min = 1,
     .max = 256,
     .flags = JSON_REQUIRED,
     .offset = JSON_AT(T, group, const char *)},
    {.name = "priority",
     .doc = "Level of its jobs",
     .type = JSON_TYPE_CHOICE,
     .choices = co_level_names,
     .flags = JSON_REQUIRED,
     .offset = JSON_AT(T, level, enum co_level)},
    {0},
};
#undef T
static const struct json_object group_json = {"FlowGroup", "A group of users",
                                              sizeof(struct co_group_level), group_rows};

#define T struct flow_levels
static const struct json_field levels_rows[] = {
    JSON_CHOICE(T, policy, co_priority_policy_names, CO_BY_CLASS, 0,
                "How jobs get their levels; default class"),
    JSON_NUMBERS(T, runtime_thresholds_s, threshold_count, 0, TIME_MAX_S, JSON_NULLABLE,
                 "runtime: longest run times of super_high, high and low; default 300, "
                 "1800, 14400"),
    JSON_LIST(T, groups, group_count, struct co_group_level, &group_json, 100000,
              JSON_UNIQUE_IDS, "group: levels; jobs of other groups are low"),
    {0},
};
#undef T
static const struct json_object levels_json = {"FlowLevels", "Which level a job gets",
                                               sizeof(struct flow_levels), levels_rows};

#define T struct flow_request
static const struct json_field flow_request_rows[] = {
    INSTANT_S(T, now_s, JSON_REQUIRED, "The present, on the scale of all times"),
    JSON_OBJECT(T, job, struct flow_job, &flow_job_json, JSON_REQUIRED, "The job"),
    JSON_CHOICE(T, event, co_flow_event_names, CO_EVENT_ACCEPTED, JSON_REQUIRED,
                "What happened; answers of claims have the names of their decisions"),
    JSON_OBJECT(T, runner_capabilities, struct flow_capabilities, &flow_capabilities_json,
                0, "For errors of its components"),
    JSON_OBJECT(T, limits, struct flow_limits, &limits_json, 0, "Limits"),
    JSON_OBJECT(T, levels, struct flow_levels, &levels_json, 0,
                "How jobs without priority get their level"),
    DECISION_REQUEST_ROWS(T),
    {0},
};
#undef T
const struct json_object flow_steps_request_json = {
    "FlowStepRequest", "A job, and what happened to it", sizeof(struct flow_request),
    flow_request_rows};

#define T struct flow_action
static const struct json_field action_rows[] = {
    JSON_WORD(T, action, co_flow_action_names, 0, "What the scheduler does"),
    JSON_NUMBER(T, at_s, 0, 0, 0, JSON_MAY_BE_NULL,
                "When, of set_timer and barrier; null: at once"),
    {0},
};
#undef T
static const struct json_object action_json = {"FlowAction", "A thing to do",
                                               sizeof(struct flow_action), action_rows};

#define T struct flow_answer
static const struct json_field flow_answer_rows[] = {
    DECISION_ANSWER_ROWS(T, DECISION_BY("job_flow")),
    JSON_TEXT(T, job_id, 0, "The job"),
    JSON_CHOICE(T, state, co_flow_state_names, 0, 0, "Its state now"),
    JSON_LIST(T, actions, action_count, struct flow_action, &action_json, 0, 0,
              "What to do, in this order"),
    JSON_NUMBER(T, l_value, 0, 1, 0, 0, "Its L from now on"),
    JSON_WORD(T, queue, co_level_names, JSON_MAY_BE_NULL,
              "Placement queue that it goes to; null: to none"),
    DECISION_END_ROWS(T),
    {0},
};
#undef T
const struct json_object flow_steps_answer_json = {
    "FlowStepAnswer", "The next state", sizeof(struct flow_answer), flow_answer_rows};

static void need(double value, const char *pointer, struct error *err)
{
    if (isnan(value))
        invalid(err, pointer, ITEM_REQUIRED, "the member is missing: the event needs it");
}

/* Times that the event needs. */
static void check_times(const struct flow_request *body, struct error *err)
{
    const struct flow_job *job = &body->job;
    bool starts =
        body->event == CO_EVENT_START_ALL || body->event == CO_EVENT_START_PARTIAL;
    bool final_part = body->event == CO_EVENT_START_PARTIAL && !job->atomic &&
                      body->now_s >= job->jst_s;

    if (body->event == CO_EVENT_PLACED && job->ftt_s > 0)
        need(job->jct_s, "/job/jct_s", err);
    if (starts)
        need(job->jst_s, "/job/jst_s", err);
    if (body->event == CO_EVENT_WAIT ||
        (body->event == CO_EVENT_START_PARTIAL && !final_part))
        need(job->next_jct_s, "/job/next_jct_s", err);
    if (!isnan(body->limits.max_placement_tries) &&
        body->limits.max_placement_tries != floor(body->limits.max_placement_tries))
        invalid(err, "/limits/max_placement_tries", ITEM_WRONG_TYPE,
                "not a whole number");
}

static void check_levels(const struct flow_levels *levels, struct error *err)
{
    const double *list = levels->runtime_thresholds_s;

    if (levels->threshold_count == 0)
        return;
    if (levels->threshold_count != CO_RUNTIME_THRESHOLDS) {
        invalid(err, "/levels/runtime_thresholds_s", ITEM_OUT_OF_BOUNDS,
                "there are %d of them", (int)CO_RUNTIME_THRESHOLDS);
        return;
    }
    for (size_t i = 0; i < levels->threshold_count; i++) {
        if (list[i] >= (i ? list[i - 1] : 0))
            continue;
        invalid(err, pointer_in("/levels/runtime_thresholds_s", i, NULL).text,
                ITEM_OUT_OF_BOUNDS, "they must be numbers that ascend");
    }
}

static enum co_level level_of(const struct flow_job *job,
                              const struct flow_levels *levels)
{
    const double *thresholds_s =
        levels->threshold_count ? levels->runtime_thresholds_s : co_runtime_thresholds_s;
    enum co_level level = CO_LOW;

    if (job->priority >= 0)
        return (enum co_level)job->priority;
    if (levels->policy == CO_BY_RUNTIME)
        return co_priority_by_runtime(job->estimate_s, thresholds_s,
                                      CO_RUNTIME_THRESHOLDS);
    if (levels->policy == CO_BY_CLASS)
        return (enum co_level)job->job_class;
    if (job->group)
        co_priority_by_group(job->group, levels->groups, levels->group_count, &level);
    return level;
}

static struct co_flow_in flow_in(const struct flow_request *body)
{
    const struct flow_job *job = &body->job;
    double max_tries = body->limits.max_placement_tries;

    return (struct co_flow_in){
        .state = (enum co_flow_state)job->state,
        .event = (enum co_flow_event)body->event,
        .now_s = body->now_s,
        .tries = job->placement_tries,
        .max_tries = isnan(max_tries) ? SIZE_MAX : (size_t)max_tries,
        .ftt_s = job->ftt_s,
        .jct_s = job->jct_s,
        .jst_s = job->jst_s,
        .next_jct_s = job->next_jct_s,
        .max_run_time_s = body->limits.max_run_time_s,
        .l = job->l_value,
        .l_decrement = body->limits.l_decrement,
        .l_min = body->limits.l_min,
        .atomic = job->atomic,
        .handles_soft = body->runner_capabilities.handles_soft,
        .handles_application = body->runner_capabilities.handles_application,
    };
}

/* Levels that say how, where the job or the policy says otherwise. */
static void warn_of_levels(struct request *rq, const struct flow_request *body,
                           struct decision_answer *out)
{
    const struct flow_levels *levels = &body->levels;
    bool is_told = body->job.priority >= 0;
    const char *why = is_told ? "the job has a priority" : "the policy is another one";

    co_warn_unused_members(
        rq, out,
        (const struct co_unused_member[]){
            {"/levels/policy", why, is_told && levels->policy != CO_BY_CLASS},
            {"/levels/runtime_thresholds_s", why,
             levels->threshold_count && (is_told || levels->policy != CO_BY_RUNTIME)},
            {"/levels/groups", why,
             levels->group_count && (is_told || levels->policy != CO_BY_GROUP)},
        },
        3);
    co_warn_unused_envelope(rq, out, &body->decision, false);
}

enum error_code post_flow_steps(struct request *rq, const void *in, void *out)
{
    const struct flow_request *body = in;
    struct flow_answer *answer = out;
    struct co_flow_in step = flow_in(body);
    struct co_flow_out next = {0};
    struct flow_action *actions = NEW(rq->arena, struct flow_action, CO_FLOW_ACTIONS_MAX);

    TRY(decision_begin(rq, &body->decision, &answer->decision));
    check_envelope(&body->decision, rq->err);
    check_times(body, rq->err);
    check_levels(&body->levels, rq->err);
    co_flow_step(&step, &next, rq->err); /* notes what is impossible */
    if (rq->err->code != OK)
        return rq->err->code;
    for (size_t i = 0; i < next.action_count; i++) {
        actions[i] = (struct flow_action){co_flow_action_names[next.actions[i].what],
                                          next.actions[i].at_s};
        if (next.actions[i].what == CO_DO_ENQUEUE)
            answer->queue = co_level_names[level_of(&body->job, &body->levels)];
    }
    answer->job_id = body->job.id;
    answer->state = (int)next.next;
    answer->actions = actions;
    answer->action_count = next.action_count;
    answer->l_value = next.l;
    warn_of_levels(rq, body, &answer->decision);
    decision_end(rq, "job_flow", DECISION_FEASIBLE, &answer->decision);
    return OK;
}

/* ---- launch plans ---- */

struct launch_component {
    const char *id, *site_id;
    uint64_t processors;
    double claim_at_s;
    const char *const *after;
    size_t after_count;
};

struct launch_nameserver {
    const char *id, *site_id;
    uint64_t job_count;
};

struct launch_request {
    struct decision_request decision;
    const char *job_id, *runner;
    double jst_s;
    const struct launch_component *components;
    size_t component_count;
    bool stages_files;
    int nameserver_mode;
    const struct launch_nameserver *nameservers;
    size_t nameserver_count;
    uint64_t max_concurrent_launches_per_site;
};

struct launch_answer {
    struct decision_answer decision;
    const char *job_id;
    struct launch_plan plan;
};

#define T struct launch_component
static const struct json_field launch_component_rows[] = {
    JSON_ID(T, id, JSON_REQUIRED, "Name, unique in the job"),
    JSON_ID(T, site_id, JSON_REQUIRED, "Where it runs"),
    JSON_INTEGER(T, processors, 1, 1e9, 0, JSON_REQUIRED, "Processors"),
    INSTANT_S(T, claim_at_s, JSON_NULLABLE, "When they are claimed; default: at jst_s"),
    JSON_TEXTS(T, after, after_count, AFTER_MAX, 0,
               "Workflows: components that must be done before"),
    {0},
};
#undef T
static const struct json_object launch_component_json = {
    "LaunchComponent", "A placed component", sizeof(struct launch_component),
    launch_component_rows};

#define T struct launch_nameserver
static const struct json_field nameserver_rows[] = {
    JSON_ID(T, id, JSON_REQUIRED, "Name"),
    JSON_ID(T, site_id, JSON_REQUIRED, "Where it runs"),
    JSON_INTEGER(T, job_count, 0, 1e12, 0, 0, "Jobs that use it"),
    {0},
};
#undef T
static const struct json_object nameserver_json = {
    "LaunchNameserver", "A nameserver that jobs share", sizeof(struct launch_nameserver),
    nameserver_rows};

#define T struct launch_request
static const struct json_field launch_request_rows[] = {
    JSON_ID(T, job_id, JSON_REQUIRED, "The job"),
    JSON_ID(T, runner, JSON_NULLABLE,
            "BoT, DRunner, IRunner, KRunner or MDrunner; default KRunner"),
    INSTANT_S(T, jst_s, JSON_REQUIRED, "When it starts"),
    JSON_LIST(T, components, component_count, struct launch_component,
              &launch_component_json, COMPONENTS_MAX, JSON_REQUIRED | JSON_UNIQUE_IDS,
              "Its components", JSON_LEAST(1)),
    JSON_BOOLEAN(T, stages_files, 1, 0,
                 "There are inputs or executables to bring, results to fetch; default "
                 "true"),
    JSON_CHOICE(T, nameserver_mode, launch_nameserver_modes, LAUNCH_PER_JOB, 0,
                "IRunner: its own nameserver, or one of the pool; default per_job"),
    JSON_LIST(T, nameservers, nameserver_count, struct launch_nameserver,
              &nameserver_json, POOL_MAX, JSON_UNIQUE_IDS, "The pool"),
    JSON_INTEGER(T, max_concurrent_launches_per_site, 0, 1e9, 0, 0,
                 "Components that a site launches at a time; default 0: any number"),
    DECISION_REQUEST_ROWS(T),
    {0},
};
#undef T
const struct json_object launch_plans_request_json = {
    "LaunchPlanRequest", "A placed job and its runner", sizeof(struct launch_request),
    launch_request_rows};

#define T struct launch_answer
static const struct json_field launch_answer_rows[] = {
    DECISION_ANSWER_ROWS(T, DECISION_BY("launch_plan")),
    JSON_TEXT(T, job_id, 0, "The job"),
    LAUNCH_PLAN_ROWS(T),
    DECISION_END_ROWS(T),
    {0},
};
#undef T
const struct json_object launch_plans_answer_json = {
    "LaunchPlanAnswer", "How to launch the job", sizeof(struct launch_answer),
    launch_answer_rows};

/* Noted if there is no such runner; then any, for the rest to be checked. */
static const struct co_runner *find_runner(const char *name, struct error *err)
{
    const struct co_runner *runner = co_runner_find(name ? name : "KRunner");
    char hint[NAMES_HINT_BYTES];
    const char *names[16];
    size_t count = 0;

    if (runner)
        return runner;
    for (; co_runners[count].name && count < 16; count++)
        names[count] = co_runners[count].name;
    invalid(err, "/runner", ITEM_UNKNOWN_ID, "there is no such runner; %s",
            names_hint(name, names, count, hint, sizeof(hint)));
    error_allow(err, name, names, count);
    return co_runners;
}

/* The components that one comes after, as indexes. */
static enum error_code read_after(const struct launch_request *body, size_t i,
                                  const struct name_index *ids,
                                  struct co_launch_component *out, struct request *rq)
{
    const struct launch_component *from = &body->components[i];
    size_t *after = NEW(rq->arena, size_t, from->after_count);

    for (size_t k = 0; k < from->after_count; k++) {
        after[k] = name_index_find(ids, from->after[k]);
        if (after[k] != NAME_NOT_FOUND)
            continue;
        invalid(rq->err,
                pointer_in(pointer_in("/components", i, "after").text, k, NULL).text,
                ITEM_UNKNOWN_ID, "the job has no such component");
    }
    out->after = after;
    out->after_count = from->after_count;
    return OK;
}

static enum error_code read_components(struct request *rq,
                                       const struct launch_request *body,
                                       const struct co_launch_component **out)
{
    size_t count = body->component_count;
    struct co_launch_component *list = NEW(rq->arena, struct co_launch_component, count);
    struct name_index ids;

    name_index_create(&ids, count, rq->arena);
    for (size_t i = 0; i < count; i++)
        name_index_add(&ids, body->components[i].id, i);
    for (size_t i = 0; i < count; i++) {
        const struct launch_component *from = &body->components[i];

        list[i] = (struct co_launch_component){
            .id = from->id,
            .processors = from->processors,
            .site_id = from->site_id,
            .claim_at_s = isnan(from->claim_at_s) ? body->jst_s : from->claim_at_s};
        TRY(read_after(body, i, &ids, &list[i], rq));
    }
    *out = list;
    return OK;
}

static enum error_code read_launch(struct request *rq, const struct launch_request *body,
                                   struct co_launch_in *in)
{
    struct co_nameserver *pool =
        NEW(rq->arena, struct co_nameserver, body->nameserver_count);

    for (size_t i = 0; i < body->nameserver_count; i++)
        pool[i] =
            (struct co_nameserver){body->nameservers[i].id, body->nameservers[i].site_id,
                                   body->nameservers[i].job_count};
    *in = (struct co_launch_in){
        .runner = find_runner(body->runner, rq->err),
        .component_count = body->component_count,
        .jst_s = body->jst_s,
        .stages_files = body->stages_files,
        .pooled = body->nameserver_mode == LAUNCH_POOLED,
        .nameservers = pool,
        .nameserver_count = body->nameserver_count,
        .max_launches_per_site = body->max_concurrent_launches_per_site,
    };
    TRY(read_components(rq, body, &in->components));
    return rq->err->code;
}

static void warn_of_launch(struct request *rq, const struct launch_request *body,
                           const struct co_runner *runner, struct decision_answer *out)
{
    bool is_pooled = body->nameserver_mode == LAUNCH_POOLED;
    const char *why = runner->joins_nameserver ? "nameserver_mode is per_job"
                                               : "the runner has no nameserver";

    co_warn_unused_members(
        rq, out,
        (const struct co_unused_member[]){
            {"/nameserver_mode", why, is_pooled && !runner->joins_nameserver},
            {"/nameservers", why,
             body->nameserver_count && !(is_pooled && runner->joins_nameserver)},
        },
        2);
    co_warn_unused_envelope(rq, out, &body->decision, false);
}

enum error_code post_launch_plans(struct request *rq, const void *in, void *out)
{
    const struct launch_request *body = in;
    struct launch_answer *answer = out;
    struct co_launch_in launch;

    TRY(decision_begin(rq, &body->decision, &answer->decision));
    check_envelope(&body->decision, rq->err);
    TRY(read_launch(rq, body, &launch));
    TRY(launch_plan_make(&launch, &answer->plan, rq->arena, rq->err));
    answer->job_id = body->job_id;
    warn_of_launch(rq, body, launch.runner, &answer->decision);
    decision_end(rq, "launch_plan", DECISION_FEASIBLE, &answer->decision);
    return OK;
}

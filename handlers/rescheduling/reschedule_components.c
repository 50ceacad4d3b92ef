/* reschedule_components.c - two events of POST /v1/reschedules: a component of a parallel
 * job erred, and runners that may be silent.
 *
 * The counters of the sites come with the request and go back with the answer. A soft
 * error counts once for each component that failed, in the order of the components by
 * size; components that started well are named too, and reset their sites first.
 *
 * Source: spec coallocation.md 12.
 */
#include "handlers/rescheduling/reschedule_kinds.h"

#include "algorithms/coallocation/faults.h"
#include "algorithms/coallocation/scan.h"
#include "handlers/coallocation/coallocation_json.h"
#include "handlers/coallocation/coallocation_refine.h"
#include "handlers/site_history/site_errors_threshold.h"
#include "models/base/pointer.h"
#include "service/json_holds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COMPONENTS_MAX = 10000, RUNNERS_MAX = 100000 };
#define TIME_MAX_S 1e12

#define INSTANT_S(T, m, flag, text) \
    JSON_NUMBER(T, m, -TIME_MAX_S, TIME_MAX_S, NAN, flag, text)

static const char *const error_kind[] = {"component_error", NULL};
static const char *const liveness_kind[] = {"runner_liveness", NULL};

/* ---- component_error: the request ---- */

struct failed_component {
    const char *id, *site_id;
    uint64_t processors;
};

struct failed_job {
    const char *id;
    int priority;
    bool atomic;
    const char *const *avoid_site_ids;
    size_t avoid_site_count;
    const struct failed_component *components;
    size_t component_count;
};

struct failure {
    int group;
    const char *site_id, *component_id, *message;
    const char *const *component_ids;
    size_t component_id_count;
};

struct capabilities {
    bool handles_soft, handles_application;
};

struct site_counter {
    const char *site_id;
    uint64_t consecutive_errors;
    bool unusable;
    double unusable_at_s;
};

struct error_request {
    struct decision_request decision;
    int kind;
    double now_s;
    struct failed_job job;
    struct failure error;
    struct capabilities runner_capabilities;
    const struct site_counter *site_error_counters;
    size_t counter_count;
    const char *const *started_site_ids;
    size_t started_site_count;
    const struct threshold_request *threshold_choice;
};

#define T struct failed_component
static const struct json_field component_rows[] = {
    JSON_ID(T, id, JSON_REQUIRED, "Name, unique in the job"),
    JSON_ID(T, site_id, JSON_REQUIRED, "Where it runs"),
    JSON_INTEGER(T, processors, 1, 1e9, 0, JSON_REQUIRED, "Processors that it holds"),
    {0},
};
#undef T
static const struct json_object component_json = {
    "FailedJobComponent", "A component of a running job", sizeof(struct failed_component),
    component_rows};

#define T struct failed_job
static const struct json_field job_rows[] = {
    JSON_ID(T, id, JSON_REQUIRED, "Name"),
    JSON_CHOICE(T, priority, co_level_names, CO_LOW, 0, "Its level; default low"),
    JSON_BOOLEAN(T, atomic, 1, 0, "All components or none; default true"),
    JSON_TEXTS(T, avoid_site_ids, avoid_site_count, CO_SITES_MAX, 0,
               "Sites that it avoids already"),
    JSON_LIST(T, components, component_count, struct failed_component, &component_json,
              COMPONENTS_MAX, JSON_REQUIRED | JSON_UNIQUE_IDS, "Its components",
              JSON_LEAST(1)),
    {0},
};
#undef T
static const struct json_object job_json = {"FailedJob", "A job with an error",
                                            sizeof(struct failed_job), job_rows};

#define T struct failure
static const struct json_field failure_rows[] = {
    JSON_CHOICE(T, group, co_error_group_names, CO_ERROR_SOFT, JSON_REQUIRED,
                "hard: of the submission site or its middleware; soft: of an execution "
                "site; application: of the program"),
    JSON_ID(T, component_id, JSON_NULLABLE, "The component that failed"),
    JSON_TEXTS(T, component_ids, component_id_count, COMPONENTS_MAX, 0,
               "Or several of them"),
    JSON_ID(T, site_id, JSON_NULLABLE,
            "The site whose fault it was; default: where each component runs"),
    JSON_TEXT(T, message, JSON_NULLABLE, "For people"),
    {0},
};
#undef T
static const struct json_object failure_json = {"ComponentError", "What went wrong",
                                                sizeof(struct failure), failure_rows};

#define T struct capabilities
static const struct json_field capabilities_rows[] = {
    JSON_BOOLEAN(T, handles_soft, 0, 0,
                 "It deals with errors of sites itself; default false"),
    JSON_BOOLEAN(T, handles_application, 0, 0,
                 "It deals with errors of the program itself; default false"),
    {0},
};
#undef T
static const struct json_object capabilities_json = {
    "RunnerCapabilities", "What the runner of the job can do",
    sizeof(struct capabilities), capabilities_rows};

#define T struct site_counter
static const struct json_field counter_rows[] = {
    JSON_ID(T, site_id, JSON_REQUIRED, "The site"),
    JSON_INTEGER(T, consecutive_errors, 0, 1e12, 0, 0,
                 "Soft errors since a component started there well"),
    JSON_BOOLEAN(T, unusable, 0, 0, "It has reached the threshold; default false"),
    INSTANT_S(T, unusable_at_s, JSON_NULLABLE | JSON_MAY_BE_NULL,
              "When it did; null: it has not"),
    {0},
};
#undef T
static const struct json_object counter_json = {
    "SiteErrorCounter", "Errors of a site in a row", sizeof(struct site_counter),
    counter_rows};

#define T struct error_request
static const struct json_field error_request_rows[] = {
    JSON_CHOICE(T, kind, error_kind, 0, JSON_REQUIRED, "component_error"),
    INSTANT_S(T, now_s, JSON_REQUIRED, "The present, on the scale of all times"),
    JSON_OBJECT(T, job, struct failed_job, &job_json, JSON_REQUIRED, "The job"),
    JSON_OBJECT(T, error, struct failure, &failure_json, JSON_REQUIRED, "The error"),
    JSON_OBJECT(T, runner_capabilities, struct capabilities, &capabilities_json, 0,
                "What its runner can do"),
    JSON_LIST(T, site_error_counters, counter_count, struct site_counter, &counter_json,
              CO_SITES_MAX, 0, "Counters of the last answer; sites that lack: 0"),
    JSON_TEXTS(T, started_site_ids, started_site_count, CO_SITES_MAX, 0,
               "Sites where components have started well since"),
    JSON_OBJECT(T, threshold_choice, const struct threshold_request *,
                &threshold_request_json, JSON_POINTER,
                "Find the threshold of each site that errs from its reported errors and "
                "starts (/v1/site-errors); default: the option error_threshold for all"),
    DECISION_REQUEST_ROWS(T),
    {0},
};
#undef T
const struct json_object component_error_request_json = {
    "ComponentErrorRequest", "A running parallel job, and an error of a component",
    sizeof(struct error_request), error_request_rows};

/* ---- component_error: the answer ---- */

struct requeue {
    int queue, position;
    const char *const *component_ids;
    size_t component_id_count;
};

struct error_answer {
    struct decision_answer decision;
    int kind;
    const char *job_id;
    const char *const *actions;
    size_t action_count;
    const char *const *avoid_site_ids;
    size_t avoid_site_count;
    const struct site_counter *site_error_counters;
    size_t counter_count;
    const char *const *unusable_site_ids;
    size_t unusable_count;
    const char *const *readmitted_site_ids;
    size_t readmitted_count;
    bool notify_admin;
    const struct requeue *requeue;
    const struct co_site_processors *freed_processors;
    size_t freed_count;
    const struct site_threshold *site_thresholds;
    size_t threshold_count;
};

#define T struct requeue
static const struct json_field requeue_rows[] = {
    JSON_CHOICE(T, queue, co_level_names, 0, 0, "Which placement queue"),
    JSON_CHOICE(T, position, co_requeue_rule_names, 0, 0,
                "tail, or original: where its first entry belongs"),
    JSON_TEXTS(T, component_ids, component_id_count, 0, 0, "What is to be placed"),
    {0},
};
#undef T
static const struct json_object requeue_json = {
    "Requeue", "A job that goes back to a placement queue", sizeof(struct requeue),
    requeue_rows};

#define T struct error_answer
static const struct json_field error_answer_rows[] = {
    JSON_CHOICE(T, kind, error_kind, 0, 0, "component_error"),
    DECISION_ANSWER_ROWS(T, DECISION_BY_ONE(error_kind)),
    JSON_TEXT(T, job_id, 0, "The job"),
    JSON_WORDS(T, actions, action_count, co_fault_action_names, 0,
               "What to do, in this order"),
    JSON_TEXTS(T, avoid_site_ids, avoid_site_count, 0, 0,
               "Sites to do without when it is placed again"),
    JSON_LIST(T, site_error_counters, counter_count, struct site_counter, &counter_json,
              0, 0, "Counters as they are now"),
    JSON_TEXTS(T, unusable_site_ids, unusable_count, 0, 0, "Sites not to be used"),
    JSON_TEXTS(T, readmitted_site_ids, readmitted_count, 0, 0,
               "Sites whose cooldown is over"),
    JSON_BOOLEAN(T, notify_admin, 0, 0, "A site became unusable: tell somebody"),
    JSON_OBJECT(T, requeue, const struct requeue *, &requeue_json,
                JSON_POINTER | JSON_MAY_BE_NULL, "Where the job goes; null: nowhere"),
    JSON_LIST(T, freed_processors, freed_count, struct co_site_processors,
              &co_site_processors_json, 0, 0, "Processors that are free now"),
    JSON_LIST(T, site_thresholds, threshold_count, struct site_threshold,
              &site_threshold_json, 0, JSON_OPTIONAL,
              "With threshold_choice: of each site that erred"),
    DECISION_END_ROWS(T),
    {0},
};
#undef T
const struct json_object component_error_answer_json = {
    "ComponentErrorAnswer", "What to do about the error", sizeof(struct error_answer),
    error_answer_rows};

/* ---- processors by site ---- */

struct site_sums {
    struct name_index index;
    struct co_site_processors *list;
    size_t count;
};

static void sums_create(struct site_sums *s, size_t most, struct request *rq)
{
    s->list = NEW(rq->arena, struct co_site_processors, most);
    name_index_create(&s->index, most, rq->arena);
}

static void sums_add(struct site_sums *s, const char *site_id, uint64_t processors)
{
    size_t at = name_index_add(&s->index, site_id, s->count);

    if (at == NAME_NOT_FOUND) {
        at = s->count++;
        s->list[at].site_id = site_id;
    }
    s->list[at].processors += (double)processors;
}

/* ---- component_error: the decision ---- */

struct error_call {
    struct request *rq;
    const struct error_request *body;
    double param[PARAMS_MAX];
    const struct failed_component **failed; /* the largest first */
    size_t failed_count;
    bool *is_failed; /* of each component */
    struct site_counter *counters;
    struct name_index counter_index;
    size_t counter_count;
    struct name_index threshold_index; /* of answer->site_thresholds */
    struct error_answer *answer;
};

static int compare_components(const void *left, const void *right)
{
    const struct failed_component *const *x = left, *const *y = right;

    if ((*x)->processors != (*y)->processors)
        return (*x)->processors > (*y)->processors ? -1 : 1;
    return *x < *y ? -1 : *x > *y;
}

static enum error_code mark_failed(struct error_call *c, const struct name_index *ids,
                                   const char *id, const char *pointer)
{
    size_t at = name_index_find(ids, id);

    if (at == NAME_NOT_FOUND)
        return invalid(c->rq->err, pointer, ITEM_UNKNOWN_ID,
                       "the job has no such component");
    if (c->is_failed[at])
        return invalid(c->rq->err, pointer, ITEM_DUPLICATE, "it is named twice");
    c->is_failed[at] = true;
    c->failed[c->failed_count++] = &c->body->job.components[at];
    return OK;
}

static enum error_code read_failed(struct error_call *c)
{
    const struct failed_job *job = &c->body->job;
    const struct failure *error = &c->body->error;
    struct name_index ids;

    c->failed =
        NEW(c->rq->arena, const struct failed_component *, error->component_id_count + 1);
    c->is_failed = NEW(c->rq->arena, bool, job->component_count);
    name_index_create(&ids, job->component_count, c->rq->arena);
    for (size_t i = 0; i < job->component_count; i++)
        name_index_add(&ids, job->components[i].id, i);
    if (error->component_id)
        mark_failed(c, &ids, error->component_id, "/error/component_id");
    for (size_t i = 0; i < error->component_id_count; i++) {
        struct pointer pointer;

        pointer = pointer_in("/error/component_ids", i, NULL);
        mark_failed(c, &ids, error->component_ids[i], pointer.text);
    }
    if (c->failed_count == 0 && error->group == CO_ERROR_SOFT)
        invalid(c->rq->err, "/error/component_id", ITEM_REQUIRED,
                "the member is missing: a soft error is one of a component");
    if (c->failed_count)
        qsort(c->failed, c->failed_count, sizeof(*c->failed), compare_components);
    return OK;
}

/* The counter of a site, a new one if there was none. */
static struct site_counter *counter_of(struct error_call *c, const char *site_id)
{
    size_t at = name_index_add(&c->counter_index, site_id, c->counter_count);

    if (at == NAME_NOT_FOUND) {
        at = c->counter_count++;
        c->counters[at] = (struct site_counter){.site_id = site_id, .unusable_at_s = NAN};
    }
    return &c->counters[at];
}

static enum error_code read_counters(struct error_call *c)
{
    const struct error_request *body = c->body;
    size_t most = body->counter_count + c->failed_count + body->started_site_count;

    c->counters = NEW(c->rq->arena, struct site_counter, most);
    name_index_create(&c->counter_index, most, c->rq->arena);
    for (size_t i = 0; i < body->counter_count; i++) {
        if (name_index_add(&c->counter_index, body->site_error_counters[i].site_id, i) !=
            NAME_NOT_FOUND) {
            invalid(c->rq->err, pointer_in("/site_error_counters", i, "site_id").text,
                    ITEM_DUPLICATE, "the site is there twice");
        }
        c->counters[c->counter_count++] = body->site_error_counters[i];
    }
    return OK;
}

/* Applies one event to a site's counter. */
enum counting { STARTED_WELL, ERRED, TIME_PASSED };

static size_t threshold_of(const struct error_call *c, const char *site_id)
{
    size_t at = c->answer->threshold_count ? name_index_find(&c->threshold_index, site_id)
                                           : NAME_NOT_FOUND;

    return at == NAME_NOT_FOUND ? (size_t)c->param[CO_FAULT_THRESHOLD]
                                : c->answer->site_thresholds[at].error_threshold;
}

static bool count(struct error_call *c, struct site_counter *counter, enum counting what)
{
    struct co_site_errors site = {counter->consecutive_errors, counter->unusable,
                                  isnan(counter->unusable_at_s) ? c->body->now_s
                                                                : counter->unusable_at_s};
    double cooldown_s = c->param[CO_FAULT_COOLDOWN_S];
    bool changed = false;

    if (what == STARTED_WELL)
        co_site_success(&site);
    else if (what == ERRED)
        changed = co_site_error(&site, threshold_of(c, counter->site_id), c->body->now_s);
    else if (!isnan(cooldown_s))
        changed = co_site_readmit(&site, cooldown_s, c->body->now_s);
    counter->consecutive_errors = site.consecutive;
    counter->unusable = site.unusable;
    counter->unusable_at_s = site.unusable ? site.unusable_at_s : (double)NAN;
    return changed;
}

static const char *guilty_site(const struct error_call *c, size_t i)
{
    return c->body->error.site_id ? c->body->error.site_id : c->failed[i]->site_id;
}

/* The thresholds of the sites that erred, if the request wants them found. */
static enum error_code find_thresholds(struct error_call *c)
{
    struct decision_answer *out = &c->answer->decision;
    struct site_threshold *list;
    const char *warning;
    size_t number = 0;

    if (!c->body->threshold_choice || c->body->error.group != CO_ERROR_SOFT)
        return OK;
    list = NEW(c->rq->arena, struct site_threshold, c->failed_count);
    name_index_create(&c->threshold_index, c->failed_count, c->rq->arena);
    for (size_t i = 0; i < c->failed_count; i++) {
        const char *site = guilty_site(c, i);

        if (name_index_add(&c->threshold_index, site, number) == NAME_NOT_FOUND)
            list[number++].site_id = site;
    }
    TRY(site_thresholds_find(c->rq, c->body->threshold_choice,
                             (size_t)c->param[CO_FAULT_THRESHOLD], list, number,
                             &warning));
    c->answer->site_thresholds = list;
    c->answer->threshold_count = number;
    co_add_warning(warning, &out->warnings, &out->warning_count, c->rq->arena);
    return OK;
}

static void count_sites(struct error_call *c)
{
    const struct error_request *body = c->body;
    struct error_answer *out = c->answer;
    const char **readmitted = NEW(c->rq->arena, const char *, c->counter_count);
    const char **unusable;

    for (size_t i = 0; i < c->counter_count; i++)
        if (count(c, &c->counters[i], TIME_PASSED))
            readmitted[out->readmitted_count++] = c->counters[i].site_id;
    for (size_t i = 0; i < body->started_site_count; i++)
        count(c, counter_of(c, body->started_site_ids[i]), STARTED_WELL);
    for (size_t i = 0; i < c->failed_count && body->error.group == CO_ERROR_SOFT; i++)
        if (count(c, counter_of(c, guilty_site(c, i)), ERRED))
            out->notify_admin = true;
    unusable = NEW(c->rq->arena, const char *, c->counter_count);
    for (size_t i = 0; i < c->counter_count; i++)
        if (c->counters[i].unusable)
            unusable[out->unusable_count++] = c->counters[i].site_id;
    out->readmitted_site_ids = readmitted;
    out->unusable_site_ids = unusable;
    out->site_error_counters = c->counters;
    out->counter_count = c->counter_count;
}

static void fill_avoided(struct error_call *c, bool avoid)
{
    const struct failed_job *job = &c->body->job;
    size_t most = job->avoid_site_count + c->failed_count;
    const char **list = NEW(c->rq->arena, const char *, most);
    struct name_index seen;

    name_index_create(&seen, most, c->rq->arena);
    for (size_t i = 0; i < job->avoid_site_count + (avoid ? c->failed_count : 0); i++) {
        const char *site = i < job->avoid_site_count
                               ? job->avoid_site_ids[i]
                               : guilty_site(c, i - job->avoid_site_count);

        if (name_index_add(&seen, site, i) == NAME_NOT_FOUND)
            list[c->answer->avoid_site_count++] = site;
    }
    c->answer->avoid_site_ids = list;
}

static void fill_requeue(struct error_call *c, bool all)
{
    const struct failed_job *job = &c->body->job;
    size_t number = all ? job->component_count : c->failed_count;
    struct requeue *requeue = NEW(c->rq->arena, struct requeue, 1);
    const char **ids = NEW(c->rq->arena, const char *, number);

    for (size_t i = 0; i < number; i++)
        ids[i] = all ? job->components[i].id : c->failed[i]->id;
    *requeue =
        (struct requeue){job->priority, (int)c->param[CO_FAULT_REQUEUE], ids, number};
    c->answer->requeue = requeue;
}

/* What the job gives back: all of it, or the components that are placed again. */
static void fill_freed(struct error_call *c, const struct co_fault_out *fault)
{
    const struct failed_job *job = &c->body->job;
    struct site_sums sums = {0};

    sums_create(&sums, job->component_count, c->rq);
    for (size_t i = 0; fault->free_job && i < job->component_count; i++)
        sums_add(&sums, job->components[i].site_id, job->components[i].processors);
    for (size_t i = 0; !fault->free_job && fault->requeue && i < c->failed_count; i++)
        sums_add(&sums, c->failed[i]->site_id, c->failed[i]->processors);
    c->answer->freed_processors = sums.list;
    c->answer->freed_count = sums.count;
}

static enum error_code decide_error(struct error_call *c)
{
    const struct error_request *body = c->body;
    const struct co_fault_in in = {
        .group = (enum co_error_group)body->error.group,
        .handles_soft = body->runner_capabilities.handles_soft,
        .handles_application = body->runner_capabilities.handles_application,
        .atomic = body->job.atomic,
    };
    struct co_fault_out fault = co_fault_decide(&in);
    const char **actions = NEW(c->rq->arena, const char *, CO_FAULT_ACTIONS_MAX);

    for (size_t i = 0; i < fault.action_count; i++)
        actions[i] = co_fault_action_names[fault.actions[i]];
    c->answer->job_id = body->job.id;
    c->answer->actions = actions;
    c->answer->action_count = fault.action_count;
    TRY(find_thresholds(c));
    count_sites(c);
    fill_avoided(c, fault.avoid_site);
    if (fault.requeue)
        fill_requeue(c, fault.free_job);
    fill_freed(c, &fault);
    return OK;
}

/* The name of the event is the only policy that there is for it. */
static void check_algorithm(const char *given, const char *name, struct error *err)
{
    if (given && strcmp(given, "auto") != 0 && strcmp(given, name) != 0)
        decision_unknown_algorithm(given, &name, 1, err);
}

enum error_code reschedule_component_error(struct request *rq, const void *in, void *out)
{
    struct error_call c = {.rq = rq, .body = in, .answer = out};
    const struct decision_request *decision = &c.body->decision;
    enum error_code code;

    TRY(decision_begin(rq, decision, &c.answer->decision));
    check_algorithm(decision->algorithm, error_kind[0], rq->err);
    code = params_bind(migration_component_error_params, decision->options,
                       decision->option_count, c.param, rq->err);
    if (code != OK && code != ERR_INVALID)
        return code;
    TRY(read_failed(&c));
    TRY(read_counters(&c));
    TRY(rq->err->code);
    TRY(decide_error(&c));
    decision_end(rq, error_kind[0], DECISION_FEASIBLE, &c.answer->decision);
    return OK;
}

/* ---- runner_liveness ---- */

struct runner_part {
    const char *site_id;
    uint64_t processors;
};

struct runner {
    const char *job_id;
    double last_reply_s;
    const struct runner_part *allocations;
    size_t allocation_count;
};

struct liveness_request {
    struct decision_request decision;
    int kind;
    double now_s;
    const struct runner *runners;
    size_t runner_count;
};

struct liveness_answer {
    struct decision_answer decision;
    int kind;
    const char *const *dead_job_ids;
    size_t dead_count;
    const struct co_site_processors *freed_processors;
    size_t freed_count;
};

#define T struct runner_part
static const struct json_field part_rows[] = {
    JSON_ID(T, site_id, JSON_REQUIRED, "Site"),
    JSON_INTEGER(T, processors, 1, 1e9, 0, JSON_REQUIRED,
                 "Processors that its job holds there"),
    {0},
};
#undef T
static const struct json_object part_json = {"RunnerAllocation", "Processors of a runner",
                                             sizeof(struct runner_part), part_rows};

#define T struct runner
static const struct json_field runner_rows[] = {
    JSON_ID(T, job_id, JSON_REQUIRED, "Its job"),
    INSTANT_S(T, last_reply_s, JSON_REQUIRED, "When it last answered"),
    JSON_LIST(T, allocations, allocation_count, struct runner_part, &part_json,
              COMPONENTS_MAX, 0, "What its job holds"),
    {0},
};
#undef T
static const struct json_object runner_json = {"Runner", "A runner that is asked",
                                               sizeof(struct runner), runner_rows};

#define T struct liveness_request
static const struct json_field liveness_rows[] = {
    JSON_CHOICE(T, kind, liveness_kind, 0, JSON_REQUIRED, "runner_liveness"),
    INSTANT_S(T, now_s, JSON_REQUIRED, "The present, on the scale of all times"),
    JSON_LIST(T, runners, runner_count, struct runner, &runner_json, RUNNERS_MAX,
              JSON_REQUIRED, "The runners"),
    DECISION_REQUEST_ROWS(T),
    {0},
};
#undef T
const struct json_object runner_liveness_request_json = {
    "RunnerLivenessRequest", "Runners, and when they last answered",
    sizeof(struct liveness_request), liveness_rows};

#define T struct liveness_answer
static const struct json_field liveness_answer_rows[] = {
    JSON_CHOICE(T, kind, liveness_kind, 0, 0, "runner_liveness"),
    DECISION_ANSWER_ROWS(T, DECISION_BY_ONE(liveness_kind)),
    JSON_TEXTS(T, dead_job_ids, dead_count, 0, 0,
               "Jobs whose runners have crashed, in the order of the request"),
    JSON_LIST(T, freed_processors, freed_count, struct co_site_processors,
              &co_site_processors_json, 0, 0, "Processors that are free now"),
    DECISION_END_ROWS(T),
    {0},
};
#undef T
const struct json_object runner_liveness_answer_json = {
    "RunnerLivenessAnswer", "Runners that have crashed", sizeof(struct liveness_answer),
    liveness_answer_rows};

static enum error_code read_runners(struct request *rq,
                                    const struct liveness_request *body, size_t *parts)
{
    struct name_index ids;

    *parts = 0;
    name_index_create(&ids, body->runner_count, rq->arena);
    for (size_t i = 0; i < body->runner_count; i++) {
        *parts += body->runners[i].allocation_count;
        if (name_index_add(&ids, body->runners[i].job_id, i) == NAME_NOT_FOUND)
            continue;
        invalid(rq->err, pointer_in("/runners", i, "job_id").text, ITEM_DUPLICATE,
                "the job is there twice");
    }
    return OK;
}

enum error_code reschedule_runner_liveness(struct request *rq, const void *in, void *out)
{
    const struct liveness_request *body = in;
    struct liveness_answer *answer = out;
    struct site_sums sums = {0};
    const char **dead = NEW(rq->arena, const char *, body->runner_count);
    double param[PARAMS_MAX];
    size_t parts;

    TRY(decision_begin(rq, &body->decision, &answer->decision));
    check_algorithm(body->decision.algorithm, liveness_kind[0], rq->err);
    TRY(read_runners(rq, body, &parts));
    TRY(params_bind(migration_runner_liveness_params, body->decision.options,
                    body->decision.option_count, param, rq->err));
    TRY(rq->err->code);
    sums_create(&sums, parts, rq);
    for (size_t i = 0; i < body->runner_count; i++) {
        const struct runner *r = &body->runners[i];

        if (!co_runner_dead(r->last_reply_s, body->now_s, param[CO_LIVENESS_TIMEOUT]))
            continue;
        dead[answer->dead_count++] = r->job_id;
        for (size_t k = 0; k < r->allocation_count; k++)
            sums_add(&sums, r->allocations[k].site_id, r->allocations[k].processors);
    }
    answer->dead_job_ids = dead;
    answer->freed_processors = sums.list;
    answer->freed_count = sums.count;
    decision_end(rq, liveness_kind[0], DECISION_FEASIBLE, &answer->decision);
    return OK;
}

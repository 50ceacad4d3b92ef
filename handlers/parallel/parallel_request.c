/* parallel_request.c - an application, its sites and its model, from a request. */
#include "handlers/parallel/parallel_parts.h"
#include "handlers/parallel/parallel_schedules.h"
#include "models/base/pointer.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const double PAIR_BYTES = 16; /* of two machines of a site */

#define T struct site_model
static const struct json_field model_rows[] = {
    SITE_MODEL_ROWS(T, ),
    {0},
};
#undef T
static const struct json_object model_json = {
    "ScheduleModel", "How long the application runs on P machines",
    sizeof(struct site_model), model_rows};

#define T struct schedule_site
static const struct json_field site_rows[] = {
    SITE_ROWS(T),
    JSON_OBJECT(T, model, const struct site_model *, &model_json, JSON_POINTER,
                "A model of the application here; goes before the job's, and its scaling "
                "factors are 1"),
    {0},
};
#undef T
static const struct json_object site_request_json = {
    "ScheduleSite", "A cluster of machines with their links",
    sizeof(struct schedule_site), site_rows};

#define T struct schedule_snapshot
static const struct json_field snapshot_rows[] = {
    JSON_LIST(T, sites, site_count, struct schedule_site, &site_request_json, SITES_MAX,
              JSON_REQUIRED | JSON_UNIQUE_IDS,
              "Sites that could run it; their order breaks ties"),
    {0},
};
#undef T
static const struct json_object snapshot_request_json = {
    "ScheduleSnapshot", "Sites as they are now", sizeof(struct schedule_snapshot),
    snapshot_rows};

#define T struct schedule_job
static const struct json_field job_rows[] = {
    JSON_ID(T, id, JSON_REQUIRED, "Name"),
    JSON_ID(T, application_id, JSON_NULLABLE,
            "What it runs: without a model, the stored one of this application and the "
            "site is used"),
    JSON_NUMBER(T, problem_size, 0, JSON_LARGEST, NAN, JSON_NULLABLE | JSON_ABOVE_MIN,
                "N of the model"),
    JSON_INTEGER(T, min_processors, 1, SITE_MACHINES_MAX, 1, 0,
                 "It does not run on fewer machines; default 1"),
    JSON_OBJECT(T, model, const struct site_model *, &model_json, JSON_POINTER,
                "How long it runs; sites scale it by their factors"),
    {0},
};
#undef T
static const struct json_object job_json = {"ParallelJob",
                                            "A tightly coupled application",
                                            sizeof(struct schedule_job), job_rows};

#define T struct schedules_request
static const struct json_field request_rows[] = {
    DECISION_REQUEST_ROWS(T),
    JSON_OBJECT(T, snapshot, const struct schedule_snapshot *, &snapshot_request_json,
                JSON_POINTER, "Sites with machines and links"),
    JSON_ID(T, snapshot_id, JSON_NULLABLE,
            "Instead: a stored snapshot, whose resources are sites by their site_id",
            JSON_NOT_WITH("snapshot")),
    JSON_LIST(T, jobs, job_count, struct schedule_job, &job_json, 1,
              JSON_REQUIRED | JSON_UNIQUE_IDS, "Exactly one", JSON_LEAST(1)),
    JSON_BOOLEAN(
        T, prefer_fewer_machines, 0, 0,
        "Of the sets whose times the model cannot well tell apart, those at most "
        "5 % above the best, or the usual error of a stored model if that is "
        "less, the one with fewest machines; default false"),
    {0},
};
#undef T
const struct json_object parallel_schedules_request_json = {
    "ParallelSchedulesRequest", "One application and the machines it could run on",
    sizeof(struct schedules_request), request_rows};

enum error_code schedule_warn(struct schedule_call *call, const char *format, ...)
{
    struct arena *a = call->rq->arena;
    va_list args;

    if (call->warning_count == call->warning_room) {
        size_t room = 2 * call->warning_room + 16;

        call->warnings = GROW(a, call->warnings, const char *, call->warning_room, room);
        call->warning_room = room;
    }
    va_start(args, format);
    call->warnings[call->warning_count++] = arena_vprintf(a, format, args);
    va_end(args);
    return OK;
}

/* ---- policy ---- */

static bool has_option(const struct named_value *given, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(given[i].name, name) == 0)
            return true;
    return false;
}

/* An option that is null is not set. Who limits the time wants auto to use it. */
static void bind_options(struct schedule_call *call)
{
    const struct decision_request *decision = &call->body->decision;
    struct request *rq = call->rq;
    struct named_value *given =
        NEW(rq->arena, struct named_value, decision->option_count + 1);
    size_t count = 0;

    for (size_t i = 0; i < decision->option_count; i++)
        if (decision->options[i].type != VALUE_UNDEFINED)
            given[count++] = decision->options[i];
    if (strcmp(call->policy->name, "auto") == 0 && isfinite(decision->time_limit_s) &&
        !has_option(given, count, "exact_work_budget"))
        given[count++] = (struct named_value){"exact_work_budget", VALUE_NUMBER, 0, NULL};
    policy_bind(call->policy, given, count, call->param, rq->err);
}

static void find_policy(struct schedule_call *call)
{
    const char *name = call->body->decision.algorithm;

    call->policy = policy_find(parallel_policies, name ? name : "auto");
    if (call->policy) {
        bind_options(call);
        return;
    }
    decision_unknown_policy(name, parallel_policies, call->rq->err);
}

/* ---- checks ---- */

static void check_job(struct schedule_call *call)
{
    const struct schedule_job *job = call->job;
    struct error *err = call->rq->err;
    bool every_site = call->site_count > 0;

    for (size_t k = 0; k < call->site_count; k++)
        every_site = every_site && call->sites[k].model;
    if (job->model) {
        site_model_check(job->model, job->problem_size, "/jobs/0/model", err);
        return;
    }
    if (every_site)
        return;
    if (!job->application_id)
        invalid(err, "/jobs/0/model", ITEM_REQUIRED,
                "the member is missing: give it, or an application_id whose model is "
                "stored, or a model with every site");
    else if (isnan(job->problem_size))
        invalid(err, "/jobs/0/problem_size", ITEM_REQUIRED,
                "the member is missing: a stored model needs it");
}

/* ---- sites ---- */

static enum error_code warn_of_site(struct schedule_call *call,
                                    const struct sites_problem *p)
{
    struct request *rq = call->rq;
    struct site_warnings w;

    site_warnings_of(p->site, &p->machines, &w, rq->arena);
    for (size_t i = 0; i < w.count; i++)
        TRY(schedule_warn(call, "%s", w.list[i]));
    return OK;
}

/* Every pair of a site's machines has its link. */
static enum error_code reserve_pairs(const struct schedule_call *call)
{
    double pair_count = 0;

    for (size_t k = 0; k < call->site_count; k++) {
        double n = (double)call->sites[k].site.resource_count;

        pair_count += n * n;
    }
    return request_reserve(call->rq, PAIR_BYTES * pair_count);
}

static enum error_code make_machines(struct schedule_call *call)
{
    struct request *rq = call->rq;

    TRY(reserve_pairs(call));
    call->problems = NEW(rq->arena, struct sites_problem, call->site_count);
    call->sources = NEW(rq->arena, const struct stored_model *, call->site_count);
    for (size_t k = 0; k < call->site_count; k++) {
        struct sites_problem *p = &call->problems[k];
        struct pointer pointer = pointer_in("/snapshot/sites", k, NULL);
        enum error_code code;

        p->site = &call->sites[k].site;
        code =
            site_machines_make(p->site, pointer.text, &p->machines, rq->arena, rq->err);
        if (code != OK && code != ERR_INVALID)
            return code;
        if (call->sites[k].model)
            site_model_check(call->sites[k].model, call->job->problem_size,
                             pointer_of(pointer.text, "model").text, rq->err);
        TRY(warn_of_site(call, p));
    }
    return OK;
}

/* The sites of a stored snapshot. */
static enum error_code take_stored(struct schedule_call *call,
                                   const struct snapshot *snapshot)
{
    struct request *rq = call->rq;
    bool forecast = call->policy && call->param[PARALLEL_USE_FORECAST] != 0;
    struct schedule_site *sites;
    struct stored_sites stored;

    TRY(stored_sites_make(rq, snapshot, SITES_MAX, forecast, &stored));
    sites = NEW(rq->arena, struct schedule_site, stored.site_count);
    for (size_t k = 0; k < stored.site_count; k++)
        sites[k].site = stored.sites[k];
    call->sites = sites;
    call->site_count = stored.site_count;
    return stored.no_load_history ? schedule_warn(call, "%s", stored_sites_no_history)
                                  : OK;
}

static enum error_code find_sites(struct schedule_call *call)
{
    const struct schedules_request *body = call->body;
    struct request *rq = call->rq;
    const struct snapshot *stored = NULL;

    if (body->snapshot) {
        call->sites = body->snapshot->sites;
        call->site_count = body->snapshot->site_count;
    } else {
        enum error_code code =
            decision_snapshot(rq, NULL, body->snapshot_id, true, &stored);

        if (code != OK)
            return code == ERR_INVALID ? OK : code;
        return take_stored(call, stored);
    }
    return OK;
}

/* Batch sites without past waits get the stored ones. */
static enum error_code find_waits(struct schedule_call *call)
{
    struct arena *a = call->rq->arena;
    size_t n = call->site_count;
    const struct site **ask = NEW(a, const struct site *, n);
    struct stored_waits *waits = NEW(a, struct stored_waits, n);
    struct schedule_site *sites = NEW(a, struct schedule_site, n);
    bool unavailable;

    for (size_t k = 0; k < n; k++) {
        sites[k] = call->sites[k];
        ask[k] = &call->sites[k].site;
    }
    TRY(stored_waits_read(call->rq, ask, n, waits, &unavailable));
    for (size_t k = 0; k < n; k++)
        if (waits[k].count) {
            sites[k].site.queue_wait_history = waits[k].list;
            sites[k].site.wait_count = waits[k].count;
        }
    call->sites = sites;
    return unavailable ? schedule_warn(call, "%s", stored_waits_unavailable) : OK;
}

enum error_code schedule_call_begin(struct schedule_call *call, struct request *rq,
                                    const struct schedules_request *body)
{
    *call = (struct schedule_call){.rq = rq, .body = body};
    find_policy(call);
    TRY(find_sites(call));
    TRY(find_waits(call));
    if (body->job_count == 0)
        return rq->err->code;
    call->job = &body->jobs[0];
    TRY(make_machines(call));
    check_job(call);
    if (rq->err->code != OK)
        return rq->err->code;
    TRY(schedule_models(call));
    return schedule_warn_unused(call);
}

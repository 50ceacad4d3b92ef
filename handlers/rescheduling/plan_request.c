/* plan_request.c - a multi-phase application, its sites and what moving costs. */
#include "handlers/rescheduling/plan_parts.h"

#include "models/base/names.h"
#include "models/base/plural.h"
#include "models/base/pointer.h"

#include <string.h>

/* ---- the body ---- */

#define T struct plan_phase_request
static const struct json_field phase_rows[] = {
    JSON_INTEGER(T, phase, 1, PLAN_PHASES_MAX, 0, JSON_REQUIRED, "Its number, from 1"),
    SITE_MODEL_ROWS(T, model.),
    {0},
};
#undef T
const struct json_object plan_phase_json = {"PhaseModel", "The run time of one phase",
                                            sizeof(struct plan_phase_request),
                                            phase_rows};

#define T struct plan_site_request
static const struct json_field site_rows[] = {
    SITE_ROWS(T),
    JSON_LIST(T, phase_models, phase_model_count, struct plan_phase_request,
              &plan_phase_json, PLAN_PHASES_MAX, 0,
              "Run times of the phases here; they go before those of the job"),
    JSON_NUMBER(T, intra_site_cost_s, 0, 1e9, NAN, JSON_NULLABLE,
                "Cost of moving to other machines of the site; default: worked out from "
                "the checkpoint, else learnt from reported moves, else 120"),
    JSON_NUMBER(T, checkpoint_bandwidth_mbps, 0, JSON_LARGEST, NAN,
                JSON_NULLABLE | JSON_ABOVE_MIN,
                "Between its machines and its checkpoint servers"),
    JSON_NUMBER(T, stop_s, 0, 1e9, 0, 0, "Time to stop the application; default 0"),
    JSON_NUMBER(T, launch_s, 0, 1e9, 0, 0, "Time to start it; default 0"),
    {0},
};
#undef T
static const struct json_object site_request_json = {
    "PlanSite", "A site that can run phases", sizeof(struct plan_site_request),
    site_rows};

#define T struct plan_snapshot_request
static const struct json_field snapshot_rows[] = {
    JSON_LIST(T, sites, site_count, struct plan_site_request, &site_request_json,
              PLAN_SITES_MAX, JSON_REQUIRED | JSON_UNIQUE_IDS,
              "Sites; their order breaks ties"),
    JSON_LIST(T, routes, route_count, struct network_route, &network_route_json,
              PLAN_ROUTES_MAX, 0, "Links between sites, over which checkpoints move"),
    {0},
};
#undef T
const struct json_object plan_snapshot_json = {"PlanSnapshot", "Sites as they are now",
                                               sizeof(struct plan_snapshot_request),
                                               snapshot_rows};

#define T struct plan_current_request
static const struct json_field current_rows[] = {
    JSON_ID(T, site_id, JSON_REQUIRED, "The site that it runs on"),
    JSON_TEXTS(T, resource_ids, resource_count, SITE_MACHINES_MAX, JSON_REQUIRED,
               "Its machines there; one that the snapshot does not have is gone"),
    {0},
};
#undef T
const struct json_object plan_current_json = {"PlanCurrent", "Where the application runs",
                                              sizeof(struct plan_current_request),
                                              current_rows};

/* ---- warnings ---- */

enum error_code plan_call_warn(struct plan_call *call, const char *format, ...)
{
    struct arena *a = call->rq->arena;
    va_list args;

    if (call->warning_count == call->warning_size) {
        size_t size = 2 * call->warning_size + 16;

        call->warnings = GROW(a, call->warnings, const char *, call->warning_size, size);
        call->warning_size = size;
    }
    va_start(args, format);
    call->warnings[call->warning_count++] = arena_vprintf(a, format, args);
    va_end(args);
    return OK;
}

/* ---- options ---- */

/* Binds the options of plans and the further ones together, so that an unknown one is
 * noted once. */
static enum error_code bind_options(struct plan_call *call,
                                    const struct plan_call_options *further)
{
    const struct decision_request *decision = &call->body->decision;
    double value[PARAMS_MAX];
    size_t own = params_count(further->rows);

    TRY(params_bind_both(plan_common_params, further->rows, decision->options,
                         decision->option_count, value, call->rq->err));
    memcpy(call->option, value, sizeof(call->option));
    if (own)
        memcpy(further->value, value + PLAN_OPTION_COUNT, own * sizeof(value[0]));
    for (size_t i = 0; i < own && !call->policy; i++)
        if (strcmp(further->rows[i].name, "planner") == 0)
            call->policy = &plan_policies[(size_t)further->value[i]];
    return OK;
}

enum { BOXES_MAX = 2000 }; /* some tenths of a second for some hundred machines */

/* Without a time limit a question ends by its work, so that the answer can be repeated.
 */
static void limit_boxes(struct plan_call *call)
{
    const struct param *rows = call->scheduler->params;

    for (size_t i = 0; rows && rows[i].name; i++)
        if (strcmp(rows[i].name, "max_boxes") == 0)
            call->scheduler_param[PARALLEL_COMMON_COUNT + i] = BOXES_MAX;
}

/* The scheduler that is named; else `auto` takes the exact one. */
static enum error_code find_scheduler(struct plan_call *call)
{
    const struct decision_request *decision = &call->body->decision;
    const char *name = "exact";
    bool given = strcmp(call->policy->name, "auto") != 0;

    for (size_t i = 0; i < decision->option_count; i++)
        given = given || strcmp(decision->options[i].name, "scheduler") == 0;
    if (given)
        name = plan_common_params[PLAN_SCHEDULER]
                   .choices[(size_t)call->option[PLAN_SCHEDULER]];
    call->scheduler = policy_find(parallel_policies, name);
    TRY(policy_bind(call->scheduler, NULL, 0, call->scheduler_param, call->rq->err));
    call->repeatable = isnan(decision->time_limit_s);
    if (call->repeatable && !(call->option[PLAN_MAX_STEPS] > 0))
        limit_boxes(call);
    return OK;
}

/* ---- sites ---- */

size_t plan_site_named(const struct plan_call *call, const char *id)
{
    for (size_t s = 0; s < call->in.site_count; s++)
        if (strcmp(call->given[s].site.id, id) == 0)
            return s;
    return SIZE_MAX;
}

/* The sites of a stored snapshot: what it does not have is not known. */
static enum error_code take_stored(struct plan_call *call)
{
    struct request *rq = call->rq;
    bool forecast = call->option[PLAN_USE_FORECAST] != 0;
    const struct snapshot *snapshot;
    struct plan_site_request *sites;
    struct stored_sites stored;

    TRY(decision_snapshot(rq, NULL, call->body->snapshot_id, true, &snapshot));
    TRY(stored_sites_make(rq, snapshot, PLAN_SITES_MAX, forecast, &stored));
    sites = NEW(rq->arena, struct plan_site_request, stored.site_count);
    for (size_t s = 0; s < stored.site_count; s++)
        sites[s] = (struct plan_site_request){
            .site = stored.sites[s],
            .intra_site_cost_s = NAN,
            .checkpoint_bandwidth_mbps = NAN,
        };
    call->given = sites;
    call->in.site_count = stored.site_count;
    call->routes = snapshot->network.routes;
    call->route_count = snapshot->network.route_count;
    return stored.no_load_history ? plan_call_warn(call, "%s", stored_sites_no_history)
                                  : OK;
}

/* Batch sites without past waits get the stored ones. */
static enum error_code find_waits(struct plan_call *call)
{
    struct arena *a = call->rq->arena;
    size_t n = call->in.site_count;
    const struct site **ask = NEW(a, const struct site *, n);
    struct stored_waits *waits = NEW(a, struct stored_waits, n);
    struct plan_site_request *sites = NEW(a, struct plan_site_request, n);
    bool unavailable;

    for (size_t s = 0; s < n; s++) {
        sites[s] = call->given[s];
        ask[s] = &call->given[s].site;
    }
    TRY(stored_waits_read(call->rq, ask, n, waits, &unavailable));
    for (size_t s = 0; s < n; s++)
        if (waits[s].count) {
            sites[s].site.queue_wait_history = waits[s].list;
            sites[s].site.wait_count = waits[s].count;
        }
    call->given = sites;
    return unavailable ? plan_call_warn(call, "%s", stored_waits_unavailable) : OK;
}

static enum error_code find_sites(struct plan_call *call)
{
    const struct plan_request *body = call->body;
    struct request *rq = call->rq;

    if (body->snapshot) {
        call->given = body->snapshot->sites;
        call->in.site_count = body->snapshot->site_count;
        call->routes = body->snapshot->routes;
        call->route_count = body->snapshot->route_count;
    } else {
        TRY(take_stored(call));
    }
    if (call->in.site_count == 0)
        return invalid(rq->err, body->snapshot ? "/snapshot/sites" : "/snapshot_id",
                       ITEM_TOO_SHORT, "there is no site");
    return find_waits(call);
}

static enum error_code allocate(struct plan_call *call)
{
    struct arena *a = call->rq->arena;
    size_t n = call->in.site_count;
    double pair_bytes = sizeof(*call->inter_cost_s) + sizeof(*call->basis);

    TRY(request_reserve(call->rq, pair_bytes * (double)n * (double)n));
    call->at = NEW(a, struct plan_call_site, n);
    call->sites = NEW(a, struct plan_site, n);
    call->sources = NEW(a, struct plan_source, n);
    call->inter_cost_s = NEW(a, double, n *n);
    call->basis = NEW(a, struct plan_cost_basis, n * n);
    call->scratch = arena_create_beside(a, arena_cap_bytes(a));
    call->in.sites = call->sites;
    call->in.inter_cost_s = call->inter_cost_s;
    return OK;
}

static enum error_code warn_of_site(struct plan_call *call,
                                    const struct plan_call_site *at)
{
    struct request *rq = call->rq;
    struct site_warnings w;

    site_warnings_of(&at->given->site, &at->usable, &w, rq->arena);
    for (size_t i = 0; i < w.count; i++)
        TRY(plan_call_warn(call, "%s", w.list[i]));
    return OK;
}

enum { LINK_STEPS = 4 }; /* what a link costs, about */

/* Whether there is no time for the links between the machines of a site. The first one
 * and the one where the application runs are looked at in any case. */
static bool is_late(struct plan_call *call, size_t s)
{
    const struct plan_current_request *current = call->job->current;
    const struct site *site = &call->given[s].site;
    size_t n = site->resource_count;
    bool late = budget_step(&call->rq->budget, LINK_STEPS * n * n);

    if (s == 0 ||
        (current && current->site_id && strcmp(current->site_id, site->id) == 0))
        return false;
    return late;
}

/* Names and machines of the sites. */
static enum error_code read_sites(struct plan_call *call)
{
    struct request *rq = call->rq;

    for (size_t s = 0; s < call->in.site_count; s++) {
        struct plan_call_site *at = &call->at[s];
        const char *pointer = pointer_keep("/snapshot/sites", s, NULL, rq->arena);
        enum error_code code;

        at->given = &call->given[s];
        call->sites[s].id = at->given->site.id;
        call->sites[s].unseen = is_late(call, s);
        if (call->sites[s].unseen)
            continue;
        code = site_machines_make(&at->given->site, pointer, &at->usable, rq->arena,
                                  rq->err);
        if (code != OK && code != ERR_INVALID)
            return code;
        if (code == OK)
            TRY(warn_of_site(call, at));
    }
    return OK;
}

/* Why the site takes no part; `missing`: a phase without a model, 0: none. */
static void leave_out(struct plan_call *call, size_t s, size_t missing)
{
    struct arena *a = call->rq->arena;

    if (call->sites[s].unseen)
        call->sites[s].why = "the time limit ended before it was looked at";
    else if (missing)
        call->sites[s].why = arena_printf(a, "phase %zu has no model", missing);
    else
        call->sites[s].why =
            arena_printf(a, "%zu of its machines can be used, the job needs %llu",
                         call->at[s].usable.machines.count,
                         (unsigned long long)call->job->min_processors);
}

/* Makes site `s` a source, or says why it is none. */
static void make_source(struct plan_call *call, size_t s, size_t missing)
{
    struct request *rq = call->rq;
    struct plan_call_site *at = &call->at[s];
    size_t n = call->in.phase_count - call->in.first_phase + 1;
    const char *scheduler = call->scheduler->name;
    bool exact = strcmp(scheduler, "exact") == 0 || strcmp(scheduler, "auto") == 0;

    if (call->sites[s].unseen || missing ||
        at->usable.machines.count < call->job->min_processors) {
        leave_out(call, s, missing);
        return;
    }
    plan_machines_create(
        &(struct plan_machines_in){
            .machines = &at->usable.machines,
            .queue_wait_s = at->usable.queue_wait_s,
            .phases = at->models,
            .phase_count = call->job->phases,
            .min_procs = call->job->min_processors,
            .scheduler = call->scheduler,
            .scheduler_param = call->scheduler_param,
            .fallback = exact ? policy_find(parallel_policies, "box_elimination") : NULL,
            .scheduler_share = 0.6,
            .repeatable = call->repeatable,
            .questions = n * (n + 1) / 2 * call->in.site_count,
            .asked = &call->asked,
            .site_id = at->given->site.id,
            .seed = call->in.seed,
            .budget = call->in.budget,
            .scratch = call->scratch,
        },
        &at->machines, &call->sources[s], rq->arena);
    call->sites[s].source = &call->sources[s];
}

static enum error_code make_sources(struct plan_call *call)
{
    size_t *missing = NEW(call->rq->arena, size_t, call->in.site_count);

    TRY(plan_models_find(call, missing));
    for (size_t s = 0; s < call->in.site_count; s++)
        make_source(call, s, missing[s]);
    return OK;
}

/* ---- the current schedule ---- */

/* Machine of a site by its id; SIZE_MAX: it cannot be used. */
static size_t machine_named(const struct plan_call_site *at, const char *id)
{
    for (size_t i = 0; i < at->usable.machines.count; i++)
        if (strcmp(at->given->site.resources[at->usable.resource[i]].id, id) == 0)
            return i;
    return SIZE_MAX;
}

static enum error_code check_current(struct plan_call *call)
{
    const struct plan_current_request *current = call->job->current;
    struct name_index index;

    call->in.current = (struct plan_place){SIZE_MAX, SIZE_MAX};
    if (!current)
        return OK;
    name_index_create(&index, current->resource_count, call->rq->arena);
    for (size_t i = 0; i < current->resource_count; i++)
        if (name_index_add(&index, current->resource_ids[i], i) != NAME_NOT_FOUND)
            invalid(call->rq->err, "/jobs/0/current/resource_ids", ITEM_DUPLICATE,
                    "'%.100s' is there twice", current->resource_ids[i]);
    call->in.current.site = plan_site_named(call, current->site_id);
    if (call->in.current.site == SIZE_MAX)
        invalid(call->rq->err, "/jobs/0/current/site_id", ITEM_UNKNOWN_ID,
                "there is no site '%.100s' in the snapshot", current->site_id);
    return OK;
}

static void make_current(struct plan_call *call)
{
    struct request *rq = call->rq;
    const struct plan_current_request *current = call->job->current;
    const struct plan_call_site *at;
    size_t *members;

    if (!current)
        return;
    members = NEW(rq->arena, size_t, current->resource_count);
    at = &call->at[call->in.current.site];
    call->current_gone = current->resource_count == 0;
    for (size_t i = 0; i < current->resource_count && !call->current_gone; i++) {
        members[i] = machine_named(at, current->resource_ids[i]);
        call->current_gone = members[i] == SIZE_MAX;
    }
    if (call->current_gone || !at->machines)
        return;
    plan_machines_add(at->machines, members, current->resource_count,
                      &call->in.current.schedule);
}

/* ---- all of it ---- */

/* Everything that can be wrong with the body but the names of stored models. */
static enum error_code check_body(struct plan_call *call,
                                  const struct plan_call_options *further)
{
    enum error_code code = bind_options(call, further);

    if (code != OK && code != ERR_INVALID)
        return code;
    if (code == OK)
        TRY(find_scheduler(call));
    code = find_sites(call);
    if (code != OK && (code != ERR_INVALID || call->in.site_count == 0))
        return code;
    TRY(allocate(call));
    TRY(read_sites(call));
    plan_models_read(call);
    TRY(plan_costs_make(call));
    TRY(check_current(call));
    return call->rq->err->code;
}

enum error_code plan_call_begin(struct plan_call *call, struct request *rq,
                                const struct plan_request *body,
                                const struct policy *policy,
                                const struct plan_call_options *further,
                                size_t first_phase)
{
    *call = (struct plan_call){.rq = rq, .body = body, .policy = policy};
    if (body->job_count != 1)
        return invalid(rq->err, "/jobs", ITEM_OUT_OF_BOUNDS,
                       "give one job; plan several one after the other");
    call->job = &body->jobs[0];
    if (first_phase > call->job->phases)
        return invalid(rq->err, "/jobs/0/first_phase", ITEM_OUT_OF_BOUNDS,
                       "the job has %s", counted(call->job->phases, "phase").text);
    call->in.first_phase = first_phase;
    call->in.phase_count = call->job->phases;
    call->in.seed = body->decision.seed;
    call->in.budget = &rq->budget;
    TRY(check_body(call, further));
    TRY(make_sources(call));
    TRY(plan_costs_learn(call));
    make_current(call);
    return plan_initial_read(call);
}

void plan_call_end(struct plan_call *call)
{
    arena_close(call->scratch);
    call->scratch = NULL;
}

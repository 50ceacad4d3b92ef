/* simulation_expand.c - a scenario with everything drawn.
 *
 * Failures and outside load are found by playing the scenario without any job and any
 * scheduler and taking its log: the streams of the resources are their own, so that they
 * fail the same whatever runs on them. So failures that come together become outages of
 * each, and load that changes becomes a load_trace.
 *
 * Source: spec simulator.md 2 (DGen), 11; T 2.3.
 */
#include "handlers/simulation/simulation_expand.h"

#include "handlers/simulation_grid/simulation_policies.h"
#include "handlers/simulation_grid/simulation_scenario.h"

#include <stdlib.h>
#include <string.h>

enum {
    EVENTS_MAX = 1000000, /* failures, restores and changes of load */
    POINTS_MAX = 100000   /* outages or loads of a resource: what a request may have */
};

struct expansion {
    const struct simulation_request *body;
    const struct simulation_setting *setting;
    struct simulation_request *out;
    const struct sim_resource_name *names;
    size_t name_count;
    struct sim_run_out run; /* without jobs */
    struct arena *a;
    struct error *err;
};

/* ---- speeds, outages, load ---- */

static enum error_code play(struct expansion *e)
{
    struct workload *none = NEW(e->a, struct workload, 1);
    struct sim_scenario scenario = e->setting->scenario;
    struct sim_policy nobody = {.label = "expansion"};
    struct sim_output wanted = {.per_resource = true, .log_rows_max = EVENTS_MAX};

    *none = workload_blank(WORKLOAD_BATCH);
    TRY(workload_prepare(none, "/workload", e->a, e->err));
    scenario.workload = none;
    scenario.is_interval_s = scenario.scheduler_interval_s = scenario.stable_after_s = 0;
    scenario.stop_jobs = 0;
    scenario.stop_when_done = false;
    scenario.max_events = EVENTS_MAX;
    TRY(sim_run(&scenario, &nobody, e->body->decision.seed, NULL, &wanted, NULL, &e->run,
                e->a, e->err));
    if (e->run.status == DECISION_CUT)
        return invalid(e->err, "/stop/time_s", ITEM_TOO_LONG,
                       "there are more than %d failures, restores and changes of load "
                       "until %g s",
                       EVENTS_MAX, scenario.stop_time_s);
    return OK;
}

static int compare_id(const void *id, const void *name)
{
    return strcmp(id, ((const struct sim_resource_name *)name)->id);
}

static size_t place_of(const struct expansion *e, const char *id)
{
    const struct sim_resource_name *found =
        bsearch(id, e->names, e->name_count, sizeof(*e->names), compare_id);

    return (size_t)(found - e->names);
}

/* One line of the log, into the outages of its resource. */
static enum error_code take_event(const struct expansion *e,
                                  const struct sim_log_row *row,
                                  struct simulation_resources *r,
                                  struct failure_interval *list)
{
    struct failure_interval *last = r->outage_count ? &list[r->outage_count - 1] : NULL;

    if (row->kind == SIM_LOG_RESOURCE_FAIL) {
        list[r->outage_count++] = (struct failure_interval){row->at_s, (double)NAN};
        return OK;
    }
    if (!last) { /* it was down when it registered */
        last = &list[r->outage_count++];
        last->down_at_s = r->register_s;
    }
    last->up_at_s = row->at_s;
    if (last->up_at_s > last->down_at_s)
        return OK;
    return invalid(e->err, e->setting->scenario.groups[0].pointer, ITEM_CONFLICT,
                   "the repair of '%.100s' at %g s takes less than 0.001 s, which cannot "
                   "be expanded",
                   r->id, row->at_s);
}

static bool is_outage_row(const struct sim_log_row *row)
{
    return row->kind == SIM_LOG_RESOURCE_FAIL || row->kind == SIM_LOG_RESOURCE_RESTORE;
}

/* How many lines of some kinds there are of each resource. */
static enum error_code count_lines(const struct expansion *e,
                                   bool is_wanted(const struct sim_log_row *row),
                                   const char *what, size_t **counts)
{
    size_t *count = NEW(e->a, size_t, e->name_count);

    for (size_t i = 0; i < e->run.log_count; i++)
        if (is_wanted(&e->run.log[i]))
            count[place_of(e, e->run.log[i].resource_id)]++;
    for (size_t i = 0; i < e->name_count; i++)
        if (count[i] > POINTS_MAX)
            return invalid(e->err, "/stop/time_s", ITEM_TOO_LONG,
                           "of '%.100s' there are more than %d %s until then",
                           e->names[i].id, POINTS_MAX, what);
    *counts = count;
    return OK;
}

/* The outages of all, from the log; `all` is by place, as e->names. */
static enum error_code take_outages(const struct expansion *e,
                                    struct simulation_resources *all)
{
    struct failure_interval **list = NEW(e->a, struct failure_interval *, e->name_count);
    size_t *count;

    TRY(count_lines(e, is_outage_row, "failures and restores", &count));
    for (size_t i = 0; i < e->name_count; i++) {
        list[i] = NEW(e->a, struct failure_interval, count[i]);
        all[i].outages = list[i];
    }
    for (size_t i = 0; i < e->run.log_count; i++) {
        const struct sim_log_row *row = &e->run.log[i];
        size_t place;

        if (!is_outage_row(row))
            continue;
        place = place_of(e, row->resource_id);
        TRY(take_event(e, row, &all[place], list[place]));
    }
    return OK;
}

static bool is_load_row(const struct sim_log_row *row)
{
    return row->kind == SIM_LOG_RESOURCE_LOAD;
}

/* Likewise their loads. */
static enum error_code take_loads(const struct expansion *e,
                                  struct simulation_resources *all)
{
    struct sim_load_point **list = NEW(e->a, struct sim_load_point *, e->name_count);
    size_t *count;

    TRY(count_lines(e, is_load_row, "changes of load", &count));
    for (size_t i = 0; i < e->name_count; i++) {
        list[i] = NEW(e->a, struct sim_load_point, count[i]);
        all[i].load_trace = list[i];
    }
    for (size_t i = 0; i < e->run.log_count; i++) {
        const struct sim_log_row *row = &e->run.log[i];
        size_t place;

        if (!is_load_row(row))
            continue;
        place = place_of(e, row->resource_id);
        list[place][all[place].load_trace_count++] =
            (struct sim_load_point){row->at_s, row->value};
    }
    return OK;
}

/* The name of a node that a group is at; NULL: that of its site. */
static const char *node_name(const struct expansion *e, const struct sim_group *g)
{
    const struct sim_scenario *s = &e->setting->scenario;

    if (g->node == 0)
        return NULL;
    if (g->node <= s->site_count)
        return s->sites[g->node - 1];
    return g->node == s->site_count + 1 ? "services"
                                        : s->network.nodes[g->node - s->site_count - 2];
}

static void fill_resource(const struct expansion *e, size_t place,
                          struct simulation_resources *r)
{
    const struct sim_resource_name *name = &e->names[place];
    const struct sim_group *g = &e->setting->scenario.groups[name->group];
    struct distribution *mips = NEW(e->a, struct distribution, 1);

    *mips = distribution_constant(e->run.resources[place].mips_total);
    *r = (struct simulation_resources){
        .id = name->id,
        .number = 1,
        .mips_total = mips,
        .n_max = g->n_max,
        .sharing = (int)g->sharing,
        .register_s = g->register_s,
        .node_id = node_name(e, g),
    };
}

/* All resources, in the order of their names, one site after the other. */
static enum error_code expand_grid(struct expansion *e)
{
    const struct sim_scenario *s = &e->setting->scenario;
    struct simulation_site *sites = NEW(e->a, struct simulation_site, s->site_count);
    struct simulation_resources *all =
        NEW(e->a, struct simulation_resources, e->name_count);
    struct simulation_resources *sorted =
        NEW(e->a, struct simulation_resources, e->name_count);
    const struct simulation_resources *rest = sorted;

    for (size_t i = 0; i < e->name_count; i++)
        fill_resource(e, i, &all[i]);
    TRY(take_outages(e, all));
    TRY(take_loads(e, all));
    for (size_t k = 0; k < e->name_count; k++)
        sites[s->groups[e->names[k].group].site].resource_count++;
    for (size_t i = 0; i < s->site_count; i++) {
        sites[i].id = s->sites[i];
        sites[i].resources = rest;
        rest += sites[i].resource_count;
        sites[i].resource_count = 0;
    }
    for (size_t k = 0; k < e->name_count; k++) {
        struct simulation_site *site = &sites[s->groups[e->names[k].group].site];

        sorted[(size_t)(site->resources - sorted) + site->resource_count++] = all[k];
    }
    e->out->sites = sites;
    e->out->site_count = s->site_count;
    return OK;
}

/* ---- jobs ---- */

static void name_job(const struct expansion *e, const struct sim_job *job,
                     struct simulation_job *out)
{
    bool has_id = job->given < e->setting->job_id_count;

    out->id = has_id ? e->setting->job_ids[job->given]
                     : arena_printf(e->a, "job%llu", (unsigned long long)job->number + 1);
    out->user = arena_printf(e->a, "user%zu", job->user + 1);
    if (job->resource != SIM_NOT_PINNED)
        out->resource_id = e->names[job->resource].id;
}

static void expand_job(const struct expansion *e, const struct sim_job *job,
                       struct simulation_job *out)
{
    *out = (struct simulation_job){
        .arrival_s = job->arrival_s,
        .length_mi = job->length_mi,
        .input_bytes = job->input_bytes,
        .output_bytes = job->output_bytes,
        .checkpoint_bytes = job->checkpoint_bytes,
        .checkpoint_overhead_s = job->checkpoint_overhead_s,
        .cpus = job->cpus,
        .mips_required = job->mips_required,
        .session_s = job->session_s,
        .requested_s = job->requested_s,
    };
    name_job(e, job, out);
}

static enum error_code expand_jobs(struct expansion *e)
{
    const struct simulation_workload *given = e->body->workload;
    struct simulation_workload *w = NEW(e->a, struct simulation_workload, 1);
    struct simulation_job *jobs = NEW(e->a, struct simulation_job, SIMULATION_JOBS_MAX);
    struct workload_source *source;
    struct sim_job job;
    size_t count = 0;

    TRY(workload_open(&e->setting->workload, e->body->decision.seed,
                      e->setting->scenario.stop_time_s, &source, e->a, e->err));
    while (workload_next(source, &job)) {
        if (count == SIMULATION_JOBS_MAX)
            return invalid(e->err, "/workload/job_count", ITEM_TOO_LONG,
                           "there are more than %d jobs", SIMULATION_JOBS_MAX);
        expand_job(e, &job, &jobs[count++]);
    }
    w->generator = WORKLOAD_BATCH;
    w->workload = workload_blank(WORKLOAD_BATCH);
    w->workload.user_count = workload_user_count(source);
    if (given) { /* VM policies look at their means */
        w->workload.mips_required = given->workload.mips_required;
        w->workload.session_s = given->workload.session_s;
    }
    w->jobs = jobs;
    w->job_count = count;
    e->out->workload = w;
    return OK;
}

/* ---- the rest ---- */

static void expand_times(struct expansion *e)
{
    const struct sim_scenario *s = &e->setting->scenario;
    struct simulation_information_service *is =
        NEW(e->a, struct simulation_information_service, 1);
    struct simulation_scheduler *scheduler = NEW(e->a, struct simulation_scheduler, 1);
    struct simulation_stop *stop = NEW(e->a, struct simulation_stop, 1);

    *is = s->is_interval_s > 0
              ? (struct simulation_information_service){SIMULATION_IS_PERIODIC,
                                                        s->is_interval_s}
              : (struct simulation_information_service){SIMULATION_IS_IMMEDIATE,
                                                        (double)NAN};
    scheduler->interval_s = s->scheduler_interval_s;
    *stop = (struct simulation_stop){s->stop_time_s, s->stop_jobs, s->stop_when_done};
    e->out->information_service = is;
    e->out->scheduler = scheduler;
    e->out->stop = stop;
    e->out->stable_after_s = s->stable_after_s;
    e->out->warm_up_s = s->warm_up_s;
    e->out->storage_bytes = s->storage_count ? (double)NAN : s->storage_bytes;
    e->out->initial_state = SIM_INITIAL_UP;
    e->out->detection = (int)s->detection;
}

static void expand_network(struct expansion *e)
{
    const struct sim_network *from = &e->setting->scenario.network;
    struct simulation_network *to = NEW(e->a, struct simulation_network, 1);
    struct sim_overhead *overhead = NEW(e->a, struct sim_overhead, 1);

    *to = (struct simulation_network){
        .mode = (int)from->mode,
        .bandwidth_mbps = from->bandwidth_mbps,
        .latency_s = from->latency_s,
        .lan_mbps = from->lan_mbps,
        .lan_latency_s = from->lan_latency_s,
        .wan_share_mbps = fmin(from->wan_share_mbps, 1e15),
    };
    if (e->body->network) /* drawn for each pair of sites, the same again */
        to->wan_latency_s = e->body->network->wan_latency_s;
    if (from->link_count && e->body->network) {
        to->lan_mbps = to->lan_latency_s = to->wan_share_mbps = (double)NAN;
        to->links = e->body->network->links;
        to->link_count = e->body->network->link_count;
        to->routes = e->body->network->routes;
        to->route_count = e->body->network->route_count;
    }
    *overhead = e->setting->scenario.overhead;
    e->out->network = to;
    e->out->overhead_s = overhead;
}

/* Takes out all that the expansion has put in other words. */
static void forget_sources(struct simulation_request *out)
{
    out->runs = 1;
    out->preset = NULL;
    out->failure_groups = NULL;
    out->failure_group_count = 0;
    out->user_interfaces = NULL;
    out->user_interface_count = 0;
    out->workload_id = out->failure_trace_id = out->snapshot_id = NULL;
    out->failure_trace_from_s = out->now_s = (double)NAN;
    out->snapshot = NULL;
    out->resources_from_snapshot = false;
}

static enum error_code post_expansion(struct request *rq, const void *in, void *out)
{
    struct simulation_setting *setting = NEW(rq->arena, struct simulation_setting, 1);
    struct expansion e = {
        .body = in, .setting = setting, .out = out, .a = rq->arena, .err = rq->err};
    const struct simulation_label *labels = NULL;
    enum error_code code;

    simulation_policies(in, &labels, rq->arena, rq->err);
    code = simulation_scenario(rq, in, setting);
    if (code != OK && code != ERR_INVALID)
        return code;
    TRY(rq->err->code);
    sim_resource_names(&setting->scenario, &e.names, &e.name_count, e.a);
    TRY(play(&e));
    *e.out = *e.body;
    forget_sources(e.out);
    TRY(expand_grid(&e));
    TRY(expand_jobs(&e));
    expand_times(&e);
    expand_network(&e);
    return OK;
}

const struct route simulation_expansion[] = {
    {"POST", "/v1/simulations", "expand", NULL, post_expansion, &simulation_request_json,
     &simulation_request_json, NULL, WORK_COMPUTE, SCOPE_DECIDE, ROUTE_ASYNC,
     "Expand a scenario", "The same scenario with everything drawn.", NULL},
    {0},
};

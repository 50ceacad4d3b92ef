/* simulation_workflow_request.c - the request of a simulation of workflows. */
#include "handlers/common/decision.h"
#include "handlers/simulation_grid/simulation_workflow.h"
#include "handlers/simulation_grid/simulation_workflow_parts.h"
#include "models/base/names.h"
#include "models/base/pointer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NOT_GIVEN = -1, SLOTS_MAX = 10000 };
#define SECONDS_MAX 1e9
#define BYTES_MAX   1e18
#define MIPS_MAX    1e12
#define MBPS_MAX    1e9

/* ---- tables ---- */

static const char *const kinds[] = {"workflow", NULL};
static const char *const answers[] = {"no", "yes", NULL};

enum storage { STORAGE_CONSTANT, STORAGE_NETWORK };
static const char *const storages[] = {"constant", "network", NULL};

/* Of the seed's task lengths: name, spread_ratio (workflows.md 10). */
#define VARIATIONS(X) X(high, 0.95) X(medium, 0.5) X(low, 0.1)
static const char *const variations[] = {
#define X(name, ratio) #name,
    VARIATIONS(X)
#undef X
        NULL,
};
static const double spread_ratios[] = {
#define X(name, ratio) ratio,
    VARIATIONS(X)
#undef X
};

#define PRESET(m, lo, hi, flag, text) \
    JSON_NUMBER(T, m, lo, hi, NAN, JSON_NULLABLE | (flag), text)
#define COUNT(m, lo, hi, text) JSON_INTEGER(T, m, lo, hi, 0, JSON_BOUND_ONLY, text)

#define T                      struct wf_sim_resource_request
static const struct json_field resource_rows[] = {
    JSON_ID(T, id, JSON_REQUIRED, "Its name"),
    JSON_ID(T, site_id, JSON_NULLABLE, "Its site; default: one of its own"),
    JSON_NUMBER(T, mips_total, 0, MIPS_MAX, 0, JSON_REQUIRED | JSON_ABOVE_MIN,
                "Speed; 1: the reference machine"),
    JSON_NUMBER(T, mips_external, 0, MIPS_MAX, 0, 0,
                "What load from outside takes of it at first; default 0"),
    JSON_INTEGER(T, n_max, 1, SLOTS_MAX, 2, 0, "Tasks that share it at most; default 2"),
    {0},
};
#undef T
static const struct json_object given_resource_json = {
    "WorkflowSimulationResource", "A resource", sizeof(struct wf_sim_resource_request),
    resource_rows};

#define T struct wf_sim_grid_request
static const struct json_field grid_rows[] = {
    COUNT(sites, 1, WF_SIM_SITES_MAX, "Sites; default 4"),
    COUNT(resources_per_site, 1, WF_SIM_RESOURCES_MAX, "Resources of each; default 32"),
    PRESET(mips_min, 0, MIPS_MAX, JSON_ABOVE_MIN,
           "Slowest resource; default 0.1, of ch6_prediction 0.5"),
    PRESET(mips_max, 0, MIPS_MAX, JSON_ABOVE_MIN, "Fastest; default 4"),
    COUNT(n_max, 1, SLOTS_MAX, "Tasks that share a resource at most; default 2"),
    PRESET(loaded_ratio, 0, 1, 0,
           "Resources with load from outside; default 0.5, of ch6_prediction 0"),
    PRESET(external_ratio, 0, 0.99, 0,
           "That load at first is uniform up to this part of the speed; default 0.5"),
    PRESET(lan_mbps, 0, MBPS_MAX, JSON_ABOVE_MIN,
           "Link of a resource to its site; default 1000"),
    PRESET(lan_latency_s, 0, SECONDS_MAX, 0, "Its latency; default 0.001"),
    PRESET(wan_mbps, 0, MBPS_MAX, JSON_ABOVE_MIN,
           "What a transfer between sites gets; default 5"),
    PRESET(wan_latency_min_s, 0, SECONDS_MAX, 0,
           "Latency between sites at least; default 0.003"),
    PRESET(wan_latency_max_s, 0, SECONDS_MAX, 0, "At most; default 0.01"),
    JSON_LIST(T, resources, resource_count, struct wf_sim_resource_request,
              &given_resource_json, WF_SIM_RESOURCES_MAX, JSON_UNIQUE_IDS,
              "The resources one by one, instead"),
    {0},
};
#undef T
static const struct json_object grid_json = {
    "WorkflowSimulationGrid", "What resources are drawn from, or the resources",
    sizeof(struct wf_sim_grid_request), grid_rows};

#define T struct wf_sim_workload_request
static const struct json_field workload_rows[] = {
    JSON_CHOICE(T, shape, workflow_sim_shape_names, NOT_GIVEN, 0,
                "fork_join: root, tasks beside each other, final task; layered: levels "
                "of tasks between them; default fork_join, of ch6_prediction layered"),
    COUNT(parallelism, 1, 10000, "fork_join: tasks beside each other; default 10"),
    PRESET(tasks_mean, 3, 10000, 0,
           "layered: tasks of a workflow, mean, with root and final task; default 10"),
    COUNT(levels, 3, 1000, "layered: levels, with those of these two; default 3"),
    PRESET(nominal_ref_s, 0, SECONDS_MAX, JSON_ABOVE_MIN,
           "Mean length of tasks at speed 1, before their model makes them longer; "
           "default 7200"),
    JSON_CHOICE(T, variation, variations, NOT_GIVEN, 0,
                "Of task lengths: high, medium, low: nominal_ref_s times 1 plus or minus "
                "up to 0.95, 0.5, 0.1; default high"),
    PRESET(spread_ratio, 0, 0.99, 0, "That number, instead"),
    JSON_CHOICE(T, sweep, workflow_sim_sweep_names, NOT_GIVEN, 0,
                "model: every task has a length of its own; parameter: those of a "
                "workflow are alike; default model"),
    JSON_CHOICE(T, estimates, workflow_sim_mix_names, NOT_GIVEN, 0,
                "How the estimates of running tasks evolve: over, under, fluctuating, "
                "mixed (each task one of these), exact; default fluctuating, of "
                "ch6_prediction mixed, with workflows exact"),
    PRESET(noise_ratio, 0, 10, 0,
           "Noise of the estimates, of their amplitude; the source's: 0, 0.05, 0.5; "
           "default 0"),
    JSON_CHOICE(T, initial_estimate, answers, NOT_GIVEN, 0,
                "Whether tasks come with an estimate, their model at a random point; "
                "default yes, of ch6_prediction no"),
    PRESET(data_bytes, 0, BYTES_MAX, 0, "Input, and output, of a task; default 1e9"),
    PRESET(checkpoint_bytes, 0, BYTES_MAX, 0, "Of a checkpoint; default 1e9"),
    JSON_CHOICE(T, arrivals, workflow_sim_arrival_names, NOT_GIVEN, 0,
                "lublin: a daily cycle with bursts; daytime: 80 % from 8 to 20 h; "
                "together: all at the start; default lublin"),
    PRESET(load_ratio, 0, 10, JSON_ABOVE_MIN,
           "Work, as a share of what is free until the horizon; default 0.5"),
    COUNT(workflow_count, 1, WF_SIM_WORKFLOWS_MAX, "So many workflows, instead"),
    {0},
};
#undef T
static const struct json_object workload_json = {
    "WorkflowSimulationWorkload", "What workflows are drawn from",
    sizeof(struct wf_sim_workload_request), workload_rows};

#define T struct wf_sim_settings_request
static const struct json_field settings_rows[] = {
    PRESET(round_interval_s, 1, SECONDS_MAX, 0, "Between rounds; default 600"),
    PRESET(information_interval_s, 0, SECONDS_MAX, 0,
           "Between looks of the information service; 0: the scheduler sees all; default "
           "300"),
    PRESET(load_interval_s, 0, SECONDS_MAX, 0,
           "Between changes of the load; 0: it stays; default 1200"),
    PRESET(load_change_min_ratio, 0, 100, 0,
           "A change is plus or minus a part of the load at first; least part; default "
           "0.01"),
    PRESET(load_change_max_ratio, 0, 100, 0, "Greatest part; default 1"),
    PRESET(checkpoint_s, 0, SECONDS_MAX, 0, "To write a checkpoint; default 2"),
    PRESET(restart_s, 0, SECONDS_MAX, 0, "To go on from one; default 0"),
    JSON_CHOICE(T, storage, storages, NOT_GIVEN, 0,
                "constant: input and output take the same time everywhere; network: they "
                "go to and from storage_site_id; default constant"),
    PRESET(stage_in_s, 0, SECONDS_MAX, 0, "constant: input; default 16"),
    PRESET(stage_out_s, 0, SECONDS_MAX, 0, "constant: output; default 16"),
    JSON_ID(T, storage_site_id, JSON_NULLABLE,
            "network: site of grid.resources; drawn sites are s0, s1 ...; default: the "
            "first"),
    JSON_BOOLEAN(T, share_lan, 0, 0,
                 "Transfers share the links of resources by 1 / round trip; default "
                 "false"),
    PRESET(report_ratio, 0, 1, 0,
           "A task reports after each such part of its nominal length; 0: at each look "
           "of the information service; default 0, of ch6_prediction 0.005"),
    COUNT(fit_points, 8, 5000,
          "Reports of a task that the predictor fit keeps; default "
          "500"),
    PRESET(horizon_s, 60, 1e8, 0, "It ends then; default 86400"),
    {0},
};
#undef T
static const struct json_object settings_json = {
    "WorkflowSimulationSettings", "What is left out is as in the preset",
    sizeof(struct wf_sim_settings_request), settings_rows};

#define T struct wf_sim_compared
static const struct json_field compared_rows[] = {
    JSON_ID(T, label, JSON_NULLABLE, "Name in the answer, unique; default: algorithm"),
    JSON_ID(T, algorithm, JSON_REQUIRED, "A dynamic policy of the family workflow"),
    JSON_VALUES(T, options, option_count, 0,
                "Options of the algorithm, as GET /v1/algorithms lists them"),
    JSON_BOOLEAN(T, use_estimates, 1, 0,
                 "false: it is told no run times and places at random; default true"),
    {0},
};
#undef T
static const struct json_object compared_json = {
    "WorkflowSimulationPolicy", "A policy to compare", sizeof(struct wf_sim_compared),
    compared_rows};

#define T struct wf_sim_request
static const struct json_field request_rows[] = {
    JSON_CHOICE(T, kind, kinds, 0, JSON_REQUIRED, "workflow"),
    DECISION_REQUEST_ROWS(T),
    JSON_ID(T, name, JSON_NULLABLE, "Name, for lists of simulations"),
    JSON_CHOICE(T, preset, workflow_sim_preset_names, 0, 0,
                "The experiment that gives what is left out; default ch5_workflow"),
    JSON_OBJECT(T, grid, struct wf_sim_grid_request, &grid_json, 0, "The resources"),
    JSON_OBJECT(T, workload, struct wf_sim_workload_request, &workload_json, 0,
                "What workflows are drawn from"),
    JSON_LIST(
        T, workflows, workflow_count, struct workflow_request, &workflow_json,
        WF_SIM_WORKFLOWS_MAX, JSON_UNIQUE_IDS,
        "The workflows one by one, instead; estimate_ref_s is the length of a task, "
        "submitted_at counts from the earliest"),
    JSON_OBJECT(T, settings, struct wf_sim_settings_request, &settings_json, 0,
                "How grid and scheduler behave"),
    JSON_LIST(T, compare, compare_count, struct wf_sim_compared, &compared_json,
              WF_SIM_POLICIES_MAX, 0,
              "Policies to compare; default: algorithm, else balanced_static, and "
              "balanced with balance longest_only and all"),
    JSON_INTEGER(T, runs, 1, WF_SIM_RUNS_MAX, 5, 0,
                 "Runs, each with other random numbers; default 5"),
    JSON_BOOLEAN(T, per_workflow, 0, 0, "What became of each workflow of the first run"),
    {0},
};
#undef T
const struct json_object workflow_simulation_request_json = {
    "WorkflowSimulationRequest",
    "Workflows on a grid under load, and policies that schedule them in rounds",
    sizeof(struct wf_sim_request), request_rows};

/* ---- taking over what is given ---- */

__attribute__((format(printf, 4, 5))) static void mistake(struct error *err,
                                                          enum item_code code,
                                                          const char *detail,
                                                          const char *format, ...)
{
    char pointer[640];
    va_list args;

    va_start(args, format);
    vsnprintf(pointer, sizeof(pointer), format, args);
    va_end(args);
    invalid(err, pointer, code, "%s", detail);
}

static void take(double given, double *value)
{
    if (!isnan(given))
        *value = given;
}

static void take_count(uint64_t given, size_t *value)
{
    if (given)
        *value = (size_t)given;
}

static void check_range(double low, double high, const char *pointer, struct error *err)
{
    if (low > high)
        invalid(err, pointer, ITEM_OUT_OF_BOUNDS, "below the other end, %g", low);
}

static void read_grid(const struct wf_sim_grid_request *in,
                      struct workflow_sim_grid_setting *out, struct error *err)
{
    take_count(in->sites, &out->site_count);
    take_count(in->resources_per_site, &out->resources_per_site);
    take(in->mips_min, &out->mips_min);
    take(in->mips_max, &out->mips_max);
    take_count(in->n_max, &out->n_max);
    take(in->loaded_ratio, &out->loaded_ratio);
    take(in->external_ratio, &out->external_ratio);
    take(in->lan_mbps, &out->lan_mbps);
    take(in->lan_latency_s, &out->lan_latency_s);
    take(in->wan_mbps, &out->wan_mbps);
    take(in->wan_latency_min_s, &out->wan_latency_min_s);
    take(in->wan_latency_max_s, &out->wan_latency_max_s);
    check_range(out->mips_min, out->mips_max, "/grid/mips_max", err);
    check_range(out->wan_latency_min_s, out->wan_latency_max_s, "/grid/wan_latency_max_s",
                err);
    if (out->site_count * out->resources_per_site > WF_SIM_RESOURCES_MAX)
        invalid(err, "/grid/resources_per_site", ITEM_OUT_OF_BOUNDS,
                "%zu resources in all: at most %d",
                out->site_count * out->resources_per_site, WF_SIM_RESOURCES_MAX);
}

static void read_workload(const struct wf_sim_request *body,
                          struct workflow_sim_workload *out, struct error *err)
{
    const struct wf_sim_workload_request *in = &body->workload;

    if (in->shape != NOT_GIVEN)
        out->shape = (enum workflow_sim_shape)in->shape;
    take_count(in->parallelism, &out->parallelism);
    take(in->tasks_mean, &out->tasks_mean);
    take_count(in->levels, &out->levels);
    take(in->nominal_ref_s, &out->nominal_ref_s);
    if (in->variation != NOT_GIVEN)
        out->spread_ratio = spread_ratios[in->variation];
    take(in->spread_ratio, &out->spread_ratio);
    if (in->variation != NOT_GIVEN && !isnan(in->spread_ratio))
        invalid(err, "/workload/spread_ratio", ITEM_CONFLICT, "give variation or this");
    if (in->sweep != NOT_GIVEN)
        out->sweep = (enum workflow_sim_sweep)in->sweep;
    if (body->workflow_count)
        out->mix = WORKFLOW_SIM_exact;
    if (in->estimates != NOT_GIVEN)
        out->mix = (enum workflow_sim_mix)in->estimates;
    take(in->noise_ratio, &out->evolution.noise_ratio);
    if (in->initial_estimate != NOT_GIVEN)
        out->initial_estimate = in->initial_estimate == 1;
    take(in->data_bytes, &out->bytes);
    take(in->checkpoint_bytes, &out->checkpoint_bytes);
    if (in->arrivals != NOT_GIVEN)
        out->arrivals = (enum workflow_sim_arrival)in->arrivals;
    take(in->load_ratio, &out->load_ratio);
    take_count(in->workflow_count, &out->workflow_count);
    if (in->workflow_count && !isnan(in->load_ratio))
        invalid(err, "/workload/load_ratio", ITEM_CONFLICT,
                "give workflow_count or this");
}

static void read_settings(const struct wf_sim_settings_request *in,
                          struct workflow_sim_settings *out, struct error *err)
{
    take(in->round_interval_s, &out->round_interval_s);
    take(in->information_interval_s, &out->information_interval_s);
    take(in->load_interval_s, &out->load_interval_s);
    take(in->load_change_min_ratio, &out->load_change_min);
    take(in->load_change_max_ratio, &out->load_change_max);
    check_range(out->load_change_min, out->load_change_max,
                "/settings/load_change_max_ratio", err);
    take(in->checkpoint_s, &out->checkpoint_s);
    take(in->restart_s, &out->restart_s);
    take(in->stage_in_s, &out->stage_in_s);
    take(in->stage_out_s, &out->stage_out_s);
    out->share_lan = in->share_lan;
    take(in->report_ratio, &out->report_ratio);
    take_count(in->fit_points, &out->fit_points);
    take(in->horizon_s, &out->horizon_s);
    if (out->information_interval_s > 0 && out->information_interval_s < 1)
        invalid(err, "/settings/information_interval_s", ITEM_OUT_OF_BOUNDS,
                "0, or at least 1 s");
    if (out->load_interval_s > 0 && out->load_interval_s < 1)
        invalid(err, "/settings/load_interval_s", ITEM_OUT_OF_BOUNDS,
                "0, or at least 1 s");
    if (in->report_ratio > 0 && in->report_ratio < 1e-4)
        invalid(err, "/settings/report_ratio", ITEM_OUT_OF_BOUNDS,
                "0, or at least 0.0001");
}

/* ---- the storage ---- */

static size_t find_drawn_site(const char *id, size_t count)
{
    char name[32];

    for (size_t i = 0; i < count; i++) {
        snprintf(name, sizeof(name), "s%zu", i);
        if (strcmp(name, id) == 0)
            return i;
    }
    return NAME_NOT_FOUND;
}

static void read_storage(const struct wf_sim_request *body,
                         const struct name_index *sites, size_t site_count,
                         struct workflow_sim_settings *out, struct error *err)
{
    const struct wf_sim_settings_request *in = &body->settings;
    bool network = in->storage == STORAGE_NETWORK;
    size_t site = 0;

    if (!network && in->storage_site_id)
        invalid(err, "/settings/storage_site_id", ITEM_CONFLICT,
                "it is for storage network");
    if (network && (!isnan(in->stage_in_s) || !isnan(in->stage_out_s)))
        invalid(err,
                isnan(in->stage_in_s) ? "/settings/stage_out_s" : "/settings/stage_in_s",
                ITEM_CONFLICT, "it is for storage constant");
    if (in->storage_site_id)
        site = body->grid.resource_count
                   ? name_index_find(sites, in->storage_site_id)
                   : find_drawn_site(in->storage_site_id, site_count);
    if (site == NAME_NOT_FOUND)
        invalid(err, "/settings/storage_site_id", ITEM_UNKNOWN_ID,
                "there is no such site");
    if (network)
        out->storage_site = site;
}

/* ---- given resources ---- */

/* Parts of the grid that the resources replace. */
static void check_given_grid(const struct wf_sim_grid_request *in, struct error *err)
{
    const struct {
        const char *pointer;
        bool given;
    } parts[] = {
        {"/grid/sites", in->sites > 0},
        {"/grid/resources_per_site", in->resources_per_site > 0},
        {"/grid/mips_min", !isnan(in->mips_min)},
        {"/grid/mips_max", !isnan(in->mips_max)},
        {"/grid/n_max", in->n_max > 0},
        {"/grid/loaded_ratio", !isnan(in->loaded_ratio)},
        {"/grid/external_ratio", !isnan(in->external_ratio)},
    };

    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        if (parts[i].given)
            invalid(err, parts[i].pointer, ITEM_CONFLICT, "give resources or this");
}

static enum error_code given_grid(const struct wf_sim_grid_request *in,
                                  const struct workflow_sim_grid_setting *setting,
                                  struct name_index *sites, struct workflow_sim_grid *out,
                                  struct arena *a, struct error *err)
{
    struct workflow_sim_resource *list =
        NEW(a, struct workflow_sim_resource, in->resource_count);
    double *latency_s;
    size_t n = 0;

    for (size_t i = 0; i < in->resource_count; i++) {
        const struct wf_sim_resource_request *r = &in->resources[i];
        const char *site = r->site_id ? r->site_id : arena_printf(a, "\n%zu", i);
        size_t known;

        known = name_index_add(sites, site, n);
        list[i] = (struct workflow_sim_resource){
            r->id, known == NAME_NOT_FOUND ? n++ : known, r->mips_total, r->mips_external,
            (size_t)r->n_max};
        if (r->mips_external > r->mips_total)
            mistake(err, ITEM_OUT_OF_BOUNDS, "more than mips_total",
                    "/grid/resources/%zu/mips_external", i);
    }
    latency_s = NEW(a, double, n *n);
    for (size_t i = 0; i < n * n; i++)
        latency_s[i] = (setting->wan_latency_min_s + setting->wan_latency_max_s) / 2;
    *out = (struct workflow_sim_grid){list,
                                      in->resource_count,
                                      n,
                                      setting->lan_mbps,
                                      setting->lan_latency_s,
                                      setting->wan_mbps,
                                      latency_s};
    return OK;
}

/* ---- given workflows ---- */

/* What a workflow of a simulation cannot say. */
static void check_given_task(const struct workflow_task *t, size_t w, size_t i,
                             struct error *err)
{
    const struct {
        const char *name;
        bool given;
    } members[] = {
        {"etc_s", t->etc_count > 0},
        {"input_file_ids", t->input_file_count > 0},
        {"input_site_id", t->input_site_id != NULL},
        {"checkpoint_site_id", t->checkpoint_site_id != NULL},
        {"release_s", t->release_s > 0},
        {"status", t->status != WORKFLOW_IDLE},
        {"resource_id", t->resource_id != NULL},
        {"progress_samples", t->progress_sample_count > 0},
        {"model", t->model != NULL},
    };

    for (size_t m = 0; m < sizeof(members) / sizeof(members[0]); m++)
        if (members[m].given)
            mistake(err, ITEM_CONFLICT, "simulated tasks begin as new ones, anywhere",
                    "/workflows/%zu/tasks/%zu/%s", w, i, members[m].name);
    if (!(t->estimate_ref_s > 0))
        mistake(err, isnan(t->estimate_ref_s) ? ITEM_REQUIRED : ITEM_OUT_OF_BOUNDS,
                "the length of a task is needed, above 0",
                "/workflows/%zu/tasks/%zu/estimate_ref_s", w, i);
}

/* A simulated task takes one slot of one resource: what asks for another part of it, or
 * of several, is not played as less. */
static void check_given_needs(const struct workflow_task *t, size_t w, size_t i,
                              struct error *err)
{
    const struct {
        const char *name;
        bool given;
    } members[] = {
        {"cpus", t->cpus > 1 || (t->cpus > 0 && t->cpus < 1)},
        {"memory_bytes", t->memory_bytes > 0},
        {"disk_bytes", t->disk_bytes > 0},
        {"needs", t->need_count > 0},
        {"nodes", t->nodes > 1},
        {"exclusive", t->exclusive},
        {"estimate_s", t->estimate_s > 0},
        {"time_limit_s", t->time_limit_s > 0},
        {"requirement", t->requirement != NULL},
        {"partition_ids", t->partition_id_count > 0},
    };

    for (size_t m = 0; m < sizeof(members) / sizeof(members[0]); m++) {
        if (!members[m].given)
            continue;
        mistake(err, ITEM_NOT_ALLOWED,
                "a simulated task takes one slot of any resource, as long as its length "
                "asks",
                "/workflows/%zu/tasks/%zu/%s", w, i, members[m].name);
        error_hint(err, "POST /v1/workflow-schedules looks at it");
    }
}

/* A dependency, by numbers of tasks. */
struct link {
    size_t child, parent;
    double bytes;
};

struct graph {
    const struct workflow_request *from;
    size_t w; /* its number */
    struct name_index names;
    struct link *links;
    size_t link_count;
    struct error *err;
};

static void link_tasks(struct graph *g, const char *parent, size_t child, double bytes,
                       const char *pointer)
{
    const struct workflow *w = &g->from->workflow;
    size_t at = name_index_find(&g->names, parent);

    if (at == NAME_NOT_FOUND)
        mistake(g->err, ITEM_UNKNOWN_ID, "the workflow has no such task", "%s", pointer);
    else
        g->links[g->link_count++] =
            (struct link){child, at, isnan(bytes) ? w->tasks[at].output_bytes : bytes};
}

static void link_all(struct graph *g)
{
    const struct workflow *w = &g->from->workflow;
    char pointer[160];

    for (size_t t = 0; t < w->task_count; t++) {
        for (size_t d = 0; d < w->tasks[t].dependency_count; d++) {
            const struct workflow_dependency *on = &w->tasks[t].depends_on[d];

            snprintf(pointer, sizeof(pointer),
                     "/workflows/%zu/tasks/%zu/depends_on/%zu/task_id", g->w, t, d);
            link_tasks(g, on->task_id, t, on->bytes, pointer);
        }
    }
    for (size_t e = 0; e < g->from->edge_count; e++) {
        const struct workflow_edge_request *edge = &g->from->edges[e];
        size_t child = name_index_find(&g->names, edge->child_id);

        snprintf(pointer, sizeof(pointer), "/workflows/%zu/edges/%zu/%s", g->w, e,
                 child == NAME_NOT_FOUND ? "child_id" : "parent_id");
        if (child == NAME_NOT_FOUND)
            mistake(g->err, ITEM_UNKNOWN_ID, "the workflow has no such task", "%s",
                    pointer);
        else
            link_tasks(g, edge->parent_id, child, edge->bytes, pointer);
    }
}

static int compare_links(const void *left, const void *right)
{
    const struct link *l = left, *r = right;

    if (l->child != r->child)
        return l->child < r->child ? -1 : 1;
    return (l->parent > r->parent) - (l->parent < r->parent);
}

/* Each parent once; what comes from it is a part of the input. */
static void list_parents(struct graph *g, struct workflow_sim_job *out,
                         struct workflow_sim_task *tasks, struct arena *a)
{
    size_t count = g->from->workflow.task_count, edges = 0;
    size_t *first = NEW(a, size_t, count + 1), *parents = NEW(a, size_t, g->link_count);

    qsort(g->links, g->link_count, sizeof(*g->links), compare_links);
    for (size_t i = 0; i < g->link_count; i++) {
        const struct link *l = &g->links[i];

        if (i > 0 && compare_links(l, l - 1) == 0)
            continue;
        parents[edges++] = l->parent;
        first[l->child + 1]++;
        tasks[l->child].input_bytes += l->bytes;
    }
    for (size_t t = 0; t < count; t++)
        first[t + 1] += first[t];
    out->parent_first = first;
    out->parents = parents;
}

static enum error_code check_cycle(const struct graph *g,
                                   const struct workflow_sim_job *job, struct arena *a)
{
    size_t at;

    workflow_sim_cycle(job, &at, a);
    if (at != WORKFLOW_SIM_NONE)
        mistake(g->err, ITEM_CYCLE, "this task waits for itself, by way of others",
                "/workflows/%zu/tasks/%zu/depends_on", g->w, at);
    return OK;
}

static size_t count_links(const struct workflow_request *from)
{
    size_t count = from->edge_count;

    for (size_t t = 0; t < from->workflow.task_count; t++)
        count += from->workflow.tasks[t].dependency_count;
    return count;
}

static enum error_code given_job(const struct workflow_sim_workload *workload,
                                 struct graph *g, struct rng *rng,
                                 struct workflow_sim_job *out, struct arena *a)
{
    const struct workflow *w = &g->from->workflow;
    struct workflow_sim_task *tasks = NEW(a, struct workflow_sim_task, w->task_count);

    g->links = NEW(a, struct link, count_links(g->from));
    name_index_create(&g->names, w->task_count, a);
    for (size_t t = 0; t < w->task_count; t++)
        name_index_add(&g->names, w->tasks[t].id, t);
    link_all(g);
    for (size_t t = 0; t < w->task_count; t++) {
        const struct workflow_task *from = &w->tasks[t];

        check_given_task(from, g->w, t, g->err);
        check_given_needs(from, g->w, t, g->err);
        if (!(from->estimate_ref_s > 0))
            continue;
        tasks[t] = workflow_sim_task_draw(workload, from->estimate_ref_s, rng);
        tasks[t].id = from->id;
        tasks[t].input_bytes = from->input_bytes;
        tasks[t].output_bytes = from->output_bytes;
        tasks[t].checkpoint_bytes = from->checkpoint_bytes;
    }
    out->id = w->id;
    out->tasks = tasks;
    out->task_count = w->task_count;
    list_parents(g, out, tasks, a);
    return check_cycle(g, out, a);
}

static int compare_jobs(const void *left, const void *right)
{
    const struct workflow_sim_job *l = left, *r = right;

    if (l->arrival_s < r->arrival_s || l->arrival_s > r->arrival_s)
        return l->arrival_s < r->arrival_s ? -1 : 1;
    return strcmp(l->id, r->id);
}

/* By submitted_at, if all have it, from the earliest on; else as the workload says. */
static enum error_code given_arrivals(const struct wf_sim_setting *s, uint64_t seed,
                                      struct workflow_sim_job *jobs, struct arena *a,
                                      struct error *err)
{
    const struct wf_sim_request *body = s->body;
    enum workflow_sim_arrival arrivals = s->experiment.workload.arrivals;
    size_t drawn = body->workflow_count;
    double first_s = HUGE_VAL, *at_s;
    bool all = true;

    for (size_t w = 0; w < body->workflow_count; w++) {
        all = all && !isnan(body->workflows[w].workflow.submitted_at_s);
        first_s = fmin(first_s, body->workflows[w].workflow.submitted_at_s);
    }
    if (body->workload.arrivals == NOT_GIVEN)
        arrivals = WORKFLOW_SIM_together;
    TRY(workflow_sim_arrivals_draw(arrivals, s->experiment.settings.horizon_s, seed,
                                   &at_s, &drawn, a, err));
    for (size_t w = 0; w < body->workflow_count; w++) {
        jobs[w].arrival_s =
            w < drawn ? at_s[w] : s->experiment.settings.horizon_s; /* never */
        if (all && body->workload.arrivals == NOT_GIVEN)
            jobs[w].arrival_s = body->workflows[w].workflow.submitted_at_s - first_s;
    }
    return OK;
}

static enum error_code given_jobs(const struct wf_sim_setting *s, uint64_t seed,
                                  struct workflow_sim_job **jobs, struct arena *a,
                                  struct error *err)
{
    const struct wf_sim_request *body = s->body;
    struct rng rng = rng_stream(seed, "workflow.tasks");

    *jobs = NEW(a, struct workflow_sim_job, body->workflow_count);
    TRY(given_arrivals(s, seed, *jobs, a, err));
    for (size_t w = 0; w < body->workflow_count; w++) {
        struct graph g = {.from = &body->workflows[w], .w = w, .err = err};

        TRY(given_job(&s->experiment.workload, &g, &rng, &(*jobs)[w], a));
    }
    qsort(*jobs, body->workflow_count, sizeof(**jobs), compare_jobs);
    return OK;
}

/* Members of the workload that given workflows replace. */
static void check_given_workload(const struct wf_sim_workload_request *in,
                                 struct error *err)
{
    const struct {
        const char *pointer;
        bool given;
    } parts[] = {
        {"/workload/shape", in->shape != NOT_GIVEN},
        {"/workload/parallelism", in->parallelism > 0},
        {"/workload/tasks_mean", !isnan(in->tasks_mean)},
        {"/workload/levels", in->levels > 0},
        {"/workload/nominal_ref_s", !isnan(in->nominal_ref_s)},
        {"/workload/variation", in->variation != NOT_GIVEN},
        {"/workload/spread_ratio", !isnan(in->spread_ratio)},
        {"/workload/sweep", in->sweep != NOT_GIVEN},
        {"/workload/data_bytes", !isnan(in->data_bytes)},
        {"/workload/checkpoint_bytes", !isnan(in->checkpoint_bytes)},
        {"/workload/load_ratio", !isnan(in->load_ratio)},
        {"/workload/workflow_count", in->workflow_count > 0},
    };

    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        if (parts[i].given)
            invalid(err, parts[i].pointer, ITEM_CONFLICT, "give workflows or this");
}

/* Draws them once, to find what is wrong. */
static enum error_code check_given_jobs(const struct wf_sim_setting *s, struct arena *a,
                                        struct error *err)
{
    struct workflow_sim_job *jobs;
    size_t count = 0;

    check_given_workload(&s->body->workload, err);
    for (size_t w = 0; w < s->body->workflow_count; w++)
        count += s->body->workflows[w].workflow.task_count;
    if (count > WORKFLOW_SIM_TASKS_MAX) {
        invalid(err, "/workflows", ITEM_TOO_LONG, "%zu tasks in all: at most %d", count,
                WORKFLOW_SIM_TASKS_MAX);
        return OK;
    }
    return given_jobs(s, 0, &jobs, a, err);
}

/* ---- policies ---- */

static void bind(const struct wf_sim_compared *in, const char *pointer,
                 struct wf_sim_label *out, struct arena *a, struct error *err)
{
    struct error here = {.arena = a};

    params_bind(out->policy.policy->params, in->options, in->option_count, out->param,
                &here);
    for (const struct error_item *i = here.first; i; i = i->next)
        invalid_again(err, pointer, i);
    out->policy.param = out->param;
    out->policy.no_estimates = !in->use_estimates;
}

static void unknown_policy(const char *name, const char *pointer, struct error *err)
{
    const struct policy *const tables[] = {workflow_round_policies, NULL};

    decision_no_policy(pointer, name, "dynamic policy", tables, err);
}

static void read_label(const struct wf_sim_compared *in, const char *where,
                       const char *options_at, struct wf_sim_setting *s, struct arena *a,
                       struct error *err)
{
    struct wf_sim_label *label = &s->labels[s->label_count];
    struct pointer pointer;

    label->label = in->label ? in->label : in->algorithm;
    label->policy.policy = policy_find(workflow_round_policies, in->algorithm);
    pointer = pointer_of(where, "algorithm");
    if (!label->policy.policy) {
        unknown_policy(in->algorithm, pointer.text, err);
        return;
    }
    bind(in, options_at, label, a, err);
    for (size_t i = 0; i < s->label_count; i++)
        if (strcmp(s->labels[i].label, label->label) == 0)
            mistake(err, ITEM_DUPLICATE, "another policy has this label", "%s/label",
                    where);
    s->label_count++;
}

static void read_policies(const struct wf_sim_request *body, struct wf_sim_setting *s,
                          struct arena *a, struct error *err)
{
    static const struct named_value longest = {"balance", VALUE_TEXT, 0, "longest_only"};
    static const struct wf_sim_compared presets[] = {
        {NULL, "balanced_static", NULL, 0, true},
        {"longest_only", "balanced", &longest, 1, true},
        {NULL, "balanced", NULL, 0, true},
    };
    const struct decision_request *d = &body->decision;
    bool named = d->algorithm && strcmp(d->algorithm, "auto") != 0;
    const struct wf_sim_compared alone = {NULL, d->algorithm, d->options, d->option_count,
                                          true};

    if (body->compare_count && named)
        invalid(err, "/algorithm", ITEM_CONFLICT, "give compare or this");
    if (d->option_count && (body->compare_count || !named))
        invalid(err, "/options", ITEM_CONFLICT,
                "they are for algorithm; policies of compare have their own");
    for (size_t i = 0; i < body->compare_count; i++) {
        struct pointer where = pointer_in("/compare", i, NULL);

        read_label(&body->compare[i], where.text, where.text, s, a, err);
    }
    if (body->compare_count == 0 && named)
        read_label(&alone, "", "", s, a, err);
    for (size_t i = 0; body->compare_count == 0 && !named && i < 3; i++)
        read_label(&presets[i], "", "", s, a, err);
}

/* ---- all ---- */

static enum error_code check_drawn_jobs(const struct wf_sim_setting *s, struct arena *a,
                                        struct error *err)
{
    struct workflow_sim_grid grid;
    enum error_code code;
    size_t count;

    if (s->grid)
        grid = *s->grid;
    else
        TRY(workflow_sim_grid_draw(&s->experiment.grid, 0, &grid, a));
    code = workflow_sim_workload_count(&s->experiment.workload, &grid,
                                       s->experiment.settings.horizon_s, &count, err);
    return code == ERR_INVALID ? OK : code;
}

enum error_code wf_sim_read(const struct wf_sim_request *in, struct wf_sim_setting *out,
                            struct arena *a, struct error *err)
{
    struct workflow_sim_grid *grid = NEW(a, struct workflow_sim_grid, 1);
    struct name_index sites;
    size_t site_count;

    name_index_create(&sites, in->grid.resource_count, a);
    out->body = in;
    out->experiment = workflow_sim_preset((enum workflow_sim_preset_kind)in->preset);
    read_grid(&in->grid, &out->experiment.grid, err);
    read_workload(in, &out->experiment.workload, err);
    read_settings(&in->settings, &out->experiment.settings, err);
    site_count = out->experiment.grid.site_count;
    if (in->grid.resource_count) {
        check_given_grid(&in->grid, err);
        TRY(given_grid(&in->grid, &out->experiment.grid, &sites, grid, a, err));
        out->grid = grid;
        site_count = grid->site_count;
    }
    read_storage(in, &sites, site_count, &out->experiment.settings, err);
    read_policies(in, out, a, err);
    if (in->workflow_count)
        TRY(check_given_jobs(out, a, err));
    else if (err->code == OK)
        TRY(check_drawn_jobs(out, a, err));
    return err->code;
}

enum error_code wf_sim_draw(const struct wf_sim_setting *s, uint64_t seed,
                            struct workflow_sim_in *in, struct arena *a,
                            struct error *err)
{
    const struct workflow_sim_experiment *e = &s->experiment;
    struct workflow_sim_job *jobs;

    in->seed = seed;
    in->settings = e->settings;
    if (s->grid)
        in->grid = *s->grid;
    else
        TRY(workflow_sim_grid_draw(&e->grid, seed, &in->grid, a));
    if (s->body->workflow_count) {
        in->job_count = s->body->workflow_count;
        TRY(given_jobs(s, seed, &jobs, a, err));
    } else {
        TRY(workflow_sim_workload_draw(&e->workload, &in->grid, e->settings.horizon_s,
                                       seed, &jobs, &in->job_count, a, err));
    }
    in->jobs = jobs;
    return OK;
}

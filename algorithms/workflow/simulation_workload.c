/* workflow/simulation_workload.c - grids and workflows, drawn.
 *
 * fork_join: a root, `parallelism` tasks beside each other, a final task. layered: as
 * many tasks as the mean says, give or take a half, on `levels` levels; each needs one to
 * three of the level above, and the final task what nobody else needs.
 *
 * So many workflows come that their expected work is load_ratio of what the grid could
 * do until the horizon with its load of the start; over and under tasks count with the
 * length that their evolution gives them.
 *
 * Source: spec workflows.md 3, 9.1, 10; runtime-prediction.md 7; simulator.md 9.1.
 */
#include "algorithms/simulation/workload.h"
#include "algorithms/workflow/simulation.h"
#include "models/base/order.h"

#include <math.h>
#include <stdlib.h>

#define X(name, meaning) #name,
const char *const workflow_sim_shape_names[] = {WORKFLOW_SIM_SHAPES(X) NULL};
const char *const workflow_sim_arrival_names[] = {WORKFLOW_SIM_ARRIVALS(X) NULL};
const char *const workflow_sim_sweep_names[] = {WORKFLOW_SIM_SWEEPS(X) NULL};
const char *const workflow_sim_mix_names[] = {WORKFLOW_SIM_MIXES(X) NULL};
#undef X

enum { PARENTS_MAX = 3, SPREAD_OF_SWEEP = 20 };

static double uniform(struct rng *r, double low, double high)
{
    return low + (high - low) * rng_uniform(r);
}

/* ---- the grid ---- */

enum error_code workflow_sim_grid_draw(const struct workflow_sim_grid_setting *setting,
                                       uint64_t seed, struct workflow_sim_grid *out,
                                       struct arena *a)
{
    struct rng speeds = rng_stream(seed, "workflow.grid");
    struct rng loads = rng_stream(seed, "workflow.load");
    struct rng wan = rng_stream(seed, "workflow.wan");
    size_t sites = setting->site_count, count = sites * setting->resources_per_site;
    struct workflow_sim_resource *list = NEW(a, struct workflow_sim_resource, count);
    double *latency_s = NEW(a, double, sites *sites);

    for (size_t i = 0; i < count; i++) {
        double mips = uniform(&speeds, setting->mips_min, setting->mips_max);
        bool loaded = rng_uniform(&loads) < setting->loaded_ratio;
        double share = uniform(&loads, 0, setting->external_ratio);

        list[i] = (struct workflow_sim_resource){
            .site = i / setting->resources_per_site,
            .mips_total = mips,
            .mips_external = loaded ? share * mips : 0,
            .n_max = setting->n_max,
        };
    }
    for (size_t i = 0; i < sites; i++)
        for (size_t j = i + 1; j < sites; j++)
            latency_s[i * sites + j] = latency_s[j * sites + i] =
                uniform(&wan, setting->wan_latency_min_s, setting->wan_latency_max_s);
    *out = (struct workflow_sim_grid){
        .resources = list,
        .resource_count = count,
        .site_count = sites,
        .lan_mbps = setting->lan_mbps,
        .lan_latency_s = setting->lan_latency_s,
        .wan_mbps = setting->wan_mbps,
        .wan_latency_s = latency_s,
    };
    return OK;
}

/* ---- how many ---- */

static double mean_of(struct evolution_range range)
{
    return (range.low + range.high) / 2;
}

/* Expected true length over the nominal one. */
static double mean_limit_ratio(const struct workflow_sim_workload *w)
{
    double over = mean_of(w->evolution.over_limit_ratio);
    double under = w->evolution.under_base_ratio + mean_of(w->evolution.amplitude_ratio);

    switch (w->mix) {
    case WORKFLOW_SIM_over:
        return over;
    case WORKFLOW_SIM_under:
        return under;
    case WORKFLOW_SIM_fluctuating:
    case WORKFLOW_SIM_exact:
        return 1;
    case WORKFLOW_SIM_mixed:
        break;
    }
    return (over + under + 1) / 3;
}

static double mean_tasks(const struct workflow_sim_workload *w)
{
    return w->shape == WORKFLOW_SIM_fork_join ? (double)w->parallelism + 2
                                              : w->tasks_mean;
}

enum error_code workflow_sim_workload_count(const struct workflow_sim_workload *workload,
                                            const struct workflow_sim_grid *grid,
                                            double horizon_s, size_t *count,
                                            struct error *err)
{
    const struct workflow_sim_workload *w = workload;
    double free_mips = 0, wanted;

    for (size_t i = 0; i < grid->resource_count; i++)
        free_mips += grid->resources[i].mips_total - grid->resources[i].mips_external;
    wanted =
        w->workflow_count
            ? (double)w->workflow_count
            : fmax(1, floor(w->load_ratio * free_mips * horizon_s /
                                (mean_tasks(w) * w->nominal_ref_s * mean_limit_ratio(w)) +
                            0.5));
    if (!(wanted * mean_tasks(w) * 1.5 <= WORKFLOW_SIM_TASKS_MAX))
        return invalid(err, "/workload", ITEM_TOO_LONG,
                       "%g workflows of %g tasks each: at most %d tasks in all", wanted,
                       mean_tasks(w), WORKFLOW_SIM_TASKS_MAX);
    *count = (size_t)wanted;
    return OK;
}

/* ---- when ---- */

/* Four of five between 8 and 20 h, others before and after, of a day drawn evenly. */
static void draw_daytime(double *at_s, size_t count, double horizon_s, uint64_t seed)
{
    const double day_s = 86400;
    struct rng r = rng_stream(seed, "job.arrival");

    for (size_t i = 0; i < count;) {
        double day = floor(rng_uniform(&r) * ceil(horizon_s / day_s));
        double hour = rng_uniform(&r) < 0.8 ? uniform(&r, 8, 20) : uniform(&r, 20, 32);

        at_s[i] = day * day_s + fmod(hour, 24) * 3600;
        i += at_s[i] < horizon_s || horizon_s < 8 * 3600.0;
    }
    for (size_t i = 0; i < count && horizon_s < 8 * 3600.0; i++) /* only night */
        at_s[i] = fmod(at_s[i], horizon_s);
    sort_numbers(at_s, count);
}

static enum error_code draw_lublin(double *at_s, size_t *count, double horizon_s,
                                   uint64_t seed, struct arena *a, struct error *err)
{
    struct workload w = workload_blank(WORKLOAD_LUBLIN);
    struct workload_source *source;
    struct sim_job job;
    size_t found = 0;

    w.job_count = *count;
    TRY(workload_prepare(&w, "/workload", a, err));
    TRY(workload_open(&w, seed, horizon_s, &source, a, err));
    while (found < *count && workload_next(source, &job))
        at_s[found++] = job.arrival_s;
    *count = found;
    return OK;
}

enum error_code workflow_sim_arrivals_draw(enum workflow_sim_arrival arrivals,
                                           double horizon_s, uint64_t seed, double **at_s,
                                           size_t *count, struct arena *a,
                                           struct error *err)
{
    *at_s = NEW(a, double, *count);
    if (arrivals == WORKFLOW_SIM_lublin)
        return draw_lublin(*at_s, count, horizon_s, seed, a, err);
    if (arrivals == WORKFLOW_SIM_daytime)
        draw_daytime(*at_s, *count, horizon_s, seed);
    return OK;
}

/* ---- shapes ---- */

/* Tasks by level: level l has those from first[l] to first[l + 1]. */
struct layers {
    size_t *first;
    size_t level_count, task_count;
};

static void draw_layers(const struct workflow_sim_workload *w, struct rng *r,
                        struct layers *out, struct arena *a)
{
    bool layered = w->shape == WORKFLOW_SIM_layered;
    size_t inner = w->parallelism, levels = layered ? w->levels - 2 : 1;

    if (layered) {
        double mean = w->tasks_mean - 2;

        inner = (size_t)floor(uniform(r, 0.5, 1.5) * mean + 0.5);
        inner = inner < levels ? levels : inner;
    }
    *out = (struct layers){NEW(a, size_t, levels + 3), levels + 2, inner + 2};
    for (size_t l = 0; l <= levels; l++)
        out->first[l + 1] = 1 + inner * l / levels;
    out->first[levels + 2] = inner + 2;
}

/* One to three of the tasks of a level, ascending; returns how many. */
static size_t draw_parents(size_t from, size_t to, bool needed_by_some[], struct rng *r,
                           size_t *parents)
{
    size_t count = to - from, most = count < PARENTS_MAX ? count : PARENTS_MAX;
    size_t wanted = 1 + rng_index(r, most), found = 0;

    for (size_t i = 0; i < count; i++) /* each set of that size is as likely */
        if (rng_index(r, count - i) < wanted - found) {
            parents[found++] = from + i;
            needed_by_some[from + i] = true;
        }
    return found;
}

static void draw_edges(const struct layers *l, struct rng *r,
                       struct workflow_sim_job *job, struct arena *a)
{
    size_t count = l->task_count, edge = 0, last = count - 1;
    size_t *first = NEW(a, size_t, count + 1);
    size_t *parents = NEW(a, size_t, (PARENTS_MAX + 1) * count);
    bool *needed = NEW(a, bool, count);

    for (size_t level = 1; level + 1 < l->level_count; level++) {
        for (size_t t = l->first[level]; t < l->first[level + 1]; t++) {
            edge += draw_parents(l->first[level - 1], l->first[level], needed, r,
                                 &parents[edge]);
            first[t + 1] = edge;
        }
    }
    for (size_t t = 1; t < last; t++)
        if (!needed[t])
            parents[edge++] = t;
    first[count] = edge;
    job->parent_first = first;
    job->parents = parents;
}

/* ---- tasks ---- */

static enum evolution_model draw_model(const struct workflow_sim_workload *w,
                                       struct rng *r)
{
    size_t drawn = rng_index(r, EVOLUTION_MODEL_COUNT);

    switch (w->mix) {
    case WORKFLOW_SIM_over:
    case WORKFLOW_SIM_exact:
        return EVOLUTION_over;
    case WORKFLOW_SIM_under:
        return EVOLUTION_under;
    case WORKFLOW_SIM_fluctuating:
        return EVOLUTION_fluctuating;
    case WORKFLOW_SIM_mixed:
        break;
    }
    return (enum evolution_model)drawn;
}

static double draw_length(const struct workflow_sim_workload *w, double of_workflow,
                          struct rng *r)
{
    double spread =
        w->sweep == WORKFLOW_SIM_model ? w->spread_ratio : 1.0 / SPREAD_OF_SWEEP;

    return of_workflow * uniform(r, 1 - spread, 1 + spread);
}

struct workflow_sim_task
workflow_sim_task_draw(const struct workflow_sim_workload *workload, double nominal_ref_s,
                       struct rng *rng)
{
    const struct workflow_sim_workload *w = workload;
    enum evolution_model model = draw_model(w, rng);
    struct evolution e = evolution_draw(model, nominal_ref_s, &w->evolution, rng);
    double at = rng_uniform(rng), estimate;

    if (w->mix == WORKFLOW_SIM_exact) {
        e.limit_ref_s = nominal_ref_s;
        e.amplitude_ref_s = 0; /* and no noise, which is a part of it */
        e.floor_factor = 1;
    }
    estimate = evolution_report_ref_s(&e, at * e.limit_ref_s, rng);
    return (struct workflow_sim_task){
        .evolution = e,
        .nominal_ref_s = nominal_ref_s,
        .initial_estimate_ref_s = w->initial_estimate ? estimate : (double)NAN,
        .input_bytes = w->bytes,
        .output_bytes = w->bytes,
        .checkpoint_bytes = w->checkpoint_bytes,
    };
}

static void draw_job(const struct workflow_sim_workload *w, struct rng *r,
                     struct workflow_sim_job *job, struct arena *a)
{
    struct workflow_sim_task *tasks;
    struct layers l;
    double of_workflow = w->nominal_ref_s;

    if (w->sweep == WORKFLOW_SIM_parameter)
        of_workflow *= uniform(r, 1 - w->spread_ratio, 1 + w->spread_ratio);
    draw_layers(w, r, &l, a);
    draw_edges(&l, r, job, a);
    tasks = NEW(a, struct workflow_sim_task, l.task_count);
    for (size_t t = 0; t < l.task_count; t++)
        tasks[t] = workflow_sim_task_draw(w, draw_length(w, of_workflow, r), r);
    job->tasks = tasks;
    job->task_count = l.task_count;
}

enum error_code workflow_sim_workload_draw(const struct workflow_sim_workload *workload,
                                           const struct workflow_sim_grid *grid,
                                           double horizon_s, uint64_t seed,
                                           struct workflow_sim_job **jobs, size_t *count,
                                           struct arena *a, struct error *err)
{
    struct rng r = rng_stream(seed, "workflow.tasks");
    double *at_s;

    TRY(workflow_sim_workload_count(workload, grid, horizon_s, count, err));
    TRY(workflow_sim_arrivals_draw(workload->arrivals, horizon_s, seed, &at_s, count, a,
                                   err));
    *jobs = NEW(a, struct workflow_sim_job, *count);
    for (size_t i = 0; i < *count; i++) {
        (*jobs)[i].arrival_s = at_s[i];
        draw_job(workload, &r, &(*jobs)[i], a);
    }
    return OK;
}

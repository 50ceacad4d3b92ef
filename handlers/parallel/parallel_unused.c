/* parallel_unused.c - what the body of a schedule carries that nothing looks at.
 *
 * A table of members of sites, with how to see that one was given for nothing; sites of a
 * stored snapshot are not the caller's words, and are not looked at.
 */
#include "handlers/parallel/parallel_parts.h"

#include <math.h>
#include <string.h>

/* ---- the job ---- */

/* Whether each site has a model of its own. */
static bool has_all_models(const struct schedule_call *call)
{
    bool all = call->site_count > 0;

    for (size_t k = 0; k < call->site_count; k++)
        all = all && call->sites[k].model;
    return all;
}

static bool depends_on_size(const struct site_model *model)
{
    return !model || model->model_id || model->combination;
}

static bool some_depend_on_size(const struct schedule_call *call)
{
    bool some = call->site_count == 0;

    for (size_t k = 0; k < call->site_count; k++)
        some = some || depends_on_size(call->sites[k].model ? call->sites[k].model
                                                            : call->job->model);
    return some;
}

static enum error_code warn_of_job(struct schedule_call *call)
{
    const struct schedule_job *job = call->job;
    bool by_site = has_all_models(call);

    if (job->model && by_site)
        TRY(schedule_warn(call, "ignored: /jobs/0/model: every site has its own"));
    if (job->application_id && (by_site || job->model))
        TRY(schedule_warn(call, "ignored: /jobs/0/application_id: models are given, "
                                "none is looked up"));
    if (!isnan(job->problem_size) && !some_depend_on_size(call))
        TRY(schedule_warn(call, "ignored: /jobs/0/problem_size: terms are worked out "
                                "for it already"));
    return OK;
}

/* ---- sites ---- */

/* A site of the body, with what matters of the request. */
struct looked_at {
    const struct site *site;
    bool has_own_model, uses_capacity;
};

static bool has_cpu_factor(const struct looked_at *l)
{
    return l->has_own_model && l->site->cpu_scaling_factor != 1;
}

static bool has_bandwidth_factor(const struct looked_at *l)
{
    return l->has_own_model && l->site->bandwidth_scaling_factor != 1;
}

static bool has_waits(const struct looked_at *l)
{
    return l->site->kind != SITE_BATCH && l->site->wait_count;
}

static bool has_cpu(const struct looked_at *l)
{
    bool found = false;

    for (size_t i = 0; i < l->site->resource_count && !found; i++)
        found = l->site->resources[i].cpu_available_ratio > 0 &&
                l->site->resources[i].cpu_available_ratio < 1;
    return found && l->site->kind == SITE_BATCH;
}

static bool has_capacity(const struct looked_at *l)
{
    return !l->uses_capacity && !isnan(l->site->link_capacity_mbps);
}

static bool has_triangle(const struct looked_at *l)
{
    return l->site->links.form != SITE_LINKS_UPPER_TRIANGLE &&
           l->site->links.bandwidth_count;
}

static bool has_default(const struct looked_at *l)
{
    return l->site->links.form != SITE_LINKS_DEFAULT_WITH_OVERRIDES &&
           !isnan(l->site->links.default_mbps);
}

static bool has_overrides(const struct looked_at *l)
{
    return l->site->links.form != SITE_LINKS_DEFAULT_WITH_OVERRIDES &&
           l->site->links.override_count;
}

static bool has_uplinks(const struct looked_at *l)
{
    bool found = false;

    for (size_t i = 0; i < l->site->resource_count && !found; i++)
        found = !isnan(l->site->resources[i].uplink_mbps);
    return found && l->site->links.form != SITE_LINKS_UPLINKS;
}

static const char other_form[] = "links have another form";

static const struct {
    const char *member, *why;
    bool (*unused)(const struct looked_at *l);
} members[] = {
    {"cpu_scaling_factor", "the model is of the site itself", has_cpu_factor},
    {"bandwidth_scaling_factor", "the model is of the site itself", has_bandwidth_factor},
    {"queue_wait_history", "only jobs of a batch site wait", has_waits},
    {"resources/*/cpu_available_ratio", "a batch site gives a job its machines alone",
     has_cpu},
    {"link_capacity_mbps", "the algorithm makes no grid", has_capacity},
    {"links/bandwidth_mbps", other_form, has_triangle},
    {"links/default_mbps", other_form, has_default},
    {"links/overrides", other_form, has_overrides},
    {"resources/*/uplink_mbps", other_form, has_uplinks},
};

static bool makes_grid(const struct policy *policy)
{
    return strcmp(policy->name, "auto") == 0 ||
           strcmp(policy->name, "box_elimination") == 0 ||
           strcmp(policy->name, "grid_exhaustive") == 0;
}

static enum error_code warn_of_sites(struct schedule_call *call)
{
    for (size_t m = 0; m < sizeof(members) / sizeof(*members); m++) {
        size_t count = 0, first = 0;

        for (size_t k = call->site_count; k-- > 0;) {
            const struct stored_model *stored = call->sources[k];
            struct looked_at l = {&call->sites[k].site,
                                  call->sites[k].model || (stored && stored->own),
                                  makes_grid(call->policy)};

            budget_step(&call->rq->budget, 1 + l.site->resource_count);
            if (!members[m].unused(&l))
                continue;
            first = k;
            count++;
        }
        if (count)
            TRY(schedule_warn(call,
                              "ignored: %s of %zu site%s (first "
                              "/snapshot/sites/%zu/%s): %s",
                              members[m].member, count, count == 1 ? "" : "s", first,
                              members[m].member, members[m].why));
    }
    return OK;
}

enum error_code schedule_warn_unused(struct schedule_call *call)
{
    TRY(warn_of_job(call));
    return call->body->snapshot ? warn_of_sites(call) : OK;
}

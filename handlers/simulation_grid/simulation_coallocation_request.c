/* simulation_coallocation_request.c - the request of a simulation of co-allocation. */
#include "handlers/coallocation/coallocation_json.h"
#include "handlers/common/decision.h"
#include "handlers/simulation_grid/simulation_coallocation.h"
#include "handlers/simulation_grid/simulation_coallocation_parts.h"
#include "models/base/pointer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NOT_GIVEN = -1, PROCESSORS_MAX = 1000000, LINKS_MAX = 40000 };
#define SECONDS_MAX 1e9
#define BYTES_MAX   1e18

/* ---- tables ---- */

static const char *const kinds[] = {"coallocation", NULL};

enum scan_mode { SCAN_PERIODIC, SCAN_ARRIVAL, SCAN_EVENTS };
static const char *const scan_modes[] = {"periodic", "arrival_and_periodic",
                                         "event_driven", NULL};

#define T struct co_sim_component_request
static const struct json_field component_rows[] = {
    JSON_INTEGER(T, processors, 1, PROCESSORS_MAX, 0, JSON_REQUIRED, "Processors"),
    JSON_ID(T, site_id, JSON_NULLABLE, "Its site, where the user fixed it"),
    {0},
};
#undef T
static const struct json_object component_json = {
    "CoallocationSimulationComponent", "A component",
    sizeof(struct co_sim_component_request), component_rows};

#define T struct co_sim_job_request
static const struct json_field job_rows[] = {
    JSON_ID(T, id, JSON_REQUIRED, "Its name"),
    JSON_NUMBER(T, submit_s, 0, SECONDS_MAX, 0, 0, "When it arrives; default 0"),
    JSON_NUMBER(T, run_time_s, 0, SECONDS_MAX, 0, JSON_REQUIRED | JSON_ABOVE_MIN,
                "How long it runs, on one site", JSON_WAS({"runtime_s", 0})),
    JSON_CHOICE(T, request_type, co_request_type_names, CO_NON_FIXED, 0,
                "flexible: the sum of its components is split anew; default non_fixed"),
    JSON_CHOICE(T, priority, co_level_names, CO_HIGH, 0, "Its level; default high"),
    JSON_CHOICE(T, component_site_rule, co_site_rule_names, CO_SITES_ANY, 0,
                "distinct: every component on another site; default any"),
    JSON_LIST(T, components, component_count, struct co_sim_component_request,
              &component_json, 1000, JSON_REQUIRED, "Its components"),
    JSON_NUMBER(T, file_bytes, 0, BYTES_MAX, 0, 0,
                "Size of the file that every component reads; default 0: no file"),
    JSON_TEXTS(T, file_site_ids, file_site_count, CO_SIM_SITES_MAX, 0,
               "Sites that have the file"),
    {0},
};
#undef T
static const struct json_object job_json = {"CoallocationSimulationJob", "A parallel job",
                                            sizeof(struct co_sim_job_request), job_rows};

#define T struct co_sim_site_request
static const struct json_field site_rows[] = {
    JSON_ID(T, id, JSON_REQUIRED, "Its name"),
    JSON_INTEGER(T, processors_total, 1, PROCESSORS_MAX, 0, JSON_REQUIRED, "Processors"),
    JSON_NUMBER(T, failure_ratio, 0, 1, 0, 0,
                "Probability that a component which starts there meets a soft error; "
                "default 0"),
    {0},
};
#undef T
static const struct json_object site_json = {"CoallocationSimulationSite", "A cluster",
                                             sizeof(struct co_sim_site_request),
                                             site_rows};

#define T struct co_sim_grid_request
static const struct json_field grid_rows[] = {
    JSON_CHOICE(T, preset, co_sim_grid_names, NOT_GIVEN, 0,
                "Clusters of the source; default: those of the stream's experiment"),
    JSON_LIST(T, sites, site_count, struct co_sim_site_request, &site_json,
              CO_SIM_SITES_MAX, 0, "The clusters one by one, instead"),
    JSON_LIST(T, links, link_count, struct co_link, &co_link_json, LINKS_MAX, 0,
              "Links between the given clusters"),
    JSON_NUMBER(T, default_bandwidth_mbps, 0, 1e9, NAN, JSON_NULLABLE | JSON_ABOVE_MIN,
                "Bandwidth where no link is given; default: none"),
    {0},
};
#undef T
static const struct json_object grid_json = {
    "CoallocationSimulationGrid", "Clusters and their links",
    sizeof(struct co_sim_grid_request), grid_rows};

#define PRESET(m, lo, hi, flag, ...) \
    JSON_NUMBER(T, m, lo, hi, NAN, JSON_NULLABLE | (flag), __VA_ARGS__)
#define WEIGHT(m, text) JSON_INTEGER(T, m, 1, CO_WEIGHT_MAX, 0, JSON_BOUND_ONLY, text)
#define T               struct co_sim_settings_request
static const struct json_field settings_rows[] = {
    PRESET(background_lower_ratio, 0, 1, 0,
           "Dummy jobs are added below this load; 0: no local jobs; default 0.3, of "
           "unreliable 0.2"),
    PRESET(background_add_ratio, 0, 1, 0, "Up to so much more; default 0.03"),
    PRESET(background_upper_ratio, 0, 1, 0,
           "They are removed above this load; default 0.4, or 0.1 above a given lower "
           "one"),
    PRESET(local_ratio, 0, 10, 0,
           "Local jobs that arrive, as a share of the lower load; default 0.7"),
    PRESET(local_run_time_s, 0, SECONDS_MAX, JSON_ABOVE_MIN,
           "Mean run time of local jobs; default 300", JSON_WAS({"local_runtime_s", 0})),
    PRESET(monitor_interval_s, 0, SECONDS_MAX, JSON_ABOVE_MIN,
           "How often the load is controlled; default 30"),
    JSON_CHOICE(T, scan_mode, scan_modes, NOT_GIVEN, 0,
                "When jobs are placed: by scans of the queues at intervals, also the "
                "moment that they arrive, or whenever something ends or arrives; default "
                "arrival_and_periodic, of unreliable periodic"),
    PRESET(scan_interval_s, 0, SECONDS_MAX, JSON_ABOVE_MIN,
           "Default 60, of unreliable 240"),
    WEIGHT(n_h, "Rounds of the higher queues in a cycle; default 1"),
    WEIGHT(n_l, "Rounds of the lower queues; default 1"),
    WEIGHT(n_1, "Scans of super_high in a round; default 1"),
    WEIGHT(n_2, "Scans of high; default 1, of unreliable 2"),
    WEIGHT(n_3, "Scans of low; default 1"),
    WEIGHT(n_4, "Scans of super_low; default 1"),
    PRESET(max_placement_tries, 1, 1e9, 0, "A job fails after so many; default: none"),
    PRESET(promotion_p, 1, 1e9, 0,
           "A job moves up a level after so many; default: never"),
    PRESET(max_overtakes, 0, 1e9, 0,
           "Jobs that may be placed past a waiting one; 0: first come first served; "
           "default: any number"),
    PRESET(max_wait_s, 0, SECONDS_MAX, JSON_ABOVE_MIN,
           "A job fails that waits longer; default: none"),
    PRESET(t_threshold, 0, 1, 0,
           "Share of its components that must be claimable before a job claims any; "
           "default 1, of unreliable 0"),
    PRESET(l_decrement, 0, 1, 0,
           "What L loses when the start time was missed; default "
           "0.25"),
    PRESET(l_min, 0, 1, 0, "Least L; default 0"),
    PRESET(max_claim_tries, 1, 1e9, 0, "A job fails after so many; default: none"),
    JSON_BOOLEAN(T, allow_start_equal, 0, 0,
                 "A component may move to a site that is ready at the start time itself"),
    JSON_BOOLEAN(T, preempt_only_if_complete, 0, 0,
                 "Only a job that can then start stops others"),
    JSON_BOOLEAN(T, preempt_with_base_priority, 0, 0,
                 "A promoted job stops others as if it had not been"),
    JSON_CHOICE(T, preempt_order, co_preempt_order_names, CO_NEWEST, 0,
                "Whom it stops first; default newest"),
    JSON_CHOICE(T, preempt_site, co_preempt_site_names, CO_PREEMPT_ORIGINAL, 0,
                "Where; default original"),
    JSON_INTEGER(T, error_threshold, 1, 1e9, 0, JSON_BOUND_ONLY,
                 "Soft errors in a row that take a site out; default 5"),
    PRESET(unusable_cooldown_s, 0, SECONDS_MAX, JSON_ABOVE_MIN,
           "Until it is taken back; default: never"),
    JSON_BOOLEAN(T, avoid_failed_sites, 0, 0,
                 "A job that failed avoids the site, if it can; default false"),
    JSON_BOOLEAN(T, local_priority, 1, 0,
                 "Local jobs that wait come before claims; default true"),
    PRESET(max_run_time_s, 0, SECONDS_MAX, JSON_ABOVE_MIN,
           "Longer runs are ended, and have failed; default: none",
           JSON_WAS({"max_runtime_s", 0})),
    PRESET(slowdown_ratio, 0.01, 1000, 0,
           "Run time on several sites over that on one; default 1"),
    JSON_INTEGER(T, backlog, 0, CO_SIM_JOBS_MAX, 0, 0,
                 "So many jobs wait all the time, whatever their arrival times, to find "
                 "the maximal utilisation; default 0: no"),
    PRESET(warmup_s, 0, SECONDS_MAX, 0, "Left out of that; default 0"),
    PRESET(horizon_s, 0, SECONDS_MAX, JSON_ABOVE_MIN, "It ends then; default 30 days"),
    {0},
};
#undef T
static const struct json_object settings_json = {
    "CoallocationSimulationSettings",
    "What is left out is as in the stream's own experiment",
    sizeof(struct co_sim_settings_request), settings_rows};

#define T struct co_sim_request
static const struct json_field request_rows[] = {
    JSON_CHOICE(T, kind, kinds, 0, JSON_REQUIRED, "coallocation"),
    DECISION_REQUEST_ROWS(T),
    JSON_ID(T, name, JSON_NULLABLE, "Name, for lists of simulations"),
    JSON_CHOICE(T, workload, co_workload_names, NOT_GIVEN, 0,
                "A stream of the source's experiments; default w30, unless jobs are "
                "given"),
    JSON_INTEGER(T, job_count, 1, CO_SIM_JOBS_MAX, 0, JSON_BOUND_ONLY,
                 "Jobs of the stream; default: as in the source"),
    JSON_NUMBER(T, replica_count, 0, CO_SIM_SITES_MAX, NAN, JSON_NULLABLE,
                "Sites with a copy of a job's file; 0: no files; default 1, of "
                "unreliable 2"),
    JSON_NUMBER(T, mean_gap_s, 0, SECONDS_MAX, NAN, JSON_NULLABLE | JSON_ABOVE_MIN,
                "Mean time between arrivals; default: as in the source"),
    JSON_CHOICE(T, request_type, co_request_type_names, CO_NON_FIXED, 0,
                "Of the stream's jobs; fixed: on sites drawn at random; default "
                "non_fixed"),
    JSON_CHOICE(T, component_site_rule, co_site_rule_names, CO_SITES_ANY, 0,
                "Likewise; default any"),
    JSON_OBJECT(T, grid, struct co_sim_grid_request, &grid_json, 0, "The clusters"),
    JSON_LIST(T, jobs, job_request_count, struct co_sim_job_request, &job_json,
              CO_SIM_JOBS_MAX, 0, "The jobs one by one, instead of a stream"),
    JSON_TEXTS(T, policies, policy_count, CO_SIM_POLICIES_MAX, 0,
               "Placement policies to compare; default: algorithm, else close_to_files "
               "and worst_fit"),
    JSON_OBJECT(T, settings, struct co_sim_settings_request, &settings_json, 0,
                "How the scheduler and its clusters behave"),
    JSON_INTEGER(T, runs, 1, CO_SIM_RUNS_MAX, 5, 0,
                 "Runs, each with other random numbers; default 5"),
    JSON_BOOLEAN(T, per_job, 0, 0, "What became of each job of the first run"),
    {0},
};
#undef T
const struct json_object coallocation_simulation_request_json = {
    "CoallocationSimulationRequest",
    "Parallel jobs with files on clusters with local jobs, and policies to compare",
    sizeof(struct co_sim_request), request_rows};

/* ---- the grid ---- */

static enum error_code check_grid(const struct co_sim_grid_request *in,
                                  const struct co_site *sites, struct co_grid *grid,
                                  struct arena *a, struct error *err)
{
    struct co_snapshot snapshot = {
        .taken_at_s = (double)NAN,
        .sites = sites,
        .site_count = in->site_count,
        .links = in->links,
        .link_count = in->link_count,
        .default_bandwidth_mbps = in->default_bandwidth_mbps,
    };

    return co_grid_create(&snapshot, "/grid", grid, a, err);
}

static enum error_code given_grid(const struct co_sim_grid_request *in,
                                  struct co_sim_grid *out, struct arena *a,
                                  struct error *err)
{
    struct co_sim_site *list = NEW(a, struct co_sim_site, in->site_count);
    struct co_site *sites = NEW(a, struct co_site, in->site_count);
    struct co_grid grid;
    enum error_code code;

    for (size_t i = 0; i < in->site_count; i++) {
        list[i] = (struct co_sim_site){in->sites[i].id, in->sites[i].processors_total,
                                       in->sites[i].failure_ratio};
        sites[i] = (struct co_site){
            .id = in->sites[i].id,
            .processors_total = (double)in->sites[i].processors_total,
            .processors_busy = (double)NAN,
            .processors_erroneous = (double)NAN,
            .processors_idle = (double)NAN,
            .usable = true,
            .measured_at_s = (double)NAN,
        };
    }
    code = check_grid(in, sites, &grid, a, err);
    *out = (struct co_sim_grid){list, in->site_count, in->links, in->link_count,
                                in->default_bandwidth_mbps};
    return code == ERR_INVALID ? OK : code;
}

static enum error_code read_grid(const struct co_sim_request *body,
                                 enum co_workload_kind kind, struct co_sim_grid *out,
                                 struct arena *a, struct error *err)
{
    const struct co_sim_grid_request *in = &body->grid;

    if (in->site_count && in->preset != NOT_GIVEN)
        invalid(err, "/grid/sites", ITEM_CONFLICT, "give preset or sites");
    if (in->site_count)
        return given_grid(in, out, a, err);
    if (in->link_count)
        invalid(err, "/grid/links", ITEM_CONFLICT, "links are between given sites");
    if (!isnan(in->default_bandwidth_mbps))
        invalid(err, "/grid/default_bandwidth_mbps", ITEM_CONFLICT,
                "it is for given sites");
    *out = co_sim_grid(in->preset == NOT_GIVEN ? co_sim_grid_of(kind)
                                               : (enum co_sim_grid_kind)in->preset);
    return OK;
}

/* ---- given jobs ---- */

struct job_reader {
    const struct co_sim_grid *grid;
    struct name_index sites, names;
    struct arena *a;
    struct error *err;
};

__attribute__((format(printf, 4, 5))) static void mistake(struct job_reader *r,
                                                          enum item_code code,
                                                          const char *detail,
                                                          const char *format, ...)
{
    va_list args;
    char *pointer;

    va_start(args, format);
    pointer = arena_vprintf(r->a, format, args);
    va_end(args);
    invalid(r->err, pointer, code, "%s", detail);
}

static size_t site_of(struct job_reader *r, const char *id, const char *member, size_t j,
                      size_t i)
{
    size_t site = name_index_find(&r->sites, id);

    if (site == NAME_NOT_FOUND)
        mistake(r, ITEM_UNKNOWN_ID, "the grid has no such site", "/jobs/%zu/%s/%zu%s", j,
                member, i, strcmp(member, "components") == 0 ? "/site_id" : "");
    return site;
}

static enum error_code read_components(struct job_reader *r, size_t j,
                                       const struct co_sim_job_request *in,
                                       struct co_sim_job *out)
{
    size_t *processors = NEW(r->a, size_t, in->component_count);
    size_t *sites = NEW(r->a, size_t, in->component_count);
    size_t fixed = 0;

    for (size_t c = 0; c < in->component_count; c++) {
        const char *id = in->components[c].site_id;

        processors[c] = in->components[c].processors;
        sites[c] = id ? site_of(r, id, "components", j, c) : CO_NONE;
        fixed += id != NULL;
        if (in->request_type == CO_FIXED && !id)
            mistake(r, ITEM_REQUIRED, "every component of a fixed request has a site",
                    "/jobs/%zu/components/%zu/site_id", j, c);
        if (id && (in->request_type == CO_NON_FIXED || in->request_type == CO_FLEXIBLE))
            mistake(r, ITEM_CONFLICT, "only fixed and semi_fixed requests have sites",
                    "/jobs/%zu/components/%zu/site_id", j, c);
    }
    if (in->component_count == 0)
        mistake(r, ITEM_TOO_SHORT, "a job has at least one component",
                "/jobs/%zu/components", j);
    out->processors = processors;
    out->sites = fixed ? sites : NULL;
    out->component_count = in->component_count;
    return OK;
}

static enum error_code read_file(struct job_reader *r, size_t j,
                                 const struct co_sim_job_request *in,
                                 struct co_sim_job *out)
{
    size_t *sites = NEW(r->a, size_t, in->file_site_count);

    for (size_t i = 0; i < in->file_site_count; i++)
        sites[i] = site_of(r, in->file_site_ids[i], "file_site_ids", j, i);
    if (in->file_bytes > 0 && in->file_site_count == 0)
        mistake(r, ITEM_REQUIRED, "which sites have the file?", "/jobs/%zu/file_site_ids",
                j);
    out->file_bytes = in->file_bytes;
    out->file_sites = sites;
    out->file_site_count = in->file_bytes > 0 ? in->file_site_count : 0;
    return OK;
}

static int compare_jobs(const void *left, const void *right)
{
    const struct co_sim_job *l = left, *r = right;

    if (l->submit_s < r->submit_s || l->submit_s > r->submit_s)
        return l->submit_s < r->submit_s ? -1 : 1;
    return strcmp(l->id, r->id);
}

static enum error_code read_jobs(const struct co_sim_request *body,
                                 struct co_sim_setting *s, struct arena *a,
                                 struct error *err)
{
    struct job_reader r = {.grid = &s->in.grid, .a = a, .err = err};
    size_t count = body->job_request_count;
    struct co_sim_job *jobs = NEW(a, struct co_sim_job, count);

    name_index_create(&r.sites, s->in.grid.site_count, a);
    name_index_create(&r.names, count, a);
    for (size_t i = 0; i < s->in.grid.site_count; i++)
        name_index_add(&r.sites, s->in.grid.sites[i].id, i);
    for (size_t j = 0; j < count; j++) {
        const struct co_sim_job_request *in = &body->jobs[j];

        jobs[j] = (struct co_sim_job){
            .id = in->id,
            .submit_s = in->submit_s,
            .run_time_s = in->run_time_s,
            .type = (enum co_request_type)in->request_type,
            .level = (enum co_level)in->priority,
            .distinct = in->component_site_rule == CO_SITES_DISTINCT,
        };
        if (name_index_add(&r.names, in->id, j) != NAME_NOT_FOUND)
            mistake(&r, ITEM_DUPLICATE, "another job has this name", "/jobs/%zu/id", j);
        TRY(read_components(&r, j, in, &jobs[j]));
        TRY(read_file(&r, j, in, &jobs[j]));
    }
    qsort(jobs, count, sizeof(*jobs), compare_jobs);
    s->in.jobs = jobs;
    s->in.job_count = count;
    return OK;
}

/* ---- settings ---- */

static void take(double given, double *value)
{
    if (!isnan(given))
        *value = given;
}

static void take_count(double given, size_t *value)
{
    if (!isnan(given))
        *value = (size_t)given;
}

static void take_weight(uint64_t given, size_t *value)
{
    if (given)
        *value = (size_t)given;
}

static void read_background(const struct co_sim_settings_request *in,
                            struct co_sim_background *out, struct error *err)
{
    take(in->background_lower_ratio, &out->lower_ratio);
    take(in->background_add_ratio, &out->add_ratio);
    if (!isnan(in->background_lower_ratio))
        out->upper_ratio = fmin(1, out->lower_ratio + 0.1);
    take(in->background_upper_ratio, &out->upper_ratio);
    take(in->local_ratio, &out->local_ratio);
    take(in->local_run_time_s, &out->local_run_time_s);
    take(in->monitor_interval_s, &out->monitor_interval_s);
    if (out->upper_ratio < out->lower_ratio)
        invalid(err, "/settings/background_upper_ratio", ITEM_OUT_OF_BOUNDS,
                "below background_lower_ratio, %g", out->lower_ratio);
    if (out->lower_ratio + out->add_ratio > 1)
        invalid(err, "/settings/background_add_ratio", ITEM_OUT_OF_BOUNDS,
                "with background_lower_ratio more than all processors");
}

static void read_queues(const struct co_sim_settings_request *in,
                        struct co_sim_settings *out)
{
    if (in->scan_mode != NOT_GIVEN) {
        out->event_driven = in->scan_mode == SCAN_EVENTS;
        out->try_on_arrival = in->scan_mode == SCAN_ARRIVAL;
    }
    take(in->scan_interval_s, &out->scan_interval_s);
    take_weight(in->n_h, &out->weights.higher);
    take_weight(in->n_l, &out->weights.lower);
    take_weight(in->n_1, &out->weights.level[CO_SUPER_HIGH]);
    take_weight(in->n_2, &out->weights.level[CO_HIGH]);
    take_weight(in->n_3, &out->weights.level[CO_LOW]);
    take_weight(in->n_4, &out->weights.level[CO_SUPER_LOW]);
    take_count(in->max_placement_tries, &out->scan.max_tries);
    take_count(in->promotion_p, &out->scan.promotion);
    take_count(in->max_overtakes, &out->scan.max_overtakes);
    take(in->max_wait_s, &out->scan.max_wait_s);
}

static void read_claims(const struct co_sim_settings_request *in,
                        struct co_claim_options *out)
{
    take(in->t_threshold, &out->t_threshold);
    take(in->l_decrement, &out->l_decrement);
    take(in->l_min, &out->l_min);
    take_count(in->max_claim_tries, &out->max_tries);
    out->allow_start_equal = in->allow_start_equal;
    out->preempt_only_if_complete = in->preempt_only_if_complete;
    out->preempt_with_base_priority = in->preempt_with_base_priority;
    out->preempt_order = (enum co_preempt_order)in->preempt_order;
    out->preempt_site = (enum co_preempt_site)in->preempt_site;
}

static void read_settings(const struct co_sim_settings_request *in,
                          struct co_sim_settings *out, struct error *err)
{
    read_background(in, &out->background, err);
    read_queues(in, out);
    read_claims(in, &out->claim);
    take_weight(in->error_threshold, &out->error_threshold);
    take(in->unusable_cooldown_s, &out->unusable_cooldown_s);
    out->avoid_failed_sites = in->avoid_failed_sites;
    out->local_priority = in->local_priority;
    take(in->max_run_time_s, &out->max_run_time_s);
    take(in->slowdown_ratio, &out->slowdown_ratio);
    out->backlog = (size_t)in->backlog;
    take(in->warmup_s, &out->warmup_s);
    take(in->horizon_s, &out->horizon_s);
}

/* ---- policies ---- */

static bool has_param(const struct param *rows, const char *name)
{
    for (; rows && rows->name; rows++)
        if (strcmp(rows->name, name) == 0)
            return true;
    return false;
}

/* Each policy gets the options that it knows. */
static enum error_code bind(const struct decision_request *decision,
                            struct co_sim_setting *s, size_t p, bool *known,
                            struct arena *a, struct error *err)
{
    struct named_value *mine = NEW(a, struct named_value, decision->option_count);
    size_t count = 0;
    enum error_code code;

    for (size_t i = 0; i < decision->option_count; i++) {
        const struct named_value *option = &decision->options[i];

        if (has_param(co_common_params, option->name) ||
            has_param(s->policies[p]->params, option->name)) {
            mine[count++] = *option;
            known[i] = true;
        }
    }
    code = policy_bind(s->policies[p], mine, count, s->param[p], err);
    return code == ERR_INVALID ? OK : code;
}

static void find_policy(struct co_sim_setting *s, const char *name, const char *pointer,
                        struct error *err)
{
    const struct policy *const tables[] = {coallocation_policies, NULL};
    const struct policy *policy = policy_find(coallocation_policies, name);

    if (policy)
        s->policies[s->policy_count++] = policy;
    else
        decision_no_policy(pointer, name, "co-allocation policy", tables, err);
}

static enum error_code read_policies(const struct co_sim_request *body,
                                     enum co_workload_kind kind, struct co_sim_setting *s,
                                     struct arena *a, struct error *err)
{
    const struct decision_request *decision = &body->decision;
    bool *known = NEW(a, bool, decision->option_count);
    bool has_files = kind != CO_WORKLOAD_w_nc && kind != CO_WORKLOAD_w_c;

    for (size_t i = 0; i < body->policy_count; i++) {
        struct pointer pointer;

        pointer = pointer_in("/policies", i, NULL);
        find_policy(s, body->policies[i], pointer.text, err);
    }
    if (body->policy_count == 0 && decision->algorithm &&
        strcmp(decision->algorithm, "auto") != 0) {
        find_policy(s, decision->algorithm, "/algorithm", err);
    } else if (body->policy_count == 0) {
        if (has_files)
            find_policy(s, "close_to_files", "", err);
        find_policy(s, "worst_fit", "", err);
    }
    for (size_t p = 0; p < s->policy_count; p++)
        TRY(bind(decision, s, p, known, a, err));
    for (size_t i = 0; i < decision->option_count; i++)
        if (!known[i]) {
            struct pointer pointer = pointer_named("/options", decision->options[i].name);

            invalid(err, pointer.text, ITEM_UNKNOWN_OPTION,
                    "none of the policies has it");
        }
    return OK;
}

/* ---- all ---- */

/* Whether policies and jobs fit: some take only flexible jobs, some take none. */
static void check_types(const struct co_sim_request *body, const struct co_sim_setting *s,
                        struct error *err)
{
    bool stream = body->job_request_count == 0;
    bool any = stream && body->request_type == CO_FLEXIBLE, all = any || !stream;

    for (size_t j = 0; j < body->job_request_count; j++) {
        bool is_flexible = body->jobs[j].request_type == CO_FLEXIBLE;

        any = any || is_flexible;
        all = all && is_flexible;
    }
    for (size_t p = 0; p < s->policy_count; p++) {
        const struct policy *policy = s->policies[p];

        if (policy->flags & CO_FLEXIBLE_ONLY && !all)
            invalid(err, "/policies", ITEM_CONFLICT, "%s takes only flexible jobs",
                    policy->name);
        if (co_split_of(policy) == CO_SPLIT_NONE && any)
            invalid(err, "/policies", ITEM_CONFLICT, "%s takes no flexible jobs",
                    policy->name);
    }
    if (body->request_type == CO_SEMI_FIXED)
        invalid(err, "/request_type", ITEM_CONFLICT,
                "a stream has no semi_fixed jobs; give them one by one");
}

static void check_stream(const struct co_sim_request *body, struct error *err)
{
    if (body->job_request_count && body->workload != NOT_GIVEN)
        invalid(err, "/jobs", ITEM_CONFLICT, "give workload or jobs");
    if (body->job_request_count && body->job_count)
        invalid(err, "/job_count", ITEM_CONFLICT, "it is for a workload");
}

enum error_code co_sim_read(const struct co_sim_request *in, struct co_sim_setting *out,
                            struct arena *a, struct error *err)
{
    enum co_workload_kind kind =
        in->workload == NOT_GIVEN ? CO_WORKLOAD_w30 : (enum co_workload_kind)in->workload;

    check_stream(in, err);
    TRY(read_grid(in, kind, &out->in.grid, a, err));
    out->in.settings = co_sim_presets(kind);
    read_settings(&in->settings, &out->in.settings, err);
    TRY(read_policies(in, kind, out, a, err));
    out->draw = (struct co_workload_in){
        .kind = kind,
        .job_count = (size_t)in->job_count,
        .replica_count = in->replica_count,
        .mean_gap_s = in->mean_gap_s,
        .site_count = out->in.grid.site_count,
        .type = (enum co_request_type)in->request_type,
        .distinct = in->component_site_rule == CO_SITES_DISTINCT,
    };
    for (size_t i = 0; i < out->in.grid.site_count; i++)
        out->draw.capacity += (double)out->in.grid.sites[i].processors;
    if (in->job_request_count)
        TRY(read_jobs(in, out, a, err));
    check_types(in, out, err);
    return err->code;
}

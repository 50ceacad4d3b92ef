/* simulation_scenario.c - a scenario from a request: grid, times, limits. */
#include "handlers/simulation_grid/simulation_scenario.h"

#include "handlers/simulation/simulation_parts.h"
#include "models/base/names.h"
#include "models/base/pointer.h"

#include <stdio.h>
#include <string.h>

static const double GENERATED_STOP_S = 604800; /* of generated jobs: a week */
static const double IS_INTERVAL_S = 300;
enum { WARNING_BYTES = 400 };

void simulation_warn(struct simulation_setting *setting, struct arena *a,
                     const char *format, ...)
{
    char text[WARNING_BYTES];
    va_list args;
    const char *kept;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    kept = arena_text(a, text, strlen(text));
    if (setting->warning_count < SIMULATION_WARNINGS_MAX)
        setting->warnings[setting->warning_count++] = kept;
}

/* ---- presets ---- */

static enum error_code load_preset(struct building *b, const char *name)
{
    const char *names[256];
    struct error here = {.code = OK};
    char hint[NAMES_HINT_BYTES];
    size_t count = 0;

    if (!name) {
        b->scenario = sim_scenario_preset();
        return OK;
    }
    if (sim_preset_load(name, &b->scenario, b->a, &here) == OK)
        return OK;
    b->scenario = sim_scenario_preset();
    if (here.code != ERR_NOT_FOUND)
        return fail(b->err, here.code, here.field, "%s", here.text);
    for (; sim_presets[count].name && count < 256; count++)
        names[count] = sim_presets[count].name;
    invalid(b->err, "/preset", ITEM_NOT_A_CHOICE, "there is no preset '%.60s'; %s", name,
            names_hint(name, names, count, hint, sizeof(hint)));
    error_allow(b->err, name, names, count);
    return ERR_INVALID;
}

/* ---- groups of resources ---- */

static void make_groups(struct building *b, size_t count)
{
    b->groups = NEW(b->a, struct sim_group, count);
}

/* Copies a distribution that was given. */
static void take(const struct distribution *given, struct distribution *to)
{
    if (given)
        *to = *given;
}

static void mistake_at(struct building *b, const char *pointer, const char *member,
                       enum item_code code, const char *text)
{
    invalid(b->err, pointer_of(pointer, member).text, code, "%s", text);
}

static void check_outages(struct building *b, const struct simulation_resources *in,
                          const char *pointer)
{
    for (size_t i = 0; i < in->outage_count; i++) {
        char member[64];

        if (!(in->outages[i].up_at_s < in->outages[i].down_at_s))
            continue;
        snprintf(member, sizeof(member), "outages/%zu/up_s", i);
        mistake_at(b, pointer, member, ITEM_OUT_OF_BOUNDS,
                   "the failure ends before it begins");
    }
    for (size_t i = 1; i < in->load_trace_count; i++) {
        char member[64];

        if (in->load_trace[i].at_s >= in->load_trace[i - 1].at_s)
            continue;
        snprintf(member, sizeof(member), "load_trace/%zu/at_s", i);
        mistake_at(b, pointer, member, ITEM_OUT_OF_BOUNDS, "earlier than the one before");
    }
}

static void take_trace(struct building *b, const struct simulation_resources *in,
                       const char *pointer, struct sim_group *group)
{
    size_t mistakes = b->err->item_count;
    struct sim_trace *trace = NEW(b->a, struct sim_trace, 1);

    if (in->outage_count == 0 && in->load_trace_count == 0)
        return;
    if (in->number > 1)
        mistake_at(b, pointer, in->outage_count ? "outages" : "load_trace", ITEM_CONFLICT,
                   "only of a single resource: number must be 1");
    if (in->failure && in->outage_count)
        mistake_at(b, pointer, "outages", ITEM_CONFLICT,
                   "give either failure or outages");
    check_outages(b, in, pointer);
    if (b->err->item_count > mistakes)
        return;
    *trace = (struct sim_trace){in->outages, in->outage_count, in->load_trace,
                                in->load_trace_count};
    group->traces = trace;
}

static void take_failures(struct building *b, const struct simulation_resources *in,
                          const char *pointer, struct sim_group *group)
{
    group->fails = in->failure && in->restore;
    take(in->failure, &group->failure);
    take(in->restore, &group->restore);
    if (in->failure && !in->restore)
        mistake_at(b, pointer, "restore", ITEM_REQUIRED, "needed with failure");
    if (in->restore && !in->failure)
        mistake_at(b, pointer, "failure", ITEM_REQUIRED, "needed with restore");
    if (!in->failure_group)
        return;
    group->failure_group = name_index_find(&b->failure_groups, in->failure_group);
    if (group->failure_group == NAME_NOT_FOUND) {
        group->failure_group = SIM_NO_FAILURE_GROUP;
        mistake_at(b, pointer, "failure_group", ITEM_UNKNOWN_ID,
                   "not one of failure_groups");
    }
}

static void take_load(const struct simulation_load *in, struct sim_load *load)
{
    if (!in)
        return;
    load->interval_s = in->interval_s;
    load->change_percent = distribution_uniform(1, 100);
    load->initial_fraction = distribution_uniform(0, 0.5);
    take(in->change_percent, &load->change_percent);
    take(in->initial_fraction, &load->initial_fraction);
}

/* The name of a group, and the number of its first resource. */
static void name_group(struct building *b, const struct simulation_site *site,
                       size_t index, struct sim_group *group)
{
    const struct simulation_resources *in = &site->resources[index];

    group->first_number = 1;
    if (in->id) {
        group->id = in->id;
        group->first_number = in->number > 1;
        return;
    }
    group->id = index == 0 ? arena_printf(b->a, "%s-", site->id)
                           : arena_printf(b->a, "%s-%zu-", site->id, index + 1);
}

static void take_group(struct building *b, size_t site_index, size_t index,
                       struct sim_group *group)
{
    const struct simulation_site *site = &b->body->sites[site_index];
    const struct simulation_resources *in = &site->resources[index];
    const char *pointer = pointer_keep(pointer_in("/sites", site_index, "resources").text,
                                       index, NULL, b->a);

    *group = (struct sim_group){
        .pointer = pointer,
        .count = (size_t)in->number,
        .site = site_index,
        .mips_total = distribution_constant(1),
        .n_max = (size_t)in->n_max,
        .sharing = (enum sim_sharing)in->sharing,
        .register_s = in->register_s,
        .failure_group = SIM_NO_FAILURE_GROUP,
    };
    name_group(b, site, index, group);
    take(in->mips_total, &group->mips_total);
    take_failures(b, in, pointer, group);
    take_load(in->load, &group->load);
    take_trace(b, in, pointer, group);
}

static void index_failure_groups(struct building *b)
{
    const struct simulation_request *body = b->body;
    struct sim_failure_group *list =
        NEW(b->a, struct sim_failure_group, body->failure_group_count);

    name_index_create(&b->failure_groups, body->failure_group_count, b->a);
    for (size_t i = 0; i < body->failure_group_count; i++) {
        list[i] = body->failure_groups[i].burst;
        name_index_add(&b->failure_groups, body->failure_groups[i].id, i);
    }
    if (body->sites || body->failure_group_count) {
        b->scenario.failure_groups = list;
        b->scenario.failure_group_count = body->failure_group_count;
    }
}

static void take_sites(struct building *b)
{
    const struct simulation_request *body = b->body;
    const char **sites = NEW(b->a, const char *, body->site_count);
    size_t count = 0;

    for (size_t i = 0; i < body->site_count; i++)
        count += body->sites[i].resource_count;
    make_groups(b, count);
    for (size_t i = 0; i < body->site_count; i++) {
        sites[i] = body->sites[i].id;
        for (size_t k = 0; k < body->sites[i].resource_count; k++)
            take_group(b, i, k, &b->groups[b->group_count++]);
    }
    b->scenario.sites = sites;
    b->scenario.site_count = body->site_count;
}

/* The preset's own groups, so that a trace can be laid over them. */
static void take_preset_groups(struct building *b)
{
    b->group_count = b->scenario.group_count;
    make_groups(b, b->group_count);
    for (size_t i = 0; i < b->group_count; i++) {
        b->groups[i] = b->scenario.groups[i];
        b->groups[i].pointer = "/preset";
    }
}

/* ---- snapshots ---- */

/* The site of a resource; one without a site has one of its own. */
static size_t site_of(struct building *b, const struct resource *r, const char **sites)
{
    const char *name = r->site_id ? r->site_id : r->id;
    size_t at = name_index_add(&b->sites, name, b->scenario.site_count);

    if (at != NAME_NOT_FOUND)
        return at;
    sites[b->scenario.site_count] = name;
    return b->scenario.site_count++;
}

static void take_resource(struct building *b, const struct resource *r, size_t index,
                          struct sim_group *group)
{
    double slots = fmax(1, (double)resource_slots(r));
    double total_mips = r->mips_total * r->cpu_available_ratio;

    if (r->sharing == SHARING_SLOTS && slots > 1) {
        total_mips *= slots;
        b->slots_shared = true;
    }
    *group = (struct sim_group){
        .pointer = pointer_keep("/snapshot/resources", index, NULL, b->a),
        .id = r->id,
        .count = 1,
        .mips_total = distribution_constant(fmax(0, total_mips - r->mips_external)),
        .n_max = (size_t)slots,
        .sharing = SIM_SHARING_EQUAL,
        .failure_group = SIM_NO_FAILURE_GROUP,
    };
}

static void take_snapshot(struct building *b, const struct snapshot *snapshot)
{
    const char **sites = NEW(b->a, const char *, snapshot->resource_count);

    make_groups(b, snapshot->resource_count);
    name_index_create(&b->sites, snapshot->resource_count, b->a);
    b->scenario.site_count = 0;
    for (size_t i = 0; i < snapshot->resource_count; i++) {
        struct sim_group *group = &b->groups[b->group_count++];

        take_resource(b, &snapshot->resources[i], i, group);
        group->site = site_of(b, &snapshot->resources[i], sites);
    }
    b->scenario.sites = sites;
    if (b->slots_shared)
        simulation_warn(b->out, b->a,
                        "slots: resources with several slots are simulated as ones that "
                        "their jobs share, with the speed of all slots together");
}

/* ---- the grid as a whole ---- */

static enum error_code check_size(struct building *b)
{
    size_t count = 0;

    for (size_t i = 0; i < b->group_count; i++)
        count += b->groups[i].count;
    if (count == 0)
        return invalid(b->err, "/sites", ITEM_REQUIRED,
                       "the grid is empty: give sites with resources, a snapshot, a "
                       "snapshot_id or a preset");
    if (count > SIMULATION_RESOURCES_MAX)
        return invalid(b->err, "/sites", ITEM_TOO_LONG, "%zu resources are more than %d",
                       count, SIMULATION_RESOURCES_MAX);
    return OK;
}

static enum error_code take_grid(struct building *b)
{
    const struct simulation_request *body = b->body;
    const struct snapshot *snapshot = NULL;

    index_failure_groups(b);
    if (body->sites && (body->snapshot || body->snapshot_id))
        invalid(b->err, "/sites", ITEM_CONFLICT, "give either sites or a snapshot");
    if (body->snapshot || body->snapshot_id || body->resources_from_snapshot) {
        enum error_code code =
            decision_snapshot(b->rq, body->snapshot, body->snapshot_id, true, &snapshot);

        if (code != OK && code != ERR_INVALID)
            return code;
        if (code != OK || !snapshot)
            return OK; /* noted */
        take_snapshot(b, snapshot);
        if (!body->failure_trace_id)
            TRY(simulation_histories(b, snapshot));
    } else if (body->sites) {
        take_sites(b);
    } else {
        take_preset_groups(b);
    }
    b->scenario.groups = b->groups;
    b->scenario.group_count = b->group_count;
    check_size(b);
    return OK;
}

/* ---- times, network ---- */

static void take_number(double given, double *to)
{
    if (!isnan(given))
        *to = given;
}

static void take_network(struct building *b)
{
    const struct simulation_network *in = b->body->network;
    struct sim_network *to = &b->scenario.network;

    if (!in)
        return;
    if (in->mode != SIMULATION_NOT_GIVEN)
        to->mode = (enum sim_network_mode)in->mode;
    take_number(in->bandwidth_mbps, &to->bandwidth_mbps);
    take_number(in->latency_s, &to->latency_s);
    take_number(in->lan_mbps, &to->lan_mbps);
    take_number(in->lan_latency_s, &to->lan_latency_s);
    take_number(in->wan_share_mbps, &to->wan_share_mbps);
    take(in->wan_latency_s, &to->wan_latency_s);
}

static void take_information_service(struct building *b)
{
    const struct simulation_information_service *in = b->body->information_service;
    double *interval_s = &b->scenario.is_interval_s;

    if (!in)
        return;
    if (in->mode == SIMULATION_IS_IMMEDIATE) {
        *interval_s = 0;
        if (!isnan(in->interval_s))
            invalid(b->err, "/information_service/interval_s", ITEM_CONFLICT,
                    "an immediate one has no interval");
        return;
    }
    if (in->mode == SIMULATION_IS_PERIODIC && *interval_s <= 0)
        *interval_s = IS_INTERVAL_S;
    take_number(in->interval_s, interval_s);
}

/* Jobs that will all have come one day. */
static bool is_given(const struct workload *w)
{
    bool all = w->generator == WORKLOAD_BATCH || w->generator == WORKLOAD_SWF ||
               w->generator == WORKLOAD_INTERFACES;

    for (size_t i = 0; w->generator == WORKLOAD_INTERFACES && i < w->interface_count; i++)
        all &= is_given(w->interfaces[i].workload);
    return all;
}

static void take_stop(struct building *b)
{
    const struct simulation_stop *in = b->body->stop;
    const struct workload *w = &b->out->workload;
    bool given = is_given(w);
    double *time_s = &b->scenario.stop_time_s;

    if (in) {
        take_number(in->time_s, time_s);
        b->scenario.stop_jobs = in->jobs;
        b->scenario.stop_when_done = in->when_done;
    }
    if (in && !isnan(in->time_s))
        return;
    if (given) {
        *time_s = SIM_TIME_MAX_S;
        b->scenario.stop_when_done = true;
    } else if (!b->body->preset) {
        *time_s = GENERATED_STOP_S;
    }
}

static void take_rest(struct building *b)
{
    const struct simulation_request *body = b->body;
    struct sim_scenario *s = &b->scenario;

    take_number(body->stable_after_s, &s->stable_after_s);
    take_number(body->warm_up_s, &s->warm_up_s);
    take_number(body->storage_bytes, &s->storage_bytes);
    if (body->initial_state != SIMULATION_NOT_GIVEN)
        s->initial_state = (enum sim_initial_state)body->initial_state;
    if (body->detection != SIMULATION_NOT_GIVEN)
        s->detection = (enum sim_detection)body->detection;
    if (body->scheduler)
        take_number(body->scheduler->interval_s, &s->scheduler_interval_s);
    if (body->overhead_s)
        s->overhead = *body->overhead_s;
    take_network(b);
    take_information_service(b);
    take_stop(b);
}

/* ---- all together ---- */

/* Jobs that cannot be done in time even on the fastest resource. */
static void warn_too_long(struct building *b)
{
    const struct workload *w = &b->out->workload;
    double fastest_mips = 0, longest_mi = 0;

    for (size_t i = 0; i < b->scenario.group_count; i++) {
        const struct distribution *mips = &b->scenario.groups[i].mips_total;

        fastest_mips = fmax(fastest_mips, mips->kind == DISTRIBUTION_UNIFORM
                                              ? mips->u_bound
                                              : distribution_mean(mips));
    }
    for (size_t i = 0; w->generator == WORKLOAD_BATCH && i < w->given_count; i++)
        longest_mi = fmax(longest_mi, w->jobs[i].length_mi);
    for (size_t i = 0; w->generator == WORKLOAD_SWF && i < w->swf_job_count; i++)
        longest_mi = fmax(longest_mi, w->swf_jobs[i].run_s * w->swf_mips);
    if (w->generator != WORKLOAD_BATCH && w->generator != WORKLOAD_SWF && w->length_mi)
        longest_mi = distribution_least(w->length_mi);
    if (w->generator == WORKLOAD_INTERFACES)
        return;
    if (longest_mi > fastest_mips * b->scenario.stop_time_s)
        simulation_warn(b->out, b->a,
                        "too_long: there are jobs of %g MI, which no resource can do in "
                        "the %g s of a run",
                        longest_mi, b->scenario.stop_time_s);
}

enum error_code simulation_scenario(struct request *rq,
                                    const struct simulation_request *body,
                                    struct simulation_setting *out)
{
    struct building b = {
        .rq = rq, .body = body, .out = out, .a = rq->arena, .err = rq->err};
    bool grid_known;
    size_t mistakes;

    load_preset(&b, body->preset);
    TRY(take_grid(&b) == OK || rq->err->code == ERR_INVALID ? OK : rq->err->code);
    TRY(simulation_workload(&b) == OK || rq->err->code == ERR_INVALID ? OK
                                                                      : rq->err->code);
    take_rest(&b);
    if (b.group_count)
        TRY(simulation_network(&b));
    b.scenario.workload = &out->workload;
    grid_known = rq->err->code == OK;
    if (body->failure_trace_id && grid_known)
        TRY(simulation_failure_trace(&b));
    mistakes = rq->err->item_count;
    if (b.group_count)
        sim_scenario_prepare(&b.scenario, "", b.a, b.err);
    if (b.group_count && rq->err->item_count == mistakes)
        simulation_pins(&b);
    TRY(rq->err->code);
    warn_too_long(&b);
    out->scenario = b.scenario;
    return OK;
}

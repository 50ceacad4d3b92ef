/* coallocation_json.c - how multiclusters and parallel jobs are read.
 *
 * Deviation: a site's measured_at and the snapshot's taken_at are instants (RFC 3339, or
 * seconds on the caller's clock); files have the names that snapshots have elsewhere
 * (`id`, `bytes`, `site_ids`).
 */
#include "handlers/coallocation/coallocation_json.h"

#include "handlers/common/decision.h"
#include "handlers/placement/run_times.h"
#include "models/base/plural.h"
#include "models/base/pointer.h"

#include <stdio.h>
#include <string.h>

const char *const co_site_rule_names[] = {"any", "distinct", NULL};
const char *const co_job_class_names[] = {"cycle_scavenging", "batch", "occasional",
                                          "interactive", NULL};

_Static_assert(sizeof(enum co_request_type) == sizeof(int), "a choice is an int");
_Static_assert(sizeof(enum co_site_rule) == sizeof(int), "a choice is an int");
_Static_assert(sizeof(enum co_file_mode) == sizeof(int), "a choice is an int");

#define PROCESSORS_MAX 1e9

/* ---- snapshot ---- */

#define T struct co_site
static const struct json_field site_rows[] = {
    JSON_ID(T, id, JSON_REQUIRED, "Name, unique in the snapshot; ties go by name"),
    JSON_NUMBER(T, processors_total, 0, PROCESSORS_MAX, NAN, JSON_NULLABLE,
                "All its processors; without it a job that cannot ever fit is not "
                "recognised"),
    JSON_NUMBER(T, processors_busy, 0, PROCESSORS_MAX, NAN, JSON_NULLABLE,
                "Those that run something; default 0"),
    JSON_NUMBER(T, processors_erroneous, 0, PROCESSORS_MAX, NAN, JSON_NULLABLE,
                "Those out of order; default 0"),
    JSON_NUMBER(T, processors_idle, 0, PROCESSORS_MAX, NAN, JSON_NULLABLE,
                "What the site would grant now; default: total - busy - erroneous"),
    JSON_NUMBER(T, processors_outstanding, 0, PROCESSORS_MAX, 0, 0,
                "Placed by this scheduler and not claimed yet; default 0"),
    JSON_BOOLEAN(T, usable, 1, 0, "false: gets no components; default true"),
    JSON_BOOLEAN(T, supports_reservation, 0, 0,
                 "Its queueing system reserves processors; default false"),
    JSON_TEXTS(T, capabilities, capability_count, 1000, 0,
               "What jobs may require, as \"globus\""),
    JSON_INSTANT(T, measured_at, JSON_NULLABLE,
                 "When its state was measured; default: fresh"),
    {0},
};
#undef T
const struct json_object co_site_json = {"CoallocationSite", "A cluster",
                                         sizeof(struct co_site), site_rows};

#define T struct co_link
static const struct json_field link_rows[] = {
    JSON_ID(T, from_site_id, JSON_REQUIRED, "Site that sends"),
    JSON_ID(T, to_site_id, JSON_REQUIRED, "Site that receives"),
    JSON_NUMBER(T, bandwidth_mbps, 0, JSON_LARGEST, 0, JSON_REQUIRED,
                "Bandwidth in 10^6 bits per second; 0: no link, whatever the default"),
    JSON_NUMBER(T, latency_s, 0, 1e9, 0, 0, "Latency in seconds; default 0"),
    JSON_BOOLEAN(T, symmetric, 0, 0,
                 "Also for the other direction, unless that is listed; default false"),
    {0},
};
#undef T
const struct json_object co_link_json = {"CoallocationLink", "A link between two sites",
                                         sizeof(struct co_link), link_rows};

#define T struct co_file
static const struct json_field file_rows[] = {
    JSON_ID(T, id, JSON_REQUIRED, "Name, unique in the snapshot"),
    JSON_NUMBER(T, bytes, 0, JSON_LARGEST, NAN, JSON_NULLABLE,
                "Size; default: what its replicas say"),
    JSON_CHOICE(T, mode, co_file_mode_names, CO_WHOLE, 0,
                "whole: every component reads all of it; chunk: each its part; default "
                "whole"),
    JSON_TEXTS(T, site_ids, site_count, CO_SITES_MAX, 0,
               "Sites with a copy, beside those in replicas"),
    {0},
};
#undef T
const struct json_object co_file_json = {"CoallocationFile", "An input file",
                                         sizeof(struct co_file), file_rows};

#define T struct co_replica
static const struct json_field replica_rows[] = {
    JSON_ID(T, file_id, JSON_REQUIRED, "The file; it need not be in files"),
    JSON_ID(T, site_id, JSON_REQUIRED, "Site with the copy"),
    JSON_TEXT(T, url, JSON_NULLABLE | JSON_OPTIONAL, "Where it is on the site"),
    JSON_NUMBER(T, bytes, 0, JSON_LARGEST, NAN, JSON_NULLABLE | JSON_OPTIONAL,
                "Size; default: what the file or another replica says"),
    {0},
};
#undef T
const struct json_object co_replica_json = {"CoallocationReplica", "A copy of a file",
                                            sizeof(struct co_replica), replica_rows};

#define T struct co_named_pair
static const struct json_field pair_rows[] = {
    JSON_ID(T, execution_site_id, JSON_REQUIRED, "Site that runs"),
    JSON_ID(T, file_site_id, JSON_REQUIRED, "Site that has the file"),
    {0},
};
#undef T
const struct json_object co_named_pair_json = {
    "CoallocationPair", "A row of the history table of close_to_files",
    sizeof(struct co_named_pair), pair_rows};

#define T struct co_snapshot
static const struct json_field snapshot_rows[] = {
    JSON_INSTANT(T, taken_at, JSON_NULLABLE, "The instant that counts as now"),
    JSON_LIST(T, sites, site_count, struct co_site, &co_site_json, CO_SITES_MAX,
              JSON_REQUIRED | JSON_UNIQUE_IDS, "Clusters"),
    JSON_LIST(T, links, link_count, struct co_link, &co_link_json, 1000000, 0,
              "Links between them"),
    JSON_NUMBER(T, default_bandwidth_mbps, 0, JSON_LARGEST, NAN,
                JSON_NULLABLE | JSON_ABOVE_MIN,
                "Between sites without a link; default: unreachable"),
    JSON_LIST(T, files, file_count, struct co_file, &co_file_json, CO_FILES_MAX,
              JSON_UNIQUE_IDS, "Input files; those only read whole may be left out"),
    JSON_LIST(T, replicas, replica_count, struct co_replica, &co_replica_json,
              CO_FILES_MAX, 0, "Copies of files; one listed twice counts once"),
    JSON_LIST(T, history_pairs, history_pair_count, struct co_named_pair,
              &co_named_pair_json, 1000000, JSON_NULLABLE,
              "History table of close_to_files; null or left out: all pairs; empty: "
              "none"),
    {0},
};
#undef T
const struct json_object co_snapshot_json = {"CoallocationSnapshot",
                                             "What the caller sees of the clusters",
                                             sizeof(struct co_snapshot), snapshot_rows};

/* ---- jobs ---- */

#define T struct co_component_request
static const struct json_field component_rows[] = {
    JSON_ID(T, id, JSON_REQUIRED, "Name, unique in the job"),
    JSON_INTEGER(T, processors, 1, PROCESSORS_MAX, 0, JSON_REQUIRED,
                 "Processors, all on one site"),
    JSON_ID(T, site_id, JSON_NULLABLE,
            "The site it must run on, in fixed and semi_fixed jobs"),
    JSON_ID(T, file_id, JSON_NULLABLE, "Its input file; default: none"),
    JSON_NUMBER(T, chunk_bytes, 0, JSON_LARGEST, NAN, JSON_NULLABLE,
                "Bytes of the file that it reads; needed with mode chunk; default: all"),
    {0},
};
#undef T
const struct json_object co_component_request_json = {
    "CoallocationComponent", "A part of a job that runs on one site",
    sizeof(struct co_component_request), component_rows};

#define T struct co_job_request
#define FLEXIBLE_NUMBER(m, text) \
    JSON_NUMBER(T, m, 1, PROCESSORS_MAX, NAN, JSON_NULLABLE | JSON_WHOLE, text)
static const struct json_field job_rows[] = {
    JSON_ID(T, id, JSON_REQUIRED, "Name, unique in the request"),
    JSON_CHOICE(T, request_type, co_request_type_names, CO_NON_FIXED, 0,
                "non_fixed: sizes are given; fixed: sites too; semi_fixed: sites of "
                "some; flexible: only total_processors; default non_fixed"),
    JSON_ID(T, policy, JSON_NULLABLE,
            "Policy for this job, or its abbreviation; default: algorithm"),
    {.name = "priority",
     .doc = "Level; default: of job_class, else low",
     .type = JSON_TYPE_CHOICE,
     .choices = co_level_names,
     .preset = -1,
     .offset = JSON_AT(T, priority, int)},
    {.name = "job_class",
     .doc = "Stands for the levels super_low, low, high, super_high",
     .type = JSON_TYPE_CHOICE,
     .choices = co_job_class_names,
     .preset = -1,
     .offset = JSON_AT(T, job_class, int)},
    JSON_ID(T, group, JSON_NULLABLE, "Group of its user"),
    JSON_ID(T, runner, JSON_NULLABLE,
            "What launches it: BoT, DRunner, IRunner, KRunner or MDrunner, whose launch "
            "plan its placement then has, or one of the caller's own"),
    JSON_BOOLEAN(T, atomic, 1, 0, "All components or none; default true"),
    JSON_INTEGER(T, min_placed_components, 1, CO_COMPONENTS_MAX, 1, 0,
                 "Not atomic: at least so many; default 1"),
    CO_SITE_ROWS(T),
    JSON_NUMBER(T, estimate_s, 0, 1e12, NAN, JSON_NULLABLE, "Run time, for reservations",
                JSON_WAS({"estimated_runtime_s", 0})),
    JSON_OBJECT(T, model, const struct job_model *, &job_model_json,
                JSON_POINTER | JSON_NULLABLE,
                "Has a stored model of run times, asked as for a machine that nothing is "
                "known of, tell estimate_s; used without that"),
    JSON_NUMBER(T, submit_time_s, -JSON_LARGEST, JSON_LARGEST, NAN, JSON_NULLABLE,
                "When it was submitted"),
    JSON_NUMBER(T, queue_entry_s, -JSON_LARGEST, JSON_LARGEST, NAN, JSON_NULLABLE,
                "When it came into its placement queue"),
    JSON_LIST(T, components, component_count, struct co_component_request,
              &co_component_request_json, CO_COMPONENTS_MAX, JSON_UNIQUE_IDS,
              "Its components, unless it is flexible"),
    FLEXIBLE_NUMBER(total_processors, "Flexible: processors of all components together"),
    FLEXIBLE_NUMBER(min_components, "Flexible: at least so many; default 1"),
    FLEXIBLE_NUMBER(max_components, "Flexible: at most so many; default: no limit"),
    FLEXIBLE_NUMBER(min_component_processors,
                    "Flexible: least size of a component; default 1"),
    FLEXIBLE_NUMBER(max_component_processors,
                    "Flexible: largest size of a component; default: no limit"),
    JSON_BOOLEAN(T, equal_components, 0, 0,
                 "Flexible: components of the same size; default false"),
    JSON_ID(T, file_id, JSON_NULLABLE, "Flexible: input file of every component"),
    JSON_INTEGER(T, placement_tries, 0, 1e12, 0, 0, "Tries to place it so far"),
    JSON_INTEGER(T, claim_tries, 0, 1e12, 0, 0, "Tries to claim its processors so far"),
    JSON_INTEGER(T, overtaken_count, 0, 1e12, 0, 0,
                 "Jobs that were placed before it, though behind it in the queue"),
    JSON_NUMBER(T, l_value, 0, 1, NAN, JSON_NULLABLE,
                "Share of the transfer time after which it is claimed; default: option "
                "l_initial"),
    JSON_NUMBER(T, original_jst_s, -JSON_LARGEST, JSON_LARGEST, NAN, JSON_NULLABLE,
                "Start time that its first placement promised"),
    JSON_NUMBER(T, total_placement_time_s, 0, JSON_LARGEST, 0, 0,
                "Time of earlier stays in the placement queue: total_placement_time_s of "
                "its last placement; default 0"),
    {0},
};
#undef FLEXIBLE_NUMBER
#undef T
const struct json_object co_job_request_json = {"CoallocationJob", "A parallel job",
                                                sizeof(struct co_job_request), job_rows};

/* ---- options ---- */

/* A policy in use, with its options. */
struct co_bound {
    const struct policy *policy;
    double param[PARAMS_MAX];
    struct co_bound *next;
};

static bool has_row(const struct param *rows, const char *name)
{
    for (; rows->name; rows++)
        if (strcmp(rows->name, name) == 0)
            return true;
    return false;
}

/* Binds those of the options that are in the rows. */
static enum error_code bind_known(const struct co_world *world, const struct param *rows,
                                  double *value, struct arena *a, struct error *err)
{
    struct named_value *known = NEW(a, struct named_value, world->option_count);
    size_t count = 0;
    enum error_code code;

    for (size_t i = 0; i < world->option_count; i++)
        if (has_row(rows, world->options[i].name))
            known[count++] = world->options[i];
    code = params_bind(rows, known, count, value, err);
    return code == ERR_INVALID ? OK : code; /* noted */
}

/* The options of a policy; they are bound once. */
static enum error_code bound_policy(struct co_world *world, const struct policy *policy,
                                    const double **param, struct arena *a,
                                    struct error *err)
{
    struct co_bound *b = world->bound;

    while (b && b->policy != policy)
        b = b->next;
    if (!b) {
        b = NEW(a, struct co_bound, 1);
        b->policy = policy;
        memcpy(b->param, world->common, sizeof(world->common));
        TRY(bind_known(world, policy->params, b->param + CO_COMMON_COUNT, a, err));
        b->next = world->bound;
        world->bound = b;
    }
    *param = b->param;
    return OK;
}

static void unknown_policy(const char *name, const char *pointer, struct error *err)
{
    const struct policy *const tables[] = {coallocation_policies, NULL};

    decision_no_policy(pointer, name, "policy", tables, err);
}

enum error_code co_world_read(const struct co_snapshot *snapshot,
                              const struct decision_request *decision, double now_s,
                              struct co_world *out, struct arena *a, struct error *err)
{
    const char *name = decision->algorithm;
    enum error_code code;
    const double *param;

    *out = (struct co_world){.options = decision->options,
                             .option_count = decision->option_count};
    out->now_s = isnan(now_s) ? snapshot->taken_at_s : now_s;
    if (isnan(out->now_s))
        out->now_s = 0;
    code = co_grid_create(snapshot, "/snapshot", &out->grid, a, err);
    if (code != OK && code != ERR_INVALID)
        return code;
    TRY(bind_known(out, co_common_params, out->common, a, err));
    if (!name || strcmp(name, "auto") == 0)
        return OK;
    out->policy = policy_find(coallocation_policies, name);
    if (out->policy)
        return bound_policy(out, out->policy, &param, a, err);
    unknown_policy(name, "/algorithm", err);
    return OK;
}

struct decision_request co_plain_decision(const struct decision_request *decision,
                                          struct error *err)
{
    struct decision_request plain = *decision;

    if (decision->algorithm && strcmp(decision->algorithm, "auto") != 0)
        invalid(err, "/algorithm", ITEM_UNKNOWN_ALGORITHM,
                "there is nothing to choose here; leave it out");
    for (size_t i = 0; i < decision->option_count; i++) {
        if (strcmp(decision->options[i].name, "cache_expiry_s") == 0)
            continue;
        invalid(err, pointer_named("/options", decision->options[i].name).text,
                ITEM_UNKNOWN_OPTION, "only cache_expiry_s is an option here");
    }
    plain.algorithm = NULL;
    return plain;
}

bool co_world_uses_history(const struct co_world *world)
{
    bool found = false;

    for (const struct co_bound *b = world->bound; b && !found; b = b->next)
        found = b->policy->flags & CO_USES_HISTORY;
    return found;
}

void co_world_check_options(const struct co_world *world, struct error *err)
{
    double value[PARAMS_MAX];

    for (size_t i = 0; i < world->option_count; i++) {
        bool known = has_row(co_common_params, world->options[i].name);

        for (const struct co_bound *b = world->bound; b && !known; b = b->next)
            known = has_row(b->policy->params, world->options[i].name);
        if (!known) /* says that there is no such option, with the nearest */
            params_bind(co_common_params, &world->options[i], 1, value, err);
    }
}

/* ---- warnings ---- */

void co_world_warnings(const struct co_world *world, const char *const **warnings,
                       size_t *count, struct arena *a)
{
    const struct co_grid *grid = &world->grid;
    const char *first[2] = {NULL, NULL}, **list = NEW(a, const char *, 2);
    size_t sites[2] = {0, 0};

    for (size_t s = 0; s < grid->site_count; s++) {
        double measured_s = grid->sites[s].source->measured_at_s;
        bool odd[2] = {grid->sites[s].inconsistent,
                       measured_s < world->now_s - world->common[CO_CACHE_EXPIRY_S]};

        for (size_t i = 0; i < 2; i++)
            if (odd[i] && sites[i]++ == 0)
                first[i] = grid->sites[s].id;
    }
    *count = 0;
    for (size_t i = 0; i < 2; i++) {
        if (sites[i] == 0)
            continue;
        list[(*count)++] = arena_printf(
            a,
            i == 0 ? "inconsistent_site: %s, first '%.256s', %s more busy and "
                     "erroneous processors than processors; they count as full"
                   : "stale_site: %s, first '%.256s', %s measured longer ago "
                     "than options.cache_expiry_s",
            counted(sites[i], "site").text, first[i],
            i == 0 ? plural(sites[i], "has", "have") : plural(sites[i], "was", "were"));
    }
    *warnings = list;
}

/* ---- what nothing looks at ----
 *
 * A table of members of jobs: what has to hold for one to be looked at, and how to see
 * that it was given. A member that is its default says nothing and is not named.
 */

enum { SEED_PRESET = 1 };

/* What looks at members. */
enum look {
    LOOK_FLEXIBLE = 1,  /* the service makes the components */
    LOOK_PARTIAL = 2,   /* not all of them need a place */
    LOOK_AVOIDED = 4,   /* sites are to be done without */
    LOOK_RESERVING = 8, /* a site reserves processors */
    LOOK_QUEUE = 16     /* the list is a queue that is scanned */
};

static unsigned looks_at(const struct co_job_request *j)
{
    return (j->request_type == CO_FLEXIBLE ? LOOK_FLEXIBLE : 0u) |
           (j->atomic ? 0u : LOOK_PARTIAL) | (j->avoid_site_count ? LOOK_AVOIDED : 0u);
}

static unsigned looks_of(const struct co_world *world, bool is_queue)
{
    unsigned looks = is_queue ? LOOK_QUEUE : 0;

    for (size_t s = 0; s < world->grid.site_count; s++)
        if (world->grid.sites[s].source->supports_reservation)
            looks |= LOOK_RESERVING;
    return looks;
}

#define GIVEN(name, condition)                             \
    static bool has_##name(const struct co_job_request *j) \
    {                                                      \
        return condition;                                  \
    }
GIVEN(group, j->group)
GIVEN(min_placed, j->min_placed_components > 1)
GIVEN(hard_avoidance, !j->avoid_sites_soft)
GIVEN(estimate, !isnan(j->estimate_s))
GIVEN(model, j->model)
GIVEN(submit_time, !isnan(j->submit_time_s))
GIVEN(claim_tries, j->claim_tries > 0)
GIVEN(overtaken, j->overtaken_count > 0)
GIVEN(original_start, !isnan(j->original_jst_s))
GIVEN(min_components, !isnan(j->min_components))
GIVEN(max_components, !isnan(j->max_components))
GIVEN(min_processors, !isnan(j->min_component_processors))
GIVEN(max_processors, !isnan(j->max_component_processors))
GIVEN(equal, j->equal_components)
GIVEN(file, j->file_id)
#undef GIVEN

static bool has_chunk(const struct co_job_request *j)
{
    bool found = false;

    for (size_t i = 0; i < j->component_count && !found; i++)
        found = !j->components[i].file_id && !isnan(j->components[i].chunk_bytes);
    return found;
}

static const char in_order[] = "jobs are placed in the order of the list";
static const char is_not_flexible[] = "it is for flexible jobs";

static const struct {
    const char *member, *why;
    unsigned used_by;
    bool (*given)(const struct co_job_request *j);
} members[] = {
    {"group", in_order, 0, has_group},
    {"submit_time_s", in_order, 0, has_submit_time},
    {"overtaken_count", in_order, LOOK_QUEUE, has_overtaken},
    {"claim_tries", "nothing is claimed here", 0, has_claim_tries},
    {"original_jst_s", "nothing is claimed here", 0, has_original_start},
    {"min_placed_components", "an atomic job needs a place for all", LOOK_PARTIAL,
     has_min_placed},
    {"avoid_sites_soft", "there are no avoid_site_ids", LOOK_AVOIDED, has_hard_avoidance},
    {"estimate_s", "no site has supports_reservation", LOOK_RESERVING, has_estimate},
    {"model", "no site has supports_reservation", LOOK_RESERVING, has_model},
    {"min_components", is_not_flexible, LOOK_FLEXIBLE, has_min_components},
    {"max_components", is_not_flexible, LOOK_FLEXIBLE, has_max_components},
    {"min_component_processors", is_not_flexible, LOOK_FLEXIBLE, has_min_processors},
    {"max_component_processors", is_not_flexible, LOOK_FLEXIBLE, has_max_processors},
    {"equal_components", is_not_flexible, LOOK_FLEXIBLE, has_equal},
    {"file_id", "it is for flexible jobs; here components have files", LOOK_FLEXIBLE,
     has_file},
    {"components/*/chunk_bytes", "the component has no file_id", 0, has_chunk},
};

/* < 0: not said. */
static int level_of(const struct co_job_request *j)
{
    return j->priority >= 0 ? j->priority : j->job_class;
}

/* Whether the level of a job would have it placed earlier than one before it, or from
 * another queue. *least: of the jobs before it. */
static bool is_elsewhere(const struct co_job_list *list, size_t i, int *least)
{
    int said = level_of(&list->jobs[i]), level = said < 0 ? CO_LOW : said;
    bool elsewhere = list->is_queue ? level != (int)list->level : level > *least;

    *least = level < *least ? level : *least;
    return said >= 0 && elsewhere;
}

static void warn_of_levels(struct request *rq, struct decision_answer *out,
                           const struct co_job_list *list)
{
    size_t count = 0, first = 0;
    int least = CO_LEVEL_COUNT;

    for (size_t i = 0; i < list->count; i++) {
        budget_step(&rq->budget, 1);
        if (!is_elsewhere(list, i, &least))
            continue;
        first = count++ ? first : i;
    }
    if (count == 0)
        return;
    decision_warn(rq, out, "ignored: priority of %zu job%s (first %s/%zu/%s): %s", count,
                  count == 1 ? "" : "s", list->pointer, first,
                  list->jobs[first].priority >= 0 ? "priority" : "job_class",
                  list->is_queue ? "a job has the level of its queue" : in_order);
}

void co_warn_unused(struct request *rq, struct decision_answer *out,
                    const struct co_world *world, const struct co_job_list *list)
{
    unsigned looks = looks_of(world, list->is_queue);

    warn_of_levels(rq, out, list);
    for (size_t k = 0; k < sizeof(members) / sizeof(*members); k++) {
        size_t count = 0, first = 0;

        for (size_t i = list->count; i-- > 0;) {
            const struct co_job_request *j = &list->jobs[i];

            budget_step(&rq->budget, 1 + j->component_count);
            if (members[k].used_by & (looks | looks_at(j)) || !members[k].given(j))
                continue;
            first = i;
            count++;
        }
        if (count)
            decision_warn(rq, out, "ignored: %s of %zu job%s (first %s/%zu/%s): %s",
                          members[k].member, count, count == 1 ? "" : "s", list->pointer,
                          first, members[k].member, members[k].why);
    }
}

void co_warn_unused_history(struct request *rq, struct decision_answer *out,
                            const struct co_world *world,
                            const struct co_snapshot *snapshot, bool is_persisted)
{
    if (co_world_uses_history(world))
        return;
    co_warn_unused_members(
        rq, out,
        (const struct co_unused_member[]){
            {"/snapshot/history_pairs", "no policy in use has a history table",
             snapshot->history_pairs},
            {"/history_table", "no policy in use has a history table", is_persisted},
        },
        2);
}

void co_warn_unused_envelope(struct request *rq, struct decision_answer *out,
                             const struct decision_request *decision, bool searches)
{
    co_warn_unused_members(
        rq, out,
        (const struct co_unused_member[]){
            {"/seed", "nothing is left to chance", decision->seed != SEED_PRESET},
            {"/time_limit_s", "nothing is searched for",
             !searches && isfinite(decision->time_limit_s)},
        },
        2);
}

void co_warn_unused_members(struct request *rq, struct decision_answer *out,
                            const struct co_unused_member *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (list[i].unused)
            decision_warn(rq, out, "ignored: %s: %s", list[i].pointer, list[i].why);
}

/* ---- reading a job ---- */

struct job_reading {
    const struct co_job_request *in;
    const char *pointer;
    const struct co_grid *grid;
    struct error *err;
};

__attribute__((format(printf, 4, 5))) static void mistake(const struct job_reading *r,
                                                          enum item_code code,
                                                          const char *detail,
                                                          const char *member, ...)
{
    char path[128];
    va_list args;

    va_start(args, member);
    vsnprintf(path, sizeof(path), member, args);
    va_end(args);
    invalid(r->err, pointer_of(r->pointer, path).text, code, "%s", detail);
}

/* A number that may be left out: then 0. */
static size_t whole(double number)
{
    return isnan(number) ? 0 : (size_t)number;
}

/* The policy of the job; NULL: noted. */
static const struct policy *policy_of(const struct job_reading *r,
                                      const struct co_world *world)
{
    bool flexible = r->in->request_type == CO_FLEXIBLE;
    const struct policy *policy = world->policy;

    if (r->in->policy) {
        policy = policy_find(coallocation_policies, r->in->policy);
        if (!policy)
            unknown_policy(r->in->policy, pointer_of(r->pointer, "policy").text, r->err);
    } else if (!policy) {
        policy =
            policy_find(coallocation_policies,
                        flexible ? "flexible_cluster_minimisation" : "close_to_files");
    }
    if (policy && policy->flags & CO_FLEXIBLE_ONLY && !flexible)
        mistake(r, ITEM_WRONG_POLICY, "this policy is for flexible jobs only", "policy");
    if (policy && co_split_of(policy) == CO_SPLIT_NONE && flexible)
        mistake(r, ITEM_WRONG_POLICY, "this policy does not split flexible jobs",
                "policy");
    return policy;
}

/* Sites that are named: their bar; all of them exist or it is noted. */
static void bar_sites(const struct job_reading *r, const char *member,
                      const char *const *ids, size_t count, enum co_reason bar,
                      char *barred)
{
    for (size_t i = 0; i < count; i++) {
        size_t site = co_site_find(r->grid, ids[i]);

        if (site == CO_NONE)
            mistake(r, ITEM_UNKNOWN_ID, "the snapshot has no such site", "%s/%zu", member,
                    i);
        else
            barred[site] = (char)bar;
    }
}

/* Bars sites that lack one of the capabilities: one pass over what all sites have. */
static void bar_incapable(const struct job_reading *r, char *barred, struct arena *a)
{
    const struct co_job_request *in = r->in;
    size_t *seen_at = NEW(a, size_t, in->required_capability_count); /* site + 1 */
    size_t wanted = 0;
    struct name_index names;

    name_index_create(&names, in->required_capability_count, a);
    for (size_t i = 0; i < in->required_capability_count; i++)
        wanted +=
            name_index_add(&names, in->required_capabilities[i], i) == NAME_NOT_FOUND;
    for (size_t s = 0; s < r->grid->site_count; s++) {
        const struct co_site *site = r->grid->sites[s].source;
        size_t found = 0;

        for (size_t i = 0; i < site->capability_count; i++) {
            size_t at = name_index_find(&names, site->capabilities[i]);

            if (at == NAME_NOT_FOUND || seen_at[at] == s + 1)
                continue;
            seen_at[at] = s + 1;
            found++;
        }
        if (found < wanted)
            barred[s] = CO_CAPABILITY;
    }
}

/* Sites that the job must not use, in the order in which reasons apply. */
static void read_bars(const struct job_reading *r, struct co_job *out, struct arena *a)
{
    const struct co_job_request *in = r->in;
    char *barred;

    if (!in->allowed_site_ids && in->avoid_site_count == 0 &&
        in->required_capability_count == 0)
        return;
    barred = NEW(a, char, r->grid->site_count);
    bar_sites(r, "avoid_site_ids", in->avoid_site_ids, in->avoid_site_count, CO_AVOIDED,
              barred);
    if (in->required_capability_count)
        bar_incapable(r, barred, a);
    if (in->allowed_site_ids) {
        char *allowed = NEW(a, char, r->grid->site_count);

        bar_sites(r, "allowed_site_ids", in->allowed_site_ids, in->allowed_site_count,
                  CO_NOT_USABLE, allowed);
        for (size_t s = 0; s < r->grid->site_count; s++)
            if (!allowed[s])
                barred[s] = CO_NOT_USABLE;
    }
    out->barred = barred;
}

/* A file that the snapshot does not have counts as one without a replica. */
static size_t file_of(const struct co_grid *grid, const char *id)
{
    size_t file;

    if (!id)
        return CO_NONE;
    file = co_file_find(grid, id);
    return file == CO_NONE ? grid->file_count : file;
}

static void read_component(const struct job_reading *r, size_t i,
                           struct co_component *out)
{
    const struct co_component_request *in = &r->in->components[i];
    enum co_request_type type = r->in->request_type;

    *out = (struct co_component){.id = in->id,
                                 .processors = in->processors,
                                 .fixed_site = CO_NONE,
                                 .file = file_of(r->grid, in->file_id)};
    if (in->site_id) {
        out->fixed_site = co_site_find(r->grid, in->site_id);
        if (out->fixed_site == CO_NONE)
            mistake(r, ITEM_UNKNOWN_ID, "the snapshot has no such site",
                    "components/%zu/site_id", i);
    }
    if (in->site_id && type == CO_NON_FIXED)
        mistake(r, ITEM_NOT_ALLOWED,
                "a non_fixed job has no fixed sites: make it semi_fixed or fixed",
                "components/%zu/site_id", i);
    if (!in->site_id && type == CO_FIXED)
        mistake(r, ITEM_REQUIRED, "the member is missing: a fixed job names every site",
                "components/%zu/site_id", i);
    if (out->file == CO_NONE)
        return;
    out->bytes =
        isnan(in->chunk_bytes) ? r->grid->files[out->file].bytes : in->chunk_bytes;
    if (isnan(in->chunk_bytes) && r->grid->files[out->file].mode == CO_CHUNK)
        mistake(r, ITEM_REQUIRED, "the member is missing: the file has mode chunk",
                "components/%zu/chunk_bytes", i);
}

static enum error_code read_components(const struct job_reading *r, struct co_job *out,
                                       struct arena *a)
{
    size_t count = r->in->component_count;
    struct co_component *list = NEW(a, struct co_component, count);

    if (count == 0)
        mistake(r, ITEM_REQUIRED, "the list is missing or empty", "components");
    if (!isnan(r->in->total_processors))
        mistake(r, ITEM_NOT_ALLOWED, "only of flexible jobs", "total_processors");
    for (size_t i = 0; i < count; i++)
        read_component(r, i, &list[i]);
    out->components = list;
    out->component_count = count;
    return OK;
}

static void read_flexible(const struct job_reading *r, struct co_job *out)
{
    const struct co_job_request *in = r->in;

    if (in->component_count > 0)
        mistake(r, ITEM_NOT_ALLOWED,
                "a flexible job gets its components from the service", "components");
    if (isnan(in->total_processors))
        mistake(r, ITEM_REQUIRED, "the member is missing: a flexible job needs it",
                "total_processors");
    if (in->min_components > in->max_components)
        mistake(r, ITEM_OUT_OF_BOUNDS, "must not be above max_components",
                "min_components");
    if (in->min_component_processors > in->max_component_processors)
        mistake(r, ITEM_OUT_OF_BOUNDS, "must not be above max_component_processors",
                "min_component_processors");
    out->total_processors = whole(in->total_processors);
    out->min_components = whole(in->min_components);
    out->max_components = whole(in->max_components);
    out->min_processors = whole(in->min_component_processors);
    out->max_processors = whole(in->max_component_processors);
    out->equal_components = in->equal_components;
    out->file = file_of(r->grid, in->file_id);
}

enum error_code co_job_read(const struct co_job_request *in, const char *pointer,
                            struct co_world *world, struct co_job *out, struct arena *a,
                            struct error *err)
{
    struct job_reading r = {in, pointer, &world->grid, err};

    *out = (struct co_job){.id = in->id,
                           .type = in->request_type,
                           .policy = policy_of(&r, world),
                           .atomic = in->atomic,
                           .min_placed = in->min_placed_components,
                           .distinct = in->component_site_rule == CO_SITES_DISTINCT,
                           .avoid_soft = in->avoid_sites_soft,
                           .level = CO_LOW,
                           .file = CO_NONE};
    if (in->job_class >= 0)
        out->level = (enum co_level)in->job_class;
    if (in->priority >= 0)
        out->level = (enum co_level)in->priority;
    if (out->policy)
        TRY(bound_policy(world, out->policy, &out->param, a, err));
    read_bars(&r, out, a);
    if (in->request_type != CO_FLEXIBLE)
        return read_components(&r, out, a);
    read_flexible(&r, out);
    return OK;
}

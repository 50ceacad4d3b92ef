/* round_request.c - the body of a round: its table, and its way into a round_in. */
#include "algorithms/checkpoint/checkpoint.h"
#include "algorithms/fault_tolerance/copies_play.h"
#include "algorithms/fault_tolerance/fault_tolerance.h"
#include "algorithms/replication/replication.h"
#include "handlers/common/decision.h"
#include "handlers/common/snapshot_json.h"
#include "handlers/fault_tolerance/rounds.h"
#include "models/base/pointer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const replica_states[] = {"transferring", "running", "failed",
                                             "finished", NULL};
static const char *const replacements[] = {"unknown", "any", "spare", "same", NULL};
static const char *const job_states[] = {"unknown", "waiting", "running", NULL};

_Static_assert(sizeof(enum replica_state) == sizeof(int), "a choice is an int");
_Static_assert(sizeof(enum replacement) == sizeof(int), "a choice is an int");
_Static_assert(sizeof(enum round_job_state) == sizeof(int), "a choice is an int");

#define T struct round_replica_request
static const struct json_field replica_rows[] = {
    JSON_ID(T, id, JSON_REQUIRED, "Name, unique in the job"),
    JSON_ID(T, resource_id, JSON_REQUIRED, "The resource of the snapshot that it is on"),
    JSON_TEXTS(T, resource_ids, resource_count, ROUND_NODES_MAX, 0,
               "Of a copy on several nodes: all its resources, resource_id among them"),
    JSON_ID(T, boot_id, JSON_NULLABLE,
            "The resource's boot_id when the replica was started there"),
    JSON_CHOICE(T, state, replica_states, REPLICA_RUNNING, 0,
                "What is believed of it; default running. failed and finished ones hold "
                "no slot"),
    JSON_NUMBER(T, completed_mi, 0, JSON_LARGEST, 0, 0, "Work done; default 0"),
    {0},
};
#undef T
static const struct json_object replica_json = {"RoundReplica", "A copy of a job",
                                                sizeof(struct round_replica_request),
                                                replica_rows};

#define T struct round_job_request
static const struct json_field job_rows[] = {
    JSON_ID(T, id, JSON_REQUIRED, "Name, unique in the request"),
    JSON_NUMBER(T, arrival_s, -JSON_LARGEST, JSON_LARGEST, 0, 0,
                "When it arrived first; earlier ones come first, ties by id; default 0"),
    JSON_CHOICE(T, state, job_states, ROUND_JOB_UNKNOWN, 0,
                "Checked against its replicas if it is given"),
    JSON_NUMBER(T, length_mi, 0, JSON_LARGEST, NAN, JSON_NULLABLE,
                "Work of the whole job: 1 takes a second at 1 MIPS",
                JSON_UNLESS("execution_time_s")),
    JSON_NUMBER(T, execution_time_s, 0, CHECKPOINT_LONGEST_S, NAN,
                JSON_NULLABLE | JSON_ABOVE_MIN,
                "Instead of length_mi: run time of the whole job without failures and "
                "checkpoints on an unshared resource of 1 MIPS, the default of "
                "mips_total; elsewhere it takes that over the speed",
                JSON_NOT_WITH("length_mi")),
    JSON_BOOLEAN(T, has_checkpoint, 0, 0, "It has an image to restart from"),
    JSON_BOOLEAN(T, checkpointing, 0, 0, "Its active replica takes checkpoints"),
    JSON_NUMBER(T, replicas_started, 0, 1e9, NAN, JSON_NULLABLE | JSON_WHOLE,
                "Replicas ever started; default: those listed"),
    JSON_LIST(T, replicas, replica_count, struct round_replica_request, &replica_json,
              ROUND_REPLICAS_MAX, JSON_UNIQUE_IDS, "Its copies"),
    JSON_NUMBER(
        T, nodes, 1, ROUND_NODES_MAX, NAN, JSON_NULLABLE | JSON_WHOLE,
        "Nodes of each of its copies, all of one site and free, of which any that "
        "fails takes the copy with it; more than 1 in joint, expected_time and "
        "target_success; default 1, or the number of resource_ids"),
    JSON_TEXTS(
        T, resource_ids, resource_count, ROUND_NODES_MAX, 0,
        "Exactly these nodes, resources of the snapshot and of any site, for one copy "
        "of it; in the same algorithms"),
    JSON_TEXTS(T, pool_resource_ids, pool_count, ROUND_NODES_MAX, 0,
               "Its copies go only on these resources of the snapshot; in the same "
               "algorithms; default: all"),
    JSON_NUMBER(T, deadline_s, 0, JSON_LARGEST, NAN, JSON_NULLABLE | JSON_ABOVE_MIN,
                "To be done by then, from now: target_success counts copies by the "
                "probability of that, joint and expected_time tell it"),
    JSON_CHOICE(T, replacement, replacements, REPLACEMENT_UNKNOWN, 0,
                "Where a copy goes on after a failure: any node, a spare that it holds, "
                "or the same when it is repaired; default spare with spare_nodes, else "
                "any"),
    JSON_NUMBER(T, spare_nodes, 0, 1000, NAN, JSON_NULLABLE | JSON_WHOLE,
                "Spare nodes that each copy holds; default 0"),
    JSON_NUMBER(T, mttr_s, 0, CHECKPOINT_LONGEST_S, NAN, JSON_NULLABLE,
                "Mean time to repair a node; default: of the histories"),
    JSON_NUMBER(T, checkpoint_overhead_s, 0, CHECKPOINT_LONGEST_S, 0, 0,
                "How long it stands still for one checkpoint; default 0"),
    JSON_NUMBER(T, restart_s, 0, CHECKPOINT_LONGEST_S, 0, 0,
                "Time to fetch a checkpoint after a failure; default 0"),
    JSON_NUMBER(T, restart_from_scratch_s, 0, CHECKPOINT_LONGEST_S, 0, 0,
                "The same where there is no checkpoint yet; default 0"),
    JSON_NUMBER(T, reschedule_delay_s, 0, CHECKPOINT_LONGEST_S, 0, 0,
                "Time from a failure until it runs again elsewhere; default 0"),
    {0},
};
#undef T
const struct json_object round_job_json = {"RoundJob", "An unfinished job and its copies",
                                           sizeof(struct round_job_request), job_rows};

#define T struct round_checkpoint_request
static const struct json_field checkpoint_rows[] = {
    JSON_TEXT(T, algorithm, JSON_REQUIRED,
              "A policy of the family checkpoint (GET /v1/algorithms)"),
    JSON_VALUES(T, options, option_count, 0, "Its options"),
    {0},
};
#undef T
const struct json_object round_checkpoint_json = {
    "RoundCheckpoint", "How jobs are checkpointed when they are",
    sizeof(struct round_checkpoint_request), checkpoint_rows};

/* ---- policies and options ---- */

static const struct policy *find_policy(const struct round_call *call,
                                        const struct policy *table, const char *preset)
{
    const char *name = call->body->decision.algorithm;
    const struct policy *policy;

    if (!name || strcmp(name, "auto") == 0)
        name = preset;
    policy = policy_find(table, name);
    if (!policy)
        decision_unknown_policy(name, table, call->rq->err);
    return policy;
}

/* Options that are null are not set. Mistakes get the pointer `prefix`/options/... */
static void bind(struct round_call *call, const struct param *rows,
                 const struct named_value *options, size_t option_count,
                 const char *prefix, double *value)
{
    struct arena *a = call->rq->arena;
    struct named_value *given = NEW(a, struct named_value, option_count);
    struct error mistakes = {.arena = a};
    size_t count = 0;

    for (size_t i = 0; i < option_count; i++)
        if (options[i].type != VALUE_UNDEFINED)
            given[count++] = options[i];
    params_bind(rows, given, count, value, &mistakes);
    for (const struct error_item *i = mistakes.first; i; i = i->next)
        invalid_again(call->rq->err, prefix, i);
}

/* On a grid of nothing a policy does nothing but look at its options. */
static enum error_code try_options(struct round_call *call)
{
    struct round_in nothing = {0};
    struct round_out out;
    enum error_code code = round_fn_of(call->policy)(&nothing, call->param, &out,
                                                     call->rq->arena, call->rq->err);

    return code == ERR_INVALID ? OK : code;
}

static void unknown_checkpoint(const char *name, struct error *err)
{
    const struct policy *const tables[] = {checkpoint_policies, NULL};

    decision_no_policy("/checkpoint/algorithm", name, "checkpoint policy", tables, err);
}

static enum error_code bind_policies(struct round_call *call, const struct policy *table,
                                     const char *preset)
{
    const struct decision_request *decision = &call->body->decision;
    const struct round_checkpoint_request *checkpoint = call->body->checkpoint;

    call->policy = find_policy(call, table, preset);
    if (call->policy) {
        size_t mistakes = call->rq->err->item_count;

        bind(call, call->policy->params, decision->options, decision->option_count, "",
             call->param);
        if (call->rq->err->item_count == mistakes)
            TRY(try_options(call));
    }
    if (!checkpoint)
        return OK;
    call->checkpoint = policy_find(checkpoint_policies, checkpoint->algorithm);
    if (!call->checkpoint) {
        unknown_checkpoint(checkpoint->algorithm, call->rq->err);
        return OK;
    }
    bind(call, call->checkpoint->params, checkpoint->options, checkpoint->option_count,
         "/checkpoint", call->checkpoint_param);
    return OK;
}

double round_call_option(const struct round_call *call, const char *name,
                         double otherwise)
{
    for (size_t i = 0; call->policy->params[i].name; i++)
        if (strcmp(call->policy->params[i].name, name) == 0)
            return call->param[i];
    return otherwise;
}

/* ---- resources ---- */

static int by_id(const void *left, const void *right, void *resources)
{
    const struct resource *list = resources;

    return strcmp(list[*(const size_t *)left].id, list[*(const size_t *)right].id);
}

/* By site, those without one by their own id behind a site of that name. */
static int by_site(const void *left, const void *right, void *resources)
{
    const struct resource *list = resources;
    const struct resource *a = &list[*(const size_t *)left];
    const struct resource *b = &list[*(const size_t *)right];
    int order = strcmp(a->site_id ? a->site_id : a->id, b->site_id ? b->site_id : b->id);

    return order ? order : (a->site_id == NULL) - (b->site_id == NULL);
}

static void check_whole(struct round_call *call, size_t i, const char *member,
                        double value)
{
    if (isnan(value) || value == floor(value))
        return;
    invalid(call->rq->err, pointer_in("/snapshot/resources", i, member).text,
            ITEM_NOT_AN_INTEGER, "%g is not a whole number", value);
}

static struct round_resource resource_of(const struct resource *r)
{
    double mips = r->mips_total * r->cpu_available_ratio - r->mips_external;

    return (struct round_resource){
        .up = !r->failed,
        .mips = mips > 0 ? mips : 0,
        .n_max = resource_slots(r),
        .job_count = (size_t)r->job_count,
        .mean_failure_interval_s = NAN,
        .uptime_s = NAN,
        .weibull_shape = NAN,
        .weibull_scale_s = NAN,
    };
}

/* Numbers the sites by id. */
static void number_sites(struct round_call *call, const size_t *place_of)
{
    size_t count = call->snapshot->resource_count, site = 0;
    const struct resource *given = call->snapshot->resources;
    size_t *order = NEW(call->rq->arena, size_t, count);

    for (size_t i = 0; i < count; i++)
        order[i] = i;
    qsort_r(order, count, sizeof(*order), by_site, (void *)(uintptr_t)given);
    for (size_t i = 0; i < count; i++) {
        const struct resource *r = &given[order[i]];

        /* a resource without a site has one of its own */
        if (i > 0 && (!r->site_id || !given[order[i - 1]].site_id ||
                      strcmp(r->site_id, given[order[i - 1]].site_id) != 0))
            site++;
        call->resources[place_of[order[i]]].site = site;
    }
    call->in.site_count = count ? site + 1 : 0;
}

/* *place_of: from positions in the snapshot to places by id. */
static void take_resources(struct round_call *call, size_t **place_of)
{
    const struct snapshot *snapshot = call->snapshot;
    size_t count = snapshot->resource_count;

    call->resources = NEW(call->rq->arena, struct round_resource, count);
    call->resources_at = NEW(call->rq->arena, size_t, count);
    *place_of = NEW(call->rq->arena, size_t, count);
    for (size_t i = 0; i < count; i++) {
        call->resources_at[i] = i;
        check_whole(call, i, "n_max", snapshot->resources[i].n_max);
        check_whole(call, i, "job_count", snapshot->resources[i].job_count);
    }
    qsort_r(call->resources_at, count, sizeof(size_t), by_id,
            (void *)(uintptr_t)snapshot->resources);
    for (size_t place = 0; place < count; place++) {
        (*place_of)[call->resources_at[place]] = place;
        call->resources[place] =
            resource_of(&snapshot->resources[call->resources_at[place]]);
    }
    call->in.resources = call->resources;
    call->in.resource_count = count;
    number_sites(call, *place_of);
}

/* ---- jobs ---- */

static int by_arrival(const void *left, const void *right, void *jobs)
{
    const struct round_job_request *list = jobs;
    const struct round_job_request *a = &list[*(const size_t *)left];
    const struct round_job_request *b = &list[*(const size_t *)right];

    if (a->arrival_s != b->arrival_s)
        return a->arrival_s < b->arrival_s ? -1 : 1;
    return strcmp(a->id, b->id);
}

static void job_mistake(struct round_call *call, size_t job, const char *member,
                        enum item_code code, const char *detail)
{
    invalid(call->rq->err, pointer_in("/jobs", job, member).text, code, "%s", detail);
}

/* What a replica says is of an earlier boot of its resource. */
static bool is_of_other_boot(const struct round_replica_request *replica,
                             const struct resource *resource)
{
    return replica->boot_id && resource->boot_id &&
           strcmp(replica->boot_id, resource->boot_id) != 0;
}

/* The state that the policy is to believe. */
static enum replica_state state_of(const struct round_call *call,
                                   const struct round_replica_request *replica,
                                   const struct resource *resource)
{
    bool by_boot = round_call_option(call, "detection", 1) == 0;

    if (replica->state == REPLICA_FINISHED || !(call->policy->flags & ROUND_DETECTS))
        return replica->state;
    if (resource->failed || (by_boot && is_of_other_boot(replica, resource)))
        return REPLICA_FAILED;
    return replica->state;
}

/* last_job: of each resource, 1 + the last job with an active replica there. */
static void check_shared(struct round_call *call, size_t job, size_t i,
                         const struct round_replica *list, size_t *last_job)
{
    size_t count, shared = 0;
    const size_t *nodes = replica_nodes(&list[i], &count);
    char member[64];

    if (!replica_is_active(&list[i]))
        return;
    for (size_t n = 0; n < count; n++) {
        shared += last_job[nodes[n]] == job + 1;
        last_job[nodes[n]] = job + 1;
    }
    if (shared == 0)
        return;
    snprintf(member, sizeof(member), "replicas/%zu/resource_id", i);
    job_mistake(call, job, member, ITEM_CONFLICT,
                "another active replica of the job is on this resource");
}

static int by_place(const void *left, const void *right)
{
    size_t a = *(const size_t *)left, b = *(const size_t *)right;

    return (a > b) - (a < b);
}

/* Places of resources of the snapshot that /jobs/JOB/`member` names, rising. NULL: one
 * is not known, or named twice, which is noted. */
static const size_t *take_names(struct round_call *call, size_t job, const char *member,
                                const char *const *ids, size_t count,
                                const size_t *place_of)
{
    size_t *places = NEW(call->rq->arena, size_t, count);
    struct name_index seen;
    bool is_good = true;

    name_index_create(&seen, count, call->rq->arena);
    for (size_t i = 0; i < count; i++) {
        size_t at = histories_find(&call->histories, ids[i], false);

        if (at == NAME_NOT_FOUND)
            job_mistake(call, job, pointer_in(member, i, NULL).text, ITEM_UNKNOWN_ID,
                        "the snapshot has no such resource");
        else if (name_index_add(&seen, ids[i], i) != NAME_NOT_FOUND)
            job_mistake(call, job, pointer_in(member, i, NULL).text, ITEM_DUPLICATE,
                        "the node is named twice");
        else
            places[i] = place_of[at];
        is_good = is_good && at != NAME_NOT_FOUND;
    }
    qsort(places, count, sizeof(*places), by_place);
    return is_good ? places : NULL;
}

static size_t nodes_of(const struct round_job_request *job)
{
    if (!isnan(job->nodes))
        return job->nodes >= 1 ? (size_t)job->nodes : 1;
    return job->resource_count ? job->resource_count : 1;
}

/* The nodes of a replica; false: a mistake was noted. */
static bool take_nodes(struct round_call *call, size_t job, size_t replica,
                       const size_t *place_of, const size_t **nodes, size_t *count)
{
    const struct round_job_request *given = &call->body->jobs[job];
    const struct round_replica_request *r = &given->replicas[replica];
    bool is_active = r->state == REPLICA_RUNNING || r->state == REPLICA_TRANSFERRING;
    bool has_first = r->resource_count == 0;
    char member[64];

    snprintf(member, sizeof(member), "replicas/%zu/resource_ids", replica);
    *count = r->resource_count;
    if (r->resource_count == 0 && is_active && nodes_of(given) > 1) {
        job_mistake(call, job, member, ITEM_REQUIRED,
                    "a copy on several nodes has to say which");
        return false;
    }
    for (size_t i = 0; i < r->resource_count; i++)
        has_first = has_first || strcmp(r->resource_ids[i], r->resource_id) == 0;
    if (!has_first || (r->resource_count && r->resource_count != nodes_of(given))) {
        job_mistake(call, job, member, ITEM_CONFLICT,
                    has_first ? "the job's copies have another number of nodes"
                              : "resource_id is not among them");
        return false;
    }
    if (r->resource_count == 0)
        return true;
    *nodes = take_names(call, job, member, r->resource_ids, r->resource_count, place_of);
    return *nodes;
}

/* False: a resource is not known. */
static bool take_replicas(struct round_call *call, size_t job, const size_t *place_of,
                          struct round_replica *list, size_t *last_job)
{
    const struct round_job_request *given = &call->body->jobs[job];
    bool known = true;

    for (size_t i = 0; i < given->replica_count; i++) {
        const struct round_replica_request *replica = &given->replicas[i];
        size_t at = histories_find(&call->histories, replica->resource_id, false);
        const size_t *nodes = NULL;
        size_t count = 0;
        char member[64];

        if (at == NAME_NOT_FOUND) {
            snprintf(member, sizeof(member), "replicas/%zu/resource_id", i);
            job_mistake(call, job, member, ITEM_UNKNOWN_ID,
                        "the snapshot has no such resource");
            known = false;
            continue;
        }
        known = take_nodes(call, job, i, place_of, &nodes, &count) && known;
        list[i] = (struct round_replica){
            .resource = place_of[at],
            .nodes = nodes,
            .node_count = count > 1 ? count : 0,
            .state = state_of(call, replica, &call->snapshot->resources[at]),
            .completed_mi = replica->completed_mi,
        };
        call->in.has_finished =
            call->in.has_finished || list[i].state == REPLICA_FINISHED;
    }
    for (size_t i = 0; known && i < given->replica_count; i++)
        check_shared(call, job, i, list, last_job);
    return known;
}

bool round_call_chooses_hosts(const struct round_call *call)
{
    round_fn *run = round_fn_of(call->policy);

    return run == fault_tolerance_joint || run == fault_tolerance_expected_time ||
           run == replication_target_success;
}

/* Most policies know of copies on one node only. */
static void check_nodes(struct round_call *call, size_t job)
{
    static const char several[] =
        "this algorithm plans copies on one node each: how one on several nodes fails is "
        "not known to it";
    static const char elsewhere[] =
        "joint, expected_time and target_success take jobs on several nodes";
    const struct round_job_request *given = &call->body->jobs[job];
    bool is_able = round_call_chooses_hosts(call);

    if (!is_able && given->nodes > 1) {
        job_mistake(call, job, "nodes", ITEM_NOT_ALLOWED, several);
        error_hint(call->rq->err, "%s", elsewhere);
    }
    if (!is_able && given->resource_count > 1) {
        job_mistake(call, job, "resource_ids", ITEM_NOT_ALLOWED, several);
        error_hint(call->rq->err, "%s", elsewhere);
    }
    if (is_able && given->resource_count && !isnan(given->nodes) &&
        given->nodes != (double)given->resource_count)
        job_mistake(call, job, "nodes", ITEM_CONFLICT,
                    "resource_ids names another number of nodes");
    if (given->resource_count && given->pool_count)
        job_mistake(call, job, "pool_resource_ids", ITEM_CONFLICT,
                    "not beside resource_ids, which are the nodes");
    if (given->spare_nodes > 0 &&
        (given->replacement == REPLACEMENT_ANY || given->replacement == REPLACEMENT_SAME))
        job_mistake(call, job, "spare_nodes", ITEM_CONFLICT,
                    "this replacement uses no spare nodes");
    if (given->replacement == REPLACEMENT_SPARE && !(given->spare_nodes > 0))
        job_mistake(call, job, "spare_nodes", ITEM_REQUIRED,
                    "this replacement needs spare nodes");
}

static void check_job(struct round_call *call, size_t job)
{
    const struct round_job_request *given = &call->body->jobs[job];
    size_t active = 0;

    check_nodes(call, job);
    for (size_t i = 0; i < given->replica_count; i++)
        active += given->replicas[i].state == REPLICA_TRANSFERRING ||
                  given->replicas[i].state == REPLICA_RUNNING;
    if (given->state == ROUND_JOB_WAITING && active)
        job_mistake(call, job, "state", ITEM_CONFLICT,
                    "a waiting job has no replica that transfers or runs");
    if (given->state == ROUND_JOB_RUNNING && !active)
        job_mistake(call, job, "state", ITEM_CONFLICT,
                    "a running job needs a replica that transfers or runs");
    if (isnan(given->replicas_started))
        return;
    if (given->replicas_started < (double)given->replica_count)
        job_mistake(call, job, "replicas_started", ITEM_OUT_OF_BOUNDS,
                    "more replicas are listed than were started");
}

/* What says where the job's copies may go, and how they go on. */
static void take_hosts(struct round_call *call, size_t job, const size_t *place_of,
                       struct round_job *out)
{
    const struct round_job_request *given = &call->body->jobs[job];
    bool is_exact = given->resource_count > 0;
    size_t count = is_exact ? given->resource_count : given->pool_count;

    out->node_count = nodes_of(given);
    out->deadline_s = isnan(given->deadline_s) ? 0 : given->deadline_s;
    out->replacement = given->replacement;
    out->spare_count = isnan(given->spare_nodes) ? 0 : (size_t)given->spare_nodes;
    out->repair_s = given->mttr_s;
    if (count == 0)
        return;
    out->allowed = take_names(call, job, is_exact ? "resource_ids" : "pool_resource_ids",
                              is_exact ? given->resource_ids : given->pool_resource_ids,
                              count, place_of);
    out->allowed_count = count;
    out->allowed_is_exact = is_exact;
}

static void take_jobs(struct round_call *call, const size_t *place_of)
{
    const struct round_request *body = call->body;
    struct round_job *list = NEW(call->rq->arena, struct round_job, body->job_count);
    size_t *last_job = NEW(call->rq->arena, size_t, call->in.resource_count);

    call->jobs_at = NEW(call->rq->arena, size_t, body->job_count);
    for (size_t i = 0; i < body->job_count; i++)
        call->jobs_at[i] = i;
    qsort_r(call->jobs_at, body->job_count, sizeof(size_t), by_arrival,
            (void *)(uintptr_t)body->jobs);
    for (size_t place = 0; place < body->job_count; place++) {
        size_t i = call->jobs_at[place];
        const struct round_job_request *given = &body->jobs[i];
        struct round_replica *replicas =
            NEW(call->rq->arena, struct round_replica, given->replica_count);

        check_job(call, i);
        take_replicas(call, i, place_of, replicas, last_job);
        list[place] = (struct round_job){
            .length_mi =
                isnan(given->length_mi) ? given->execution_time_s : given->length_mi,
            .replicas = replicas,
            .replica_count = given->replica_count,
            .started_count = isnan(given->replicas_started)
                                 ? given->replica_count
                                 : (size_t)given->replicas_started,
            .has_checkpoint = given->has_checkpoint,
            .is_checkpointing = given->checkpointing,
            .checkpoint_overhead_s = given->checkpoint_overhead_s,
            .restart_s = given->restart_s,
            .restart_from_scratch_s = given->restart_from_scratch_s,
            .reschedule_delay_s = given->reschedule_delay_s,
        };
        if (round_call_chooses_hosts(call))
            take_hosts(call, i, place_of, &list[place]);
    }
    call->jobs = list;
    call->in.jobs = list;
    call->in.job_count = body->job_count;
}

/* ---- reliability ---- */

static bool needs_histories(const struct round_call *call)
{
    return !isnan(round_call_option(call, "mf_estimator", (double)NAN)) ||
           (call->checkpoint && call->checkpoint->flags != CHECKPOINT_NEEDS_NOTHING);
}

static enum error_code read_histories(struct round_call *call)
{
    struct histories_options options = histories_options_preset();
    double estimator = round_call_option(call, "mf_estimator", (double)NAN);

    options.weibull = round_call_option(call, "failure_distribution", 0) == 1;
    options.prior =
        (enum rate_prior_scope)round_call_option(call, "prior", (double)options.prior);
    options.mean_floor_s = round_call_option(call, "mean_floor_s", options.mean_floor_s);
    if (call->checkpoint) {
        options.weibull =
            options.weibull || call->checkpoint->flags & CHECKPOINT_NEEDS_WEIBULL;
        options.site_weight = call->checkpoint_param[CHECKPOINT_SITE_WEIGHT];
        options.burst_window_s = call->checkpoint_param[CHECKPOINT_BURST_WINDOW];
        if (isnan(estimator))
            estimator = call->checkpoint_param[CHECKPOINT_MF_ESTIMATOR];
    }
    options.estimator = (enum mf_estimator)estimator;
    for (size_t i = 0; i < call->histories.count; i++)
        call->histories.list[i].wanted = true;
    call->histories.now_s =
        isnan(call->body->now_s) ? call->snapshot->taken_at_s : call->body->now_s;
    TRY(histories_read(call->rq, &call->histories, &options));
    call->has_histories = true;
    for (size_t place = 0; place < call->in.resource_count; place++) {
        const struct resource_history *h =
            &call->histories.list[call->resources_at[place]];

        struct round_resource *r = &call->resources[place];

        r->mean_failure_interval_s = h->mean_s;
        if (h->known)
            r->uptime_s = reliability_uptime_s(&h->reliability, call->histories.now_s);
        if (round_call_option(call, "failure_distribution", 0) == 1) {
            r->weibull_shape = h->weibull_shape;
            r->weibull_scale_s = h->scale_s;
        }
    }
    return OK;
}

/* The mean time to repair of these resources, NULL: of all; NAN: not known. */
static double stored_repair_s(const struct round_call *call, const size_t *allowed,
                              size_t allowed_count)
{
    size_t all = allowed ? allowed_count : call->in.resource_count, count = 0;
    double sum = 0;

    for (size_t i = 0; i < all && call->has_histories; i++) {
        size_t place = allowed ? allowed[i] : i;
        const struct resource_history *h =
            &call->histories.list[call->resources_at[place]];
        double repair_s = h->known ? reliability_mttr_s(&h->reliability) : (double)NAN;

        if (isnan(repair_s))
            continue;
        sum += repair_s;
        count++;
    }
    return count ? sum / (double)count : (double)NAN;
}

/* Jobs that wait for a repair have to say, or the histories, how long that takes. */
static void find_repairs(struct round_call *call)
{
    struct round_job *jobs = call->jobs;
    double all_s = stored_repair_s(call, NULL, 0);

    for (size_t place = 0; place < call->in.job_count; place++) {
        struct round_job *job = &jobs[place];
        bool waits = job->spare_count > 0 || job->replacement == REPLACEMENT_SAME;

        if (waits && isnan(job->repair_s))
            job->repair_s = job->allowed
                                ? stored_repair_s(call, job->allowed, job->allowed_count)
                                : all_s;
        if (waits && isnan(job->repair_s))
            job_mistake(call, call->jobs_at[place], "mttr_s", ITEM_REQUIRED,
                        "no history tells how long a repair takes");
        if (!waits)
            job->repair_s = 0;
    }
}

#define T struct round_verify
static const struct json_field verify_rows[] = {
    JSON_NUMBER(T, trial_count, 1, PLAY_TRIALS_MAX, PLAY_TRIALS_PRESET, JSON_WHOLE,
                "Most trials"),
    JSON_NUMBER(T, seed, 0, JSON_EXACT, NAN, JSON_NULLABLE | JSON_WHOLE,
                "Of their random numbers; default: the request's"),
    {0},
};
#undef T
const struct json_object round_verify_json = {"RoundVerify", "How copies are played",
                                              sizeof(struct round_verify), verify_rows};

enum error_code round_call_begin(struct round_call *call, struct request *rq,
                                 const struct round_request *body,
                                 const struct policy *table, const char *preset,
                                 struct decision_answer *answer)
{
    size_t *place_of;

    *call = (struct round_call){.rq = rq, .body = body};
    call->warnings = NEW(rq->arena, const char *, ROUND_WARNINGS_MAX);
    TRY(decision_begin(rq, &body->decision, answer));
    TRY(bind_policies(call, table, preset));
    TRY(decision_snapshot(rq, body->snapshot, body->snapshot_id, true, &call->snapshot));
    if (!call->policy)
        return rq->err->code;
    histories_begin(call->snapshot, 0, &call->histories, rq->arena);
    histories_check(&call->histories, rq->err);
    take_resources(call, &place_of);
    take_jobs(call, place_of);
    if (rq->err->code != OK)
        return rq->err->code;
    call->in.random_state = body->decision.seed;
    call->in.explain = true;
    call->in.budget = &rq->budget;
    call->in.can_checkpoint =
        call->checkpoint && strcmp(call->checkpoint->name, "none") != 0;
    if (needs_histories(call))
        TRY(read_histories(call));
    find_repairs(call);
    return rq->err->code;
}

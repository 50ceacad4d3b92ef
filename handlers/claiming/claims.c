/* claims.c - POST /v1/claims: getting the processors of a placed job.
 *
 * By the member `kind`: claim, one try of the claiming policy for one job (here);
 * timeline and queue (claim_times.c).
 *
 * Source: spec coallocation.md 8, 9.
 */
#include "handlers/claiming/routes.h"

#include "algorithms/coallocation/claim.h"
#include "handlers/claiming/claim_choice.h"
#include "handlers/claiming/claim_times.h"
#include "handlers/coallocation/coallocation_json.h"
#include "handlers/coallocation/coallocation_refine.h"
#include "handlers/common/kinds.h"
#include "handlers/operations/policy_words.h"
#include "handlers/placement/option_split.h"
#include "handlers/sites/coallocation_history.h"
#include "handlers/sites/coallocation_stored.h"

#include <stdio.h>
#include <string.h>

enum { COMPONENTS_MAX = 10000, RUNNING_MAX = 100000, PARTS_MAX = 1000 };
#define PROCESSORS_MAX 1e9
#define TIME_MAX_S     1e12

/* ---- kind claim: the request ---- */

struct claim_component {
    const char *id;
    uint64_t processors;
    const char *site_id, *file_site_id, *file_id;
    double chunk_bytes;
    bool site_fixed;
    int state;
};

struct claim_job {
    const char *id, *policy;
    int priority, base_priority;
    bool atomic;
    enum co_site_rule component_site_rule;
    const char *const *required_capabilities;
    size_t required_capability_count;
    const char *const *allowed_site_ids;
    size_t allowed_site_count;
    const char *const *avoid_site_ids;
    size_t avoid_site_count;
    bool avoid_sites_soft;
    double l_value, jpt_s, ftt_s, jst_s, jct_s;
    uint64_t claim_tries;
    const struct claim_component *components;
    size_t component_count;
};

struct claim_allocation {
    const char *site_id;
    uint64_t processors;
};

struct claim_running {
    const char *id;
    int priority;
    double jst_s;
    const struct claim_allocation *allocations;
    size_t allocation_count;
};

struct claim_request {
    struct decision_request decision;
    int kind;
    double now_s;
    const struct co_snapshot *snapshot;
    const char *snapshot_id;
    const struct co_from_history *from_history;
    enum co_history_table history_table;
    const struct claim_l_request *l_choice;
    struct claim_job job;
    const struct claim_running *running_jobs;
    size_t running_job_count;
};

static const char *const claim_kind[] = {"claim", NULL};
enum { WAITING, STARTED };
static const char *const states[] = {"waiting", "started", NULL};

#define INSTANT_S(T, m, flag, text) \
    JSON_NUMBER(T, m, -TIME_MAX_S, TIME_MAX_S, NAN, flag, text)

#define T struct claim_component
static const struct json_field component_rows[] = {
    JSON_ID(T, id, JSON_REQUIRED, "Name, unique in the job"),
    JSON_INTEGER(T, processors, 1, PROCESSORS_MAX, 0, JSON_REQUIRED,
                 "Processors, all on one site"),
    JSON_ID(T, site_id, JSON_REQUIRED,
            "Where it is placed; nothing is idle on a site that the snapshot lacks"),
    JSON_ID(T, file_site_id, JSON_NULLABLE, "Where its file comes from"),
    JSON_ID(T, file_id, JSON_NULLABLE, "Its input file; default: none"),
    JSON_NUMBER(T, chunk_bytes, 0, JSON_LARGEST, NAN, JSON_NULLABLE,
                "Bytes of the file that it reads; needed with mode chunk; default: all"),
    JSON_BOOLEAN(T, site_fixed, 0, 0,
                 "The user chose the site: it is not moved; default false"),
    JSON_CHOICE(T, state, states, WAITING, 0,
                "started: in an earlier try, or reserved; default waiting"),
    {0},
};
#undef T
static const struct json_object component_json = {
    "ClaimComponent", "A component of a placed job", sizeof(struct claim_component),
    component_rows};

#define T struct claim_job
static const struct json_field job_rows[] = {
    JSON_ID(T, id, JSON_REQUIRED, "Name"),
    JSON_CHOICE(T, priority, co_level_names, CO_LOW, 0, "Its level now; default low"),
    {.name = "base_priority",
     .doc = "Its level before it was promoted; default: priority",
     .type = JSON_TYPE_CHOICE,
     .choices = co_level_names,
     .preset = -1,
     .offset = JSON_AT(T, base_priority, int)},
    JSON_ID(T, policy, JSON_NULLABLE,
            "Policy that placed it and finds other sites; default close_to_files"),
    JSON_BOOLEAN(T, atomic, 1, 0, "All components or none; default true"),
    CO_SITE_ROWS(T),
    JSON_NUMBER(T, l_value, 0, 1, NAN, JSON_NULLABLE, "Its L; default: option l_initial"),
    INSTANT_S(T, jpt_s, JSON_NULLABLE, "When it was placed"),
    JSON_NUMBER(T, ftt_s, 0, TIME_MAX_S, NAN, JSON_NULLABLE,
                "Time of its longest transfer"),
    INSTANT_S(T, jst_s, JSON_NULLABLE, "When it starts; default: jpt_s + ftt_s"),
    INSTANT_S(T, jct_s, JSON_NULLABLE,
              "When this try is due: a request before that is told to wait; default: "
              "now, or with l_choice, for a job that has had no try, jpt_s + L ftt_s"),
    JSON_INTEGER(T, claim_tries, 0, 1e12, 0, 0,
                 "Tries so far, in all its placements; default 0"),
    JSON_LIST(T, components, component_count, struct claim_component, &component_json,
              COMPONENTS_MAX, JSON_REQUIRED | JSON_UNIQUE_IDS, "Its components"),
    {0},
};
#undef T
static const struct json_object job_json = {"ClaimJob", "A placed job",
                                            sizeof(struct claim_job), job_rows};

#define T struct claim_allocation
static const struct json_field allocation_rows[] = {
    JSON_ID(T, site_id, JSON_REQUIRED, "Site"),
    JSON_INTEGER(T, processors, 1, PROCESSORS_MAX, 0, JSON_REQUIRED,
                 "Processors that it holds there"),
    {0},
};
#undef T
static const struct json_object allocation_json = {
    "ClaimAllocation", "Processors of a running job", sizeof(struct claim_allocation),
    allocation_rows};

#define T struct claim_running
static const struct json_field running_rows[] = {
    JSON_ID(T, id, JSON_REQUIRED, "Name"),
    JSON_CHOICE(T, priority, co_level_names, CO_LOW, 0, "Its level; default low"),
    INSTANT_S(T, jst_s, JSON_REQUIRED, "When it started, or will"),
    JSON_LIST(T, allocations, allocation_count, struct claim_allocation, &allocation_json,
              PARTS_MAX, JSON_REQUIRED, "What it holds, also before its start"),
    {0},
};
#undef T
static const struct json_object running_json = {
    "ClaimRunningJob", "A job of this scheduler that can be preempted",
    sizeof(struct claim_running), running_rows};

#define T struct claim_request
static const struct json_field claim_rows[] = {
    JSON_CHOICE(T, kind, claim_kind, 0, 0, "claim, the default: one try for one job"),
    INSTANT_S(T, now_s, JSON_NULLABLE,
              "The present, on the scale of all times; default: the snapshot's taken_at"),
    JSON_OBJECT(T, snapshot, const struct co_snapshot *, &co_snapshot_json, JSON_POINTER,
                "Sites as they are now, links, replicas"),
    CO_SNAPSHOT_ID_ROW(T),
    CO_FROM_HISTORY_ROW(T),
    CO_HISTORY_TABLE_ROW(T),
    CLAIM_L_CHOICE_ROW(T),
    JSON_OBJECT(T, job, struct claim_job, &job_json, JSON_REQUIRED, "The job"),
    JSON_LIST(T, running_jobs, running_job_count, struct claim_running, &running_json,
              RUNNING_MAX, JSON_UNIQUE_IDS, "Jobs that may have to give way"),
    DECISION_REQUEST_ROWS(T),
    {0},
};
#undef T
static const struct json_object claim_request_json = {
    "ClaimRequest", "A job whose claiming time has come", sizeof(struct claim_request),
    claim_rows};

/* ---- kind claim: the answer ---- */

struct claim_move {
    const char *component_id, *from_site_id, *site_id, *file_site_id;
    double transfer_time_s;
};

struct claim_preemption {
    const char *job_id, *site_id;
    uint64_t processors;
};

struct claim_answer {
    struct decision_answer decision;
    int kind;
    const char *job_id;
    enum co_claim_decision verdict;
    double fraction_f;
    uint64_t claim_tries;
    const char *const *start_components;
    size_t start_count;
    const struct claim_move *replaced_components;
    size_t move_count;
    const struct co_transfer_answer *transfers;
    size_t transfer_count;
    const struct claim_preemption *preempt_jobs;
    size_t preemption_count;
    const char *const *waiting_components;
    size_t waiting_count;
    const char *const *abort_components;
    size_t abort_count;
    const char *const *requeue_components;
    size_t requeue_count;
    double next_jct_s, l_value;
    const struct co_site_processors *outstanding_delta;
    size_t outstanding_delta_count;
    const struct co_named_pair *history_pairs_added;
    size_t history_pair_count;
    const struct claim_l_answer *l_choice;
    const struct co_history_basis *history_basis;
};

#define T struct claim_move
static const struct json_field move_rows[] = {
    JSON_TEXT(T, component_id, 0, "The component"),
    JSON_TEXT(T, from_site_id, 0, "Where it was placed"),
    JSON_TEXT(T, site_id, 0, "Where it starts now"),
    JSON_TEXT(T, file_site_id, JSON_MAY_BE_NULL,
              "Where its file comes from; null: no input"),
    JSON_NUMBER(T, transfer_time_s, 0, 0, 0, 0, "How long that takes"),
    {0},
};
#undef T
static const struct json_object move_json = {"ClaimMove",
                                             "A component that got another site",
                                             sizeof(struct claim_move), move_rows};

#define T struct claim_preemption
static const struct json_field preemption_rows[] = {
    JSON_TEXT(T, job_id, 0, "Job to be stopped, on all its sites, and queued again"),
    JSON_TEXT(T, site_id, 0, "Where its processors are needed"),
    JSON_INTEGER(T, processors, 0, JSON_EXACT, 0, 0, "How many it has there"),
    {0},
};
#undef T
static const struct json_object preemption_json = {
    "ClaimPreemption", "A running job that gives way", sizeof(struct claim_preemption),
    preemption_rows};

#define T struct claim_answer
static const struct json_field claim_answer_rows[] = {
    JSON_CHOICE(T, kind, claim_kind, 0, 0, "claim"),
    DECISION_ANSWER_ROWS(T, DECISION_BY_OF(claim_words)),
    JSON_TEXT(T, job_id, 0, "The job"),
    {.name = "decision",
     .doc = "start_all: now all of it has started; start_partial: some components start; "
            "wait: none; requeue_placement: it missed its start, place it again; fail: "
            "too many tries",
     .type = JSON_TYPE_CHOICE,
     .offset = JSON_AT(T, verdict, enum co_claim_decision),
     .choices = co_claim_decision_names},
    JSON_NUMBER(T, fraction_f, 0, 0, 0, JSON_MAY_BE_NULL,
                "F: share of the components that have started or could at once; null: "
                "it is not time yet"),
    JSON_INTEGER(T, claim_tries, 0, JSON_EXACT, 0, 0, "Tries with this one"),
    JSON_TEXTS(T, start_components, start_count, 0, 0,
               "Components to be started now, the largest first"),
    JSON_LIST(T, replaced_components, move_count, struct claim_move, &move_json, 0, 0,
              "Those of them that got another site"),
    JSON_LIST(T, transfers, transfer_count, struct co_transfer_answer,
              &co_transfer_answer_json, 0, 0, "Files to be copied for that"),
    JSON_LIST(T, preempt_jobs, preemption_count, struct claim_preemption,
              &preemption_json, 0, 0, "Jobs that give way, in this order"),
    JSON_TEXTS(T, waiting_components, waiting_count, 0, 0, "Components for the next try"),
    JSON_TEXTS(T, abort_components, abort_count, 0, 0,
               "Components started earlier that are to be stopped"),
    JSON_TEXTS(T, requeue_components, requeue_count, 0, 0,
               "Not atomic: components to be placed again, the others run"),
    JSON_NUMBER(T, next_jct_s, 0, 0, 0, JSON_MAY_BE_NULL,
                "When to try again; null: not at all"),
    JSON_NUMBER(T, l_value, 0, 1, 0, 0, "Its L from now on"),
    JSON_LIST(T, outstanding_delta, outstanding_delta_count, struct co_site_processors,
              &co_site_processors_json, 0, 0,
              "How processors_outstanding of the sites change"),
    JSON_LIST(T, history_pairs_added, history_pair_count, struct co_named_pair,
              &co_named_pair_json, 0, 0, "Pairs for the history table"),
    CLAIM_L_ANSWER_ROW(T),
    CO_HISTORY_BASIS_ROW(T),
    DECISION_END_ROWS(T),
    {0},
};
#undef T
static const struct json_object claim_answer_json = {
    "ClaimAnswer", "What starts now, and where", sizeof(struct claim_answer),
    claim_answer_rows};

/* ---- kind claim: reading ---- */

struct claim_call {
    struct request *rq;
    const struct claim_request *body;
    struct co_world world;
    struct co_job job;
    struct co_claim_in in;
    struct co_claim_options options;
    struct co_history history;
    double ftt_s;            /* NAN: not known */
    const char *warnings[2]; /* of what was looked up; NULL: none */
    struct claim_answer *answer;
};

static void mistake(const struct claim_call *c, enum item_code code, const char *text,
                    const char *format, size_t i, size_t k)
{
    char pointer[128];

    snprintf(pointer, sizeof(pointer), format, i, k);
    invalid(c->rq->err, pointer, code, "%s", text);
}

/* The job as the placement endpoints know it; parts of a flexible one are placed one by
 * one. */
static enum error_code read_job(struct claim_call *c)
{
    const struct claim_job *job = &c->body->job;
    const struct policy *policy =
        job->policy ? policy_find(coallocation_policies, job->policy) : NULL;
    struct co_component_request *list =
        NEW(c->rq->arena, struct co_component_request, job->component_count);
    struct co_job_request as = {
        .id = job->id,
        .policy = policy && policy->flags & CO_FLEXIBLE_ONLY ? "cluster_minimisation"
                                                             : job->policy,
        .priority = job->priority,
        .job_class = -1,
        .atomic = job->atomic,
        .min_placed_components = 1,
        .component_site_rule = job->component_site_rule,
        .required_capabilities = job->required_capabilities,
        .required_capability_count = job->required_capability_count,
        .allowed_site_ids = job->allowed_site_ids,
        .allowed_site_count = job->allowed_site_count,
        .avoid_site_ids = job->avoid_site_ids,
        .avoid_site_count = job->avoid_site_count,
        .avoid_sites_soft = job->avoid_sites_soft,
        .components = list,
        .component_count = job->component_count,
        .total_processors = NAN,
    };

    as.request_type = CO_NON_FIXED;
    for (size_t i = 0; i < job->component_count; i++) {
        const struct claim_component *from = &job->components[i];

        if (from->site_fixed)
            as.request_type = CO_SEMI_FIXED;
        list[i] = (struct co_component_request){
            .id = from->id,
            .processors = from->processors,
            .site_id = from->site_fixed ? from->site_id : NULL,
            .file_id = from->file_id,
            .chunk_bytes = from->chunk_bytes};
    }
    return co_job_read(&as, "/job", &c->world, &c->job, c->rq->arena, c->rq->err);
}

static void read_places(struct claim_call *c)
{
    const struct claim_job *job = &c->body->job;
    struct co_choice *choices = NEW(c->rq->arena, struct co_choice, job->component_count);
    bool *started = NEW(c->rq->arena, bool, job->component_count);

    for (size_t i = 0; i < job->component_count; i++) {
        const struct claim_component *from = &job->components[i];

        choices[i].site = co_site_find(&c->world.grid, from->site_id);
        choices[i].file_site = from->file_site_id
                                   ? co_site_find(&c->world.grid, from->file_site_id)
                                   : CO_NONE;
        started[i] = from->state == STARTED;
    }
    c->in.choices = choices;
    c->in.started = started;
}

static enum error_code read_running(struct claim_call *c)
{
    const struct claim_request *body = c->body;
    size_t count = body->running_job_count, part_count = 0;
    struct co_running_job *jobs = NEW(c->rq->arena, struct co_running_job, count);
    struct co_running_part *parts;

    for (size_t i = 0; i < count; i++)
        part_count += body->running_jobs[i].allocation_count;
    parts = NEW(c->rq->arena, struct co_running_part, part_count);
    for (size_t i = 0; i < count; i++) {
        const struct claim_running *from = &body->running_jobs[i];

        jobs[i] = (struct co_running_job){from->id, (enum co_level)from->priority,
                                          from->jst_s, parts, from->allocation_count};
        for (size_t k = 0; k < from->allocation_count; k++, parts++) {
            *parts = (struct co_running_part){
                co_site_find(&c->world.grid, from->allocations[k].site_id),
                from->allocations[k].processors};
            if (parts->site == CO_NONE)
                mistake(c, ITEM_UNKNOWN_ID, "the snapshot has no such site",
                        "/running_jobs/%zu/allocations/%zu/site_id", i, k);
        }
    }
    c->in.running = jobs;
    c->in.running_count = count;
    return OK;
}

static void read_times(struct claim_call *c)
{
    const struct claim_job *job = &c->body->job;

    c->in.now_s = c->world.now_s;
    c->in.jst_s = isnan(job->jst_s) ? job->jpt_s + job->ftt_s : job->jst_s;
    c->in.jct_s = job->jct_s;
    c->in.l = isnan(job->l_value) ? c->world.common[CO_L_INITIAL] : job->l_value;
    c->in.tries = job->claim_tries;
    if (isnan(c->in.jst_s))
        mistake(c, ITEM_REQUIRED, "the member is missing: give it, or jpt_s and ftt_s",
                "/job/jst_s", 0, 0);
    c->ftt_s = isnan(job->ftt_s) ? c->in.jst_s - job->jpt_s : job->ftt_s;
    if (c->body->l_choice && !(c->ftt_s >= 0))
        mistake(c, ITEM_REQUIRED,
                "l_choice needs it, or jpt_s and a jst_s not before that", "/job/ftt_s",
                0, 0);
    if (c->in.jct_s > c->in.jst_s)
        mistake(c, ITEM_OUT_OF_BOUNDS, "must not be after jst_s", "/job/jct_s", 0, 0);
}

static void check_algorithm(const struct claim_call *c)
{
    const char *name = c->body->decision.algorithm;

    if (name && strcmp(name, "auto") != 0 && !policy_find(co_claim_policies, name))
        decision_unknown_policy(name, co_claim_policies, c->rq->err);
}

static enum error_code read_claim(struct claim_call *c)
{
    const struct claim_request *body = c->body;
    struct decision_request placing = body->decision;
    const struct co_snapshot *snapshot;
    struct option_split options;
    double value[PARAMS_MAX];
    enum error_code code;

    check_algorithm(c);
    TRY(option_split(placing.options, placing.option_count, co_claim_params, &options,
                     c->rq->arena, c->rq->err));
    code =
        params_bind(co_claim_params, options.own, options.own_count, value, c->rq->err);
    if (code != OK && code != ERR_INVALID)
        return code;
    placing.algorithm = NULL;
    placing.options = options.rest;
    placing.option_count = options.rest_count;
    TRY(co_snapshot_find(c->rq, body->snapshot, body->snapshot_id, true, &snapshot));
    TRY(co_world_read(snapshot, &placing, body->now_s, &c->world, c->rq->arena,
                      c->rq->err));
    TRY(read_job(c));
    TRY(read_running(c));
    read_times(c);
    co_world_check_options(&c->world, c->rq->err);
    read_places(c);
    if (c->rq->err->code != OK)
        return c->rq->err->code;
    c->options = co_claim_options_of(value, c->world.common[CO_MIN_CLAIM_INTERVAL_S]);
    return OK;
}

/* ---- kind claim: answering ---- */

static void names_of(const struct claim_call *c, const size_t *list, size_t count,
                     const char *const **out, size_t *out_count)
{
    const char **names = NEW(c->rq->arena, const char *, count);

    for (size_t i = 0; i < count; i++)
        names[i] = c->job.components[list[i]].id;
    *out = names;
    *out_count = count;
}

static void fill_moves(struct claim_call *c, const struct co_claim_out *decided)
{
    size_t count = decided->move_count;
    struct claim_move *moves = NEW(c->rq->arena, struct claim_move, count);
    struct co_component *parts = NEW(c->rq->arena, struct co_component, count);
    struct co_choice *choices = NEW(c->rq->arena, struct co_choice, count);
    const struct co_grid_site *sites = c->world.grid.sites;
    struct co_placement moved = {.components = parts,
                                 .component_count = count,
                                 .choices = choices,
                                 .placed_count = count};
    const struct co_transfer *transfers;

    for (size_t i = 0; i < count; i++) {
        const struct co_claim_move *move = &decided->moves[i];
        size_t file_site = move->to.file_site;

        parts[i] = c->job.components[move->component];
        choices[i] = move->to;
        moves[i] = (struct claim_move){
            parts[i].id, c->body->job.components[move->component].site_id,
            sites[move->to.site].id, file_site == CO_NONE ? NULL : sites[file_site].id,
            move->to.transfer_s};
    }
    c->answer->replaced_components = moves;
    c->answer->move_count = count;
    co_transfers(&c->world.grid, &moved, &transfers, &count, c->rq->arena);
    c->answer->transfer_count = count;
    co_transfers_fill(&c->world.grid, transfers, count, &c->answer->transfers,
                      c->rq->arena);
}

static void fill_sites(struct claim_call *c, const struct co_claim_out *decided)
{
    const struct co_grid *grid = &c->world.grid;
    struct co_site_processors *deltas =
        NEW(c->rq->arena, struct co_site_processors, grid->site_count);
    struct claim_preemption *stops =
        NEW(c->rq->arena, struct claim_preemption, decided->preemption_count);

    for (size_t s = 0; s < grid->site_count; s++)
        if (decided->released[s])
            deltas[c->answer->outstanding_delta_count++] = (struct co_site_processors){
                grid->sites[s].id, -(double)decided->released[s]};
    c->answer->outstanding_delta = deltas;
    for (size_t i = 0; i < decided->preemption_count; i++) {
        const struct co_claim_preemption *p = &decided->preemptions[i];

        stops[i] = (struct claim_preemption){c->in.running[p->running].id,
                                             grid->sites[p->site].id, p->processors};
    }
    c->answer->preempt_jobs = stops;
    c->answer->preemption_count = decided->preemption_count;
    c->answer->history_pair_count = decided->added_count;
    co_pairs_fill(grid, decided->added, decided->added_count,
                  &c->answer->history_pairs_added, c->rq->arena);
}

static void fill_claim(struct claim_call *c, const struct co_claim_out *decided)
{
    struct claim_answer *out = c->answer;

    out->job_id = c->job.id;
    out->verdict = decided->decision;
    out->fraction_f = decided->fraction_f;
    out->claim_tries = decided->tries;
    out->next_jct_s = decided->next_jct_s;
    out->l_value = decided->l;
    names_of(c, decided->start, decided->start_count, &out->start_components,
             &out->start_count);
    names_of(c, decided->waiting, decided->waiting_count, &out->waiting_components,
             &out->waiting_count);
    names_of(c, decided->abort, decided->abort_count, &out->abort_components,
             &out->abort_count);
    names_of(c, decided->requeue, decided->requeue_count, &out->requeue_components,
             &out->requeue_count);
    fill_moves(c, decided);
    fill_sites(c, decided);
    co_world_warnings(&c->world, &out->decision.warnings, &out->decision.warning_count,
                      c->rq->arena);
    for (size_t i = 0; i < 2; i++)
        co_add_warning(c->warnings[i], &out->decision.warnings,
                       &out->decision.warning_count, c->rq->arena);
}

/* ---- kind claim: what is stored ---- */

/* L by what became of earlier claims on the sites of the job. */
static enum error_code choose_l(struct claim_call *c)
{
    const struct claim_job *job = &c->body->job;
    struct claim_l_answer *chosen = NEW(c->rq->arena, struct claim_l_answer, 1);
    const char **sites = NEW(c->rq->arena, const char *, job->component_count);
    struct claim_l_question question = {.site_ids = sites,
                                        .site_count = job->component_count,
                                        .ftt_s = c->ftt_s,
                                        .given_l = c->in.l};

    for (size_t i = 0; i < job->component_count; i++) {
        sites[i] = job->components[i].site_id;
        question.processors += (double)job->components[i].processors;
    }
    TRY(claim_l_choose(c->rq, c->body->l_choice, &question, chosen, &c->warnings[0]));
    c->answer->l_choice = chosen;
    c->in.l = chosen->l_value;
    if (isnan(job->jct_s) && job->claim_tries == 0 && !isnan(job->jpt_s))
        c->in.jct_s = fmin(c->in.jst_s, co_first_claim_s(job->jpt_s, c->ftt_s, c->in.l,
                                                         &c->options.steps));
    return OK;
}

static enum error_code look_up(struct claim_call *c)
{
    TRY(co_refine(c->rq, c->body->from_history, &c->world.grid, &c->answer->history_basis,
                  &c->warnings[1]));
    if (c->body->l_choice)
        TRY(choose_l(c));
    TRY(co_history_create(&c->world.grid, &c->history, c->rq->arena));
    if (c->body->history_table == CO_HISTORY_PERSISTED)
        TRY(co_history_load(c->rq, &c->world.grid, &c->history));
    c->in.history = &c->history;
    return OK;
}

static enum error_code save_history(struct claim_call *c,
                                    const struct co_claim_out *decided)
{
    size_t sites = c->world.grid.site_count;
    uint64_t *uses;

    if (c->body->history_table != CO_HISTORY_PERSISTED)
        return OK;
    uses = NEW(c->rq->arena, uint64_t, sites * sites);
    co_history_count(decided->added, decided->added_count, sites, uses);
    return co_history_save(c->rq, &c->world.grid, uses);
}

static enum decision_status status_of(const struct co_claim_out *decided)
{
    if (decided->decision == CO_REQUEUE_PLACEMENT || decided->decision == CO_CLAIM_FAIL)
        return DECISION_INFEASIBLE;
    return decided->cut ? DECISION_CUT : DECISION_FEASIBLE;
}

static enum error_code claim(struct request *rq, const void *in, void *out)
{
    struct claim_call *c = NEW(rq->arena, struct claim_call, 1);
    struct co_claim_out decided = {0};

    c->rq = rq;
    c->body = in;
    c->answer = out;
    TRY(decision_begin(rq, &c->body->decision, &c->answer->decision));
    TRY(read_claim(c));
    c->in.grid = &c->world.grid;
    c->in.job = &c->job;
    c->in.base_level = c->body->job.base_priority < 0
                           ? c->job.level
                           : (enum co_level)c->body->job.base_priority;
    c->in.components = c->job.components;
    c->in.component_count = c->job.component_count;
    c->in.budget = &rq->budget;
    TRY(look_up(c));
    TRY(co_claim(&c->in, &c->options, &decided, rq->arena, rq->err));
    TRY(save_history(c, &decided));
    fill_claim(c, &decided);
    decision_end(rq, "incremental", status_of(&decided), &c->answer->decision);
    return OK;
}

/* ---- kinds ---- */

/* Every kind: name, body, answer, handler; a body without `kind` means the first. */
#define CLAIM_KINDS(X)                                                                   \
    X(claim, claim_request_json, claim_answer_json, claim)                               \
    X(timeline, claim_timeline_request_json, claim_timeline_answer_json, claim_timeline) \
    X(queue, claim_queue_request_json, claim_queue_answer_json, claim_queue)

static const struct json_kind request_kinds[] = {
#define X(name, request, answer, run) {#name, &request},
    CLAIM_KINDS(X)
#undef X
        {0},
};
static const struct json_kind answer_kinds[] = {
#define X(name, request, answer, run) {#name, &answer},
    CLAIM_KINDS(X)
#undef X
        {0},
};
static handler_fn *const runs[] = {
#define X(name, request, answer, run) run,
    CLAIM_KINDS(X)
#undef X
};

struct claims {
    struct json_of_kind of;
};

#define T struct claims
static const struct json_field request_rows[] = {
    JSON_KIND(T, of, request_kinds, "What is asked; default claim",
              JSON_WAS({"mode", 0})),
    {0},
};
static const struct json_field answer_rows[] = {
    JSON_KIND(T, of, answer_kinds, "What was asked"),
    {0},
};
#undef T
const struct json_object claims_request_json = {
    "ClaimsRequest", "A claim, a timeline or a queue; its member kind says which",
    sizeof(struct claims), request_rows};
const struct json_object claims_answer_json = {
    "ClaimsAnswer", "What came out, by the kind", sizeof(struct claims), answer_rows};

enum error_code post_claims(struct request *rq, const void *in, void *out)
{
    const struct claims *body = in;
    struct claims *answer = out;

    return answer_by_kind(rq, &body->of, answer_kinds, runs, &answer->of);
}

/* simulations.c - /v1/simulations: what policies achieve on a grid with failures, and
 * simulations of other kinds. */
#include "handlers/simulation/simulations.h"

#include "handlers/common/kinds.h"
#include "handlers/common/page.h"
#include "handlers/parallel/simulation_multi_phase.h"
#include "handlers/pictures/pictures.h"
#include "handlers/queue/simulation_queue.h"
#include "handlers/simulation_cluster/cluster_simulation.h"
#include "handlers/simulation_grid/simulation_coallocation.h"
#include "handlers/simulation_grid/simulation_policies.h"
#include "handlers/simulation_grid/simulation_scenario.h"
#include "handlers/simulation_grid/simulation_workflow.h"
#include "models/base/plural.h"
#include "models/base/pointer.h"
#include "service/background.h"
#include "service/clock.h"
#include "service/config.h"
#include "service/hash.h"
#include "service/service.h"
#include "service/uuid.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const double TIME_LIMIT_S = 10; /* with a client, unless it says otherwise */
static const double JOB_BYTES = 1200;  /* of a simulated job: 1,075 were measured */
static const double POLL_FIRST_S = 0.02, POLL_LAST_S = 0.25;

const char *const simulation_status_names[] = {"queued",    "running", "done", "cut",
                                               "cancelled", "failed",  NULL};
enum { ANY = -1 };

/* Every kind of simulation: name, body, answer, handler (see simulations.h). The
 * first is meant by a body without `kind`. */
#define SIMULATION_KINDS(X)                                                        \
    X(grid, simulation_request_json, simulation_answer_json, simulate_grid)        \
    X(cluster, cluster_simulation_request_json, cluster_simulation_answer_json,    \
      simulate_cluster)                                                            \
    X(coallocation, coallocation_simulation_request_json,                          \
      coallocation_simulation_answer_json, simulate_coallocation)                  \
    X(multi_phase, multi_phase_simulation_request_json,                            \
      multi_phase_simulation_answer_json, simulate_multi_phase)                    \
    X(queue, queue_simulation_request_json, queue_simulation_answer_json,          \
      simulate_queue)                                                              \
    X(workflow, workflow_simulation_request_json, workflow_simulation_answer_json, \
      simulate_workflows)

const char *const simulation_kind_names[] = {
#define X(name, request, answer, run) #name,
    SIMULATION_KINDS(X)
#undef X
        NULL};

struct list_query {
    int status, simulates;
    struct page_query page;
};

struct simulations_page {
    const struct store_simulation *items;
    size_t item_count;
    const char *next_page_token;
};

#define T struct list_query
static const struct json_field query_rows[] = {
    JSON_CHOICE(T, status, simulation_status_names, ANY, 0, "Only those; default: all"),
    JSON_CHOICE(T, simulates, simulation_kind_names, ANY, 0,
                "Only those of this kind; default: all, with those that were stored "
                "before kinds were"),
    PAGE_ROWS(T),
    {0},
};
#undef T
const struct json_object simulations_query_json = {"SimulationsQuery",
                                                   "Which simulations, newest first",
                                                   sizeof(struct list_query), query_rows};

#define T struct simulations_page
static const struct json_field page_rows[] = {
    JSON_LIST(T, items, item_count, struct store_simulation, &simulation_info_json, 0, 0,
              "The simulations, newest first"),
    NEXT_PAGE_ROW(T),
    {0},
};
#undef T
const struct json_object simulations_page_json = {
    "SimulationsPage", "A page of simulations without a client",
    sizeof(struct simulations_page), page_rows};

/* ---- on a grid ---- */

/* VM policies place sessions, the others jobs. */
static void check_kinds(const struct simulation_setting *setting,
                        const struct simulation_request *body,
                        const struct simulation_label *labels, struct error *err)
{
    const struct workload *w = &setting->workload;
    bool sessions = w->generator == WORKLOAD_VM_SESSION;

    for (size_t i = 0; w->generator == WORKLOAD_BATCH && i < w->given_count; i++)
        sessions |= !isnan(w->jobs[i].session_s);
    for (size_t i = 0; i < body->compare_count; i++) {
        if (!labels[i].policy.vm == !sessions)
            continue;
        invalid(err, pointer_in("/compare", i, "algorithm").text, ITEM_CONFLICT,
                sessions ? "the workload consists of sessions: a vm policy is needed"
                         : "a vm policy places sessions, and the workload has none");
    }
}

/* Without a scheduler only jobs that name their resource run. */
static void warn_unplaced(struct simulation_setting *setting,
                          const struct simulation_request *body,
                          const struct simulation_label *labels, struct arena *a)
{
    const struct workload *w = &setting->workload;
    size_t pinned = 0;
    bool placed = true;

    for (size_t i = 0; i < body->compare_count; i++)
        placed &= labels[i].policy.round || labels[i].policy.vm;
    for (size_t i = 0; w->generator == WORKLOAD_BATCH && i < w->given_count; i++)
        pinned += w->jobs[i].resource != SIM_NOT_PINNED;
    if (!placed && (w->generator != WORKLOAD_BATCH || pinned < w->given_count))
        simulation_warn(setting, a,
                        "pinned: jobs without a resource_id wait for ever under this "
                        "label; give stop.time_s");
}

/* Rows of the first run; a schedule gets the names of jobs that were given. */
static void fill_rows(const struct sim_run_out *run,
                      const struct simulation_setting *setting,
                      struct simulation_label_answer *out, struct arena *a)
{
    struct simulation_job_answer *jobs =
        NEW(a, struct simulation_job_answer, run->job_count);

    for (size_t i = 0; i < run->job_count; i++) {
        jobs[i].row = run->jobs[i];
        if (run->jobs[i].given < setting->job_id_count)
            jobs[i].job_id = setting->job_ids[run->jobs[i].given];
    }
    out->resources = run->resources;
    out->resource_count = run->resource_count;
    out->storages = run->storages;
    out->storage_count = run->storage_count;
    out->paths = run->paths;
    out->path_count = run->path_count;
    out->jobs = jobs;
    out->job_count = run->job_count;
    out->log = run->log;
    out->log_count = run->log_count;
}

static void fill_results(const struct simulation_plan *plan,
                         const struct simulation_outcome *outcome,
                         const struct simulation_setting *setting,
                         struct simulation_answer *answer, struct arena *a)
{
    struct simulation_label_answer *list =
        NEW(a, struct simulation_label_answer, plan->label_count);
    const char **ranking = NEW(a, const char *, plan->label_count);

    for (size_t i = 0; i < plan->label_count; i++) {
        list[i].label = plan->labels[i].policy.label;
        list[i].algorithm = plan->labels[i].algorithm;
        list[i].checkpoint = plan->labels[i].checkpoint;
        list[i].runs = outcome->runs_completed;
        memcpy(list[i].metrics.metric, outcome->results[i].metrics,
               sizeof(list[i].metrics.metric));
        ranking[i] = plan->labels[outcome->ranking[i]].policy.label;
        fill_rows(&outcome->results[i].first, setting, &list[i], a);
    }
    answer->results = list;
    answer->result_count = plan->label_count;
    answer->ranking = ranking;
    answer->ranking_count = outcome->runs_completed ? plan->label_count : 0;
    answer->runs_completed = outcome->runs_completed;
    answer->events_executed = outcome->events_executed;
}

static void warn_cut(const struct simulation_plan *plan,
                     const struct simulation_outcome *outcome,
                     struct simulation_setting *setting, struct arena *a)
{
    if (outcome->status != DECISION_CUT)
        return;
    if (outcome->events_spent)
        simulation_warn(setting, a,
                        "max_events: %s did not suffice: %llu of %s %s complete; a run "
                        "without stop.time_s may never end",
                        counted(plan->max_events, "event").text,
                        (unsigned long long)outcome->runs_completed,
                        counted(plan->run_count, "run").text,
                        plural(plan->run_count, "is", "are"));
    else
        simulation_warn(setting, a,
                        "time_limit: the time was up, or the simulation was cancelled, "
                        "when %llu of %s %s complete; with Prefer: respond-async it may "
                        "take longer",
                        (unsigned long long)outcome->runs_completed,
                        counted(plan->run_count, "run").text,
                        plural(plan->run_count, "was", "were"));
}

/* A generator that the service's limit ended, in a run at least: its figures are of
 * less than was asked for. */
static void warn_truncated(struct simulation_outcome *outcome,
                           struct simulation_setting *setting, struct arena *a)
{
    if (outcome->truncated_count == 0)
        return;
    outcome->status = DECISION_CUT;
    simulation_warn(setting, a,
                    "workload_truncated: the generator at /workload makes more than %d "
                    "jobs, the most that are played: %llu of %s ended when the next one "
                    "would have come, the first at %.10g s, and the figures are "
                    "of the time before. Ask for an earlier stop.time_s",
                    SIMULATION_JOBS_MAX, (unsigned long long)outcome->truncated_count,
                    counted(outcome->runs_completed, "run").text, outcome->truncated_s);
}

static enum error_code play(struct request *rq, const struct simulation_request *body,
                            const struct simulation_label *labels,
                            struct simulation_setting *setting,
                            struct simulation_answer *answer)
{
    const struct simulation_output *wanted = &body->output;
    struct simulation_plan plan = {
        .scenario = &setting->scenario,
        .labels = labels,
        .label_count = body->compare_count,
        .seed = body->decision.seed,
        .seed_scheme = (enum experiment_seeds)body->seed_scheme,
        .run_count = body->runs,
        .max_events = body->max_events,
        .wanted = {.per_resource = wanted->per_resource,
                   .per_path = wanted->per_path,
                   .job_rows_max = wanted->per_job ? (size_t)wanted->job_rows_max : 0,
                   .log_rows_max = wanted->log ? (size_t)wanted->log_rows_max : 0},
    };
    struct simulation_outcome outcome = {0};
    double *seeds;

    TRY(simulation_play(rq, &plan, &outcome));
    fill_results(&plan, &outcome, setting, answer, rq->arena);
    warn_cut(&plan, &outcome, setting, rq->arena);
    warn_truncated(&outcome, setting, rq->arena);
    seeds = NEW(rq->arena, double, outcome.runs_completed);
    for (uint64_t run = 0; run < outcome.runs_completed; run++)
        seeds[run] = (double)experiment_seed(plan.seed, plan.seed_scheme, run);
    answer->seeds = seeds;
    answer->seed_count = outcome.runs_completed;
    answer->name = body->name;
    answer->decision.warnings = setting->warnings;
    answer->decision.warning_count = setting->warning_count;
    decision_end(rq, "simulation", outcome.status, &answer->decision);
    return OK;
}

/* ---- without a client ---- */

static void wake(const struct request *rq)
{
    background_wake(__atomic_load_n(&rq->service->background, __ATOMIC_ACQUIRE));
}

static void reply_raw(struct request *rq, int status, const char *type, const char *text)
{
    rq->reply->status = status;
    rq->reply->content_type = type;
    rq->reply->body = text;
    rq->reply->body_length = strlen(text);
}

static void reply_info(struct request *rq, int status, const struct store_simulation *now)
{
    struct text_buffer b = {.arena = rq->arena};

    json_print(&simulation_info_json, now, &b);
    reply_raw(rq, status, "application/json", text_end(&b));
}

/* Sleeps and asks until it has finished, or `wait_s` is over. */
static enum error_code wait_for(struct request *rq, struct db_session *db, double wait_s,
                                struct store_simulation *now)
{
    const char *id = now->simulation_id;
    double end_s = clock_monotonic_s() + fmin(wait_s, SIMULATION_WAIT_MAX_S);
    double pause_s = POLL_FIRST_S;

    while (isnan(now->finished_at_s) && clock_monotonic_s() + pause_s < end_s &&
           !__atomic_load_n(&rq->service->draining, __ATOMIC_RELAXED) &&
           !(rq->cancelled && __atomic_load_n(rq->cancelled, __ATOMIC_RELAXED))) {
        struct timespec pause = {0, (long)(pause_s * 1e9)};

        nanosleep(&pause, NULL);
        TRY(store_simulation_read(db, rq->principal.tenant, id, now, rq->arena, rq->err));
        pause_s = fmin(POLL_LAST_S, 1.5 * pause_s);
    }
    return OK;
}

/* Waits unless half of the query workers wait already. */
static enum error_code wait_if_possible(struct request *rq, struct db_session *db,
                                        double wait_s, struct store_simulation *now)
{
    size_t *waiting = &rq->service->waiting_count;
    size_t limit = (rq->service->config->query_workers + 1) / 2;
    enum error_code code = OK;

    if (!(wait_s > 0) || db_in_transaction(db))
        return OK;
    if (__atomic_add_fetch(waiting, 1, __ATOMIC_RELAXED) <= limit)
        code = wait_for(rq, db, wait_s, now);
    __atomic_sub_fetch(waiting, 1, __ATOMIC_RELAXED);
    return code;
}

/* The answer that the client would have had without respond-async. */
static enum error_code reply_finished(struct request *rq,
                                      const struct store_simulation *now)
{
    const char *status = NULL;

    if (now->result) {
        reply_raw(rq, 200, "application/json", now->result);
        return OK;
    }
    if (!now->error) {
        reply_info(rq, 200, now);
        return OK;
    }
    TRY(json_member(now->error, "status", &status, rq->arena, rq->err));
    reply_raw(rq, status ? atoi(status) : 500, "application/problem+json", now->error);
    return OK;
}

enum error_code simulation_enqueue(struct request *rq, const char *kind, const char *name)
{
    unsigned char digest[SHA256_BYTES];
    char id[UUID_TEXT_SIZE];
    struct store_simulation now = {0}, wanted = {
                                           .simulation_id = id,
                                           .name = name,
                                           .kind = kind,
                                           .route = rq->route->path,
                                           .snapshot_document = rq->snapshot_document,
                                           .history_document = rq->history_document,
                                       };
    struct db_session *db;

    uuid_make(id);
    hash_sha256(rq->body, rq->body_length, digest);
    wanted.request = arena_text(rq->arena, rq->body, rq->body_length);
    rq->store_decision = false; /* all there is to keep is in its row */
    TRY(request_db(rq, &db));
    TRY(store_simulation_create(db, rq->principal.tenant, &wanted,
                                (struct db_bytes){digest, sizeof(digest)}, &now,
                                rq->arena, rq->err));
    wake(rq);
    reply_header_add(rq->reply, "Location",
                     arena_printf(rq->arena, "/v1/simulations/%s", now.simulation_id));
    reply_header_add(rq->reply, "Preference-Applied", "respond-async");
    TRY(wait_if_possible(rq, db, preference_read(rq->message->prefer).wait_s, &now));
    if (!isnan(now.finished_at_s))
        return reply_finished(rq, &now);
    reply_header_add(rq->reply, "Retry-After", "1");
    reply_info(rq, 202, &now);
    return OK;
}

/* ---- kinds ---- */

enum error_code simulation_begin(struct request *rq, const struct decision_request *in,
                                 struct decision_answer *answer)
{
    struct decision_request decision = *in;

    if (request_is_async(rq) && !rq->service->db)
        return fail(rq->err, ERR_UNAVAILABLE, "",
                    "the service runs without a database, which simulations without a "
                    "client need; leave out Prefer: respond-async");
    TRY(request_check_time_limit(rq, decision.time_limit_s));
    rq->store_decision = request_is_async(rq); /* what is looked up is kept */
    if (rq->store_decision)
        return OK;
    if (!rq->progress && isnan(decision.time_limit_s))
        decision.time_limit_s = TIME_LIMIT_S;
    return decision_begin(rq, &decision, answer);
}

/* How much there is of a run's jobs is known when their number is; that not all of them
 * may come before it ends, makes it a guess, which refuses nothing. */
static enum error_code reserve_jobs(struct request *rq, const struct workload *w)
{
    const struct arena *a = rq->arena;
    double left_bytes = (double)arena_cap_bytes(a) - (double)arena_used_bytes(a);
    double job_count = (double)w->job_count;

    if (w->generator == WORKLOAD_SWF)
        job_count = (double)w->swf_job_count;
    job_count = fmin(job_count, SIMULATION_JOBS_MAX);
    return request_reserve(rq, fmin(JOB_BYTES * job_count, fmax(0, left_bytes)));
}

static enum error_code simulate_grid(struct request *rq, const void *in, void *out)
{
    const struct simulation_request *body = in;
    struct simulation_answer *answer = out;
    struct simulation_setting *setting = NEW(rq->arena, struct simulation_setting, 1);
    const struct simulation_label *labels = NULL;
    enum error_code code;

    TRY(simulation_begin(rq, &body->decision, &answer->decision));
    simulation_policies(body, &labels, rq->arena, rq->err);
    code = simulation_scenario(rq, body, setting);
    if (code != OK && code != ERR_INVALID)
        return code;
    if (rq->err->code == OK)
        check_kinds(setting, body, labels, rq->err);
    TRY(rq->err->code);
    warn_unplaced(setting, body, labels, rq->arena);
    if (request_is_async(rq))
        return simulation_enqueue(rq, "grid", body->name);
    TRY(reserve_jobs(rq, &setting->workload));
    return play(rq, body, labels, setting, answer);
}

static const struct json_kind request_kinds[] = {
#define X(name, request, answer, run) {#name, &request},
    SIMULATION_KINDS(X)
#undef X
        {0},
};
static const struct json_kind answer_kinds[] = {
#define X(name, request, answer, run) {#name, &answer},
    SIMULATION_KINDS(X)
#undef X
        {0},
};
static handler_fn *const runs[] = {
#define X(name, request, answer, run) run,
    SIMULATION_KINDS(X)
#undef X
};

struct simulation_of_kind {
    struct json_of_kind of;
};

#define T struct simulation_of_kind
static const struct json_field request_rows[] = {
    JSON_KIND(T, of, request_kinds, "Kind of simulation; default grid"),
    {0},
};
static const struct json_field answer_rows[] = {
    JSON_KIND(T, of, answer_kinds, "Kind of simulation"),
    {0},
};
#undef T
const struct json_object any_simulation_request_json = {
    "AnySimulationRequest", "A simulation of any kind; its member kind says which",
    sizeof(struct simulation_of_kind), request_rows};
const struct json_object any_simulation_answer_json = {
    "AnySimulationAnswer", "What came out, by the kind of the simulation",
    sizeof(struct simulation_of_kind), answer_rows};

/* ---- handlers ---- */

enum error_code post_simulation(struct request *rq, const void *in, void *out)
{
    const struct simulation_of_kind *body = in;
    struct simulation_of_kind *answer = out;

    if (request_answer_form(rq) == ANSWER_TEXT && runs[body->of.kind] != simulate_queue)
        return fail(rq->err, ERR_NOT_ACCEPTABLE, "",
                    "answers are application/json; only kind queue has text/plain");
    TRY(answer_by_kind(rq, &body->of, answer_kinds, runs, &answer->of));
    return picture_answer(rq, answer);
}

enum error_code get_simulations(struct request *rq, const void *in, void *out)
{
    const struct list_query *query = rq->query;
    struct simulations_page *page = out;
    struct store_page part;
    struct db_session *db;

    (void)in;
    TRY(page_of(rq, &query->page, &part));
    TRY(request_db(rq, &db));
    TRY(store_simulations_list(
        db, rq->principal.tenant,
        query->status == ANY ? NULL : simulation_status_names[query->status],
        query->simulates == ANY ? NULL : simulation_kind_names[query->simulates], &part,
        &page->items, &page->item_count, &page->next_page_token, rq->arena, rq->err));
    return page_link(rq, &page->next_page_token);
}

enum error_code get_simulation(struct request *rq, const void *in, void *out)
{
    struct store_simulation *now = out;
    struct db_session *db;

    (void)in;
    TRY(request_db(rq, &db));
    TRY(store_simulation_read(db, rq->principal.tenant, rq->path_value[0], now, rq->arena,
                              rq->err));
    if (isnan(now->finished_at_s))
        reply_header_add(rq->reply, "Retry-After", "1");
    if (request_answer_form(rq) != ANSWER_CHART)
        return OK;
    if (!now->result)
        return fail(rq->err, ERR_CONFLICT, "",
                    "there is no result to draw: the simulation is %s", now->status);
    return picture_stored(rq, NULL, NULL, now->result);
}

enum error_code get_simulation_chart(struct request *rq, const void *in, void *out)
{
    struct store_simulation now;
    struct db_session *db;

    (void)in, (void)out;
    TRY(request_db(rq, &db));
    TRY(store_simulation_read(db, rq->principal.tenant, rq->path_value[0], &now,
                              rq->arena, rq->err));
    if (!now.result)
        return fail(rq->err, ERR_NOT_ACCEPTABLE, "",
                    "there is no result to draw yet: the simulation is %s", now.status);
    return picture_reply(rq, NULL, NULL, now.result);
}

enum error_code delete_simulation(struct request *rq, const void *in, void *out)
{
    struct store_simulation *now = out;
    const char *id = rq->path_value[0];
    struct db_session *db;
    bool found;

    (void)in;
    TRY(request_db(rq, &db));
    TRY(store_simulation_cancel(db, rq->principal.tenant, id, &found, now, rq->arena,
                                rq->err));
    if (found) {
        wake(rq);
        rq->reply->status = isnan(now->finished_at_s) ? 202 : 200;
        return OK;
    }
    TRY(store_simulation_delete(db, rq->principal.tenant, id, rq->arena, rq->err));
    rq->reply->status = 204;
    return OK;
}

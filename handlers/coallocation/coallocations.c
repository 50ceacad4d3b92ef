/* coallocations.c - POST /v1/coallocations: parallel jobs over several clusters. */
#include "handlers/coallocation/coallocations.h"

#include "handlers/claiming/co_models.h"
#include "handlers/coallocation/coallocation_json.h"
#include "handlers/coallocation/coallocation_refine.h"
#include "handlers/operations/policy_words.h"
#include "handlers/pictures/pictures.h"
#include "handlers/sites/coallocation_history.h"
#include "handlers/sites/coallocation_stored.h"
#include "models/base/pointer.h"
#include "models/reason_tally.h"
#include "service/metrics.h"
#include "service/service.h"

#include <stdio.h>
#include <string.h>

struct coallocations_request {
    struct decision_request decision;
    double now_s;
    const struct co_snapshot *snapshot;
    const char *snapshot_id;
    const struct co_from_history *from_history;
    const struct co_job_request *jobs;
    size_t job_count;
    enum co_history_table history_table;
    bool split_only;
};

struct coallocations_answer {
    struct decision_answer decision;
    const struct co_placement_answer *placements;
    size_t placement_count;
    const struct co_unplaced_answer *unplaced;
    size_t unplaced_count;
    const struct co_site_processors *remaining_available;
    size_t remaining_count;
    const struct co_history_basis *history_basis;
    const struct run_time_basis *run_times;
    size_t run_time_count;
};

#define T struct coallocations_request
static const struct json_field request_rows[] = {
    DECISION_REQUEST_ROWS(T),
    JSON_NUMBER(T, now_s, -JSON_LARGEST, JSON_LARGEST, NAN, JSON_NULLABLE,
                "The present, in seconds on the caller's clock; default: the snapshot's "
                "taken_at, else 0"),
    JSON_OBJECT(T, snapshot, const struct co_snapshot *, &co_snapshot_json, JSON_POINTER,
                "Clusters, links and files as they are now"),
    CO_SNAPSHOT_ID_ROW(T),
    CO_FROM_HISTORY_ROW(T),
    JSON_LIST(T, jobs, job_count, struct co_job_request, &co_job_request_json,
              CO_JOBS_MAX, JSON_REQUIRED | JSON_UNIQUE_IDS,
              "Jobs, each placed on what those before it left"),
    CO_HISTORY_TABLE_ROW(T),
    JSON_BOOLEAN(T, split_only, 0, 0,
                 "Only split flexible jobs: each as if it were alone, nothing is held or "
                 "stored"),
    {0},
};
#undef T
const struct json_object coallocations_request_json = {
    "CoallocationRequest", "Parallel jobs and the clusters to place them on",
    sizeof(struct coallocations_request), request_rows};

#define T struct coallocations_answer
static const struct json_field answer_rows[] = {
    DECISION_ANSWER_ROWS(T, DECISION_BY_OF(coallocation_words)),
    JSON_LIST(T, placements, placement_count, struct co_placement_answer,
              &co_placement_answer_json, 0, 0,
              "Placed jobs, in the order of the request"),
    JSON_LIST(T, unplaced, unplaced_count, struct co_unplaced_answer,
              &co_unplaced_answer_json, 0, 0, "Jobs without a place, and why"),
    JSON_LIST(T, remaining_available, remaining_count, struct co_site_processors,
              &co_site_processors_json, 0, 0,
              "Processors of every site that are left for further placements"),
    CO_HISTORY_BASIS_ROW(T),
    RUN_TIMES_ROW(T),
    DECISION_END_ROWS(T),
    {0},
};
#undef T
const struct json_object coallocations_answer_json = {
    "CoallocationAnswer", "Placements of parallel jobs",
    sizeof(struct coallocations_answer), answer_rows};

/* ---- one request ---- */

struct work {
    struct request *rq;
    const struct coallocations_request *body;
    struct co_world world;
    struct co_job *jobs;
    struct co_model_list timed; /* the request's jobs, with times that models tell */
    struct co_models models;
    size_t *available;
    struct co_history history;
    uint64_t *pair_uses; /* as co_history_save(); NULL: the table is not stored */
    struct co_placement_answer *placements;
    struct co_unplaced_answer *unplaced;
    struct coallocations_answer *answer;
    bool cut, proven;
    double worst_gap_ratio;
};

static enum error_code read_jobs(struct work *w)
{
    w->jobs = NEW(w->rq->arena, struct co_job, w->body->job_count);
    for (size_t i = 0; i < w->body->job_count; i++) {
        TRY(co_job_read(&w->body->jobs[i], pointer_in("/jobs", i, NULL).text, &w->world,
                        &w->jobs[i], w->rq->arena, w->rq->err));
        if (!w->body->split_only || w->jobs[i].type == CO_FLEXIBLE)
            continue;
        invalid(w->rq->err, pointer_in("/jobs", i, "request_type").text, ITEM_NOT_ALLOWED,
                "split_only is for flexible jobs, which say no components");
    }
    co_world_check_options(&w->world, w->rq->err);
    return w->rq->err->code;
}

static enum error_code prepare(struct work *w)
{
    struct arena *a = w->rq->arena;

    w->available = NEW(a, size_t, w->world.grid.site_count);
    w->placements = NEW(a, struct co_placement_answer, w->body->job_count);
    w->unplaced = NEW(a, struct co_unplaced_answer, w->body->job_count);
    co_available_all(&w->world.grid, w->available);
    w->proven = true;
    w->worst_gap_ratio = (double)NAN;
    return co_history_create(&w->world.grid, &w->history, a);
}

/* The history table, if it is a stored one. */
static enum error_code load_history(struct work *w)
{
    const struct co_grid *grid = &w->world.grid;

    if (w->body->history_table != CO_HISTORY_PERSISTED)
        return OK;
    if (!w->body->split_only) {
        w->pair_uses = NEW(w->rq->arena, uint64_t, grid->site_count * grid->site_count);
    }
    return co_history_load(w->rq, grid, &w->history);
}

static void refuse(struct work *w, size_t i, const struct co_placement *placement)
{
    struct co_unplaced_answer *out = &w->unplaced[w->answer->unplaced_count++];

    co_unplaced_fill(&w->world, &w->timed.jobs[i], placement, out, w->rq->arena);
    if (w->rq->service)
        metrics_unplaced(w->rq->service->metrics, out->reason, 1);
    w->proven = false;
}

static enum error_code place_job(struct work *w, size_t i)
{
    struct co_place_in in = {.grid = &w->world.grid,
                             .job = &w->jobs[i],
                             .available = w->available,
                             .history = &w->history,
                             .budget = &w->rq->budget};
    struct co_placement placement = {.failed_component = CO_NONE,
                                     .nearest_site = CO_NONE};
    struct co_placement_answer *out;

    if (budget_spent(&w->rq->budget)) {
        w->cut = true;
        refuse(w, i, &placement);
        return OK;
    }
    TRY(co_place(&in, &placement, w->rq->arena, w->rq->err));
    w->cut = w->cut || placement.cut;
    if (w->pair_uses)
        co_history_count(placement.added, placement.added_count, w->world.grid.site_count,
                         w->pair_uses);
    if (!placement.placed) {
        refuse(w, i, &placement);
        return OK;
    }
    if (!w->body->split_only)
        co_hold(&placement, w->available);
    w->worst_gap_ratio = fmax(w->worst_gap_ratio, placement.gap_ratio);
    w->proven = w->proven && placement.gap_ratio == 0 &&
                placement.placed_count == placement.component_count;
    out = &w->placements[w->answer->placement_count++];
    TRY(co_placement_fill(&w->world, &w->timed.jobs[i], &w->jobs[i], &placement,
                          w->available, out, w->rq->arena, w->rq->err));
    co_models_tell(&w->models, &w->timed, i, out);
    return OK;
}

/* What is left of every site. */
static void list_remaining(struct work *w)
{
    const struct co_grid *grid = &w->world.grid;
    struct co_site_processors *list =
        NEW(w->rq->arena, struct co_site_processors, grid->site_count);

    for (size_t s = 0; s < grid->site_count; s++)
        list[s] = (struct co_site_processors){grid->sites[s].id, (double)w->available[s]};
    w->answer->remaining_available = list;
    w->answer->remaining_count = grid->site_count;
}

static enum decision_status status_of(const struct work *w)
{
    if (w->cut)
        return DECISION_CUT;
    if (w->answer->placement_count == 0 && w->body->job_count > 0)
        return DECISION_INFEASIBLE;
    return w->proven && !w->body->split_only ? DECISION_OPTIMAL : DECISION_FEASIBLE;
}

static void warn_unplaced(struct work *w)
{
    struct reason_tally tally = {0};

    for (size_t i = 0; i < w->answer->unplaced_count; i++) {
        budget_step(&w->rq->finish, 1);
        reason_tally_add(&tally, w->unplaced[i].reason);
    }
    if (w->answer->unplaced_count)
        decision_warn(w->rq, &w->answer->decision, "%s",
                      reason_tally_text(&tally, w->rq->arena));
}

static void warn(struct work *w, const struct co_snapshot *snapshot,
                 const char *of_history)
{
    const struct coallocations_request *body = w->body;
    const struct co_job_list jobs = {"/jobs", body->jobs, body->job_count, false, CO_LOW};
    struct decision_answer *out = &w->answer->decision;

    co_world_warnings(&w->world, &out->warnings, &out->warning_count, w->rq->arena);
    co_add_warning(of_history, &out->warnings, &out->warning_count, w->rq->arena);
    co_warn_unused(w->rq, out, &w->world, &jobs);
    co_warn_unused_history(w->rq, out, &w->world, snapshot,
                           body->history_table == CO_HISTORY_PERSISTED);
    co_warn_unused_envelope(w->rq, out, &body->decision, true);
    warn_unplaced(w);
}

enum error_code post_coallocations(struct request *rq, const void *in, void *out)
{
    struct work w = {.rq = rq, .body = in, .answer = out};
    const struct co_snapshot *snapshot;
    const char *warning;
    enum error_code code;

    TRY(decision_begin(rq, &w.body->decision, &w.answer->decision));
    TRY(co_snapshot_find(rq, w.body->snapshot, w.body->snapshot_id, true, &snapshot));
    TRY(co_world_read(snapshot, &w.body->decision, w.body->now_s, &w.world, rq->arena,
                      rq->err));
    w.timed = (struct co_model_list){"/jobs", w.body->jobs, w.body->job_count, 0};
    code = read_jobs(&w);
    if (code != OK && code != ERR_INVALID)
        return code;
    TRY(co_models_ask(rq, &w.timed, 1, &w.models));
    TRY(rq->err->code);
    TRY(co_refine(rq, w.body->from_history, &w.world.grid, &w.answer->history_basis,
                  &warning));
    TRY(prepare(&w));
    TRY(load_history(&w));
    for (size_t i = 0; i < w.body->job_count; i++)
        TRY(place_job(&w, i));
    if (w.pair_uses)
        TRY(co_history_save(rq, &w.world.grid, w.pair_uses));
    list_remaining(&w);
    warn(&w, snapshot, warning);
    run_times_warn(rq, w.models.times, &w.answer->decision);
    w.answer->run_times = run_time_list(w.models.teller, &w.answer->run_time_count);
    w.answer->placements = w.placements;
    w.answer->unplaced = w.unplaced;
    rq->gap_ratio = w.worst_gap_ratio;
    decision_end(rq, w.world.policy ? w.world.policy->name : "auto", status_of(&w),
                 &w.answer->decision);
    return picture_answer(rq, out);
}

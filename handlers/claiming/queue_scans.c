/* queue_scans.c - POST /v1/queue-scans: which placement queue is next, and its scan.
 *
 * All queues come with the request and go back as lists of ids, with the counts of the
 * jobs that the scan has touched.
 *
 * Source: spec coallocation.md 10.
 */
#include "handlers/claiming/routes.h"

#include "algorithms/coallocation/priority.h"
#include "algorithms/coallocation/scan.h"
#include "handlers/claiming/co_models.h"
#include "handlers/coallocation/coallocation_json.h"
#include "handlers/coallocation/coallocation_refine.h"
#include "handlers/operations/policy_words.h"
#include "handlers/placement/option_split.h"
#include "handlers/sites/coallocation_history.h"
#include "handlers/sites/coallocation_stored.h"
#include "models/base/pointer.h"

#include <stdio.h>
#include <string.h>

#define TIME_MAX_S 1e12

/* ---- the request ---- */

struct weights {
    uint64_t n_h, n_l, n_1, n_2, n_3, n_4;
};

struct queue_lists {
    const struct co_job_request *super_high, *high, *low, *super_low;
    size_t super_high_count, high_count, low_count, super_low_count;
};

struct scan_request {
    struct decision_request decision;
    double now_s;
    const struct co_snapshot *snapshot;
    const char *snapshot_id;
    const struct co_from_history *from_history;
    enum co_history_table history_table;
    struct weights weights;
    uint64_t scan_cursor;
    struct queue_lists queues;
    bool select_only;
    const char *arrived_job_id;
};

#define T               struct weights
#define WEIGHT(m, text) JSON_INTEGER(T, m, 1, CO_WEIGHT_MAX, 1, 0, text)
static const struct json_field weights_rows[] = {
    WEIGHT(n_h, "Rounds of the higher queues in a cycle; default 1"),
    WEIGHT(n_l, "Rounds of the lower queues in a cycle; default 1"),
    WEIGHT(n_1, "Scans of super_high in a higher round; default 1"),
    WEIGHT(n_2, "Scans of high in a higher round; default 1"),
    WEIGHT(n_3, "Scans of low in a lower round; default 1"),
    WEIGHT(n_4, "Scans of super_low in a lower round; default 1"),
    {0},
};
#undef WEIGHT
#undef T
static const struct json_object weights_json = {
    "QueueWeights", "How often queues are scanned", sizeof(struct weights), weights_rows};

#define T struct queue_lists
#define QUEUE(m, counter)                                                              \
    JSON_LIST(T, m, counter, struct co_job_request, &co_job_request_json, CO_JOBS_MAX, \
              JSON_UNIQUE_IDS, "Jobs of this level, head first")
static const struct json_field queues_rows[] = {
    QUEUE(super_high, super_high_count),
    QUEUE(high, high_count),
    QUEUE(low, low_count),
    QUEUE(super_low, super_low_count),
    {0},
};
#undef QUEUE
#undef T
static const struct json_object queues_json = {
    "PlacementQueues", "The queues; their jobs have their level, whatever priority says",
    sizeof(struct queue_lists), queues_rows};

#define T struct scan_request
static const struct json_field request_rows[] = {
    JSON_NUMBER(T, now_s, -TIME_MAX_S, TIME_MAX_S, NAN, JSON_NULLABLE,
                "The present, on the scale of all times; default: the snapshot's "
                "taken_at"),
    JSON_OBJECT(T, snapshot, const struct co_snapshot *, &co_snapshot_json, JSON_POINTER,
                "Sites as they are now, links, replicas; not needed with select_only"),
    CO_SNAPSHOT_ID_ROW(T),
    CO_FROM_HISTORY_ROW(T),
    CO_HISTORY_TABLE_ROW(T),
    JSON_OBJECT(T, weights, struct weights, &weights_json, 0,
                "How often queues are scanned; default: all alike"),
    JSON_INTEGER(T, scan_cursor, 0, JSON_EXACT, 0, 0,
                 "next_cursor of the last answer; default 0"),
    JSON_OBJECT(T, queues, struct queue_lists, &queues_json, JSON_REQUIRED,
                "The placement queues"),
    JSON_BOOLEAN(T, select_only, 0, 0, "Only say which queue is next; default false"),
    JSON_ID(T, arrived_job_id, JSON_NULLABLE,
            "Try only this job, which has just come; the cursor stays"),
    DECISION_REQUEST_ROWS(T),
    {0},
};
#undef T
const struct json_object queue_scans_request_json = {
    "QueueScanRequest", "Clusters and the jobs that wait for a place",
    sizeof(struct scan_request), request_rows};

/* ---- the answer ---- */

struct promotion {
    const char *job_id;
    int from_level, to_level;
};

struct failure {
    const char *job_id, *reason;
};

struct job_counts {
    const char *job_id;
    uint64_t placement_tries, overtaken_count;
};

struct id_lists {
    const char *const *super_high, *const *high, *const *low, *const *super_low;
    size_t super_high_count, high_count, low_count, super_low_count;
};

struct scan_answer {
    struct decision_answer decision;
    const char *scanned_queue;
    uint64_t next_cursor;
    const struct co_placement_answer *placements;
    size_t placement_count;
    const struct co_unplaced_answer *unplaced;
    size_t unplaced_count;
    const struct promotion *promoted;
    size_t promoted_count;
    const struct failure *failed;
    size_t failed_count;
    const struct job_counts *counts;
    size_t count_count;
    double next_scan_s;
    struct id_lists queues_after;
    const struct co_history_basis *history_basis;
    const struct run_time_basis *run_times;
    size_t run_time_count;
};

#define T struct promotion
static const struct json_field promotion_rows[] = {
    JSON_TEXT(T, job_id, 0, "The job"),
    JSON_CHOICE(T, from_level, co_level_names, 0, 0, "Its level so far"),
    JSON_CHOICE(T, to_level, co_level_names, 0, 0,
                "Its level now; it is at the tail there"),
    {0},
};
#undef T
static const struct json_object promotion_json = {
    "QueuePromotion", "A job that rises", sizeof(struct promotion), promotion_rows};

#define T struct failure
static const struct json_field failure_rows[] = {
    JSON_TEXT(T, job_id, 0, "The job"),
    JSON_WORD(T, reason, co_scan_outcome_names + CO_SCAN_TRIES, 0,
              "The limit that it is over: max_placement_tries, max_wait_s"),
    {0},
};
#undef T
static const struct json_object failure_json = {"QueueFailure",
                                                "A job whose submission has failed",
                                                sizeof(struct failure), failure_rows};

#define T struct job_counts
static const struct json_field counts_rows[] = {
    JSON_TEXT(T, job_id, 0, "The job"),
    JSON_INTEGER(T, placement_tries, 0, JSON_EXACT, 0, 0, "Its tries, with this one"),
    JSON_INTEGER(T, overtaken_count, 0, JSON_EXACT, 0, 0,
                 "Jobs that were placed past it"),
    {0},
};
#undef T
static const struct json_object counts_json = {"QueueJobCounts",
                                               "Counts of a job, for the next request",
                                               sizeof(struct job_counts), counts_rows};

#define T               struct id_lists
#define IDS(m, counter) JSON_TEXTS(T, m, counter, 0, 0, "Ids of its jobs, head first")
static const struct json_field ids_rows[] = {
    IDS(super_high, super_high_count),
    IDS(high, high_count),
    IDS(low, low_count),
    IDS(super_low, super_low_count),
    {0},
};
#undef IDS
#undef T
static const struct json_object ids_json = {"PlacementQueueIds", "The queues afterwards",
                                            sizeof(struct id_lists), ids_rows};

#define T struct scan_answer
static const struct json_field answer_rows[] = {
    DECISION_ANSWER_ROWS(T, DECISION_BY_OF(scan_words)),
    JSON_WORD(T, scanned_queue, co_level_names, JSON_MAY_BE_NULL,
              "Level of the queue; null: all are empty"),
    JSON_INTEGER(T, next_cursor, 0, JSON_EXACT, 0, 0, "scan_cursor of the next request"),
    JSON_LIST(T, placements, placement_count, struct co_placement_answer,
              &co_placement_answer_json, 0, 0, "Jobs that were placed"),
    JSON_LIST(T, unplaced, unplaced_count, struct co_unplaced_answer,
              &co_unplaced_answer_json, 0, 0, "Jobs that were tried in vain, and why"),
    JSON_LIST(T, promoted, promoted_count, struct promotion, &promotion_json, 0, 0,
              "Those of them that rise a level"),
    JSON_LIST(T, failed, failed_count, struct failure, &failure_json, 0, 0,
              "Those of them that have failed"),
    JSON_LIST(T, counts, count_count, struct job_counts, &counts_json, 0, 0,
              "Counts of the scanned jobs that are still in a queue"),
    JSON_NUMBER(T, next_scan_s, 0, 0, 0, 0, "When the next scan is due"),
    JSON_OBJECT(T, queues_after, struct id_lists, &ids_json, 0,
                "The queues after this; a job of which only a part was placed is still "
                "there, with its unplaced components"),
    CO_HISTORY_BASIS_ROW(T),
    RUN_TIMES_ROW(T),
    DECISION_END_ROWS(T),
    {0},
};
#undef T
const struct json_object queue_scans_answer_json = {
    "QueueScanAnswer", "What the scan did", sizeof(struct scan_answer), answer_rows};

/* ---- reading ---- */

struct queue {
    const struct co_job_request *requests;
    struct co_job *jobs;
    size_t count;
};

struct scan_call {
    struct request *rq;
    const struct scan_request *body;
    const struct co_snapshot *snapshot; /* NULL: only a queue is chosen */
    const char *history_warning;        /* NULL: none */
    struct co_world world;
    struct queue queues[CO_LEVEL_COUNT];
    struct co_model_list timed[CO_LEVEL_COUNT]; /* with times that models tell */
    struct co_models models;
    size_t arrived; /* position of that job; SIZE_MAX: none */
    enum co_level level;
    bool none; /* all queues are empty */
    double value[PARAMS_MAX];
    struct co_scan_out scan;
    struct scan_answer *answer;
};

static void name_queues(struct scan_call *c)
{
    const struct queue_lists *q = &c->body->queues;

    c->queues[CO_SUPER_HIGH] = (struct queue){q->super_high, NULL, q->super_high_count};
    c->queues[CO_HIGH] = (struct queue){q->high, NULL, q->high_count};
    c->queues[CO_LOW] = (struct queue){q->low, NULL, q->low_count};
    c->queues[CO_SUPER_LOW] = (struct queue){q->super_low, NULL, q->super_low_count};
}

/* Ids are unique in all queues together; finds the job that has arrived. */
static enum error_code check_ids(struct scan_call *c)
{
    struct name_index ids;
    size_t count = 0;

    for (int level = 0; level < CO_LEVEL_COUNT; level++)
        count += c->queues[level].count;
    name_index_create(&ids, count, c->rq->arena);
    c->arrived = SIZE_MAX;
    for (int level = 0; level < CO_LEVEL_COUNT; level++) {
        const struct queue *q = &c->queues[level];

        for (size_t i = 0; i < q->count; i++) {
            size_t other = name_index_add(&ids, q->requests[i].id, (size_t)level);

            if (c->body->arrived_job_id &&
                strcmp(c->body->arrived_job_id, q->requests[i].id) == 0) {
                c->arrived = i;
                c->level = (enum co_level)level;
            }
            if (other == NAME_NOT_FOUND || other == (size_t)level)
                continue; /* in one list: the table has noted it */
            invalid(c->rq->err,
                    pointer_in(pointer_of("/queues", co_level_names[level]).text, i, "id")
                        .text,
                    ITEM_DUPLICATE, "it is in queue %s too", co_level_names[other]);
        }
    }
    if (c->body->arrived_job_id && c->arrived == SIZE_MAX)
        invalid(c->rq->err, "/arrived_job_id", ITEM_UNKNOWN_ID, "it is in no queue");
    return OK;
}

static enum error_code read_queue(struct scan_call *c, enum co_level level)
{
    struct queue *q = &c->queues[level];

    q->jobs = NEW(c->rq->arena, struct co_job, q->count);
    for (size_t i = 0; i < q->count; i++) {
        struct pointer list = pointer_of("/queues", co_level_names[level]);

        TRY(co_job_read(&q->requests[i], pointer_in(list.text, i, NULL).text, &c->world,
                        &q->jobs[i], c->rq->arena, c->rq->err));
        q->jobs[i].level = level;
    }
    return OK;
}

static enum error_code read_world(struct scan_call *c)
{
    struct decision_request placing = c->body->decision;
    struct option_split options;
    enum error_code code;

    TRY(option_split(placing.options, placing.option_count, co_scan_params, &options,
                     c->rq->arena, c->rq->err));
    code =
        params_bind(co_scan_params, options.own, options.own_count, c->value, c->rq->err);
    if (code != OK && code != ERR_INVALID)
        return code;
    if (placing.algorithm && strcmp(placing.algorithm, co_scan_policies[0].name) == 0)
        placing.algorithm = NULL;
    placing.options = options.rest;
    placing.option_count = options.rest_count;
    code = co_snapshot_find(c->rq, c->body->snapshot, c->body->snapshot_id,
                            !c->body->select_only, &c->snapshot);
    if (code != OK || !c->snapshot)
        return code;
    TRY(co_world_read(c->snapshot, &placing, c->body->now_s, &c->world, c->rq->arena,
                      c->rq->err));
    for (int level = 0; level < CO_LEVEL_COUNT; level++)
        TRY(read_queue(c, (enum co_level)level));
    co_world_check_options(&c->world, c->rq->err);
    return OK;
}

/* Times that models tell become those of the jobs. */
static enum error_code ask_models(struct scan_call *c)
{
    for (int level = 0; level < CO_LEVEL_COUNT; level++)
        c->timed[level] = (struct co_model_list){
            arena_printf(c->rq->arena, "/queues/%s", co_level_names[level]),
            c->queues[level].requests, c->queues[level].count, 0};
    TRY(co_models_ask(c->rq, c->timed, CO_LEVEL_COUNT, &c->models));
    for (int level = 0; level < CO_LEVEL_COUNT; level++)
        c->queues[level].requests = c->timed[level].jobs;
    return OK;
}

static void select_queue(struct scan_call *c)
{
    const struct weights *w = &c->body->weights;
    const struct co_scan_weights weights = {
        w->n_h, w->n_l, {w->n_4, w->n_3, w->n_2, w->n_1}};
    size_t length = co_scan_cycle_length(&weights);
    size_t cursor = c->body->scan_cursor % length;
    bool nonempty[CO_LEVEL_COUNT];

    c->answer->next_cursor = c->body->scan_cursor;
    if (c->arrived != SIZE_MAX)
        return;
    for (int level = 0; level < CO_LEVEL_COUNT; level++)
        nonempty[level] = c->queues[level].count > 0;
    c->none = !co_scan_next(&weights, cursor, nonempty, &c->level, &cursor);
    if (!c->none)
        c->answer->next_cursor = cursor;
}

/* ---- the scan ---- */

/* Jobs that are scanned: the queue, or the one that has arrived. */
static size_t scanned_first(const struct scan_call *c)
{
    return c->arrived == SIZE_MAX ? 0 : c->arrived;
}

static size_t scanned_count(const struct scan_call *c)
{
    if (c->none || c->body->select_only)
        return 0;
    return c->arrived == SIZE_MAX ? c->queues[c->level].count : 1;
}

static enum error_code save_history(struct scan_call *c, size_t count)
{
    size_t sites = c->world.grid.site_count;
    uint64_t *uses = NEW(c->rq->arena, uint64_t, sites * sites);

    for (size_t i = 0; i < count; i++)
        if (c->scan.jobs[i].outcome != CO_SCAN_NOT_REACHED)
            co_history_count(c->scan.jobs[i].placement.added,
                             c->scan.jobs[i].placement.added_count, sites, uses);
    return co_history_save(c->rq, &c->world.grid, uses);
}

static enum error_code run_scan(struct scan_call *c)
{
    const struct queue *q = &c->queues[c->level];
    size_t first = scanned_first(c), count = scanned_count(c);
    struct co_queued *list = NEW(c->rq->arena, struct co_queued, count);
    struct co_scan_options options = co_scan_options_of(c->value);
    bool persisted = c->body->history_table == CO_HISTORY_PERSISTED;
    struct co_history history;
    struct co_scan_in in = {.grid = &c->world.grid,
                            .level = c->level,
                            .jobs = list,
                            .job_count = count,
                            .now_s = c->world.now_s,
                            .history = &history,
                            .budget = &c->rq->budget};
    size_t *available = NEW(c->rq->arena, size_t, c->world.grid.site_count);

    if (count == 0)
        return OK;
    for (size_t i = 0; i < count; i++)
        list[i] = (struct co_queued){
            &q->jobs[first + i], q->requests[first + i].placement_tries,
            q->requests[first + i].overtaken_count, q->requests[first + i].queue_entry_s};
    co_available_all(&c->world.grid, available);
    TRY(co_history_create(&c->world.grid, &history, c->rq->arena));
    if (persisted)
        TRY(co_history_load(c->rq, &c->world.grid, &history));
    TRY(co_scan(&in, &options, available, &c->scan, c->rq->arena, c->rq->err));
    return persisted ? save_history(c, count) : OK;
}

/* ---- answering ---- */

struct answer_lists {
    struct co_placement_answer *placements;
    struct co_unplaced_answer *unplaced;
    struct promotion *promoted;
    struct failure *failed;
    struct job_counts *counts;
};

static enum error_code fill_placed(struct scan_call *c, size_t i, size_t *left,
                                   struct answer_lists *lists)
{
    const struct queue *q = &c->queues[c->level];
    size_t at = scanned_first(c) + i;

    struct co_placement_answer *out = &lists->placements[c->answer->placement_count++];

    TRY(co_placement_fill(&c->world, &q->requests[at], &q->jobs[at],
                          &c->scan.jobs[i].placement, left, out, c->rq->arena,
                          c->rq->err));
    co_models_tell(&c->models, &c->timed[c->level], at, out);
    return OK;
}

static void fill_refused(struct scan_call *c, size_t i, struct answer_lists *lists)
{
    const struct queue *q = &c->queues[c->level];
    const struct co_job_request *request = &q->requests[scanned_first(c) + i];
    enum co_scan_outcome outcome = c->scan.jobs[i].outcome;
    struct scan_answer *out = c->answer;

    co_unplaced_fill(&c->world, request, &c->scan.jobs[i].placement,
                     &lists->unplaced[out->unplaced_count++], c->rq->arena);
    if (outcome == CO_SCAN_PROMOTED)
        lists->promoted[out->promoted_count++] =
            (struct promotion){request->id, (int)c->level, (int)co_level_above(c->level)};
    if (outcome == CO_SCAN_TRIES || outcome == CO_SCAN_WAITED)
        lists->failed[out->failed_count++] =
            (struct failure){request->id, co_scan_outcome_names[outcome]};
}

/* Whether a scanned job is still in some queue. */
static bool stays(const struct co_scanned *job)
{
    switch (job->outcome) {
    case CO_SCAN_NOT_REACHED:
    case CO_SCAN_KEPT:
    case CO_SCAN_PROMOTED:
        return true;
    case CO_SCAN_PLACED:
        return job->placement.placed_count < job->placement.component_count;
    case CO_SCAN_TRIES:
    case CO_SCAN_WAITED:
        break;
    }
    return false;
}

static enum error_code fill_scan(struct scan_call *c)
{
    const struct queue *q = &c->queues[c->level];
    size_t count = scanned_count(c), sites = c->world.grid.site_count;
    struct answer_lists lists = {
        NEW(c->rq->arena, struct co_placement_answer, count),
        NEW(c->rq->arena, struct co_unplaced_answer, count),
        NEW(c->rq->arena, struct promotion, count),
        NEW(c->rq->arena, struct failure, count),
        NEW(c->rq->arena, struct job_counts, count),
    };
    size_t *left = NEW(c->rq->arena, size_t, sites);
    struct scan_answer *out = c->answer;

    co_available_all(&c->world.grid, left);
    for (size_t i = 0; i < count; i++) {
        const struct co_scanned *job = &c->scan.jobs[i];

        if (job->outcome == CO_SCAN_PLACED) {
            co_hold(&job->placement, left);
            TRY(fill_placed(c, i, left, &lists));
        } else if (job->outcome != CO_SCAN_NOT_REACHED) {
            fill_refused(c, i, &lists);
        }
        if (stays(job))
            lists.counts[out->count_count++] = (struct job_counts){
                q->requests[scanned_first(c) + i].id, job->tries, job->overtaken};
    }
    out->placements = lists.placements;
    out->unplaced = lists.unplaced;
    out->promoted = lists.promoted;
    out->failed = lists.failed;
    out->counts = lists.counts;
    return OK;
}

/* Whether a job of a queue is still in it; `scanned` NULL: it was not scanned. */
static bool keeps_place(const struct co_scanned *scanned)
{
    return !scanned || (stays(scanned) && scanned->outcome != CO_SCAN_PROMOTED);
}

static void fill_queue(struct scan_call *c, enum co_level level, const char *const **list,
                       size_t *list_count)
{
    const struct queue *q = &c->queues[level];
    size_t first = scanned_first(c), count = scanned_count(c);
    const char **ids =
        NEW(c->rq->arena, const char *, q->count + c->answer->promoted_count);

    for (size_t i = 0; i < q->count; i++) {
        bool scanned = level == c->level && i >= first && i - first < count;

        if (keeps_place(scanned ? &c->scan.jobs[i - first] : NULL))
            ids[(*list_count)++] = q->requests[i].id;
    }
    for (size_t i = 0; i < c->answer->promoted_count; i++)
        if (c->answer->promoted[i].to_level == (int)level)
            ids[(*list_count)++] = c->answer->promoted[i].job_id;
    *list = ids;
}

static void fill_queues(struct scan_call *c)
{
    struct id_lists *out = &c->answer->queues_after;

    fill_queue(c, CO_SUPER_HIGH, &out->super_high, &out->super_high_count);
    fill_queue(c, CO_HIGH, &out->high, &out->high_count);
    fill_queue(c, CO_LOW, &out->low, &out->low_count);
    fill_queue(c, CO_SUPER_LOW, &out->super_low, &out->super_low_count);
}

static void warn_unused(struct scan_call *c)
{
    const struct queue_lists *q = &c->body->queues;
    const struct co_job_list lists[] = {
        {"/queues/super_high", q->super_high, q->super_high_count, true, CO_SUPER_HIGH},
        {"/queues/high", q->high, q->high_count, true, CO_HIGH},
        {"/queues/low", q->low, q->low_count, true, CO_LOW},
        {"/queues/super_low", q->super_low, q->super_low_count, true, CO_SUPER_LOW},
    };
    struct decision_answer *out = &c->answer->decision;

    if (c->snapshot) {
        for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++)
            co_warn_unused(c->rq, out, &c->world, &lists[i]);
        co_warn_unused_history(c->rq, out, &c->world, c->snapshot,
                               c->body->history_table == CO_HISTORY_PERSISTED);
    }
    co_warn_unused_envelope(c->rq, out, &c->body->decision, true);
}

static void fill_warnings(struct scan_call *c)
{
    const struct weights *w = &c->body->weights;
    const struct co_scan_weights weights = {
        w->n_h, w->n_l, {w->n_4, w->n_3, w->n_2, w->n_1}};
    struct decision_answer *out = &c->answer->decision;

    if (c->snapshot)
        co_world_warnings(&c->world, &out->warnings, &out->warning_count, c->rq->arena);
    co_add_warning(c->history_warning, &out->warnings, &out->warning_count, c->rq->arena);
    warn_unused(c);
    run_times_warn(c->rq, c->models.times, out);
    c->answer->run_times = run_time_list(c->models.teller, &c->answer->run_time_count);
    if (co_scan_weights_ordered(&weights))
        return;
    co_add_warning("weight_order: n_h >= n_l, n_1 >= n_2 and n_3 >= n_4 are usual",
                   &out->warnings, &out->warning_count, c->rq->arena);
}

enum error_code post_queue_scans(struct request *rq, const void *in, void *out)
{
    struct scan_call *c = NEW(rq->arena, struct scan_call, 1);

    c->rq = rq;
    c->body = in;
    c->answer = out;
    TRY(decision_begin(rq, &c->body->decision, &c->answer->decision));
    name_queues(c);
    TRY(check_ids(c));
    TRY(read_world(c));
    if (c->snapshot)
        TRY(ask_models(c));
    TRY(rq->err->code);
    select_queue(c);
    if (!c->none)
        c->answer->scanned_queue = co_level_names[c->level];
    if (c->snapshot) {
        TRY(co_refine(rq, c->body->from_history, &c->world.grid,
                      &c->answer->history_basis, &c->history_warning));
        TRY(run_scan(c));
        TRY(fill_scan(c));
    }
    c->answer->next_scan_s =
        (c->snapshot ? c->world.now_s : c->body->now_s) + c->value[CO_SCAN_INTERVAL_S];
    fill_queues(c);
    fill_warnings(c);
    decision_end(rq, co_scan_policies[0].name, DECISION_FEASIBLE, &c->answer->decision);
    return OK;
}

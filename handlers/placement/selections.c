/* selections.c - POST /v1/selections: which of the ready jobs start now. */
#include "handlers/placement/routes.h"

#include "algorithms/placement/selection.h"
#include "handlers/common/decision.h"
#include "handlers/common/snapshot_json.h"
#include "handlers/common/world_json.h"
#include "handlers/placement/placement_json.h"
#include "handlers/session_run/plan.h"
#include "service/metrics.h"
#include "service/service.h"

#include <string.h>

#define SELECTION_TIME_LIMIT_S 0.1

struct selections_request {
    struct decision_request decision;
    const struct named_value *capacities;
    size_t capacity_count;
    const struct snapshot *snapshot;
    const char *snapshot_id;
    const char *session_id;
    const struct job *jobs;
    size_t job_count;
};

struct selections_answer {
    struct decision_answer decision;
    struct selection_out selection;
    struct selection_objective {
        double started_now_weight, bound, gap_ratio;
        const struct placement_tier *tiers;
        size_t tier_count;
    } objective;
};

#define T struct job
static const struct json_field job_rows[] = {
    PLACEMENT_JOB_ROWS(T),
    WORLD_JOB_ROWS_WITH(
        T,
        JSON_NUMBER(T, estimate_s, 0, JSON_LARGEST, NAN, JSON_NULLABLE,
                    "Run time wherever it runs; instead of estimate_ref_s"),
        JSON_NUMBER(T, weight, 0, 1e15, NAN, JSON_NULLABLE,
                    "What it is worth to start it; default: with session_id what waits "
                    "for it, in seconds, else 1"),
        JSON_LIST(T, after, after_count, struct job_after, &job_after_json, AFTER_MAX,
                  JSON_OR_TEXT, "Jobs that it waits for")),
    JSON_INTEGER(T, count, 1, SELECTION_ALIKE_MAX, 1, 0,
                 "It stands for so many alike; default 1"),
    {0},
};
#undef T
static const struct json_object job_json = {
    "ReadyJob", "A job that may start now, or many alike", sizeof(struct job), job_rows};

#define T struct selections_request
static const struct json_field request_rows[] = {
    JSON_LIST(T, jobs, job_count, struct job, &job_json, PLACEMENT_JOBS_MAX,
              JSON_REQUIRED | JSON_UNIQUE_IDS, "Jobs that are ready"),
    JSON_AMOUNTS(
        T, capacities, capacity_count, JSON_ALL_AMOUNTS,
        "One pool: what is free of cpus, memory_bytes, disk_bytes and other "
        "amounts, by name; these three are not limited where they are not named, "
        "of other amounts there is none",
        JSON_NOT_WITH("snapshot", "snapshot_id")),
    JSON_OBJECT(
        T, snapshot, const struct snapshot *, &snapshot_json, JSON_POINTER,
        "Instead of capacities: resources as they are now, of which each selected "
        "job gets one"),
    JSON_ID(T, snapshot_id, JSON_NULLABLE, "A stored snapshot instead",
            JSON_NOT_WITH("snapshot")),
    JSON_ID(T, session_id, JSON_NULLABLE,
            "A workflow session: a job without a weight that is a task of it, by its id, "
            "weighs its time and that of the longest way behind it"),
    {.name = "seed",
     .doc = "Comes back with the answer, which does not depend on it; default 1",
     .type = JSON_TYPE_INTEGER,
     .offset = JSON_AT(T, decision.seed, uint64_t),
     .max = JSON_EXACT,
     .preset = 1},
    {.name = "time_limit_s",
     .doc = "Seconds that the decision may take, once the request has been read; what "
            "was found by then is the answer",
     .type = JSON_TYPE_NUMBER,
     .offset = JSON_AT(T, decision.time_limit_s, double),
     .max = JSON_LARGEST,
     .preset = SELECTION_TIME_LIMIT_S,
     .flags = JSON_ABOVE_MIN | JSON_TIME_LIMIT},
    {.name = "store",
     .doc = "Keep request and answer, to be read and replayed later",
     .type = JSON_TYPE_BOOLEAN,
     .offset = JSON_AT(T, decision.store, bool)},
    {.name = "labels",
     .doc = "Any JSON; comes back with the answer",
     .type = JSON_TYPE_RAW,
     .offset = JSON_AT(T, decision.labels, const char *)},
    {0},
};
#undef T
const struct json_object selections_request_json = {
    "SelectionRequest", "Ready jobs, and what is free for them",
    sizeof(struct selections_request), request_rows};

#define T struct selected_jobs
static const struct json_field selected_rows[] = {
    JSON_TEXT(T, job_id, 0, "The job"),
    JSON_INTEGER(T, count, 1, JSON_EXACT, 0, 0, "So many of it start"),
    JSON_TEXT(T, resource_id, JSON_OPTIONAL, "With a snapshot: where"),
    JSON_TEXTS(T, resource_ids, resource_id_count, 0, JSON_OPTIONAL,
               "Where a job on several nodes starts"),
    {0},
};
#undef T
static const struct json_object selected_json = {
    "SelectedJobs", "Jobs that start now", sizeof(struct selected_jobs), selected_rows};

#define T struct unselected_jobs
static const struct json_field unselected_rows[] = {
    JSON_TEXT(T, job_id, 0, "The job"),
    JSON_INTEGER(T, count, 1, JSON_EXACT, 0, 0, "So many of it do not start"),
    JSON_WORD(T, reason, placement_reason_names, 0,
              "Why: no_free_now: not enough is free beside what starts; too_small: it "
              "would not fit alone; or another reason that unplaced jobs have"),
    JSON_TEXT(T, detail, JSON_OPTIONAL, "In words"),
    JSON_LIST(T, amounts, amount_count, struct placement_amount, &placement_amount_json,
              0, JSON_OPTIONAL, "Amounts of which there is not enough"),
    {0},
};
#undef T
static const struct json_object unselected_json = {
    "UnselectedJobs", "Jobs that do not start now", sizeof(struct unselected_jobs),
    unselected_rows};

#define T struct selection_objective
static const struct json_field objective_rows[] = {
    JSON_NUMBER(T, started_now_weight, 0, 0, 0, 0, "Sum of the weights of what starts"),
    JSON_NUMBER(T, bound, 0, 0, 0, JSON_MAY_BE_NULL,
                "Nothing that fits weighs more; null: one of several priorities is not "
                "proven, see tiers"),
    JSON_NUMBER(T, gap_ratio, 0, 0, 0, JSON_MAY_BE_NULL,
                "bound / started_now_weight - 1; null: there is no such number"),
    JSON_LIST(T, tiers, tier_count, struct placement_tier, &placement_tier_json, 0,
              JSON_OPTIONAL, "With several priorities: each, the highest first"),
    {0},
};
#undef T
static const struct json_object objective_json = {"SelectionObjective", "How much starts",
                                                  sizeof(struct selection_objective),
                                                  objective_rows};

#define T struct selections_answer
static const struct json_field answer_rows[] = {
    DECISION_ANSWER_ROWS(T, DECISION_BY("auto")),
    {.name = "selected",
     .doc = "What starts now, in the order of the request",
     .type = JSON_TYPE_LIST,
     .offset = JSON_AT(T, selection.selected, const struct selected_jobs *),
     .count_offset = JSON_AT(T, selection.selected_count, size_t),
     .of = &selected_json},
    {.name = "unselected",
     .doc = "What does not, in the order of the request",
     .type = JSON_TYPE_LIST,
     .offset = JSON_AT(T, selection.unselected, const struct unselected_jobs *),
     .count_offset = JSON_AT(T, selection.unselected_count, size_t),
     .of = &unselected_json},
    JSON_OBJECT(T, objective, struct selection_objective, &objective_json, 0,
                "How much starts"),
    DECISION_END_ROWS(T),
    {0},
};
#undef T
const struct json_object selections_answer_json = {
    "SelectionAnswer", "Which of the ready jobs start now",
    sizeof(struct selections_answer), answer_rows};

/* ---- one pool ---- */

/* A snapshot of one resource that has these amounts. One more, which no job can need,
 * makes that slots are not counted on it. */
static const struct snapshot *pool_of(const struct selections_request *body,
                                      struct arena *a)
{
    struct snapshot *s = NEW(a, struct snapshot, 1);
    struct resource *r = NEW(a, struct resource, 1);
    struct named_value *others = NEW(a, struct named_value, body->capacity_count + 1);

    *r = (struct resource){
        .id = "pool",
        .mips_total = 1,
        .cpu_available_ratio = 1,
        .cpus = NAN,
        .memory_bytes = NAN,
        .disk_bytes = NAN,
        .capacities = others,
        .n_max = NAN,
        .observed_at_s = NAN,
        .fixed_priority = 1,
        .observed_since_s = NAN,
        .last_failure_at_s = NAN,
        .up_since_s = NAN,
        .failure_count = NAN,
        .uptime_total_s = NAN,
    };
    for (size_t i = 0; i < body->capacity_count; i++) {
        const struct named_value *c = &body->capacities[i];

        if (strcmp(c->name, "cpus") == 0)
            r->cpus = c->number;
        else if (strcmp(c->name, "memory_bytes") == 0)
            r->memory_bytes = c->number;
        else if (strcmp(c->name, "disk_bytes") == 0)
            r->disk_bytes = c->number;
        else
            others[r->capacity_count++] = *c;
    }
    if (isnan(r->cpus) && r->capacity_count == 0)
        others[r->capacity_count++] =
            (struct named_value){.name = "_pool", .type = VALUE_NUMBER};
    *s = (struct snapshot){
        .taken_at_s = NAN,
        .list_observed_at_s = NAN,
        .network = {.wan_mbps = NAN, .lan_mbps = NAN},
        .resources = r,
        .resource_count = 1,
    };
    return s;
}

/* Exactly one of capacities, snapshot, snapshot_id. */
static enum error_code read_resources(struct request *rq,
                                      const struct selections_request *body,
                                      const struct snapshot **snapshot)
{
    if (!body->capacities)
        return decision_world_snapshot(rq, body->snapshot, body->snapshot_id, true,
                                       snapshot);
    *snapshot = pool_of(body, rq->arena);
    return OK;
}

/* ---- the answer ---- */

static void say_objective(struct selections_answer *answer)
{
    const struct selection_out *found = &answer->selection;
    double value = found->started_now_weight;

    answer->objective.started_now_weight = value;
    answer->objective.bound = found->bound;
    if (value >= found->bound)
        answer->objective.gap_ratio = 0;
    else
        answer->objective.gap_ratio = value > 0 ? found->bound / value - 1 : (double)NAN;
    if (found->tier_count < 2)
        return;
    answer->objective.tiers = found->tiers;
    answer->objective.tier_count = found->tier_count;
}

static void warn_unknown(struct request *rq, const struct selections_request *body,
                         size_t count, size_t first, struct decision_answer *answer)
{
    if (count)
        decision_warn(
            rq, answer,
            "unknown_task: %zu of the jobs %s no task of session '%.200s' that is "
            "to be done, and weigh 1 (first /jobs/%zu)",
            count, count == 1 ? "is" : "are", body->session_id, first);
}

enum error_code post_selections(struct request *rq, const void *in, void *out)
{
    const struct selections_request *body = in;
    struct selections_answer *answer = out;
    struct placement_world world = {0};
    struct placement_in problem = {
        .job_count = body->job_count,
        .seed = body->decision.seed,
        .budget = &rq->budget,
        .world = &world,
    };
    size_t unknown_count, first_unknown = 0;

    TRY(decision_begin(rq, &body->decision, &answer->decision));
    TRY(read_resources(rq, body, &problem.snapshot));
    TRY(session_weigh(rq, body->session_id, body->jobs, body->job_count, &problem.jobs,
                      &unknown_count, &first_unknown));
    TRY(placement_reserve(rq, &problem));
    TRY(placement_select(&problem, body->capacities, &answer->selection, rq->arena,
                         rq->err));
    answer->decision.warnings = answer->selection.warnings;
    answer->decision.warning_count = answer->selection.warning_count;
    warn_unknown(rq, body, unknown_count, first_unknown, &answer->decision);
    for (size_t i = 0; i < answer->selection.unselected_count; i++)
        metrics_unplaced(rq->service->metrics, answer->selection.unselected[i].reason,
                         answer->selection.unselected[i].count);
    say_objective(answer);
    rq->gap_ratio = answer->objective.gap_ratio;
    decision_end(rq, "auto", answer->selection.status, &answer->decision);
    return OK;
}

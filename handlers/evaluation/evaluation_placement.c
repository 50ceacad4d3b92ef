/* evaluation_placement.c - evaluations of kind "placement": whether a plan of independent
 * jobs can be carried out, and what it is worth.
 *
 * What is wrong with a row of the plan is a violation in the answer; only what cannot be
 * read is refused.
 *
 * Source: world-model.md 8.2.
 */
#include "handlers/evaluation/evaluation_placement.h"

#include "algorithms/placement/evaluate.h"
#include "algorithms/world/check.h"
#include "handlers/common/decision.h"
#include "handlers/common/snapshot_json.h"
#include "handlers/common/world_json.h"
#include "handlers/placement/copies.h"
#include "handlers/placement/placement_json.h"
#include "handlers/placement/routes.h"
#include "handlers/placement/run_times.h"
#include "models/base/pointer.h"

#include <stdio.h>
#include <string.h>

static const char *const kinds[] = {"placement", NULL};

/* ---- the request ---- */

/* As the placements of an answer stand; what is not needed is read over. */
struct row_request {
    struct placement_row row;
    struct copies_said copies;
    const char *resource_id;
    double ignored_s;
    const char *ignored_json;
    bool killed;
    const char *const *files;
    size_t file_count;
};

struct evaluation_request {
    int kind; /* only "placement" */
    struct decision_request decision;
    const struct snapshot *snapshot;
    const char *snapshot_id;
    const struct job *jobs;
    size_t job_count;
    const struct placement_user *users;
    size_t user_count;
    const struct placement_usage *usage;
    size_t usage_count;
    struct placement_world world;
    const struct row_request *placements;
    size_t placement_count;
};

#define T struct row_request
#define TIME(m, lo, flag, text)                                                      \
    {                                                                                \
        .name = #m, .doc = text, .type = JSON_TYPE_NUMBER,                           \
        .offset = JSON_AT(T, row.m, double), .min = lo, .max = 1e100, .preset = NAN, \
        .flags = flag                                                                \
    }
static const struct json_field row_rows[] = {
    {.name = "job_id",
     .doc = "The job",
     .type = JSON_TYPE_TEXT,
     .offset = JSON_AT(T, row.job_id, const char *),
     .min = 1,
     .max = 256,
     .flags = JSON_REQUIRED},
    COPIES_SAID_ROWS(T),
    JSON_ID(T, resource_id, JSON_NULLABLE, "Where it runs"),
    {.name = "resource_ids",
     .doc = "Of a job on several resources: all of them",
     .type = JSON_TYPE_TEXTS,
     .offset = JSON_AT(T, row.resource_ids, const char *const *),
     .count_offset = JSON_AT(T, row.resource_count, size_t),
     .max = JOB_NODES_MAX},
    TIME(start_s, -1e100, JSON_REQUIRED, "When it starts, seconds from now"),
    TIME(stage_in_s, 0, JSON_NULLABLE,
         "How long its input files take from then on; default 0"),
    TIME(finish_s, -1e100, JSON_NULLABLE,
         "When it is done and its outputs are at home: compared with what its run time "
         "says, if given"),
    PLACEMENT_READ_OVER(T, slot, NULL),
    PLACEMENT_READ_OVER(T, run_time_s, placement_was_execution),
    PLACEMENT_READ_OVER(T, rank, NULL),
    PLACEMENT_READ_OVER(T, bytes_moved, NULL),
    PLACEMENT_READ_OVER(T, late_s, NULL),
    {.name = "partition_id",
     .doc = "Partition in which it counts against limits of its user; default: the first "
            "that has its resources",
     .type = JSON_TYPE_TEXT,
     .offset = JSON_AT(T, row.partition_id, const char *),
     .min = 1,
     .max = 256,
     .flags = JSON_NULLABLE},
    JSON_BOOLEAN(T, killed, false, 0, "As an answer has it; not looked at"),
    PLACEMENT_READ_OVER(T, run_time_index, NULL),
    {.name = "run_time_basis",
     .doc = "As an answer has it; not looked at",
     .type = JSON_TYPE_RAW,
     .offset = JSON_AT(T, ignored_json, const char *)},
    JSON_TEXTS(T, files, file_count, 10000, JSON_NULLABLE,
               "As an answer has it; not looked at"),
    {0},
};
#undef TIME
#undef T
static const struct json_object row_json = {
    "EvaluatedPlacement", "Where and when a job is to run: resource_id or resource_ids",
    sizeof(struct row_request), row_rows};

#define T struct evaluation_request
static const struct json_field request_rows[] = {
    JSON_CHOICE(T, kind, kinds, 0, JSON_REQUIRED, "placement"),
    JSON_OBJECT(T, snapshot, const struct snapshot *, &snapshot_json, JSON_POINTER,
                "Resources, what runs on them and what is reserved"),
    JSON_ID(T, snapshot_id, JSON_NULLABLE, "A stored snapshot instead",
            JSON_NOT_WITH("snapshot")),
    JSON_LIST(T, jobs, job_count, struct job, &placement_job_json, PLACEMENT_JOBS_MAX,
              JSON_REQUIRED | JSON_UNIQUE_IDS, "The jobs, with a place or without"),
    JSON_LIST(T, users, user_count, struct placement_user, &placement_user_json,
              PLACEMENT_USERS_MAX, 0, "As of a placement request; not looked at"),
    JSON_LIST(T, usage, usage_count, struct placement_usage, &placement_usage_json,
              PLACEMENT_USAGE_MAX, 0, "Who is banned where after failures"),
    PLACEMENT_FINISHED_ROW(T, "Jobs that are done, which others may wait for"),
    {.name = "objective",
     .doc = "What counts, most important first, at most four of makespan_s, "
            "total_flow_s, weighted_completion_s, weighted_tardiness_s, late_jobs, "
            "started_now_weight, cost, energy_j, nodes_used; default makespan_s",
     .type = JSON_TYPE_TEXTS,
     .offset = JSON_AT(T, world.objective, const char *const *),
     .count_offset = JSON_AT(T, world.objective_count, size_t),
     .max = OBJECTIVE_LEVELS_MAX},
    JSON_LIST(T, placements, placement_count, struct row_request, &row_json,
              PLACEMENT_JOBS_MAX, JSON_REQUIRED, "The plan, in any order"),
    DECISION_REQUEST_ROWS(T),
    {0},
};
#undef T
const struct json_object placement_evaluation_request_json = {
    "PlacementEvaluationRequest", "Jobs, resources and a plan",
    sizeof(struct evaluation_request), request_rows};

/* ---- the answer ---- */

struct objective_answer {
    double makespan_s;
    const struct placement_value *values;
    size_t value_count;
};

struct evaluation_answer {
    int kind;
    struct decision_answer decision;
    struct evaluation_out of;
    struct objective_answer objective;
};

#define T struct placement_violation
static const struct json_field violation_rows[] = {
    JSON_WORD(T, rule, world_rule_names, 0,
              "What is broken. amount_exceeded, shared_exceeded and user_limit: one for "
              "each time without a break in which a resource, the snapshot, or what a "
              "user may have in a partition, has less of an amount than the plan takes, "
              "at its begin"),
    JSON_TEXT(T, job_id, 0, "The job whose row breaks it"),
    JSON_INTEGER(T, index, 0, JSON_EXACT, 0, JSON_OPTIONAL,
                 "Which copy of it, of a job with count"),
    JSON_TEXT(T, resource_id, JSON_OPTIONAL, "The resource, if it is about one"),
    JSON_NUMBER(T, at_s, 0, 0, 0, JSON_OPTIONAL,
                "From when on, seconds from now, if it is about a time"),
    JSON_TEXT(T, amount, JSON_OPTIONAL,
              "What there is too little of: cpus, memory_bytes, disk_bytes, n_max, "
              "exclusive, or a name of capacities; of user_limit the partition's member"),
    JSON_TEXT(T, user, JSON_OPTIONAL, "Of user_limit: whose jobs they are"),
    JSON_TEXT(T, partition_id, JSON_OPTIONAL, "Of user_limit: the partition"),
    JSON_NUMBER(T, needed, 0, 0, 0, JSON_OPTIONAL,
                "How much the plan takes then; of node_count the nodes of the job; of "
                "groups the members that are there"),
    JSON_NUMBER(T, free, 0, 0, 0, JSON_OPTIONAL,
                "What running jobs and reservations leave of it, below 0 where they take "
                "more than there is; of too_large the capacity; of node_count the "
                "resources of the row; of groups the members that may be there"),
    JSON_TEXTS(T, other_ids, other_count, 0, JSON_OPTIONAL,
               "Other jobs that have to do with it, at most 10"),
    JSON_TEXT(T, pointer, 0, "JSON Pointer into the request, to what breaks it"),
    JSON_TEXT(T, detail, 0, "In words; of not_eligible it begins with the filter"),
    {0},
};
#undef T
static const struct json_object violation_json = {
    "PlacementViolation", "A rule that the plan breaks",
    sizeof(struct placement_violation), violation_rows};

#define T struct objective_answer
static const struct json_field objective_rows[] = {
    JSON_NUMBER(T, makespan_s, 0, 0, 0, 0,
                "When the last placed job is done, seconds from now"),
    JSON_LIST(T, values, value_count, struct placement_value, &placement_value_json, 0, 0,
              "Each objective of the request, in its order; bounds of a valid plan only"),
    {0},
};
#undef T
static const struct json_object objective_json = {
    "PlacementEvaluationObjective", "How good the plan is, as given",
    sizeof(struct objective_answer), objective_rows};

#define T struct evaluation_answer
static const struct json_field answer_rows[] = {
    DECISION_ANSWER_ROWS(T, DECISION_BY("placement")),
    JSON_CHOICE(T, kind, kinds, 0, 0, "placement"),
    {.name = "valid",
     .doc = "It can be carried out as it is",
     .type = JSON_TYPE_BOOLEAN,
     .offset = JSON_AT(T, of.valid, bool)},
    {.name = "violation_count",
     .doc = "How often it breaks a rule",
     .type = JSON_TYPE_INTEGER,
     .offset = JSON_AT(T, of.violation_count, uint64_t),
     .max = JSON_EXACT},
    {.name = "violations",
     .doc = "The first 1,000 of these, by time, then job",
     .type = JSON_TYPE_LIST,
     .offset = JSON_AT(T, of.violations, const struct placement_violation *),
     .count_offset = JSON_AT(T, of.listed_count, size_t),
     .of = &violation_json},
    JSON_OBJECT(T, objective, struct objective_answer, &objective_json, 0,
                "How good it is, as given"),
    {.name = "unplaced_ids",
     .doc = "Jobs without a row, or with a copy without one",
     .type = JSON_TYPE_TEXTS,
     .offset = JSON_AT(T, of.unplaced_ids, const char *const *),
     .count_offset = JSON_AT(T, of.unplaced_count, size_t)},
    DECISION_END_ROWS(T),
    {0},
};
#undef T
const struct json_object placement_evaluation_answer_json = {
    "PlacementEvaluationAnswer", "What the plan breaks, and what it is worth",
    sizeof(struct evaluation_answer), answer_rows};

/* ---- one request ---- */

static void check_algorithm(const struct decision_request *decision, struct error *err)
{
    if (decision->algorithm && strcmp(decision->algorithm, "auto") != 0)
        invalid(err, "/algorithm", ITEM_UNKNOWN_ALGORITHM, "nothing is to be chosen");
}

/* Rows of the plan, one for each copy, and which row of the request each is of. */
struct plan_rows {
    struct placement_row *rows;
    size_t *row_of;
    size_t count;
};

/* One resource is a list of one. */
static struct placement_row read_row(struct request *rq, const struct row_request *given,
                                     size_t i)
{
    struct pointer pointer = pointer_in("/placements", i, "resource_id");
    struct placement_row row = given->row;

    row.is_list = given->row.resource_ids;
    if (given->resource_id && row.is_list)
        invalid(rq->err, pointer.text, ITEM_CONFLICT,
                "give resource_id or resource_ids, not both");
    else if (!given->resource_id && !row.is_list)
        invalid(rq->err, pointer.text, ITEM_REQUIRED,
                "give resource_id, or resource_ids of a job on several");
    if (row.is_list)
        return row;
    row.resource_ids = &given->resource_id;
    row.resource_count = given->resource_id ? 1 : 0;
    return row;
}

static enum error_code read_rows(const struct evaluation_request *body,
                                 struct request *rq, struct plan_rows *out)
{
    size_t count = body->placement_count;
    struct placement_row *rows = NEW(rq->arena, struct placement_row, count);
    uint64_t *first = NEW(rq->arena, uint64_t, count);
    uint64_t *last = NEW(rq->arena, uint64_t, count);
    struct copies_reader reader;

    copies_reader_make(rq, body->jobs, body->job_count, "/placements", &reader);
    for (size_t i = 0; i < count; i++) {
        rows[i] = read_row(rq, &body->placements[i], i);
        copies_read(&reader, i, rows[i].job_id, &body->placements[i].copies, &first[i],
                    &last[i]);
    }
    TRY(copies_read_all(&reader));
    *out = (struct plan_rows){NEW(rq->arena, struct placement_row, reader.sum),
                              NEW(rq->arena, size_t, reader.sum), 0};
    for (size_t i = 0; i < count; i++)
        for (uint64_t copy = first[i]; copy <= last[i]; copy++) {
            out->rows[out->count] = rows[i];
            out->rows[out->count].copy = copy;
            out->row_of[out->count++] = i;
        }
    return OK;
}

/* What is said of rows, where the request has them; ids of jobs once. */
static void point_to_rows(struct request *rq, const struct plan_rows *plan,
                          struct evaluation_out *out)
{
    static const char list[] = "/placements/";
    struct placement_violation *found =
        NEW(rq->arena, struct placement_violation, out->listed_count);
    const char **warnings = NEW(rq->arena, const char *, out->warning_count);
    const char **ids = NEW(rq->arena, const char *, out->unplaced_count);
    size_t id_count = 0;

    for (size_t i = 0; i < out->listed_count; i++) {
        found[i] = out->violations[i];
        found[i].pointer =
            copies_text(found[i].pointer, list, plan->row_of, plan->count, rq->arena);
        found[i].detail =
            copies_text(found[i].detail, list, plan->row_of, plan->count, rq->arena);
    }
    for (size_t i = 0; i < out->warning_count; i++)
        warnings[i] =
            copies_text(out->warnings[i], list, plan->row_of, plan->count, rq->arena);
    for (size_t i = 0; i < out->unplaced_count; i++)
        if (i == 0 || out->unplaced_ids[i] != out->unplaced_ids[i - 1])
            ids[id_count++] = out->unplaced_ids[i];
    out->violations = found;
    out->warnings = warnings;
    out->unplaced_ids = ids;
    out->unplaced_count = id_count;
}

/* What of the request changes nothing. */
static void warn_unused(struct request *rq, const struct evaluation_request *body,
                        struct decision_answer *answer)
{
    if (body->user_count)
        decision_warn(rq, answer,
                      "ignored: users of %zu (first /users/0): nothing is put into an "
                      "order",
                      body->user_count);
    if (isfinite(body->decision.time_limit_s))
        decision_warn(rq, answer,
                      "ignored: time_limit_s (/time_limit_s): nothing is searched for");
}

enum error_code evaluate_placement(struct request *rq, const void *in, void *out)
{
    const struct evaluation_request *body = in;
    struct evaluation_answer *answer = out;
    struct run_times *times;
    const struct job *jobs;
    struct copies copies;
    const struct error_item *before;
    struct plan_rows rows;
    struct placement_in problem = {
        .users = body->users,
        .user_count = body->user_count,
        .usage = body->usage,
        .usage_count = body->usage_count,
        .world = &body->world,
        .seed = body->decision.seed,
        .budget = &rq->budget,
    };
    struct evaluation_in plan = {.request = &problem,
                                 .options = body->decision.options,
                                 .option_count = body->decision.option_count};

    TRY(decision_begin(rq, &body->decision, &answer->decision));
    TRY(copies_check(rq, body->jobs, body->job_count, "/jobs", PLACEMENT_JOBS_MAX,
                     sizeof(struct job)));
    check_algorithm(&body->decision, rq->err);
    TRY(read_rows(body, rq, &rows));
    plan.rows = rows.rows;
    plan.row_count = rows.count;
    TRY(decision_world_snapshot(rq, body->snapshot, body->snapshot_id, true,
                                &problem.snapshot));
    TRY(run_times_resolve(
        rq, problem.snapshot,
        &(struct run_time_jobs){.jobs = body->jobs, .count = body->job_count}, &jobs,
        &times));
    copies_make(rq, jobs, body->job_count, "/jobs/", &copies);
    before = rq->err->last;
    problem.jobs = copies.jobs;
    problem.job_count = copies.count;
    TRY(placement_reserve(rq, &problem));
    if (placement_evaluate(&plan, &answer->of, rq->arena, rq->err) != OK ||
        rq->err->code != OK)
        return copies_refused(&copies, before);
    point_to_rows(rq, &rows, &answer->of);
    answer->decision.warnings =
        copies_warnings(&copies, answer->of.warnings, answer->of.warning_count);
    answer->decision.warning_count = answer->of.warning_count;
    run_times_warn(rq, times, &answer->decision);
    warn_unused(rq, body, &answer->decision);
    answer->objective = (struct objective_answer){
        answer->of.makespan_s, answer->of.values, answer->of.value_count};
    rq->gap_ratio = answer->of.values[0].of.gap_ratio;
    decision_end(rq, "placement", answer->of.status, &answer->decision);
    return OK;
}

/* placements.c - POST /v1/placements: independent jobs to resources. */
#include "handlers/placement/routes.h"

#include "algorithms/placement/amounts_values.h"
#include "algorithms/placement/placement.h"
#include "algorithms/placement/reasons.h"
#include "handlers/common/decision.h"
#include "handlers/common/snapshot_json.h"
#include "handlers/common/world_json.h"
#include "handlers/operations/policy_words.h"
#include "handlers/pictures/pictures.h"
#include "handlers/placement/copies.h"
#include "handlers/placement/placement_json.h"
#include "handlers/placement/run_times.h"
#include "handlers/placement/search_json.h"
#include "handlers/snapshots/lease_view.h"
#include "models/base/names.h"
#include "models/base/plural.h"
#include "models/base/pointer.h"
#include "service/metrics.h"
#include "service/service.h"

#include <stdio.h>
#include <string.h>

enum { LEASED_ID_BYTES = 247 };             /* with the number of a copy behind it 256 */
static const double MATRIX_CELL_BYTES = 24; /* a time, and what is made of it */

/* As the placements of an answer stand; what is not needed is read over. */
struct initial_row {
    struct placement_initial row;
    struct copies_said copies;
    double ignored_s;
    const char *ignored_json;
    bool killed;
    const char *const *files;
    size_t file_count;
};

struct placements_request {
    struct decision_request decision;
    const struct snapshot *snapshot;
    const char *snapshot_id;
    const struct job *jobs;
    size_t job_count;
    const struct placement_user *users;
    size_t user_count;
    const struct placement_usage *usage;
    size_t usage_count;
    int unplaced_form; /* enum unplaced_form */
    const struct initial_row *initial;
    size_t initial_count;
    struct placement_world world;
    const char *const *include; /* NULL: everything */
    size_t include_count;
    const struct placement_lease *lease; /* NULL: nothing is leased */
};

/* Who is to have what starts now. */
struct placement_lease {
    const char *owner;
    double ttl_s;
};

enum unplaced_form { UNPLACED_JOBS, UNPLACED_CLASSES, UNPLACED_IDS };
static const char *const unplaced_forms[] = {"jobs", "classes", "ids", NULL};

struct placements_answer {
    struct decision_answer decision;
    struct placement_out plan;
    uint64_t placement_total, unplaced_total; /* before unplaced_form takes rows away */
    const char *const *unplaced_ids;
    size_t unplaced_id_count;
    const struct run_time_basis *run_times;
    size_t run_time_count;
    struct lease_publication lease;
    const struct decision_timings *timings; /* NULL: not asked for */
};

#define T struct job
static const struct json_field job_rows[] = {
    PLACEMENT_JOB_ROWS(T),
    WORLD_JOB_ROWS(T),
    JOB_MODEL_ROW(T),
    JOB_COUNT_ROW(T),
    JSON_BOOLEAN(T, preempt, false, 0,
                 "Say what to stop so that it can start now, as preempt of the request"),
    {0},
};
#undef T
const struct json_object placement_job_json = {
    "Job", "An independent job that waits for a place", sizeof(struct job), job_rows};

#define T struct placement_user
static const struct json_field user_rows[] = {
    JSON_ID(T, user, JSON_REQUIRED, "Name"),
    JSON_NUMBER(T, share, 1, 1e9, 5, 0,
                "Jobs at a time before others come first; default 5"),
    JSON_NUMBERS(T, dispatched_by_window, window_count, 0, 1e15, 0,
                 "Jobs started in the current window and those before it"),
    JSON_NUMBER(T, running_jobs, 0, 1e9, 0, 0, "Jobs running now; default 0"),
    {0},
};
#undef T
const struct json_object placement_user_json = {"User",
                                                "What job priorities need of a user",
                                                sizeof(struct placement_user), user_rows};

#define T struct placement_usage
static const struct json_field usage_rows[] = {
    JSON_ID(T, user, JSON_REQUIRED, "Name of the user"),
    JSON_ID(T, resource_id, JSON_REQUIRED, "A resource of the snapshot"),
    JSON_NUMBER(
        T, mean_s, 0, JSON_LARGEST, NAN, JSON_NULLABLE,
        "Mean run, suspension and transfer time of his jobs there, last three days"),
    JSON_NUMBER(T, last_s, 0, JSON_LARGEST, NAN, JSON_NULLABLE,
                "The same of his last job there"),
    JSON_INSTANT(T, first_failure_at, JSON_NULLABLE,
                 "First failure since his last success there"),
    JSON_INSTANT(T, banned_until, JSON_NULLABLE, "He does not use it until then"),
    {0},
};
#undef T
const struct json_object placement_usage_json = {
    "Usage", "What is known of a user on a resource", sizeof(struct placement_usage),
    usage_rows};

const struct json_alias placement_was_execution[] = {{"execution_s", 0}, {0}};

#define T struct initial_row
static const struct json_field initial_rows[] = {
    {.name = "job_id",
     .doc = "The job",
     .type = JSON_TYPE_TEXT,
     .offset = JSON_AT(T, row.job_id, const char *),
     .min = 1,
     .max = 256,
     .flags = JSON_REQUIRED},
    COPIES_SAID_ROWS(T),
    {.name = "resource_id",
     .doc = "Where it goes",
     .type = JSON_TYPE_TEXT,
     .offset = JSON_AT(T, row.resource_id, const char *),
     .min = 1,
     .max = 256,
     .flags = JSON_NULLABLE},
    {.name = "resource_ids",
     .doc = "Or where a job on several nodes goes",
     .type = JSON_TYPE_TEXTS,
     .offset = JSON_AT(T, row.resource_ids, const char *const *),
     .count_offset = JSON_AT(T, row.resource_id_count, size_t),
     .max = JOB_NODES_MAX},
    {.name = "partition_id",
     .doc = "The partition that it uses; default: the first that it names with these "
            "resources",
     .type = JSON_TYPE_TEXT,
     .offset = JSON_AT(T, row.partition_id, const char *),
     .min = 1,
     .max = 256,
     .flags = JSON_NULLABLE},
    {.name = "slot",
     .doc = "Slot of the resource, from 0; any if it is not said",
     .type = JSON_TYPE_NUMBER,
     .offset = JSON_AT(T, row.slot, double),
     .max = JSON_EXACT,
     .preset = NAN,
     .flags = JSON_NULLABLE},
    {.name = "start_s",
     .doc = "When it starts at the latest, seconds from now; rows without it are placed "
            "as they stand",
     .type = JSON_TYPE_NUMBER,
     .offset = JSON_AT(T, row.start_s, double),
     .max = JSON_LARGEST,
     .preset = NAN,
     .flags = JSON_NULLABLE},
    PLACEMENT_READ_OVER(T, stage_in_s, NULL),
    PLACEMENT_READ_OVER(T, run_time_s, placement_was_execution),
    PLACEMENT_READ_OVER(T, finish_s, NULL),
    PLACEMENT_READ_OVER(T, rank, NULL),
    PLACEMENT_READ_OVER(T, bytes_moved, NULL),
    PLACEMENT_READ_OVER(T, late_s, NULL),
    PLACEMENT_READ_OVER(T, run_time_index, NULL),
    JSON_BOOLEAN(T, killed, false, JSON_NULLABLE, "As an answer has it; not looked at"),
    {.name = "run_time_basis",
     .doc = "As an answer has it; not looked at",
     .type = JSON_TYPE_RAW,
     .offset = JSON_AT(T, ignored_json, const char *)},
    JSON_TEXTS(T, files, file_count, 0, JSON_NULLABLE,
               "As an answer has it; not looked at"),
    {0},
};
#undef T
static const struct json_object initial_json = {"InitialPlacement",
                                                "A job of a plan to start a search from",
                                                sizeof(struct initial_row), initial_rows};

#define T struct placement_finished
static const struct json_field finished_rows[] = {
    JSON_ID(T, id, JSON_REQUIRED, "Name of the job"),
    JSON_BOOLEAN(T, ok, true, 0, "It has ended well; default true"),
    {0},
};
#undef T
const struct json_object placement_finished_json = {"FinishedJob", "A job that is done",
                                                    sizeof(struct placement_finished),
                                                    finished_rows};

#define T struct placement_lease
static const struct json_field lease_rows[] = {
    JSON_ID(T, owner, JSON_REQUIRED,
            "Who asks; names that begin with session: belong to sessions"),
    JSON_NUMBER(T, ttl_s, 1, 86400, 60, 0,
                "Seconds after which it expires unless it is prolonged; default 60"),
    {0},
};
#undef T
static const struct json_object placement_lease_json = {
    "PlacementLease", "A lease of what starts now", sizeof(struct placement_lease),
    lease_rows};

#define T struct placements_request
static const struct json_field request_rows[] = {
    JSON_OBJECT(T, snapshot, const struct snapshot *, &snapshot_json, JSON_POINTER,
                "Resources, links and files as they are now"),
    JSON_ID(T, snapshot_id, JSON_NULLABLE, "A stored snapshot instead",
            JSON_NOT_WITH("snapshot")),
    JSON_LIST(T, jobs, job_count, struct job, &placement_job_json, PLACEMENT_JOBS_MAX,
              JSON_REQUIRED | JSON_UNIQUE_IDS, "Jobs to place"),
    JSON_LIST(T, users, user_count, struct placement_user, &placement_user_json,
              PLACEMENT_USERS_MAX, 0,
              "Shares and recent use, for job_order gridway_priority"),
    JSON_LIST(
        T, usage, usage_count, struct placement_usage, &placement_usage_json,
        PLACEMENT_USAGE_MAX, 0,
        "Times and failures by user and resource, for resource_order gridway_priority"),
    JSON_CHOICE(T, unplaced_form, unplaced_forms, UNPLACED_JOBS, 0,
                "How jobs without a place are listed: jobs: each with its reasons, in "
                "`unplaced`; classes: jobs with equal reasons and needs together, in "
                "`unplaced_classes`; ids: in `unplaced_ids`; default jobs"),
    JSON_LIST(T, initial, initial_count, struct initial_row, &initial_json,
              PLACEMENT_JOBS_MAX, 0,
              "A plan to start the search from: the placements of an answer as they "
              "stand; for search and auto"),
    {.name = "objective",
     .doc = "What counts, most important first, at most four of makespan_s, "
            "total_flow_s, weighted_completion_s, weighted_tardiness_s, late_jobs, "
            "started_now_weight, cost, energy_j, nodes_used; default makespan_s",
     .type = JSON_TYPE_TEXTS,
     .offset = JSON_AT(T, world.objective, const char *const *),
     .count_offset = JSON_AT(T, world.objective_count, size_t)},
    {.name = "what_if",
     .doc = "Say which larger capacities or other attributes would let jobs run "
            "that have no place",
     .type = JSON_TYPE_BOOLEAN,
     .offset = JSON_AT(T, world.what_if, bool)},
    {.name = "preempt",
     .doc = "Say what to stop so that jobs that do not start now could; also a member of "
            "jobs",
     .type = JSON_TYPE_BOOLEAN,
     .offset = JSON_AT(T, world.preempt, bool)},
    JSON_TEXTS(
        T, include, include_count, 16, 0,
        "What the answer lists, of placements, unplaced, reasons, loads, timings, "
        "run_times (where each run time comes from); a list that is not named is empty, "
        "timings are left out, counts are always there; default all but run_times"),
    PLACEMENT_FINISHED_ROW(T, "Jobs that are done, which others name in `after`"),
    JSON_OBJECT(
        T, lease, const struct placement_lease *, &placement_lease_json, JSON_POINTER,
        "With snapshot_id: lease the jobs that start now for as long as they hold "
        "their amounts, all of them or none, before the answer is sent; copies of a job "
        "under the names JOB[0], JOB[1] ... When "
        "others have changed the snapshot or its leases meanwhile it is decided "
        "again, at most three times, each with the whole time limit; then 409"),
    DECISION_REQUEST_ROWS(T),
    {0},
};
#undef T
const struct json_object placements_request_json = {
    "PlacementRequest", "Jobs and the resources to place them on",
    sizeof(struct placements_request), request_rows};

#define T struct placement
static const struct json_field placement_rows[] = {
    JSON_TEXT(T, job_id, 0, "The job"),
    COPIES_ROWS(T),
    JSON_TEXT(T, resource_id, JSON_OPTIONAL, "Where it goes, unless on several nodes"),
    JSON_TEXTS(T, resource_ids, resource_id_count, 0, JSON_OPTIONAL,
               "Where a job on several nodes goes"),
    JSON_TEXT(T, partition_id, JSON_OPTIONAL, "The partition that it uses"),
    JSON_INTEGER(T, slot, 0, JSON_EXACT, 0, JSON_OPTIONAL,
                 "Slot of the resource, from 0, where jobs are counted; of several "
                 "copies the first's, the others have those behind it"),
    JSON_NUMBERS(T, slots, slot_list_count, 0, JSON_EXACT, JSON_OPTIONAL | JSON_WHOLE,
                 "Slots of the copies where they do not follow each other"),
    JSON_NUMBER(T, start_s, 0, 0, 0, 0,
                "The slot is taken and stage-in begins, seconds from now"),
    JSON_NUMBER(T, stage_in_s, 0, 0, 0, 0, "Time until the last input file is there"),
    JSON_NUMBER(T, run_time_s, 0, 0, 0, JSON_MAY_BE_NULL, "Run time; null: no estimate"),
    JSON_NUMBER(T, finish_s, 0, 0, 0, JSON_MAY_BE_NULL,
                "Done and outputs at home, seconds from now; null: no estimate"),
    JSON_BOOLEAN(T, killed, false, JSON_OPTIONAL,
                 "It would run longer than its time limit"),
    JSON_NUMBER(T, rank, 0, 0, 0, JSON_OPTIONAL, "Value of the rank expression"),
    JSON_NUMBER(T, bytes_moved, 0, 0, 0, 0, "Input bytes staged for it"),
    JSON_NUMBER(T, late_s, 0, 0, 0, JSON_OPTIONAL,
                "Seconds beyond its deadline, 0: in time"),
    JSON_TEXTS(T, files, file_count, 0, JSON_OPTIONAL,
               "Input files with variables resolved"),
    RUN_TIME_BASIS_ROWS(T),
    {0},
};
#undef T
const struct json_object placement_json = {"Placement", "Where and when a job runs",
                                           sizeof(struct placement), placement_rows};

#define T struct placement_clause
static const struct json_field clause_rows[] = {
    JSON_TEXT(T, clause, 0, "Part of the requirement"),
    JSON_INTEGER(T, untrue_count, 0, JSON_EXACT, 0, 0,
                 "Resources on which it is not true"),
    JSON_INTEGER(T, alone_count, 0, JSON_EXACT, 0, 0,
                 "Resources on which it alone is not true: without it they would do"),
    {0},
};
#undef T
static const struct json_object clause_json = {
    "Clause", "A clause of a requirement", sizeof(struct placement_clause), clause_rows};

#define T struct placement_nearest_miss
static const struct json_field miss_rows[] = {
    JSON_TEXT(T, resource_id, 0, "The resource that came nearest"),
    JSON_NUMBER(
        T, shortfall, 0, 0, 0, 0,
        "How far off, relative to what was asked; 1 per clause that is no comparison"),
    {0},
};
#undef T
const struct json_object placement_miss_json = {
    "NearestMiss", "The resource that came nearest",
    sizeof(struct placement_nearest_miss), miss_rows};

#define T struct placement_amount
static const struct json_field amount_rows[] = {
    JSON_TEXT(T, name, 0, "The amount"),
    JSON_NUMBER(T, needed, 0, 0, 0, 0, "What the job needs of it"),
    JSON_INTEGER(T, short_count, 0, JSON_EXACT, 0, 0, "Resources that have less"),
    JSON_INTEGER(T, alone_count, 0, JSON_EXACT, 0, 0,
                 "Resources on which nothing else is short"),
    JSON_NUMBER(T, largest, 0, 0, 0, JSON_OPTIONAL,
                "The most that there is of it at one place; missing: one place has no "
                "limit of it"),
    {0},
};
#undef T
const struct json_object placement_amount_json = {
    "ShortAmount", "An amount of which there is not enough",
    sizeof(struct placement_amount), amount_rows};

#define T struct placement_reason
static const struct json_field reason_rows[] = {
    JSON_WORD(T, reason, placement_reason_names, 0, "The filter that dropped resources"),
    JSON_TEXT(T, detail, JSON_OPTIONAL, "In words"),
    JSON_INTEGER(T, resource_count, 0, JSON_EXACT, 0, 0, "Resources that it dropped"),
    JSON_LIST(T, clauses, clause_count, struct placement_clause, &clause_json, 0,
              JSON_OPTIONAL, "Clauses of the requirement"),
    JSON_OBJECT(T, nearest_miss, const struct placement_nearest_miss *,
                &placement_miss_json, JSON_POINTER | JSON_OPTIONAL,
                "The resource that came nearest"),
    JSON_LIST(T, amounts, amount_count, struct placement_amount, &placement_amount_json,
              0, JSON_OPTIONAL, "Of too_small and shared_short: what is short"),
    JSON_TEXTS(T, blockers, blocker_count, 0, JSON_OPTIONAL,
               "Of unknown_end: up to five running jobs whose end is not known"),
    {0},
};
#undef T
static const struct json_object reason_json = {"Reason", "Why resources were not used",
                                               sizeof(struct placement_reason),
                                               reason_rows};

#define T struct placement_unplaced
static const struct json_field unplaced_rows[] = {
    JSON_TEXT(T, job_id, 0, "The job"),
    COPIES_ROWS(T),
    JSON_LIST(T, reasons, reason_count, struct placement_reason, &reason_json, 0, 0,
              "Why"),
    {0},
};
#undef T
const struct json_object placement_unplaced_json = {"Unplaced", "A job without a place",
                                                    sizeof(struct placement_unplaced),
                                                    unplaced_rows};

#define T struct placement_unplaced_class
static const struct json_field unplaced_class_rows[] = {
    JSON_INTEGER(T, job_count, 0, JSON_EXACT, 0, 0, "How many jobs"),
    JSON_TEXT(T, example_job_id, 0, "The first of them"),
    {.name = "job_ids",
     .doc = "The first ten of them",
     .type = JSON_TYPE_TEXTS,
     .offset = JSON_AT(T, job_ids, const char *const *),
     .count_offset = JSON_AT(T, id_count, size_t)},
    JSON_NUMBER(T, cpus, 0, 0, 0, 0, "CPUs that each of them needs"),
    JSON_NUMBER(T, memory_bytes, 0, 0, 0, 0, "Memory that each of them needs"),
    JSON_AMOUNTS(T, needs, need_count, JSON_OPTIONAL,
                 "Other amounts that each of them needs"),
    JSON_LIST(T, reasons, reason_count, struct placement_reason, &reason_json, 0, 0,
              "Why"),
    {0},
};
#undef T
static const struct json_object unplaced_class_json = {
    "UnplacedClass", "Jobs without a place that have the same reasons and needs",
    sizeof(struct placement_unplaced_class), unplaced_class_rows};

#define T struct placement_load
static const struct json_field load_rows[] = {
    JSON_TEXT(T, resource_id, 0, "The resource"),
    JSON_INTEGER(T, job_count, 0, JSON_EXACT, 0, 0, "Jobs placed on it"),
    JSON_NUMBER(T, busy_s, 0, 0, 0, 0, "Slot time taken by them"),
    JSON_NUMBER(T, finish_s, 0, 0, 0, 0,
                "When the last of them leaves its slot, seconds from now"),
    JSON_NUMBER(T, utilisation_ratio, 0, 0, 0, 0,
                "busy_s over slots x makespan_s; of the amount that is used most where "
                "amounts count"),
    {0},
};
#undef T
static const struct json_object load_json = {"Load", "What the plan makes of a resource",
                                             sizeof(struct placement_load), load_rows};

#define T struct placement_tier
static const struct json_field tier_rows[] = {
    JSON_NUMBER(T, priority, 0, 0, 0, 0, "Of these jobs"),
    JSON_NUMBER(T, value, 0, 0, 0, 0, "Sum of the weights of those that start"),
    JSON_NUMBER(T, bound, 0, 0, 0, 0,
                "No plan that is as good in the tiers above starts more"),
    JSON_BOOLEAN(T, proven, false, 0, "The bound is met"),
    {0},
};
#undef T
const struct json_object placement_tier_json = {"PriorityTier", "Jobs of one priority",
                                                sizeof(struct placement_tier), tier_rows};

#define T struct placement_value
static const struct json_field value_rows[] = {
    {.name = "name",
     .doc = "The objective",
     .type = JSON_TYPE_TEXT,
     .offset = JSON_AT(T, of.name, const char *),
     .choices = world_objective_names,
     .flags = JSON_OPEN},
    {.name = "value",
     .doc = "Of this plan; left out when a run time is not known",
     .type = JSON_TYPE_NUMBER,
     .offset = JSON_AT(T, of.value, double),
     .flags = JSON_OPTIONAL},
    {.name = "bound",
     .doc = "No plan of these jobs is better",
     .type = JSON_TYPE_NUMBER,
     .offset = JSON_AT(T, of.bound, double),
     .flags = JSON_OPTIONAL},
    {.name = "bound_kind",
     .doc = "lower; upper where the largest value is best; also where there is no bound",
     .type = JSON_TYPE_TEXT,
     .offset = JSON_AT(T, of.bound_kind, const char *),
     .choices = world_bound_sides,
     .flags = JSON_OPEN},
    {.name = "gap_ratio",
     .doc = "How far the value may be from the best, as a share of it",
     .type = JSON_TYPE_NUMBER,
     .offset = JSON_AT(T, of.gap_ratio, double),
     .flags = JSON_OPTIONAL},
    {.name = "proven",
     .doc = "The bound is met: nothing is better",
     .type = JSON_TYPE_BOOLEAN,
     .offset = JSON_AT(T, of.proven, bool)},
    JSON_LIST(T, tiers, tier_count, struct placement_tier, &placement_tier_json, 0,
              JSON_OPTIONAL,
              "Of started_now_weight with several priorities, instead of a bound"),
    {0},
};
#undef T
const struct json_object placement_value_json = {
    "ObjectiveValue", "One objective of a plan", sizeof(struct placement_value),
    value_rows};

#define T struct placement_objective
static const struct json_field objective_rows[] = {
    JSON_NUMBER(T, makespan_s, 0, 0, 0, 0,
                "When the last placed job is done, seconds from now"),
    JSON_NUMBER(T, lower_bound_s, 0, 0, 0, 0, "No plan of the placed jobs ends before"),
    JSON_NUMBER(T, gap_ratio, 0, 0, 0, JSON_MAY_BE_NULL,
                "makespan_s / lower_bound_s - 1; null: an estimate is missing, or there "
                "is no bound"),
    JSON_NUMBER(T, flow_time_s, 0, 0, 0, 0, "Sum of the finish times"),
    JSON_NUMBER(T, utilisation_ratio, 0, 0, 0, 0,
                "Busy slot time over slots x makespan_s, used resources"),
    JSON_NUMBER(T, bytes_moved, 0, 0, 0, 0, "Input bytes staged"),
    JSON_INTEGER(T, late_count, 0, JSON_EXACT, 0, 0, "Jobs that miss their deadline"),
    JSON_LIST(T, values, value_count, struct placement_value, &placement_value_json, 0,
              JSON_OPTIONAL,
              "Each objective, in the order of the request; makespan_s when it names "
              "none"),
    {0},
};
#undef T
static const struct json_object objective_json = {
    "PlacementObjective", "How good the plan is", sizeof(struct placement_objective),
    objective_rows};

#define T struct placement_best_list
static const struct json_field best_list_rows[] = {
    JSON_WORD_OF(T, algorithm, placement_words, 0, "A list policy, or 'mct longest'"),
    JSON_NUMBER(T, value, 0, 0, 0, 0,
                "The makespan of its plan, in seconds; where amounts count the value of "
                "the first objective"),
    {0},
};
#undef T
static const struct json_object best_list_json = {
    "PlacementBestList", "The best plan of a list policy that was tried",
    sizeof(struct placement_best_list), best_list_rows};

#define T struct placement_change
static const struct json_field change_rows[] = {
    JSON_WORD(T, change, placement_change_names, 0,
              "raise_capacity: of an amount; change_attribute: so that a clause of "
              "requirements is true there, the only one that is not"),
    JSON_TEXT(T, resource_id, 0, "Of this resource"),
    JSON_TEXT(T, amount, 0, "Which amount, or attribute"),
    JSON_TEXT(T, clause, JSON_OPTIONAL, "Of change_attribute: what would be true"),
    JSON_NUMBER(T, capacity, 0, 0, 0, 0, "What it has; of change_attribute 0"),
    JSON_NUMBER(T, value, 0, 0, 0, 0, "What it would have; of change_attribute 1"),
    JSON_INTEGER(T, job_count, 0, JSON_EXACT, 0, 0, "Jobs that could run there then"),
    JSON_NUMBER(T, weight, 0, 0, 0, 0, "Sum of their weights"),
    {.name = "job_ids",
     .doc = "The first ten of them",
     .type = JSON_TYPE_TEXTS,
     .offset = JSON_AT(T, job_ids, const char *const *),
     .count_offset = JSON_AT(T, id_count, size_t)},
    {0},
};
#undef T
const struct json_object placement_change_json = {
    "WhatIf", "A change that would let jobs run that have no place",
    sizeof(struct placement_change), change_rows};

#define T struct placement_preemption
static const struct json_field preemption_rows[] = {
    JSON_TEXT(T, job_id, 0, "The job that could start now"),
    COPIES_ROWS(T),
    JSON_TEXTS(T, resource_ids, resource_id_count, 0, 0, "Where"),
    JSON_TEXTS(T, stop, stop_count, 0, 0, "Running jobs to stop for it"),
    JSON_NUMBER(T, weight, 0, 0, 0, 0, "Sum of their weights"),
    JSON_BOOLEAN(T, proven, false, 0, "No other set weighs less"),
    {0},
};
#undef T
const struct json_object placement_preemption_json = {
    "Preemption", "What to stop so that a job can start now",
    sizeof(struct placement_preemption), preemption_rows};

#define T struct placements_answer
#define PLAN_LIST(m, counter, ctype, table, text)                     \
    {                                                                 \
        .name = #m, .doc = text, .type = JSON_TYPE_LIST,              \
        .offset = JSON_AT(T, plan.m, const ctype *),                  \
        .count_offset = JSON_AT(T, plan.counter, size_t), .of = table \
    }
static const struct json_field answer_rows[] = {
    DECISION_ANSWER_ROWS(T, DECISION_BY_OF(placement_words)),
    {.name = "because",
     .doc = "Why 'auto' chose this algorithm",
     .type = JSON_TYPE_TEXT,
     .offset = JSON_AT(T, plan.because, const char *),
     .flags = JSON_OPTIONAL},
    PLAN_LIST(placements, placement_count, struct placement, &placement_json,
              "Where and when each placed job runs, in the order of the request; copies "
              "of a job that have everything alike are one row"),
    PLAN_LIST(
        unplaced, unplaced_count, struct placement_unplaced, &placement_unplaced_json,
        "Jobs without a place, and why; empty with another unplaced_form than jobs"),
    {.name = "unplaced_classes",
     .doc = "With unplaced_form classes: kinds of jobs without a place, and why",
     .type = JSON_TYPE_LIST,
     .offset = JSON_AT(T, plan.unplaced_classes, const struct placement_unplaced_class *),
     .count_offset = JSON_AT(T, plan.unplaced_class_count, size_t),
     .of = &unplaced_class_json,
     .flags = JSON_OPTIONAL},
    JSON_TEXTS(T, unplaced_ids, unplaced_id_count, 0, JSON_OPTIONAL,
               "With unplaced_form ids: the jobs without a place, a job with count once"),
    {.name = "what_if",
     .doc = "With what_if: at most five changes, the best first",
     .type = JSON_TYPE_LIST,
     .offset = JSON_AT(T, plan.changes, const struct placement_change *),
     .count_offset = JSON_AT(T, plan.change_count, size_t),
     .of = &placement_change_json,
     .flags = JSON_OPTIONAL},
    {.name = "preemptions",
     .doc = "With preempt: proposals, each as if it were the only one; with the option "
            "assume_preempted one after the other, and the plan is as if all were done",
     .type = JSON_TYPE_LIST,
     .offset = JSON_AT(T, plan.preemptions, const struct placement_preemption *),
     .count_offset = JSON_AT(T, plan.preemption_count, size_t),
     .of = &placement_preemption_json,
     .flags = JSON_OPTIONAL},
    {.name = "placement_count",
     .doc = "Jobs with a place, each copy counts",
     .type = JSON_TYPE_INTEGER,
     .offset = JSON_AT(T, placement_total, uint64_t),
     .max = JSON_EXACT},
    {.name = "unplaced_count",
     .doc = "Jobs without a place, however they are listed; each copy counts",
     .type = JSON_TYPE_INTEGER,
     .offset = JSON_AT(T, unplaced_total, uint64_t),
     .max = JSON_EXACT},
    {.name = "objective",
     .doc = "How good the plan is",
     .type = JSON_TYPE_OBJECT,
     .offset = JSON_AT(T, plan.objective, struct placement_objective),
     .of = &objective_json},
    PLAN_LIST(loads, load_count, struct placement_load, &load_json,
              "Resources that got jobs"),
    {.name = "steps",
     .doc = "Steps of the search; options.max_steps replays them",
     .type = JSON_TYPE_INTEGER,
     .offset = JSON_AT(T, plan.steps, uint64_t),
     .max = JSON_EXACT},
    PLAN_LIST(bounds, bound_count, struct proven_bound, &proven_bound_json,
              "Lower bounds of the makespan that were computed, largest first"),
    SEARCH_ROWS(T, struct placement_best_list),
    RUN_TIMES_ROW(T),
    {.name = "lease_id",
     .doc = "With lease: UUID of the lease of the jobs that start now; none if there are "
            "none",
     .type = JSON_TYPE_TEXT,
     .offset = JSON_AT(T, lease.made.lease_id, const char *),
     .flags = JSON_OPTIONAL},
    {.name = "lease_expires_at",
     .doc = "From when on it counts no more unless it is prolonged",
     .type = JSON_TYPE_INSTANT,
     .offset = JSON_AT(T, lease.made.expires_at_s, double),
     .flags = JSON_OPTIONAL},
    DECISION_NOTE_ROWS(T),
    JSON_OBJECT(T, timings, const struct decision_timings *, &decision_timings_json,
                JSON_POINTER | JSON_OPTIONAL,
                "Where the time went; left out when `include` does not name it"),
    {0},
};
#undef PLAN_LIST
#undef T
const struct json_object placements_answer_json = {
    "PlacementAnswer", "A plan, its reasons and its quality",
    sizeof(struct placements_answer), answer_rows};

static enum error_code find_policy(const char *name, const struct policy **policy,
                                   struct error *err)
{
    *policy = policy_find(placement_policies, name ? name : "auto");
    if (*policy)
        return OK;
    return decision_unknown_policy(name, placement_policies, err);
}

/* jobs_unplaced_total: a job counts under the reason that dropped most resources. */
static void count_unplaced(const struct request *rq, const struct placement_out *plan)
{
    for (size_t i = 0; i < plan->unplaced_count; i++) {
        const struct placement_unplaced *job = &plan->unplaced[i];
        const struct placement_reason *main_reason = job->reasons;

        for (size_t r = 1; r < job->reason_count; r++)
            if (job->reasons[r].resource_count > main_reason->resource_count)
                main_reason = &job->reasons[r];
        metrics_unplaced(rq->service->metrics,
                         job->reason_count ? main_reason->reason : "no_resource", 1);
    }
}

enum { REPEATS_MIN = 1000 }; /* jobs without a place of which a hint is worth it */

/* Says how to get each reason only once where many jobs share a few. */
static void hint_classes(const struct request *rq, struct placements_answer *answer)
{
    const struct placement_out *plan = &answer->plan;
    size_t count = answer->decision.warning_count;
    const char **warnings;

    if (plan->unplaced_count < REPEATS_MIN ||
        plan->unplaced_class_count > plan->unplaced_count / 10)
        return;
    warnings = NEW(rq->arena, const char *, count + 1);
    for (size_t i = 0; i < count; i++)
        warnings[i] = answer->decision.warnings[i];
    warnings[count] = arena_printf(
        rq->arena,
        "unplaced_repeats: %zu jobs without a place repeat %s of reasons; "
        "unplaced_form classes lists %s once",
        plan->unplaced_count, counted(plan->unplaced_class_count, "kind").text,
        plural(plan->unplaced_class_count, "it", "each kind"));
    answer->decision.warnings = warnings;
    answer->decision.warning_count = count + 1;
}

/* Lists the jobs without a place as the request wants them. */
static void list_unplaced(const struct request *rq, enum unplaced_form form,
                          struct placements_answer *answer)
{
    struct placement_out *plan = &answer->plan;
    const char **ids;

    if (form != UNPLACED_CLASSES)
        plan->unplaced_class_count = 0;
    if (form == UNPLACED_JOBS)
        return;
    if (form == UNPLACED_IDS) {
        ids = NEW(rq->arena, const char *, plan->unplaced_count);
        for (size_t i = 0; i < plan->unplaced_count; i++)
            if (i == 0 || plan->unplaced[i].job_id != plan->unplaced[i - 1].job_id)
                ids[answer->unplaced_id_count++] = plan->unplaced[i].job_id;
        answer->unplaced_ids = ids;
    }
    plan->unplaced_count = 0;
}

/* ---- what the answer lists ---- */

static const char *const lists[] = {"placements", "unplaced",  "reasons", "loads",
                                    "timings",    "run_times", NULL};
enum { LISTS = sizeof(lists) / sizeof(*lists) - 1 };

static bool includes(const struct placements_request *body, const char *list)
{
    bool found = !body->include;

    for (size_t i = 0; i < body->include_count; i++)
        found = found || strcmp(body->include[i], list) == 0;
    return found;
}

static bool asks_run_times(const struct placements_request *body)
{
    return body->include && includes(body, "run_times");
}

static void check_include(const struct placements_request *body, struct error *err)
{
    for (size_t i = 0; i < body->include_count; i++) {
        char hint[NAMES_HINT_BYTES];
        bool known = false;

        for (size_t k = 0; k < LISTS; k++)
            known = known || strcmp(body->include[i], lists[k]) == 0;
        if (known)
            continue;
        invalid(err, pointer_in("/include", i, NULL).text, ITEM_NOT_A_CHOICE,
                "no such part of the answer; %s",
                names_hint(body->include[i], lists, LISTS, hint, sizeof(hint)));
        error_allow(err, body->include[i], lists, LISTS);
    }
}

/* Takes away what was not asked for; counts stay. */
static void leave_out(const struct request *rq, const struct placements_request *body,
                      struct placements_answer *answer)
{
    struct placement_out *plan = &answer->plan;
    struct placement_unplaced *rows;

    if (!includes(body, "placements")) {
        plan->placement_count = 0;
        if (!includes(body, "run_times"))
            answer->run_time_count = 0;
    }
    if (!includes(body, "loads"))
        plan->load_count = 0;
    if (!includes(body, "unplaced"))
        plan->unplaced_count = plan->unplaced_class_count = answer->unplaced_id_count = 0;
    if (includes(body, "timings"))
        answer->timings = &answer->decision.timings;
    if (includes(body, "reasons"))
        return;
    rows = NEW(rq->arena, struct placement_unplaced, plan->unplaced_count);
    for (size_t i = 0; i < plan->unplaced_count; i++) {
        rows[i].job_id = plan->unplaced[i].job_id;
        rows[i].copies = plan->unplaced[i].copies;
    }
    plan->unplaced = rows;
    for (size_t i = 0; i < plan->unplaced_class_count; i++)
        ((struct placement_unplaced_class *)plan->unplaced_classes)[i].reason_count = 0;
}

/* ---- what is leased ---- */

static void check_lease(struct request *rq, const struct placements_request *body)
{
    if (!body->lease)
        return;
    for (size_t i = 0; i < body->job_count; i++)
        if (body->jobs[i].count > 1 && strlen(body->jobs[i].id) > LEASED_ID_BYTES)
            invalid(rq->err, pointer_in("/jobs", i, "id").text, ITEM_TOO_LONG,
                    "leases name its copies NAME[0], NAME[1] ..., and a name has 256 "
                    "bytes at most");
    for (size_t i = 0; i < body->decision.option_count; i++)
        if (strcmp(body->decision.options[i].name, "assume_preempted") == 0 &&
            body->decision.options[i].number > 0)
            invalid(rq->err, "/lease", ITEM_INVALID_COMBINATION,
                    "what the plan assumes to be stopped runs still, and cannot be "
                    "leased (/options/assume_preempted)");
    lease_check_owner(rq, body->lease->owner, "/lease/owner");
    if (!body->snapshot_id)
        invalid(rq->err, "/lease", ITEM_INVALID_COMBINATION,
                "only what is on a stored snapshot can be leased: name one by "
                "snapshot_id");
}

/* NULL: the job has no copies. */
static const char *copy_name(const struct job *j, uint64_t copy, struct arena *a)
{
    char name[JOB_COPY_NAME_BYTES];

    return j->count > 1 ? arena_printf(a, "%s", job_copy_name(j->id, copy, name)) : NULL;
}

static struct lease_wish wish_of(const struct placement *x, const struct job *j,
                                 uint64_t copy, struct arena *a)
{
    const char *name = copy_name(j, copy, a);
    struct lease_wish wish = {.row = {.job_id = name ? name : x->job_id,
                                      .resource_ids = x->resource_ids,
                                      .resource_id_count = x->resource_id_count,
                                      .cpus = j->cpus,
                                      .memory_bytes = j->memory_bytes,
                                      .disk_bytes = j->disk_bytes,
                                      .needs = j->needs,
                                      .need_count = j->need_count,
                                      .exclusive = j->exclusive},
                              .end_s = x->held_s};
    const char **one;

    if (x->resource_id) {
        one = NEW(a, const char *, 1);
        *one = x->resource_id;
        wish.row.resource_ids = one;
        wish.row.resource_id_count = 1;
    }
    return wish;
}

/* Has what starts now leased when the answer is published. Jobs that hold nothing, not
 * even for a moment, need no lease. */
static enum error_code lease_now(struct request *rq,
                                 const struct placements_request *body,
                                 struct placements_answer *answer)
{
    const struct placement_out *plan = &answer->plan;
    size_t most = (size_t)answer->placement_total;
    struct lease_wish *wishes;
    size_t *jobs;
    struct lease_publication *p = &answer->lease;
    struct name_index ids;

    p->made.expires_at_s = NAN;
    if (!body->lease)
        return OK;
    wishes = NEW(rq->arena, struct lease_wish, most);
    jobs = NEW(rq->arena, size_t, most);
    name_index_create(&ids, body->job_count, rq->arena);
    for (size_t i = 0; i < body->job_count; i++)
        name_index_add(&ids, body->jobs[i].id, i);
    for (size_t i = 0; i < plan->placement_count; i++) {
        const struct placement *x = &plan->placements[i];
        size_t job = name_index_find(&ids, x->job_id);
        const double *both = x->copies.indexes;
        uint64_t first = both ? (uint64_t)both[0] : x->copies.index;
        uint64_t count = both ? (uint64_t)(both[1] - both[0]) + 1 : 1;

        budget_step(&rq->finish, x->resource_id_count + 1);
        if (x->start_s > 0 || x->held_s <= 0)
            continue;
        for (uint64_t k = 0; k < count; k++) {
            jobs[p->wish_count] = job;
            wishes[p->wish_count++] = wish_of(x, &body->jobs[job], first + k, rq->arena);
        }
    }
    if (p->wish_count == 0)
        return decision_warn(rq, &answer->decision,
                             "lease_empty: no job starts now (/lease), so nothing is "
                             "leased");
    p->snapshot_id = body->snapshot_id;
    p->read = rq->snapshot_view;
    p->owner = body->lease->owner;
    p->ttl_s = body->lease->ttl_s;
    p->wishes = wishes;
    p->jobs = jobs;
    return rq->replay ? OK : request_at_publish(rq, lease_publish, p);
}

/* What the search is to start from: a row for each copy, and which row of the request
 * each is of. */
struct initial_plan {
    struct placement_initial *rows;
    size_t *row_of;
    size_t count;
};

static enum error_code read_initial(struct request *rq,
                                    const struct placements_request *body,
                                    struct initial_plan *out)
{
    uint64_t *first = NEW(rq->arena, uint64_t, body->initial_count);
    uint64_t *last = NEW(rq->arena, uint64_t, body->initial_count);
    struct copies_reader reader;

    *out = (struct initial_plan){0};
    if (body->initial_count == 0)
        return OK;
    copies_reader_make(rq, body->jobs, body->job_count, "/initial", &reader);
    for (size_t i = 0; i < body->initial_count; i++)
        copies_read(&reader, i, body->initial[i].row.job_id, &body->initial[i].copies,
                    &first[i], &last[i]);
    TRY(copies_read_all(&reader));
    out->rows = NEW(rq->arena, struct placement_initial, reader.sum);
    out->row_of = NEW(rq->arena, size_t, reader.sum);
    for (size_t i = 0; i < body->initial_count; i++)
        for (uint64_t copy = first[i]; copy <= last[i]; copy++) {
            const struct initial_row *given = &body->initial[i];
            struct placement_initial *row = &out->rows[out->count];

            *row = given->row;
            row->copy = copy;
            row->slot = given->copies.slots ? given->copies.slots[copy - first[i]]
                                            : row->slot + (double)(copy - first[i]);
            out->row_of[out->count++] = i;
        }
    return OK;
}

/* Its mistakes, where the request has them. */
static void point_to_initial(const struct request *rq, const struct initial_plan *plan)
{
    for (struct error_item *e = rq->err->first; e; e = e->next) {
        e->pointer =
            copies_text(e->pointer, "/initial/", plan->row_of, plan->count, rq->arena);
        e->detail = copies_text(e->detail, "row ", plan->row_of, plan->count, rq->arena);
    }
}

/* What the plan warns of, with rows as the request has them. */
static const char *const *warnings_of(const struct copies *c,
                                      const struct initial_plan *initial,
                                      const struct placement_out *plan)
{
    static const char refused[] = "initial_refused: ";
    const char *const *list = copies_warnings(c, plan->warnings, plan->warning_count);
    const char **out = NEW(c->rq->arena, const char *, plan->warning_count);

    for (size_t i = 0; i < plan->warning_count; i++)
        out[i] = strncmp(list[i], refused, sizeof(refused) - 1) == 0
                     ? copies_text(list[i], "row ", initial->row_of, initial->count,
                                   c->rq->arena)
                     : list[i];
    return out;
}

/* Times of jobs on resources one by one are copied, sorted and bounded. */
enum error_code placement_reserve(struct request *rq, const struct placement_in *in)
{
    size_t i = 0;

    while (i < in->job_count && !in->jobs[i].etc_s)
        i++;
    if (i == in->job_count)
        return OK;
    return request_reserve(rq, MATRIX_CELL_BYTES * (double)in->job_count *
                                   (double)in->snapshot->resource_count);
}

/* What is said of jobs, with one row for all copies of one that have everything alike. */
static void tell_jobs(struct request *rq, const struct placements_request *body,
                      const struct placement_in *problem, const struct copies *copies,
                      const struct run_times *times, struct placements_answer *answer)
{
    run_times_warn(rq, times, &answer->decision);
    count_unplaced(rq, &answer->plan);
    answer->placement_total = answer->plan.placement_count;
    answer->unplaced_total = answer->plan.unplaced_count;
    copies_fold(copies, problem->snapshot, &answer->plan);
    run_times_tell(rq, times, problem->snapshot, body->jobs, body->job_count,
                   asks_run_times(body), &answer->plan, &answer->run_times,
                   &answer->run_time_count);
    if (body->unplaced_form == UNPLACED_JOBS)
        hint_classes(rq, answer);
}

enum error_code post_placements(struct request *rq, const void *in, void *out)
{
    const struct placements_request *body = in;
    struct placements_answer *answer = out;
    const struct policy *policy;
    struct run_times *times;
    const struct job *jobs;
    struct copies copies;
    struct initial_plan initial;
    struct placement_in problem = {
        .users = body->users,
        .user_count = body->user_count,
        .usage = body->usage,
        .usage_count = body->usage_count,
        .seed = body->decision.seed,
        .budget = &rq->budget,
        .time_limit_given = isfinite(body->decision.time_limit_s),
        .world = &body->world,
    };

    TRY(decision_begin(rq, &body->decision, &answer->decision));
    TRY(copies_check(rq, body->jobs, body->job_count, "/jobs", PLACEMENT_JOBS_MAX,
                     sizeof(struct job)));
    find_policy(body->decision.algorithm, &policy, rq->err);
    check_include(body, rq->err);
    check_lease(rq, body);
    TRY(decision_world_snapshot(rq, body->snapshot, body->snapshot_id, true,
                                &problem.snapshot));
    TRY(run_times_resolve(
        rq, problem.snapshot,
        &(struct run_time_jobs){.jobs = body->jobs, .count = body->job_count}, &jobs,
        &times));
    TRY(read_initial(rq, body, &initial));
    if (rq->err->code != OK)
        return rq->err->code;
    copies_make(rq, jobs, body->job_count, "/jobs/", &copies);
    problem.jobs = copies.jobs;
    problem.job_count = copies.count;
    problem.initial = initial.rows;
    problem.initial_count = initial.count;
    TRY(placement_reserve(rq, &problem));
    if (problem.time_limit_given)
        problem.time_limit_s = rq->deadline_s - rq->limited_from_s;
    if (placement_decide(&problem, policy, body->decision.options,
                         body->decision.option_count, &answer->plan, rq->arena,
                         rq->err) != OK) {
        point_to_initial(rq, &initial);
        return copies_refused(&copies, NULL);
    }
    answer->decision.warnings = warnings_of(&copies, &initial, &answer->plan);
    answer->decision.warning_count = answer->plan.warning_count;
    tell_jobs(rq, body, &problem, &copies, times, answer);
    if (answer->plan.check_failed)
        decision_check_failed(rq);
    TRY(lease_now(rq, body, answer));
    rq->gap_ratio = answer->plan.objective.gap_ratio;
    decision_end(rq, answer->plan.algorithm, answer->plan.status, &answer->decision);
    list_unplaced(rq, (enum unplaced_form)body->unplaced_form, answer);
    leave_out(rq, body, answer);
    return picture_answer(rq, answer);
}

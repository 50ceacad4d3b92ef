/* reschedule_jobs.c - a kind of POST /v1/reschedules: running jobs, and what happened to
 * each of them. Pending jobs come first; the running ones see what is left.
 *
 * Source: spec gridway.md 3, 7; world-model.md 8.
 */
#include "handlers/rescheduling/reschedule_kinds.h"

#include "algorithms/migration/gridway.h"
#include "handlers/common/decision.h"
#include "handlers/common/snapshot_json.h"
#include "handlers/common/world_json.h"
#include "handlers/placement/copies.h"
#include "handlers/placement/placement_json.h"
#include "handlers/placement/run_times.h"

#include <string.h>

enum { HISTORY_MAX = 1000, EVENTS_MAX = 16, SAMPLES_MAX = 100000 };
#define TIME_MAX_S 1e12

static const char *const running_kind[] = {"running_jobs", NULL};

struct running_jobs_request {
    struct decision_request decision;
    int kind;
    const struct snapshot *snapshot;
    const char *snapshot_id;
    const struct reschedule_job *jobs;
    size_t job_count;
    const struct job *pending;
    size_t pending_count;
    const struct placement_user *users;
    size_t user_count;
    const struct placement_usage *usage;
    size_t usage_count;
    struct placement_world world;
};

struct running_jobs_answer {
    struct decision_answer decision;
    int kind;
    struct gridway_out out;
    size_t value_count; /* 0 where none were asked for */
    const struct run_time_basis *run_times;
    size_t run_time_count;
};

/* ---- the request ---- */

#define T struct reschedule_restart
static const struct json_field restart_rows[] = {
    JSON_NUMBER(T, work_done_ref_s, 0, JSON_LARGEST, 0, JSON_REQUIRED,
                "Work that the job had done when it was written"),
    JSON_NUMBER(T, bytes, 0, JSON_LARGEST, 0, 0, "Its size; default 0"),
    JSON_ID(T, site_id, JSON_NULLABLE, "The site that has it"),
    JSON_ID(T, resource_id, JSON_NULLABLE,
            "Or the resource that has it, and is needed to read it; default: the job's "
            "own"),
    {0},
};
#undef T
static const struct json_object restart_json = {
    "RestartFile", "The newest file that the job can go on from, on any architecture",
    sizeof(struct reschedule_restart), restart_rows};

#define T struct reschedule_failure
static const struct json_field failure_rows[] = {
    JSON_CHOICE(T, stage, reschedule_stage_names, STAGE_WRAPPER, JSON_REQUIRED,
                "What was going on"),
    JSON_CHOICE(T, kind, reschedule_failure_names, FAILURE_OTHER, 0,
                "What went wrong: an error; job_manager_silent: it does not answer; "
                "ended: the wrapper has; default other"),
    JSON_INTEGER(T, failed_attempts, 1, JSON_EXACT, 1, 0,
                 "Failed attempts of this stage, with this one; default 1"),
    JSON_NUMBER(T, exit_code, -1e9, 1e9, NAN, JSON_NULLABLE | JSON_WHOLE,
                "Of a wrapper that has ended; null: none was set, it was killed"),
    JSON_BOOLEAN(T, gatekeeper_answers, 1, 0,
                 "Of a silent job manager; false: the resource or its network has "
                 "failed; default true"),
    JSON_BOOLEAN(T, cancelled, 0, 0,
                 "A wrapper without exit code was cancelled on purpose; default false"),
    {0},
};
#undef T
static const struct json_object failure_json = {
    "JobFailure", "A failure of a job", sizeof(struct reschedule_failure), failure_rows};

#define T struct reschedule_contract
static const struct json_field contract_rows[] = {
    JSON_NUMBER(T, expected_per_s, 0, 1e100, NAN, JSON_NULLABLE | JSON_ABOVE_MIN,
                "Expected growth of the metric a second"),
    JSON_NUMBER(T, expected_s_per_step, 0, 1e100, NAN, JSON_NULLABLE | JSON_ABOVE_MIN,
                "Or the seconds that it takes to grow by 1"),
    JSON_NUMBER(T, tolerance_ratio, 0, 1, 0.5, 0,
                "Violated below 1 - this of what is expected; default 0.5"),
    JSON_INTEGER(T, window, 1, SAMPLES_MAX, 3, 0,
                 "Intervals between samples that count; default 3"),
    {0},
};
#undef T
static const struct json_object contract_json = {
    "PerformanceContract", "How fast a metric of the job ought to grow",
    sizeof(struct reschedule_contract), contract_rows};

#define T struct reschedule_sample
static const struct json_field sample_rows[] = {
    JSON_NUMBER(T, t_s, -TIME_MAX_S, TIME_MAX_S, 0, JSON_REQUIRED, "When"),
    JSON_NUMBER(T, value, -1e100, 1e100, 0, JSON_REQUIRED,
                "The metric, which grows with the work done"),
    {0},
};
#undef T
static const struct json_object sample_json = {
    "MetricReport", "A report of the job's metric", sizeof(struct reschedule_sample),
    sample_rows};

#define T struct reschedule_job
static const struct json_field job_rows[] = {
    PLACEMENT_JOB_ROWS(struct job),
    WORLD_JOB_ROWS(struct job),
    JOB_MODEL_ROW(struct job),
    JSON_ID(T, resource_id, JSON_NULLABLE, "The resource of the snapshot that it is on"),
    JSON_TEXTS(T, resource_ids, resource_id_count, JOB_NODES_MAX, 0,
               "Or all of them, of a job on several nodes"),
    JSON_NUMBER(T, work_done_ref_s, 0, JSON_LARGEST, 0, 0,
                "Part of estimate_ref_s that is done, where only estimate_s is known of "
                "that; default 0, with estimate_s elapsed_s"),
    JSON_OBJECT(T, restart, const struct reschedule_restart *, &restart_json,
                JSON_POINTER | JSON_NULLABLE,
                "What it can go on from elsewhere; default: nothing"),
    JSON_TEXTS(T, history, history_count, HISTORY_MAX, 0, "Resources that it was on"),
    JSON_CHOICE(T, event, reschedule_event_names, EVENT_NONE, 0,
                "What happened; default none"),
    JSON_TEXTS(T, events, event_count, EVENTS_MAX, 0,
               "Or several events; one that moves the job whatever it costs counts, else "
               "the first in the order of `event`"),
    JSON_NUMBER(T, suspended_s, 0, TIME_MAX_S, 0, 0,
                "Since when, for suspended_by_owner; default 0"),
    JSON_OBJECT(T, failure, const struct reschedule_failure *, &failure_json,
                JSON_POINTER | JSON_NULLABLE, "What failed; default: nothing"),
    JSON_OBJECT(T, contract, const struct reschedule_contract *, &contract_json,
                JSON_POINTER | JSON_NULLABLE,
                "How fast it ought to be; violated: as the event"),
    JSON_LIST(T, samples, sample_count, struct reschedule_sample, &sample_json,
              SAMPLES_MAX, 0, "What it reported, the oldest first"),
    JSON_NUMBER(T, job_cpu_ratio, 0, 1, NAN, JSON_NULLABLE,
                "Without a contract: its part of the processor"),
    JSON_NUMBER(T, idle_cpu_ratio, 0, 1, NAN, JSON_NULLABLE,
                "... and the idle part of it"),
    JSON_NUMBER(T, queued_output_bytes, 0, JSON_LARGEST, 0, 0,
                "Outputs on its host that are fetched before it leaves; default 0"),
    JSON_NUMBER(T, elapsed_s, 0, TIME_MAX_S, NAN, JSON_NULLABLE,
                "How long it has run, for max_run_before_move_s", JSON_WAS({"run_s", 0})),
    JSON_NUMBER(T, last_moved_s_ago, 0, TIME_MAX_S, NAN, JSON_NULLABLE,
                "Time since it last moved, for cool_down_s; default: it never did"),
    {0},
};
#undef T
static const struct json_object running_job_json = {
    "RunningJob", "A job that runs, its requirement and rank as they are now",
    sizeof(struct reschedule_job), job_rows};

#define T struct running_jobs_request
static const struct json_field request_rows[] = {
    JSON_CHOICE(T, kind, running_kind, 0, 0,
                "running_jobs; may be left out with algorithm gridway"),
    JSON_OBJECT(T, snapshot, const struct snapshot *, &snapshot_json, JSON_POINTER,
                "Resources, links and files as they are now"),
    JSON_ID(T, snapshot_id, JSON_NULLABLE, "A stored snapshot instead",
            JSON_NOT_WITH("snapshot")),
    JSON_LIST(T, jobs, job_count, struct reschedule_job, &running_job_json,
              PLACEMENT_JOBS_MAX, JSON_REQUIRED | JSON_UNIQUE_IDS,
              "Jobs that run: each holds its own amounts of its resources, until it "
              "would have ended there also if it moves; one that the snapshot has among "
              "what runs counts once"),
    JSON_LIST(T, pending, pending_count, struct job, &placement_job_json,
              PLACEMENT_JOBS_MAX, JSON_UNIQUE_IDS,
              "Jobs that wait for a place; they come first"),
    JSON_LIST(T, users, user_count, struct placement_user, &placement_user_json,
              PLACEMENT_USERS_MAX, 0,
              "Shares, recent use and running jobs; those of the request count at least"),
    JSON_LIST(T, usage, usage_count, struct placement_usage, &placement_usage_json,
              PLACEMENT_USAGE_MAX, 0,
              "Times and failures by user and resource, for resource_order "
              "gridway_priority"),
    {.name = "objective",
     .doc = "What the placements of pending jobs are valued by, as `objective` of "
            "placements; the round looks at ranks",
     .type = JSON_TYPE_TEXTS,
     .offset = JSON_AT(T, world.objective, const char *const *),
     .count_offset = JSON_AT(T, world.objective_count, size_t)},
    {.name = "what_if",
     .doc = "Say which larger capacities or other attributes would let pending jobs "
            "run that have no place",
     .type = JSON_TYPE_BOOLEAN,
     .offset = JSON_AT(T, world.what_if, bool)},
    {.name = "preempt",
     .doc = "Say what to stop so that pending jobs that do not start now could; also a "
            "member of these",
     .type = JSON_TYPE_BOOLEAN,
     .offset = JSON_AT(T, world.preempt, bool)},
    PLACEMENT_FINISHED_ROW(T, "Jobs that are done, which others name in `after`"),
    DECISION_REQUEST_ROWS(T),
    {0},
};
#undef T
const struct json_object running_jobs_request_json = {
    "RunningJobsRequest", "Running jobs, and what happened to each of them",
    sizeof(struct running_jobs_request), request_rows};

/* ---- the answer ---- */

#define T struct gridway_step
static const struct json_field step_rows[] = {
    JSON_WORD(T, step, gridway_step_names, 0,
              "cancel_wrapper, prolog (stage in), epilog (clean up), wrapper (run); "
              "submission or job_manager: start it anew"),
    JSON_TEXT(T, resource_id, 0, "Where"),
    JSON_NUMBER(T, duration_s, 0, 0, 0, JSON_MAY_BE_NULL,
                "How long it takes; null: not known"),
    JSON_NUMBER(T, bytes, 0, 0, 0, 0, "Bytes that it moves"),
    JSON_TEXTS(T, resource_ids, resource_id_count, 0, JSON_OPTIONAL,
               "All of them, of a job on several nodes; resource_id is the first"),
    {0},
};
#undef T
static const struct json_object step_json = {"MigrationStep", "A step of a move",
                                             sizeof(struct gridway_step), step_rows};

#define T struct gridway_drop
static const struct json_field drop_rows[] = {
    JSON_WORD(T, reason, gridway_drop_names, 0,
              "A filter of placements, or present, history, no_free_now, "
              "too_small, partition, time_limit (its rest takes longer), resource_limit, "
              "bytes_budget, rank_too_low, gain_too_small, not_tried"),
    JSON_INTEGER(T, resource_count, 0, JSON_EXACT, 0, 0, "Resources that it dropped"),
    {0},
};
#undef T
static const struct json_object drop_json = {"DroppedCandidates",
                                             "Candidates that one test dropped",
                                             sizeof(struct gridway_drop), drop_rows};

#define T struct gridway_verdict
static const struct json_field verdict_rows[] = {
    JSON_TEXT(T, job_id, 0, "The job"),
    JSON_CHOICE(T, action, gridway_action_names, 0, 0,
                "keep; migrate: to the target; requeue: it does not run any more and has "
                "nowhere to go; retry: the stage again; hold: until somebody resumes it; "
                "reschedule: no retry is left, to the target; restart_job_manager; "
                "cancelled"),
    JSON_CHOICE(T, reason, gridway_reason_names, 0, JSON_OPEN, "Why"),
    JSON_WORD(T, event, gridway_event_names, JSON_MAY_BE_NULL,
              "What counted: an event, or stage_failed; null: nothing happened"),
    JSON_BOOLEAN(T, forced, 0, 0, "It moves without a look at rank and gain"),
    JSON_TEXT(T, resource_id, JSON_MAY_BE_NULL, "The target; null: none"),
    JSON_TEXTS(T, resource_ids, resource_id_count, 0, JSON_OPTIONAL,
               "All of the target, of a job on several nodes; resource_id is the first"),
    JSON_NUMBER(T, start_s, 0, 0, 0, JSON_MAY_BE_NULL,
                "The target's slot is free, seconds from now; null: no target"),
    JSON_BOOLEAN(T, restart, 0, 0, "There it starts again from nothing"),
    JSON_BOOLEAN(T, outputs_lost, 0, 0, "Queued outputs cannot be fetched"),
    JSON_NUMBER(T, stay_s, 0, 0, 0, JSON_MAY_BE_NULL,
                "Time that its rest takes here; null: not known, or without end"),
    JSON_NUMBER(T, move_s, 0, 0, 0, JSON_MAY_BE_NULL,
                "Time at the target with the move, else at the candidate that came "
                "nearest; null: not known"),
    JSON_NUMBER(T, gain_s, 0, 0, 0, JSON_MAY_BE_NULL,
                "stay_s - move_s; null: one of them is"),
    JSON_NUMBER(T, move_bound_s, 0, 0, 0, JSON_MAY_BE_NULL,
                "No move of it ends before, whatever slots are free; null: not asked, or "
                "nowhere to go"),
    JSON_NUMBER(T, rank_present, 0, 0, 0, JSON_MAY_BE_NULL,
                "Rank of its resource; null: undefined"),
    JSON_NUMBER(T, rank_new, 0, 0, 0, JSON_MAY_BE_NULL,
                "Rank of the resource of move_s; null: there is none"),
    JSON_TEXT(T, candidate_resource_id, JSON_MAY_BE_NULL,
              "The resource of move_s and rank_new; null: there is none"),
    JSON_NUMBER(T, lost_ref_s, 0, 0, 0, JSON_MAY_BE_NULL,
                "Work that is done again there; null: not known"),
    JSON_NUMBER(T, bytes_moved, 0, 0, 0, 0, "Bytes that the move transfers"),
    JSON_NUMBER(T, exit_code, 0, 0, 0, JSON_OPTIONAL | JSON_WHOLE,
                "Of a wrapper that has ended"),
    JSON_CHOICE(T, contract, gridway_contract_names, 0, 0,
                "none; no_verdict: too few samples; kept; violated"),
    JSON_NUMBER(T, observed_per_s, 0, 0, 0, JSON_MAY_BE_NULL,
                "Growth of the metric; null: no verdict"),
    JSON_LIST(T, candidates, candidate_count, struct gridway_drop, &drop_json, 0, 0,
              "Resources that were looked at and not taken, by reason"),
    JSON_LIST(T, steps, step_count, struct gridway_step, &step_json, 0, 0,
              "What to do, in this order"),
    RUN_TIME_BASIS_ROWS(T),
    {0},
};
#undef T
static const struct json_object verdict_json = {
    "RunningJobVerdict", "What is to be done with a running job",
    sizeof(struct gridway_verdict), verdict_rows};

#define T struct gridway_objective
static const struct json_field objective_rows[] = {
    JSON_INTEGER(T, moved_count, 0, JSON_EXACT, 0, 0, "Running jobs with a target"),
    JSON_INTEGER(T, forced_count, 0, JSON_EXACT, 0, 0, "Of these, forced ones"),
    JSON_INTEGER(T, requeued_count, 0, JSON_EXACT, 0, 0, "Jobs that became pending"),
    JSON_INTEGER(T, left_out_count, 0, JSON_EXACT, 0, 0,
                 "Jobs that max_moves or max_bytes_moved left out"),
    JSON_NUMBER(T, gain_s, 0, 0, 0, 0, "Time saved by moves that are not forced"),
    JSON_NUMBER(T, gain_bound_s, 0, 0, 0, JSON_MAY_BE_NULL,
                "No such moves of these jobs save more; null: no bound"),
    JSON_NUMBER(T, bytes_moved, 0, 0, 0, 0, "Bytes that the moves transfer"),
    {0},
};
#undef T
static const struct json_object objective_json = {
    "RunningJobsObjective", "What the moves cost and save",
    sizeof(struct gridway_objective), objective_rows};

#define T struct running_jobs_answer
#define OUT_LIST(member, counter, at, ctype, table, text)            \
    {                                                                \
        .name = #member, .doc = text, .type = JSON_TYPE_LIST,        \
        .offset = JSON_AT(T, out.at, const ctype *),                 \
        .count_offset = JSON_AT(T, out.counter, size_t), .of = table \
    }
static const struct json_field answer_rows[] = {
    JSON_CHOICE(T, kind, running_kind, 0, 0, "running_jobs"),
    DECISION_ANSWER_ROWS(T, DECISION_BY("gridway")),
    OUT_LIST(jobs, job_count, jobs, struct gridway_verdict, &verdict_json,
             "What is to be done with each running job, in the order of the request"),
    OUT_LIST(placements, pending.placement_count, pending.placements, struct placement,
             &placement_json, "Where pending jobs start now"),
    OUT_LIST(unplaced, pending.unplaced_count, pending.unplaced,
             struct placement_unplaced, &placement_unplaced_json,
             "Pending jobs that go on waiting, and why"),
    {.name = "objective",
     .doc = "What the moves cost and save",
     .type = JSON_TYPE_OBJECT,
     .offset = JSON_AT(T, out.objective, struct gridway_objective),
     .of = &objective_json},
    {.name = "values",
     .doc = "With objective: what the placements are worth, in its order",
     .type = JSON_TYPE_LIST,
     .offset = JSON_AT(T, out.pending.objective.values, const struct placement_value *),
     .count_offset = JSON_AT(T, value_count, size_t),
     .of = &placement_value_json,
     .flags = JSON_OPTIONAL},
    {.name = "what_if",
     .doc = "With what_if: larger capacities that would help, best first",
     .type = JSON_TYPE_LIST,
     .offset = JSON_AT(T, out.pending.changes, const struct placement_change *),
     .count_offset = JSON_AT(T, out.pending.change_count, size_t),
     .of = &placement_change_json,
     .flags = JSON_OPTIONAL},
    {.name = "preemptions",
     .doc = "With preempt: what to stop for pending jobs that do not start now",
     .type = JSON_TYPE_LIST,
     .offset = JSON_AT(T, out.pending.preemptions, const struct placement_preemption *),
     .count_offset = JSON_AT(T, out.pending.preemption_count, size_t),
     .of = &placement_preemption_json,
     .flags = JSON_OPTIONAL},
    RUN_TIMES_ROW(T),
    DECISION_END_ROWS(T),
    {0},
};
#undef OUT_LIST
#undef T
const struct json_object running_jobs_answer_json = {
    "RunningJobsAnswer", "What is to be done with running and pending jobs",
    sizeof(struct running_jobs_answer), answer_rows};

/* ---- one request ---- */

static void check_algorithm(const char *name, struct error *err)
{
    const char *const known = "gridway";

    if (name && strcmp(name, "auto") != 0 && strcmp(name, known) != 0)
        decision_unknown_algorithm(name, &known, 1, err);
}

/* Pending jobs, then those that run. */
static const char *job_at(const void *context, size_t job, struct arena *a)
{
    const struct running_jobs_request *body = context;

    return job < body->pending_count
               ? arena_printf(a, "/pending/%zu", job)
               : arena_printf(a, "/jobs/%zu", job - body->pending_count);
}

/* Models tell the times of all jobs. A running job has the memory that it has: its first
 * attempt has been made. */
static enum error_code ask_models(struct request *rq,
                                  const struct running_jobs_request *body,
                                  const struct snapshot *s, const struct job **pending,
                                  const struct reschedule_job **running,
                                  struct run_times **times)
{
    size_t count = body->pending_count;
    struct job *list = NEW(rq->arena, struct job, count + body->job_count);
    struct reschedule_job *jobs = NEW(rq->arena, struct reschedule_job, body->job_count);
    const struct job *told;

    budget_step(&rq->finish, count + body->job_count);
    if (count)
        memcpy(list, body->pending, count * sizeof(*list));
    for (size_t i = 0; i < body->job_count; i++) {
        const struct job_model *m = body->jobs[i].job.model;

        list[count + i] = body->jobs[i].job;
        if (m && m->resources)
            invalid(rq->err, arena_printf(rq->arena, "/jobs/%zu/model/resources", i),
                    ITEM_NOT_ALLOWED, "a job that runs has its memory already");
    }
    TRY(run_times_resolve(rq, s,
                          &(struct run_time_jobs){.jobs = list,
                                                  .count = count + body->job_count,
                                                  .at = job_at,
                                                  .context = body},
                          &told, times));
    *pending = told;
    for (size_t i = 0; i < body->job_count; i++) {
        jobs[i] = body->jobs[i];
        jobs[i].job = told[count + i];
    }
    *running = jobs;
    return OK;
}

/* Where the times come from; of a running job that where it is. */
static void tell_times(struct request *rq, const struct running_jobs_request *body,
                       const struct snapshot *s, const struct run_times *times,
                       struct running_jobs_answer *answer)
{
    struct run_time_teller *teller = run_time_teller_create(rq, times, s, NULL, 0, false);
    struct gridway_verdict *rows;

    if (!teller)
        return;
    run_time_tell_plan(rq, teller, body->pending, body->pending_count,
                       &answer->out.pending);
    rows = NEW(rq->arena, struct gridway_verdict, answer->out.job_count);
    for (size_t i = 0; i < answer->out.job_count; i++) {
        const struct reschedule_job *j = &body->jobs[i];

        rows[i] = answer->out.jobs[i];
        budget_step(&rq->finish, j->resource_id_count + 1);
        run_time_tell(teller, body->pending_count + i,
                      j->resource_id ? &j->resource_id : j->resource_ids,
                      j->resource_id ? 1 : j->resource_id_count, &rows[i].run_time_basis,
                      &rows[i].run_time_index);
    }
    answer->out.jobs = rows;
    answer->run_times = run_time_list(teller, &answer->run_time_count);
}

enum error_code reschedule_running_jobs(struct request *rq, const void *in, void *out)
{
    const struct running_jobs_request *body = in;
    struct running_jobs_answer *answer = out;
    struct run_times *times;
    const struct job *pending;
    struct copies copies;
    const struct error_item *before;
    struct gridway_in round = {
        .round = {.world = &body->world,
                  .users = body->users,
                  .user_count = body->user_count,
                  .usage = body->usage,
                  .usage_count = body->usage_count,
                  .seed = body->decision.seed,
                  .budget = &rq->budget},
        .jobs = body->jobs,
        .job_count = body->job_count,
    };

    TRY(decision_begin(rq, &body->decision, &answer->decision));
    TRY(copies_check(rq, body->pending, body->pending_count, "/pending",
                     PLACEMENT_JOBS_MAX, sizeof(struct job)));
    check_algorithm(body->decision.algorithm, rq->err);
    TRY(decision_world_snapshot(rq, body->snapshot, body->snapshot_id, true,
                                &round.round.snapshot));
    TRY(ask_models(rq, body, round.round.snapshot, &pending, &round.jobs, &times));
    copies_make(rq, pending, body->pending_count, "/pending/", &copies);
    before = rq->err->last;
    round.round.jobs = copies.jobs;
    round.round.job_count = copies.count;
    if (migration_gridway(&round, body->decision.options, body->decision.option_count,
                          &answer->out, rq->arena, rq->err) != OK ||
        rq->err->code != OK)
        return copies_refused(&copies, before);
    answer->decision.warnings =
        copies_warnings(&copies, answer->out.warnings, answer->out.warning_count);
    answer->decision.warning_count = answer->out.warning_count;
    run_times_warn(rq, times, &answer->decision);
    copies_fold(&copies, round.round.snapshot, &answer->out.pending);
    tell_times(rq, body, round.round.snapshot, times, answer);
    if (body->world.objective)
        answer->value_count = answer->out.pending.objective.value_count;
    if (answer->out.check_failed)
        decision_check_failed(rq);
    decision_end(rq, "gridway", answer->out.status, &answer->decision);
    return OK;
}

/* checkpoint_world.c - tables and mistakes of what else a job says of its world, and in
 * which order it is decided. */
#include "handlers/checkpoint/checkpoint_decision.h"

#include "algorithms/checkpoint/alarms.h"
#include "algorithms/checkpoint/shared_io.h"
#include "models/base/pointer.h"

#include <stdio.h>
#include <string.h>

/* ---- the body ---- */

#define LONGEST CHECKPOINT_LONGEST_S

#define T       struct checkpoint_level
static const struct json_field level_rows[] = {
    JSON_NUMBER(T, level, 1, 1000, NAN, JSON_REQUIRED | JSON_WHOLE,
                "Its number, ascending: 1 is on the node itself"),
    JSON_NUMBER(T, checkpoint_overhead_s, 0, LONGEST, NAN, JSON_REQUIRED,
                "How long the job stands still for one of this level, which contains "
                "the lower ones; not less than theirs"),
    JSON_NUMBER(T, restart_s, 0, LONGEST, 0, 0, "Time to read it back; default 0"),
    JSON_NUMBER(T, survives_ratio, 0, 1, NAN, JSON_NULLABLE,
                "Share of the failures after which it can be read; not less than that of "
                "lower levels, and 1 for the last; left out of all: by the level of the "
                "stored failures of its resources, or where these are fewer than 20 of "
                "all"),
    {0},
};
#undef T
const struct json_object checkpoint_level_json = {
    "CheckpointLevel", "A level of checkpoints", sizeof(struct checkpoint_level),
    level_rows};

#define T struct checkpoint_predictor
static const struct json_field predictor_rows[] = {
    JSON_NUMBER(T, recall_ratio, 0, 1, NAN, JSON_REQUIRED,
                "Share of the failures that are foreseen"),
    JSON_NUMBER(T, precision_ratio, 0, 1, NAN, JSON_REQUIRED,
                "Share of the alarms that a failure follows"),
    JSON_NUMBER(T, lead_s, 0, LONGEST, NAN, JSON_REQUIRED,
                "From an alarm to the failure"),
    JSON_NUMBER(T, proactive_overhead_s, 0, LONGEST, NAN, JSON_NULLABLE,
                "Overhead of a checkpoint on an alarm; default: as any other"),
    {0},
};
#undef T
const struct json_object checkpoint_predictor_json = {
    "FailurePredictor", "What foresees failures", sizeof(struct checkpoint_predictor),
    predictor_rows};

#define T struct checkpoint_silent
static const struct json_field silent_rows[] = {
    JSON_NUMBER(T, mean_interval_s, CHECKPOINT_SHORTEST_S, LONGEST, NAN, JSON_REQUIRED,
                "Mean work between two of them"),
    JSON_NUMBER(T, verification_s, 0, LONGEST, 0, 0,
                "Time of a verification, which comes before each checkpoint and at the "
                "end; default 0"),
    {0},
};
#undef T
const struct json_object checkpoint_silent_json = {
    "SilentErrors", "Wrong results that only a verification finds",
    sizeof(struct checkpoint_silent), silent_rows};

#define T struct power
static const struct json_field power_rows[] = {
    JSON_NUMBER(T, static_w, 0, 1e15, 0, 0, "All the time; default 0"),
    JSON_NUMBER(T, compute_w, 0, 1e15, 0, 0, "Beside it while it works; default 0"),
    JSON_NUMBER(T, io_w, 0, 1e15, 0, 0,
                "Beside it while it writes or reads checkpoints; default 0"),
    {0},
};
#undef T
const struct json_object checkpoint_power_json = {"NodePower", "Power of a node, W",
                                                  sizeof(struct power), power_rows};

#define T struct checkpoint_shared_io
static const struct json_field shared_io_rows[] = {
    JSON_NUMBER(T, bandwidth_mbps, 0, 1e15, NAN, JSON_REQUIRED | JSON_ABOVE_MIN,
                "Of the file system, 1e6 bits a second: a job that gives "
                "checkpoint_bytes and no overhead writes them at it"),
    JSON_NUMBER(T, use_max_ratio, 0, 1, 0.9, JSON_ABOVE_MIN,
                "Share of the time in which checkpoints may be written; default 0.9"),
    {0},
};
#undef T
const struct json_object checkpoint_shared_io_json = {
    "SharedCheckpointIo", "A file system that jobs share",
    sizeof(struct checkpoint_shared_io), shared_io_rows};

/* ---- the answer ---- */

#define T struct checkpoint_pattern_level
static const struct json_field pattern_level_rows[] = {
    JSON_NUMBER(T, level, 0, 0, 0, JSON_WHOLE, "Its number in the request"),
    JSON_NUMBER(T, every, 0, 0, 0, JSON_WHOLE,
                "Written after so many segments, or a higher one"),
    JSON_NUMBER(T, interval_s, 0, 0, 0, 0, "Work in between"),
    {0},
};
#undef T
static const struct json_object pattern_level_json = {
    "CheckpointPatternLevel", "When a level is written",
    sizeof(struct checkpoint_pattern_level), pattern_level_rows};

#define T struct checkpoint_pattern
static const struct json_field pattern_rows[] = {
    JSON_LIST(T, levels, level_count, struct checkpoint_pattern_level,
              &pattern_level_json, 0, 0, "Levels that are used"),
    JSON_NUMBER(T, segment_s, 0, 0, 0, 0, "Work between two checkpoints of any level"),
    JSON_NUMBER(T, segment_count, 0, 0, 0, JSON_WHOLE, "Segments until it repeats"),
    JSON_NUMBER(T, overhead_ratio, 0, 0, 0, JSON_OPTIONAL,
                "Expected time over work, less 1; left out: it never ends"),
    JSON_NUMBER(T, first_order_ratio, 0, 0, 0, JSON_OPTIONAL,
                "The same by first order; left out: its intervals do not ascend"),
    JSON_NUMBERS(T, dropped_levels, dropped_count, 0, 0, JSON_WHOLE,
                 "Levels that are not worth their cost, or that nothing needs"),
    JSON_OBJECT(T, survival, const struct checkpoint_survival *,
                &checkpoint_survival_json, JSON_POINTER | JSON_OPTIONAL,
                "The stored failures that survives_ratio comes from; left out: the "
                "request says it"),
    {0},
};
#undef T
const struct json_object checkpoint_pattern_json = {
    "CheckpointPattern", "Segments of work with checkpoints of several levels",
    sizeof(struct checkpoint_pattern), pattern_rows};

#define T struct checkpoint_drawn
static const struct json_field drawn_rows[] = {
    JSON_NUMBER(T, ci95_s, 0, 0, 0, 0, "Half the width of the interval of 95 %"),
    JSON_NUMBER(T, checkpoint_count, 0, 0, 0, 0,
                "Checkpoints in the mean, on alarms and others"),
    JSON_INTEGER(T, trial_count, 0, JSON_EXACT, 0, 0, "Trials"),
    JSON_BOOLEAN(T, cut, 0, 0, "The time limit ended them"),
    {0},
};
#undef T
const struct json_object checkpoint_drawn_json = {
    "CheckpointDrawn", "Trials with drawn failures and alarms",
    sizeof(struct checkpoint_drawn), drawn_rows};

#define T struct checkpoint_parts
static const struct json_field parts_rows[] = {
    JSON_NUMBER(T, work_s, 0, 0, 0, 0, "Work, with what is lost and done again"),
    JSON_NUMBER(T, checkpoint_s, 0, 0, 0, 0, "Writing checkpoints"),
    JSON_NUMBER(T, recovery_s, 0, 0, 0, 0, "Reading them back"),
    JSON_NUMBER(T, waiting_s, 0, 0, 0, 0, "Waiting for a node after failures"),
    JSON_NUMBER(T, failure_count, 0, 0, 0, 0, "Failures, and interruptions"),
    {0},
};
#undef T
const struct json_object checkpoint_parts_json = {
    "CheckpointTimeParts", "Where expected time goes", sizeof(struct checkpoint_parts),
    parts_rows};

#define T struct checkpoint_point
static const struct json_field point_rows[] = {
    JSON_NUMBER(T, segment_count, 0, 0, 0, JSON_WHOLE,
                "Segments, one more than checkpoints"),
    JSON_NUMBER(T, expected_time_s, 0, 0, 0, 0, "Expected time from start to end"),
    JSON_NUMBER(T, energy_j, 0, 0, 0, JSON_OPTIONAL, "Expected energy; with power"),
    JSON_NUMBER(T, expected_cost, 0, 0, 0, JSON_OPTIONAL, "Cost; with price_per_s"),
    {0},
};
#undef T
const struct json_object checkpoint_point_json = {
    "CheckpointPlanPoint", "A plan on the frontier", sizeof(struct checkpoint_point),
    point_rows};

#define T struct checkpoint_offer
static const struct json_field offer_rows[] = {
    JSON_TEXT(T, resource_id, JSON_OPTIONAL,
              "Where; left out: as the job says, without a name"),
    JSON_NUMBER(T, expected_time_s, 0, 0, 0, 0, "Expected time from start to end"),
    JSON_NUMBER(T, expected_cost, 0, 0, 0, JSON_OPTIONAL, "Cost of all its nodes"),
    JSON_NUMBER(T, interval_s, 0, 0, 0, 0, "Work between checkpoints there"),
    {.name = "is_spot",
     .doc = "It may be taken back: with notice",
     .type = JSON_TYPE_BOOLEAN,
     .offset = JSON_AT(T, is_spot, bool)},
    {0},
};
#undef T
const struct json_object checkpoint_offer_json = {
    "CheckpointOffer", "What a job takes and costs there",
    sizeof(struct checkpoint_offer), offer_rows};

/* ---- mistakes ---- */

void checkpoint_check_levels(const struct checkpoint_level *levels, size_t count,
                             bool is_learnt, const char *pointer, struct error *err)
{
    for (size_t l = 0; l < count; l++) {
        const struct checkpoint_level *level = &levels[l];
        const struct checkpoint_level *below = l > 0 ? &levels[l - 1] : NULL;
        bool is_last = l + 1 == count;

        if (below && level->level <= below->level)
            invalid(err, pointer_in(pointer, l, "level").text, ITEM_OUT_OF_ORDER,
                    "not above the level before it");
        if (below && level->checkpoint_overhead_s < below->checkpoint_overhead_s)
            invalid(err, pointer_in(pointer, l, "checkpoint_overhead_s").text,
                    ITEM_OUT_OF_ORDER,
                    "less than that of the level before it, which it contains");
        if (isnan(level->survives_ratio) && !is_learnt)
            invalid(err, pointer_in(pointer, l, "survives_ratio").text, ITEM_REQUIRED,
                    "the member is missing: share of the failures after which "
                    "a checkpoint of this level can be read");
        else if (below && level->survives_ratio < below->survives_ratio)
            invalid(err, pointer_in(pointer, l, "survives_ratio").text, ITEM_OUT_OF_ORDER,
                    "less than that of the level before it");
        else if (is_last && level->survives_ratio < 1)
            invalid(err, pointer_in(pointer, l, "survives_ratio").text,
                    ITEM_OUT_OF_BOUNDS, "the last level must survive every failure: 1");
    }
}

static void check_levels(struct checkpoint_work *w, size_t i)
{
    const struct checkpoint_job_world *x = &w->body->jobs[i].world;
    bool is_learnt = x->level_count == 1 || checkpoint_learns_survival(&w->body->jobs[i]);

    if (x->level_count > 0)
        checkpoint_check_levels(x->levels, x->level_count, is_learnt,
                                pointer_in("/jobs", i, "levels").text, w->rq->err);
}

static void check_predictor(struct checkpoint_work *w, size_t i)
{
    const struct checkpoint_job *job = &w->body->jobs[i];
    const struct checkpoint_predictor *x = job->world.predictor;

    if (x && x->recall_ratio > 0 && !(x->precision_ratio > 0))
        checkpoint_job_mistake(w, i, "predictor/precision_ratio", ITEM_OUT_OF_BOUNDS,
                               "0 with a recall above 0: no alarm is followed by a "
                               "failure that was foreseen");
    if (x && job->world.notice)
        checkpoint_job_mistake(w, i, "notice", ITEM_CONFLICT, "not beside predictor");
    if (job->event != EVENT_ALARM)
        return;
    if (!x)
        checkpoint_job_mistake(w, i, "predictor", ITEM_REQUIRED,
                               "the member is missing: an alarm needs it");
    if (isnan(job->in.work_since_checkpoint_s))
        checkpoint_job_mistake(w, i, "work_since_checkpoint_s", ITEM_REQUIRED,
                               "the member is missing: an alarm needs it");
}

/* Members that the laws of nodes know nothing of. */
static void check_weibull(struct checkpoint_work *w, size_t i)
{
    const struct checkpoint_job_world *x = &w->body->jobs[i].world;
    const struct {
        const char *member;
        bool is_given;
    } members[] = {{"levels", x->level_count > 0},
                   {"silent", x->silent},
                   {"notice", x->notice},
                   {"power", x->power},
                   {"predictor", x->predictor}};

    if (!(w->policy->flags & CHECKPOINT_NEEDS_WEIBULL))
        return;
    for (size_t m = 0; m < sizeof(members) / sizeof(members[0]); m++)
        if (members[m].is_given)
            checkpoint_job_mistake(w, i, members[m].member, ITEM_INVALID_COMBINATION,
                                   "not with algorithm weibull");
}

/* Members that make no model together. */
static void check_combinations(struct checkpoint_work *w, size_t i)
{
    const struct checkpoint_job_world *x = &w->body->jobs[i].world;
    bool is_foretold = x->predictor || x->notice, has_levels = x->level_count > 0;
    const struct checkpoint_request_world *all = &w->body->world;

    if (x->silent && (has_levels || is_foretold))
        checkpoint_job_mistake(w, i, "silent", ITEM_INVALID_COMBINATION,
                               "not together with levels, predictor or notice");
    if (has_levels && is_foretold)
        checkpoint_job_mistake(w, i, "levels", ITEM_INVALID_COMBINATION,
                               "not together with predictor or notice");
    if (x->power && (has_levels || x->silent || x->predictor))
        checkpoint_job_mistake(w, i, "power", ITEM_INVALID_COMBINATION,
                               "not together with levels, silent or predictor");
    if (all->shared_io && (has_levels || x->silent))
        checkpoint_job_mistake(w, i, has_levels ? "levels" : "silent",
                               ITEM_INVALID_COMBINATION, "not together with shared_io");
}

/* A checkpoint of a job that has the file system to itself; NAN: its size is not known.
 */
static double alone_s(const struct checkpoint_job *job,
                      const struct checkpoint_shared_io *io)
{
    return 8 * job->checkpoint_bytes / (io->bandwidth_mbps * 1e6);
}

void checkpoint_world_check(struct checkpoint_work *w, size_t i)
{
    const struct checkpoint_job_world *x = &w->body->jobs[i].world;
    const struct checkpoint_request_world *all = &w->body->world;
    const char *first = all->objective_count > 0 ? all->objective[0] : "";

    if (all->shared_io && alone_s(&w->body->jobs[i], all->shared_io) > LONGEST)
        checkpoint_job_mistake(w, i, "checkpoint_bytes", ITEM_OUT_OF_BOUNDS,
                               "takes longer than 1e15 s to write");
    check_levels(w, i);
    check_predictor(w, i);
    check_weibull(w, i);
    check_combinations(w, i);
    if (strcmp(first, "energy_j") == 0 && !x->power)
        checkpoint_job_mistake(w, i, "power", ITEM_REQUIRED,
                               "the member is missing: the objective energy_j needs it");
    if (strcmp(first, "cost") == 0 && isnan(x->price_per_s))
        checkpoint_job_mistake(w, i, "price_per_s", ITEM_REQUIRED,
                               "the member is missing: the objective cost needs it");
}

void checkpoint_world_check_request(struct checkpoint_work *w)
{
    static const char *const known[] = {"cost", "energy_j", "expected_time_s"};
    enum { KNOWN = sizeof(known) / sizeof(known[0]) };
    const struct checkpoint_request_world *x = &w->body->world;

    for (size_t i = 0; i < x->objective_count; i++) {
        bool is_known = false;

        for (size_t k = 0; k < KNOWN; k++)
            is_known = is_known || strcmp(x->objective[i], known[k]) == 0;
        if (is_known)
            continue;
        invalid(w->rq->err, pointer_in("/objective", i, NULL).text, ITEM_NOT_A_CHOICE,
                "one of expected_time_s, cost and energy_j");
        error_allow(w->rq->err, x->objective[i], known, KNOWN);
    }
    if (x->frontier && w->policy->flags & CHECKPOINT_NEEDS_WEIBULL)
        invalid(w->rq->err, "/frontier", ITEM_INVALID_COMBINATION,
                "not with algorithm weibull: its plans depend on the age of the nodes");
    if (x->shared_io && w->body->job_count > SHARED_IO_JOBS_MAX)
        invalid(w->rq->err, "/jobs", ITEM_TOO_LONG, "at most %d jobs with shared_io",
                SHARED_IO_JOBS_MAX);
}

bool checkpoint_world_has_costs(const struct checkpoint_work *w,
                                const struct checkpoint_job *job)
{
    return job->world.level_count > 0 ||
           (w->body->world.shared_io && !isnan(job->checkpoint_bytes));
}

bool checkpoint_world_is_exponential(const struct checkpoint_work *w)
{
    for (size_t i = 0; i < w->body->job_count; i++) {
        const struct checkpoint_job_world *x = &w->body->jobs[i].world;

        if (x->level_count > 0 || x->predictor || x->notice || x->silent || x->power)
            return true;
    }
    return w->body->world.frontier || w->body->world.shared_io;
}

bool checkpoint_world_takes_long(const struct checkpoint_work *w)
{
    enum { FEW_ON_FILE_SYSTEM = 200 };

    if (w->body->world.shared_io && w->body->job_count > FEW_ON_FILE_SYSTEM)
        return true;
    for (size_t i = 0; i < w->body->job_count; i++) {
        const struct checkpoint_job *job = &w->body->jobs[i];

        if (job->world.level_count > 2 ||
            (job->world.predictor &&
             !(isnan(job->in.execution_time_s) && isnan(job->length_mi))))
            return true;
    }
    return false;
}

/* ---- in order ---- */

void checkpoint_world_use_costs(const struct checkpoint_work *w,
                                const struct checkpoint_job *job,
                                struct checkpoint_in *in)
{
    const struct checkpoint_job_world *x = &job->world;
    const struct checkpoint_shared_io *io = w->body->world.shared_io;

    if (x->level_count > 0) {
        in->checkpoint_overhead_s = x->levels[x->level_count - 1].checkpoint_overhead_s;
        in->restart_s = x->levels[x->level_count - 1].restart_s;
    } else if (io && isnan(in->checkpoint_overhead_s) && !isnan(job->checkpoint_bytes)) {
        in->checkpoint_overhead_s = alone_s(job, io);
    }
}

void checkpoint_world_begin(struct checkpoint_work *w, const struct checkpoint_job *job,
                            struct checkpoint_in *in, struct checkpoint_interval *out)
{
    struct checkpoint_interval_world *x = &out->world;

    *x = (struct checkpoint_interval_world){
        .planned_mean_interval_s = NAN,
        .alarm_threshold_s = NAN,
        .energy_j = NAN,
        .expected_cost = NAN,
        .period_s = NAN,
        .offset_s = NAN,
        .overlap_s = NAN,
        .busy_s = NAN,
        .failure_mean_s = in->mean_failure_interval_s,
        .nodes = job->resource_count ? (double)job->resource_count : fmax(1, job->nodes)};
    if (job->world.level_count > 0 || job->world.silent || w->body->world.shared_io ||
        job->world.power || job->world.price_per_s > 0 ||
        checkpoint_has_interruptions(job))
        if (isnan(in->mean_failure_interval_s))
            checkpoint_affect(w, CHECKPOINT_WARNS_NO_MEAN, job);
    if (job->world.has_unused_notice)
        checkpoint_affect(w, CHECKPOINT_WARNS_NOTICE_UNUSED, job);
    checkpoint_foresee(w, job, in, out);
}

void checkpoint_world_end(struct checkpoint_work *w, const struct checkpoint_job *job,
                          const struct checkpoint_in *in, struct checkpoint_interval *out)
{
    out->mean_failure_interval_s = out->world.failure_mean_s;
    checkpoint_use_objective(w, job, in, out);
    if (job->world.level_count > 0)
        checkpoint_add_pattern(w, job, in, out);
    if (job->world.silent)
        checkpoint_add_silent(w, job, in, out);
    checkpoint_add_foresight(w, job, in, out);
    checkpoint_add_power(w, job, in, out);
    if (w->body->world.shared_io) {
        struct checkpoint_in *kept = NEW(w->rq->arena, struct checkpoint_in, 1);

        *kept = *in;
        out->world.in = kept;
    }
}

void checkpoint_put_interval(const struct checkpoint_in *in, double interval_s,
                             double expected_s, struct checkpoint_interval *out)
{
    struct checkpoint_out *x = &out->out;
    bool is_due = x->action != CHECKPOINT_NONE ||
                  x->reason == CHECKPOINT_REASON_STARTED ||
                  x->reason == CHECKPOINT_REASON_TOO_SHORT;

    x->interval_s = interval_s;
    x->at_minimum = x->at_floor = false;
    x->plan.count = 0;
    out->gap_basis = out->bound_basis = NULL;
    out->segments = NULL;
    x->bound = CHECKPOINT_BOUND_NONE;
    x->lower_bound_s = NAN;
    x->gap_ratio = x->best_completion_s = x->best_checkpoint_count = NAN;
    x->expected_completion_s = expected_s;
    x->checkpoint_count =
        isnan(in->execution_time_s)
            ? (double)NAN
            : finite_checkpoints_of_interval(in->execution_time_s, interval_s);
    if (!isnan(expected_s))
        x->waste_ratio = isinf(expected_s) ? 1 : 1 - in->execution_time_s / expected_s;
    if (!is_due || x->reason == CHECKPOINT_REASON_CHEAPER_TO_REDO)
        return;
    x->next_request_in_s = interval_s;
    if (in->start) {
        bool is_short = in->execution_time_s <= interval_s;

        x->action = CHECKPOINT_NONE;
        x->reason = is_short ? CHECKPOINT_REASON_TOO_SHORT : CHECKPOINT_REASON_STARTED;
        x->next_request_in_s = is_short ? HUGE_VAL : interval_s;
    } else {
        x->action = CHECKPOINT_TAKE;
        x->reason = CHECKPOINT_REASON_BEST_INTERVAL;
        x->consecutive_omissions = 0;
    }
}

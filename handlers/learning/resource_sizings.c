/* resource_sizings.c - POST /v1/resource-sizings: how much memory, disk or cpu to ask
 * for.
 *
 * A model of kind auto says what the peak of a task may be, algorithms/sizing which
 * requests waste least. Tasks of one application share its models. Disk is as memory; a
 * task with fewer cpus than it can use does not fail, so there it is a quantile.
 *
 * Source: learning.md 7.1, 16.2.
 */
#include "algorithms/sizing/sizing.h"
#include "handlers/common/decision.h"
#include "handlers/learning/first_requests.h"
#include "handlers/learning/routes.h"
#include "handlers/learning/sizing_models.h"
#include "handlers/prediction/prediction_models.h"
#include "models/base/names.h"
#include "models/base/pointer.h"
#include "models/fitted/core.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TASKS_MAX = 10000, RUNS_LEAST = 2, ATTEMPTS = 4, BYTES_LEAST = 4194304 };
#define FAILURE_SHARE 0.5
#define LEVEL         0.9
#define CAP_RATIO     1.5 /* of the largest peak that was seen */
#define RETRY_RATIO   2.0 /* of a request that failed */
#define BYTES_MAX     1e18
#define CPUS_MAX      2147483647.0
#define RUN_TIME_MAX  1e9          /* s, as of executions: 31 years */
#define CPUS_QUANTILE 0.9          /* of the use, is asked for */
#define CPUS_STEP     0.25         /* requests of cpus are multiples */
#define PENALTY_BYTES 1073741824.0 /* 1 GiB for a whole run */

/* ---- what a caller sends ---- */

struct sizing_task {
    const char *id, *application_id, *model_id, *resource_class;
    double problem_size, run_time_s;
    double memory_requested_bytes, disk_requested_bytes,
        cpus_requested; /* NAN: not said */
    double processors;  /* NAN: not said; below 0: so many, unless all runs had one */
    uint64_t attempt;
    const struct named_value *parameters;
    size_t parameter_count;
};

#define T struct sizing_task
static const struct json_field task_rows[] = {
    JSON_ID(T, id, JSON_REQUIRED, "The task; each once"),
    JSON_ID(T, application_id, JSON_NULLABLE | JSON_OPTIONAL,
            "What it runs: its model of the target is asked"),
    JSON_ID(T, model_id, JSON_NULLABLE | JSON_OPTIONAL, "Instead: a model of the target"),
    JSON_NUMBER(T, problem_size, 0, JSON_LARGEST, NAN,
                JSON_NULLABLE | JSON_OPTIONAL | JSON_ABOVE_MIN, "Size of its problem"),
    JSON_NUMBER(T, processors, 1, 2147483647, NAN,
                JSON_NULLABLE | JSON_OPTIONAL | JSON_WHOLE,
                "Processors that it runs on; default 1"),
    JSON_VALUES(T, parameters, parameter_count, 0,
                "Its parameters, as its executions have them"),
    JSON_ID(T, resource_class, JSON_NULLABLE | JSON_OPTIONAL, "Type of its machine"),
    JSON_NUMBER(T, memory_requested_bytes, 0, BYTES_MAX, NAN,
                JSON_NULLABLE | JSON_OPTIONAL | JSON_ABOVE_MIN,
                "What its user asks for; with attempt above 1: what the attempt before "
                "had, and was too little",
                JSON_WAS({"memory_bytes", 0})),
    JSON_NUMBER(T, disk_requested_bytes, 0, BYTES_MAX, NAN,
                JSON_NULLABLE | JSON_OPTIONAL | JSON_ABOVE_MIN,
                "Likewise with the target disk_peak_bytes"),
    JSON_NUMBER(T, cpus_requested, 0, CPUS_MAX, NAN,
                JSON_NULLABLE | JSON_OPTIONAL | JSON_ABOVE_MIN,
                "What its user asks for with the target cpus_used"),
    JSON_INTEGER(T, attempt, 1, 1000, 1, 0,
                 "Which attempt is to be sized; default 1. Not used with the target "
                 "cpus_used: too few cpus fail nothing"),
    JSON_NUMBER(T, run_time_s, 0, RUN_TIME_MAX, NAN,
                JSON_NULLABLE | JSON_OPTIONAL | JSON_ABOVE_MIN,
                "How long it runs; default: predicted, if that is at most 1e9"),
    {0},
};
#undef T
static const struct json_object task_json = {"SizingTask", "A task to be sized",
                                             sizeof(struct sizing_task), task_rows};

/* enum model_target without the run time. */
#define TARGET_AT(i) ((i) + TARGET_MEMORY_PEAK)
static const char *const targets[] = {
    "memory_peak_bytes",
    [TARGET_DISK_PEAK - TARGET_MEMORY_PEAK] = "disk_peak_bytes",
    [TARGET_CPUS_USED - TARGET_MEMORY_PEAK] = "cpus_used",
    NULL,
};

struct sizing_request {
    struct decision_request decision;
    const struct sizing_task *tasks;
    size_t task_count;
    int target; /* index of targets */
    uint64_t max_attempts;
    double failure_share_ratio, retry_penalty_bytes, first_failure_ratio_max;
    bool learn_failure_share;
    double step_bytes, min_bytes, capacity_bytes;
};

#define T struct sizing_request
static const struct json_field request_rows[] = {
    JSON_LIST(T, tasks, task_count, struct sizing_task, &task_json, TASKS_MAX,
              JSON_REQUIRED, "The tasks", JSON_LEAST(1)),
    JSON_CHOICE(T, target, targets, 0, 0,
                "What is asked for: memory_peak_bytes and disk_peak_bytes give the "
                "requests of all attempts; cpus_used gives cpus, and uses nothing of "
                "what follows; default memory_peak_bytes"),
    JSON_INTEGER(T, max_attempts, 1, SIZING_ATTEMPTS_MAX, ATTEMPTS, 0,
                 "Attempts of a task at most; default 4"),
    JSON_NUMBER(
        T, failure_share_ratio, 0, 1, FAILURE_SHARE, JSON_ABOVE_MIN,
        "Share of the run that passes before it fails for what it lacks; default 0.5, "
        "which gives way to what was learnt: see learn_failure_share"),
    JSON_BOOLEAN(
        T, learn_failure_share, true, 0,
        "Where failure_share_ratio is 0.5, what failed runs of the application and the "
        "attempts after them say takes its place, once 10 are known; default true"),
    JSON_NUMBER(T, retry_penalty_bytes, 0, BYTES_MAX, PENALTY_BYTES, 0,
                "What a failed attempt costs besides, as bytes held for a whole run; "
                "default 1 GiB"),
    JSON_NUMBER(T, first_failure_ratio_max, 0, 1, 1, JSON_ABOVE_MIN,
                "Greatest chance that the next attempt fails; default 1"),
    JSON_NUMBER(T, step_bytes, 1, BYTES_MAX, 1, 0,
                "Requests are multiples of it; default 1"),
    JSON_NUMBER(T, min_bytes, 1, BYTES_MAX, BYTES_LEAST, 0,
                "Least request; default 4 MiB"),
    JSON_NUMBER(T, capacity_bytes, 1, BYTES_MAX, NAN, JSON_NULLABLE | JSON_OPTIONAL,
                "Greatest request that any machine can fulfil; default: none, which is "
                "1e18"),
    DECISION_REQUEST_ROWS(T),
    {0},
};
#undef T
const struct json_object sizing_request_json = {
    "ResourceSizingsRequest", "Tasks, and what failed attempts cost",
    sizeof(struct sizing_request), request_rows};

/* ---- what a caller gets ---- */

struct sizing_attempt {
    uint64_t attempt;
    double bytes, failure_ratio;
};

#define T struct sizing_attempt
static const struct json_field attempt_rows[] = {
    JSON_INTEGER(T, attempt, 0, JSON_EXACT, 0, 0, "Which attempt"),
    {.name = "memory_bytes",
     .doc = "What it is to ask for",
     .type = JSON_TYPE_NUMBER,
     .offset = JSON_AT(T, bytes, double)},
    JSON_NUMBER(T, failure_ratio, 0, 0, 0, 0,
                "Chance that the peak is above, as seen before the first of these"),
    {0},
};
#undef T
static const struct json_object attempt_json = {
    "SizingAttempt", "The request of one attempt", sizeof(struct sizing_attempt),
    attempt_rows};

#define T struct sizing_attempt
static const struct json_field disk_attempt_rows[] = {
    JSON_INTEGER(T, attempt, 0, JSON_EXACT, 0, 0, "Which attempt"),
    {.name = "disk_bytes",
     .doc = "What it is to ask for",
     .type = JSON_TYPE_NUMBER,
     .offset = JSON_AT(T, bytes, double)},
    JSON_NUMBER(T, failure_ratio, 0, 0, 0, 0,
                "Chance that the peak is above, as seen before the first of these"),
    {0},
};
#undef T
static const struct json_object disk_attempt_json = {
    "SizingDiskAttempt", "The request of disk space of one attempt",
    sizeof(struct sizing_attempt), disk_attempt_rows};

struct sizing_row {
    const char *id, *method, *reason, *interval_basis, *model_id;
    const struct sizing_attempt *attempts, *disk_attempts;
    size_t attempt_count, disk_attempt_count;
    double cpus, cpus_used, cpus_used_low, cpus_used_high;
    double model_version, peak_bytes, peak_low_bytes, peak_high_bytes, run_time_s;
    double expected_waste_byte_s, requested_waste_byte_s;
    double failure_share_ratio, failure_share_run_count;
    const char *const *warnings;
    size_t warning_count;
};

#define LADDER             "ladder"
#define QUANTILE           "quantile"
#define REQUEST            "request"
#define NO_DATA            "no_data"
#define CAPACITY_TOO_SMALL "capacity_too_small"

#define T                  struct sizing_row
static const struct json_field row_rows[] = {
    JSON_TEXT(T, id, 0, "The task"),
    JSON_LIST(T, attempts, attempt_count, struct sizing_attempt, &attempt_json, 0, 0,
              "What memory to ask for, attempt by attempt; empty: see reason, or it is "
              "another target"),
    JSON_LIST(T, disk_attempts, disk_attempt_count, struct sizing_attempt,
              &disk_attempt_json, 0, JSON_OPTIONAL,
              "Target disk_peak_bytes: what disk space to ask for, attempt by attempt; "
              "left out: see reason"),
    JSON_NUMBER(T, cpus, 0, 0, 0, JSON_OPTIONAL,
                "Target cpus_used: what to ask for, a multiple of 0.25; left out: see "
                "reason"),
    JSON_WORD(T, method, JSON_NAMES(LADDER, QUANTILE, REQUEST), JSON_OPTIONAL,
              "ladder: the requests of least waste; quantile: the cpus that nine runs of "
              "ten do not use up, rounded up; request: too few runs are known, the "
              "request itself and then half as much again as the largest peak"),
    JSON_WORD(T, reason, JSON_NAMES(NO_DATA, CAPACITY_TOO_SMALL), JSON_OPTIONAL,
              "Why there are no attempts: no_data (no runs, and no request), "
              "capacity_too_small (the attempt before had all that there is)"),
    JSON_NUMBER(T, peak_bytes, 0, 0, 0, JSON_OPTIONAL, "The peak to be expected"),
    JSON_NUMBER(T, peak_low_bytes, 0, 0, 0, JSON_OPTIONAL,
                "With peak_high_bytes the interval of level 0.9"),
    JSON_NUMBER(T, peak_high_bytes, 0, 0, 0, JSON_OPTIONAL, "See peak_low_bytes"),
    JSON_NUMBER(T, cpus_used, 0, 0, 0, JSON_OPTIONAL,
                "The mean number of cpus in use to be expected"),
    JSON_NUMBER(T, cpus_used_low, 0, 0, 0, JSON_OPTIONAL,
                "With cpus_used_high the interval of level 0.9"),
    JSON_NUMBER(T, cpus_used_high, 0, 0, 0, JSON_OPTIONAL, "See cpus_used_low"),
    JSON_NUMBER(T, failure_share_ratio, 0, 0, 0, JSON_OPTIONAL,
                "With the method ladder: share of the run that passes before it fails"),
    JSON_NUMBER(T, failure_share_run_count, 0, 0, 0, JSON_OPTIONAL | JSON_WHOLE,
                "Failed runs of the application that say so; left out: none, it was "
                "given or is 0.5"),
    JSON_NUMBER(T, run_time_s, 0, 0, 0, JSON_OPTIONAL,
                "How long it runs, as given or predicted"),
    JSON_NUMBER(T, expected_waste_byte_s, 0, 0, 0, JSON_OPTIONAL,
                "Byte seconds held and not used, and the price of failed attempts; left "
                "out without a run time"),
    JSON_NUMBER(T, requested_waste_byte_s, 0, 0, 0, JSON_OPTIONAL,
                "The same with what its user asks for as the first attempt's request"),
    JSON_WORD(T, interval_basis, log_group_names, JSON_OPTIONAL,
              "What the interval rests on: same_configuration, inside, extrapolation"),
    JSON_TEXT(T, model_id, JSON_OPTIONAL, "The model of the target"),
    JSON_NUMBER(T, model_version, 0, 0, 0, JSON_OPTIONAL | JSON_WHOLE, "Its version"),
    JSON_TEXTS(T, warnings, warning_count, 0, JSON_OPTIONAL,
               "capacity_too_small: peaks above capacity_bytes were seen; few_runs; "
               "far_extrapolation"),
    {0},
};
#undef T
static const struct json_object row_json = {"Sizing", "What a task is to ask for",
                                            sizeof(struct sizing_row), row_rows};

struct sizing_answer {
    struct decision_answer decision;
    const struct sizing_row *tasks;
    size_t task_count;
    double expected_waste_byte_s, requested_waste_byte_s;
};

#define T struct sizing_answer
static const struct json_field answer_rows[] = {
    DECISION_ANSWER_ROWS(T, DECISION_BY(LADDER, QUANTILE)),
    JSON_LIST(T, tasks, task_count, struct sizing_row, &row_json, 0, 0,
              "The tasks in their order"),
    JSON_NUMBER(T, expected_waste_byte_s, 0, 0, 0, 0,
                "Sum over the tasks that have both wastes"),
    JSON_NUMBER(T, requested_waste_byte_s, 0, 0, 0, 0, "Likewise, as they were asked"),
    DECISION_END_ROWS(T),
    {0},
};
#undef T
const struct json_object sizing_answer_json = {"ResourceSizings",
                                               "What tasks are to ask for",
                                               sizeof(struct sizing_answer), answer_rows};

/* ---- checks ---- */

static void mistake(struct error *err, size_t task, const char *member,
                    enum item_code code, const char *text)
{
    invalid(err, pointer_in("/tasks", task, member).text, code, "%s", text);
}

/* What the user of a task asks for of the target; NAN: nothing. */
static double requested_of(const struct sizing_request *in, const struct sizing_task *t)
{
    switch (TARGET_AT(in->target)) {
    case TARGET_DISK_PEAK:
        return t->disk_requested_bytes;
    case TARGET_CPUS_USED:
        return t->cpus_requested;
    default:
        return t->memory_requested_bytes;
    }
}

static const char *method_of(const struct sizing_request *in)
{
    return TARGET_AT(in->target) == TARGET_CPUS_USED ? QUANTILE : LADDER;
}

static enum error_code check(const struct sizing_request *in, struct arena *a,
                             struct error *err)
{
    const char *method = method_of(in);
    struct name_index ids;

    if (in->decision.algorithm && strcmp(in->decision.algorithm, "auto") != 0 &&
        strcmp(in->decision.algorithm, method) != 0)
        decision_unknown_algorithm(in->decision.algorithm,
                                   (const char *const[]){"auto", method}, 2, err);
    if (in->decision.option_count)
        invalid(err, "/options", ITEM_UNKNOWN_MEMBER, "sizings have no options");
    if (in->capacity_bytes < in->min_bytes)
        invalid(err, "/capacity_bytes", ITEM_CONFLICT, "is below min_bytes");
    name_index_create(&ids, in->task_count, a);
    for (size_t i = 0; i < in->task_count; i++) {
        const struct sizing_task *t = &in->tasks[i];
        bool retries = t->attempt > 1 && TARGET_AT(in->target) != TARGET_CPUS_USED;

        if (name_index_add(&ids, t->id, i) != NAME_NOT_FOUND)
            mistake(err, i, "id", ITEM_DUPLICATE, "is there twice");
        if (t->application_id && t->model_id)
            mistake(err, i, "model_id", ITEM_CONFLICT,
                    "give either application_id or model_id");
        if (!t->application_id && !t->model_id)
            mistake(err, i, "application_id", ITEM_REQUIRED,
                    "give application_id or model_id");
        if (retries && isnan(requested_of(in, t)))
            mistake(err, i,
                    TARGET_AT(in->target) == TARGET_DISK_PEAK ? "disk_requested_bytes"
                                                              : "memory_requested_bytes",
                    ITEM_REQUIRED, "what did the attempt before have?");
        prediction_parameters_check(t->parameters, t->parameter_count,
                                    pointer_in("/tasks", i, "parameters").text, err);
    }
    return err->code;
}

/* ---- the models ---- */

/* Does the caller leave it to the history how long a run lasts that fails? */
static bool wants_share(const struct sizing_request *in)
{
    return in->learn_failure_share &&
           fabs(in->failure_share_ratio - FAILURE_SHARE) <= 0 &&
           TARGET_AT(in->target) != TARGET_CPUS_USED;
}

/* Which subject each task has; *subjects: each once. */
static size_t find_subjects(const struct sizing_request *in,
                            struct sizing_subject *subjects, const char **pointers,
                            size_t *subject_of, bool any_target, struct arena *a)
{
    struct name_index known;
    size_t count = 0;

    name_index_create(&known, in->task_count, a);
    for (size_t i = 0; i < in->task_count; i++) {
        const struct sizing_task *t = &in->tasks[i];
        const char *key = arena_printf(a, "%c%s", t->model_id ? 'm' : 'a',
                                       t->model_id ? t->model_id : t->application_id);
        size_t at = name_index_add(&known, key, count);

        subject_of[i] = at == NAME_NOT_FOUND ? count : at;
        if (at != NAME_NOT_FOUND)
            continue;
        pointers[count] = pointer_keep("/tasks", i, "model_id", a);
        subjects[count++] =
            (struct sizing_subject){t->application_id, t->model_id, TARGET_AT(in->target),
                                    wants_share(in), any_target};
    }
    return count;
}

/* What is worked out once for all tasks of a model. */
struct subject {
    struct sizing_models models;
    struct fitted_interval interval;
    struct fitted_interval quantile; /* of cpus: its upper end is what is asked for */
    double *errors[LOG_GROUP_COUNT]; /* over their scales, signed */
    size_t error_count[LOG_GROUP_COUNT];
};

static void prepare(struct subject *s, struct arena *a)
{
    const struct fitted_core *core;

    if (!s->models.peak)
        return;
    core = s->models.peak->core;
    core_interval(core, LEVEL, &s->interval, a);
    core_interval(core, 2 * CPUS_QUANTILE - 1, &s->quantile, a);
    for (size_t g = 0; g < LOG_GROUP_COUNT; g++) {
        s->errors[g] = NEW(a, double, SIZING_ERRORS_MAX);
        s->error_count[g] =
            log_set_errors(core->errors, (enum log_group)g, s->interval.scale[g],
                           SIZING_ERRORS_MAX, s->errors[g], a);
    }
}

static void ask(const struct fitted_model *m, const struct sizing_task *t,
                struct ensemble_answer *out)
{
    bool unless_one = t->processors < 0 && m->seen.processors.high <= 1;
    double processors = isnan(t->processors) || unless_one ? 1 : fabs(t->processors);
    struct perf_query query = {t->problem_size, processors, (double)NAN, (double)NAN};
    double inputs[ENSEMBLE_INPUTS_MAX];

    fitted_auto_inputs(m->names, &query, t->parameters, t->parameter_count,
                       t->resource_class, NULL, inputs, NULL);
    ensemble_predict(m->ensemble, inputs, out);
    out->y += fitted_effect_of(m, inputs);
}

/* ---- one task ---- */

enum { WARNINGS_MAX = 5 }; /* one of each place that warns */

struct sizing {
    struct request *rq;
    const struct sizing_request *in;
    const struct sizing_task *task;
    const struct subject *subject;
    struct sizing_row *row;
    struct sizing_rules rules;
    double requested; /* of the target; NAN: nothing */
    double cap;
    const char *warnings[WARNINGS_MAX];
};

static void warn(struct sizing *s, const char *text)
{
    s->warnings[s->row->warning_count++] = text;
}

static bool is_retry(const struct sizing_task *t)
{
    return t->attempt > 1;
}

/* How long a run lasts that fails: as was learnt, else as the caller says. */
static double failure_share(const struct sizing *s)
{
    const struct sizing_models *models = &s->subject->models;

    if (!wants_share(s->in) || isnan(models->failure_share))
        return s->in->failure_share_ratio;
    s->row->failure_share_run_count = models->failure_share_runs;
    return models->failure_share;
}

static void find_rules(struct sizing *s)
{
    const struct sizing_request *in = s->in;
    const struct sizing_task *t = s->task;
    double largest = s->subject->models.largest;

    s->rules = (struct sizing_rules){
        .attempts = in->max_attempts > t->attempt - 1
                        ? (size_t)(in->max_attempts - t->attempt + 1)
                        : 1,
        .failure_share = failure_share(s),
        .retry_penalty = in->retry_penalty_bytes,
        .first_failure_max = in->first_failure_ratio_max,
        .step = in->step_bytes,
        .least = in->min_bytes,
        .capacity = isnan(in->capacity_bytes) ? BYTES_MAX : in->capacity_bytes,
    };
    s->cap = fmax(s->requested, CAP_RATIO * largest);
    if (is_retry(t))
        s->cap = fmax(s->cap, RETRY_RATIO * s->requested);
    s->cap = fmin(s->cap, s->rules.capacity);
    if (largest > s->rules.capacity)
        warn(s,
             arena_printf(s->rq->arena,
                          "capacity_too_small: a peak of %.15g bytes was seen, which no "
                          "machine has",
                          largest));
}

static void put_attempts(struct sizing *s, const struct sizing_ladder *ladder)
{
    struct sizing_attempt *list = NEW(s->rq->arena, struct sizing_attempt, ladder->count);

    for (size_t i = 0; i < ladder->count; i++)
        list[i] = (struct sizing_attempt){s->task->attempt + i, ladder->request[i],
                                          ladder->failure[i]};
    if (TARGET_AT(s->in->target) == TARGET_DISK_PEAK) {
        s->row->disk_attempts = list;
        s->row->disk_attempt_count = ladder->count;
        return;
    }
    s->row->attempts = list;
    s->row->attempt_count = ladder->count;
}

static double rounded(const struct sizing_rules *r, double bytes)
{
    return fmin(r->capacity, r->step * ceil(fmax(r->least, bytes) / r->step));
}

/* Too little is known: what the user says, then the cap. */
static void size_by_request(struct sizing *s)
{
    const struct sizing_task *t = s->task;
    struct sizing_ladder ladder = {0};
    double first = rounded(&s->rules, s->requested);
    double last = rounded(&s->rules, s->cap);

    if (isnan(s->requested)) {
        s->row->reason = NO_DATA;
        return;
    }
    s->row->method = REQUEST;
    if (!is_retry(t) && s->requested > s->rules.capacity)
        warn(s, arena_printf(s->rq->arena,
                             "capacity_too_small: %.15g bytes are asked for, which no "
                             "machine has",
                             s->requested));
    if (!is_retry(t))
        ladder.request[ladder.count++] = first;
    if (ladder.count == 0 || (last > first && s->rules.attempts > 1))
        ladder.request[ladder.count++] = last;
    put_attempts(s, &ladder);
}

static void find_run_time(struct sizing *s)
{
    const struct fitted_model *m = s->subject->models.run_time;
    struct ensemble_answer answer;

    s->row->run_time_s = s->task->run_time_s;
    if (!isnan(s->row->run_time_s) || !m)
        return;
    ask(m, s->task, &answer);
    if (exp(answer.y) > 0 && exp(answer.y) <= RUN_TIME_MAX)
        s->row->run_time_s = exp(answer.y);
}

/* What the request as it is would cost, then the cap. */
static double requested_cost(const struct sizing *s, const struct sizing_point *points,
                             size_t count)
{
    double requests[2] = {s->requested, s->cap};
    bool two = requests[0] < requests[1];

    return sizing_cost(points, count, &s->rules, requests, two ? 2 : 1);
}

static double half_of(const struct fitted_interval *interval,
                      const struct ensemble_answer *answer)
{
    return log_half(interval->quantile[answer->group], interval->scale[answer->group],
                    answer->spread, answer->distance, answer->runs,
                    answer->constant_distance);
}

/* What is beyond all numbers is not said. */
static double finite_or_nan(double x)
{
    return isinf(x) ? (double)NAN : x;
}

static void warn_of_distance(struct sizing *s, const struct ensemble_answer *answer)
{
    if (answer->distance > 2)
        warn(s, "far_extrapolation: more than twice outside what was seen");
}

/* The cpus that most runs do not use up. */
static double most_cpus(const struct sizing *s, const struct ensemble_answer *answer)
{
    return exp(answer->y + half_of(&s->subject->quantile, answer));
}

static void size_by_quantile(struct sizing *s, const struct ensemble_answer *answer)
{
    double half = half_of(&s->subject->interval, answer);

    s->row->cpus_used = exp(answer->y);
    s->row->cpus_used_low = exp(answer->y - half);
    s->row->cpus_used_high = finite_or_nan(exp(answer->y + half));
    s->row->interval_basis = log_group_names[answer->group];
    s->row->method = QUANTILE;
    s->row->cpus = sizing_round_up(most_cpus(s, answer), CPUS_STEP);
    warn_of_distance(s, answer);
    find_run_time(s);
}

/* Too few runs say how many cpus they used, or what they say is beyond all machines: what
 * the user asks for. */
static void size_cpus_by_request(struct sizing *s)
{
    s->row->method = isnan(s->requested) ? NULL : REQUEST;
    s->row->reason = isnan(s->requested) ? NO_DATA : NULL;
    s->row->cpus = s->requested;
}

static void size_by_ladder(struct sizing *s, const struct ensemble_answer *answer)
{
    const struct fitted_interval *interval = &s->subject->interval;
    struct arena *a = s->rq->arena;
    struct sizing_peak peak = {
        .y = answer->y,
        .scale = log_half(1, interval->scale[answer->group], answer->spread,
                          answer->distance, answer->runs, 1),
        .error = s->subject->errors[answer->group],
        .error_count = s->subject->error_count[answer->group],
        .cap = s->cap,
        .failed = is_retry(s->task) ? s->requested : 0,
    };
    struct sizing_point *points;
    struct sizing_ladder ladder;
    struct arena_mark mark;
    double half, cut, requested;
    size_t count;

    half = half_of(interval, answer);
    s->row->peak_bytes = exp(answer->y);
    s->row->peak_low_bytes = exp(answer->y - half);
    s->row->peak_high_bytes = finite_or_nan(exp(answer->y + half));
    s->row->interval_basis = log_group_names[answer->group];
    s->row->method = LADDER;
    s->row->failure_share_ratio = s->rules.failure_share;
    mark = arena_mark(a);
    sizing_points(&peak, &points, &count, &cut, a);
    sizing_best(points, count, &s->rules, &s->rq->budget, &ladder, a);
    requested = requested_cost(s, points, count);
    arena_rewind(a, mark);
    if (s->cap >= s->rules.capacity)
        ladder.failure[ladder.count - 1] = cut;
    put_attempts(s, &ladder);
    warn_of_distance(s, answer);
    find_run_time(s);
    s->row->expected_waste_byte_s = ladder.cost * s->row->run_time_s;
    if (!is_retry(s->task))
        s->row->requested_waste_byte_s = requested * s->row->run_time_s;
}

static void warn_of_unused(struct sizing *s, const struct fitted_model *peak)
{
    const char *name = fitted_unused(peak, s->task->parameters, s->task->parameter_count);

    if (name)
        warn(s, arena_printf(s->rq->arena,
                             "inputs_unused: '%.100s' is no input of the model, and has "
                             "no part in the answer",
                             name));
}

static void size_task(struct sizing *s)
{
    const struct sizing_models *models = &s->subject->models;
    struct ensemble_answer answer = {.y = (double)NAN};
    bool is_cpus = TARGET_AT(s->in->target) == TARGET_CPUS_USED, is_known;

    *s->row = (struct sizing_row){
        .id = s->task->id,
        .model_id = models->peak_model_id,
        .model_version = models->peak ? (double)models->peak_version : (double)NAN,
        .warnings = s->warnings,
    };
    s->row->peak_bytes = s->row->peak_low_bytes = s->row->peak_high_bytes = (double)NAN;
    s->row->cpus = s->row->cpus_used = (double)NAN;
    s->row->cpus_used_low = s->row->cpus_used_high = (double)NAN;
    s->row->failure_share_ratio = s->row->failure_share_run_count = (double)NAN;
    s->row->run_time_s = s->task->run_time_s;
    s->row->expected_waste_byte_s = s->row->requested_waste_byte_s = (double)NAN;
    s->requested = requested_of(s->in, s->task);
    if (!is_cpus)
        find_rules(s);
    if (!is_cpus && is_retry(s->task) && s->requested >= s->rules.capacity) {
        s->row->reason = CAPACITY_TOO_SMALL;
        return;
    }
    if (models->peak)
        ask(models->peak, s->task, &answer);
    if (models->peak && models->run_count < 5)
        warn(s, "few_runs: the model has seen fewer than 5 runs");
    if (models->peak)
        warn_of_unused(s, models->peak);
    is_known =
        models->run_count >= RUNS_LEAST && isfinite(exp(answer.y)) && exp(answer.y) > 0;
    if (is_cpus && is_known && most_cpus(s, &answer) <= CPUS_MAX)
        size_by_quantile(s, &answer);
    else if (is_cpus)
        size_cpus_by_request(s);
    else if (is_known)
        size_by_ladder(s, &answer);
    else
        size_by_request(s);
}

/* ---- all of it ---- */

static size_t size_all(struct request *rq, const struct sizing_request *in,
                       const struct subject *subjects, const size_t *subject_of,
                       struct sizing_answer *out)
{
    struct sizing_row *rows = NEW(rq->arena, struct sizing_row, in->task_count + 1);
    struct sizing *list = NEW(rq->arena, struct sizing, in->task_count + 1);
    size_t sized = 0;

    for (size_t i = 0; i < in->task_count; i++) {
        budget_step(&rq->budget, 1000);
        list[i] = (struct sizing){.rq = rq,
                                  .in = in,
                                  .task = &in->tasks[i],
                                  .subject = &subjects[subject_of[i]],
                                  .row = &rows[i]};
        size_task(&list[i]);
        sized += !rows[i].reason;
        if (isnan(rows[i].expected_waste_byte_s) || isnan(rows[i].requested_waste_byte_s))
            continue;
        out->expected_waste_byte_s += rows[i].expected_waste_byte_s;
        out->requested_waste_byte_s += rows[i].requested_waste_byte_s;
    }
    out->tasks = rows;
    out->task_count = in->task_count;
    return sized;
}

/* The models of all tasks, each once. */
static enum error_code read_subjects(struct request *rq, const struct sizing_request *in,
                                     bool any_target, struct subject **out,
                                     size_t **subject_of, bool *unavailable)
{
    struct arena *a = rq->arena;
    struct sizing_subject *wanted = NEW(a, struct sizing_subject, in->task_count + 1);
    const char **pointers = NEW(a, const char *, in->task_count + 1);
    struct sizing_models *models;
    struct subject *subjects;
    size_t count;

    *subject_of = NEW(a, size_t, in->task_count + 1);
    count = find_subjects(in, wanted, pointers, *subject_of, any_target, a);
    models = NEW(a, struct sizing_models, count + 1);
    TRY(sizing_models_read(rq, wanted, pointers, count, models, unavailable));
    subjects = NEW(a, struct subject, count + 1);
    for (size_t i = 0; i < count; i++) {
        budget_step(&rq->finish, 1000);
        subjects[i].models = models[i];
        prepare(&subjects[i], a);
    }
    *out = subjects;
    return OK;
}

enum error_code first_requests(struct request *rq, const struct first_request *list,
                               size_t count, double *bytes, bool *unavailable)
{
    struct sizing_task *tasks = NEW(rq->arena, struct sizing_task, count + 1);
    struct sizing_request in = {.tasks = tasks, .task_count = count};
    struct sizing_answer answer = {0};
    struct subject *subjects;
    size_t *subject_of;

    in.max_attempts = ATTEMPTS;
    in.failure_share_ratio = FAILURE_SHARE;
    in.learn_failure_share = true;
    in.retry_penalty_bytes = PENALTY_BYTES;
    in.first_failure_ratio_max = in.step_bytes = 1;
    in.min_bytes = BYTES_LEAST;
    in.capacity_bytes = (double)NAN;
    for (size_t i = 0; i < count; i++)
        tasks[i] = (struct sizing_task){
            .application_id = list[i].application_id,
            .model_id = list[i].model_id,
            .problem_size = list[i].problem_size,
            .processors = list[i].processors,
            .parameters = list[i].parameters,
            .parameter_count = list[i].parameter_count,
            .memory_requested_bytes = list[i].memory_bytes,
            .disk_requested_bytes = (double)NAN,
            .cpus_requested = (double)NAN,
            .run_time_s = (double)NAN,
            .attempt = 1,
        };
    TRY(read_subjects(rq, &in, true, &subjects, &subject_of, unavailable));
    size_all(rq, &in, subjects, subject_of, &answer);
    for (size_t i = 0; i < count; i++)
        bytes[i] = answer.tasks[i].attempt_count > 0 ? answer.tasks[i].attempts[0].bytes
                                                     : (double)NAN;
    return OK;
}

enum error_code post_resource_sizings(struct request *rq, const void *in, void *out)
{
    const struct sizing_request *body = in;
    struct sizing_answer *answer = out;
    struct subject *subjects;
    size_t *subject_of, sized;
    bool unavailable;

    TRY(check(body, rq->arena, rq->err));
    TRY(decision_begin(rq, &body->decision, &answer->decision));
    TRY(read_subjects(rq, body, false, &subjects, &subject_of, &unavailable));
    sized = size_all(rq, body, subjects, subject_of, answer);
    if (unavailable)
        decision_warn(rq, &answer->decision,
                      "history_unavailable: the stored models cannot be read now, "
                      "requests stay as they are: /tasks");
    decision_end(rq, method_of(body), sized > 0 ? DECISION_FEASIBLE : DECISION_INFEASIBLE,
                 &answer->decision);
    return OK;
}

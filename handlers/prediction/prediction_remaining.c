/* prediction_remaining.c - predictions of kind "remaining_time": how long a running task
 * will take, from its own progress.
 *
 * Reports come with the request, and then nothing else is needed; with a task_id only,
 * they are the stored ones. What finished tasks of the application have taught is looked
 * up when an application is known; a database that is away only costs that, unless the
 * reports themselves are stored.
 *
 * Source: spec runtime-prediction.md 5, 6, 11, 12. Deviation: all candidates are listed,
 * the chosen one too; wall times are `resources`, as a list of objects has no unit;
 * `previous.sample_count` is the answer's sample_count, that of usable reports, which
 * goes on growing when thinning keeps samples_used where it is.
 */
#include "handlers/prediction/predictions.h"

#include "handlers/common/decision.h"
#include "handlers/history/progress_samples.h"
#include "models/base/plural.h"
#include "models/base/pointer.h"
#include "service/json_holds.h"

#include <stdio.h>
#include <string.h>

enum { SAMPLES_MAX = 100000, RESOURCES_MAX = 10000 };

/* ---- the request ---- */

struct function_in {
    int name; /* enum progress_function */
    const double *init;
    size_t init_count;
};

struct previous_in {
    uint64_t sample_count;
    double estimate_ref_s;
};

struct resource_in {
    const char *id;
    double mips_total, mips_external, job_count;
};

struct remaining_request {
    int kind; /* only "remaining_time" */
    struct decision_request decision;
    const char *task_id, *application_id;
    double estimate_ref_s;
    const struct progress_report *samples;
    size_t sample_count;
    const struct function_in *functions;
    size_t function_count;
    const struct previous_in *previous;
    const struct resource_in *resources;
    size_t resource_count;
};

static const char *const kinds[] = {"remaining_time", NULL};

static const struct json_field report_rows[] = {
    PROGRESS_REPORT_ROWS(struct progress_report, ),
    {0},
};
static const struct json_object report_json = {
    "ProgressReport", "What a task says of its progress", sizeof(struct progress_report),
    report_rows};

#define T struct function_in
static const struct json_field function_rows[] = {
    JSON_CHOICE(T, name, progress_function_names, 0, JSON_REQUIRED,
                "psi1: falls to its limit; psi2: rises to it; constant: the mean, which "
                "wins unless psi1 or psi2 is much better"),
    JSON_NUMBERS(T, init, init_count, -JSON_LARGEST, JSON_LARGEST, 0,
                 "Where the simplex starts: limit, amplitude, decay"),
    {0},
};
#undef T
static const struct json_object function_json = {
    "RemainingFunction", "A function of the estimates", sizeof(struct function_in),
    function_rows};

#define T struct previous_in
static const struct json_field previous_rows[] = {
    JSON_INTEGER(T, sample_count, 1, JSON_EXACT, 0, JSON_REQUIRED,
                 "sample_count of the last answer"),
    JSON_NUMBER(T, estimate_ref_s, 0, JSON_LARGEST, NAN, JSON_REQUIRED | JSON_ABOVE_MIN,
                "estimate_ref_s of the last answer"),
    {0},
};
#undef T
static const struct json_object previous_json = {
    "RemainingPrevious", "The last prediction of the task: stands without new reports",
    sizeof(struct previous_in), previous_rows};

#define T struct resource_in
static const struct json_field resource_rows[] = {
    JSON_ID(T, id, JSON_REQUIRED, "Name of the resource"),
    JSON_NUMBER(T, mips_total, 0, JSON_LARGEST, NAN, JSON_REQUIRED,
                "Its speed; 1: the reference machine"),
    JSON_NUMBER(T, mips_external, 0, JSON_LARGEST, 0, 0,
                "Part of it that load from outside takes; default 0"),
    JSON_NUMBER(T, job_count, 0, 1e9, 0, 0, "Tasks on it, without this one; default 0"),
    {0},
};
#undef T
static const struct json_object resource_json = {
    "RemainingResource", "Where the task could go on", sizeof(struct resource_in),
    resource_rows};

#define T struct remaining_request
static const struct json_field request_rows[] = {
    JSON_CHOICE(T, kind, kinds, 0, JSON_REQUIRED, "remaining_time"),
    JSON_ID(T, task_id, JSON_NULLABLE,
            "The task; without samples, its stored ones are read"),
    JSON_ID(T, application_id, JSON_NULLABLE,
            "What runs: finished tasks of it are learnt from; default: as stored with "
            "the task"),
    JSON_NUMBER(T, estimate_ref_s, 0, JSON_LARGEST, NAN, JSON_NULLABLE | JSON_ABOVE_MIN,
                "Estimate of the whole task, for when there is no report yet"),
    JSON_LIST(T, samples, sample_count, struct progress_report, &report_json, SAMPLES_MAX,
              0, "Reports of the task in any order; default: the stored ones"),
    JSON_LIST(T, functions, function_count, struct function_in, &function_json,
              PROGRESS_FUNCTION_COUNT, 0,
              "What the estimates are fitted by; default psi1 and psi2", JSON_LEAST(1)),
    JSON_OBJECT(T, previous, const struct previous_in *, &previous_json,
                JSON_POINTER | JSON_NULLABLE, "The last prediction of the task"),
    JSON_LIST(T, resources, resource_count, struct resource_in, &resource_json,
              RESOURCES_MAX, JSON_UNIQUE_IDS,
              "Resources whose wall times are wanted, if the task went on there"),
    DECISION_REQUEST_ROWS(T),
    {0},
};
#undef T
const struct json_object remaining_prediction_request_json = {
    "RemainingTimeRequest", "A running task and what it said of its progress",
    sizeof(struct remaining_request), request_rows};

/* ---- the answer ---- */

struct candidate_row {
    const char *function;
    const double *params;
    size_t param_count;
    double res_norm, limit_ref_s;
    const char *const *flags;
    size_t flag_count;
};

struct interval_row {
    double low_ref_s, high_ref_s, level;
    uint64_t task_count; /* JSON_NO_INTEGER: not of finished tasks */
};

struct resource_row {
    const char *resource_id;
    double tasks_after, remaining_s, remaining_low_s, remaining_high_s;
    const char *reason;
};

struct reason_row {
    const char *reason, *detail;
};

struct remaining_answer {
    int kind;
    struct decision_answer decision;
    const char *task_id, *application_id;
    double estimate_ref_s, extrapolated_ref_s, work_done_ref_s;
    double remaining_ref_s, remaining_low_ref_s, remaining_high_ref_s;
    const char *source, *source_reason, *function;
    const double *params;
    size_t param_count;
    const struct interval_row *interval;
    double res_norm, residual_stddev_s;
    const char *const *flags;
    size_t flag_count;
    uint64_t sample_count, samples_used, dropped_count;
    const char *abscissa;
    const struct candidate_row *candidates;
    size_t candidate_count;
    const struct resource_row *resources;
    size_t resource_count;
    const struct progress_application *application;
    const struct reason_row *reasons;
    size_t reason_count;
};

#define T struct candidate_row
static const struct json_field candidate_rows[] = {
    JSON_WORD(T, function, progress_function_names, 0, "psi1, psi2 or constant"),
    JSON_NUMBERS(T, params, param_count, 0, 0, 0, "Limit, amplitude, decay"),
    JSON_NUMBER(T, res_norm, 0, 0, 0, JSON_OPTIONAL,
                "Sum of squared residuals; left out: it could not be fitted"),
    JSON_NUMBER(T, limit_ref_s, 0, 0, 0, JSON_OPTIONAL, "Its limit"),
    JSON_WORDS(T, flags, flag_count, progress_flag_names, 0,
               "at_lower_bound, at_upper_bound"),
    {0},
};
#undef T
static const struct json_object candidate_json = {
    "RemainingCandidate", "A function that was fitted", sizeof(struct candidate_row),
    candidate_rows};

#define T struct interval_row
static const struct json_field interval_rows[] = {
    JSON_NUMBER(T, low_ref_s, 0, 0, 0, 0, "Lower end, not below the work done"),
    JSON_NUMBER(T, high_ref_s, 0, 0, 0, 0, "Upper end"),
    JSON_NUMBER(T, level, 0, 0, 0, 0, "Share of tasks that are to fall into it"),
    JSON_INTEGER(T, task_count, 0, JSON_EXACT, 0, JSON_OPTIONAL,
                 "Finished tasks of the application, with as much reported, that it "
                 "rests on; left out: only on reports of this one"),
    {0},
};
#undef T
static const struct json_object interval_json = {
    "RemainingInterval", "How far off the estimate may be", sizeof(struct interval_row),
    interval_rows};

#define NO_FREE_SPEED "no_free_speed"

#define T             struct resource_row
static const struct json_field answer_resource_rows[] = {
    JSON_TEXT(T, resource_id, 0, "The resource"),
    JSON_NUMBER(T, tasks_after, 0, 0, 0, 0, "Tasks on it, with this one"),
    JSON_NUMBER(T, remaining_s, 0, 0, 0, JSON_OPTIONAL, "Wall time that is left there"),
    JSON_NUMBER(T, remaining_low_s, 0, 0, 0, JSON_OPTIONAL, "Lower end of the interval"),
    JSON_NUMBER(T, remaining_high_s, 0, 0, 0, JSON_OPTIONAL, "Upper end"),
    JSON_WORD(T, reason, JSON_NAMES(NO_FREE_SPEED), JSON_OPTIONAL,
              "no_free_speed: it would never end there"),
    {0},
};
#undef T
static const struct json_object answer_resource_json = {
    "RemainingOnResource", "What is left of the task on a resource",
    sizeof(struct resource_row), answer_resource_rows};

#define NO_SAMPLE "no_sample"

#define T         struct reason_row
static const struct json_field reason_rows[] = {
    JSON_WORD(T, reason, JSON_NAMES(NO_SAMPLE), 0, "Name of the reason"),
    JSON_TEXT(T, detail, 0, "What it means"),
    {0},
};
#undef T
static const struct json_object reason_json = {"RemainingReason",
                                               "Why there is no prediction",
                                               sizeof(struct reason_row), reason_rows};

static const char *const abscissas[] = {"elapsed_s", "work_ref_s", NULL};

#define T struct remaining_answer
static const struct json_field answer_rows[] = {
    DECISION_ANSWER_ROWS(T, DECISION_BY_ONE(progress_method_names)),
    JSON_CHOICE(T, kind, kinds, 0, 0, "remaining_time"),
    JSON_TEXT(T, task_id, JSON_OPTIONAL, "The task"),
    JSON_TEXT(T, application_id, JSON_OPTIONAL, "What runs"),
    JSON_NUMBER(T, estimate_ref_s, 0, 0, 0, JSON_OPTIONAL,
                "Work of the whole task, in reference seconds; left out with a reason"),
    JSON_NUMBER(T, extrapolated_ref_s, 0, 0, 0, JSON_OPTIONAL,
                "The same by the last report alone"),
    JSON_NUMBER(T, work_done_ref_s, 0, 0, 0, JSON_OPTIONAL, "Work done by then"),
    JSON_NUMBER(T, remaining_ref_s, 0, 0, 0, JSON_OPTIONAL,
                "Work that is left, by remaining_rule"),
    JSON_NUMBER(T, remaining_low_ref_s, 0, 0, 0, JSON_OPTIONAL,
                "Lower end of the interval"),
    JSON_NUMBER(T, remaining_high_ref_s, 0, 0, 0, JSON_OPTIONAL, "Upper end"),
    JSON_WORD(T, source, progress_source_names, 0,
              "fit: the limit of a function; extrapolation: too few reports to fit; "
              "single_sample; average: of estimates that oscillate; fallback: the fit "
              "makes no sense; policy: fits of this application were worse than "
              "extrapolation; cached: no new report; finished; initial_estimate; none"),
    JSON_WORD(T, source_reason, progress_fallback_names, JSON_OPTIONAL,
              "Of a fallback: no_fit or limit_out_of_range"),
    JSON_WORD(T, function, progress_function_names, JSON_OPTIONAL,
              "Function whose limit the estimate is"),
    JSON_NUMBERS(T, params, param_count, 0, 0, JSON_OPTIONAL, "Its parameters"),
    JSON_OBJECT(T, interval, const struct interval_row *, &interval_json,
                JSON_POINTER | JSON_OPTIONAL, "How far off the estimate may be"),
    JSON_NUMBER(T, res_norm, 0, 0, 0, JSON_OPTIONAL, "Sum of squared residuals"),
    JSON_NUMBER(T, residual_stddev_s, 0, 0, 0, JSON_OPTIONAL, "Residual deviation"),
    JSON_WORDS(T, flags, flag_count, progress_flag_names, 0,
               "at_lower_bound: the trend does not bend yet; at_upper_bound: no trend; "
               "oscillating; corrected: by first reports of finished tasks"),
    JSON_INTEGER(T, sample_count, 0, JSON_EXACT, 0, 0, "Usable reports"),
    JSON_INTEGER(T, samples_used, 0, JSON_EXACT, 0, 0, "Those left after thinning"),
    JSON_INTEGER(T, dropped_count, 0, JSON_EXACT, 0, 0,
                 "Of those, not believed beside their neighbours: option screen"),
    JSON_WORD(T, abscissa, abscissas, JSON_OPTIONAL, "What they were fitted over"),
    JSON_LIST(T, candidates, candidate_count, struct candidate_row, &candidate_json, 0,
              JSON_OPTIONAL, "Every function that was fitted"),
    JSON_LIST(T, resources, resource_count, struct resource_row, &answer_resource_json, 0,
              JSON_OPTIONAL, "Wall times, in the order of the request"),
    JSON_OBJECT(T, application, const struct progress_application *,
                &progress_application_json, JSON_POINTER | JSON_OPTIONAL,
                "What finished tasks of the application say"),
    JSON_LIST(T, reasons, reason_count, struct reason_row, &reason_json, 0, JSON_OPTIONAL,
              "Why there is no prediction"),
    DECISION_END_ROWS(T),
    {0},
};
#undef T
const struct json_object remaining_prediction_answer_json = {
    "RemainingTimeAnswer", "How long a running task will take",
    sizeof(struct remaining_answer), answer_rows};

/* ---- what is looked up ---- */

struct looked_up {
    const char *application_id;
    bool away; /* the database was */
    const struct progress_application *application;
    const struct progress_sample *samples;
    size_t sample_count;
    const double *errors; /* of finished tasks with as much reported */
    size_t error_count;
};

#define T struct looked_up
static const struct json_field looked_up_rows[] = {
    JSON_TEXT(T, application_id, JSON_OPTIONAL, "As stored with the task"),
    JSON_BOOLEAN(T, away, 0, 0, "Whether the database was away"),
    JSON_OBJECT(T, application, const struct progress_application *,
                &progress_application_json, JSON_POINTER | JSON_OPTIONAL, "Its numbers"),
    JSON_LIST(T, samples, sample_count, struct progress_sample, &progress_point_json,
              SAMPLES_MAX, 0, "Stored reports"),
    JSON_NUMBERS(T, errors, error_count, -JSON_LARGEST, JSON_LARGEST, JSON_OPTIONAL,
                 "Errors of finished tasks with as much reported"),
    {0},
};
#undef T
static const struct json_object looked_up_json = {
    "ProgressLookedUp", "Stored progress as it was", sizeof(struct looked_up),
    looked_up_rows};

/* The reports that the question is about, in any order. */
static const struct progress_sample *reports(const struct remaining_request *in,
                                             const struct looked_up *stored,
                                             size_t *count, struct arena *a)
{
    struct progress_sample *list;

    *count = in->samples ? in->sample_count : stored->sample_count;
    if (!in->samples)
        return stored->samples;
    list = NEW(a, struct progress_sample, in->sample_count + 1);
    for (size_t i = 0; i < in->sample_count; i++)
        list[i] = progress_report_sample(&in->samples[i]);
    return list;
}

static enum error_code read_application(struct request *rq, struct db_session *db,
                                        const struct remaining_request *in,
                                        struct looked_up *out)
{
    struct progress_application *known = NEW(rq->arena, struct progress_application, 1);
    const struct progress_sample *list;
    size_t count;

    TRY(store_progress_application(db, rq->principal.tenant, out->application_id, known,
                                   rq->arena, rq->err));
    out->application = known->task_count > 0 ? known : NULL;
    list = reports(in, out, &count, rq->arena);
    return known->task_count > 0 && count > 0
               ? store_progress_errors(db, rq->principal.tenant, out->application_id,
                                       progress_bin_now(list, count), PROGRESS_ERRORS_MAX,
                                       &out->errors, &out->error_count, rq->arena,
                                       rq->err)
               : OK;
}

static enum error_code read_stored(struct request *rq, const struct remaining_request *in,
                                   struct looked_up *out)
{
    struct store_progress_task task = {NULL, NULL, (double)NAN, (double)NAN, 0};
    struct db_session *db;
    bool found = false;

    TRY(request_db(rq, &db));
    if (in->task_id && !in->samples) {
        TRY(store_progress_task_samples(db, rq->principal.tenant, in->task_id,
                                        SAMPLES_MAX, &out->samples, &out->sample_count,
                                        rq->arena, rq->err));
        TRY(store_progress_task_read(db, rq->principal.tenant, in->task_id, &found, &task,
                                     rq->arena, rq->err));
    }
    if (!out->application_id)
        out->application_id = task.application_id;
    return out->application_id ? read_application(rq, db, in, out) : OK;
}

/* The newest report comes first from the store; of two of one time the later counts. */
static void turn_round(struct looked_up *l, struct arena *a)
{
    struct progress_sample *list = NEW(a, struct progress_sample, l->sample_count + 1);

    for (size_t i = 0; i < l->sample_count; i++)
        list[i] = l->samples[l->sample_count - 1 - i];
    l->samples = list;
}

static enum error_code look_up(struct request *rq, const struct remaining_request *in,
                               struct looked_up *out)
{
    bool stored = in->task_id && !in->samples, found = false;
    struct error before = *rq->err;
    enum error_code code;

    *out = (struct looked_up){.application_id = in->application_id};
    if (!stored && !in->application_id)
        return OK;
    TRY(decision_lookup(rq, "progress", &looked_up_json, out, &found));
    if (found)
        return OK;
    code = read_stored(rq, in, out);
    if (!stored && (code == ERR_UNAVAILABLE || code == ERR_BUSY)) {
        *rq->err = before;
        out->application = NULL;
        out->error_count = 0;
        out->away = true;
        code = OK;
    }
    TRY(code);
    turn_round(out, rq->arena);
    return decision_keep_lookup(rq, "progress", &looked_up_json, out);
}

/* ---- checks ---- */

static void check_init(const struct function_in *f, size_t i, struct error *err)
{
    size_t want = f->name == PROGRESS_constant ? 1 : PROGRESS_PARAMS_MAX;
    struct pointer pointer = pointer_in("/functions", i, "init");

    if (!f->init)
        return;
    if (f->init_count != want)
        invalid(err, pointer.text, ITEM_WRONG_LENGTH, "%s has %s, not %zu",
                progress_function_names[f->name], counted(want, "parameter").text,
                f->init_count);
    else if (want == PROGRESS_PARAMS_MAX && (!(f->init[1] >= 0) || !(f->init[2] > 0)))
        invalid(err, pointer.text, ITEM_OUT_OF_BOUNDS,
                "the amplitude must not be negative, the decay above 0");
}

enum { UNKNOWN_METHOD = PROGRESS_METHOD_COUNT, METHOD_OF_OPTIONS };

/* enum progress_method that an algorithm names; auto: what the options say. */
static int method_of(const char *algorithm)
{
    int method = 0;

    if (!algorithm || strcmp(algorithm, "auto") == 0)
        return METHOD_OF_OPTIONS;
    while (method < UNKNOWN_METHOD &&
           strcmp(algorithm, progress_method_names[method]) != 0)
        method++;
    return method;
}

static void check_request(const struct remaining_request *in, struct error *err)
{
    const char *algorithm = in->decision.algorithm;

    if (method_of(algorithm) == UNKNOWN_METHOD)
        decision_unknown_policy(algorithm, progress_policies, err);
    for (size_t i = 0; in->functions && i < in->function_count; i++) {
        check_init(&in->functions[i], i, err);
        for (size_t j = 0; j < i; j++)
            if (in->functions[j].name == in->functions[i].name)
                invalid(err, pointer_in("/functions", i, "name").text, ITEM_DUPLICATE,
                        "the function is there twice");
    }
    for (size_t i = 0; i < in->sample_count; i++) {
        struct progress_mistake m = progress_report_mistake(&in->samples[i]);

        if (!m.member)
            continue;
        invalid(err, pointer_in("/samples", i, m.member).text, m.code, "%s", m.text);
    }
}

static enum error_code bind_options(const struct remaining_request *in,
                                    struct progress_options *out, struct error *err)
{
    int method = method_of(in->decision.algorithm);
    double value[PARAMS_MAX];

    TRY(params_bind(progress_params, in->decision.options, in->decision.option_count,
                    value, err));
    TRY(progress_options_bind(value, out, err));
    if (out->strict_seed)
        out->method = PROGRESS_SIMPLEX;
    else if (method < PROGRESS_METHOD_COUNT)
        out->method = (enum progress_method)method;
    return OK;
}

/* ---- answers ---- */

static void names_of(unsigned bits, const char *const *names, size_t count,
                     const char *const **list, size_t *listed, struct arena *a)
{
    const char **out = NEW(a, const char *, count);

    *listed = 0;
    for (size_t i = 0; i < count; i++)
        if (bits & 1u << i)
            out[(*listed)++] = names[i];
    *list = out;
}

static void list_candidates(const struct progress_out *p, struct remaining_answer *out,
                            struct arena *a)
{
    struct candidate_row *rows = NEW(a, struct candidate_row, p->candidate_count + 1);

    for (size_t i = 0; i < p->candidate_count; i++) {
        const struct progress_candidate *c = &p->candidates[i];
        bool fitted = isfinite(c->res_norm);

        rows[i] = (struct candidate_row){
            .function = progress_function_names[c->function],
            .params = fitted ? c->param : NULL,
            .param_count = fitted ? c->param_count : 0,
            .res_norm = fitted ? c->res_norm : (double)NAN,
            .limit_ref_s = fitted ? c->limit_ref_s : (double)NAN,
        };
        names_of(c->flags, progress_flag_names, PROGRESS_FLAG_COUNT, &rows[i].flags,
                 &rows[i].flag_count, a);
    }
    out->candidates = rows;
    out->candidate_count = p->candidate_count;
    if (p->source == PROGRESS_FROM_fit) {
        out->function = rows[p->chosen].function;
        out->params = rows[p->chosen].params;
        out->param_count = rows[p->chosen].param_count;
        out->res_norm = rows[p->chosen].res_norm;
    }
}

static void list_resources(const struct remaining_request *in,
                           struct remaining_answer *out, struct arena *a)
{
    struct resource_row *rows = NEW(a, struct resource_row, in->resource_count + 1);

    for (size_t i = 0; i < in->resource_count; i++) {
        const struct resource_in *r = &in->resources[i];
        double m = r->job_count + 1;
        double per_ref_s = progress_remaining_s(1, r->mips_total, r->mips_external, m);

        rows[i] = (struct resource_row){
            .resource_id = r->id,
            .tasks_after = m,
            .remaining_s = out->remaining_ref_s * per_ref_s,
            .remaining_low_s = out->remaining_low_ref_s * per_ref_s,
            .remaining_high_s = out->remaining_high_ref_s * per_ref_s,
        };
        if (isfinite(rows[i].remaining_s) && isfinite(per_ref_s))
            continue;
        rows[i].remaining_s = rows[i].remaining_low_s = rows[i].remaining_high_s =
            (double)NAN;
        rows[i].reason = NO_FREE_SPEED;
    }
    out->resources = rows;
    out->resource_count = in->resource_count;
}

static void list_warnings(unsigned bits, bool away, struct decision_answer *out,
                          struct arena *a)
{
    const char **list = NEW(a, const char *, PROGRESS_WARN_COUNT + 1);

    for (size_t i = 0; i < PROGRESS_WARN_COUNT; i++) {
        if (!(bits & 1u << i))
            continue;
        list[out->warning_count++] = arena_printf(a, "%s: %s", progress_warning_names[i],
                                                  progress_warning_texts[i]);
    }
    if (away)
        list[out->warning_count++] = "application_unknown: the database is away, nothing "
                                     "was learnt from finished tasks";
    out->warnings = list;
}

/* Work that is left, by the option's rule, and the ends of its interval. */
static void fill_remaining(const struct progress_in *in, const struct progress_out *p,
                           struct remaining_answer *out)
{
    enum progress_rule rule = in->options.remaining_rule;
    double work = 0, pct = 0;

    if (in->history.count > 0) {
        const struct progress_point *last = &in->history.points[in->history.count - 1];

        work = last->work_ref_s;
        pct = 100 * work / last->estimate_ref_s;
        out->work_done_ref_s = work;
    }
    out->remaining_ref_s = progress_remaining_ref_s(rule, p->estimate_ref_s, work, pct);
    if (isnan(p->low_ref_s))
        return;
    out->remaining_low_ref_s = progress_remaining_ref_s(rule, p->low_ref_s, work, pct);
    out->remaining_high_ref_s = progress_remaining_ref_s(rule, p->high_ref_s, work, pct);
}

static void fill_interval(const struct progress_out *p, uint64_t task_count,
                          struct remaining_answer *out, struct arena *a)
{
    struct interval_row *row = NEW(a, struct interval_row, 1);

    *row = (struct interval_row){p->low_ref_s, p->high_ref_s, PROGRESS_INTERVAL_LEVEL,
                                 task_count};
    out->interval = isnan(p->low_ref_s) ? NULL : row;
}

static const struct reason_row no_sample = {
    NO_SAMPLE, "No report of the task's progress, and no estimate_ref_s"};

static void fill_answer(struct request *rq, const struct remaining_request *in,
                        const struct progress_in *question, const struct progress_out *p,
                        uint64_t task_count, struct remaining_answer *out)
{
    bool work =
        question->options.abscissa == PROGRESS_WORK ||
        (question->options.abscissa == PROGRESS_AUTO && question->history.work_known);

    out->source = progress_source_names[p->source];
    out->source_reason = p->reason;
    out->sample_count = question->history.sample_count;
    out->samples_used = question->history.count;
    out->dropped_count = p->dropped_count;
    out->abscissa = p->candidate_count ? abscissas[work] : NULL;
    out->extrapolated_ref_s = p->extrapolated_ref_s;
    out->residual_stddev_s = p->residual_stddev_s;
    names_of(p->flags, progress_flag_names, PROGRESS_FLAG_COUNT, &out->flags,
             &out->flag_count, rq->arena);
    list_candidates(p, out, rq->arena);
    if (p->source == PROGRESS_FROM_none) {
        out->reasons = &no_sample;
        out->reason_count = 1;
        return;
    }
    out->estimate_ref_s = p->estimate_ref_s;
    fill_remaining(question, p, out);
    fill_interval(p, task_count, out, rq->arena);
    list_resources(in, out, rq->arena);
}

static void start_answer(const struct remaining_request *in, struct remaining_answer *out)
{
    out->task_id = in->task_id;
    out->estimate_ref_s = out->extrapolated_ref_s = out->work_done_ref_s = (double)NAN;
    out->remaining_ref_s = out->remaining_low_ref_s = out->remaining_high_ref_s =
        (double)NAN;
    out->res_norm = out->residual_stddev_s = (double)NAN;
}

/* ---- the question ---- */

/* The reports of the request or the stored ones, as a history. */
static enum error_code read_history(const struct remaining_request *in,
                                    const struct looked_up *stored, size_t max_points,
                                    struct progress_history *out, struct arena *a)
{
    size_t count;
    const struct progress_sample *list = reports(in, stored, &count, a);

    return progress_history_of(list, count, max_points, out, a);
}

static void read_functions(const struct remaining_request *in, struct progress_in *out,
                           struct arena *a)
{
    struct progress_function_in *list;

    if (!in->functions)
        return;
    list = NEW(a, struct progress_function_in, in->function_count);
    for (size_t i = 0; i < in->function_count; i++) {
        const struct function_in *f = &in->functions[i];

        list[i].function = (enum progress_function)f->name;
        list[i].has_init = f->init != NULL;
        for (size_t k = 0; k < f->init_count; k++)
            list[i].init[k] = f->init[k];
    }
    out->functions = list;
    out->function_count = in->function_count;
}

enum error_code predict_remaining(struct request *rq, const void *in, void *out)
{
    const struct remaining_request *body = in;
    struct remaining_answer *answer = out;
    struct progress_in question = {.initial_estimate_ref_s = body->estimate_ref_s};
    uint64_t task_count = JSON_NO_INTEGER;
    struct looked_up stored;
    struct progress_out p;

    check_request(body, rq->err);
    if (bind_options(body, &question.options, rq->err) != OK || rq->err->code != OK)
        return rq->err->code;
    TRY(decision_begin(rq, &body->decision, &answer->decision));
    start_answer(body, answer);
    TRY(look_up(rq, body, &stored));
    TRY(read_history(body, &stored, question.options.max_points, &question.history,
                     rq->arena));
    read_functions(body, &question, rq->arena);
    if (body->previous) {
        question.previous_count = body->previous->sample_count;
        question.previous_estimate_ref_s = body->previous->estimate_ref_s;
    }
    question.known = stored.application;
    TRY(progress_predict(&question, &p, rq->arena));
    if (question.options.interval == PROGRESS_STEADY && question.history.count > 0 &&
        progress_learnt_interval(
            stored.errors, stored.error_count,
            question.history.points[question.history.count - 1].work_ref_s, &p,
            rq->arena))
        task_count = stored.error_count;
    if (p.dropped_count > 0)
        question.history.warnings |= PROGRESS_WARN_SCREENED;
    answer->application_id = stored.application_id;
    answer->application = stored.application;
    fill_answer(rq, body, &question, &p, task_count, answer);
    list_warnings(question.history.warnings, stored.away, &answer->decision, rq->arena);
    decision_end(rq, progress_method_names[question.options.method],
                 answer->reason_count ? DECISION_INFEASIBLE : DECISION_FEASIBLE,
                 &answer->decision);
    return OK;
}

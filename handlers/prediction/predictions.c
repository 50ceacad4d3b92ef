/* predictions.c - POST /v1/predictions: how long a job will run, and the load that it
 * will meet.
 *
 * A request of kind run_time, the default, names a model and asks one question, many
 * (`queries`), or one about a sequence of phases (`phases`), each of its own model. What
 * the questions have in common is worked out once, so that each further one costs one
 * evaluation of the model and no memory but its row of the answer.
 */
#include "handlers/prediction/predictions.h"

#include "handlers/common/decision.h"
#include "handlers/common/kinds.h"
#include "handlers/learning/prediction_quantiles.h"
#include "handlers/learning/prediction_targets.h"
#include "handlers/prediction/loads.h"
#include "handlers/prediction/prediction_models.h"
#include "models/base/plural.h"
#include "models/base/pointer.h"
#include "models/fitted/core.h"
#include "models/performance/phase_sum.h"
#include "service/records/records.h"
#include "service/store_model.h"

#include <stdio.h>
#include <string.h>

#define WHOLE_MAX 2147483647.0
enum { QUERIES_MAX = 100000, PHASES_MAX = 10000, WARNING_COUNT = PREDICTION_WARNINGS };

/* One question. */
struct question {
    double problem_size, processors, cpu_available_ratio, bandwidth_mbps;
    const struct named_value *parameters;
    size_t parameter_count;
    const char *resource_class;
};

struct phase_question {
    double phase_index, processors, cpu_available_ratio, bandwidth_mbps, share_ratio;
};

struct predictions_request {
    struct decision_request decision;
    int kind;     /* of its table, the only one */
    bool is_load; /* kind load: nothing but the forecast is wanted */
    struct model_source source;
    struct question query;
    const struct question *queries;
    size_t query_count;
    const struct phase_question *phases;
    size_t phase_count;
    struct load_request load;
    double interval_level;
    const double *quantiles;
    const char *const *targets;
    size_t quantile_count, target_count;
};

static const char *const run_time_kinds[] = {"run_time", NULL};
static const char *const load_kinds[] = {"load", NULL};

#define QUESTION_ROWS(T, at, presets)                                                  \
    {.name = "problem_size",                                                           \
     .doc = "Size of the problem: N of the model",                                     \
     .type = JSON_TYPE_NUMBER,                                                         \
     .offset = offsetof(T, at problem_size),                                           \
     .max = JSON_LARGEST,                                                              \
     .preset = NAN,                                                                    \
     .flags = JSON_NULLABLE | JSON_ABOVE_MIN},                                         \
        {.name = "processors",                                                         \
         .doc = "Processors to run on; default: those in resource_ids, or 1",          \
         .type = JSON_TYPE_NUMBER,                                                     \
         .offset = offsetof(T, at processors),                                         \
         .min = 1,                                                                     \
         .max = WHOLE_MAX,                                                             \
         .preset = NAN,                                                                \
         .flags = JSON_NULLABLE | JSON_WHOLE},                                         \
        {.name = "cpu_available_ratio",                                                \
         .doc = "Least of the machines' shares of the CPU to be expected; default: "   \
                "forecast for resource_ids, or 1",                                     \
         .type = JSON_TYPE_NUMBER,                                                     \
         .offset = offsetof(T, at cpu_available_ratio),                                \
         .max = 1,                                                                     \
         .preset = NAN,                                                                \
         .flags = JSON_NULLABLE},                                                      \
    {                                                                                  \
        .name = "bandwidth_mbps",                                                      \
        .doc = "Least of the links' bandwidths to be expected; default: forecast for " \
               "resource_ids",                                                         \
        .type = JSON_TYPE_NUMBER, .offset = offsetof(T, at bandwidth_mbps),            \
        .max = JSON_LARGEST, .preset = NAN, .flags = JSON_NULLABLE                     \
    }
#define PARAMETERS_ROW(T, at)                                                 \
    {.name = "resource_class",                                                \
     .doc = "Type of the machine, where it is an input of the model",         \
     .type = JSON_TYPE_TEXT,                                                  \
     .offset = offsetof(T, at resource_class),                                \
     .min = 1,                                                                \
     .max = 256,                                                              \
     .flags = JSON_NULLABLE},                                                 \
    {                                                                         \
        .name = "parameters",                                                 \
        .doc = "Further inputs, by the names in the model's settings.inputs", \
        .type = JSON_TYPE_VALUES, .offset = offsetof(T, at parameters),       \
        .count_offset = offsetof(T, at parameter_count), .max = 256           \
    }

#define T struct question
static const struct json_field question_rows[] = {
    QUESTION_ROWS(T, , ), PARAMETERS_ROW(T, ), {0}};
#undef T
static const struct json_object question_json = {
    "PredictionQuery", "A job to predict: what it leaves out is taken from the request",
    sizeof(struct question), question_rows};

#define T struct phase_question
static const struct json_field phase_rows[] = {
    JSON_NUMBER(T, phase_index, 0, WHOLE_MAX, NAN, JSON_REQUIRED | JSON_WHOLE,
                "The phase, from 0"),
    JSON_NUMBER(T, processors, 1, WHOLE_MAX, NAN, JSON_NULLABLE | JSON_WHOLE,
                "Processors of this phase; default: those of the request"),
    JSON_NUMBER(T, cpu_available_ratio, 0, 1, NAN, JSON_NULLABLE,
                "CPU to be expected in this phase; default: that of the request"),
    JSON_NUMBER(T, bandwidth_mbps, 0, JSON_LARGEST, NAN, JSON_NULLABLE,
                "Bandwidth to be expected in this phase; default: that of the request"),
    JSON_NUMBER(T, share_ratio, 0, 1, NAN, JSON_NULLABLE,
                "Usual share of the phase in the whole time: stands in for a model that "
                "is missing"),
    {0},
};
#undef T
static const struct json_object phase_question_json = {
    "PredictionPhase", "A phase of the job", sizeof(struct phase_question), phase_rows};

#define T struct predictions_request
static const struct json_field request_rows[] = {
    JSON_CHOICE(T, kind, run_time_kinds, 0, 0, "run_time; default run_time"),
    MODEL_SOURCE_ROWS(T),
    QUESTION_ROWS(T, query., ),
    PARAMETERS_ROW(T, query.),
    JSON_LIST(T, queries, query_count, struct question, &question_json, QUERIES_MAX, 0,
              "Many jobs of the same model at once: answered in `results`",
              JSON_LEAST(1)),
    JSON_LIST(T, phases, phase_count, struct phase_question, &phase_question_json,
              PHASES_MAX, 0,
              "Phases of one job, each with its own stored model: the answer is the sum",
              JSON_LEAST(1), JSON_NOT_WITH("queries")),
    LOAD_REQUEST_ROWS(T),
    JSON_NUMBER(T, interval_level, 0.5, 0.99, PREDICTION_LEVEL, 0,
                "Share of the runs that are to fall into the interval; default 0.8"),
    JSON_NUMBERS(T, quantiles, quantile_count, QUANTILE_LEAST, QUANTILE_GREATEST, 0,
                 "Shares of the runs, ascending, at most 9: each answer says what run "
                 "time they do not exceed; not with phases"),
    JSON_TEXTS(T, targets, target_count, 64, 0,
               "What is predicted: run_time_s, which always is, and memory_peak_bytes, "
               "disk_peak_bytes and cpus_used, of an application_id; not with phases"),
    DECISION_REQUEST_ROWS(T),
    {0},
};
static const struct json_field load_request_rows[] = {
    JSON_CHOICE(T, kind, load_kinds, 0, JSON_REQUIRED, "load"),
    LOAD_REQUEST_ROWS(T),
    DECISION_REQUEST_ROWS(T),
    {0},
};
#undef T
static const struct json_object load_request_json = {
    "LoadPredictionRequest", "Resources whose load is to be forecast",
    sizeof(struct predictions_request), load_request_rows};
static const struct json_object predictions_request_json = {
    "PredictionsRequest", "Jobs to predict, and the model to predict them with",
    sizeof(struct predictions_request), request_rows};

/* ---- answer ---- */

struct result {
    double phase_index; /* NAN: not of a phase */
    const char *reason;
    double run_time_s, run_time_low_s, run_time_high_s;
    double computation_s, communication_s;
    const char *method;
    double rank;
    double problem_size_ratio, processors_ratio, extrapolation_ratio;
    const char *interval_basis;
    const char *const *warnings;
    size_t warning_count;
    const struct predicted_quantile *quantiles; /* NULL: none */
    size_t quantile_count;
    const struct predicted_target *memory_peak_bytes, *disk_peak_bytes,
        *cpus_used; /* NULL: not known, or not asked */
};

struct named_model {
    const char *id, *state, *kind;
    uint64_t version;
};

struct basis {
    uint64_t sample_count, unseen_count;
    double unseen_appe_pct, recent_appe_pct, fit_appe_pct, cross_appe_pct;
    struct model_range problem_size, processors, cpu_available_ratio, bandwidth_mbps;
};

struct reason_row {
    const char *reason, *detail;
};

struct predictions_answer {
    struct decision_answer decision;
    int kind; /* of its table */
    struct result result;
    double interval_level;
    const char *interval_basis;
    uint64_t interval_ratio_count;
    const struct named_model *models;
    size_t model_count;
    const struct basis *basis;
    const struct load_answer *loads;
    const struct result *phases, *results;
    size_t phase_count, result_count;
    const struct reason_row *reasons;
    size_t reason_count;
};

#define RESULT_ROW(T, at, m, kind, text)                                    \
    {                                                                       \
        .name = #m, .doc = text, .type = kind, .offset = offsetof(T, at m), \
        .flags = JSON_OPTIONAL                                              \
    }
#define RESULT_COUNT(T, at, m, text)                                                    \
    {                                                                                   \
        .name = #m, .doc = text, .type = JSON_TYPE_NUMBER, .offset = offsetof(T, at m), \
        .flags = JSON_OPTIONAL | JSON_WHOLE                                             \
    }
#define RESULT_WORD(T, at, m, words, text)                                           \
    {                                                                                \
        .name = #m, .doc = text, .type = JSON_TYPE_TEXT, .choices = words,           \
        .offset = JSON_AT(T, at m, const char *), .flags = JSON_OPTIONAL | JSON_OPEN \
    }
#define RESULT_TARGET(T, at, m, text)                                                   \
    {                                                                                   \
        .name = #m, .doc = text, .type = JSON_TYPE_OBJECT, .offset = offsetof(T, at m), \
        .of = &predicted_target_json, .flags = JSON_POINTER | JSON_OPTIONAL             \
    }
#define RESULT_ROWS(T, at)                                                              \
    RESULT_ROW(T, at, run_time_s, JSON_TYPE_NUMBER,                                     \
               "Predicted run time; left out with a reason"),                           \
        RESULT_ROW(T, at, run_time_low_s, JSON_TYPE_NUMBER,                             \
                   "Lower end of the interval"),                                        \
        RESULT_ROW(T, at, run_time_high_s, JSON_TYPE_NUMBER, "Upper end"),              \
        RESULT_ROW(T, at, computation_s, JSON_TYPE_NUMBER, "Computation in it"),        \
        RESULT_ROW(T, at, communication_s, JSON_TYPE_NUMBER, "Communication in it"),    \
        RESULT_WORD(                                                                    \
            T, at, method, fitted_method_names,                                         \
            "native: own model; scaled: the reference's, by factors; refit: its "       \
            "functions, fitted here; fallback: refitted without negative "              \
            "coefficients; or the kind of model"),                                      \
        RESULT_COUNT(T, at, rank,                                                       \
                     "Place in the list of the combination that answered, from 1"),     \
        RESULT_ROW(T, at, problem_size_ratio, JSON_TYPE_NUMBER,                         \
                   "Size over the greatest seen"),                                      \
        RESULT_ROW(T, at, processors_ratio, JSON_TYPE_NUMBER,                           \
                   "Processors over the most seen"),                                    \
        RESULT_ROW(T, at, extrapolation_ratio, JSON_TYPE_NUMBER,                        \
                   "How far the question lies outside what was seen: of the worst "     \
                   "input, 1 inside"),                                                  \
        RESULT_TARGET(T, at, memory_peak_bytes,                                         \
                      "With it among the targets: the peak of the memory"),             \
        RESULT_TARGET(T, at, disk_peak_bytes,                                           \
                      "With it among the targets: the peak of the disk space"),         \
        RESULT_TARGET(T, at, cpus_used,                                                 \
                      "With it among the targets: the mean number of CPUs in use"),     \
    {                                                                                   \
        .name = "quantiles",                                                            \
        .doc = "Run times of the quantiles that were asked for, in their order",        \
        .type = JSON_TYPE_LIST, .offset = offsetof(T, at quantiles),                    \
        .count_offset = offsetof(T, at quantile_count), .of = &predicted_quantile_json, \
        .flags = JSON_OPTIONAL                                                          \
    }

#define T struct result
static const struct json_field result_rows[] = {
    RESULT_COUNT(T, , phase_index, "The phase, from 0"),
    RESULT_WORD(T, , reason, prediction_reason_names, "Why there is no prediction"),
    RESULT_ROWS(T, ),
    JSON_WORD(T, interval_basis, fitted_basis_names, JSON_OPTIONAL,
              "What its interval rests on, as interval_basis of the whole answer"),
    JSON_TEXTS(T, warnings, warning_count, 0, JSON_OPTIONAL, "Names of warnings"),
    {0},
};
#undef T
static const struct json_object result_json = {"Prediction", "One prediction",
                                               sizeof(struct result), result_rows};

#define T struct named_model
static const struct json_field model_rows[] = {
    JSON_TEXT(T, id, JSON_OPTIONAL, "Its name; left out: not stored"),
    JSON_WORD(T, kind, model_kind_names, 0, "Kind of model"),
    JSON_WORD(T, state, store_model_states, JSON_OPTIONAL,
              "untrained, trained, ported, or stale (history_corrected)"),
    JSON_INTEGER(T, version, 0, JSON_EXACT, 0, 0, "Version that answered; 0: none"),
    {0},
};
#undef T
static const struct json_object named_model_json = {
    "PredictionModel", "A model that answered", sizeof(struct named_model), model_rows};

#define T struct model_range
static const struct json_field range_rows[] = {
    JSON_NUMBER(T, low, 0, 0, 0, JSON_MAY_BE_NULL, "Least; null: nothing seen"),
    JSON_NUMBER(T, high, 0, 0, 0, JSON_MAY_BE_NULL, "Greatest; null: nothing seen"),
    {0},
};
#undef T
static const struct json_object range_json = {"PredictionRange",
                                              "Least and greatest value seen",
                                              sizeof(struct model_range), range_rows};

#define T struct basis
static const struct json_field basis_rows[] = {
    JSON_INTEGER(T, sample_count, 0, JSON_EXACT, 0, 0, "Runs that it was fitted to"),
    JSON_INTEGER(T, unseen_count, 0, JSON_EXACT, 0, 0,
                 "Runs that were predicted before they were learnt"),
    JSON_RATIO(T, unseen_appe_ratio, unseen_appe_pct, 0, 0, JSON_MAY_BE_NULL,
               "Mean error on them; null: there are none"),
    JSON_RATIO(T, recent_appe_ratio, recent_appe_pct, 0, 0, JSON_MAY_BE_NULL,
               "On the last 50 of them; null: there are none"),
    JSON_RATIO(T, fit_appe_ratio, fit_appe_pct, 0, 0, JSON_MAY_BE_NULL,
               "Mean error on the runs of the fit; null: not known"),
    JSON_RATIO(T, cross_appe_ratio, cross_appe_pct, 0, 0, JSON_MAY_BE_NULL,
               "Mean error on runs that it was fitted without; null: not known"),
    JSON_OBJECT(T, problem_size, struct model_range, &range_json, 0, "Sizes seen"),
    JSON_OBJECT(T, processors, struct model_range, &range_json, 0, "Processors seen"),
    JSON_OBJECT(T, cpu_available_ratio, struct model_range, &range_json, 0, "CPU seen"),
    JSON_OBJECT(T, bandwidth_mbps, struct model_range, &range_json, 0, "Bandwidths seen"),
    {0},
};
#undef T
static const struct json_object basis_json = {
    "PredictionBasis", "What the prediction rests on", sizeof(struct basis), basis_rows};

#define T struct reason_row
static const struct json_field reason_rows[] = {
    JSON_WORD(T, reason, prediction_reason_names, 0, "Name of the reason"),
    JSON_TEXT(T, detail, 0, "What it means"),
    {0},
};
#undef T
static const struct json_object reason_json = {"PredictionReason",
                                               "Why there is no prediction",
                                               sizeof(struct reason_row), reason_rows};

#define T struct predictions_answer
static const struct json_field answer_rows[] = {
    DECISION_ANSWER_ROWS(T, DECISION_BY_ONE(model_kind_names)),
    JSON_CHOICE(T, kind, run_time_kinds, 0, 0, "run_time"),
    RESULT_ROWS(T, result.),
    JSON_NUMBER(T, interval_level, 0, 0, 0, 0, "Share of the runs in the interval"),
    JSON_WORD(
        T, interval_basis, fitted_basis_names, JSON_OPTIONAL,
        "same_configuration: errors on runs with the same inputs as others; inside: "
        "on runs with new ones inside the ranges seen; extrapolation: outside them; "
        "reference: of the model that it was ported from; none; in the profile "
        "thesis executions: earlier predictions of this model; training: the runs "
        "that it was fitted to (training_quantiles: of their times); left out where "
        "each of several answers has its own"),
    JSON_INTEGER(T, interval_ratio_count, 0, JSON_EXACT, 0, 0,
                 "Runs that the interval rests on"),
    JSON_LIST(T, models, model_count, struct named_model, &named_model_json, 0,
              JSON_OPTIONAL, "The models that answered"),
    JSON_OBJECT(T, basis, const struct basis *, &basis_json, JSON_POINTER | JSON_OPTIONAL,
                "What the prediction rests on; of phases: the first"),
    JSON_OBJECT(T, loads, const struct load_answer *, &load_answer_json,
                JSON_POINTER | JSON_OPTIONAL, "The load that was forecast"),
    JSON_LIST(T, phases, phase_count, struct result, &result_json, 0, JSON_OPTIONAL,
              "Each phase, in the order of the request"),
    JSON_LIST(T, results, result_count, struct result, &result_json, 0, JSON_OPTIONAL,
              "Each of the queries, in their order"),
    JSON_LIST(T, reasons, reason_count, struct reason_row, &reason_json, 0, JSON_OPTIONAL,
              "Why there is no prediction"),
    DECISION_END_ROWS(T),
    {0},
};
static const struct json_field load_answer_rows[] = {
    DECISION_ANSWER_ROWS(T, DECISION_BY_ONE(load_kinds)),
    JSON_CHOICE(T, kind, load_kinds, 0, 0, "load"),
    JSON_OBJECT(T, loads, const struct load_answer *, &load_answer_json,
                JSON_POINTER | JSON_OPTIONAL, "The load that was forecast"),
    JSON_LIST(T, reasons, reason_count, struct reason_row, &reason_json, 0, JSON_OPTIONAL,
              "Why there is no forecast"),
    DECISION_END_ROWS(T),
    {0},
};
#undef T
static const struct json_object load_prediction_json = {
    "LoadPredictionAnswer", "The load to be expected", sizeof(struct predictions_answer),
    load_answer_rows};
static const struct json_object predictions_answer_json = {
    "PredictionsAnswer", "How long jobs will run", sizeof(struct predictions_answer),
    answer_rows};

/* ---- on the way ---- */

/* A prediction request that is being answered. */
struct predicting {
    struct request *rq;
    const struct predictions_request *in;
    struct predictions_answer *out;
    const struct model_at_hand *models;
    size_t model_count;
    struct fitted_interval interval; /* of the first model, as are: */
    struct asked_quantiles quantiles;
    struct asked_targets targets;
    struct load_history_read history;
    struct load_forecast forecast; /* of resource_ids */
    struct question common;        /* what a query does not say itself */
    const char *const **warnings;  /* by mask: lists made so far */
    const char **texts;            /* warnings of the whole answer */
    size_t warning_room;
};

/* The list of names of a mask, made once. */
static void warnings_of(struct predicting *p, unsigned mask, const char *const **list,
                        size_t *count)
{
    size_t n = 0;

    *list = NULL;
    *count = (size_t)__builtin_popcount(mask);
    if (!mask)
        return;
    if (!p->warnings)
        p->warnings = NEW(p->rq->arena, const char *const *, FITTED_WARN_MASKS);
    if (!p->warnings[mask]) {
        const char **names = NEW(p->rq->arena, const char *, *count);

        for (unsigned bit = 0; bit < WARNING_COUNT; bit++)
            if (mask & 1u << bit)
                names[n++] = prediction_warning_name(bit);
        p->warnings[mask] = names;
    }
    *list = p->warnings[mask];
}

/* Of a question's own and the request's; NULL: each is an input. */
static const char *unused_parameter(const struct predicting *p,
                                    const struct fitted_model *m,
                                    const struct question *q)
{
    const char *own = fitted_unused(m, q->parameters, q->parameter_count);

    return own ? own
               : fitted_unused(m, p->in->query.parameters, p->in->query.parameter_count);
}

/* The input that a warning is about; "" for other warnings. */
static const char *input_of(const struct predicting *p, unsigned bit,
                            const struct fitted_prediction *prediction)
{
    static const char *const terms[] = {"problem_size", "processors",
                                        "cpu_available_ratio", "bandwidth_mbps"};
    const struct fitted_model *m = &p->models[0].fitted;
    size_t count = sizeof(terms) / sizeof(terms[0]);
    size_t input = prediction->far_input;
    const char *const *names =
        m->kind == MODEL_COMPREHENSIVE || m->kind == MODEL_PRELIMINARY
            ? terms
            : fitted_input_names(m, &count);

    if (1u << bit == FITTED_WARN_UNUSED)
        return unused_parameter(p, m, &p->in->query);
    if (1u << bit == FITTED_WARN_CONSTANT)
        input = prediction->constant_input;
    else if (1u << bit == FITTED_WARN_MISSING)
        input = prediction->missing_input;
    else if (1u << bit != FITTED_WARN_FAR && 1u << bit != FITTED_WARN_DISTANT)
        return "";
    return input < count ? names[input] : "";
}

static void warn(struct predicting *p, const char *text)
{
    struct decision_answer *d = &p->out->decision;

    if (d->warning_count == p->warning_room) {
        size_t room = 2 * p->warning_room + 16;

        p->texts = GROW(p->rq->arena, p->texts, const char *, p->warning_room, room);
        p->warning_room = room;
        d->warnings = p->texts;
    }
    p->texts[d->warning_count++] = text;
}

/* Texts of the warnings of a single answer. */
static void explain_warnings(struct predicting *p,
                             const struct fitted_prediction *prediction)
{
    for (unsigned bit = 0; bit < WARNING_COUNT; bit++) {
        const char *input = input_of(p, bit, prediction);

        if (prediction->warnings & 1u << bit)
            warn(p,
                 arena_printf(p->rq->arena, "%s: %s%s%s", prediction_warning_name(bit),
                              prediction_warning_text(bit), *input ? ": " : "", input));
    }
}

/* Warnings of many answers: each once, where it comes first, and how often. */
struct counted_warnings {
    size_t count[WARNING_COUNT], first[WARNING_COUNT];
};

static void count_warnings(struct counted_warnings *c, unsigned mask, size_t place)
{
    for (unsigned bit = 0; bit < WARNING_COUNT; bit++)
        if (mask & 1u << bit && c->count[bit]++ == 0)
            c->first[bit] = place;
}

static void explain_counted(struct predicting *p, const char *list,
                            const struct counted_warnings *c)
{
    for (unsigned bit = 0; bit < WARNING_COUNT; bit++)
        if (c->count[bit] > 0)
            warn(p,
                 arena_printf(p->rq->arena, "%s: %s: %s, first /%s/%zu",
                              prediction_warning_name(bit), prediction_warning_text(bit),
                              counted(c->count[bit], "time").text, list, c->first[bit]));
}

/* What is to be known of the models themselves, once for each. */
static enum error_code explain_models(struct predicting *p)
{
    for (size_t i = 0; i < p->model_count; i++) {
        const char *unused = model_unused_inputs(&p->models[i].fitted, p->rq->arena);
        const char *guess = prediction_guess_note(&p->models[i], p->rq->arena);

        if (p->rq->err->code != OK)
            return p->rq->err->code;
        if (unused)
            warn(p, unused);
        if (guess)
            warn(p, guess);
        for (unsigned bit = 0; bit < CORE_NOTE_COUNT; bit++) {
            const char *note = prediction_model_note(&p->models[i], bit, p->rq->arena);

            if (note)
                warn(p, note);
        }
    }
    return OK;
}

static enum error_code add_reason(struct predicting *p, const char *reason)
{
    struct reason_row *row = NEW(p->rq->arena, struct reason_row, 1);

    *row = (struct reason_row){reason, prediction_reason_text(reason)};
    p->out->reasons = row;
    p->out->reason_count = 1;
    return OK;
}

/* ---- questions ---- */

static double or_else(double value, double otherwise)
{
    return isnan(value) ? otherwise : value;
}

/* Notes what makes no sense or is missing; `at` is the pointer of the question. */
static void check_question(const struct predicting *p, const struct fitted_model *m,
                           const struct perf_query *q, const char *at)
{
    struct error *err = p->rq->err;

    if (m->kind >= MODEL_LINEAR || m->kind == MODEL_AUTO)
        return;
    if (isnan(q->problem_size))
        invalid(err, pointer_of(at, "problem_size").text, ITEM_REQUIRED,
                "the model predicts from the problem size");
    if (q->processors >= 2 && isnan(q->bandwidth_mbps))
        invalid(err, pointer_of(at, "bandwidth_mbps").text, ITEM_REQUIRED,
                "more than one processor: give the bandwidth between them, or "
                "resource_ids");
}

static struct perf_query query_of(const struct predicting *p, const struct question *q)
{
    const struct question *c = &p->common;

    return (struct perf_query){
        or_else(q->problem_size, c->problem_size),
        or_else(q->processors, c->processors),
        or_else(q->cpu_available_ratio, c->cpu_available_ratio),
        or_else(q->bandwidth_mbps, c->bandwidth_mbps),
    };
}

/* What a model of kind auto knows: a question's own, else the request's. */
static void fill_auto_inputs(const struct predicting *p, const struct fitted_model *m,
                             const struct question *q, const struct perf_query *query,
                             double *inputs)
{
    const struct question *common = &p->in->query;
    double others[FITTED_INPUTS_MAX];

    fitted_auto_inputs(m->names, query, q->parameters, q->parameter_count,
                       q->resource_class ? q->resource_class : common->resource_class,
                       p->in->source.site_id, inputs, NULL);
    fitted_auto_inputs(m->names, query, common->parameters, common->parameter_count, NULL,
                       NULL, others, NULL);
    for (size_t i = ENSEMBLE_TERMS; i < FITTED_INPUTS_MAX; i++)
        inputs[i] = isnan(inputs[i]) ? others[i] : inputs[i];
}

/* Inputs of a regression; an input that is missing is a mistake. */
static void fill_inputs(const struct predicting *p, const struct fitted_model *m,
                        const struct question *q, const struct perf_query *query,
                        const char *at, double *inputs)
{
    size_t count;
    const char *const *names = fitted_inputs(m->kind, &m->settings, &count);

    if (m->kind == MODEL_AUTO)
        fill_auto_inputs(p, m, q, query, inputs);
    for (size_t i = 0; i < count && m->kind >= MODEL_LINEAR; i++) {
        inputs[i] = fitted_input(names[i], query, q->parameters, q->parameter_count);
        if (isnan(inputs[i]))
            inputs[i] = fitted_input(names[i], query, p->in->query.parameters,
                                     p->in->query.parameter_count);
        if (!isnan(inputs[i]))
            continue;
        invalid(p->rq->err, pointer_named(at, names[i]).text, ITEM_REQUIRED,
                "the model needs the input '%.60s'", names[i]);
    }
}

static void note_unused(const struct predicting *p, const struct fitted_model *m,
                        const struct question *q, struct fitted_prediction *out)
{
    if (!out->reason && unused_parameter(p, m, q))
        out->warnings |= FITTED_WARN_UNUSED;
}

static void fill_result(struct predicting *p, const struct fitted_prediction *prediction,
                        struct result *out)
{
    *out = (struct result){
        .phase_index = (double)NAN,
        .reason = prediction->reason,
        .run_time_s = prediction->time_s,
        .run_time_low_s = prediction->low_s,
        .run_time_high_s = prediction->high_s,
        .computation_s = prediction->computation_s,
        .communication_s = prediction->communication_s,
        .method = prediction->method,
        .rank = prediction->rank ? (double)prediction->rank : (double)NAN,
        .problem_size_ratio = prediction->problem_size_ratio,
        .processors_ratio = prediction->processors_ratio,
        .extrapolation_ratio = prediction->extrapolation_ratio,
        .interval_basis = prediction->own_basis,
    };
    warnings_of(p, prediction->warnings, &out->warnings, &out->warning_count);
}

/* ---- loads ---- */

/* What was forecast stands in for what the request leaves out; *done: there is no
 * forecast, and that is the answer. */
static enum error_code use_forecast(struct predicting *p, bool *done)
{
    const struct question *q = &p->in->query;
    struct load_answer *loads = NEW(p->rq->arena, struct load_answer, 1);

    loads_answer(&p->forecast, loads, p->rq->arena);
    for (size_t i = 0; i < p->forecast.resource_count; i++) {
        const struct resource_forecast *r = &p->forecast.resources[i];

        loads_count_error(p->rq, r->forecaster, r->value, r->mae);
    }
    p->out->loads = loads;
    *done = p->forecast.reason != NULL;
    if (*done)
        return add_reason(p, p->forecast.reason);
    p->common.cpu_available_ratio =
        or_else(q->cpu_available_ratio, p->forecast.cpu_available_ratio);
    p->common.bandwidth_mbps = or_else(q->bandwidth_mbps, p->forecast.bandwidth_mbps);
    return OK;
}

static enum error_code forecast_loads(struct predicting *p, bool *done)
{
    const struct load_request *load = &p->in->load;

    *done = false;
    if (!load->resource_count)
        return OK;
    TRY(loads_read(p->rq, load, &p->history));
    TRY(loads_forecast(p->rq, load, &p->history, load->horizon_s, &p->forecast));
    return use_forecast(p, done);
}

/* duration_matched: once more, on averages as long as the run that was predicted. */
static enum error_code match_duration(struct predicting *p, double run_time_s,
                                      bool *again)
{
    const struct load_request *load = &p->in->load;
    bool done;

    *again = load->resource_count && isnan(load->horizon_s) && isfinite(run_time_s) &&
             load->forecast_mode == FORECAST_MODE_DURATION_MATCHED;
    if (!*again)
        return OK;
    TRY(loads_forecast(p->rq, load, &p->history, load_forecast_horizon_s(run_time_s),
                       &p->forecast));
    return use_forecast(p, &done);
}

/* ---- answers ---- */

/* What the quantiles of a question are; after fill_result(). */
static void add_quantiles(const struct predicting *p, const struct perf_query *query,
                          const double *inputs,
                          const struct fitted_prediction *prediction, struct result *out)
{
    out->quantiles = prediction_quantiles_of(&p->quantiles, &p->models[0].fitted, query,
                                             inputs, prediction, p->rq->arena);
    out->quantile_count = out->quantiles ? p->quantiles.count : 0;
}

/* What else is asked of the run. */
static void add_targets(const struct predicting *p, const struct question *q,
                        const struct perf_query *query, struct result *out)
{
    const struct predicted_target **members[TARGET_COUNT] = {
        [TARGET_MEMORY_PEAK] = &out->memory_peak_bytes,
        [TARGET_DISK_PEAK] = &out->disk_peak_bytes,
        [TARGET_CPUS_USED] = &out->cpus_used,
    };

    for (size_t i = 0; i < TARGET_COUNT; i++) {
        const struct asked_target *target = &p->targets.of[i];
        double inputs[FITTED_INPUTS_MAX] = {0};

        if (!target->model || !members[i])
            continue;
        fill_auto_inputs(p, target->model, q, query, inputs);
        *members[i] = prediction_target_of(target, query, inputs, p->rq->arena);
    }
}

static enum error_code ask_once(struct predicting *p, struct fitted_prediction *out)
{
    const struct fitted_model *m = &p->models[0].fitted;
    struct perf_query query = query_of(p, &p->in->query);
    double inputs[FITTED_INPUTS_MAX] = {0};

    check_question(p, m, &query, "");
    fill_inputs(p, m, &p->in->query, &query, "", inputs);
    if (p->rq->err->code != OK)
        return p->rq->err->code;
    fitted_predict(m, &query, inputs, &p->interval, out);
    note_unused(p, m, &p->in->query, out);
    fill_result(p, out, &p->out->result);
    add_quantiles(p, &query, inputs, out, &p->out->result);
    add_targets(p, &p->in->query, &query, &p->out->result);
    return OK;
}

static enum error_code answer_one(struct predicting *p)
{
    struct fitted_prediction prediction;
    bool again;

    TRY(ask_once(p, &prediction));
    TRY(match_duration(p, prediction.time_s, &again));
    if (again)
        TRY(ask_once(p, &prediction));
    if (prediction.reason)
        return add_reason(p, prediction.reason);
    if (prediction.own_basis)
        p->out->interval_basis = prediction.own_basis;
    if (prediction.error_count)
        p->out->interval_ratio_count = prediction.error_count;
    explain_warnings(p, &prediction);
    return OK;
}

static enum error_code answer_many(struct predicting *p)
{
    const struct fitted_model *m = &p->models[0].fitted;
    size_t count = p->in->query_count;
    struct result *results = NEW(p->rq->arena, struct result, count);
    struct counted_warnings counted = {0};
    const char *reason = NULL;
    size_t answered = 0;

    for (size_t i = 0; i < count; i++) {
        const struct question *q = &p->in->queries[i];
        struct perf_query query = query_of(p, q);
        double inputs[FITTED_INPUTS_MAX] = {0};
        struct fitted_prediction prediction;
        struct pointer at = pointer_in("/queries", i, NULL);

        check_question(p, m, &query, at.text);
        fill_inputs(p, m, q, &query, at.text, inputs);
        if (p->rq->err->code != OK)
            continue;
        fitted_predict(m, &query, inputs, &p->interval, &prediction);
        note_unused(p, m, q, &prediction);
        fill_result(p, &prediction, &results[i]);
        add_quantiles(p, &query, inputs, &prediction, &results[i]);
        add_targets(p, q, &query, &results[i]);
        count_warnings(&counted, prediction.warnings, i);
        answered += !prediction.reason;
        reason = prediction.reason ? prediction.reason : reason;
    }
    if (p->rq->err->code != OK)
        return p->rq->err->code;
    p->out->results = results;
    p->out->result_count = count;
    explain_counted(p, "queries", &counted);
    return answered || !reason ? OK : add_reason(p, reason);
}

static const struct model_at_hand *model_of_phase(const struct predicting *p,
                                                  double phase_index)
{
    size_t low = 0, high = p->model_count;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (p->models[middle].phase_index < phase_index)
            low = middle + 1;
        else
            high = middle;
    }
    return low < p->model_count && p->models[low].phase_index == phase_index
               ? &p->models[low]
               : NULL;
}

/* One phase; its time goes to the sum, or its share to the missing ones. */
static enum error_code ask_phase(struct predicting *p, size_t i, struct result *row,
                                 struct counted_warnings *counted, struct phase_sum *sum)
{
    const struct phase_question *q = &p->in->phases[i];
    const struct model_at_hand *model = model_of_phase(p, q->phase_index);
    struct question question = {
        (double)NAN, q->processors, q->cpu_available_ratio, q->bandwidth_mbps, NULL,
        0,           NULL};
    struct perf_query query = query_of(p, &question);
    struct fitted_prediction prediction = {.reason = "phase_model_missing"};
    struct fitted_interval interval;
    double inputs[FITTED_INPUTS_MAX] = {0};
    struct pointer at = pointer_in("/phases", i, NULL);

    prediction.time_s = prediction.low_s = prediction.high_s = (double)NAN;
    prediction.extrapolation_ratio = (double)NAN;
    if (model) {
        check_question(p, &model->fitted, &query, at.text);
        fill_inputs(p, &model->fitted, &question, &query, at.text, inputs);
        TRY(fitted_interval(&model->fitted, p->in->interval_level, &interval,
                            p->rq->arena, p->rq->err));
        fitted_predict(&model->fitted, &query, inputs, &interval, &prediction);
    }
    fill_result(p, &prediction, row);
    count_warnings(counted, prediction.warnings, i);
    row->phase_index = q->phase_index;
    if (prediction.reason)
        phase_sum_miss(sum, q->share_ratio);
    else
        phase_sum_add(sum, row->run_time_s, row->run_time_low_s, row->run_time_high_s);
    return OK;
}

static enum error_code answer_phases(struct predicting *p)
{
    struct result *rows = NEW(p->rq->arena, struct result, p->in->phase_count);
    struct result *whole = &p->out->result;
    struct counted_warnings counted = {0};
    struct phase_sum sum = {0};
    const char *reason = NULL;
    bool known;

    for (size_t i = 0; i < p->in->phase_count; i++) {
        TRY(ask_phase(p, i, &rows[i], &counted, &sum));
        reason = reason ? reason : rows[i].reason;
    }
    if (p->rq->err->code != OK)
        return p->rq->err->code;
    p->out->phases = rows;
    p->out->phase_count = p->in->phase_count;
    explain_counted(p, "phases", &counted);
    known = phase_sum_end(&sum);
    whole->run_time_s = sum.time_s;
    whole->run_time_low_s = sum.low_s;
    whole->run_time_high_s = sum.high_s;
    return known ? OK : add_reason(p, reason ? reason : "phase_model_missing");
}

static enum error_code name_models(struct predicting *p)
{
    struct named_model *names = NEW(p->rq->arena, struct named_model, p->model_count);
    struct basis *basis = NEW(p->rq->arena, struct basis, 1);
    const struct fitted_model *m = &p->models[0].fitted;
    struct model_summary s;

    for (size_t i = 0; i < p->model_count; i++)
        names[i] = (struct named_model){p->models[i].id, p->models[i].state,
                                        model_kind_names[p->models[i].fitted.kind],
                                        p->models[i].version};
    model_summary_of(m, NULL, &s, p->rq->arena);
    *basis = (struct basis){
        s.sample_count,        s.unseen_count,   s.unseen_appe_pct, s.recent_appe_pct,
        s.fit_appe_pct,        s.cross_appe_pct, s.problem_size,    s.processors,
        s.cpu_available_ratio, s.bandwidth_mbps,
    };
    p->out->models = names;
    p->out->model_count = m->guess ? 0 : p->model_count;
    p->out->basis = m->guess ? NULL : basis;
    p->out->interval_level = p->interval.level;
    if (!p->interval.by_group)
        p->out->interval_basis = prediction_interval_basis(m, &p->interval);
    p->out->interval_ratio_count = p->interval.ratio_count;
    return explain_models(p);
}

static enum error_code check_request(const struct predictions_request *in,
                                     struct error *err)
{
    const char *algorithm = in->decision.algorithm;

    if (algorithm && strcmp(algorithm, "auto") != 0)
        decision_unknown_algorithm(algorithm, (const char *const[]){"auto"}, 1, err);
    if (in->decision.option_count)
        invalid(err, "/options", ITEM_UNKNOWN_MEMBER, "predictions have no options");
    if (in->quantiles && in->phases)
        invalid(err, "/quantiles", ITEM_INVALID_COMBINATION,
                "not with phases: quantiles of theirs do not add up");
    prediction_quantiles_check(in->quantiles, in->quantile_count, err);
    prediction_parameters_check(in->query.parameters, in->query.parameter_count,
                                "/parameters", err);
    for (size_t i = 0; i < in->query_count; i++)
        prediction_parameters_check(in->queries[i].parameters,
                                    in->queries[i].parameter_count,
                                    pointer_in("/queries", i, "parameters").text, err);
    prediction_targets_check(in->targets, in->target_count, in->source.application_id,
                             err);
    if (in->target_count > 0 && in->phases)
        invalid(err, "/targets", ITEM_INVALID_COMBINATION, "not with phases");
    if (in->load.resource_ids && in->load.resource_count == 0)
        invalid(err, "/resource_ids", ITEM_TOO_SHORT, "give at least one resource");
    if (in->is_load && !in->load.resource_ids)
        invalid(err, "/resource_ids", ITEM_REQUIRED, "whose load is to be forecast");
    return err->code;
}

static void warn_of_corrections(struct predicting *p)
{
    size_t count = 0, first = 0;

    for (size_t i = p->model_count; i-- > 0;) {
        if (!p->models[i].state || strcmp(p->models[i].state, "stale") != 0)
            continue;
        first = i;
        count++;
    }
    if (count)
        warn(p, arena_printf(p->rq->arena,
                             "history_corrected: runs that %zu model%s had learnt (first "
                             "'%.100s') were corrected or removed; %s trained anew",
                             count, count == 1 ? "" : "s", p->models[first].id,
                             count == 1 ? "it is" : "they are"));
}

static enum error_code predict(struct predicting *p)
{
    const struct predictions_request *in = p->in;
    const struct question *first = in->queries ? in->queries : &in->query;
    const struct similar_question like = {first->parameters, first->parameter_count,
                                          !isnan(first->problem_size)};
    struct model_source source = in->source;
    const char *warning;
    bool done;

    if (in->is_load)
        return forecast_loads(p, &done);
    if (!in->phases)
        source.like = &like;
    TRY(models_at_hand(p->rq, &source, in->phases != NULL, &p->models, &p->model_count));
    if (!p->models || p->model_count == 0)
        return fail(p->rq->err, ERR_NOT_FOUND, "/application_id",
                    "there is no such model");
    TRY(fitted_interval(&p->models[0].fitted, in->interval_level, &p->interval,
                        p->rq->arena, p->rq->err));
    TRY(prediction_quantiles_begin(&p->models[0].fitted, in->quantiles,
                                   in->quantile_count, &p->quantiles, p->rq->arena,
                                   p->rq->err));
    TRY(prediction_targets_begin(p->rq, in->targets, in->target_count,
                                 in->source.application_id, in->interval_level,
                                 &p->targets, &warning));
    TRY(name_models(p));
    if (warning)
        warn(p, warning);
    warn_of_corrections(p);
    TRY(forecast_loads(p, &done));
    if (done)
        return OK;
    return in->phases ? answer_phases(p) : in->queries ? answer_many(p) : answer_one(p);
}

static enum error_code predict_run_time(struct request *rq, const void *in, void *out)
{
    const struct predictions_request *body = in;
    struct predictions_answer *answer = out;
    struct predicting p = {.rq = rq, .in = body, .out = answer};
    struct result none = {.phase_index = (double)NAN};

    none.run_time_s = none.run_time_low_s = none.run_time_high_s = (double)NAN;
    none.computation_s = none.communication_s = none.rank = (double)NAN;
    none.problem_size_ratio = none.processors_ratio = (double)NAN;
    none.extrapolation_ratio = (double)NAN;
    TRY(check_request(body, rq->err));
    TRY(decision_begin(rq, &body->decision, &answer->decision));
    answer->result = none;
    answer->interval_level = body->interval_level;
    p.common = body->query;
    p.common.processors =
        or_else(body->query.processors,
                body->load.resource_count ? (double)body->load.resource_count : 1);
    if (!body->load.resource_count)
        p.common.cpu_available_ratio = or_else(body->query.cpu_available_ratio, 1);
    TRY(predict(&p));
    decision_end(rq, p.models ? model_kind_names[p.models[0].fitted.kind] : "load",
                 answer->reason_count ? DECISION_INFEASIBLE : DECISION_FEASIBLE,
                 &answer->decision);
    return OK;
}

static enum error_code predict_load(struct request *rq, const void *in, void *out)
{
    struct predictions_request body = *(const struct predictions_request *)in;

    body.is_load = true;
    return predict_run_time(rq, &body, out);
}

/* ---- kinds ---- */

/* Every kind of prediction: name, body, answer, handler (see predictions.h). The first is
 * meant by a body without `kind`. */
#define PREDICTION_KINDS(X)                                                          \
    X(run_time, predictions_request_json, predictions_answer_json, predict_run_time) \
    X(load, load_request_json, load_prediction_json, predict_load)                   \
    X(remaining_time, remaining_prediction_request_json,                             \
      remaining_prediction_answer_json, predict_remaining)

static const struct json_kind request_kinds[] = {
#define X(name, request, answer, run) {#name, &request},
    PREDICTION_KINDS(X)
#undef X
        {0},
};
static const struct json_kind answer_kinds[] = {
#define X(name, request, answer, run) {#name, &answer},
    PREDICTION_KINDS(X)
#undef X
        {0},
};
static handler_fn *const runs[] = {
#define X(name, request, answer, run) run,
    PREDICTION_KINDS(X)
#undef X
};

struct prediction_of_kind {
    struct json_of_kind of;
};

#define T struct prediction_of_kind
static const struct json_field any_request_rows[] = {
    JSON_KIND(T, of, request_kinds, "What is predicted; default run_time"),
    {0},
};
static const struct json_field any_answer_rows[] = {
    JSON_KIND(T, of, answer_kinds, "What was predicted"),
    {0},
};
#undef T
const struct json_object any_prediction_request_json = {
    "AnyPredictionRequest", "What is to be predicted; its member kind says which",
    sizeof(struct prediction_of_kind), any_request_rows};
const struct json_object any_prediction_answer_json = {
    "AnyPredictionAnswer", "What was predicted, by its kind",
    sizeof(struct prediction_of_kind), any_answer_rows};

enum error_code post_predictions(struct request *rq, const void *in, void *out)
{
    const struct prediction_of_kind *body = in;
    struct prediction_of_kind *answer = out;

    return answer_by_kind(rq, &body->of, answer_kinds, runs, &answer->of);
}

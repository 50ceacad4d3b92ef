/* model_fits.c - models without a database: fits of runs in the request, and how good
 * predictions were. */
#include "handlers/model/routes.h"

#include "handlers/common/decision.h"
#include "handlers/model/model_json.h"
#include "models/base/plural.h"
#include "models/performance/accuracy.h"

#include <stdio.h>
#include <string.h>

enum { PAIRS_MAX = 100000, COMBINATIONS_PRESET = 10 };

/* ---- fits ---- */

struct fit_request {
    struct decision_request decision;
    int kind;
    struct model_settings settings;
    const struct model_run *samples;
    size_t sample_count;
    uint64_t combinations;
};

#define T struct fit_request
static const struct json_field fit_request_rows[] = {
    JSON_CHOICE(T, kind, model_kind_names, MODEL_AUTO, 0, "Kind of model; default auto"),
    JSON_OBJECT(T, settings, struct model_settings, &model_settings_json, 0,
                "How it is trained"),
    JSON_LIST(T, samples, sample_count, struct model_run, &model_run_json, MODEL_RUNS_MAX,
              JSON_REQUIRED, "Runs to fit to, in the order of time"),
    JSON_INTEGER(T, combinations, 0, MODEL_COMBINATIONS_MAX, COMBINATIONS_PRESET, 0,
                 "How many of the combinations to list; default 10"),
    DECISION_REQUEST_ROWS(T),
    {0},
};
#undef T
const struct json_object model_fit_request_json = {
    "ModelFitRequest", "Runs of an application, and what to fit to them",
    sizeof(struct fit_request), fit_request_rows};

struct fit_reason {
    const char *reason, *detail;
};

#define T struct fit_reason
static const struct json_field fit_reason_rows[] = {
    JSON_WORD(T, reason, fitted_reason_names, 0, "Name of the reason"),
    JSON_TEXT(T, detail, 0, "What it means"),
    {0},
};
#undef T
static const struct json_object fit_reason_json = {
    "ModelFitReason", "Why there is no model", sizeof(struct fit_reason),
    fit_reason_rows};

struct fit_answer {
    struct decision_answer decision;
    int kind;
    struct model_settings settings;
    struct model_summary summary;
    struct model_details details;
    uint64_t combinations_total;
    const char *packed;
    const struct fit_reason *reasons;
    size_t reason_count;
};

#define T struct fit_answer
static const struct json_field fit_answer_rows[] = {
    DECISION_ANSWER_ROWS(T, DECISION_BY_ONE(model_kind_names)),
    JSON_CHOICE(T, kind, model_kind_names, 0, 0, "Kind of model"),
    JSON_OBJECT(T, settings, struct model_settings, &model_settings_json, 0,
                "How it was trained"),
    JSON_OBJECT(T, summary, struct model_summary, &model_summary_json, 0,
                "What it was fitted to, and how well"),
    JSON_INTEGER(T, combinations_total, 0, JSON_EXACT, 0, 0,
                 "Combinations that there are, of which the first are listed"),
    MODEL_DETAILS_ROWS(T),
    JSON_TEXT(T, packed, JSON_OPTIONAL,
              "The whole model, for `model.packed` of a prediction, with kind and "
              "settings"),
    JSON_LIST(T, reasons, reason_count, struct fit_reason, &fit_reason_json, 0,
              JSON_OPTIONAL, "Why there is no model"),
    DECISION_END_ROWS(T),
    {0},
};
#undef T
const struct json_object model_fit_answer_json = {
    "ModelFitAnswer", "A fitted model", sizeof(struct fit_answer), fit_answer_rows};

/* What was left out of the fit, and what it does not use. */
static void warn_of_fit(struct request *rq, const struct fitted_model *m,
                        struct fit_answer *out)
{
    const char **list = NEW(rq->arena, const char *, 4);
    const char *unused = model_unused_inputs(m, rq->arena);

    const char *settings;

    model_unused_settings(m->kind, &m->settings, "/settings", &settings, rq->arena);
    if (m->outlier_count > 0)
        list[out->decision.warning_count++] = arena_printf(
            rq->arena, "outliers_left_out: %s %s far from the others: /samples",
            counted(m->outlier_count, "run").text, plural(m->outlier_count, "is", "are"));
    if (m->unusable_count > 0)
        list[out->decision.warning_count++] = arena_printf(
            rq->arena, "samples_unusable: %s %s what the kind needs: /samples",
            counted(m->unusable_count, "run").text,
            plural(m->unusable_count, "lacks", "lack"));
    if (unused)
        list[out->decision.warning_count++] = unused;
    if (settings)
        list[out->decision.warning_count++] = settings;
    out->decision.warnings = list;
}

static void fill_fit(struct request *rq, const struct fit_request *in,
                     const struct fitted_model *m, struct fit_answer *out)
{
    warn_of_fit(rq, m, out);
    model_summary_of(m, NULL, &out->summary, rq->arena);
    if (m->reason) {
        struct fit_reason *row = NEW(rq->arena, struct fit_reason, 1);

        *row = (struct fit_reason){
            m->reason,
            arena_printf(rq->arena, "%s, %zu of them unusable, gave no model",
                         counted(in->sample_count, "run").text, m->unusable_count)};
        out->reasons = row;
        out->reason_count = 1;
        return;
    }
    model_details_of(m, (size_t)in->combinations, &out->details, rq->arena);
    out->combinations_total = out->details.combinations_total;
    model_packed_text(m, &out->packed, rq->arena);
}

enum error_code post_model_fit(struct request *rq, const void *in, void *out)
{
    const struct fit_request *body = in;
    enum model_kind kind = (enum model_kind)body->kind;
    struct fit_answer *answer = out;
    struct fitted_run *runs;
    struct fitted_model m;

    fitted_check_settings(kind, &body->settings, "/settings", rq->err);
    if (body->decision.algorithm || body->decision.option_count)
        invalid(rq->err, body->decision.algorithm ? "/algorithm" : "/options",
                ITEM_UNKNOWN_MEMBER, "a fit is described by kind and settings");
    if (rq->err->code != OK)
        return rq->err->code;
    runs = model_runs_read(kind, &body->settings, body->samples, body->sample_count,
                           rq->arena);
    TRY(decision_begin(rq, &body->decision, &answer->decision));
    TRY(fitted_train(kind, &body->settings, runs, body->sample_count, &rq->budget, &m,
                     NULL, rq->arena, rq->err));
    if (m.reason && strcmp(m.reason, "mixed_processors") == 0)
        return invalid(rq->err, "/samples", ITEM_MIXED_PROCESSORS,
                       "a preliminary model needs runs on one number of processors");
    answer->kind = body->kind;
    answer->settings = body->settings;
    fill_fit(rq, body, &m, answer);
    decision_end(rq, model_kind_names[kind],
                 m.reason ? DECISION_INFEASIBLE
                 : m.cut  ? DECISION_CUT
                          : DECISION_FEASIBLE,
                 &answer->decision);
    return OK;
}

/* ---- evaluations ---- */

/* A nanosecond, and 30 million years: errors in percent, and their squares, stay finite.
 */
#define LEAST_ACTUAL_S   1e-9
#define LONGEST_ACTUAL_S 1e15

#define T                struct accuracy_pair
static const struct json_field pair_rows[] = {
    JSON_NUMBER(T, actual_s, LEAST_ACTUAL_S, LONGEST_ACTUAL_S, NAN, JSON_REQUIRED,
                "How long it ran"),
    JSON_NUMBER(T, predicted_s, -LONGEST_ACTUAL_S, LONGEST_ACTUAL_S, NAN, JSON_REQUIRED,
                "What was predicted"),
    {0},
};
#undef T
static const struct json_object pair_json = {"EvaluationPair", "A run and its prediction",
                                             sizeof(struct accuracy_pair), pair_rows};

struct evaluation_row {
    double problem_size, processors, actual_s, predicted_s;
    uint64_t group;
};

struct evaluation_body {
    const struct accuracy_pair *pairs;
    size_t pair_count;
    const struct evaluation_row *configurations;
    size_t configuration_count;
};

#define T struct evaluation_row
static const struct json_field configuration_rows[] = {
    JSON_NUMBER(T, problem_size, 0, JSON_LARGEST, NAN, JSON_REQUIRED | JSON_ABOVE_MIN,
                "Size of the problem"),
    JSON_NUMBER(T, processors, 1, 1e9, NAN, JSON_REQUIRED | JSON_WHOLE, "Processors"),
    JSON_NUMBER(T, actual_s, LEAST_ACTUAL_S, LONGEST_ACTUAL_S, NAN, JSON_REQUIRED,
                "How long it ran"),
    JSON_NUMBER(T, predicted_s, -LONGEST_ACTUAL_S, LONGEST_ACTUAL_S, NAN, JSON_REQUIRED,
                "What was predicted"),
    JSON_INTEGER(T, group, 0, PAIRS_MAX, 0, 0,
                 "Configurations of one group are compared; default 0"),
    {0},
};
#undef T
static const struct json_object configuration_json = {
    "EvaluationConfiguration", "A configuration that was run",
    sizeof(struct evaluation_row), configuration_rows};

#define T struct evaluation_body
static const struct json_field evaluation_rows[] = {
    JSON_LIST(T, pairs, pair_count, struct accuracy_pair, &pair_json, PAIRS_MAX, 0,
              "Runs with their predictions: how good these were",
              JSON_UNLESS("configurations")),
    JSON_LIST(T, configurations, configuration_count, struct evaluation_row,
              &configuration_json, PAIRS_MAX, 0,
              "Configurations of the same work in groups: what choosing by prediction "
              "loses"),
    {0},
};
#undef T
const struct json_object model_evaluation_request_json = {
    "ModelEvaluationRequest", "Predictions and what came of them",
    sizeof(struct evaluation_body), evaluation_rows};

struct loss_answer {
    double problem_size, processors, chosen_s, best_s, loss_pct;
};

struct evaluation_answer {
    uint64_t pair_count;
    double appe_pct, ppe_sd_pct, below_30_pct, below_40_pct, bias_pct, worst_ppe_pct,
        median_ppe_pct, max_loss_pct;
    const struct loss_answer *losses;
    size_t loss_count;
};

#define T struct loss_answer
static const struct json_field loss_rows[] = {
    JSON_NUMBER(T, problem_size, 0, 0, 0, 0, "Size that was chosen by prediction"),
    JSON_NUMBER(T, processors, 0, 0, 0, JSON_WHOLE, "Processors likewise"),
    JSON_NUMBER(T, chosen_s, 0, 0, 0, 0, "How long that ran"),
    JSON_NUMBER(T, best_s, 0, 0, 0, 0, "How long the best one ran"),
    JSON_RATIO(T, loss_ratio, loss_pct, 0, 0, 0, "How much longer, of the best"),
    {0},
};
#undef T
static const struct json_object loss_json = {"EvaluationLoss",
                                             "What choosing by prediction loses",
                                             sizeof(struct loss_answer), loss_rows};

#define T struct evaluation_answer
static const struct json_field evaluation_answer_rows[] = {
    JSON_INTEGER(T, pair_count, 0, JSON_EXACT, 0, 0, "Pairs that were given"),
    JSON_RATIO(T, appe_ratio, appe_pct, 0, 0, JSON_MAY_BE_NULL,
               "Mean of |actual - predicted| / actual; null: no pairs"),
    JSON_RATIO(T, ppe_sd_ratio, ppe_sd_pct, 0, 0, JSON_MAY_BE_NULL,
               "Its standard deviation; null: fewer than two pairs"),
    JSON_RATIO(T, below_30_ratio, below_30_pct, 0, 0, JSON_MAY_BE_NULL,
               "Share of the pairs with less than 30 %; null: no pairs"),
    JSON_RATIO(T, below_40_ratio, below_40_pct, 0, 0, JSON_MAY_BE_NULL,
               "Likewise than 40 %; null: no pairs"),
    JSON_RATIO(T, bias_ratio, bias_pct, 0, 0, JSON_MAY_BE_NULL,
               "Mean with its sign; above 0: too long; null: no pairs"),
    JSON_RATIO(T, worst_ppe_ratio, worst_ppe_pct, 0, 0, JSON_MAY_BE_NULL,
               "The greatest; null: no pairs"),
    JSON_RATIO(T, median_ppe_ratio, median_ppe_pct, 0, 0, JSON_MAY_BE_NULL,
               "The median; null: no pairs"),
    JSON_LIST(T, losses, loss_count, struct loss_answer, &loss_json, 0, 0,
              "Of each group of configurations"),
    JSON_RATIO(T, max_loss_ratio, max_loss_pct, 0, 0, JSON_MAY_BE_NULL,
               "The greatest of the losses; null: no configurations"),
    {0},
};
#undef T
const struct json_object model_evaluation_answer_json = {
    "ModelEvaluationAnswer", "How good predictions were",
    sizeof(struct evaluation_answer), evaluation_answer_rows};

static enum error_code evaluate_choices(struct request *rq,
                                        const struct evaluation_body *in,
                                        struct evaluation_answer *out)
{
    struct loss_row *rows = NEW(rq->arena, struct loss_row, in->configuration_count + 1);
    struct loss_answer *losses;
    struct loss_group *groups;
    size_t count;

    out->max_loss_pct = (double)NAN;
    for (size_t i = 0; i < in->configuration_count; i++) {
        const struct evaluation_row *c = &in->configurations[i];

        rows[i] = (struct loss_row){c->problem_size, c->processors, c->actual_s,
                                    c->predicted_s, (size_t)c->group};
    }
    if (in->configuration_count == 0)
        return OK;
    TRY(scheduling_loss(rows, in->configuration_count, &groups, &count,
                        &out->max_loss_pct, rq->arena, rq->err));
    losses = NEW(rq->arena, struct loss_answer, count + 1);
    for (size_t i = 0; i < count; i++)
        losses[i] = (struct loss_answer){groups[i].problem_size, groups[i].processors,
                                         groups[i].chosen_s, groups[i].best_s,
                                         groups[i].loss_pct};
    out->losses = losses;
    out->loss_count = count;
    return OK;
}

enum error_code post_model_evaluation(struct request *rq, const void *in, void *out)
{
    const struct evaluation_body *body = in;
    struct evaluation_answer *answer = out;
    struct accuracy accuracy;

    TRY(accuracy_of(body->pairs, body->pair_count, &accuracy, rq->arena, rq->err));
    answer->pair_count = accuracy.count;
    answer->appe_pct = accuracy.appe_pct;
    answer->ppe_sd_pct = accuracy.ppe_sd_pct;
    answer->below_30_pct = accuracy.below_30_pct;
    answer->below_40_pct = accuracy.below_40_pct;
    answer->bias_pct = accuracy.bias_pct;
    answer->worst_ppe_pct = accuracy.worst_ppe_pct;
    answer->median_ppe_pct = accuracy.median_ppe_pct;
    return evaluate_choices(rq, body, answer);
}

/* experiment_plans.c - POST /v1/experiment-plans: which runs to make for a model.
 *
 * Without a model the plan of a first training; with one the runs, out of those that
 * the caller could make, on which the combinations that it keeps disagree most: these
 * teach it most.
 */
#include "handlers/prediction/routes.h"

#include "handlers/common/decision.h"
#include "handlers/prediction/prediction_models.h"
#include "models/base/pointer.h"
#include "models/performance/plan_runs.h"

#include <math.h>
#include <stdio.h>

#define WHOLE_MAX 2147483647.0
enum {
    CANDIDATES_MAX = 10000,
    WANT_MAX = 1000,
    GRID_SIZES = 10, /* of candidates that the service makes itself */
    ASKED_MAX = 50,  /* combinations that are compared */
    WANT_PRESET = 5,
    TASKS_PRESET = 3,
    LEAST_PROCESSORS_PRESET = 1,
    MOST_PROCESSORS_PRESET = 8
};
#define CPU_PRESET            1.0
#define BANDWIDTH_PRESET_MBPS 100.0

struct candidate {
    double problem_size, processors, cpu_available_ratio, bandwidth_mbps;
};

struct plan_request {
    struct decision_request decision;
    struct model_source source;
    double min_problem_size, max_problem_size;
    uint64_t min_processors, max_processors;
    int size;
    uint64_t task_count, want;
    const struct candidate *candidates;
    size_t candidate_count;
    double cpu_available_ratio, bandwidth_mbps;
};

#define T struct candidate
static const struct json_field candidate_rows[] = {
    JSON_NUMBER(T, problem_size, 0, JSON_LARGEST, NAN, JSON_REQUIRED | JSON_ABOVE_MIN,
                "Size of the problem"),
    JSON_NUMBER(T, processors, 1, WHOLE_MAX, NAN, JSON_REQUIRED | JSON_WHOLE,
                "Processors"),
    JSON_NUMBER(T, cpu_available_ratio, 0, 1, NAN, JSON_NULLABLE | JSON_ABOVE_MIN,
                "CPU to be expected; default: that of the request"),
    JSON_NUMBER(T, bandwidth_mbps, 0, JSON_LARGEST, NAN, JSON_NULLABLE | JSON_ABOVE_MIN,
                "Bandwidth to be expected; default: that of the request"),
    {0},
};
#undef T
static const struct json_object candidate_json = {
    "ExperimentCandidate", "A run that could be made", sizeof(struct candidate),
    candidate_rows};

#define T struct plan_request
static const struct json_field request_rows[] = {
    JSON_NUMBER(T, min_problem_size, 0, JSON_LARGEST, NAN, JSON_NULLABLE | JSON_ABOVE_MIN,
                "Least size to run; needed without candidates"),
    JSON_NUMBER(T, max_problem_size, 0, JSON_LARGEST, NAN, JSON_NULLABLE | JSON_ABOVE_MIN,
                "Greatest size to run; needed without candidates"),
    JSON_INTEGER(T, min_processors, 1, 1000000, LEAST_PROCESSORS_PRESET, 0,
                 "Least processors; default 1"),
    JSON_INTEGER(T, max_processors, 1, 1000000, MOST_PROCESSORS_PRESET, 0,
                 "Most processors; default 8"),
    JSON_CHOICE(T, size, run_plan_size_names, RUN_PLAN_FULL, 0,
                "full: about 60 runs; minimum: half of that, enough to start; default "
                "full"),
    JSON_INTEGER(T, task_count, 1, 1000000, TASKS_PRESET, 0,
                 "Tasks or segments of the application, for what other strategies would "
                 "take; default 3"),
    MODEL_SOURCE_ROWS(T),
    JSON_INTEGER(T, want, 1, WANT_MAX, WANT_PRESET, 0,
                 "With a model: how many runs; default 5"),
    JSON_LIST(T, candidates, candidate_count, struct candidate, &candidate_json,
              CANDIDATES_MAX, 0,
              "With a model: runs that could be made; default: 10 sizes on 1, 2, 4 ... "
              "processors within the bounds",
              JSON_LEAST(1)),
    JSON_NUMBER(T, cpu_available_ratio, 0, 1, CPU_PRESET, JSON_ABOVE_MIN,
                "With a model: CPU to be expected; default 1"),
    JSON_NUMBER(T, bandwidth_mbps, 0, JSON_LARGEST, BANDWIDTH_PRESET_MBPS, JSON_ABOVE_MIN,
                "With a model: bandwidth to be expected; default 100"),
    DECISION_REQUEST_ROWS(T),
    {0},
};
#undef T
const struct json_object experiment_plan_request_json = {
    "ExperimentPlanRequest", "An application that is to be modelled",
    sizeof(struct plan_request), request_rows};

struct experiment {
    double problem_size, processors;
    bool dedicated;
    double disagreement_ratio, run_time_s;
};

#define T struct experiment
static const struct json_field experiment_rows[] = {
    JSON_NUMBER(T, problem_size, 0, 0, 0, 0, "Size of the problem"),
    JSON_NUMBER(T, processors, 0, 0, 0, JSON_WHOLE, "Processors"),
    JSON_BOOLEAN(T, dedicated, 0, 0, "Nothing else may run on the machines"),
    JSON_NUMBER(T, disagreement_ratio, 0, 0, 0, JSON_OPTIONAL,
                "Standard deviation of what the combinations predict, over their mean"),
    JSON_NUMBER(T, run_time_s, 0, 0, 0, JSON_OPTIONAL, "Mean of what they predict"),
    {0},
};
#undef T
static const struct json_object experiment_json = {
    "Experiment", "A run to make", sizeof(struct experiment), experiment_rows};

struct overhead {
    const char *name;
    double min_runs, max_runs;
    const char *besides;
};

#define T struct overhead
static const struct json_field overhead_rows[] = {
    JSON_TEXT(T, name, 0, "The strategy"),
    JSON_NUMBER(T, min_runs, 0, 0, 0, JSON_MAY_BE_NULL | JSON_WHOLE,
                "Runs that it takes at least; null: not known before"),
    JSON_NUMBER(T, max_runs, 0, 0, 0, JSON_MAY_BE_NULL | JSON_WHOLE,
                "And at most; null: its source gives no number"),
    JSON_TEXT(T, besides, 0, "What it needs besides"),
    {0},
};
#undef T
static const struct json_object overhead_json = {"ExperimentOverhead",
                                                 "What another strategy would take",
                                                 sizeof(struct overhead), overhead_rows};

struct plan_reason {
    const char *reason, *detail;
};

/* Why no runs are proposed: too few processors, no combinations to compare, or what
 * keeps the model from predicting. */
#define NO_COMBINATIONS "no_combinations"
static const char *const plan_reason_names[] = {RUN_PLAN_TOO_FEW, NO_COMBINATIONS,
                                                FITTED_REASON_WORDS, NULL};

#define T struct plan_reason
static const struct json_field reason_rows[] = {
    JSON_WORD(T, reason, plan_reason_names, 0, "Name of the reason"),
    JSON_TEXT(T, detail, 0, "What it means"),
    {0},
};
#undef T
static const struct json_object reason_json = {"ExperimentPlanReason",
                                               "Why there is no plan",
                                               sizeof(struct plan_reason), reason_rows};

struct plan_answer {
    struct decision_answer decision;
    const struct experiment *experiments, *dedicated_runs;
    size_t experiment_count, dedicated_run_count;
    const struct overhead *overheads;
    size_t overhead_count;
    const struct plan_reason *reasons;
    size_t reason_count;
};

#define T struct plan_answer
static const struct json_field answer_rows[] = {
    DECISION_ANSWER_ROWS(T, DECISION_BY("experiment_plan")),
    JSON_LIST(T, experiments, experiment_count, struct experiment, &experiment_json, 0, 0,
              "Runs to make, in this order"),
    JSON_LIST(T, dedicated_runs, dedicated_run_count, struct experiment, &experiment_json,
              0, 0, "To carry the model to another site: here and there"),
    JSON_LIST(T, overheads, overhead_count, struct overhead, &overhead_json, 0,
              JSON_OPTIONAL, "Without a model: runs that other strategies would take"),
    JSON_LIST(T, reasons, reason_count, struct plan_reason, &reason_json, 0,
              JSON_OPTIONAL, "Why there is no plan"),
    DECISION_END_ROWS(T),
    {0},
};
#undef T
const struct json_object experiment_plan_answer_json = {
    "ExperimentPlanAnswer", "Which runs to make", sizeof(struct plan_answer),
    answer_rows};

static void give_reason(struct request *rq, const char *reason, const char *detail,
                        struct plan_answer *out)
{
    struct plan_reason *row = NEW(rq->arena, struct plan_reason, 1);

    *row = (struct plan_reason){reason, detail};
    out->reasons = row;
    out->reason_count = 1;
}

/* ---- what is not used ---- */

struct unused_member {
    const char *name;
    bool given; /* what is its preset changes nothing */
};

static void warn_unused(struct request *rq, const struct unused_member *member,
                        size_t count, const char *why, struct plan_answer *out)
{
    const char *names = "", **warning = NEW(rq->arena, const char *, 1);
    size_t unused = 0;

    for (size_t i = 0; i < count; i++) {
        if (!member[i].given)
            continue;
        names = arena_printf(rq->arena, "%s%s/%s", names, unused++ ? ", " : "",
                             member[i].name);
    }
    if (unused == 0)
        return;
    *warning = arena_printf(rq->arena, "ignored: %zu member%s (%s): %s", unused,
                            unused == 1 ? "" : "s", names, why);
    out->decision.warnings = warning;
    out->decision.warning_count = 1;
}

static void warn_first(struct request *rq, const struct plan_request *in,
                       struct plan_answer *out)
{
    const struct unused_member member[] = {
        {"want", in->want != WANT_PRESET},
        {"candidates", in->candidates != NULL},
        {"cpu_available_ratio", in->cpu_available_ratio != CPU_PRESET},
        {"bandwidth_mbps", in->bandwidth_mbps != BANDWIDTH_PRESET_MBPS},
        {"time_limit_s", isfinite(in->decision.time_limit_s)},
    };

    warn_unused(rq, member, sizeof(member) / sizeof(*member),
                "the plan of a first training, without a model, is a table", out);
}

/* Do all candidates have one of their own? */
static bool all_have(const struct plan_request *in,
                     double (*value)(const struct candidate *))
{
    bool all = in->candidates && in->candidate_count > 0;

    for (size_t i = 0; all && i < in->candidate_count; i++)
        all = !isnan(value(&in->candidates[i]));
    return all;
}

static double cpu_of(const struct candidate *c)
{
    return c->cpu_available_ratio;
}

static double bandwidth_of(const struct candidate *c)
{
    return c->bandwidth_mbps;
}

static void warn_next(struct request *rq, const struct plan_request *in,
                      struct plan_answer *out)
{
    bool given = in->candidates != NULL;
    const struct unused_member member[] = {
        {"size", in->size != RUN_PLAN_FULL},
        {"task_count", in->task_count != TASKS_PRESET},
        {"min_problem_size", given && !isnan(in->min_problem_size)},
        {"max_problem_size", given && !isnan(in->max_problem_size)},
        {"min_processors", given && in->min_processors != LEAST_PROCESSORS_PRESET},
        {"max_processors", given && in->max_processors != MOST_PROCESSORS_PRESET},
        {"cpu_available_ratio",
         in->cpu_available_ratio != CPU_PRESET && all_have(in, cpu_of)},
        {"bandwidth_mbps",
         in->bandwidth_mbps != BANDWIDTH_PRESET_MBPS && all_have(in, bandwidth_of)},
        {"time_limit_s", isfinite(in->decision.time_limit_s)},
    };

    warn_unused(rq, member, sizeof(member) / sizeof(*member),
                given ? "runs of a model are chosen out of the candidates"
                      : "runs of a model are chosen by how far it is sure of them",
                out);
}

/* ---- the first training ---- */

static void copy_runs(const struct planned_run *runs, size_t count,
                      const struct experiment **out, struct arena *a)
{
    struct experiment *list = NEW(a, struct experiment, count + 1);

    for (size_t i = 0; i < count; i++)
        list[i] = (struct experiment){runs[i].problem_size, (double)runs[i].processors,
                                      runs[i].dedicated, (double)NAN, (double)NAN};
    *out = list;
}

/* Distinct sizes and counts of a plan, for what others would take. */
static void count_distinct(const struct run_plan *plan, size_t *sizes, size_t *counts)
{
    *sizes = *counts = 0;
    for (size_t i = 0; i < plan->run_count; i++) {
        bool size_seen = false, count_seen = false;

        for (size_t k = 0; k < i; k++) {
            size_seen |= plan->runs[k].problem_size == plan->runs[i].problem_size;
            count_seen |= plan->runs[k].processors == plan->runs[i].processors;
        }
        *sizes += !size_seen;
        *counts += !count_seen;
    }
}

static void add_overheads(struct request *rq, const struct run_plan *plan,
                          size_t task_count, struct plan_answer *out)
{
    struct run_overhead rows[RUN_OVERHEAD_COUNT];
    struct overhead *list = NEW(rq->arena, struct overhead, RUN_OVERHEAD_COUNT);
    size_t sizes, counts;

    count_distinct(plan, &sizes, &counts);
    run_overheads(sizes, counts, task_count, rows);
    for (size_t i = 0; i < RUN_OVERHEAD_COUNT; i++)
        list[i] = (struct overhead){rows[i].name, rows[i].min_runs, rows[i].max_runs,
                                    rows[i].besides};
    out->overheads = list;
    out->overhead_count = RUN_OVERHEAD_COUNT;
}

static void check_bounds(const struct plan_request *in, struct error *err)
{
    if (isnan(in->min_problem_size))
        invalid(err, "/min_problem_size", ITEM_REQUIRED,
                "the least size to run is missing");
    if (isnan(in->max_problem_size))
        invalid(err, "/max_problem_size", ITEM_REQUIRED,
                "the greatest size to run is missing");
    if (in->min_problem_size > in->max_problem_size)
        invalid(err, "/max_problem_size", ITEM_OUT_OF_BOUNDS,
                "less than min_problem_size, %g", in->min_problem_size);
    if (in->min_processors > in->max_processors)
        invalid(err, "/max_processors", ITEM_OUT_OF_BOUNDS,
                "less than min_processors, %zu", (size_t)in->min_processors);
}

static enum error_code plan_first(struct request *rq, const struct plan_request *in,
                                  struct plan_answer *out)
{
    struct run_plan_in question = {
        in->min_problem_size,         in->max_problem_size,
        (size_t)in->min_processors,   (size_t)in->max_processors,
        (enum run_plan_size)in->size,
    };
    struct run_plan plan = {0};

    check_bounds(in, rq->err);
    if (rq->err->code != OK)
        return rq->err->code;
    TRY(run_plan(&question, &plan, rq->arena, rq->err));
    if (plan.reason) {
        give_reason(rq, plan.reason,
                    "Fewer than two numbers of processors above one: nothing "
                    "would be learnt of how the time changes with them",
                    out);
        return OK;
    }
    copy_runs(plan.runs, plan.run_count, &out->experiments, rq->arena);
    copy_runs(plan.dedicated_runs, plan.dedicated_run_count, &out->dedicated_runs,
              rq->arena);
    out->experiment_count = plan.run_count;
    out->dedicated_run_count = plan.dedicated_run_count;
    add_overheads(rq, &plan, (size_t)in->task_count, out);
    return OK;
}

/* ---- which runs next ---- */

/* 10 sizes on doubling numbers of processors. */
static enum error_code make_candidates(struct request *rq, const struct plan_request *in,
                                       struct run_candidate **list, size_t *count)
{
    size_t levels = 1, n = 0;

    check_bounds(in, rq->err);
    if (rq->err->code != OK)
        return rq->err->code;
    for (uint64_t p = in->min_processors; p < in->max_processors; p *= 2)
        levels++;
    *list = NEW(rq->arena, struct run_candidate, levels * GRID_SIZES);
    for (size_t level = 0; level < levels; level++) {
        uint64_t p = in->min_processors << level;

        if (p > in->max_processors)
            p = in->max_processors;
        for (size_t i = 0; i < GRID_SIZES; i++) {
            double step =
                (in->max_problem_size - in->min_problem_size) / (GRID_SIZES - 1);

            (*list)[n++] = (struct run_candidate){
                round(in->min_problem_size + (double)i * step), (size_t)p,
                in->cpu_available_ratio, in->bandwidth_mbps};
        }
    }
    *count = n;
    return OK;
}

static enum error_code given_candidates(struct request *rq, const struct plan_request *in,
                                        struct run_candidate **list, size_t *count)
{
    *list = NEW(rq->arena, struct run_candidate, in->candidate_count + 1);
    for (size_t i = 0; i < in->candidate_count; i++) {
        const struct candidate *c = &in->candidates[i];

        (*list)[i] = (struct run_candidate){
            c->problem_size, (size_t)c->processors,
            isnan(c->cpu_available_ratio) ? in->cpu_available_ratio
                                          : c->cpu_available_ratio,
            isnan(c->bandwidth_mbps) ? in->bandwidth_mbps : c->bandwidth_mbps};
    }
    *count = in->candidate_count;
    return OK;
}

/* For run_choose_next(): `models` is the fitted model, its combinations are asked. */
static double predict_by(const void *models, size_t model,
                         const struct run_candidate *candidate)
{
    const struct fitted_model *m = models;
    const struct perf_list *list = candidate->processors < 2 && m->set.single.count
                                       ? &m->set.single
                                       : &m->set.sorted;
    struct perf_query query = {candidate->problem_size, (double)candidate->processors,
                               candidate->cpu_available_ratio, candidate->bandwidth_mbps};

    if (model >= list->count || !isfinite(list->items[model].standard_error) ||
        !perf_combination_takes(&list->items[model], query.problem_size, query.processors,
                                query.bandwidth_mbps))
        return (double)NAN;
    return perf_combination_time_s(&list->items[model], &query);
}

static enum error_code plan_next(struct request *rq, const struct plan_request *in,
                                 const struct fitted_model *m, struct plan_answer *out)
{
    struct run_candidate *candidates = NULL;
    struct run_choice *choices;
    struct experiment *list;
    size_t candidate_count = 0, choice_count, asked;

    TRY(in->candidates ? given_candidates(rq, in, &candidates, &candidate_count)
                       : make_candidates(rq, in, &candidates, &candidate_count));
    if (m->kind != MODEL_COMPREHENSIVE || m->reason) {
        give_reason(rq, m->reason ? m->reason : NO_COMBINATIONS,
                    "Only a trained comprehensive model keeps several "
                    "combinations to compare",
                    out);
        return OK;
    }
    asked = m->set.sorted.count > m->set.single.count ? m->set.sorted.count
                                                      : m->set.single.count;
    if (asked > ASKED_MAX)
        asked = ASKED_MAX;
    run_choose_next(candidates, candidate_count, m, asked, NULL, predict_by,
                    (size_t)in->want, &choices, &choice_count, rq->arena);
    list = NEW(rq->arena, struct experiment, choice_count + 1);
    for (size_t i = 0; i < choice_count; i++) {
        const struct run_candidate *c = &candidates[choices[i].candidate];

        list[i] = (struct experiment){c->problem_size, (double)c->processors, false,
                                      choices[i].disagreement_ratio, choices[i].mean_s};
    }
    out->experiments = list;
    out->experiment_count = choice_count;
    return OK;
}

enum error_code post_experiment_plan(struct request *rq, const void *in, void *out)
{
    const struct plan_request *body = in;
    const struct model_source *source = &body->source;
    struct plan_answer *answer = out;
    const struct model_at_hand *model;
    size_t count;

    if (body->decision.algorithm || body->decision.option_count)
        return invalid(rq->err, body->decision.algorithm ? "/algorithm" : "/options",
                       ITEM_UNKNOWN_MEMBER,
                       "a plan has no algorithms or options to choose");
    TRY(decision_begin(rq, &body->decision, &answer->decision));
    if (source->model_id || source->application_id || source->model) {
        TRY(models_at_hand(rq, source, false, &model, &count));
        TRY(plan_next(rq, body, &model->fitted, answer));
        warn_next(rq, body, answer);
    } else {
        TRY(plan_first(rq, body, answer));
        warn_first(rq, body, answer);
    }
    decision_end(rq, "experiment_plan",
                 answer->reason_count ? DECISION_INFEASIBLE : DECISION_FEASIBLE,
                 &answer->decision);
    return OK;
}

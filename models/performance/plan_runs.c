/* performance/plan_runs.c - which runs to train a performance model with. */
#include "models/performance/plan_runs.h"

#include <math.h>
#include <stdlib.h>

#define WHOLE_MAX 9007199254740992.0 /* 2^53 */

enum {
    GROUPS_MAX = 4,
    SPREAD_RUNS = 6, /* dedicated ones on the second processor count */
};

const char *const run_plan_size_names[] = {"full", "minimum", NULL};

/* Runs on one number of processors. */
struct group {
    size_t processors, run_count;
};

static void check(const struct run_plan_in *in, struct error *err)
{
    if (!(in->min_problem_size >= 1))
        invalid(err, "/min_problem_size", ITEM_OUT_OF_BOUNDS, "must be 1 or more");
    if (!(in->max_problem_size > in->min_problem_size) ||
        in->max_problem_size > WHOLE_MAX)
        invalid(err, "/max_problem_size", ITEM_OUT_OF_BOUNDS,
                "must be above min_problem_size and at most 2^53");
    if (in->min_processors < 1)
        invalid(err, "/min_processors", ITEM_OUT_OF_BOUNDS, "must be 1 or more");
    if (in->max_processors < in->min_processors)
        invalid(err, "/max_processors", ITEM_OUT_OF_BOUNDS,
                "must not be below min_processors");
}

static size_t make_groups(const struct run_plan_in *in, struct group *groups)
{
    static const size_t from_one[] = {20, 20, 10, 10}, from_more[] = {40, 10, 10};
    bool one = in->min_processors == 1;
    const size_t *runs = one ? from_one : from_more;
    size_t rows = one ? 4 : 3, processors = in->min_processors, count = 0;

    for (size_t i = 0; i < rows; i++) {
        size_t run_count = in->size == RUN_PLAN_MINIMUM ? runs[i] / 2 : runs[i];

        if (count > 0 && groups[count - 1].processors == processors)
            groups[count - 1].run_count += run_count;
        else
            groups[count++] = (struct group){processors, run_count};
        processors =
            processors > in->max_processors / 2 ? in->max_processors : 2 * processors;
    }
    return count;
}

/* count >= 2 problem sizes, evenly spread, ascending. */
static void add_runs(const struct run_plan_in *in, size_t processors, size_t count,
                     bool dedicated, struct planned_run *runs)
{
    double span = in->max_problem_size - in->min_problem_size;

    for (size_t i = 0; i < count; i++) {
        double size = in->min_problem_size + (double)i * span / (double)(count - 1);

        runs[i] = (struct planned_run){round(size), processors, dedicated};
    }
}

enum error_code run_plan(const struct run_plan_in *in, struct run_plan *out,
                         struct arena *a, struct error *err)
{
    size_t group_count, many = 0, run_count = 0;
    struct group groups[GROUPS_MAX];
    struct planned_run *runs, *dedicated;

    check(in, err);
    if (err->code != OK)
        return err->code;
    group_count = make_groups(in, groups);
    for (size_t g = 0; g < group_count; g++) {
        many += groups[g].processors >= 2;
        run_count += groups[g].run_count;
    }
    if (many < 2) {
        *out = (struct run_plan){.reason = RUN_PLAN_TOO_FEW};
        return OK;
    }
    runs = NEW(a, struct planned_run, run_count);
    dedicated = NEW(a, struct planned_run, 1 + SPREAD_RUNS);
    *out = (struct run_plan){NULL, runs, run_count, dedicated, 1 + SPREAD_RUNS};
    for (size_t g = 0; g < group_count; g++) {
        add_runs(in, groups[g].processors, groups[g].run_count, false, runs);
        runs += groups[g].run_count;
    }
    dedicated[0] =
        (struct planned_run){round(in->min_problem_size / 2 + in->max_problem_size / 2),
                             groups[0].processors, true};
    add_runs(in, groups[1].processors, SPREAD_RUNS, true, dedicated + 1);
    return OK;
}

void run_overheads(size_t size_count, size_t processor_count, size_t task_count,
                   struct run_overhead out[RUN_OVERHEAD_COUNT])
{
    double s = (double)size_count, q = (double)processor_count, k = (double)task_count;
    const struct run_overhead rows[] = {
        {"adve_vernon", s * q * k, s * q * k, "task graph, drawn by hand"},
        {"prophesy", s * q, s * q, ""},
        {"anglano", k * s * q, k * s * q, "analysis of the source"},
        {"lee", 300, 1000, ""},
        {"pace", NAN, NAN, "analysis of the source, mapping to hardware models"},
        {"ipek", 250, 500, ""},
        {"gridplan", 60, 60, ""},
    };

    for (size_t i = 0; i < RUN_OVERHEAD_COUNT; i++)
        out[i] = rows[i];
}

/* ---- which runs next ---- */

/* Most disagreement first; those that cannot be assessed last. */
static int compare_choices(const void *a, const void *b)
{
    const struct run_choice *x = a, *y = b;
    bool x_unknown = isnan(x->disagreement_ratio);
    bool y_unknown = isnan(y->disagreement_ratio);

    if (x_unknown != y_unknown)
        return x_unknown ? 1 : -1;
    if (!x_unknown && x->disagreement_ratio != y->disagreement_ratio)
        return x->disagreement_ratio > y->disagreement_ratio ? -1 : 1;
    return (x->candidate > y->candidate) - (x->candidate < y->candidate);
}

/* Weighted mean and variance of the predictions, by one pass. */
static struct run_choice assess(size_t index, const struct run_candidate *candidate,
                                const void *models, size_t model_count,
                                const double *weight, run_predict_fn *predict)
{
    double total = 0, mean = 0, squares = 0;
    size_t count = 0;

    for (size_t m = 0; m < model_count; m++) {
        double w = weight ? weight[m] : 1, off;
        double time_s = predict(models, m, candidate);

        if (!(time_s > 0) || !isfinite(time_s) || !(w > 0) || !isfinite(w))
            continue;
        total += w;
        off = time_s - mean;
        mean += off * (w / total);
        squares += w * off * (time_s - mean);
        count++;
    }
    return (struct run_choice){
        index,
        count < 2 ? (double)NAN : sqrt(fmax(0, squares / total)) / mean,
        count == 0 ? (double)NAN : mean,
    };
}

static bool equal_candidates(const struct run_candidate *x, const struct run_candidate *y)
{
    bool same_link = x->bandwidth_mbps == y->bandwidth_mbps ||
                     (isnan(x->bandwidth_mbps) && isnan(y->bandwidth_mbps));

    return x->problem_size == y->problem_size && x->processors == y->processors &&
           x->cpu_available_ratio == y->cpu_available_ratio && same_link;
}

/* Equal candidates have equal ratios, and so lie near each other. */
static bool already_chosen(const struct run_candidate *candidates,
                           const struct run_choice *chosen, size_t count,
                           const struct run_choice *next)
{
    for (size_t i = count; i > 0; i--) {
        const struct run_choice *c = &chosen[i - 1];

        if (equal_candidates(&candidates[c->candidate], &candidates[next->candidate]))
            return true;
        if (c->disagreement_ratio > next->disagreement_ratio)
            return false;
    }
    return false;
}

void run_choose_next(const struct run_candidate *candidates, size_t candidate_count,
                     const void *models, size_t model_count, const double *weight,
                     run_predict_fn *predict, size_t want, struct run_choice **out,
                     size_t *out_count, struct arena *a)
{
    struct run_choice *choices = NEW(a, struct run_choice, candidate_count);
    size_t count = 0;

    for (size_t i = 0; i < candidate_count; i++)
        choices[i] = assess(i, &candidates[i], models, model_count, weight, predict);
    qsort(choices, candidate_count, sizeof(*choices), compare_choices);
    for (size_t i = 0; i < candidate_count && count < want; i++) {
        if (!already_chosen(candidates, choices, count, &choices[i]))
            choices[count++] = choices[i];
    }
    *out = choices;
    *out_count = count;
}

double run_predict_combination(const void *combinations, size_t model,
                               const struct run_candidate *candidate)
{
    const struct perf_combination *c = combinations;
    struct perf_query query = {
        candidate->problem_size,
        (double)candidate->processors,
        candidate->cpu_available_ratio,
        candidate->bandwidth_mbps,
    };

    return perf_combination_time_s(&c[model], &query);
}

/* performance/plan_runs.h - which runs to train a performance model with.
 *
 * The full plan has about 60 short runs: 20 on one processor, 20 on two, 10 on
 * four, 10 on eight, their problem sizes spread evenly, the load left to chance.
 * An application that needs m > 1 processors gets 40, 10 and 10 on m, 2m, 4m. The
 * minimum to start is half of each. A count above max_processors becomes
 * max_processors; equal counts merge and add their runs. To port the model to
 * another cluster some dedicated runs are needed there and on the reference.
 *
 * Source: spec performance-models.md, section 8, 11 (dedicated runs), 22 item 10.
 */
#ifndef GRIDPLAN_PERFORMANCE_PLAN_RUNS_H
#define GRIDPLAN_PERFORMANCE_PLAN_RUNS_H

#include "models/base/error.h"
#include "models/performance/combination.h"

#include <stdbool.h>

enum run_plan_size { RUN_PLAN_FULL, RUN_PLAN_MINIMUM };

/* "full", "minimum", NULL. */
extern const char *const run_plan_size_names[];

struct run_plan_in {
    double min_problem_size,
        max_problem_size;                  /* whole numbers make sense; 0 < min <= max */
    size_t min_processors, max_processors; /* 1 <= min <= max */
    enum run_plan_size size;
};

struct planned_run {
    double problem_size; /* whole */
    size_t processors;
    bool dedicated; /* nothing else may run on the machines */
};

#define RUN_PLAN_TOO_FEW "too_few_processors" /* run_plan.reason */

struct run_plan {
    const char *reason; /* NULL; "too_few_processors": fewer than two counts >= 2 */
    const struct planned_run *runs;
    size_t run_count;
    const struct planned_run
        *dedicated_runs; /* on the reference and each further cluster */
    size_t dedicated_run_count;
};

/* ERR_INVALID for bounds that are not in order (pointers "/min_problem_size" ...). */
enum error_code run_plan(const struct run_plan_in *in, struct run_plan *out,
                         struct arena *a, struct error *err);

/* How many runs other strategies would take, Table 3.8. */
struct run_overhead {
    const char *name;
    double min_runs, max_runs; /* NAN: the source gives no count */
    const char *besides;       /* what else is needed; "" */
};

enum { RUN_OVERHEAD_COUNT = 7 };

/* s problem sizes, q processor counts, k tasks or segments, each >= 1. */
void run_overheads(size_t size_count, size_t processor_count, size_t task_count,
                   struct run_overhead out[RUN_OVERHEAD_COUNT]);

/* ---- which runs next ---- */

/* A run that could be made, in the load expected. */
struct run_candidate {
    double problem_size;
    size_t processors;
    double cpu_available_ratio, bandwidth_mbps;
};

struct run_choice {
    size_t candidate;          /* index */
    double disagreement_ratio; /* standard deviation of the predictions / their mean */
    double mean_s;             /* of the predictions */
};

/* What the kept combination `model` says about a candidate, seconds; not finite or
 * not > 0: it cannot say. */
typedef double run_predict_fn(const void *models, size_t model,
                              const struct run_candidate *candidate);

/* The `want` candidates on which the models disagree most, most first, ties to the
 * lower index; those that fewer than two models can predict come last, ratio NAN.
 * Equal candidates are chosen once. weight: of each model, >= 0; NULL: all the
 * same. O(candidates * models). */
void run_choose_next(const struct run_candidate *candidates, size_t candidate_count,
                     const void *models, size_t model_count, const double *weight,
                     run_predict_fn *predict, size_t want, struct run_choice **out,
                     size_t *out_count, struct arena *a);

/* The predict function for `models` that is an array of struct perf_combination. */
double run_predict_combination(const void *combinations, size_t model,
                               const struct run_candidate *candidate);

#endif

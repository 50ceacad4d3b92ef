/* prediction_targets.h - what else is predicted of a run: the peaks of its memory
 * and disk, the cpus that it uses. */
#ifndef GRIDPLAN_PREDICTION_TARGETS_H
#define GRIDPLAN_PREDICTION_TARGETS_H

#include "models/fitted/fitted.h"
#include "service/json.h"
#include "service/route.h"

struct predicted_target {
    double value, low, high; /* in the unit of the target */
    const char *interval_basis;
};
extern const struct json_object predicted_target_json;

/* What is asked of models of other targets, worked out once for all questions. */
struct asked_targets {
    struct asked_target {
        const struct fitted_model *model; /* NULL: not asked for, or there is none */
        struct fitted_interval interval;
    } of[TARGET_COUNT]; /* by enum model_target; that of run times is not used */
};

/* Notes names that are no targets, or come twice, at /targets, and other targets than run
 * times without an application_id. */
void prediction_targets_check(const char *const *list, size_t count,
                              const char *application_id, struct error *err);

/* Reads the models; `list` has passed the check. *warning: there is no model of a target
 * that is asked for; NULL: all is well. */
enum error_code prediction_targets_begin(struct request *rq, const char *const *list,
                                         size_t count, const char *application_id,
                                         double level, struct asked_targets *out,
                                         const char **warning);

/* The target of a question with inputs as the target's model names them; NULL: none. */
const struct predicted_target *prediction_target_of(const struct asked_target *asked,
                                                    const struct perf_query *query,
                                                    const double *inputs,
                                                    struct arena *a);

#endif

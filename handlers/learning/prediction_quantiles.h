/* prediction_quantiles.h - run times that shares of the runs do not exceed. */
#ifndef GRIDPLAN_PREDICTION_QUANTILES_H
#define GRIDPLAN_PREDICTION_QUANTILES_H

#include "models/fitted/fitted.h"
#include "service/json.h"

enum { QUANTILES_MAX = 9 };
#define QUANTILE_LEAST    0.01
#define QUANTILE_GREATEST 0.99

struct predicted_quantile {
    double quantile, run_time_s; /* NAN: the model has no such */
};
extern const struct json_object predicted_quantile_json;

/* What is asked of a model, worked out once for all questions. */
struct asked_quantiles {
    const double *list;
    size_t count;
    struct fitted_interval interval[QUANTILES_MAX];
};

/* Notes more than QUANTILES_MAX of them, and those that do not ascend, at /quantiles. */
void prediction_quantiles_check(const double *list, size_t count, struct error *err);

/* Fills the intervals; `list` has passed the check. */
enum error_code prediction_quantiles_begin(const struct fitted_model *m,
                                           const double *list, size_t count,
                                           struct asked_quantiles *out, struct arena *a,
                                           struct error *err);

/* The quantiles of a question, whose own prediction is there; NULL: none are asked for,
 * or there is no prediction. */
const struct predicted_quantile *
prediction_quantiles_of(const struct asked_quantiles *asked, const struct fitted_model *m,
                        const struct perf_query *query, const double *inputs,
                        const struct fitted_prediction *prediction, struct arena *a);

#endif

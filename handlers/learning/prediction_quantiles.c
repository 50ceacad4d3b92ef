/* prediction_quantiles.c - run times that shares of the runs do not exceed.
 *
 * The quantile p is an end of the interval of the level |2 p - 1|, the upper one above
 * the middle; the middle itself is the prediction. Intervals of rising levels are nested,
 * so quantiles rise.
 *
 * Source: learning.md 4.3, 11.
 */
#include "handlers/learning/prediction_quantiles.h"

#include <math.h>
#include <stdio.h>

#define T struct predicted_quantile
static const struct json_field quantile_rows[] = {
    JSON_NUMBER(T, quantile, 0, 0, 0, 0, "Share of the runs"),
    JSON_NUMBER(T, run_time_s, 0, 0, 0, JSON_OPTIONAL,
                "They take no longer; left out: the model does not know"),
    {0},
};
#undef T
const struct json_object predicted_quantile_json = {
    "PredictedQuantile", "A run time that a share of the runs does not exceed",
    sizeof(struct predicted_quantile), quantile_rows};

void prediction_quantiles_check(const double *list, size_t count, struct error *err)
{
    char pointer[48];

    if (count > QUANTILES_MAX)
        invalid(err, "/quantiles", ITEM_TOO_MANY, "at most %d quantiles", QUANTILES_MAX);
    for (size_t i = 1; i < count && i <= QUANTILES_MAX; i++) {
        snprintf(pointer, sizeof(pointer), "/quantiles/%zu", i);
        if (!(list[i] > list[i - 1]))
            invalid(err, pointer, ITEM_NOT_ALLOWED, "not above the one before it");
    }
}

enum error_code prediction_quantiles_begin(const struct fitted_model *m,
                                           const double *list, size_t count,
                                           struct asked_quantiles *out, struct arena *a,
                                           struct error *err)
{
    out->list = list;
    out->count = count;
    for (size_t i = 0; i < count; i++) {
        double level = fabs(2 * list[i] - 1);

        /* of the middle no end is taken */
        TRY(fitted_interval(m, level > 0 ? level : 0.5, &out->interval[i], a, err));
    }
    return OK;
}

const struct predicted_quantile *
prediction_quantiles_of(const struct asked_quantiles *asked, const struct fitted_model *m,
                        const struct perf_query *query, const double *inputs,
                        const struct fitted_prediction *prediction, struct arena *a)
{
    struct predicted_quantile *rows;

    if (asked->count == 0 || prediction->reason)
        return NULL;
    rows = NEW(a, struct predicted_quantile, asked->count);
    for (size_t i = 0; i < asked->count; i++) {
        double p = asked->list[i];
        struct fitted_prediction at;

        fitted_predict(m, query, inputs, &asked->interval[i], &at);
        rows[i].quantile = p;
        rows[i].run_time_s = p > 0.5 ? at.high_s : p < 0.5 ? at.low_s : at.time_s;
        if (!isfinite(rows[i].run_time_s))
            rows[i].run_time_s = (double)NAN;
    }
    return rows;
}

/* predictions.h - POST /v1/predictions: how long a job will run, the load that it will
 * meet, and how long one that runs will still take.
 *
 * The member `kind` of the body says which. A kind is a row of PREDICTION_KINDS in
 * predictions.c: a table for its body and one for its answer, each with a choice `kind`
 * of that one name (required in the body but for run_time, the default), and a handler.
 */
#ifndef GRIDPLAN_PREDICTIONS_H
#define GRIDPLAN_PREDICTIONS_H

#include "models/fitted/fitted.h"
#include "service/route.h"

/* The tables of all kinds in one. */
extern const struct json_object any_prediction_request_json;
extern const struct json_object any_prediction_answer_json;

/* POST /v1/predictions: any_prediction_request_json; answers
 * any_prediction_answer_json. */
handler_fn post_predictions;

/* The kind remaining_time: how long a running task will take, from its own progress. */
extern const struct json_object remaining_prediction_request_json;
extern const struct json_object remaining_prediction_answer_json;
handler_fn predict_remaining;

#endif

/* predictions.h - POST /v1/predictions: how long a job will run. */
#ifndef GRIDPLAN_PREDICTIONS_H
#define GRIDPLAN_PREDICTIONS_H

#include "handlers/model_fitted.h"
#include "service/route.h"

extern const struct json_object predictions_request_json;
extern const struct json_object predictions_answer_json;

handler_fn post_predictions;

#endif

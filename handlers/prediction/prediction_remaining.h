/* prediction_remaining.h - predictions of kind "remaining_time": how long a running task
 * will take, from its own progress. */
#ifndef GRIDPLAN_PREDICTION_REMAINING_H
#define GRIDPLAN_PREDICTION_REMAINING_H

#include "service/route.h"

extern const struct json_object remaining_prediction_request_json;
extern const struct json_object remaining_prediction_answer_json;

/* A handler of a kind (predictions.h). */
handler_fn predict_remaining;

#endif

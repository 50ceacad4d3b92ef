/* model_fits.h - models without a database: fits of runs in the request, and how good
 * predictions were. */
#ifndef GRIDPLAN_MODEL_FITS_H
#define GRIDPLAN_MODEL_FITS_H

#include "service/route.h"

extern const struct json_object model_fit_request_json;
extern const struct json_object model_fit_answer_json;
extern const struct json_object model_evaluation_request_json;
extern const struct json_object model_evaluation_answer_json;

handler_fn post_model_fit;        /* POST /v1/model-fits */
handler_fn post_model_evaluation; /* POST /v1/model-evaluations */

#endif

/* routes.c - the endpoints of this room.
 *
 * A row: method, path, operation and tag of the description, handler; body, answer and
 * query tables; which thread, which scope, flags; documentation; prefix of its examples.
 */
#include "handlers/prediction/routes.h"

#include "handlers/common/tags.h"
#include "handlers/prediction/predictions.h"

const struct route prediction_routes[] = {
    {"POST", "/v1/experiment-plans", "decideExperimentPlans", TAG_MODELS,
     post_experiment_plan, &experiment_plan_request_json, &experiment_plan_answer_json,
     NULL, WORK_COMPUTE, SCOPE_DECIDE,
     ROUTE_DECISION | ROUTE_IDEMPOTENT_KEY | ROUTE_LONG | ROUTE_LOOKS_UP,
     "Which runs to make for a model?",
     "Without a model: the runs of a first training, from the bounds of the problem size "
     "and the processors, and what other strategies would take. With a comprehensive "
     "model, stored or in the request: the runs on which its combinations disagree most.",
     "experiment-"},
    {"GET", "/v1/forecasts", "listForecasts", TAG_LOAD, get_forecasts, NULL,
     &forecasts_page_json, &forecasts_query_json, WORK_QUERY, SCOPE_DECIDE | SCOPE_INGEST,
     0, "Forecast loads",
     "The next average of 600 s of each resource's CPU and each link's bandwidth, from "
     "the stored load samples, by the one of 18 forecasters that was best so far; by "
     "resource_id, in pages.",
     NULL},
    {"POST", "/v1/predictions", "predict", TAG_MODELS, post_predictions,
     &any_prediction_request_json, &any_prediction_answer_json, NULL, WORK_QUERY,
     SCOPE_DECIDE, ROUTE_DECISION | ROUTE_IDEMPOTENT_KEY | ROUTE_LONG | ROUTE_LOOKS_UP,
     "How long will a job run?",
     "kind run_time: from a stored model, or one in the request, the problem size, the "
     "processors and "
     "the load to be expected, which is given or forecast for resource_ids. With an "
     "interval, what it rests on, and warnings where the model is asked far outside what "
     "it has seen. One job, many of the same model (queries), or the phases of one. kind "
     "load: only the forecast for resource_ids. kind remaining_time: a job that runs, "
     "from what it said of its progress, in the request or stored; with an interval, the "
     "work that is left, and the wall time on other resources.",
     "prediction-"},
    {0},
};

/* routes.c - the endpoints of this room.
 *
 * A row: method, path, operation and tag of the description, handler; body, answer and
 * query tables; which thread, which scope, flags; documentation; prefix of its examples.
 */
#include "handlers/model/routes.h"

#include "handlers/common/tags.h"

const struct route model_routes[] = {
    {"POST", "/v1/model-evaluations", "decideModelEvaluations", TAG_MODELS,
     post_model_evaluation, &model_evaluation_request_json, &model_evaluation_answer_json,
     NULL, WORK_COMPUTE, SCOPE_DECIDE, 0, "How good were predictions?",
     "Mean error, its spread and bias of pairs of actual and predicted times, and what "
     "is lost when configurations are chosen by their predicted times.",
     "model-evaluation"},
    {"POST", "/v1/model-fits", "decideModelFits", TAG_MODELS, post_model_fit,
     &model_fit_request_json, &model_fit_answer_json, NULL, WORK_COMPUTE, SCOPE_DECIDE,
     ROUTE_DECISION | ROUTE_IDEMPOTENT_KEY | ROUTE_LONG, "Fit a model to runs",
     "Trains a model from the runs in the request and stores nothing. `packed` of the "
     "answer is the model, for POST /v1/predictions.",
     "model-fit-"},
    {"GET", "/v1/models", "listModels", TAG_MODELS, get_models, NULL, &models_page_json,
     &models_query_json, WORK_QUERY, SCOPE_DECIDE | SCOPE_INGEST, 0, "List models",
     "By id, in pages, without their coefficients.", NULL},
    {"POST", "/v1/models", "createModel", TAG_MODELS, post_model, &model_create_json,
     &created_model_json, NULL, WORK_QUERY, SCOPE_INGEST,
     ROUTE_IDEMPOTENT_KEY | ROUTE_VERSIONED, "Make a model",
     "A model of an application at a site, of whole runs or of one phase. It begins with "
     "the latest 2000 executions that are stored, is trained in the background as soon "
     "as they are enough, and learns every further one. 409 when there is one of that "
     "name, or of the same application_id, site_id, phase_index and kind.",
     NULL},
    {"DELETE", "/v1/models/{model_id}", "deleteModel", TAG_MODELS, delete_model, NULL,
     NULL, NULL, WORK_QUERY, SCOPE_INGEST, ROUTE_VERSIONED, "Delete a model",
     "With all its versions; executions stay. If-Match is honoured.", NULL},
    {"GET", "/v1/models/{model_id}", "getModel", TAG_MODELS, get_model, NULL,
     &stored_model_json, &model_query_json, WORK_QUERY, SCOPE_DECIDE | SCOPE_INGEST,
     ROUTE_VERSIONED, "Read a model",
     "Its state, the version that predicts, its coefficients, what it was fitted to, and "
     "its errors on executions that it had not seen. The ETag is strong; If-None-Match "
     "is honoured.",
     NULL},
    {"POST", "/v1/models/{model_id}/port", "portModel", TAG_MODELS, post_model_port,
     &model_port_json, &learnt_model_json, NULL, WORK_COMPUTE, SCOPE_INGEST,
     ROUTE_VERSIONED | ROUTE_IDEMPOTENT_KEY | ROUTE_LONG,
     "Carry over a model from another site",
     "Two factors, found from a few dedicated runs on both sites, carry the computation "
     "and the communication of a trained comprehensive model over to this one, which "
     "then learns its own executions. The outcome has a reason when that is not "
     "possible. 409 when the model changes meanwhile; send it again. If-Match is "
     "honoured.",
     NULL},
    {"POST", "/v1/models/{model_id}/refine", "refineModel", TAG_MODELS, post_model_refine,
     NULL, &learnt_model_json, NULL, WORK_COMPUTE, SCOPE_INGEST,
     ROUTE_UPKEEP | ROUTE_VERSIONED | ROUTE_IDEMPOTENT_KEY | ROUTE_LONG,
     "Let a model learn what waits",
     "What the service does by itself in the background: every execution that is new is "
     "predicted, then learnt. 409 when others change the model meanwhile, as a replica "
     "that learns the same does; send it again. If-Match is honoured.",
     NULL},
    {"POST", "/v1/models/{model_id}/roll-back", "rollBackModel", TAG_MODELS,
     post_model_roll_back, &model_roll_back_json, &model_info_json, NULL, WORK_QUERY,
     SCOPE_INGEST, ROUTE_VERSIONED, "Go back to an earlier version",
     "That version predicts again. Those after it are abandoned, and the executions that "
     "they brought are left out until the model is trained anew. If-Match is honoured.",
     NULL},
    {"GET", "/v1/models/{model_id}/samples", "listModelSamples", TAG_MODELS,
     get_model_samples, NULL, &model_samples_page_json, &model_page_query_json,
     WORK_QUERY, SCOPE_DECIDE | SCOPE_INGEST, 0, "List the executions of a model",
     "The latest 2000, newest first, in pages: what was predicted for each, and what "
     "became of it.",
     NULL},
    {"POST", "/v1/models/{model_id}/train", "trainModel", TAG_MODELS, post_model_train,
     &model_training_json, &learnt_model_json, NULL, WORK_COMPUTE, SCOPE_INGEST,
     ROUTE_RAW_BODY | ROUTE_VERSIONED | ROUTE_IDEMPOTENT_KEY | ROUTE_LONG,
     "Train a model anew",
     "From its latest 2000 executions, those left out by a roll-back too; the body, "
     "which "
     "may be empty, can say that fewer are to be looked at, now and later. Predictions "
     "go "
     "on with the version before. The outcome has a reason when there is no model. 409 "
     "while others change the model all the time; the training then follows by itself, "
     "but under an Idempotency-Key: send it again. If-Match is honoured.",
     NULL},
    {"GET", "/v1/models/{model_id}/versions", "listModelVersions", TAG_MODELS,
     get_model_versions, NULL, &model_versions_page_json, &model_page_query_json,
     WORK_QUERY, SCOPE_DECIDE | SCOPE_INGEST, 0, "List the versions of a model",
     "The latest 20, newest first, in pages, without their coefficients.", NULL},
    {"GET", "/v1/models/{model_id}/versions/{version}", "getModelVersion", TAG_MODELS,
     get_model_version, NULL, &model_version_json, &model_query_json, WORK_QUERY,
     SCOPE_DECIDE | SCOPE_INGEST, 0, "Read a version of a model",
     "With its coefficients.", NULL},
    {0},
};

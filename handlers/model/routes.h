/* routes.h - the endpoints of this room. */
#ifndef GRIDPLAN_MODEL_ROUTES_H
#define GRIDPLAN_MODEL_ROUTES_H

#include "service/route.h"

/* Sorted by path, ended by {0}. */
extern const struct route model_routes[];

/* ---- model_fits.c - models without a database: fits of runs in the request, and how
 * good predictions were. */

extern const struct json_object model_fit_request_json;
extern const struct json_object model_fit_answer_json;
extern const struct json_object model_evaluation_request_json;
extern const struct json_object model_evaluation_answer_json;

handler_fn post_model_fit;        /* POST /v1/model-fits */
handler_fn post_model_evaluation; /* POST /v1/model-evaluations */

/* ---- models.c - /v1/models: models of applications' run times, stored under a name. */

extern const struct json_object model_create_json;
extern const struct json_object model_info_json;
extern const struct json_object created_model_json;
extern const struct json_object stored_model_json;
extern const struct json_object models_query_json;
extern const struct json_object model_query_json;
extern const struct json_object models_page_json;
extern const struct json_object model_version_json;
extern const struct json_object model_versions_page_json;
extern const struct json_object model_page_query_json;
extern const struct json_object model_samples_page_json;
extern const struct json_object model_training_json; /* struct training_window */
extern const struct json_object model_roll_back_json;
extern const struct json_object model_port_json;
extern const struct json_object learnt_model_json;

handler_fn post_model;           /* POST /v1/models */
handler_fn get_models;           /* GET /v1/models */
handler_fn get_model;            /* GET /v1/models/{model_id} */
handler_fn delete_model;         /* DELETE /v1/models/{model_id} */
handler_fn get_model_versions;   /* GET /v1/models/{model_id}/versions */
handler_fn get_model_version;    /* GET /v1/models/{model_id}/versions/{version} */
handler_fn get_model_samples;    /* GET /v1/models/{model_id}/samples */
handler_fn post_model_train;     /* POST /v1/models/{model_id}/train */
handler_fn post_model_refine;    /* POST /v1/models/{model_id}/refine */
handler_fn post_model_roll_back; /* POST /v1/models/{model_id}/roll-back */
handler_fn post_model_port;      /* POST /v1/models/{model_id}/port */

#endif

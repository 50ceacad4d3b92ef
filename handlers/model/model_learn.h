/* model_learn.h - stored models: read as fitted models, trained, refined, ported. */
#ifndef GRIDPLAN_MODEL_LEARN_H
#define GRIDPLAN_MODEL_LEARN_H

#include "handlers/model/model_json.h"
#include "service/route.h"
#include "service/store_model.h"

/* The settings of a stored model. */
enum error_code stored_settings(const struct store_model *model, enum model_kind *kind,
                                struct model_settings *settings, struct arena *a,
                                struct error *err);

/* A version of a stored model. out->reason is "untrained" for version 0. */
enum error_code stored_fitted(const struct store_model *model,
                              const struct store_model_version *version,
                              struct fitted_model *out, struct arena *a,
                              struct error *err);

enum { MODEL_PARAMETERS_MAX = 64 }; /* of a run */

/* Parameters of a run or a question, an object as text: its members that are numbers,
 * booleans or texts, to a list with room for MODEL_PARAMETERS_MAX. Others, and those that
 * are more, are no inputs of a model. */
void model_parameters_read(const char *text, struct named_value *list, size_t *count,
                           struct arena *a);

/* What one training or refinement did. */
struct learn_outcome {
    uint64_t version;      /* that predicts now; 0: none */
    const char *cause;     /* "train", "refine", "reform"; NULL: no new version */
    uint64_t learnt_count; /* executions that were looked at */
    const char *reason;    /* why there is no (better) model; NULL: all is well */
};
extern const struct json_object learn_outcome_json;

/* Lets the model learn what waits for it. No connection is held while it computes;
 * ERR_CONFLICT when the model has changed meanwhile, as by others who learn the same.
 * `expected`: its generation, else ERR_STALE; 0: any. */
enum error_code model_refine(struct request *rq, const char *model_id, uint64_t expected,
                             struct learn_outcome *out);

/* Which runs a model is trained from, from now on. */
struct training_window {
    double since_s;     /* instant; NAN: as it is */
    double window_s;    /* > 0; NAN: as it is */
    double window_runs; /* NAN: as it is */
};

/* Trains the model anew, likewise, but begins again when the model has changed meanwhile;
 * after some times it asks for a training in the background: ERR_CONFLICT. window NULL:
 * as it is. */
enum error_code model_train(struct request *rq, const char *model_id, uint64_t expected,
                            const struct training_window *window,
                            struct learn_outcome *out);

/* For a request with an Idempotency-Key: the same, or with `train` false what
 * model_refine() does. What came of it is written by request_at_publish(), which is
 * ERR_CONFLICT when the model has changed meanwhile. */
enum error_code model_learn_at_publish(struct request *rq, const char *model_id,
                                       bool train, uint64_t expected,
                                       const struct training_window *window,
                                       struct learn_outcome *out);

/* ERR_CONFLICT: somebody else is at it, and will be done in a second or so. */
enum error_code model_is_busy(struct request *rq, const char *model_id);

/* The stored samples as runs; names: of the inputs of a model of kind auto, else NULL.
 * left_out ones are not among them unless `all`. place[i]:
 * which sample run i is. */
enum error_code stored_runs(enum model_kind kind, const struct model_settings *settings,
                            struct ensemble_names *names,
                            const struct store_sample *samples, size_t count, bool all,
                            struct fitted_run **runs, size_t **place, size_t *run_count,
                            struct arena *a, struct error *err);

/* What a summary says and a fitted model does not know; NULL: there is none. */
struct model_origins {
    const char *reference_model_id;  /* of a ported model */
    const char *change_execution_id; /* the first run since the last change */
    const char *change_spot;         /* the class or site that it was of; NULL: of all */
};

/* Writes a fitted model as the next version of the locked model. */
enum error_code model_write(struct db_session *db, const struct store_model *model,
                            const struct fitted_model *fitted, const char *cause,
                            const struct model_origins *origins,
                            const struct store_sample *looked_at, size_t looked_at_count,
                            struct arena *a, struct error *err);

#endif

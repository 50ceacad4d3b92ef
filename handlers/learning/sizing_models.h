/* sizing_models.h - the models that a sizing asks: of an application's peaks (or of
 * another target that sizes requests), and of its run times. */
#ifndef GRIDPLAN_SIZING_MODELS_H
#define GRIDPLAN_SIZING_MODELS_H

#include "models/fitted/fitted.h"
#include "service/route.h"

/* Who is asked about. */
struct sizing_subject {
    const char *application_id; /* or */
    const char *model_id;
    int target;      /* enum model_target: what is to be sized */
    bool with_share; /* how long failed runs lasted is wanted */
    bool any_target; /* the model may be of run times: its application is meant; one that
                        is not there is no mistake */
};

struct sizing_models {
    const struct fitted_model
        *peak; /* of the target; NULL: there is none that can answer */
    const struct fitted_model *run_time; /* likewise */
    const char *peak_model_id;
    uint64_t peak_version;
    double largest; /* of the target that was seen; NAN: none */
    size_t run_count;
    double failure_share; /* of a run, before it fails for what it lacks; NAN: too few */
    double failure_share_runs; /* that it rests on */
};

/* Of each subject; as they were in a replay. Without a database *unavailable, and none.
 * ERR_INVALID: a model_id that names no model of the target; pointers[i]: of subject i.
 */
enum error_code sizing_models_read(struct request *rq,
                                   const struct sizing_subject *subjects,
                                   const char *const *pointers, size_t count,
                                   struct sizing_models *out, bool *unavailable);

#endif

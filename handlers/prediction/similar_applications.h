/* similar_applications.h - run times for an application of which no run was learnt. */
#ifndef GRIDPLAN_SIMILAR_APPLICATIONS_H
#define GRIDPLAN_SIMILAR_APPLICATIONS_H

#include "handlers/prediction/prediction_models.h"
#include "models/fitted/similar.h"

/* What was looked up, or would have been. */
struct similar_lookup {
    bool is_kept;  /* a replay: as it was */
    bool no_model; /* with it: there was not even a model without a version */
    bool is_cut;   /* there are more applications than were looked at */
    struct similar_time time;
};

/* Of a replay. */
enum error_code similar_applications_kept(struct request *rq, struct similar_lookup *out);

/* Unless it is kept. inputs: names of what the question says. no_model: the application
 * has none. Nothing is found, without an error, if the application has runs that were
 * learnt, or if nothing is like it. */
enum error_code similar_applications_find(struct request *rq, const char *application_id,
                                          const char *const *inputs, size_t input_count,
                                          bool no_model, struct similar_lookup *out);

/* What the answer has to say of it. */
const char *similar_applications_warning(const struct similar_lookup *found,
                                         struct arena *a);

#endif

/* co_models.h - run times of parallel jobs that stored models tell.
 *
 * Models are asked as for a machine that nothing is known of, as a job may get any sites.
 */
#ifndef GRIDPLAN_CO_MODELS_H
#define GRIDPLAN_CO_MODELS_H

#include "handlers/coallocation/coallocation_json.h"
#include "handlers/placement/run_times.h"

/* Jobs of a request, and where they are in it. */
struct co_model_list {
    const char *pointer;
    const struct co_job_request *jobs; /* once told: with what models say as estimate_s */
    size_t count;
    size_t first; /* of its jobs among those of all lists; filled in */
};

struct co_models {
    struct run_times *times;        /* NULL: no job has a model */
    struct run_time_teller *teller; /* likewise */
};

/* Asks the models of jobs without estimate_s. Notes mistakes in *rq->err: no OK then. The
 * lists stay as long as the request. */
enum error_code co_models_ask(struct request *rq, struct co_model_list *lists,
                              size_t list_count, struct co_models *out);

/* Where the time of the list's job comes from, if a model told it. */
void co_models_tell(const struct co_models *models, const struct co_model_list *list,
                    size_t job, struct co_placement_answer *out);

#endif

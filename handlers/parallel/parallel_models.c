/* parallel_models.c - the model of an application at each site.
 *
 * In this order: the site's own model, the job's, the stored one of the application and
 * the site, the stored one of the application without a site. Scaling factors apply to
 * all but a model of the site itself.
 *
 * Source: spec parallel-scheduling.md 2, 6.1, 11; performance-models.md 9, 11.
 */
#include "handlers/parallel/parallel_parts.h"

#include "models/base/pointer.h"

#include <stdio.h>

/* The model that a site names, or the job. */
static const struct site_model *given_model(const struct schedule_call *call, size_t k)
{
    return call->sites[k].model ? call->sites[k].model : call->job->model;
}

static bool needs_stored(const struct schedule_call *call, size_t k)
{
    const struct site_model *given = given_model(call, k);

    return !given || given->model_id;
}

/* The stored models into call->sources. */
static enum error_code find_stored(struct schedule_call *call)
{
    struct request *rq = call->rq;
    struct stored_model_wanted *wanted =
        NEW(rq->arena, struct stored_model_wanted, call->site_count);
    struct stored_models_question question = {call->job->application_id,
                                              call->job->problem_size, wanted, 0};
    struct stored_models found;
    size_t at = 0;

    for (size_t k = 0; k < call->site_count; k++) {
        const struct site_model *given = given_model(call, k);

        if (!needs_stored(call, k))
            continue;
        wanted[question.wanted_count++] = (struct stored_model_wanted){
            .site_id = call->sites[k].site.id,
            .phase = (double)NAN,
            .model_id = given ? given->model_id : NULL,
            .pointer = call->sites[k].model ? pointer_keep("/snapshot/sites", k,
                                                           "model/model_id", rq->arena)
                                            : "/jobs/0/model/model_id",
        };
    }
    TRY(stored_models_find(rq, &question, &found));
    for (size_t k = 0; k < call->site_count; k++)
        if (needs_stored(call, k))
            call->sources[k] = found.of_each[at++];
    for (size_t i = 0; i < found.warning_count; i++)
        TRY(schedule_warn(call, "%s", found.warnings[i]));
    return OK;
}

static enum error_code read_given(struct schedule_call *call, size_t k,
                                  struct perf_terms *model)
{
    struct request *rq = call->rq;
    struct pointer own = pointer_in("/snapshot/sites", k, "model");

    return site_model_read(given_model(call, k), call->job->problem_size,
                           call->sites[k].model ? own.text : "/jobs/0/model", model,
                           rq->arena, rq->err);
}

/* NULL model: the site has none. */
static enum error_code site_model(struct schedule_call *call, size_t k)
{
    struct request *rq = call->rq;
    const struct site *site = &call->sites[k].site;
    const struct stored_model *stored = call->sources[k];
    struct perf_terms *plain = NEW(rq->arena, struct perf_terms, 2);
    struct perf_terms *scaled = plain ? plain + 1 : NULL;
    bool own = call->sites[k].model;

    if (needs_stored(call, k)) {
        if (stored)
            call->problems[k].model = plain;
        return stored ? stored_model_read(stored, site, own || stored->own, plain,
                                          rq->arena, rq->err)
                      : OK;
    }
    TRY(read_given(call, k, plain));
    call->problems[k].model = own ? plain : scaled;
    return own ? OK : site_scale_model(site, plain, scaled, rq->arena);
}

enum error_code schedule_models(struct schedule_call *call)
{
    TRY(find_stored(call));
    for (size_t k = 0; k < call->site_count; k++) {
        enum error_code code = site_model(call, k);

        if (code != OK && code != ERR_INVALID)
            return code;
    }
    return call->rq->err->code;
}

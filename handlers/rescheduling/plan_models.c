/* plan_models.c - the model of each phase at each site.
 *
 * In this order: the site's own model of the phase, the job's, the stored one of the
 * application and the site, the stored one of the application without a site. Scaling
 * factors apply to all but models of the site itself. Stored models count phases from
 * 0: phase k has the index k - 1.
 *
 * Source: spec rescheduling-plans.md 1.1, 9; parallel-scheduling.md 6.1.
 */
#include "handlers/rescheduling/plan_parts.h"

#include "models/base/plural.h"
#include "models/base/pointer.h"

/* ---- given models ---- */

/* The models of a list by phase, and their times if they have any without the store.
 * Notes repeated, unknown and malformed ones. */
static void read_list(struct plan_call *call, const struct plan_phase_request *list,
                      size_t count, const char *pointer,
                      const struct plan_phase_request **phases, struct perf_terms *models)
{
    struct request *rq = call->rq;

    for (size_t i = 0; i < count; i++) {
        size_t k = list[i].phase, before = rq->err->item_count;
        struct pointer models_at = pointer_of(pointer, "phase_models");
        struct pointer at = pointer_in(models_at.text, i, NULL);
        struct pointer phase = pointer_of(at.text, "phase");

        site_model_check(&list[i].model, call->job->problem_size, at.text, rq->err);
        if (k > call->job->phases)
            invalid(rq->err, phase.text, ITEM_OUT_OF_BOUNDS, "the job has %s",
                    counted(call->job->phases, "phase").text);
        else if (phases[k - 1])
            invalid(rq->err, phase.text, ITEM_DUPLICATE, "phase %zu has a model already",
                    k);
        if (rq->err->item_count > before)
            continue;
        phases[k - 1] = &list[i];
        if (!list[i].model.model_id)
            site_model_read(&list[i].model, call->job->problem_size, at.text,
                            &models[k - 1], rq->arena, rq->err);
    }
}

/* Does the phase need a stored model at the site? */
static bool needs_stored(const struct plan_call *call, size_t s, size_t k)
{
    const struct plan_phase_request *own = call->at[s].phases[k - 1];
    const struct plan_phase_request *given = own ? own : call->phases[k - 1];

    return given ? given->model.model_id : call->job->application_id;
}

/* What is asked of the store needs the problem size. */
static void check_size(struct plan_call *call)
{
    const struct plan_job_request *job = call->job;
    bool asks = false;

    for (size_t s = 0; s < call->in.site_count && job->application_id; s++)
        for (size_t k = call->in.first_phase; k <= job->phases; k++)
            asks = asks || (!call->at[s].phases[k - 1] && !call->phases[k - 1]);
    if (asks && isnan(job->problem_size))
        invalid(call->rq->err, "/jobs/0/problem_size", ITEM_REQUIRED,
                "the member is missing: a stored model needs it");
}

void plan_models_read(struct plan_call *call)
{
    struct arena *a = call->rq->arena;
    size_t n = call->job->phases;

    call->phases = NEW(a, const struct plan_phase_request *, n);
    call->models = NEW(a, struct perf_terms, n);
    read_list(call, call->job->phase_models, call->job->phase_model_count, "/jobs/0",
              call->phases, call->models);
    for (size_t s = 0; s < call->in.site_count; s++) {
        struct plan_call_site *site = &call->at[s];
        const char *pointer = pointer_keep("/snapshot/sites", s, NULL, a);

        site->phases = NEW(a, const struct plan_phase_request *, n);
        site->models = NEW(a, struct perf_terms, n);
        site->stored = NEW(a, const struct stored_model *, n);
        read_list(call, site->given->phase_models, site->given->phase_model_count,
                  pointer, site->phases, site->models);
    }
    check_size(call);
}

/* ---- stored models ---- */

static void want(struct plan_call *call, size_t s, size_t k,
                 struct stored_model_wanted *out)
{
    const struct plan_phase_request *own = call->at[s].phases[k - 1];
    const struct plan_phase_request *given = own ? own : call->phases[k - 1];
    struct arena *a = call->rq->arena;

    *out = (struct stored_model_wanted){.site_id = call->given[s].site.id,
                                        .phase = (double)k};
    if (!given)
        return;
    out->model_id = given->model.model_id;
    out->pointer =
        own ? arena_printf(a, "/snapshot/sites/%zu/phase_models/%zu/model_id", s,
                           (size_t)(own - call->given[s].phase_models))
            : pointer_keep("/jobs/0/phase_models",
                           (size_t)(given - call->job->phase_models), "model_id", a);
}

/* The stored models into call->at[].stored. */
static enum error_code find_stored(struct plan_call *call)
{
    struct request *rq = call->rq;
    size_t first = call->in.first_phase, last = call->job->phases, at = 0;
    struct stored_model_wanted *wanted = NEW(rq->arena, struct stored_model_wanted,
                                             call->in.site_count * (last - first + 1));
    struct stored_models_question question = {call->job->application_id,
                                              call->job->problem_size, wanted, 0};
    struct stored_models found;

    for (size_t s = 0; s < call->in.site_count; s++)
        for (size_t k = first; k <= last; k++)
            if (needs_stored(call, s, k))
                want(call, s, k, &wanted[question.wanted_count++]);
    TRY(stored_models_find(rq, &question, &found));
    for (size_t s = 0; s < call->in.site_count; s++)
        for (size_t k = first; k <= last; k++)
            if (needs_stored(call, s, k))
                call->at[s].stored[k - 1] = found.of_each[at++];
    for (size_t i = 0; i < found.warning_count; i++)
        TRY(plan_call_warn(call, "%s", found.warnings[i]));
    return OK;
}

/* The model of phase `k` on the hardware of site `s`; *known false: there is none. */
static enum error_code make_model(struct plan_call *call, size_t s, size_t k, bool *known)
{
    struct request *rq = call->rq;
    struct plan_call_site *at = &call->at[s];
    const struct stored_model *stored = at->stored[k - 1];
    struct perf_terms *model = &at->models[k - 1];

    *known = true;
    if (stored)
        return stored_model_read(stored, &at->given->site,
                                 at->phases[k - 1] || stored->own, model, rq->arena,
                                 rq->err);
    if (needs_stored(call, s, k) || !(at->phases[k - 1] || call->phases[k - 1])) {
        *known = false;
        return OK;
    }
    return at->phases[k - 1] ? OK
                             : site_scale_model(&at->given->site, &call->models[k - 1],
                                                model, rq->arena);
}

enum error_code plan_models_find(struct plan_call *call, size_t *missing)
{
    TRY(find_stored(call));
    for (size_t s = 0; s < call->in.site_count; s++) {
        missing[s] = 0;
        for (size_t k = call->job->phases; k >= call->in.first_phase; k--) {
            bool known;

            TRY(make_model(call, s, k, &known));
            if (!known)
                missing[s] = k;
        }
    }
    return OK;
}

/* checkpoint_inherit.c - what resources of the snapshot say of their price, and of how
 * they are taken back, is so of the jobs on them.
 *
 * A job on several nodes pays the mean of their prices for each, meets the interruptions
 * of all, and has the shortest of their notices. What the job says itself wins.
 */
#include "handlers/checkpoint/checkpoint_decision.h"

/* Whether some resource says something. */
static bool any_said(const struct snapshot *s)
{
    for (size_t r = 0; s && r < s->resource_count; r++)
        if (s->resources[r].price_per_s > 0 || s->resources[r].notice)
            return true;
    return false;
}

/* Of the resources of a job. */
struct said {
    double price_sum, per_hour_sum, notice_s, overhead_s;
    bool has_price, has_notice;
};

static void add(const struct resource *r, struct said *out)
{
    out->price_sum += r->price_per_s;
    out->has_price = out->has_price || r->price_per_s > 0;
    if (!r->notice)
        return;
    out->per_hour_sum += r->notice->interruptions_per_hour;
    if (!out->has_notice || r->notice->notice_s < out->notice_s)
        out->notice_s = r->notice->notice_s;
    /* the longest; NAN, the overhead of the job, counts as 0 here */
    if (!isnan(r->notice->proactive_overhead_s))
        out->overhead_s = fmax(out->overhead_s, r->notice->proactive_overhead_s);
    out->has_notice = true;
}

static struct said said_of(struct checkpoint_work *w, const struct checkpoint_job *job,
                           size_t count)
{
    struct said out = {.overhead_s = NAN};

    for (size_t i = 0; i < count && !budget_step(&w->rq->budget, 8); i++) {
        const struct resource_history *h = checkpoint_resource_at(w, job, i);

        if (h->resource)
            add(h->resource, &out);
    }
    return out;
}

/* Whether a notice has a part in what is decided. */
static bool takes_notice(const struct checkpoint_work *w,
                         const struct checkpoint_job *job)
{
    const struct checkpoint_job_world *x = &job->world;

    return x->level_count == 0 && !x->predictor && !x->silent &&
           !(w->policy->flags & CHECKPOINT_NEEDS_WEIBULL);
}

static void inherit(struct checkpoint_work *w, struct checkpoint_job *job, size_t count)
{
    struct checkpoint_job_world *x = &job->world;
    struct interruption_notice *notice;
    struct said said = said_of(w, job, count);

    if (isnan(x->price_per_s) && said.has_price)
        x->price_per_s = said.price_sum / (double)count;
    if (x->notice || !said.has_notice)
        return;
    if (!takes_notice(w, job)) {
        x->has_unused_notice = true;
        return;
    }
    notice = NEW(w->rq->arena, struct interruption_notice, 1);
    *notice = (struct interruption_notice){said.per_hour_sum / (double)count,
                                           said.notice_s, said.overhead_s};
    x->notice = notice;
}

/* Each of its resources, where they are known to be of the snapshot. */
static size_t resources_of(struct checkpoint_work *w, const struct checkpoint_job *job)
{
    size_t count = checkpoint_resource_count(w, job);

    if (job->resource_id &&
        histories_find(&w->histories, job->resource_id, false) == NAME_NOT_FOUND)
        return 0;
    for (size_t i = 0; i < job->resource_count; i++)
        if (histories_find(&w->histories, job->resource_ids[i], false) == NAME_NOT_FOUND)
            return 0;
    for (size_t i = 0; i < job->pool_count; i++)
        if (histories_find(&w->histories, job->pool_ids[i], false) == NAME_NOT_FOUND)
            return 0;
    return count;
}

void checkpoint_world_inherit(struct checkpoint_work *w)
{
    struct checkpoint_intervals_request *body;
    struct checkpoint_job *jobs;

    if (!any_said(w->snapshot))
        return;
    body = NEW(w->rq->arena, struct checkpoint_intervals_request, 1);
    jobs = NEW(w->rq->arena, struct checkpoint_job, w->body->job_count);
    *body = *w->body;
    body->jobs = jobs;
    for (size_t i = 0; i < w->body->job_count; i++) {
        size_t count = resources_of(w, &w->body->jobs[i]);

        jobs[i] = w->body->jobs[i];
        if (count > 0)
            inherit(w, &jobs[i], count);
    }
    w->body = body;
}

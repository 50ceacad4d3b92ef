/* checkpoint_intervals.c - POST /v1/checkpoint-intervals: when to checkpoint jobs. */
#include "handlers/checkpoint/checkpoint_decision.h"

#include "algorithms/checkpoint/times.h"
#include "handlers/checkpoint/routes.h"

#include <string.h>

/* Of every job it is known how long it is. */
static bool all_end(const struct checkpoint_intervals_request *body)
{
    bool has_speeds = body->snapshot || body->snapshot_id;

    for (size_t i = 0; i < body->job_count; i++) {
        const struct checkpoint_job *job = &body->jobs[i];

        if (isnan(job->in.execution_time_s) &&
            (isnan(job->length_mi) || !job->resource_id || !has_speeds))
            return false;
    }
    return true;
}

/* NULL after noting the mistake. */
static const struct policy *find_policy(const struct checkpoint_intervals_request *body,
                                        struct error *err)
{
    const char *name = body->decision.algorithm;
    const struct policy *policy;

    if (!name || strcmp(name, "auto") == 0)
        return policy_find(checkpoint_policies, all_end(body) ? "finite" : "exact");
    policy = policy_find(checkpoint_policies, name);
    if (!policy)
        decision_unknown_policy(name, checkpoint_policies, err);
    return policy;
}

/* The links of the home site, which checkpoints go to, by the other end; those that
 * are listed for this direction first. */
static void find_links(struct checkpoint_work *w)
{
    const char *home = w->snapshot ? w->snapshot->home_site_id : NULL;
    bool any = false;

    for (size_t i = 0; home && !any && i < w->body->job_count; i++)
        any = !isnan(w->body->jobs[i].checkpoint_bytes);
    if (!any)
        return;
    name_index_create(&w->links, w->snapshot->network.route_count, w->rq->arena);
    for (int from_home = 0; from_home < 2; from_home++)
        for (size_t i = 0; i < w->snapshot->network.route_count; i++) {
            const struct network_route *route = &w->snapshot->network.routes[i];
            const char *here = from_home ? route->from_site_id : route->to_site_id;

            if (strcmp(here, home) == 0)
                name_index_add(&w->links,
                               from_home ? route->to_site_id : route->from_site_id, i);
        }
}

/* L, as far as it was seen or the network is known. */
static double latency_s(const struct checkpoint_work *w, const struct checkpoint_job *job,
                        const struct checkpoint_cost *cost, const struct resource *r)
{
    const struct network *network;
    double bandwidth_mbps;
    size_t link;
    bool lan;

    if (!isnan(job->checkpoint_latency_s))
        return job->checkpoint_latency_s;
    if (cost && !isnan(cost->stored_after_s))
        return cost->stored_after_s;
    if (isnan(job->checkpoint_bytes) || !w->links.key || !r || !r->site_id)
        return 0;
    network = &w->snapshot->network;
    link = name_index_find(&w->links, r->site_id);
    if (link != NAME_NOT_FOUND)
        return transfer_s(job->checkpoint_bytes, network->routes[link].bandwidth_mbps,
                          network->routes[link].latency_s);
    lan = strcmp(r->site_id, w->snapshot->home_site_id) == 0;
    bandwidth_mbps = lan ? network->lan_mbps : network->wan_mbps;
    if (isnan(bandwidth_mbps))
        return 0;
    return transfer_s(job->checkpoint_bytes, bandwidth_mbps,
                      lan ? network->lan_latency_s : network->wan_latency_s);
}

static void render(struct checkpoint_work *w, const struct checkpoint_job *job,
                   const struct checkpoint_in *in, double saving_s,
                   struct checkpoint_interval *out)
{
    struct checkpoint_setting x = {
        out->out.interval_s, saving_s, w->param[CHECKPOINT_FTI_LEVEL],
        out->verified ? out->verified->quantile_s : (double)NAN};

    checkpoint_note_render(w, job, in, out->out.interval_s, saving_s);
    if (checkpoint_wants_limit(w) && isnan(x.limit_s))
        checkpoint_affect(w, CHECKPOINT_WARNS_LIMIT, job);
    checkpoint_render(w->body->render, w->body->render_count, &x, &out->rendered,
                      w->rq->arena);
    checkpoint_world_render(w, job, out);
}

/* Numbers of checkpoints as JSON carries them: whole. */
static void clamp_counts(struct checkpoint_work *w, const struct checkpoint_job *job,
                         struct checkpoint_out *out)
{
    if (!(out->checkpoint_count > JSON_EXACT || out->best_checkpoint_count > JSON_EXACT))
        return;
    if (out->checkpoint_count > JSON_EXACT)
        out->checkpoint_count = JSON_EXACT;
    if (out->best_checkpoint_count > JSON_EXACT)
        out->best_checkpoint_count = JSON_EXACT;
    checkpoint_affect(w, CHECKPOINT_WARNS_MANY, job);
}

static enum error_code decide_job(struct checkpoint_work *w,
                                  const struct checkpoint_job *job,
                                  struct checkpoint_interval *out)
{
    const struct resource_history *history = NULL;
    const struct resource *resource = NULL;
    const struct checkpoint_cost *cost = NULL;
    struct checkpoint_in in = job->in;
    double saving_s;

    if (job->resource_id)
        history =
            &w->histories.list[histories_find(&w->histories, job->resource_id, false)];
    if (history)
        resource = history->resource;
    in.start = job->event == EVENT_START;
    if (checkpoint_learns_costs(job)) {
        cost = checkpoint_costs_find(&w->costs, job->application_id);
        in.checkpoint_overhead_s = cost->overhead_s;
        if (isnan(in.restart_s))
            in.restart_s = cost->restart_s;
    }
    checkpoint_world_use_costs(w, job, &in);
    checkpoint_fill_times(job->length_mi, job->completed_mi, resource, &in);
    if (in.remaining_s > in.execution_time_s) { /* told later, as it ran */
        in.execution_time_s = in.remaining_s;
        checkpoint_affect(w, CHECKPOINT_WARNS_LONGER, job);
    }
    saving_s = latency_s(w, job, cost, resource);
    if (isnan(in.restart_s))
        in.restart_s = saving_s;
    saving_s += in.checkpoint_overhead_s;
    if (history && !history->wanted)
        history = NULL;
    in.remaining_is_known = !isnan(job->in.remaining_s) || !isnan(job->completed_mi);
    checkpoint_use_failures(w, job, history, cost, &in, out);
    if (w->scratch)
        arena_reset(w->scratch);
    in.arena = w->scratch;
    in.budget = &w->rq->budget;
    in.few_jobs = w->body->job_count <= CHECKPOINT_FEW_JOBS;
    checkpoint_world_begin(w, job, &in, out);
    TRY(checkpoint_decide(w->policy, &in, w->param, &out->out, w->rq->err));
    checkpoint_use_image(w, &in, out);
    out->job_id = job->id;
    out->execution_time_s = in.execution_time_s;
    out->remaining_s = in.remaining_s;
    out->failure_age_s = in.failure_age_s;
    out->mean_failure_interval_s = in.mean_failure_interval_s;
    checkpoint_world_end(w, job, &in, out);
    checkpoint_play(w, job, &in, out);
    out->out.table = NULL; /* it goes with the scratch */
    checkpoint_note(w, job, &in, &out->out);
    checkpoint_add_segments(w, out);
    clamp_counts(w, job, &out->out);
    if (w->body->render_count == 0)
        return OK;
    render(w, job, &in, saving_s, out);
    return OK;
}

/* Whether trials or dynamic programmes are asked for, which are no work for a thread
 * that others wait for. */
static bool takes_long(const struct checkpoint_work *w)
{
    bool by_law = w->policy->flags & CHECKPOINT_NEEDS_WEIBULL;

    if (w->body->verify || checkpoint_wants_limit(w))
        return true;
    for (size_t i = 0; i < w->body->job_count; i++)
        if (w->body->jobs[i].verify ||
            (by_law && !(isnan(w->body->jobs[i].in.execution_time_s) &&
                         isnan(w->body->jobs[i].length_mi))))
            return true;
    return false;
}

/* What the laws of the nodes decide: the policy, where none was named, and who works. */
static enum error_code use_laws(struct checkpoint_work *w)
{
    if (checkpoint_world_takes_long(w) && !w->rq->may_block)
        return fail(w->rq->err, ERR_WOULD_BLOCK, "", "trials and searches take long");
    if (w->is_auto && !checkpoint_world_is_exponential(w) && checkpoint_all_weibull(w))
        w->policy = policy_find(checkpoint_policies, "weibull");
    if (!takes_long(w))
        return OK;
    if (!w->rq->may_block)
        return fail(w->rq->err, ERR_WOULD_BLOCK, "", "trials take long");
    w->scratch = arena_create_beside(w->rq->arena, arena_cap_bytes(w->rq->arena));
    return OK;
}

enum error_code post_checkpoint_intervals(struct request *rq, const void *in, void *out)
{
    struct checkpoint_work w = {.rq = rq, .body = in};
    struct checkpoint_intervals_answer *answer = out;
    struct checkpoint_interval *intervals;
    enum error_code code;

    TRY(decision_begin(rq, &w.body->decision, &answer->decision));
    w.policy = find_policy(w.body, rq->err);
    w.is_auto =
        !w.body->decision.algorithm || strcmp(w.body->decision.algorithm, "auto") == 0;
    checkpoint_render_check(w.body->render, w.body->render_count, rq->err);
    TRY(decision_snapshot(rq, w.body->snapshot, w.body->snapshot_id, false, &w.snapshot));
    if (!w.policy)
        return rq->err->code;
    code = checkpoint_bind_options(&w);
    if (code != OK && code != ERR_INVALID)
        return code;
    TRY(checkpoint_check_jobs(&w));
    find_links(&w);
    TRY(checkpoint_read_histories(&w));
    TRY(checkpoint_check_known(&w));
    TRY(use_laws(&w));
    intervals = NEW(rq->arena, struct checkpoint_interval, w.body->job_count);
    for (size_t i = 0; i < w.body->job_count; i++)
        TRY(decide_job(&w, &w.body->jobs[i], &intervals[i]));
    if (w.scratch)
        arena_close(w.scratch);
    checkpoint_world_share(&w, intervals, &answer->world);
    checkpoint_warn_all(&w);
    if (w.warning_count > 0) {
        const char **warnings = NEW(rq->arena, const char *, w.warning_count);

        memcpy(warnings, w.warnings, w.warning_count * sizeof(*warnings));
        answer->decision.warnings = warnings;
        answer->decision.warning_count = w.warning_count;
    }
    answer->intervals = intervals;
    answer->interval_count = w.body->job_count;
    decision_end(rq, w.policy->name,
                 strcmp(w.policy->name, "finite") == 0 && !w.is_unproved &&
                         w.affected[CHECKPOINT_WARNS_UNKNOWN].count == 0
                     ? DECISION_OPTIMAL
                     : DECISION_FEASIBLE,
                 &answer->decision);
    return OK;
}

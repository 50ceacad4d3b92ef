/* checkpoint_checks.c - mistakes of a request for checkpoint intervals, its options, and
 * what of histories and logs it needs. */
#include "handlers/checkpoint/checkpoint_decision.h"

#include "models/base/pointer.h"

#include <stdio.h>
#include <string.h>

/* ---- options ---- */

/* An option that the policy does not read is no mistake: a request can change its
 * policy and nothing else. But it is said. */
static void warn_unused(struct checkpoint_work *w, const char *name)
{
    size_t index = 0;

    while (index < CHECKPOINT_PARAM_COUNT &&
           strcmp(w->policy->params[index].name, name) != 0)
        index++;
    if (index == CHECKPOINT_PARAM_COUNT || checkpoint_reads_option(w->policy, index) ||
        (w->is_auto && /* which may come to weibull */
         checkpoint_reads_option(policy_find(checkpoint_policies, "weibull"), index)))
        return;
    if (w->warning_count == CHECKPOINT_UNUSED_MAX)
        return;
    w->warnings[w->warning_count++] = arena_printf(
        w->rq->arena, "option_unused: /options/%.64s has no part in algorithm %s", name,
        w->policy->name);
}

/* An option that is null is not set. */
enum error_code checkpoint_bind_options(struct checkpoint_work *w)
{
    const struct decision_request *decision = &w->body->decision;
    struct named_value *given =
        NEW(w->rq->arena, struct named_value, decision->option_count);
    size_t count = 0;

    for (size_t i = 0; i < decision->option_count; i++)
        if (decision->options[i].type != VALUE_UNDEFINED)
            given[count++] = decision->options[i];
    for (size_t i = 0; i < count; i++)
        warn_unused(w, given[i].name);
    return params_bind(w->policy->params, given, count, w->param, w->rq->err);
}

/* ---- jobs and resources ---- */

static bool needs_history(const struct checkpoint_work *w,
                          const struct checkpoint_job *job)
{
    unsigned needs = w->policy->flags;

    return isnan(job->in.mean_failure_interval_s) ||
           (checkpoint_waits_for_repair(job) && isnan(job->mttr_s)) ||
           (needs & CHECKPOINT_NEEDS_AGE && isnan(job->in.failure_age_s)) ||
           (needs & CHECKPOINT_NEEDS_WEIBULL &&
            (isnan(job->in.uptime_s) || isnan(w->param[CHECKPOINT_WEIBULL_SHAPE]) ||
             isnan(w->param[CHECKPOINT_WEIBULL_SCALE])));
}

void checkpoint_job_mistake(struct checkpoint_work *w, size_t i, const char *member,
                            enum item_code code, const char *detail)
{
    invalid(w->rq->err, pointer_in("/jobs", i, member).text, code, "%s", detail);
}

/* Whether the options and the job say all that weibull needs. */
bool checkpoint_has_weibull(const struct checkpoint_work *w,
                            const struct checkpoint_in *in)
{
    return w->policy->flags & CHECKPOINT_NEEDS_WEIBULL &&
           !(isnan(in->uptime_s) && isnan(in->failure_age_s)) &&
           !isnan(w->param[CHECKPOINT_WEIBULL_SHAPE]) &&
           !isnan(w->param[CHECKPOINT_WEIBULL_SCALE]);
}

static void check_job(struct checkpoint_work *w, size_t i)
{
    const struct checkpoint_job *job = &w->body->jobs[i];
    bool has_speed = job->resource_id && w->snapshot;

    checkpoint_world_check(w, i);
    if (isnan(job->in.checkpoint_overhead_s) && !job->application_id &&
        !checkpoint_world_has_costs(w, job))
        checkpoint_job_mistake(w, i, "checkpoint_overhead_s", ITEM_REQUIRED,
                               "the member is missing: " CHECKPOINT_OVERHEAD_DOC);
    if (w->policy->flags & CHECKPOINT_NEEDS_TIME && isnan(job->in.execution_time_s) &&
        (isnan(job->length_mi) || !has_speed))
        checkpoint_job_mistake(
            w, i, "execution_time_s", ITEM_EXECUTION_TIME_REQUIRED,
            "this algorithm needs it, or length_mi and a resource of the "
            "snapshot");
    if (job->in.work_since_checkpoint_s > 0 && !isnan(job->in.remaining_s) &&
        job->in.work_since_checkpoint_s >
            (job->in.execution_time_s - job->in.remaining_s) * (1 + 1e-9))
        checkpoint_job_mistake(w, i, "work_since_checkpoint_s", ITEM_OUT_OF_BOUNDS,
                               "more than is done: execution_time_s - remaining_s");
    if (w->policy->flags & CHECKPOINT_NEEDS_MEAN &&
        isnan(job->in.mean_failure_interval_s) && !job->resource_id &&
        !job->resource_ids && !job->pool_ids && /* if empty, that is the mistake */
        !(job->nodes > 0 && w->snapshot) && isnan(job->in.failure_age_s) &&
        !checkpoint_has_weibull(w, &job->in))
        checkpoint_job_mistake(
            w, i, "mean_failure_interval_s", ITEM_REQUIRED,
            "the member is missing: give it, or a resource_id whose history is "
            "known");
    if (w->snapshot && job->resource_id &&
        histories_find(&w->histories, job->resource_id, false) == NAME_NOT_FOUND)
        checkpoint_job_mistake(w, i, "resource_id", ITEM_UNKNOWN_ID,
                               "the snapshot has no such resource");
}

/* Each of them known, and once. */
static void check_ids(struct checkpoint_work *w, size_t i, const char *member,
                      const char *const *ids, size_t count)
{
    struct name_index seen;
    struct pointer list;

    if (!ids)
        return;
    list = pointer_in("/jobs", i, member);
    if (count == 0)
        checkpoint_job_mistake(w, i, member, ITEM_TOO_SHORT,
                               "must name at least one resource");
    name_index_create(&seen, count, w->rq->arena);
    for (size_t r = 0; r < count; r++) {
        struct pointer pointer = pointer_in(list.text, r, NULL);

        if (!*ids[r])
            invalid(w->rq->err, pointer.text, ITEM_TOO_SHORT, "must not be empty");
        else if (name_index_add(&seen, ids[r], r) != NAME_NOT_FOUND)
            invalid(w->rq->err, pointer.text, ITEM_DUPLICATE, "the node is named twice");
        else if (w->snapshot &&
                 histories_find(&w->histories, ids[r], false) == NAME_NOT_FOUND)
            invalid(w->rq->err, pointer.text, ITEM_UNKNOWN_ID,
                    "the snapshot has no such resource");
    }
}

/* Which nodes: one resource, several, or a number. */
static enum error_code check_nodes(struct checkpoint_work *w, size_t i)
{
    const struct checkpoint_job *job = &w->body->jobs[i];

    check_ids(w, i, "pool_resource_ids", job->pool_ids, job->pool_count);
    if (job->pool_count > 0 && (job->resource_id || job->resource_count > 0))
        checkpoint_job_mistake(w, i, "pool_resource_ids", ITEM_CONFLICT,
                               "not beside resource_id or resource_ids");
    if (w->param[CHECKPOINT_METHOD_OPTION] == CHECKPOINT_METHOD_DP &&
        (job->nodes > 1 || job->resource_count > 1))
        invalid(w->rq->err, "/options/method", ITEM_INVALID_COMBINATION,
                "dp is for jobs on one node; midpoint is for any");
    if (job->resource_id && job->resource_count == 0 && !isnan(job->nodes) &&
        job->nodes != 1)
        checkpoint_job_mistake(w, i, "nodes", ITEM_CONFLICT,
                               "not beside resource_id, which is one node: name several "
                               "by resource_ids, or what they are like by "
                               "pool_resource_ids");
    check_ids(w, i, "resource_ids", job->resource_ids, job->resource_count);
    if (job->resource_count == 0)
        return OK;
    if (job->resource_id)
        checkpoint_job_mistake(w, i, "resource_ids", ITEM_CONFLICT,
                               "not beside resource_id");
    if (!isnan(job->nodes) && job->nodes != (double)job->resource_count)
        checkpoint_job_mistake(w, i, "nodes", ITEM_CONFLICT,
                               "resource_ids names another number of nodes");
    return OK;
}

/* ---- what checkpoints cost ---- */

bool checkpoint_learns_costs(const struct checkpoint_job *job)
{
    return isnan(job->in.checkpoint_overhead_s) && job->application_id &&
           job->world.level_count == 0;
}

/* Reads the costs that are to be learnt. Mistakes that are known already are told
 * without them when the database is away. */
static enum error_code read_costs(struct checkpoint_work *w)
{
    const struct checkpoint_job *jobs = w->body->jobs;
    struct error before = *w->rq->err;
    enum error_code code;

    for (size_t i = 0; i < w->body->job_count; i++)
        if (checkpoint_learns_costs(&jobs[i]))
            checkpoint_costs_add(&w->costs, jobs[i].application_id, w->body->job_count,
                                 w->rq->arena);
    code = checkpoint_costs_read(w->rq, &w->costs);
    if ((code == ERR_UNAVAILABLE || code == ERR_BUSY) && before.code != OK) {
        *w->rq->err = before;
        return before.code;
    }
    return code;
}

/* An application of which nothing is logged says as little as none. */
static void check_costs(struct checkpoint_work *w)
{
    for (size_t i = 0; i < w->body->job_count; i++) {
        const struct checkpoint_job *job = &w->body->jobs[i];

        if (checkpoint_learns_costs(job) &&
            isnan(checkpoint_costs_find(&w->costs, job->application_id)->overhead_s))
            checkpoint_job_mistake(
                w, i, "checkpoint_overhead_s", ITEM_REQUIRED,
                "the member is missing, and no overhead_s is logged for its "
                "application_id: give it, or POST it to /v1/checkpoint-logs");
    }
}

/* The history of a resource is wanted, unless the job says all that it would say. */
static void want(struct checkpoint_work *w, const struct checkpoint_job *job,
                 const char *id)
{
    size_t place = histories_find(&w->histories, id, !w->snapshot);

    if (place != NAME_NOT_FOUND && needs_history(w, job))
        w->histories.list[place].wanted = true;
}

/* Notes every mistake, and which histories are wanted. */
enum error_code checkpoint_check_jobs(struct checkpoint_work *w)
{
    size_t named = 0;
    bool is_pooled = false; /* all of the snapshot are wanted */

    for (size_t i = 0; i < w->body->job_count; i++)
        named += (w->body->jobs[i].resource_id != NULL) +
                 w->body->jobs[i].resource_count + w->body->jobs[i].pool_count;
    if (named > 0 || w->snapshot)
        histories_begin(w->snapshot, named, &w->histories, w->rq->arena);
    histories_check(&w->histories, w->rq->err);
    checkpoint_world_check_request(w);
    checkpoint_world_inherit(w);
    for (size_t i = 0; i < w->body->job_count; i++) {
        const struct checkpoint_job *job = &w->body->jobs[i];

        check_job(w, i);
        TRY(check_nodes(w, i));
        if (job->resource_id)
            want(w, job, job->resource_id);
        for (size_t r = 0; r < job->resource_count; r++)
            want(w, job, job->resource_ids[r]);
        for (size_t r = 0; r < job->pool_count; r++)
            want(w, job, job->pool_ids[r]);
        if (job->nodes > 0 && !job->resource_id && job->resource_count == 0 &&
            job->pool_count == 0 && w->snapshot && !is_pooled && needs_history(w, job)) {
            is_pooled = true;
            for (size_t r = 0; r < w->histories.count; r++)
                w->histories.list[r].wanted = true;
        }
    }
    checkpoint_world_want(w);
    TRY(read_costs(w));
    check_costs(w);
    return checkpoint_learn_survival(w);
}

enum error_code checkpoint_check_known(struct checkpoint_work *w)
{
    for (size_t i = 0; i < w->body->job_count; i++)
        if (checkpoint_waits_for_repair(&w->body->jobs[i]) &&
            isnan(checkpoint_mttr_s(w, &w->body->jobs[i])))
            checkpoint_job_mistake(w, i, "mttr_s", ITEM_REQUIRED,
                                   "the member is missing: spare nodes, and nodes that "
                                   "come back, wait for repairs, and none of its nodes "
                                   "was seen");
    return w->rq->err->code;
}

enum error_code checkpoint_read_histories(struct checkpoint_work *w)
{
    struct histories_options options = histories_options_preset();
    bool wanted = false;

    for (size_t i = 0; i < w->histories.count; i++)
        wanted = wanted || w->histories.list[i].wanted;
    if (!wanted)
        return OK;
    options.estimator = (enum mf_estimator)w->param[CHECKPOINT_MF_ESTIMATOR];
    options.site_weight = w->param[CHECKPOINT_SITE_WEIGHT];
    options.prior = (enum rate_prior_scope)w->param[CHECKPOINT_PRIOR];
    options.mean_floor_s = w->param[CHECKPOINT_MEAN_FLOOR];
    options.burst_window_s = w->param[CHECKPOINT_BURST_WINDOW];
    options.weibull_if_best =
        (w->policy->flags & CHECKPOINT_NEEDS_WEIBULL || w->is_auto) &&
        w->param[CHECKPOINT_LAW_OPTION] != CHECKPOINT_LAW_EXPONENTIAL;
    options.weibull = w->policy->flags & CHECKPOINT_NEEDS_WEIBULL &&
                      (isnan(w->param[CHECKPOINT_WEIBULL_SHAPE]) ||
                       isnan(w->param[CHECKPOINT_WEIBULL_SCALE]));
    w->histories.now_s = w->body->now_s;
    if (isnan(w->histories.now_s) && w->snapshot)
        w->histories.now_s = w->snapshot->taken_at_s;
    return histories_read(w->rq, &w->histories, &options);
}

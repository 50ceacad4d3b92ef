/* checkpoint_nodes.c - how the nodes of a job fail, by their histories. */
#include "handlers/checkpoint/checkpoint_decision.h"

#include <math.h>

/* What the job does not say of failures, from the history. */
static void use_history(const struct checkpoint_work *w, const struct resource_history *h,
                        struct checkpoint_in *in)
{
    if (isnan(in->mean_failure_interval_s))
        in->mean_failure_interval_s = h->mean_s;
    in->weibull_shape = in->weibull_scale_s = NAN;
    if (w->param[CHECKPOINT_LAW_OPTION] != CHECKPOINT_LAW_EXPONENTIAL) {
        in->weibull_shape = h->weibull_shape;
        in->weibull_scale_s = h->scale_s;
    }
    if (!h->known)
        return;
    if (isnan(in->failure_age_s))
        in->failure_age_s =
            reliability_failure_age_s(&h->reliability, w->histories.now_s);
    if (isnan(in->uptime_s))
        in->uptime_s = reliability_uptime_s(&h->reliability, w->histories.now_s);
}

static struct checkpoint_basis no_basis(void)
{
    return (struct checkpoint_basis){NAN, NAN,  NAN, NAN, NAN,  NAN, NAN, NAN,
                                     NAN, NULL, NAN, NAN, NULL, NAN, NAN};
}

/* What the rate of a stored history comes from. */
static void add_rate_basis(const struct resource_history *h,
                           struct checkpoint_basis *basis)
{
    if (!h->has_rate || !h->is_stored)
        return;
    basis->failure_count = h->risk.seen.kill_count;
    basis->at_risk_s = h->risk.seen.at_risk_s;
    basis->observed_s = h->risk.observed_s; /* not since then, if it ended before now */
    if (h->prior_scope == RATE_PRIOR_NONE)
        return;
    basis->prior_scope = rate_prior_scopes[h->prior_scope];
    basis->prior_shape = h->prior.shape;
    basis->prior_rate_s = h->prior.rate_s;
}

/* What the decision rests on; `h` and `cost` NULL: not on these. */
static void add_basis(const struct checkpoint_work *w, const struct resource_history *h,
                      const struct checkpoint_cost *cost, struct checkpoint_interval *out)
{
    struct checkpoint_basis *basis;

    if (!h && !cost)
        return;
    basis = NEW(w->rq->arena, struct checkpoint_basis, 1);
    *basis = no_basis();
    if (h) {
        basis->failures = (double)h->reliability.failure_count;
        basis->observed_s = fmax(0, w->histories.now_s - h->reliability.observed_since_s);
        add_rate_basis(h, basis);
    }
    if (cost) {
        basis->checkpoint_logs = (double)cost->log_count;
        basis->checkpoint_overhead_s = cost->overhead_s;
        basis->checkpoint_latency_s = cost->stored_after_s;
        basis->restart_s = cost->restart_s;
    }
    out->basis = basis;
}

/* What is to be known of a rate from a stored history. */
static void note_history(struct checkpoint_work *w, const struct checkpoint_job *job,
                         const struct resource_history *h,
                         struct checkpoint_interval *out)
{
    struct failure_range range;

    if (!h->has_rate || !isnan(job->in.mean_failure_interval_s))
        return;
    range = failure_rate_range(&h->rate);
    out->low_s = range.low_s;
    out->high_s = range.high_s;
    if (h->risk.start_unknown)
        checkpoint_affect(w, CHECKPOINT_WARNS_START_UNKNOWN, job);
    if (h->risk.history_ended)
        checkpoint_affect(w, CHECKPOINT_WARNS_ENDED, job);
    if (h->risk.outside_count)
        checkpoint_affect(w, CHECKPOINT_WARNS_OUTSIDE, job);
    if (h->is_cut)
        checkpoint_affect(w, CHECKPOINT_WARNS_CUT, job);
    if (h->rate.few_failures)
        checkpoint_affect(w, CHECKPOINT_WARNS_FEW, job);
    if (h->rate.floor_applied)
        checkpoint_affect(w, CHECKPOINT_WARNS_FLOORED, job);
    if (range.high_s > FAILURE_RANGE_WIDE * range.low_s)
        checkpoint_affect(w, CHECKPOINT_WARNS_WIDE, job);
}

/* The nodes of a job, as one: a failure of any ends all of it. */
struct nodes {
    double share;          /* of each resource: nodes over resources */
    double known, unknown; /* resources whose mean is known, and others */
    size_t unseen;         /* without a history of their own */
    double failure_count, at_risk_s, observed_s;
    bool has_rates; /* all that are known have one: */
    struct rate_sum sum;
    double per_s;             /* sum of their rates */
    struct failure_law *laws; /* of each that is known */
    size_t law_count;
    const struct resource_history *prior; /* the first with one */
    bool one_prior;                       /* which all with one share */
};

/* How a resource fails: by its fit, or at a constant rate. */
static struct failure_law law_of(const struct checkpoint_work *w,
                                 const struct resource_history *h, double count)
{
    struct failure_law law = {NAN, NAN, 0, h->mean_s, count};

    if (w->param[CHECKPOINT_LAW_OPTION] != CHECKPOINT_LAW_EXPONENTIAL &&
        h->weibull_shape > 0 && h->scale_s > 0) {
        law.shape = h->weibull_shape;
        law.scale_s = h->scale_s;
    }
    if (h->known)
        law.age_s = reliability_uptime_s(&h->reliability, w->histories.now_s);
    return law;
}

static void add_node(const struct checkpoint_work *w, const struct resource_history *h,
                     struct nodes *nodes, struct checkpoint_in *in)
{
    nodes->failure_count += h->risk.seen.kill_count;
    nodes->at_risk_s += h->risk.seen.at_risk_s;
    nodes->observed_s += h->risk.observed_s;
    if (h->known) {
        in->uptime_s =
            fmin(in->uptime_s, reliability_uptime_s(&h->reliability, w->histories.now_s));
        in->failure_age_s =
            fmin(in->failure_age_s,
                 reliability_failure_age_s(&h->reliability, w->histories.now_s));
    }
    nodes->unseen += isnan(h->mean_s) || (h->is_stored && !(h->risk.seen.at_risk_s > 0));
    if (isnan(h->mean_s)) {
        nodes->unknown++;
        return;
    }
    nodes->known++;
    nodes->per_s += 1 / h->mean_s;
    nodes->has_rates = nodes->has_rates && h->has_rate;
    if (nodes->has_rates)
        rate_sum_add(&nodes->sum, &h->rate, nodes->share);
    nodes->laws[nodes->law_count++] = law_of(w, h, nodes->share);
    if (!h->has_rate || !h->is_stored || h->prior_scope == RATE_PRIOR_NONE)
        return;
    if (!nodes->prior)
        nodes->prior = h;
    nodes->one_prior = nodes->one_prior && h->prior.shape == nodes->prior->prior.shape &&
                       h->prior.rate_s == nodes->prior->prior.rate_s;
}

/* Those of which nothing is known fail as often as the others in the mean. */
static void add_unknown(struct nodes *nodes)
{
    double more = (nodes->known + nodes->unknown) / nodes->known;

    if (!(nodes->unknown > 0) || !(nodes->known > 0))
        return;
    nodes->per_s *= more;
    nodes->sum.mean_per_s *= more;
    nodes->sum.variance *= more * more;
    for (size_t i = 0; i < nodes->law_count; i++)
        nodes->laws[i].count *= more;
}

static void count_laws(struct checkpoint_work *w, const struct nodes *nodes,
                       struct checkpoint_basis *basis)
{
    struct checkpoint_basis_laws *laws =
        NEW(w->rq->arena, struct checkpoint_basis_laws, 1);

    for (size_t i = 0; i < nodes->law_count; i++)
        *(failure_law_is_weibull(&nodes->laws[i]) ? &laws->weibull
                                                  : &laws->exponential) +=
            nodes->laws[i].count;
    basis->laws = laws;
}

static void fill_basis(struct checkpoint_work *w, const struct nodes *nodes, double count,
                       struct checkpoint_interval *out)
{
    struct checkpoint_basis *basis = NEW(w->rq->arena, struct checkpoint_basis, 1);

    *basis = no_basis();
    basis->nodes = count;
    out->basis = basis;
    if (nodes->has_rates && nodes->known > 0) {
        basis->failure_count = nodes->failure_count;
        basis->at_risk_s = nodes->at_risk_s;
        basis->observed_s = nodes->observed_s;
    }
    if (nodes->prior && nodes->one_prior) {
        basis->prior_scope = rate_prior_scopes[nodes->prior->prior_scope];
        basis->prior_shape = nodes->prior->prior.shape;
        basis->prior_rate_s = nodes->prior->prior.rate_s;
    }
    if (w->policy->flags & CHECKPOINT_NEEDS_WEIBULL)
        count_laws(w, nodes, basis);
}

/* The resources that the nodes of a job are, or are some of. */
struct pool {
    const char *const *ids; /* NULL: the whole snapshot */
    size_t count;
};

static struct pool pool_of(const struct checkpoint_work *w,
                           const struct checkpoint_job *job)
{
    if (job->resource_count > 0)
        return (struct pool){job->resource_ids, job->resource_count};
    if (job->pool_count > 0)
        return (struct pool){job->pool_ids, job->pool_count};
    if (job->nodes > 0 && !job->resource_id && w->snapshot)
        return (struct pool){NULL, w->snapshot->resource_count};
    return (struct pool){NULL, 0};
}

/* The same, or the one resource that it names. */
static struct pool pool_or_one(const struct checkpoint_work *w,
                               const struct checkpoint_job *job)
{
    struct pool pool = pool_of(w, job);

    return pool.count == 0 && job->resource_id ? (struct pool){&job->resource_id, 1}
                                               : pool;
}

static const struct resource_history *resource_at(struct checkpoint_work *w,
                                                  const struct pool *pool, size_t i)
{
    size_t place = pool->ids ? histories_find(&w->histories, pool->ids[i], false) : i;

    return &w->histories.list[place];
}

/* What the histories of several nodes say together. */
static void use_nodes(struct checkpoint_work *w, const struct checkpoint_job *job,
                      const struct pool *pool, struct checkpoint_in *in,
                      struct checkpoint_interval *out)
{
    double count = job->resource_count ? (double)job->resource_count : job->nodes;
    struct nodes nodes = {.has_rates = true, .one_prior = true};
    struct failure_range range;
    struct failure_rate rate;

    if (isnan(count))
        count = 1;
    nodes.share = count / (double)pool->count;
    nodes.laws = NEW(w->rq->arena, struct failure_law, pool->count);
    for (size_t i = 0; i < pool->count; i++) {
        const struct resource_history *h = resource_at(w, pool, i);

        add_node(w, h, &nodes, in);
        note_history(w, job, h, out);
    }
    add_unknown(&nodes);
    if (nodes.unseen > 0 && nodes.known > 0)
        checkpoint_affect(w, CHECKPOINT_WARNS_NO_HISTORY, job);
    w->unknown_nodes += nodes.known > 0 ? nodes.unseen : 0;
    out->low_s = out->high_s = NAN;
    fill_basis(w, &nodes, count, out);
    in->mean_failure_interval_s =
        nodes.known > 0 ? 1 / (nodes.share * nodes.per_s) : (double)NAN;
    if (!(nodes.known > 0))
        return;
    in->law_count = failure_laws_join(nodes.laws, nodes.law_count);
    in->laws = nodes.laws;
    if (!nodes.has_rates)
        return;
    rate = rate_sum_total(&nodes.sum);
    range = failure_rate_range(&rate);
    out->low_s = range.low_s;
    out->high_s = range.high_s;
}

/* One resource, or so many nodes like it. */
static void use_one(struct checkpoint_work *w, const struct checkpoint_job *job,
                    const struct resource_history *history, struct checkpoint_in *in,
                    struct checkpoint_interval *out)
{
    double nodes = job->resource_count ? (double)job->resource_count : job->nodes;
    struct failure_law *law = NEW(w->rq->arena, struct failure_law, 1);

    if (!(nodes > 1))
        nodes = 1;
    in->node_count = nodes;
    in->mean_failure_interval_s /= nodes;
    out->low_s /= nodes;
    out->high_s /= nodes;
    if (!(w->policy->flags & CHECKPOINT_NEEDS_WEIBULL) || !history ||
        !isnan(job->in.mean_failure_interval_s) || !(history->mean_s > 0))
        return;
    *law = law_of(w, history, nodes);
    if (!isnan(job->in.uptime_s))
        law->age_s = job->in.uptime_s;
    if (!failure_law_is_weibull(law) &&
        history->gap_count < RELIABILITY_GAPS_MIN && /* too few, and that is said */
        w->param[CHECKPOINT_LAW_OPTION] != CHECKPOINT_LAW_EXPONENTIAL)
        return;
    in->laws = law;
    in->law_count = 1;
}

/* Other resources that a spare could be: of the pool, or of the snapshot. Infinite:
 * nobody says which there are. */
static double others_of(const struct checkpoint_work *w, const struct checkpoint_job *job)
{
    double nodes = job->resource_count ? (double)job->resource_count
                   : job->nodes > 1    ? job->nodes
                                       : 1;

    if (job->pool_count > 0)
        return fmax(0, (double)job->pool_count - nodes);
    return w->snapshot ? fmax(0, (double)w->snapshot->resource_count - nodes) : HUGE_VAL;
}

/* What a failure costs until the job is on its nodes again. */
static void use_spares(struct checkpoint_work *w, const struct checkpoint_job *job,
                       struct checkpoint_in *in, struct checkpoint_interval *out)
{
    double spares = job->replacement == REPLACEMENT_SAME || isnan(job->spare_nodes)
                        ? 0
                        : job->spare_nodes;
    double mttr_s = checkpoint_mttr_s(w, job);
    struct spare_wait wait;

    if (spares > others_of(w, job))
        checkpoint_affect(w, CHECKPOINT_WARNS_SPARES, job);
    out->effective_delay_s = out->wait_for_spare_probability = NAN;
    if (!checkpoint_waits_for_repair(job) || isnan(mttr_s) ||
        !(in->mean_failure_interval_s > 0))
        return;
    wait = spare_wait_of(spares, mttr_s, in->mean_failure_interval_s,
                         in->reschedule_delay_s);
    in->reschedule_delay_s = wait.delay_s;
    out->effective_delay_s = wait.delay_s;
    out->wait_for_spare_probability = wait.probability;
}

bool checkpoint_waits_for_repair(const struct checkpoint_job *job)
{
    return job->replacement == REPLACEMENT_SAME ||
           job->replacement == REPLACEMENT_SPARE ||
           (job->replacement == REPLACEMENT_AUTO && job->spare_nodes > 0);
}

size_t checkpoint_resource_count(const struct checkpoint_work *w,
                                 const struct checkpoint_job *job)
{
    return pool_or_one(w, job).count;
}

const struct resource_history *checkpoint_resource_at(struct checkpoint_work *w,
                                                      const struct checkpoint_job *job,
                                                      size_t i)
{
    struct pool pool = pool_or_one(w, job);

    return resource_at(w, &pool, i);
}

double checkpoint_mttr_s(struct checkpoint_work *w, const struct checkpoint_job *job)
{
    struct pool pool = pool_or_one(w, job);
    double total_s = 0, count = 0;

    if (!isnan(job->mttr_s) || !checkpoint_waits_for_repair(job))
        return job->mttr_s;
    for (size_t i = 0; i < pool.count; i++) {
        const struct reliability *r = &resource_at(w, &pool, i)->reliability;

        total_s += r->repair_total_s;
        count += (double)r->repair_count;
    }
    return count > 0 ? total_s / count : (double)NAN;
}

bool checkpoint_all_weibull(struct checkpoint_work *w)
{
    for (size_t i = 0; i < w->body->job_count; i++) {
        const struct checkpoint_job *job = &w->body->jobs[i];
        struct pool pool = pool_or_one(w, job);

        if (!isnan(job->in.mean_failure_interval_s))
            return false;
        for (size_t r = 0; r < pool.count; r++)
            if (!resource_at(w, &pool, r)->is_own_fit)
                return false;
        if (pool.count == 0)
            return false;
    }
    return w->param[CHECKPOINT_LAW_OPTION] != CHECKPOINT_LAW_EXPONENTIAL;
}

void checkpoint_use_failures(struct checkpoint_work *w, const struct checkpoint_job *job,
                             const struct resource_history *history,
                             const struct checkpoint_cost *cost, struct checkpoint_in *in,
                             struct checkpoint_interval *out)
{
    struct pool pool = pool_of(w, job);

    out->low_s = out->high_s = NAN;
    in->node_count = 1;
    if (history)
        use_history(w, history, in);
    if (history)
        note_history(w, job, history, out);
    add_basis(w, history, cost, out);
    if (pool.count > 0 && isnan(job->in.mean_failure_interval_s))
        use_nodes(w, job, &pool, in, out);
    else
        use_one(w, job, history, in, out);
    use_spares(w, job, in, out);
}

void checkpoint_use_image(struct checkpoint_work *w, struct checkpoint_in *in,
                          struct checkpoint_interval *out)
{
    struct checkpoint_basis *basis;

    in->has_checkpoint = out->out.has_image;
    if (in->has_checkpoint > 0)
        in->restart_from_scratch_s = in->restart_s;
    if (isnan(in->has_checkpoint) ||
        (isnan(in->mean_failure_interval_s) && !out->out.by_law))
        return;
    basis = NEW(w->rq->arena, struct checkpoint_basis, 1);
    *basis = out->basis ? *out->basis : no_basis();
    basis->restart_from_scratch_s = in->restart_from_scratch_s;
    basis->has_checkpoint = in->has_checkpoint;
    out->basis = basis;
}

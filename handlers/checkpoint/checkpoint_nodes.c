/* checkpoint_nodes.c - how the nodes of a job fail, by their histories. */
#include "handlers/checkpoint/checkpoint_decision.h"

#include <math.h>

/* What the job does not say of failures, from the history. */
static void use_history(const struct checkpoint_work *w, const struct resource_history *h,
                        struct checkpoint_in *in)
{
    if (isnan(in->mean_failure_interval_s))
        in->mean_failure_interval_s = h->mean_s;
    in->weibull_shape = h->weibull_shape;
    in->weibull_scale_s = h->scale_s;
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
    return (struct checkpoint_basis){NAN, NAN, NAN, NAN,  NAN, NAN,
                                     NAN, NAN, NAN, NULL, NAN, NAN};
}

/* What the rate of a stored history comes from. */
static void add_rate_basis(const struct resource_history *h,
                           struct checkpoint_basis *basis)
{
    if (!h->has_rate || !h->is_stored)
        return;
    basis->failure_count = h->risk.seen.kill_count;
    basis->at_risk_s = h->risk.seen.at_risk_s;
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
    double count;
    double failure_count, at_risk_s;
    bool has_rate; /* all of them have one: */
    struct rate_sum sum;
    struct failure_law *laws; /* of each; policies that need them */
};

static void add_node(const struct checkpoint_work *w, const struct resource_history *h,
                     struct nodes *nodes, struct checkpoint_in *in)
{
    struct failure_law law = {h->weibull_shape, h->scale_s, 0, h->mean_s, 1};
    double age_s = NAN;

    if (h->known) {
        age_s = reliability_failure_age_s(&h->reliability, w->histories.now_s);
        law.age_s = reliability_uptime_s(&h->reliability, w->histories.now_s);
        in->uptime_s = fmin(in->uptime_s, law.age_s);
        in->failure_age_s = fmin(in->failure_age_s, age_s);
    }
    in->mean_failure_interval_s =
        1 / (1 / in->mean_failure_interval_s + 1 / h->mean_s); /* NAN: unknown stays */
    nodes->has_rate = nodes->has_rate && h->has_rate;
    nodes->failure_count += h->risk.seen.kill_count;
    nodes->at_risk_s += h->risk.seen.at_risk_s;
    if (nodes->has_rate)
        rate_sum_add(&nodes->sum, &h->rate, 1);
    nodes->laws[in->law_count++] = law;
}

/* What the histories of several nodes say together. */
static void use_nodes(struct checkpoint_work *w, const struct checkpoint_job *job,
                      struct checkpoint_in *in, struct checkpoint_interval *out)
{
    struct nodes nodes = {.count = (double)job->resource_count, .has_rate = true};
    struct checkpoint_basis *basis;
    struct failure_range range;
    struct failure_rate rate;

    nodes.laws = NEW(w->rq->arena, struct failure_law, job->resource_count);
    basis = NEW(w->rq->arena, struct checkpoint_basis, 1);
    in->mean_failure_interval_s = HUGE_VAL;
    for (size_t r = 0; r < job->resource_count; r++) {
        const struct resource_history *h =
            &w->histories
                 .list[histories_find(&w->histories, job->resource_ids[r], false)];

        add_node(w, h, &nodes, in);
        note_history(w, job, h, out);
    }
    in->laws = nodes.laws;
    *basis = no_basis();
    basis->nodes = nodes.count;
    out->basis = basis;
    out->low_s = out->high_s = NAN;
    if (!nodes.has_rate)
        return;
    basis->failure_count = nodes.failure_count;
    basis->at_risk_s = nodes.at_risk_s;
    rate = rate_sum_total(&nodes.sum);
    range = failure_rate_range(&rate);
    out->low_s = range.low_s;
    out->high_s = range.high_s;
}

/* The failures of the nodes of the job, as far as it does not say how often they are. */
void checkpoint_use_failures(struct checkpoint_work *w, const struct checkpoint_job *job,
                             const struct resource_history *history,
                             const struct checkpoint_cost *cost, struct checkpoint_in *in,
                             struct checkpoint_interval *out)
{
    double nodes = job->resource_count ? (double)job->resource_count : job->nodes;

    out->low_s = out->high_s = NAN;
    if (history)
        use_history(w, history, in);
    if (history)
        note_history(w, job, history, out);
    add_basis(w, history, cost, out);
    if (job->resource_count && isnan(job->in.mean_failure_interval_s)) {
        use_nodes(w, job, in, out);
        return;
    }
    if (!(nodes > 1))
        return;
    in->mean_failure_interval_s /= nodes;
    out->low_s /= nodes;
    out->high_s /= nodes;
    if (in->weibull_shape > 0) {
        struct failure_law *law = NEW(w->rq->arena, struct failure_law, 1);

        *law = (struct failure_law){in->weibull_shape, in->weibull_scale_s,
                                    isnan(in->uptime_s) ? 0 : in->uptime_s,
                                    in->mean_failure_interval_s, nodes};
        in->laws = law;
        in->law_count = 1;
    }
}

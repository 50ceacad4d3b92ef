/* checkpoint_power.c - the energy and the cost of jobs with checkpoints, plans that are
 * not dominated, and offers of other machines. */
#include "handlers/checkpoint/checkpoint_decision.h"

#include <stdlib.h>
#include <string.h>

enum { FRONTIER_MAX = 64, OFFERS_MAX = 1000 };

/* What of the figures depends on how a plan is played: interruptions that are told in
 * time, on top of its failures. */
struct extra {
    double per_s, overhead_s; /* per_s 0: none */
};

static struct extra extra_of(const struct checkpoint_job *job,
                             const struct checkpoint_in *in, double nodes)
{
    struct interruptions x;

    if (!checkpoint_has_interruptions(job))
        return (struct extra){0};
    x = checkpoint_interruptions(job->world.notice, nodes, in->checkpoint_overhead_s);
    return (struct extra){x.notice_s >= x.overhead_s ? x.per_s : 0, x.overhead_s};
}

/* The parts of a plan's time with them; `busy_s` on the machines. */
static struct time_parts parts_of(const struct finite_job *job,
                                  const struct finite_plan *plan,
                                  const struct extra *extra)
{
    struct time_parts parts = finite_time_parts(job, plan);
    double told = extra->per_s * parts.total_s;

    if (told <= 0)
        return parts;
    parts.failures += told;
    parts.checkpoint_s += told * extra->overhead_s;
    parts.recovery_s += told * job->restart_s;
    parts.on_machine_s += told * (extra->overhead_s + job->restart_s);
    parts.total_s += told * (extra->overhead_s + job->restart_s + job->delay_s);
    return parts;
}

static double cost_of(const struct checkpoint_job *job, double nodes, double total_s,
                      double busy_s)
{
    return job->world.price_per_s * nodes *
           (job->world.pay_while_waiting ? total_s : busy_s);
}

/* No plan has shorter segments: of the policy that answers. */
static double least_segment_s(const struct checkpoint_work *w,
                              const struct checkpoint_in *in)
{
    struct checkpoint_out unused = {0};

    checkpoint_set_minimum(in, w->param, &unused);
    return checkpoint_floor_s(in, w->param, &unused);
}

/* ---- the objective ---- */

/* Another number of segments than the fastest; cost has the fastest as its best, as it
 * grows with the time. */
void checkpoint_use_objective(struct checkpoint_work *w, const struct checkpoint_job *job,
                              const struct checkpoint_in *in,
                              struct checkpoint_interval *out)
{
    const struct checkpoint_request_world *all = &w->body->world;
    struct checkpoint_out *x = &out->out;
    struct finite_job planned;
    struct finite_plan plan;
    double n;

    if (all->objective_count == 0 || strcmp(all->objective[0], "expected_time_s") == 0)
        return;
    if (strcmp(w->policy->name, "finite") != 0 || !in->start || !(x->plan.count > 0) ||
        !checkpoint_finite_job(in, least_segment_s(w, in), &planned)) {
        checkpoint_affect(w, CHECKPOINT_WARNS_OBJECTIVE, job);
        return;
    }
    if (strcmp(all->objective[0], "energy_j") != 0)
        return;
    n = energy_best_count(&planned, job->world.power, x->plan.count);
    if (n == x->plan.count)
        return;
    plan = finite_plan_of_count(&planned, n);
    x->plan = plan;
    x->plan.is_proved = true; /* of this number; which number is best, energy says */
    x->interval_s = n > 2 ? plan.middle_s : plan.first_s;
    x->checkpoint_count = n - 1;
    x->expected_completion_s = plan.expected_s;
    x->waste_ratio = 1 - in->execution_time_s / plan.expected_s;
    x->gap_ratio = plan.expected_s / x->best_completion_s - 1;
    x->action = plan.first_s > 0 ? CHECKPOINT_NONE : CHECKPOINT_TAKE;
    x->reason = n <= 1             ? CHECKPOINT_REASON_TOO_SHORT
                : plan.first_s > 0 ? CHECKPOINT_REASON_STARTED
                                   : CHECKPOINT_REASON_IMAGE_FIRST;
    x->next_request_in_s = n <= 1             ? HUGE_VAL
                           : plan.first_s > 0 ? plan.first_s
                                              : x->interval_s;
    w->is_unproved = true;
}

/* ---- energy, cost, frontier ---- */

static void add_frontier(struct checkpoint_work *w, const struct checkpoint_job *job,
                         const struct finite_job *planned, const struct extra *extra,
                         struct checkpoint_interval *out)
{
    static const struct power none = {0, 0, 0};
    const struct power *power = job->world.power ? job->world.power : &none;
    struct checkpoint_point *points =
        NEW(w->rq->arena, struct checkpoint_point, FRONTIER_MAX);
    double counts[FRONTIER_MAX], all = 0, nodes = out->world.nodes;
    struct finite_plan fastest = finite_best(planned);
    size_t count;

    if (!isfinite(fastest.expected_s))
        return;
    /* without power the fastest is all there is */
    count = job->world.power ? energy_frontier(planned, power, fastest.count,
                                               FRONTIER_MAX, counts, &all)
                             : 1;
    if (!job->world.power)
        counts[0] = fastest.count;
    if (all > FRONTIER_MAX)
        checkpoint_affect(w, CHECKPOINT_WARNS_FRONTIER_CUT, job);
    for (size_t i = 0; i < count; i++) {
        struct finite_plan plan = finite_plan_of_count(planned, counts[i]);
        struct time_parts parts = parts_of(planned, &plan, extra);

        points[i] = (struct checkpoint_point){
            counts[i], parts.total_s,
            job->world.power ? nodes * energy_j(power, &parts) : (double)NAN,
            cost_of(job, nodes, parts.total_s, parts.on_machine_s)};
    }
    out->world.frontier = points;
    out->world.frontier_count = count;
}

/* ---- offers ---- */

static int by_cost(const void *left, const void *right)
{
    const struct checkpoint_offer *a = left, *b = right;
    double cost_a = isnan(a->expected_cost) ? HUGE_VAL : a->expected_cost;
    double cost_b = isnan(b->expected_cost) ? HUGE_VAL : b->expected_cost;

    if (cost_a != cost_b)
        return cost_a < cost_b ? -1 : 1;
    if (a->expected_time_s != b->expected_time_s)
        return a->expected_time_s < b->expected_time_s ? -1 : 1;
    return strcmp(a->resource_id ? a->resource_id : "",
                  b->resource_id ? b->resource_id : "");
}

/* The job on machines of this mean failure interval, of one node, price and notice. */
static bool offer(const struct checkpoint_work *w, const struct checkpoint_job *job,
                  const struct checkpoint_in *in,
                  const struct interruption_notice *notice, double nodes, double mean_s,
                  double price_per_s, struct checkpoint_offer *out)
{
    struct interruptions x = {0, 0, 0};
    struct interrupted_plan plan;
    struct checkpoint_in there = *in;
    struct finite_job planned;

    there.mean_failure_interval_s = fmin(mean_s, CHECKPOINT_LONGEST_S);
    if (!checkpoint_finite_job(&there, least_segment_s(w, &there), &planned))
        return false;
    if (notice)
        x = checkpoint_interruptions(notice, nodes, in->checkpoint_overhead_s);
    plan = interrupted_best(&planned, &x);
    if (!isfinite(plan.expected_s))
        return false;
    out->expected_time_s = plan.expected_s;
    out->expected_cost = price_per_s * nodes *
                         (job->world.pay_while_waiting ? plan.expected_s : plan.busy_s);
    out->interval_s = plan.plan.count > 2 ? plan.plan.middle_s : plan.plan.first_s;
    out->is_spot = x.per_s > 0;
    return true;
}

/* Whether a resource of the snapshot is offered. */
static bool has_price(const struct resource *resource)
{
    return resource->price_per_s > 0;
}

/* Prices and notices of resources are looked at here: decision_snapshot() said that they
 * are not. */
static void take_back_note(struct request *rq)
{
    static const char price[] = "ignored: price_per_s of ",
                      notice[] = "ignored: notice of ";
    const char **kept = NEW(rq->arena, const char *, rq->note_count);
    size_t count = 0;

    for (size_t i = 0; i < rq->note_count; i++)
        if (strncmp(rq->notes[i], price, sizeof(price) - 1) != 0 &&
            strncmp(rq->notes[i], notice, sizeof(notice) - 1) != 0)
            kept[count++] = rq->notes[i];
    rq->notes = kept;
    rq->note_count = count;
}

void checkpoint_world_want(struct checkpoint_work *w)
{
    size_t count = w->snapshot ? w->snapshot->resource_count : 0;
    bool any = false;

    for (size_t i = 0; i < w->body->job_count && !any; i++) {
        const struct checkpoint_job_world *x = &w->body->jobs[i].world;

        any = x->price_per_s >= 0 || x->notice;
    }
    if (any)
        take_back_note(w->rq);
    for (size_t r = 0; any && r < count && r < OFFERS_MAX; r++) {
        size_t place = histories_find(&w->histories, w->snapshot->resources[r].id, false);

        if (has_price(&w->snapshot->resources[r]) && place != NAME_NOT_FOUND)
            w->histories.list[place].wanted = true;
    }
}

/* The job on another resource that has a price. false: nothing is known of its failures,
 * it would not end there, or the time is up. */
static bool offer_resource(struct checkpoint_work *w, const struct checkpoint_job *job,
                           const struct checkpoint_in *in,
                           const struct resource *resource, double nodes,
                           struct checkpoint_offer *out)
{
    size_t place = histories_find(&w->histories, resource->id, false);
    double mean_s = NAN;

    if (place == NAME_NOT_FOUND || budget_step(&w->rq->budget, 1000))
        return false;
    if (w->histories.list[place].wanted)
        mean_s = w->histories.list[place].mean_s / nodes;
    out->resource_id = resource->id;
    return mean_s > 0 &&
           offer(w, job, in, resource->notice, nodes, mean_s, resource->price_per_s, out);
}

static void add_offers(struct checkpoint_work *w, const struct checkpoint_job *job,
                       const struct checkpoint_in *in, struct checkpoint_interval *out)
{
    const struct checkpoint_job_world *x = &job->world;
    size_t resources = w->snapshot ? w->snapshot->resource_count : 0, count = 0, left = 0;
    struct checkpoint_offer *offers =
        NEW(w->rq->arena, struct checkpoint_offer,
            1 + (resources < OFFERS_MAX ? resources : OFFERS_MAX));
    double nodes = out->world.nodes;

    offers[0].resource_id = job->resource_id;
    count += offer(w, job, in, x->notice, nodes, out->world.failure_mean_s,
                   x->price_per_s, &offers[0]);
    for (size_t r = 0; r < resources; r++) {
        const struct resource *resource = &w->snapshot->resources[r];
        bool is_offered;

        if (!has_price(resource) ||
            (job->resource_id && strcmp(job->resource_id, resource->id) == 0))
            continue;
        is_offered =
            r < OFFERS_MAX && offer_resource(w, job, in, resource, nodes, &offers[count]);
        count += is_offered;
        left += !is_offered;
    }
    if (left > 0)
        checkpoint_affect(w, CHECKPOINT_WARNS_OFFERS, job);
    if (left > 0 && w->affected[CHECKPOINT_WARNS_OFFERS].count == 1)
        w->not_offered = left;
    qsort(offers, count, sizeof(*offers), by_cost);
    out->world.offers = offers;
    out->world.offer_count = count;
}

void checkpoint_add_power(struct checkpoint_work *w, const struct checkpoint_job *job,
                          const struct checkpoint_in *in, struct checkpoint_interval *out)
{
    const struct checkpoint_job_world *x = &job->world;
    double expected_s = out->out.expected_completion_s, m = out->world.failure_mean_s;
    struct finite_job planned;
    struct finite_plan plan = out->out.plan;
    struct checkpoint_parts *shown;
    struct time_parts parts;
    struct extra extra = extra_of(job, in, out->world.nodes);

    if (x->price_per_s >= 0 && isfinite(expected_s) && m > 0) {
        double busy_s = isnan(out->world.busy_s)
                            ? expected_s * (m / (m + in->reschedule_delay_s))
                            : out->world.busy_s;

        out->world.expected_cost = cost_of(job, out->world.nodes, expected_s, busy_s);
        out->world.currency = x->currency;
    }
    if (!checkpoint_finite_job(in, CHECKPOINT_SHORTEST_S, &planned))
        return;
    if (x->level_count == 0 && !x->silent && !x->predictor) {
        if (x->price_per_s >= 0 || x->notice)
            add_offers(w, job, in, out);
        if (w->body->world.frontier) {
            struct finite_job bounded = planned;

            bounded.least_s = least_segment_s(w, in);
            add_frontier(w, job, &bounded, &extra, out);
        }
    }
    if (!x->power || !isfinite(expected_s) || isnan(out->out.interval_s))
        return;
    if (!(plan.count > 0))
        plan = finite_plan_of_interval(&planned, out->out.interval_s);
    parts = parts_of(&planned, &plan, &extra);
    if (!isfinite(parts.total_s))
        return;
    out->world.energy_j = out->world.nodes * energy_j(x->power, &parts);
    shown = NEW(w->rq->arena, struct checkpoint_parts, 1);
    *shown =
        (struct checkpoint_parts){parts.work_s, parts.checkpoint_s, parts.recovery_s,
                                  parts.total_s - parts.on_machine_s, parts.failures};
    out->world.parts = shown;
}

/* simulation_history.c - failures of simulated resources from what was seen of them.
 *
 * The resources of a snapshot fail as they did: from the histories that the snapshot
 * tells, else from the stored ones. A resource with RELIABILITY_GAPS_MIN gaps between
 * failures (its own, else its site's) gets a Weibull distribution of their shape; one
 * with fewer an exponential one. The mean is in both cases the time up for each
 * failure, the whole time up when there was none. Repairs are exponential of the mean
 * that was seen; a resource of which none is known gets the mean of all others.
 *
 * Source: spec simulator.md 13 (what-if), fault-tolerance.md 3.
 * Deviation: the fit is of the gaps between the begins of failures, the simulator draws
 * times up; so the fit says the shape and the time up the mean.
 */
#include "handlers/prediction/resource_histories.h"
#include "handlers/simulation/simulation_parts.h"
#include "models/base/plural.h"

static const double SHAPE_MIN = 0.1;                   /* of what is drawn from */
static const double MEAN_MIN_S = 1, MEAN_MAX_S = 1e15; /* likewise */

struct basis {
    size_t weibull_count, exponential_count, unknown_count; /* resources */
    size_t weibull_failures, exponential_failures;
    double repair_s; /* mean of all; NAN: none is known */
    size_t without_repair_count;
};

/* Mean time to repair; NAN: not known. */
static double repair_of(const struct resource_history *h, double now_s)
{
    const struct reliability *r = &h->reliability;
    double mean_s = reliability_mttr_s(r);
    double down_s = now_s - r->observed_since_s - reliability_uptime_total_s(r, now_s);

    if (!h->known || r->failure_count == 0)
        return (double)NAN;
    if (!(mean_s > 0)) /* instants without ends say nothing */
        mean_s = down_s / (double)r->failure_count;
    return mean_s > 0 ? fmin(mean_s, MEAN_MAX_S) : (double)NAN;
}

static double mean_repair(const struct resource_histories *h)
{
    double sum_s = 0, failures = 0;

    for (size_t i = 0; i < h->count; i++) {
        double repair_s = repair_of(&h->list[i], h->now_s);
        double weight = (double)h->list[i].reliability.failure_count;

        if (isnan(repair_s))
            continue;
        sum_s += weight * repair_s;
        failures += weight;
    }
    return failures > 0 ? sum_s / failures : (double)NAN;
}

static void fit(const struct resource_history *h, double now_s, struct basis *basis,
                struct sim_group *group)
{
    double mean_s = fmin(fmax(h->mean_s, MEAN_MIN_S), MEAN_MAX_S);
    double repair_s = repair_of(h, now_s);

    if (!h->known || isnan(h->mean_s)) {
        basis->unknown_count++;
        return;
    }
    if (isnan(repair_s))
        repair_s = basis->repair_s;
    basis->without_repair_count += isnan(repair_s) ? 1 : 0;
    group->fails = true;
    group->restore =
        isnan(repair_s) ? distribution_constant(0) : distribution_exponential(repair_s);
    if (isnan(h->weibull_shape)) {
        group->failure = distribution_exponential(mean_s);
        basis->exponential_count++;
        basis->exponential_failures += h->reliability.failure_count;
        return;
    }
    group->failure = distribution_blank(DISTRIBUTION_WEIBULL);
    group->failure.shape = fmax(h->weibull_shape, SHAPE_MIN);
    group->failure.mean = mean_s;
    basis->weibull_count++;
    basis->weibull_failures += h->reliability.failure_count;
}

static void warn(struct building *b, const struct resource_histories *h,
                 const struct basis *basis)
{
    size_t fitted = basis->weibull_count + basis->exponential_count;

    if (fitted)
        simulation_warn(b->out, b->a,
                        "failures: from the history, of %s a Weibull distribution (%s "
                        "seen), of %zu an exponential one (%s seen); repairs exponential",
                        counted(basis->weibull_count, "resource").text,
                        counted(basis->weibull_failures, "failure").text,
                        basis->exponential_count,
                        counted(basis->exponential_failures, "failure").text);
    if (basis->unknown_count)
        simulation_warn(b->out, b->a,
                        "failures: of %zu of %s no history is known%s; %s not fail",
                        basis->unknown_count, counted(h->count, "resource").text,
                        h->unavailable ? " (the stored one could not be read)" : "",
                        plural(basis->unknown_count, "it does", "they do"));
    if (basis->without_repair_count)
        simulation_warn(b->out, b->a,
                        "failures: how long repairs take is not known of %s; %s up again "
                        "at once",
                        counted(basis->without_repair_count, "resource").text,
                        plural(basis->without_repair_count, "it is", "they are"));
}

enum error_code simulation_histories(struct building *b, const struct snapshot *snapshot)
{
    struct histories_options options = histories_options_preset();
    double now_s = isnan(b->body->now_s) ? snapshot->taken_at_s : b->body->now_s;
    struct resource_histories histories;
    struct basis basis = {0};
    size_t mistakes = b->err->item_count;

    histories_begin(snapshot, 0, &histories, b->a);
    histories_check(&histories, b->err);
    if (b->err->item_count > mistakes)
        return OK; /* noted */
    for (size_t i = 0; i < histories.count; i++)
        histories.list[i].wanted = true;
    histories.now_s = now_s;
    options.estimator = MF_UPTIME_MEAN;
    options.weibull = true;
    TRY(histories_read(b->rq, &histories, &options));
    basis.repair_s = mean_repair(&histories);
    for (size_t i = 0; i < histories.count; i++)
        fit(&histories.list[i], histories.now_s, &basis, &b->groups[i]);
    warn(b, &histories, &basis);
    return OK;
}

/* cluster_bursts.c - how much rarer own failures are in a failure group, so that with the
 * bursts a node fails as often as its law says.
 *
 * In a group of g nodes with probability p each own failure takes p (g - 1) others along:
 * times up are drawn 1 + p (g - 1) times as long. A node that is down already is not
 * taken along, so with long repairs that is too much. Where the mean repair is more than
 * 5 % of the mean time up, the factor is corrected by what the group does alone, in a
 * pilot, at most 5 times.
 *
 * Source: spec reliability.md 8.6. Deviation: a pilot has 20,000 failures, not 1000,
 * whose mean is known to some 10 % when all fail together.
 */
#include "handlers/simulation_cluster/cluster_simulation_parts.h"

enum { PILOT_FAILURES = 20000, PILOTS_MAX = 5 };
static const double LONG_REPAIR_RATIO = 0.05, GOOD_RATIO = 0.005;

/* The nodes of a failure group. */
struct members {
    struct replay_nodes *nodes;
    size_t group_count;
    double count;      /* nodes */
    double failures_s; /* in a second, by the laws */
    double repair_s;   /* the longest mean */
};

static struct members members_of(struct cluster_playing *p, size_t burst)
{
    const struct cluster_site *s = &p->site;
    struct members m = {.nodes = NEW(p->a, struct replay_nodes, s->group_count)};

    for (size_t g = 0; g < s->group_count; g++) {
        const struct replay_nodes *n = &s->nodes[g];

        budget_step(&p->rq->budget, 4);
        if (n->burst != burst || !n->failure)
            continue;
        m.nodes[m.group_count] = *n;
        m.nodes[m.group_count++].burst = 0;
        m.count += (double)n->count;
        m.failures_s += (double)n->count / distribution_mean(n->failure);
        m.repair_s = fmax(m.repair_s, distribution_mean(n->restore));
    }
    return m;
}

/* The mean time up between two failures of a node, of the group alone; NAN: unknown. */
static double pilot_s(struct cluster_playing *p, const struct members *m,
                      const struct replay_burst *burst, struct arena *scratch)
{
    int64_t *need = NEW(scratch, int64_t, p->site.amount_count);
    int64_t span_ms = kernel_ms(PILOT_FAILURES / m->failures_s);
    struct replay_job last = {.submit_ms = span_ms - 1,
                              .cancel_ms = REPLAY_NEVER,
                              .limit_ms = REPLAY_NEVER,
                              .need = need,
                              .nodes = 1};
    struct replay_in in = {.groups = m->nodes,
                           .group_count = m->group_count,
                           .amount_count = p->site.amount_count,
                           .bursts = burst,
                           .burst_count = 1,
                           .jobs = &last,
                           .job_count = 1,
                           .rules = replay_rules_default(),
                           .seed = 1,
                           .stop_ms = span_ms,
                           .budget = &p->rq->budget};
    struct replay_out out;
    const double *node_s = out.totals.node_s;

    if (span_ms <= 1 || span_ms >= REPLAY_NEVER ||
        replay_play(&in, NULL, &out, scratch, scratch, p->err) != OK || out.is_cut ||
        out.totals.failures == 0)
        return (double)NAN;
    return (m->count * 1e-3 * (double)out.totals.end_ms - node_s[REPLAY_TIME_down]) /
           (double)out.totals.failures;
}

double cluster_burst_factor(struct cluster_playing *p, size_t burst)
{
    const struct sim_failure_group *g = &p->body->failure_groups[burst].burst;
    struct members m = members_of(p, burst);
    struct replay_burst b = {.probability = g->burst_probability,
                             .delay_s = g->burst_delay_s};
    struct arena *scratch;
    double wanted_s = m.count / m.failures_s;

    if (g->burst_rate != SIM_BURST_KEPT || m.count < 2)
        return 1;
    b.slowed = 1 + b.probability * (m.count - 1);
    if (!(m.repair_s > LONG_REPAIR_RATIO * wanted_s) || b.probability <= 0)
        return b.slowed;
    scratch = arena_create_beside(p->a, arena_cap_bytes(p->a));
    for (int i = 0; i < PILOTS_MAX; i++) {
        double ratio = wanted_s / pilot_s(p, &m, &b, scratch);

        arena_reset(scratch);
        if (!(fabs(ratio - 1) > GOOD_RATIO)) /* NAN too */
            break;
        b.slowed = fmax(1, b.slowed * ratio);
    }
    arena_close(scratch);
    return b.slowed;
}

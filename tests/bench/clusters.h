/* clusters.h - made-up clusters for the benchmarks of machine sets.
 *
 * Source: spec parallel-scheduling.md 9.1, 9.2, 9.6 item 11.
 */
#ifndef GRIDPLAN_BENCH_CLUSTERS_H
#define GRIDPLAN_BENCH_CLUSTERS_H

#include "algorithms/parallel/parallel.h"
#include "models/base/rng.h"
#include "tests/bench/bench.h"

#include <math.h>

struct cluster {
    struct parallel_machines machines;
    double *cpu, *links, *uplinks;
};

/* The substitute model md of molecular dynamics, 2,048 molecules. */
static const struct perf_term clusters_md_term = {1.49e-3 * 2048 * 2048, 2, 3.0 * 2048, 2,
                                                  7};
static const struct perf_terms clusters_md = {&clusters_md_term, 1, NAN};

static inline double clusters_unit(uint64_t *state)
{
    return (double)(splitmix64(state) >> 11) * 0x1p-53;
}

static inline struct cluster clusters_room(size_t n, double capacity_mbps,
                                           struct arena *a)
{
    struct cluster c = {.cpu = NEW(a, double, n),
                        .links = NEW(a, double, n *n),
                        .uplinks = NEW(a, double, n)};

    if (!c.cpu || !c.links || !c.uplinks)
        bench_stop("no memory for a cluster");
    c.machines = (struct parallel_machines){n, c.cpu, c.links, NULL, capacity_mbps};
    return c;
}

static inline void clusters_link(struct cluster *c, size_t i, size_t k, double mbps)
{
    c->links[i * c->machines.count + k] = mbps;
    c->links[k * c->machines.count + i] = mbps;
}

/* 30 % of the machines lightly loaded, 40 % medium, 30 % heavily; each link between 20
 * and 80 % of the capacity. The reference generator: checksums in the spec. */
static inline struct cluster clusters_reference(size_t n, double capacity_mbps,
                                                uint64_t seed, struct arena *a)
{
    struct cluster c = clusters_room(n, capacity_mbps, a);
    size_t *order = NEW(a, size_t, n);
    size_t light = (size_t)(0.3 * (double)n + 0.5);
    size_t medium = (size_t)(0.4 * (double)n + 0.5);

    if (!order)
        bench_stop("no memory for a cluster");
    for (size_t i = 0; i < n; i++)
        order[i] = i;
    for (size_t i = n - 1; i > 0; i--) {
        size_t k = (size_t)(clusters_unit(&seed) * (double)(i + 1));
        size_t other = order[k < i ? k : i];

        order[k < i ? k : i] = order[i];
        order[i] = other;
    }
    for (size_t i = 0; i < n; i++) {
        double low = i < light ? 0.701 : i < light + medium ? 0.351 : 0.05;
        double high = i < light ? 1.0 : i < light + medium ? 0.7 : 0.35;

        c.cpu[order[i]] = low + (high - low) * clusters_unit(&seed);
    }
    for (size_t i = 0; i < n; i++)
        for (size_t k = i + 1; k < n; k++)
            clusters_link(&c, i, k, capacity_mbps * (0.2 + 0.6 * clusters_unit(&seed)));
    return c;
}

/* Every link the lesser of two uplinks of 2 to 80 Mbit/s. */
static inline struct cluster clusters_uplinks(size_t n, uint64_t seed, struct arena *a)
{
    struct cluster c = clusters_room(n, 100, a);

    for (size_t i = 0; i < n; i++) {
        c.cpu[i] = 0.05 + 0.95 * clusters_unit(&seed);
        c.uplinks[i] = 2 + 78 * clusters_unit(&seed);
    }
    for (size_t i = 0; i < n; i++)
        for (size_t k = i + 1; k < n; k++)
            clusters_link(&c, i, k, fmin(c.uplinks[i], c.uplinks[k]));
    c.machines.uplink_mbps = c.uplinks;
    return c;
}

/* Independent links of 2 to 80 Mbit/s: hard to prove anything about. */
static inline struct cluster clusters_hard(size_t n, uint64_t seed, struct arena *a)
{
    struct cluster c = clusters_room(n, 100, a);

    for (size_t i = 0; i < n; i++)
        c.cpu[i] = 0.05 + 0.95 * clusters_unit(&seed);
    for (size_t i = 0; i < n; i++)
        for (size_t k = i + 1; k < n; k++)
            clusters_link(&c, i, k, 2 + 78 * clusters_unit(&seed));
    return c;
}

/* Runs a policy with its presets, within `limit_s` seconds (0: no limit). */
struct clusters_clock {
    double began_s, limit_s;
};

static inline double clusters_used(void *context)
{
    const struct clusters_clock *clock = context;

    return (bench_now_s() - clock->began_s) / clock->limit_s;
}

static inline struct parallel_out clusters_run(const struct cluster *c,
                                               const struct perf_terms *model,
                                               const char *name, double limit_s,
                                               struct arena *a)
{
    struct clusters_clock clock = {bench_now_s(), limit_s};
    struct budget budget = {limit_s > 0 ? clusters_used : NULL, &clock, 0};
    const struct policy *policy = policy_find(parallel_policies, name);
    struct parallel_in in = {.machines = &c->machines,
                             .model = model,
                             .min_procs = 1,
                             .pre_evaluate = true,
                             .budget = &budget,
                             .seed = 1};
    struct error err = {.arena = a};
    struct parallel_out out = {0};
    double param[PARAMS_MAX];

    if (!policy)
        bench_stop("there is no policy %s", name);
    if (params_bind(policy->params, NULL, 0, param, &err) != OK ||
        parallel_decide(&in, policy, param, &out, a, &err) != OK)
        bench_stop("%s fails: %s", name, err.text);
    return out;
}

#endif

/* coallocation_place.c - one job of 10,000 components over 100 clusters, in process.
 *
 * Sizes, files and chunks are drawn at random, so that hardly two components are alike:
 * the hard case for what is kept from one component to the next, and for the bound. With
 * close_to_files also a history table of half the pairs of sites.
 */
#include "algorithms/coallocation/coallocation.h"
#include "models/base/rng.h"
#include "tests/bench/bench.h"

#include <math.h>

enum { SITES = 100, COMPONENTS = 10000, FILES = 200, REPLICAS = 3, ROUNDS = 9 };

/* A grid where everything has a place. */
static void draw_grid(struct co_snapshot *s, struct rng *r, struct arena *a)
{
    struct co_site *sites = NEW(a, struct co_site, SITES);
    struct co_link *links = NEW(a, struct co_link, SITES * SITES);
    struct co_replica *replicas = NEW(a, struct co_replica, FILES * REPLICAS);

    for (size_t i = 0; i < SITES; i++)
        sites[i] = (struct co_site){.id = arena_printf(a, "site%zu", i),
                                    .processors_total = 5000,
                                    .processors_busy = (double)rng_index(r, 1000),
                                    .processors_erroneous = NAN,
                                    .processors_idle = NAN,
                                    .usable = true,
                                    .measured_at_s = NAN};
    for (size_t i = 0; i < SITES * SITES; i++)
        if (i / SITES != i % SITES)
            links[s->link_count++] = (struct co_link){
                sites[i / SITES].id, sites[i % SITES].id, 100 + (double)rng_index(r, 900),
                0.01 * rng_uniform(r), false};
    for (size_t i = 0; i < FILES * REPLICAS; i++)
        replicas[i] = (struct co_replica){arena_printf(a, "file%zu", i / REPLICAS),
                                          sites[rng_index(r, SITES)].id, NULL,
                                          1e9 * (double)(1 + i / REPLICAS)};
    s->sites = sites;
    s->site_count = SITES;
    s->links = links;
    s->replicas = replicas;
    s->replica_count = FILES * REPLICAS;
}

/* Half the pairs of sites, and every site with itself. */
static void draw_history(struct co_snapshot *s, struct rng *r, struct arena *a)
{
    struct co_named_pair *pairs = NEW(a, struct co_named_pair, SITES * SITES);

    for (size_t i = 0; i < SITES * SITES; i++)
        if (i / SITES == i % SITES || rng_index(r, 2))
            pairs[s->history_pair_count++] =
                (struct co_named_pair){s->sites[i / SITES].id, s->sites[i % SITES].id};
    s->history_pairs = pairs;
}

static struct co_component *draw_components(const struct co_grid *grid, struct rng *r,
                                            struct arena *a)
{
    struct co_component *list = NEW(a, struct co_component, COMPONENTS);

    for (size_t i = 0; i < COMPONENTS; i++) {
        size_t file = rng_index(r, FILES);

        list[i] = (struct co_component){
            "c", 1 + rng_index(r, 64), CO_NONE, file,
            floor(grid->files[file].bytes * (0.5 + 0.5 * rng_uniform(r)))};
    }
    return list;
}

static void measure(const struct policy *policy, bool history, struct arena *a,
                    struct arena *run)
{
    struct error err = {.arena = a};
    struct rng r = rng_stream(1, "coallocation_place");
    struct co_snapshot snapshot = {.taken_at_s = NAN, .default_bandwidth_mbps = NAN};
    struct co_history pairs;
    struct co_placement out;
    struct co_grid grid;
    double param[PARAMS_MAX], seconds[ROUNDS], median_s;
    size_t available[SITES];
    char what[128];
    struct co_job job = {
        .id = "j", .policy = policy, .param = param, .atomic = true, .min_placed = 1};
    struct co_place_in in = {&grid, &job, available, &pairs, NULL};

    draw_grid(&snapshot, &r, a);
    if (history)
        draw_history(&snapshot, &r, a);
    if (co_grid_create(&snapshot, "", &grid, a, &err) != OK ||
        policy_bind(policy, NULL, 0, param, &err) != OK)
        bench_stop("%s: %s", err.field, err.text);
    job.components = draw_components(&grid, &r, a);
    job.component_count = COMPONENTS;
    job.file = CO_NONE;
    co_available_all(&grid, available);
    for (int i = 0; i < ROUNDS; i++) {
        double began_s;

        arena_reset(run);
        if (co_history_create(&grid, &pairs, run) != OK)
            bench_stop("%s", err.text);
        began_s = bench_now_s();
        if (co_place(&in, &out, run, &err) != OK || (i == 0 && !out.placed))
            bench_stop("%s places nothing: %s", policy->name, err.text);
        seconds[i] = bench_now_s() - began_s;
    }
    median_s = bench_quantile(seconds, ROUNDS, 0.5);
    snprintf(what, sizeof(what), "co-allocation, 10,000 components x 100 clusters, %s%s",
             policy->name, history ? " with a history table" : "");
    bench_row(what, "under 100 ms", median_s < 0.1 ? BENCH_MET : BENCH_MISSED,
              "%.1f ms (median of %d, slowest %.1f ms; FTT %.0f s, bound %.0f s)",
              1e3 * median_s, ROUNDS, 1e3 * bench_quantile(seconds, ROUNDS, 1), out.ftt_s,
              out.lower_bound_s);
}

int main(void)
{
    struct arena *a = arena_create((size_t)1 << 32), *run = arena_create((size_t)1 << 32);

    for (const struct policy *p = coallocation_policies; p->name; p++) {
        /* data_present cannot: few sites have each file */
        if (p->flags & (CO_FLEXIBLE_ONLY | CO_NEEDS_DATA))
            continue;
        measure(p, false, a, run);
        if (p->flags & CO_USES_HISTORY)
            measure(p, true, a, run);
    }
    arena_close(run);
    arena_close(a);
    return 0;
}

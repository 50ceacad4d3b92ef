/* sites_stored.c - the sites of a stored snapshot, with the load to be expected.
 *
 * A stored snapshot has resources, each with its site_id, and routes. Its sites are the
 * groups of resources with the same site_id, in the order of the first of each; a
 * resource without one is a site of its own. Two machines of a site are linked by the
 * route of the site to itself, else by the network's lan_mbps.
 *
 * The stored load samples go before both: the forecast of the cpu of each machine and of
 * the bandwidth of each pair for which there are samples.
 *
 * Source: spec parallel-scheduling.md 1.1, 11; performance-models.md 9.
 */
#include "handlers/sites/sites_lookup.h"

#include "handlers/prediction/loads.h"
#include "models/base/names.h"
#include "models/base/plural.h"

#include <string.h>

struct grouping {
    const struct snapshot *snapshot;
    size_t *site_of;  /* of each resource */
    size_t *place_of; /* among the machines of its site */
    size_t *count;    /* machines of each site */
    const char **site_id;
    size_t site_count;
};

static void group(struct request *rq, struct grouping *g)
{
    struct arena *a = rq->arena;
    size_t n = g->snapshot->resource_count;
    struct name_index names;

    g->site_of = NEW(a, size_t, n);
    g->place_of = NEW(a, size_t, n);
    g->count = NEW(a, size_t, n);
    g->site_id = NEW(a, const char *, n);
    name_index_create(&names, n, a);
    for (size_t i = 0; i < n; i++) {
        const struct resource *r = &g->snapshot->resources[i];
        size_t k = g->site_count;

        if (r->site_id) {
            size_t known = name_index_add(&names, r->site_id, k);

            k = known == NAME_NOT_FOUND ? k : known;
        }
        if (k == g->site_count)
            g->site_id[g->site_count++] = r->site_id ? r->site_id : r->id;
        g->site_of[i] = k;
        g->place_of[i] = g->count[k]++;
    }
}

/* Bandwidth between two machines of a site; NAN: not known. */
static double lan_mbps(const struct snapshot *snapshot, const char *site_id)
{
    for (size_t i = 0; i < snapshot->network.route_count; i++) {
        const struct network_route *r = &snapshot->network.routes[i];

        if (strcmp(r->from_site_id, site_id) == 0 && strcmp(r->to_site_id, site_id) == 0)
            return r->bandwidth_mbps;
    }
    return snapshot->network.lan_mbps;
}

static void make_site(struct request *rq, const struct grouping *g, size_t k,
                      struct site *out)
{
    struct arena *a = rq->arena;
    size_t n = g->count[k], pairs = n * (n - 1) / 2;
    struct site_machine *machines = NEW(a, struct site_machine, n);
    double *links = NEW(a, double, pairs);
    double usual = lan_mbps(g->snapshot, g->site_id[k]);

    for (size_t i = 0; i < g->snapshot->resource_count; i++) {
        const struct resource *r = &g->snapshot->resources[i];

        if (g->site_of[i] == k)
            machines[g->place_of[i]] = (struct site_machine){
                r->id, r->failed ? 0 : r->cpu_available_ratio, (double)NAN};
    }
    for (size_t i = 0; i < pairs; i++)
        links[i] = usual;
    *out = (struct site){
        .id = g->site_id[k],
        .link_capacity_mbps = (double)NAN,
        .cpu_scaling_factor = 1,
        .bandwidth_scaling_factor = 1,
        .resources = machines,
        .resource_count = n,
        .links = {.form = SITE_LINKS_UPPER_TRIANGLE,
                  .bandwidth_mbps = links,
                  .bandwidth_count = pairs,
                  .default_mbps = (double)NAN},
    };
}

/* ---- forecasts ---- */

static double forecast_of(const struct load_series *s)
{
    struct battery b = {0};

    for (size_t i = 0; i < s->bucket_count; i++)
        battery_add(&b, s->buckets[i].mean);
    return battery_forecast(&b).value;
}

/* A link's place among the pairs of n machines, row by row. */
static size_t pair_place(size_t n, size_t one, size_t other)
{
    size_t row = one < other ? one : other, column = one < other ? other : one;

    return row * n - row * (row + 1) / 2 + column - row - 1;
}

/* What a series lets expect takes the place of the snapshot's number. Two directions of
 * a link: the lesser. `seen` counts the series of each link. */
static void use_series(const struct grouping *g, const struct name_index *names,
                       const struct load_series *s, double *const *links,
                       struct site_machine *const *machines, bool *const *seen)
{
    size_t i = name_index_find(names, s->resource_id);
    size_t other =
        s->to_resource_id ? name_index_find(names, s->to_resource_id) : NAME_NOT_FOUND;
    double value = forecast_of(s);
    size_t k, at;

    if (i == NAME_NOT_FOUND || isnan(value))
        return;
    k = g->site_of[i];
    if (!s->to_resource_id) {
        if (!g->snapshot->resources[i].failed)
            machines[k][g->place_of[i]].cpu_available_ratio = value;
        return;
    }
    if (other == NAME_NOT_FOUND || other == i || g->site_of[other] != k)
        return;
    at = pair_place(g->count[k], g->place_of[i], g->place_of[other]);
    links[k][at] = seen[k][at] ? fmin(links[k][at], value) : value;
    seen[k][at] = true;
}

static enum error_code read_history(struct request *rq, const struct grouping *g,
                                    struct name_index *names,
                                    struct load_history_read *history)
{
    size_t n = g->snapshot->resource_count;
    const char **ids = NEW(rq->arena, const char *, n);
    struct load_request question = {
        .resource_ids = ids,
        .resource_count = n,
        .history_s = LOAD_HISTORY_S,
        .at_s = g->snapshot->taken_at_s,
    };

    name_index_create(names, n, rq->arena);
    for (size_t i = 0; i < n; i++) {
        ids[i] = g->snapshot->resources[i].id;
        name_index_add(names, ids[i], i);
    }
    return loads_read(rq, &question, history);
}

static enum error_code forecast_loads(struct request *rq, const struct grouping *g,
                                      struct site *sites, bool *no_history)
{
    struct arena *a = rq->arena;
    double **links = NEW(a, double *, g->site_count);
    struct site_machine **machines = NEW(a, struct site_machine *, g->site_count);
    bool **seen = NEW(a, bool *, g->site_count);
    struct load_history_read history;
    struct name_index names;

    TRY(read_history(rq, g, &names, &history));
    for (size_t k = 0; k < g->site_count; k++) {
        size_t n = sites[k].resource_count;
        size_t pairs = sites[k].links.bandwidth_count;

        links[k] = NEW(a, double, pairs);
        machines[k] = NEW(a, struct site_machine, n);
        seen[k] = NEW(a, bool, pairs);
        memcpy(links[k], sites[k].links.bandwidth_mbps, pairs * sizeof(*links[k]));
        memcpy(machines[k], sites[k].resources, n * sizeof(*machines[k]));
        sites[k].links.bandwidth_mbps = links[k];
        sites[k].resources = machines[k];
    }
    for (size_t i = 0; i < history.series_count; i++)
        use_series(g, &names, &history.series[i], links, machines, seen);
    *no_history = history.series_count == 0;
    return OK;
}

const char stored_sites_no_history[] =
    "no_load_history: no load samples of these resources are stored; the snapshot's own "
    "numbers are used";

enum error_code stored_sites_make(struct request *rq, const struct snapshot *snapshot,
                                  size_t site_max, bool forecast,
                                  struct stored_sites *out)
{
    struct grouping g = {.snapshot = snapshot};
    struct site *sites;

    group(rq, &g);
    if (g.site_count > site_max)
        return fail(rq->err, ERR_TOO_LARGE, "/snapshot_id",
                    "the snapshot has %zu sites; at most %zu %s possible", g.site_count,
                    site_max, plural(site_max, "is", "are"));
    sites = NEW(rq->arena, struct site, g.site_count);
    for (size_t k = 0; k < g.site_count; k++) {
        if (g.count[k] > SITE_MACHINES_MAX)
            return fail(rq->err, ERR_TOO_LARGE, "/snapshot_id",
                        "site '%.100s' has %zu resources; at most %d are possible",
                        g.site_id[k], g.count[k], SITE_MACHINES_MAX);
        make_site(rq, &g, k, &sites[k]);
    }
    *out = (struct stored_sites){sites, g.site_count, false};
    return forecast ? forecast_loads(rq, &g, sites, &out->no_load_history) : OK;
}

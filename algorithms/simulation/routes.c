/* simulation/routes.c - where things are in the network, and the ways between them.
 *
 * The short form is a star in each site, the switches joined pairwise; the latency of a
 * pair is drawn. The long form is links and routes one by one. A link of kind lan is
 * shared by its transfers; one of kind wan gives each all of its bandwidth, the share
 * that a grid gets of it.
 *
 * Source: spec simulator.md 3.3, 3.4, 3.9, 6, 12.
 * Deviation: the source has one storage resource; of several we take the nearest.
 * Cost: a route O(log routes) in the long form, O(1) in the short one; a storage O(1) for
 * each of them.
 */
#include "algorithms/simulation/parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SERVICES "services"

enum {
    LATENCY_STEPS = 256, /* what it costs to draw one, about */
    LOOK_ROWS = 16       /* of sites, between two looks at the budget */
};

/* ---- nodes ---- */

static size_t services_of(const struct sim *s)
{
    return s->scenario->site_count;
}

/* From 1 + a node, 0 being the services. */
static size_t node_of(const struct sim *s, size_t given)
{
    return given ? given - 1 : services_of(s);
}

static const char *node_name(const struct sim *s, size_t node)
{
    const struct sim_scenario *c = s->scenario;

    if (node < c->site_count)
        return c->sites[node];
    return node == c->site_count ? SERVICES : c->network.nodes[node - c->site_count - 1];
}

/* Counts some rows of a table at a time: small grids do not ask. When the time is up, the
 * first event ends the run. */
static bool is_cut_at(struct sim *s, size_t row, size_t steps)
{
    if (row % LOOK_ROWS == LOOK_ROWS - 1)
        s->is_cut = budget_step(s->budget, LOOK_ROWS * steps) || s->is_cut;
    return s->is_cut;
}

static void rank_sites(struct sim *s)
{
    const struct sim_scenario *c = s->scenario;

    s->site_rank = NEW(s->arena, size_t, c->site_count + 1);
    for (size_t i = 0; i < c->site_count; i++) {
        if (is_cut_at(s, i, c->site_count))
            return;
        for (size_t j = 0; j < c->site_count; j++)
            s->site_rank[i] += strcmp(c->sites[j], c->sites[i]) < 0;
    }
    s->site_rank[c->site_count] = c->site_count;
}

/* ---- the short form ---- */

/* A pair's latency comes from the stream that both names give. */
static enum error_code draw_latencies(struct sim *s)
{
    size_t count = s->scenario->site_count + 1;

    s->wan_latency_s = NEW(s->arena, double, count *count);
    for (size_t i = 0; i < count; i++) {
        if (is_cut_at(s, i, LATENCY_STEPS * (count - i)))
            return OK;
        for (size_t j = i + 1; j < count; j++) {
            const char *a = node_name(s, i), *b = node_name(s, j);
            bool in_order = strcmp(a, b) < 0;
            const char *name =
                arena_printf(s->arena, "wan.%s.%s", in_order ? a : b, in_order ? b : a);
            size_t x = s->site_rank[i], y = s->site_rank[j], position = 0;
            struct rng stream;
            double latency_s;

            stream = rng_stream(s->seed, name);
            latency_s = fmax(0, distribution_draw(&s->scenario->network.wan_latency_s,
                                                  &stream, &position));
            s->wan_latency_s[x * count + y] = latency_s;
            s->wan_latency_s[y * count + x] = latency_s;
        }
    }
    return OK;
}

static struct net_route star_route(const struct sim *s, struct place from,
                                   struct place to)
{
    const struct sim_network *n = &s->scenario->network;
    size_t count = s->scenario->site_count + 1;
    size_t a = s->site_rank[from.node], b = s->site_rank[to.node];
    struct net_route route = {.latency_s = 2 * n->lan_latency_s, .cap_mbps = HUGE_VAL};

    if (a != b) {
        route.latency_s += s->wan_latency_s[a * count + b];
        route.cap_mbps = n->wan_share_mbps;
    }
    if (from.host)
        route.link[route.link_count++] = &from.host->link;
    if (to.host)
        route.link[route.link_count++] = &to.host->link;
    return route;
}

/* ---- the long form ---- */

static int compare_routes(const void *a, const void *b)
{
    const struct sim_route *x = a, *y = b;

    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return (x->to > y->to) - (x->to < y->to);
}

static const struct sim_route *find_route(const struct sim *s, size_t from, size_t to)
{
    struct sim_route wanted = {.from = from, .to = to};

    return bsearch(&wanted, s->routes, s->route_count, sizeof(wanted), compare_routes);
}

/* Once, should the way to the storage and on from there use it twice. */
static void add_link(struct net_route *route, struct net_link *link)
{
    for (size_t i = 0; i < route->link_count; i++)
        if (route->link[i] == link)
            return;
    route->link[route->link_count++] = link;
}

/* false: there is none in either direction. */
static bool add_route(const struct sim *s, size_t from, size_t to,
                      struct net_route *route)
{
    const struct sim_route *found = find_route(s, from, to);

    if (from == to)
        return true;
    if (!found)
        found = find_route(s, to, from);
    for (size_t i = 0; found && i < found->link_count; i++) {
        const struct sim_link *link = &s->scenario->network.links[found->links[i]];

        route->latency_s += link->latency_s;
        if (link->kind == SIM_LINK_WAN)
            route->cap_mbps = fmin(route->cap_mbps, link->bandwidth_mbps);
        else
            add_link(route, &s->links[found->links[i]]);
    }
    return found != NULL;
}

static struct net_route listed_route(const struct sim *s, size_t from, size_t to)
{
    struct net_route route = {.cap_mbps = HUGE_VAL};

    if (!add_route(s, from, to, &route)) {
        add_route(s, from, s->storages[0].node, &route);
        add_route(s, s->storages[0].node, to, &route);
    }
    return route;
}

static enum error_code create_links(struct sim *s)
{
    const struct sim_network *n = &s->scenario->network;

    s->links = NEW(s->arena, struct net_link, n->link_count);
    s->routes = NEW(s->arena, struct sim_route, n->route_count);
    for (size_t i = 0; i < n->link_count; i++)
        s->links[i].mbps = n->links[i].bandwidth_mbps;
    if (n->route_count)
        memcpy(s->routes, n->routes, n->route_count * sizeof(*s->routes));
    s->route_count = n->route_count;
    if (s->route_count)
        qsort(s->routes, s->route_count, sizeof(*s->routes), compare_routes);
    return OK;
}

/* ---- both ---- */

struct net_route route_between(const struct sim *s, struct place from, struct place to)
{
    if (s->scenario->network.link_count)
        return listed_route(s, from.node, to.node);
    return star_route(s, from, to);
}

double route_time_s(const struct sim *s, const struct net_route *route, double bytes)
{
    const struct sim_network *n = &s->scenario->network;
    double mbit = 8e-6 * bytes, mbps = route->cap_mbps;

    if (!(bytes > 0) || n->mode == SIM_NETWORK_NONE)
        return 0;
    if (n->mode == SIM_NETWORK_FIXED)
        return mbit / n->bandwidth_mbps + n->latency_s;
    for (size_t i = 0; i < route->link_count; i++)
        mbps = fmin(mbps, route->link[i]->mbps);
    return mbit / mbps + route->latency_s;
}

static void create_storages(struct sim *s)
{
    const struct sim_scenario *c = s->scenario;

    s->storage_count = c->storage_count ? c->storage_count : 1;
    s->storages = NEW(s->arena, struct storage, s->storage_count);
    s->storages[0] = (struct storage){
        .id = "storage",
        .node = services_of(s),
        .capacity_bytes = c->storage_bytes > 0 ? c->storage_bytes : HUGE_VAL,
    };
    for (size_t i = 0; i < c->storage_count; i++)
        s->storages[i] = (struct storage){
            .id = c->storages[i].id,
            .node = node_of(s, c->storages[i].node),
            .capacity_bytes = c->storages[i].capacity_bytes > 0
                                  ? c->storages[i].capacity_bytes
                                  : HUGE_VAL,
        };
    s->image_node =
        node_of(s, c->checkpoint_server_count ? c->checkpoint_servers[0].node : 0);
}

enum error_code routes_create(struct sim *s)
{
    const struct sim_network *n = &s->scenario->network;

    rank_sites(s);
    create_storages(s);
    for (size_t i = 0; i < s->host_count; i++) {
        const struct sim_group *g = s->hosts[i].group;

        s->hosts[i].site = s->site_rank[g->site];
        s->hosts[i].node = g->node ? g->node - 1 : g->site;
        s->hosts[i].link.mbps = n->lan_mbps;
    }
    if (n->mode != SIM_NETWORK_SHARED)
        return OK;
    return n->link_count ? create_links(s) : draw_latencies(s);
}

/* ---- storages ---- */

void storage_count(const struct sim *s, struct storage *storage, double bytes)
{
    int64_t now_ms = s->kernel.now_ms;

    storage->used_byte_s +=
        storage->used_bytes * 1e-3 * (double)(now_ms - storage->since_ms);
    storage->since_ms = now_ms;
    storage->used_bytes += bytes;
}

static double storage_time_s(const struct sim *s, const struct storage *storage,
                             const struct host *h, double bytes)
{
    struct net_route route;

    if (s->scenario->network.mode != SIM_NETWORK_SHARED)
        return 0;
    route = route_between(s, (struct place){NULL, storage->node},
                          (struct place){&s->hosts[h->index], h->node});
    return route_time_s(s, &route, bytes);
}

struct storage *storage_nearest(const struct sim *s, const struct host *h, double bytes,
                                bool needs_room)
{
    struct storage *nearest = NULL;
    double least_s = HUGE_VAL;

    if (s->storage_count == 1 && !needs_room)
        return s->storages;
    for (size_t i = 0; i < s->storage_count; i++) {
        struct storage *storage = &s->storages[i];
        double time_s;

        if (needs_room && storage->used_bytes + bytes > storage->capacity_bytes)
            continue;
        time_s = s->storage_count > 1 ? storage_time_s(s, storage, h, bytes) : 0;
        if (time_s < least_s) {
            least_s = time_s;
            nearest = storage;
        }
    }
    return nearest;
}

void storages_list(struct sim *s, struct sim_run_out *out)
{
    double span_s = 1e-3 * (double)(s->kernel.now_ms - s->stable_ms);
    struct sim_storage_row *rows;

    if (!s->wanted->per_resource)
        return;
    rows = NEW(s->rows, struct sim_storage_row, s->storage_count);
    for (size_t i = 0; i < s->storage_count; i++) {
        const struct storage *storage = &s->storages[i];

        rows[i] = (struct sim_storage_row){
            .storage_id = storage->id,
            .used_mean_bytes = span_s > 0 ? storage->used_byte_s / span_s : (double)NAN,
            .used_end_bytes = storage->used_bytes,
            .refused_count = storage->refused,
        };
    }
    out->storages = rows;
    out->storage_count = s->storage_count;
}

/* ---- paths ---- */

static struct path *find_path(struct path *table, size_t size, size_t from, size_t to)
{
    uint64_t hash =
        ((uint64_t)from * 0x9e3779b97f4a7c15U) ^ ((uint64_t)to * 0xc2b2ae3d27d4eb4fU);
    size_t at = (size_t)(hash ^ (hash >> 32)) & (size - 1);

    while ((table[at].jobs || table[at].transfers) &&
           (table[at].from != from || table[at].to != to))
        at = (at + 1) & (size - 1);
    return &table[at];
}

static void grow_paths(struct sim *s)
{
    size_t size = s->path_size ? 2 * s->path_size : 64;
    struct path *table = NEW(s->arena, struct path, size);

    for (size_t i = 0; i < s->path_size; i++)
        if (s->paths[i].jobs || s->paths[i].transfers)
            *find_path(table, size, s->paths[i].from, s->paths[i].to) = s->paths[i];
    s->paths = table;
    s->path_size = size;
}

/* NULL: not wanted. */
static struct path *path_of(struct sim *s, size_t from, size_t to)
{
    struct path *path;

    if (!s->wanted->per_path)
        return NULL;
    if (2 * (s->path_count + 1) > s->path_size)
        grow_paths(s);
    path = find_path(s->paths, s->path_size, from, to);
    if (!path->jobs && !path->transfers)
        s->path_count++;
    path->from = from;
    path->to = to;
    return path;
}

void path_count_transfer(struct sim *s, size_t from, size_t to, double bytes)
{
    struct path *path = path_of(s, from, to);

    if (!path)
        return;
    path->transfers++;
    path->bytes += bytes;
}

void path_count_job(struct sim *s, size_t from, size_t to)
{
    struct path *path = path_of(s, from, to);

    if (path)
        path->jobs++;
}

static int compare_paths(const void *a, const void *b)
{
    const struct sim_path_row *x = a, *y = b;
    int order = strcmp(x->from_node_id, y->from_node_id);

    return order ? order : strcmp(x->to_node_id, y->to_node_id);
}

void paths_list(struct sim *s, struct sim_run_out *out)
{
    double all = (double)s->totals.copies_started;
    struct sim_path_row *rows;
    size_t count = 0;

    if (!s->wanted->per_path)
        return;
    rows = NEW(s->rows, struct sim_path_row, s->path_count);
    for (size_t i = 0; i < s->path_size; i++) {
        const struct path *path = &s->paths[i];

        if (!path->jobs && !path->transfers)
            continue;
        rows[count++] = (struct sim_path_row){
            .from_node_id = node_name(s, path->from),
            .to_node_id = node_name(s, path->to),
            .jobs_allocated = path->jobs,
            .jobs_allocated_ratio = all > 0 ? (double)path->jobs / all : (double)NAN,
            .transfer_count = path->transfers,
            .bytes = path->bytes,
        };
    }
    if (count)
        qsort(rows, count, sizeof(*rows), compare_paths);
    out->paths = rows;
    out->path_count = count;
}

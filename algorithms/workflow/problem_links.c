/* workflow/problem_links.c - how long data takes from one site to another.
 *
 *     time = 8 bytes / (bandwidth_mbps 1e6) + latency_s (workflows.md 2.2)
 *
 * by the route of the two sites (either direction unless both are listed), else lan_*
 * inside a site and wan_* between sites. A resource without a site is a site of its own.
 * Transfers do not share links here (decision D24).
 *
 * Deviations: nothing to move takes no time, not the latency; a snapshot without any
 * network moves everything in no time, with a warning. A file is at once on every
 * resource of a site that has a replica, as for independent jobs (gridway.md).
 */
#include "algorithms/workflow/problem_parts.h"

enum {
    DENSE_SITES = 512,     /* up to here every pair has its entry */
    FILE_ENTRIES = 1 << 20 /* of the table file x site */
};

/* ---- sites ---- */

struct site_reader {
    struct workflow_parts *parts;
    struct name_index names;
};

/* Number of the site of that name; a new one for a new name. */
static size_t site_number(struct site_reader *r, const char *name)
{
    size_t known = name_index_add(&r->names, name, r->parts->site_count);

    return known != NAME_NOT_FOUND ? known : r->parts->site_count++;
}

static size_t replica_count(const struct snapshot *s)
{
    size_t count = 0;

    for (size_t f = 0; f < s->file_count; f++)
        count += s->files[f].site_count;
    return count;
}

static void read_sites(struct workflow_problem *problem, struct site_reader *r)
{
    const struct snapshot *s = problem->in->snapshot;
    struct workflow_parts *parts = problem->parts;
    size_t names = s->resource_count + 2 * s->network.route_count + replica_count(s) +
                   2 * problem->task_count;

    r->parts = parts;
    parts->site_of = NEW(problem->arena, size_t, s->resource_count);
    name_index_create(&r->names, names, problem->arena);
    for (size_t i = 0; i < s->resource_count; i++)
        parts->site_of[i] = s->resources[i].site_id
                                ? site_number(r, s->resources[i].site_id)
                                : parts->site_count++;
    parts->resource_site_count = parts->site_count;
}

/* ---- links ---- */

static void read_routes(struct workflow_problem *problem, struct site_reader *r)
{
    const struct network *n = &problem->in->snapshot->network;
    struct pair_map *routes = &problem->parts->routes;

    pair_map_create(routes, n->route_count, problem->arena);
    for (size_t i = 0; i < n->route_count; i++) {
        size_t from = site_number(r, n->routes[i].from_site_id);
        size_t to = site_number(r, n->routes[i].to_site_id);
        struct pair_place *place = pair_map_at(routes, from, to);

        if (!place->a) /* the first of several counts */
            *place = (struct pair_place){from + 1, to, i};
    }
    problem->parts->no_network =
        n->route_count == 0 && isnan(n->wan_mbps) && isnan(n->lan_mbps);
}

static struct workflow_link default_link(const struct workflow_problem *problem,
                                         bool inside)
{
    const struct network *n = &problem->in->snapshot->network;
    double mbps = inside ? n->lan_mbps : n->wan_mbps;
    double latency_s = inside ? n->lan_latency_s : n->wan_latency_s;

    if (isnan(mbps))
        return (struct workflow_link){0, inside || problem->parts->no_network ? 0
                                                                              : HUGE_VAL};
    return (struct workflow_link){mbps, isnan(latency_s) ? 0 : latency_s};
}

static struct workflow_link find_link(const struct workflow_problem *problem, size_t from,
                                      size_t to)
{
    const struct network *n = &problem->in->snapshot->network;
    const struct pair_place *place = pair_map_at(&problem->parts->routes, from, to);

    if (!place->a)
        place = pair_map_at(&problem->parts->routes, to, from);
    if (!place->a)
        return default_link(problem, from == to);
    return (struct workflow_link){n->routes[place->value].bandwidth_mbps,
                                  n->routes[place->value].latency_s};
}

double workflow_link_s(const struct workflow_problem *problem, double bytes, size_t from,
                       size_t to)
{
    const struct workflow_parts *parts = problem->parts;
    struct workflow_link link;
    double time_s;

    if (bytes == 0)
        return 0;
    link = parts->dense ? parts->dense[from * parts->site_count + to]
                        : find_link(problem, from, to);
    time_s = link.bandwidth_mbps > 0
                 ? transfer_s(bytes, link.bandwidth_mbps, link.latency_s)
                 : link.latency_s;
    return time_s <= WORKFLOW_LONGEST_S ? time_s : HUGE_VAL;
}

static void make_dense(struct workflow_problem *problem)
{
    struct workflow_parts *parts = problem->parts;
    size_t sites = parts->site_count;

    if (sites > DENSE_SITES)
        return;
    parts->dense = NEW(problem->arena, struct workflow_link, sites * sites);
    for (size_t from = 0; from < sites; from++)
        for (size_t to = 0; to < sites; to++)
            parts->dense[from * sites + to] = find_link(problem, from, to);
}

/* ---- files and other inputs ---- */

static double nearest_s(const struct workflow_problem *problem, size_t file, size_t site)
{
    const struct workflow_parts *parts = problem->parts;
    double bytes = problem->in->snapshot->files[file].bytes;
    double least_s = HUGE_VAL;

    for (size_t k = parts->replica_first[file]; k < parts->replica_first[file + 1]; k++) {
        if (parts->replica_site[k] == site)
            return 0;
        least_s =
            fmin(least_s, workflow_link_s(problem, bytes, parts->replica_site[k], site));
    }
    return least_s;
}

double workflow_file_s(const struct workflow_problem *problem, size_t file, size_t site)
{
    const struct workflow_parts *parts = problem->parts;

    return parts->file_s ? parts->file_s[file * parts->resource_site_count + site]
                         : nearest_s(problem, file, site);
}

static void read_replicas(struct workflow_problem *problem, struct site_reader *r)
{
    const struct snapshot *s = problem->in->snapshot;
    struct workflow_parts *parts = problem->parts;
    size_t used = 0;

    parts->replica_first = NEW(problem->arena, size_t, s->file_count + 1);
    parts->replica_site = NEW(problem->arena, size_t, replica_count(s));
    for (size_t f = 0; f < s->file_count; f++) {
        for (size_t k = 0; k < s->files[f].site_count; k++)
            parts->replica_site[used++] = site_number(r, s->files[f].site_ids[k]);
        parts->replica_first[f + 1] = used;
    }
}

static void time_files(struct workflow_problem *problem)
{
    struct workflow_parts *parts = problem->parts;
    size_t files = problem->in->snapshot->file_count, sites = parts->resource_site_count;

    if (files == 0 || sites == 0 || files > FILE_ENTRIES / sites)
        return;
    parts->file_s = NEW(problem->arena, double, files *sites);
    for (size_t f = 0; f < files; f++)
        for (size_t s = 0; s < sites; s++) {
            size_t replicas = parts->replica_first[f + 1] - parts->replica_first[f];

            if (budget_step(problem->in->budget, 1 + replicas)) {
                parts->file_s = NULL; /* who asks for one works it out */
                return;
            }
            parts->file_s[f * sites + s] = nearest_s(problem, f, s);
        }
}

/* Where the checkpoint of a task is; without a word about it, where the task was. */
static size_t checkpoint_site(struct workflow_problem *problem, struct site_reader *r,
                              size_t task)
{
    const struct workflow_task *t = problem->tasks[task];
    size_t resource = problem->parts->resource_of[task];

    if (!(t->checkpoint_work_ref_s > 0) || t->checkpoint_bytes == 0)
        return WORKFLOW_NONE;
    if (t->checkpoint_site_id)
        return site_number(r, t->checkpoint_site_id);
    return resource == WORKFLOW_NONE ? WORKFLOW_NONE : problem->parts->site_of[resource];
}

static void read_inputs(struct workflow_problem *problem, struct site_reader *r)
{
    struct workflow_parts *parts = problem->parts;
    size_t n = problem->task_count;

    parts->input_site = NEW(problem->arena, size_t, n);
    parts->checkpoint_site = NEW(problem->arena, size_t, n);
    parts->staged = NEW(problem->arena, bool, n);
    for (size_t i = 0; i < n; i++) {
        const struct workflow_task *t = problem->tasks[i];

        parts->input_site[i] = t->input_bytes > 0 && t->input_site_id
                                   ? site_number(r, t->input_site_id)
                                   : WORKFLOW_NONE;
        parts->checkpoint_site[i] = checkpoint_site(problem, r, i);
        parts->staged[i] = t->input_file_count > 0 ||
                           parts->input_site[i] != WORKFLOW_NONE ||
                           parts->checkpoint_site[i] != WORKFLOW_NONE;
    }
}

static bool moves_bytes(const struct workflow_problem *problem)
{
    for (size_t i = 0; i < problem->task_count; i++)
        if (problem->parts->staged[i])
            return true;
    for (size_t e = 0; e < problem->edge_count; e++)
        if (isnan(problem->edges[e].transfer_s) && problem->edges[e].bytes > 0)
            return true;
    return false;
}

void workflow_read_links(struct workflow_problem *problem)
{
    struct site_reader r;

    read_sites(problem, &r);
    read_routes(problem, &r);
    read_replicas(problem, &r);
    read_inputs(problem, &r);
    make_dense(problem);
    time_files(problem);
    if (problem->parts->no_network && moves_bytes(problem))
        workflow_warn(
            problem,
            "no_network: there are data to move but no snapshot.network: moving them "
            "takes no time");
}

/* ---- means ---- */

struct link_sum {
    const struct workflow_problem *problem;
    const double *usable; /* [site]: usable resources */
    struct pair_map seen; /* pairs of sites that are in the sums */
    double pairs, s_per_byte, latency_s;
    double routed, routed_inside; /* pairs of resources that a route connects */
};

static void add_link(struct link_sum *sum, struct workflow_link link, double pairs)
{
    if (pairs <= 0 || link.latency_s == HUGE_VAL)
        return;
    sum->pairs += pairs;
    sum->latency_s += pairs * link.latency_s;
    if (link.bandwidth_mbps > 0)
        sum->s_per_byte += pairs * (8 / (link.bandwidth_mbps * 1e6));
}

/* Ordered pairs of two usable resources, from one site to another. */
static double pairs_of(const double *usable, size_t from, size_t to)
{
    return from == to ? usable[from] * (usable[from] - 1) : usable[from] * usable[to];
}

static void add_route(struct link_sum *sum, size_t from, size_t to)
{
    struct pair_place *place = pair_map_at(&sum->seen, from, to);
    double pairs = pairs_of(sum->usable, from, to);

    if (place->a)
        return;
    *place = (struct pair_place){from + 1, to, 0};
    add_link(sum, find_link(sum->problem, from, to), pairs);
    sum->routed += pairs;
    sum->routed_inside += from == to ? pairs : 0;
}

/* Both directions of every route, then the rest of the pairs by the defaults:
 * O(sites + routes). */
static void sum_links(struct link_sum *sum)
{
    const struct workflow_parts *parts = sum->problem->parts;
    double all = 0, inside = 0;

    for (size_t i = 0; i <= parts->routes.mask; i++) {
        const struct pair_place *route = &parts->routes.places[i];

        if (!route->a)
            continue;
        add_route(sum, route->a - 1, route->b);
        add_route(sum, route->b, route->a - 1);
    }
    for (size_t s = 0; s < parts->resource_site_count; s++) {
        all += sum->usable[s];
        inside += pairs_of(sum->usable, s, s);
    }
    add_link(sum, default_link(sum->problem, true), inside - sum->routed_inside);
    add_link(sum, default_link(sum->problem, false),
             all * (all - 1) - inside - (sum->routed - sum->routed_inside));
}

void workflow_mean_links(struct workflow_problem *problem)
{
    struct workflow_parts *parts = problem->parts;
    double *usable = NEW(problem->arena, double, parts->site_count);
    struct link_sum sum = {.problem = problem, .usable = usable};
    size_t count = 0, last = WORKFLOW_NONE;

    pair_map_create(&sum.seen, 2 * problem->in->snapshot->network.route_count,
                    problem->arena);
    for (size_t p = 0; p < problem->processor_count; p++) {
        const struct workflow_processor *x = &problem->processors[p];

        if (x->usable && last != x->resource) {
            usable[x->site]++;
            count++;
            last = x->resource;
        }
    }
    parts->several = count > 1;
    sum_links(&sum);
    if (sum.pairs > 0) {
        parts->mean_s_per_byte = sum.s_per_byte / sum.pairs;
        parts->mean_latency_s = sum.latency_s / sum.pairs;
    }
}

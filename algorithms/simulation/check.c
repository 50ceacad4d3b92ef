/* simulation/check.c - whether a scenario can be played. */
#include "algorithms/simulation/simulation.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POINTER_SIZE = 128, MEMBER_SIZE = 64 };

struct check {
    struct sim_scenario *s;
    const char *pointer;
    struct arena *arena;
    struct error *err;
};

static void complain(const struct check *c, const char *member, enum item_code code,
                     const char *text)
{
    char pointer[POINTER_SIZE];

    snprintf(pointer, sizeof(pointer), "%s/%s", c->pointer, member);
    invalid(c->err, pointer, code, "%s", text);
}

static void check_between(const struct check *c, const char *member, double value,
                          double min, double max)
{
    char pointer[POINTER_SIZE];

    if (value >= min && value <= max)
        return;
    snprintf(pointer, sizeof(pointer), "%s/%s", c->pointer, member);
    invalid(c->err, pointer, ITEM_OUT_OF_BOUNDS, "%g is not between %g and %g", value,
            min, max);
}

static void check_distribution(const struct check *c, const char *member,
                               struct distribution *d, double least)
{
    char pointer[POINTER_SIZE];
    size_t before = c->err->item_count;

    snprintf(pointer, sizeof(pointer), "%s/%s", c->pointer, member);
    if (distribution_prepare(d, pointer, c->arena, c->err) != OK ||
        c->err->item_count != before)
        return;
    if (distribution_least(d) < least && d->kind != DISTRIBUTION_NORMAL)
        invalid(c->err, pointer, ITEM_OUT_OF_BOUNDS, "values must be at least %g", least);
}

/* ---- groups ---- */

static void check_outages(const struct check *c, const struct sim_trace *t)
{
    for (size_t i = 0; i < t->outage_count; i++) {
        const struct failure_interval *f = &t->outages[i];

        if (!isfinite(f->down_at_s) || f->up_at_s < f->down_at_s ||
            fabs(f->down_at_s) > SIM_TIME_MAX_S) {
            complain(c, "failure_trace", ITEM_OUT_OF_BOUNDS,
                     "an outage ends before it begins, or lies beyond all time");
            return;
        }
    }
}

static void check_load_trace(const struct check *c, const struct sim_trace *t)
{
    for (size_t i = 0; i < t->load_count; i++) {
        const struct sim_load_point *p = &t->load[i];

        if (!(p->at_s <= SIM_TIME_MAX_S) || !(p->mips_external >= 0) ||
            !isfinite(p->mips_external) || (i > 0 && p->at_s < p[-1].at_s)) {
            complain(c, "load_trace", ITEM_OUT_OF_BOUNDS,
                     "instants must ascend, and loads be at least 0");
            return;
        }
    }
}

static void check_load(const struct check *c, struct sim_load *load)
{
    check_between(c, "load/interval_s", load->interval_s, 0, SIM_TIME_MAX_S);
    if (!(load->interval_s > 0))
        return;
    if (load->interval_s < 1e-3)
        complain(c, "load/interval_s", ITEM_OUT_OF_BOUNDS, "must be 0.001 s or more");
    check_distribution(c, "load/change_percent", &load->change_percent, 0);
    check_distribution(c, "load/initial_fraction", &load->initial_fraction, 0);
}

static void check_failures(const struct check *c, struct sim_group *g)
{
    if (g->traces) {
        for (size_t i = 0; i < g->count; i++) {
            check_outages(c, &g->traces[i]);
            check_load_trace(c, &g->traces[i]);
        }
    } else if (g->fails) {
        check_distribution(c, "failure", &g->failure, 0);
        check_distribution(c, "restore", &g->restore, 0);
    }
    if (g->failure_group == SIM_NO_FAILURE_GROUP)
        return;
    if (g->failure_group >= c->s->failure_group_count)
        complain(c, "failure_group", ITEM_NOT_A_CHOICE, "there is no such failure group");
    else if (g->traces || !g->fails)
        complain(c, "failure_group", ITEM_CONFLICT,
                 "members of a failure group need failure and restore");
}

static void check_group(const struct check *outer, struct sim_group *g)
{
    struct check c = *outer;

    c.pointer = g->pointer;
    if (g->count < 1 || g->count > 1000000)
        complain(&c, "number", ITEM_OUT_OF_BOUNDS, "must be between 1 and 1000000");
    if (g->n_max < 1)
        complain(&c, "n_max", ITEM_OUT_OF_BOUNDS, "must be at least 1");
    if (g->site >= c.s->site_count)
        complain(&c, "site_id", ITEM_NOT_A_CHOICE, "there is no such site");
    check_distribution(&c, "mips_total", &g->mips_total, 0);
    if (g->node > c.s->site_count + 1 + c.s->network.node_count)
        complain(&c, "node_id", ITEM_UNKNOWN_ID, "there is no such node");
    check_between(&c, "register_s", g->register_s, 0, SIM_TIME_MAX_S);
    check_failures(&c, g);
    if (!g->traces)
        check_load(&c, &g->load);
}

static void check_groups(const struct check *c)
{
    struct sim_group *groups = NEW(c->arena, struct sim_group, c->s->group_count);

    if (c->s->group_count == 0)
        complain(c, "sites", ITEM_OUT_OF_BOUNDS, "there are no resources");
    for (size_t i = 0; i < c->s->group_count; i++) {
        groups[i] = c->s->groups[i];
        if (!groups[i].pointer)
            groups[i].pointer = arena_printf(c->arena, "%s/groups/%zu", c->pointer, i);
        check_group(c, &groups[i]);
    }
    c->s->groups = groups;
}

static enum error_code check_names(const struct check *c)
{
    const struct sim_resource_name *names;
    size_t count;

    sim_resource_names(c->s, &names, &count, c->arena);
    for (size_t i = 1; i < count; i++)
        if (strcmp(names[i - 1].id, names[i].id) == 0)
            invalid(c->err, c->s->groups[names[i].group].pointer, ITEM_DUPLICATE,
                    "two resources are called '%s'", names[i].id);
    for (size_t i = 0; i < c->s->site_count; i++)
        for (size_t j = 0; j < i; j++)
            if (strcmp(c->s->sites[i], c->s->sites[j]) == 0)
                invalid(c->err, c->pointer, ITEM_DUPLICATE, "two sites are called '%s'",
                        c->s->sites[i]);
    return OK;
}

/* ---- the rest ---- */

static void check_network(const struct check *c)
{
    struct sim_network *n = &c->s->network;

    check_between(c, "network/latency_s", n->latency_s, 0, SIM_TIME_MAX_S);
    check_between(c, "network/lan_latency_s", n->lan_latency_s, 0, SIM_TIME_MAX_S);
    check_between(c, "network/bandwidth_mbps", n->bandwidth_mbps, 1e-9, 1e15);
    check_between(c, "network/lan_mbps", n->lan_mbps, 1e-9, 1e15);
    check_between(c, "network/wan_share_mbps", n->wan_share_mbps, 1e-9, HUGE_VAL);
    if (n->mode == SIM_NETWORK_SHARED && n->link_count == 0)
        check_distribution(c, "network/wan_latency_s", &n->wan_latency_s, 0);
}

/* ---- links, routes and what is at their ends ---- */

static size_t node_count(const struct sim_scenario *s)
{
    return s->site_count + 1 + s->network.node_count;
}

static void check_member(const struct check *c, const char *list, size_t index,
                         const char *name, bool is_right, enum item_code code,
                         const char *text)
{
    char member[MEMBER_SIZE];

    if (is_right)
        return;
    snprintf(member, sizeof(member), "%s/%zu/%s", list, index, name);
    complain(c, member, code, text);
}

static void check_links(const struct check *c)
{
    const struct sim_network *n = &c->s->network;

    for (size_t i = 0; i < n->link_count; i++) {
        const struct sim_link *link = &n->links[i];

        check_member(c, "network/links", i, "bandwidth_mbps",
                     link->bandwidth_mbps >= 1e-9 && link->bandwidth_mbps <= 1e15,
                     ITEM_OUT_OF_BOUNDS, "must be between 1e-9 and 1e15");
        check_member(c, "network/links", i, "latency_s",
                     link->latency_s >= 0 && link->latency_s <= SIM_TIME_MAX_S,
                     ITEM_OUT_OF_BOUNDS, "must be at least 0");
    }
    for (size_t i = 0; i < n->route_count; i++) {
        const struct sim_route *route = &n->routes[i];
        bool is_known = route->link_count <= SIM_ROUTE_LINKS_MAX;

        for (size_t k = 0; k < route->link_count; k++)
            is_known &= route->links[k] < n->link_count;
        check_member(c, "network/routes", i, "link_ids", is_known, ITEM_UNKNOWN_ID,
                     "names a link that is not there, or too many");
        check_member(c, "network/routes", i, "from_node_id",
                     route->from < node_count(c->s), ITEM_UNKNOWN_ID,
                     "there is no such node");
        check_member(c, "network/routes", i, "to_node_id", route->to < node_count(c->s),
                     ITEM_UNKNOWN_ID, "there is no such node");
    }
}

static void check_ends(const struct check *c)
{
    const struct sim_scenario *s = c->s;

    for (size_t i = 0; i < s->storage_count; i++) {
        check_member(c, "storage_resources", i, "node_id",
                     s->storages[i].node <= node_count(s), ITEM_UNKNOWN_ID,
                     "there is no such node");
        check_member(c, "storage_resources", i, "capacity_bytes",
                     s->storages[i].capacity_bytes >= 0 &&
                         s->storages[i].capacity_bytes <= 1e18,
                     ITEM_OUT_OF_BOUNDS, "must be between 0 and 1e18");
    }
    for (size_t i = 0; i < s->checkpoint_server_count; i++)
        check_member(c, "checkpoint_servers", i, "node_id",
                     s->checkpoint_servers[i].node <= node_count(s), ITEM_UNKNOWN_ID,
                     "there is no such node");
}

/* The pairs of nodes that routes join, sorted. */
struct pair {
    size_t a, b;
};

static int compare_pairs(const void *left, const void *right)
{
    const struct pair *x = left, *y = right;

    if (x->a != y->a)
        return x->a < y->a ? -1 : 1;
    return (x->b > y->b) - (x->b < y->b);
}

static struct pair pair_of(size_t a, size_t b)
{
    return a < b ? (struct pair){a, b} : (struct pair){b, a};
}

struct joined {
    struct pair *pairs;
    size_t count;
};

static bool is_joined(const struct joined *j, size_t a, size_t b)
{
    struct pair wanted = pair_of(a, b);

    return a == b || (j->count && bsearch(&wanted, j->pairs, j->count, sizeof(wanted),
                                          compare_pairs));
}

/* Every resource must reach storage and checkpoint server, or have no jobs with data;
 * that is known only later, so it must. */
static enum error_code check_reach(const struct check *c)
{
    const struct sim_scenario *s = c->s;
    struct joined j = {NEW(c->arena, struct pair, s->network.route_count),
                       s->network.route_count};
    size_t services = s->site_count;

    for (size_t i = 0; i < j.count; i++)
        j.pairs[i] = pair_of(s->network.routes[i].from, s->network.routes[i].to);
    if (j.count)
        qsort(j.pairs, j.count, sizeof(*j.pairs), compare_pairs);
    for (size_t g = 0; g < s->group_count; g++) {
        const struct sim_group *group = &s->groups[g];
        size_t node = group->node ? group->node - 1 : group->site;
        size_t image = s->checkpoint_server_count && s->checkpoint_servers[0].node
                           ? s->checkpoint_servers[0].node - 1
                           : services;
        bool all = is_joined(&j, node, image);

        for (size_t i = 0; i < s->storage_count; i++)
            all &= is_joined(&j, node,
                             s->storages[i].node ? s->storages[i].node - 1 : services);
        if (s->storage_count == 0)
            all &= is_joined(&j, node, services);
        if (!all)
            invalid(c->err, group->pointer, ITEM_NO_ROUTE,
                    "no route joins it with every storage resource and the checkpoint "
                    "server; without any they are at the node 'services'");
    }
    return OK;
}

static enum error_code check_topology(const struct check *c)
{
    size_t before = c->err->item_count;

    check_links(c);
    check_ends(c);
    if (c->err->item_count > before || c->s->network.link_count == 0 ||
        c->s->network.mode != SIM_NETWORK_SHARED)
        return OK;
    return check_reach(c);
}

static void check_overhead(const struct check *c)
{
    const struct sim_overhead *o = &c->s->overhead;

    check_between(c, "overhead_s/is_query", o->is_query_s, 0, SIM_TIME_MAX_S);
    check_between(c, "overhead_s/prediction", o->prediction_s, 0, SIM_TIME_MAX_S);
    check_between(c, "overhead_s/scheduling", o->scheduling_s, 0, SIM_TIME_MAX_S);
    check_between(c, "overhead_s/rescheduling", o->rescheduling_s, 0, SIM_TIME_MAX_S);
    check_between(c, "overhead_s/dispatch", o->dispatch_s, 0, SIM_TIME_MAX_S);
    check_between(c, "overhead_s/rollback", o->rollback_s, 0, SIM_TIME_MAX_S);
}

/* A period of 0 has a meaning of its own; a very short one would never end. */
static void check_period(const struct check *c, const char *member, double value)
{
    check_between(c, member, value, 0, SIM_TIME_MAX_S);
    if (value > 0 && value < 1e-3)
        complain(c, member, ITEM_OUT_OF_BOUNDS, "must be 0, or 0.001 s or more");
}

static void check_bursts(const struct check *c)
{
    for (size_t i = 0; i < c->s->failure_group_count; i++) {
        const struct sim_failure_group *g = &c->s->failure_groups[i];
        char member[MEMBER_SIZE];

        snprintf(member, sizeof(member), "failure_groups/%zu/burst_probability", i);
        check_between(c, member, g->burst_probability, 0, 1);
        snprintf(member, sizeof(member), "failure_groups/%zu/burst_delay_s", i);
        check_between(c, member, g->burst_delay_s, 0, SIM_TIME_MAX_S);
    }
}

enum error_code sim_scenario_prepare(struct sim_scenario *s, const char *pointer,
                                     struct arena *a, struct error *err)
{
    struct check c = {s, pointer, a, err};
    size_t before = err->item_count;

    check_between(&c, "stop/time_s", s->stop_time_s, 1e-3, SIM_TIME_MAX_S);
    check_between(&c, "stable_after_s", s->stable_after_s, 0, SIM_TIME_MAX_S);
    check_between(&c, "warm_up_s", s->warm_up_s, 0, SIM_TIME_MAX_S);
    check_between(&c, "storage_bytes", s->storage_bytes, 0, 1e18);
    check_period(&c, "information_service/interval_s", s->is_interval_s);
    check_period(&c, "scheduler/interval_s", s->scheduler_interval_s);
    check_network(&c);
    check_overhead(&c);
    check_bursts(&c);
    check_groups(&c);
    TRY(check_topology(&c));
    if (err->item_count == before)
        TRY(check_names(&c));
    return err->item_count == before ? OK : err->code;
}

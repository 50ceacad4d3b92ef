/* simulation_network.c - the network of a simulated grid: nodes, links, routes, storages.
 *
 * Nodes are named where they are used: a site's own by its id, "services", and others by
 * a node_id.
 */
#include "handlers/simulation/simulation_parts.h"

#include "models/base/pointer.h"

#include <stdio.h>
#include <string.h>

struct naming {
    struct building *b;
    const char **names; /* beyond sites and services */
    size_t count;
};

static size_t node_of(struct naming *n, const char *name)
{
    size_t first = n->b->scenario.site_count + 1;
    size_t at = name_index_add(&n->b->nodes, name, first + n->count);

    if (at != NAME_NOT_FOUND)
        return at;
    n->names[n->count] = name;
    return first + n->count++;
}

/* 1 + the node, 0: not given. */
static size_t optional_node(struct naming *n, const char *name)
{
    return name ? 1 + node_of(n, name) : 0;
}

static size_t names_at_most(const struct simulation_request *body)
{
    size_t count = body->storage_count + body->checkpoint_server_count;

    for (size_t i = 0; i < body->site_count; i++)
        count += body->sites[i].resource_count;
    return count + (body->network ? 2 * body->network->route_count : 0);
}

static void begin(struct naming *n)
{
    struct building *b = n->b;
    size_t most = names_at_most(b->body);

    n->names = NEW(b->a, const char *, most);
    name_index_create(&b->nodes, b->scenario.site_count + 1 + most, b->a);
    for (size_t i = 0; i < b->scenario.site_count; i++)
        name_index_add(&b->nodes, b->scenario.sites[i], i);
    name_index_add(&b->nodes, "services", b->scenario.site_count);
}

static void place_groups(struct naming *n)
{
    const struct simulation_request *body = n->b->body;
    size_t group = 0;

    if (n->b->group_count == 0 || body->snapshot || body->snapshot_id)
        return;
    for (size_t i = 0; i < body->site_count; i++)
        for (size_t k = 0; k < body->sites[i].resource_count; k++)
            n->b->groups[group++].node =
                optional_node(n, body->sites[i].resources[k].node_id);
}

static enum error_code take_storages(struct naming *n)
{
    struct building *b = n->b;
    const struct simulation_request *body = b->body;
    struct sim_storage *storages = NEW(b->a, struct sim_storage, body->storage_count);
    struct sim_checkpoint_server *servers =
        NEW(b->a, struct sim_checkpoint_server, body->checkpoint_server_count);

    for (size_t i = 0; i < body->storage_count; i++) {
        const struct simulation_storage *in = &body->storage_resources[i];

        storages[i] = (struct sim_storage){in->id, optional_node(n, in->node_id),
                                           in->capacity_bytes};
    }
    for (size_t i = 0; i < body->checkpoint_server_count; i++)
        servers[i] = (struct sim_checkpoint_server){
            body->checkpoint_servers[i].id,
            optional_node(n, body->checkpoint_servers[i].node_id)};
    if (body->storage_count && !isnan(body->storage_bytes))
        invalid(b->err, "/storage_bytes", ITEM_CONFLICT,
                "storage_resources have a capacity each");
    b->scenario.storages = storages;
    b->scenario.storage_count = body->storage_count;
    b->scenario.checkpoint_servers = servers;
    b->scenario.checkpoint_server_count = body->checkpoint_server_count;
    return OK;
}

/* ---- links and routes ---- */

static void take_links(struct building *b, struct name_index *by_id)
{
    const struct simulation_network *in = b->body->network;
    struct sim_link *links = NEW(b->a, struct sim_link, in->link_count);

    name_index_create(by_id, in->link_count, b->a);
    for (size_t i = 0; i < in->link_count; i++) {
        const struct simulation_link *link = &in->links[i];

        links[i] = (struct sim_link){link->id, (enum sim_link_kind)link->kind,
                                     link->bandwidth_mbps, link->latency_s};
        name_index_add(by_id, link->id, i);
    }
    b->scenario.network.links = links;
    b->scenario.network.link_count = in->link_count;
}

static enum error_code take_route(struct naming *n, const struct name_index *links,
                                  size_t index, struct sim_route *route)
{
    struct building *b = n->b;
    const struct simulation_route *in = &b->body->network->routes[index];
    size_t *ids = NEW(b->a, size_t, in->link_count);

    for (size_t i = 0; i < in->link_count; i++) {
        ids[i] = name_index_find(links, in->link_ids[i]);
        if (ids[i] != NAME_NOT_FOUND)
            continue;
        ids[i] = 0;
        invalid(b->err,
                pointer_in(pointer_in("/network/routes", index, "link_ids").text, i, NULL)
                    .text,
                ITEM_UNKNOWN_ID, "not one of network.links");
    }
    *route = (struct sim_route){.from = node_of(n, in->from_node_id),
                                .to = node_of(n, in->to_node_id),
                                .links = ids,
                                .link_count = in->link_count};
    return OK;
}

static enum error_code take_routes(struct naming *n)
{
    struct building *b = n->b;
    const struct simulation_network *in = b->body->network;
    struct sim_route *routes = NEW(b->a, struct sim_route, in->route_count);
    struct name_index links;

    take_links(b, &links);
    for (size_t i = 0; i < in->route_count; i++)
        TRY(take_route(n, &links, i, &routes[i]));
    b->scenario.network.routes = routes;
    b->scenario.network.route_count = in->route_count;
    return OK;
}

/* The long form leaves no room for the short one. */
static void refuse_short_form(struct building *b)
{
    const struct simulation_network *in = b->body->network;
    const struct {
        const char *member;
        bool is_given;
    } rows[] = {
        {"lan_mbps", !isnan(in->lan_mbps)},
        {"lan_latency_s", !isnan(in->lan_latency_s)},
        {"wan_share_mbps", !isnan(in->wan_share_mbps)},
        {"wan_latency_s", in->wan_latency_s != NULL},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (!rows[i].is_given)
            continue;
        invalid(b->err, pointer_of("/network", rows[i].member).text, ITEM_CONFLICT,
                "give either links and routes or this");
    }
    if (b->scenario.network.mode != SIM_NETWORK_SHARED)
        invalid(b->err, "/network/links", ITEM_CONFLICT, "only with the mode shared");
}

enum error_code simulation_network(struct building *b)
{
    const struct simulation_network *in = b->body->network;
    struct naming n = {.b = b};

    begin(&n);
    place_groups(&n);
    TRY(take_storages(&n));
    if (in && (in->link_count || in->route_count)) {
        refuse_short_form(b);
        if (in->link_count == 0)
            invalid(b->err, "/network/links", ITEM_REQUIRED, "needed with routes");
        TRY(take_routes(&n));
    }
    b->scenario.network.nodes = n.names;
    b->scenario.network.node_count = n.count;
    return OK;
}

/* simulation/network.c - transfers between resources, storage and checkpoint server.
 *
 * none: nothing takes time. fixed: every transfer alone, bytes / bandwidth + latency.
 * shared, in the short form: a star in each site, one link of limited capacity from each
 * resource to its switch; the switches are joined pairwise by links of which each route
 * gets the same small share. Storage and checkpoint server are in a site of their own,
 * whose links have a latency but no limit. In the long form (routes.c) links and routes
 * are given. Flows share a link by the inverse of their round trips (network_share). The
 * latency follows once, after the last bit has left.
 *
 * Only flows that share links with the one that begins or ends get new rates: those of
 * its links, and from there of the links they use besides.
 *
 * Source: spec simulator.md 6; 000_168dd5aef5075332 2.2 [L762], 5 [L1590-L1600].
 * Deviation: the source's formula takes one bottleneck link; here flows that are capped
 * leave what they do not use to the others.
 */
#include "algorithms/simulation/network.h"

#include "algorithms/simulation/parts.h"

#include <math.h>
#include <string.h>

#define LATENCY_LEAST_S 1e-6 /* in weights */

const char *const sim_link_kind_names[] = {"lan", "wan", NULL};

double network_weight(double latency_s)
{
    return 1 / (0.2 * fmax(latency_s, LATENCY_LEAST_S));
}

/* ---- shares ---- */

static bool is_open(const struct network_flow *f)
{
    return f->rate_mbps < 0;
}

static bool is_on(const struct network_flow *f, size_t link)
{
    for (size_t e = 0; e < f->link_count; e++)
        if (f->link[e] == link)
            return true;
    return false;
}

static void sum_weights(const struct network_flow *flows, size_t flow_count,
                        double *weight_sum, size_t link_count)
{
    for (size_t l = 0; l < link_count; l++)
        weight_sum[l] = 0;
    for (size_t f = 0; f < flow_count; f++)
        for (size_t e = 0; is_open(&flows[f]) && e < flows[f].link_count; e++)
            weight_sum[flows[f].link[e]] += flows[f].weight;
}

static void freeze(struct network_flow *f, double rate_mbps, double *left_mbps)
{
    f->rate_mbps = rate_mbps;
    for (size_t e = 0; e < f->link_count; e++)
        left_mbps[f->link[e]] = fmax(0, left_mbps[f->link[e]] - rate_mbps);
}

/* What is full first as theta grows: a link, or from link_count on a flow; SIZE_MAX:
 * nothing ever is. */
static size_t find_bottleneck(const struct network_flow *flows, size_t flow_count,
                              const double *left_mbps, const double *weight_sum,
                              size_t link_count, double *theta)
{
    size_t found = SIZE_MAX;

    *theta = HUGE_VAL;
    for (size_t l = 0; l < link_count; l++) {
        if (weight_sum[l] > 0 && left_mbps[l] / weight_sum[l] < *theta) {
            *theta = left_mbps[l] / weight_sum[l];
            found = l;
        }
    }
    for (size_t f = 0; f < flow_count; f++) {
        if (is_open(&flows[f]) && flows[f].cap_mbps / flows[f].weight < *theta) {
            *theta = flows[f].cap_mbps / flows[f].weight;
            found = link_count + f;
        }
    }
    return found;
}

void network_share(struct network_flow *flows, size_t flow_count, double *left_mbps,
                   double *weight_sum, size_t link_count)
{
    for (size_t f = 0; f < flow_count; f++)
        flows[f].rate_mbps = -1;
    for (;;) {
        double theta;
        size_t found;

        sum_weights(flows, flow_count, weight_sum, link_count);
        found =
            find_bottleneck(flows, flow_count, left_mbps, weight_sum, link_count, &theta);
        if (found == SIZE_MAX)
            break;
        if (found >= link_count) {
            struct network_flow *f = &flows[found - link_count];

            freeze(f, f->cap_mbps, left_mbps);
            continue;
        }
        for (size_t f = 0; f < flow_count; f++)
            if (is_open(&flows[f]) && is_on(&flows[f], found))
                freeze(&flows[f], flows[f].weight * theta, left_mbps);
    }
    for (size_t f = 0; f < flow_count; f++)
        if (is_open(&flows[f]))
            flows[f].rate_mbps = HUGE_VAL;
}

double network_estimate_s(const struct sim *s, const struct host *h, double bytes)
{
    const struct sim_network *n = &s->scenario->network;
    const struct storage *storage;
    struct net_route route;

    if (bytes <= 0 || n->mode == SIM_NETWORK_NONE)
        return 0;
    if (n->mode == SIM_NETWORK_FIXED)
        return 8e-6 * bytes / n->bandwidth_mbps + n->latency_s;
    storage = storage_nearest(s, h, bytes, false);
    route = route_between(s, (struct place){NULL, storage->node},
                          (struct place){&s->hosts[h->index], h->node});
    return route_time_s(s, &route, bytes);
}

/* ---- flows ---- */

static void attach(struct sim *s, struct transfer *t, size_t e)
{
    struct net_link *link = t->route.link[e];

    if (link->flow_count == link->flow_size) {
        size_t size = link->flow_size ? 2 * link->flow_size : 4;
        struct transfer **flows =
            GROW(s->arena, link->flows, struct transfer *, link->flow_count, size);

        link->flows = flows;
        link->flow_size = size;
    }
    t->position[e] = link->flow_count;
    link->flows[link->flow_count++] = t;
}

static size_t place_of(const struct transfer *t, const struct net_link *link)
{
    size_t e = 0;

    while (t->route.link[e] != link)
        e++;
    return e;
}

static void detach(struct transfer *t, size_t e)
{
    struct net_link *link = t->route.link[e];
    struct transfer *last = link->flows[--link->flow_count];

    last->position[place_of(last, link)] = t->position[e];
    link->flows[t->position[e]] = last;
}

static void grow_found(struct sim *s, size_t flows, size_t links)
{
    if (flows > s->found_size) {
        size_t size = 2 * flows;

        s->found = GROW(s->arena, s->found, struct transfer *, s->found_count, size);
        s->found_flows = NEW(s->arena, struct network_flow, size);
        s->found_size = size;
    }
    if (links > s->found_link_size) {
        size_t size = 2 * links;

        s->found_links =
            GROW(s->arena, s->found_links, struct net_link *, s->found_link_count, size);
        s->found_left = NEW(s->arena, double, size);
        s->found_weight = NEW(s->arena, double, size);
        s->found_link_size = size;
    }
}

static void find_link(struct sim *s, struct net_link *link)
{
    if (link->mark == s->mark)
        return;
    grow_found(s, 0, s->found_link_count + 1);
    link->mark = s->mark;
    link->mark_index = s->found_link_count;
    s->found_links[s->found_link_count++] = link;
}

/* All flows that share links with those of `link`, and all their links. */
static void find_component(struct sim *s, struct net_link *link)
{
    s->mark++;
    s->found_count = s->found_link_count = 0;
    find_link(s, link);
    for (size_t i = 0; i < s->found_link_count; i++) {
        struct net_link *from = s->found_links[i];

        for (size_t f = 0; f < from->flow_count; f++) {
            struct transfer *t = from->flows[f];

            if (t->mark == s->mark)
                continue;
            grow_found(s, s->found_count + 1, 0);
            t->mark = s->mark;
            s->found[s->found_count++] = t;
            for (size_t e = 0; e < t->route.link_count; e++)
                find_link(s, t->route.link[e]);
        }
    }
}

static void bring_up_to_date(const struct sim *s, struct transfer *t)
{
    double dt = 1e-3 * (double)(s->kernel.now_ms - t->updated_ms);

    if (dt > 0)
        t->left_mbit = fmax(0, t->left_mbit - t->rate_mbps * dt);
    t->updated_ms = s->kernel.now_ms;
}

static void set_rate(struct sim *s, struct transfer *t, double rate_mbps)
{
    if (t->rate_mbps == rate_mbps)
        return;
    bring_up_to_date(s, t);
    t->rate_mbps = rate_mbps;
    t->version++;
    kernel_post(&s->kernel, kernel_after(&s->kernel, t->left_mbit / rate_mbps),
                EVENT_FLOW, t, t->version);
}

static void share_again(struct sim *s, struct net_link *link)
{
    find_component(s, link);
    for (size_t i = 0; i < s->found_link_count; i++)
        s->found_left[i] = s->found_links[i]->mbps;
    for (size_t i = 0; i < s->found_count; i++) {
        const struct transfer *t = s->found[i];
        struct network_flow *f = &s->found_flows[i];

        f->weight = t->weight;
        f->cap_mbps = t->route.cap_mbps;
        f->link_count = t->route.link_count;
        for (size_t e = 0; e < f->link_count; e++)
            f->link[e] = t->route.link[e]->mark_index;
    }
    network_share(s->found_flows, s->found_count, s->found_left, s->found_weight,
                  s->found_link_count);
    for (size_t i = 0; i < s->found_count; i++)
        set_rate(s, s->found[i], s->found_flows[i].rate_mbps);
}

static void begin_flow(struct sim *s, struct transfer *t, double bytes)
{
    t->weight = network_weight(t->route.latency_s);
    t->left_mbit = 8e-6 * bytes;
    t->rate_mbps = 0;
    t->updated_ms = s->kernel.now_ms;
    for (size_t e = 0; e < t->route.link_count; e++)
        attach(s, t, e);
    if (t->route.link_count)
        share_again(s, t->route.link[0]);
    else
        set_rate(s, t, t->route.cap_mbps);
}

/* Gives up its share. */
static void end_flow(struct sim *s, struct transfer *t)
{
    size_t count = t->route.link_count;
    uint64_t before = s->mark;

    t->route.link_count = 0;
    for (size_t e = 0; e < count; e++)
        detach(t, e);
    for (size_t e = 0; e < count; e++) /* not those that one before has found */
        if (t->route.link[e]->flow_count > 0 && t->route.link[e]->mark <= before)
            share_again(s, t->route.link[e]);
}

void transfer_on_drained(struct sim *s, struct transfer *t)
{
    end_flow(s, t);
    t->version++;
    kernel_post(&s->kernel, kernel_after(&s->kernel, t->route.latency_s),
                t->kind == TRANSFER_IMAGE ? EVENT_CHECKPOINT_STORED : EVENT_TRANSFER, t,
                t->version);
}

/* ---- transfers ---- */

static struct transfer *transfer_new(struct sim *s)
{
    enum { CHUNK = 64 };
    struct transfer *t = s->pools.transfers, *chunk;

    if (!t) {
        chunk = NEW(s->arena, struct transfer, CHUNK);
        for (size_t i = 0; i < CHUNK; i++)
            chunk[i].next = i + 1 < CHUNK ? &chunk[i + 1] : NULL;
        t = chunk;
    }
    s->pools.transfers = t->next;
    return t;
}

static void count_bytes(struct sim *s, enum transfer_kind kind, struct place from,
                        struct place to, double bytes)
{
    double *const total[] = {
        [TRANSFER_INPUT] = &s->totals.input_bytes,
        [TRANSFER_RESTART] = &s->totals.restart_bytes,
        [TRANSFER_OUTPUT] = &s->totals.output_bytes,
        [TRANSFER_IMAGE] = &s->totals.checkpoint_bytes,
        [TRANSFER_MIGRATION] = &s->totals.restart_bytes,
    };

    *total[kind] += bytes;
    if (from.host)
        from.host->stats.sent_bytes += bytes;
    if (to.host)
        to.host->stats.received_bytes += bytes;
    path_count_transfer(s, from.node, to.node, bytes);
}

/* The end of a transfer that is not the replica's resource. */
static struct place other_end(const struct sim *s, enum transfer_kind kind,
                              const struct replica *r, struct host *from, double bytes)
{
    if (kind == TRANSFER_MIGRATION)
        return (struct place){from, from->node};
    if (kind == TRANSFER_OUTPUT)
        return (struct place){NULL, r->storage->node};
    if (kind == TRANSFER_INPUT)
        return (struct place){NULL, storage_nearest(s, r->host, bytes, false)->node};
    return (struct place){NULL, s->image_node};
}

bool transfer_begin(struct sim *s, enum transfer_kind kind, struct replica *r,
                    double bytes, struct host *source, double progress_mi)
{
    bool is_upload = kind == TRANSFER_OUTPUT || kind == TRANSFER_IMAGE;
    const struct sim_network *n = &s->scenario->network;
    struct place here = {r->host, r->host->node}, there;
    struct transfer *t;

    if (!(bytes > 0))
        return false;
    there = other_end(s, kind, r, source, bytes);
    count_bytes(s, kind, is_upload ? here : there, is_upload ? there : here, bytes);
    if (n->mode == SIM_NETWORK_NONE)
        return false;
    t = transfer_new(s);
    t->kind = kind;
    t->replica = r;
    t->progress_mi = progress_mi;
    t->next = r->transfers;
    r->transfers = t;
    t->version++;
    t->route.link_count = 0;
    if (n->mode == SIM_NETWORK_SHARED) {
        t->route =
            is_upload ? route_between(s, here, there) : route_between(s, there, here);
        begin_flow(s, t, bytes);
    } else {
        kernel_post(&s->kernel,
                    kernel_after(&s->kernel, network_estimate_s(s, r->host, bytes)),
                    kind == TRANSFER_IMAGE ? EVENT_CHECKPOINT_STORED : EVENT_TRANSFER, t,
                    t->version);
    }
    return true;
}

void transfer_release(struct sim *s, struct transfer *t)
{
    struct transfer **at = &t->replica->transfers;

    while (*at != t)
        at = &(*at)->next;
    *at = t->next;
    t->version++;
    if (t->route.link_count)
        end_flow(s, t);
    t->next = s->pools.transfers;
    s->pools.transfers = t;
}

void transfers_abort(struct sim *s, struct replica *r)
{
    while (r->transfers)
        transfer_release(s, r->transfers);
}

/* simulation/network.c - transfers between resources, storage and checkpoint server.
 *
 * none: nothing takes time. fixed: every transfer alone, bytes / bandwidth + latency.
 * shared: a star in each site, one link of limited capacity from each resource to its
 * switch; the switches are joined pairwise by links of which each route gets the same
 * small share. Storage and checkpoint server are in a site of their own, whose links
 * have a latency but no limit. Flows share a link by the inverse of their round trips
 * (network_share). The latency follows once, after the last bit has left.
 *
 * Only flows that share links with the one that begins or ends get new rates: those of
 * its resources, and from there of the resources they go to.
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
#define SERVICES        "services"

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
    return f->link[0] == link || f->link[1] == link;
}

static void sum_weights(const struct network_flow *flows, size_t flow_count,
                        double *weight_sum, size_t link_count)
{
    for (size_t l = 0; l < link_count; l++)
        weight_sum[l] = 0;
    for (size_t f = 0; f < flow_count; f++)
        for (size_t e = 0; is_open(&flows[f]) && e < FLOW_LINKS; e++)
            if (flows[f].link[e] != FLOW_NO_LINK)
                weight_sum[flows[f].link[e]] += flows[f].weight;
}

static void freeze(struct network_flow *f, double rate_mbps, double *left_mbps)
{
    f->rate_mbps = rate_mbps;
    for (size_t e = 0; e < FLOW_LINKS; e++)
        if (f->link[e] != FLOW_NO_LINK)
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

/* ---- routes ---- */

static const char *site_name(const struct sim *s, size_t rank)
{
    const struct sim_scenario *c = s->scenario;

    for (size_t i = 0; rank < c->site_count && i < c->site_count; i++) {
        size_t less = 0;

        for (size_t j = 0; j < c->site_count; j++)
            less += strcmp(c->sites[j], c->sites[i]) < 0;
        if (less == rank)
            return c->sites[i];
    }
    return SERVICES;
}

/* Sites are in byte order of their names, the services behind them; a pair's latency
 * comes from the stream that both names give. */
enum error_code network_create(struct sim *s)
{
    const struct sim_network *n = &s->scenario->network;
    size_t count = s->scenario->site_count + 1;

    s->wan_latency_s = NEW(s->arena, double, count *count);
    if (!s->wan_latency_s)
        return fail_memory(s->err);
    if (n->mode != SIM_NETWORK_SHARED)
        return OK;
    for (size_t i = 0; i < count; i++) {
        const char *from = site_name(s, i);

        for (size_t j = i + 1; j < count; j++) {
            const char *to = site_name(s, j);
            bool in_order = strcmp(from, to) < 0;
            const char *name = arena_printf(s->arena, "wan.%s.%s", in_order ? from : to,
                                            in_order ? to : from);
            struct rng stream;
            size_t position = 0;
            double latency_s;

            if (!name)
                return fail_memory(s->err);
            stream = rng_stream(s->seed, name);
            latency_s = fmax(0, distribution_draw(&n->wan_latency_s, &stream, &position));
            s->wan_latency_s[i * count + j] = latency_s;
            s->wan_latency_s[j * count + i] = latency_s;
        }
    }
    return OK;
}

/* from NULL: storage or checkpoint server. */
static double route_latency_s(const struct sim *s, const struct host *from,
                              const struct host *to)
{
    const struct sim_network *n = &s->scenario->network;
    size_t services = s->scenario->site_count;
    size_t a = from ? from->site : services, b = to ? to->site : services;
    double wan_s = a == b ? 0 : s->wan_latency_s[a * (services + 1) + b];

    return 2 * n->lan_latency_s + wan_s;
}

double network_estimate_s(const struct sim *s, const struct host *h, double bytes)
{
    const struct sim_network *n = &s->scenario->network;
    double mbit = 8e-6 * bytes;

    if (bytes <= 0 || n->mode == SIM_NETWORK_NONE)
        return 0;
    if (n->mode == SIM_NETWORK_FIXED)
        return mbit / n->bandwidth_mbps + n->latency_s;
    return mbit / fmin(n->lan_mbps, n->wan_share_mbps) + route_latency_s(s, NULL, h);
}

/* ---- flows ---- */

static bool attach(struct sim *s, struct transfer *t, int e, struct host *h)
{
    if (h->flow_count == h->flow_size) {
        size_t size = h->flow_size ? 2 * h->flow_size : 4;
        struct transfer **flows =
            GROW(s->arena, h->flows, struct transfer *, h->flow_count, size);

        if (!flows) {
            sim_fail_memory(s);
            return false;
        }
        h->flows = flows;
        h->flow_size = size;
    }
    t->end[e] = h;
    t->position[e] = h->flow_count;
    h->flows[h->flow_count++] = t;
    return true;
}

static void detach(struct transfer *t, int e)
{
    struct host *h = t->end[e];
    struct transfer *last;

    if (!h)
        return;
    last = h->flows[--h->flow_count];
    h->flows[t->position[e]] = last;
    last->position[last->end[1] == h && last->end[0] != h] = t->position[e];
    t->end[e] = NULL;
}

static bool grow_found(struct sim *s, size_t flows, size_t hosts)
{
    if (flows > s->found_size) {
        size_t size = 2 * flows;

        s->found = GROW(s->arena, s->found, struct transfer *, s->found_count, size);
        s->found_flows = NEW(s->arena, struct network_flow, size);
        s->found_size = s->found && s->found_flows ? size : 0;
    }
    if (hosts > s->found_host_size) {
        size_t size = 2 * hosts;

        s->found_hosts =
            GROW(s->arena, s->found_hosts, struct host *, s->found_host_count, size);
        s->found_left = NEW(s->arena, double, size);
        s->found_weight = NEW(s->arena, double, size);
        s->found_host_size =
            s->found_hosts && s->found_left && s->found_weight ? size : 0;
    }
    if (flows <= s->found_size && hosts <= s->found_host_size)
        return true;
    sim_fail_memory(s);
    return false;
}

static void find_host(struct sim *s, struct host *h)
{
    if (!h || h->mark == s->mark || !grow_found(s, 0, s->found_host_count + 1))
        return;
    h->mark = s->mark;
    h->mark_index = s->found_host_count;
    s->found_hosts[s->found_host_count++] = h;
}

/* All flows that share links with those of `h`, and all their hosts. */
static void find_component(struct sim *s, struct host *h)
{
    s->mark++;
    s->found_count = s->found_host_count = 0;
    find_host(s, h);
    for (size_t i = 0; i < s->found_host_count; i++) {
        struct host *from = s->found_hosts[i];

        for (size_t f = 0; f < from->flow_count; f++) {
            struct transfer *t = from->flows[f];

            if (t->mark == s->mark || !grow_found(s, s->found_count + 1, 0))
                continue;
            t->mark = s->mark;
            s->found[s->found_count++] = t;
            find_host(s, t->end[0]);
            find_host(s, t->end[1]);
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

static void share_again(struct sim *s, struct host *h)
{
    find_component(s, h);
    if (s->failed)
        return;
    for (size_t i = 0; i < s->found_host_count; i++)
        s->found_left[i] = s->scenario->network.lan_mbps;
    for (size_t i = 0; i < s->found_count; i++) {
        const struct transfer *t = s->found[i];
        struct network_flow *f = &s->found_flows[i];

        f->weight = t->weight;
        f->cap_mbps = t->cap_mbps;
        for (size_t e = 0; e < FLOW_LINKS; e++)
            f->link[e] = t->end[e] ? t->end[e]->mark_index : FLOW_NO_LINK;
    }
    network_share(s->found_flows, s->found_count, s->found_left, s->found_weight,
                  s->found_host_count);
    for (size_t i = 0; i < s->found_count; i++)
        set_rate(s, s->found[i], s->found_flows[i].rate_mbps);
}

static void begin_flow(struct sim *s, struct transfer *t, double bytes, struct host *from,
                       struct host *to)
{
    const struct sim_network *n = &s->scenario->network;
    size_t services = s->scenario->site_count;

    t->latency_s = route_latency_s(s, from, to);
    t->weight = network_weight(t->latency_s);
    t->cap_mbps = (from ? from->site : services) == (to ? to->site : services)
                      ? HUGE_VAL
                      : n->wan_share_mbps;
    t->left_mbit = 8e-6 * bytes;
    t->rate_mbps = 0;
    t->updated_ms = s->kernel.now_ms;
    if ((from && !attach(s, t, 0, from)) || (to && !attach(s, t, 1, to)))
        return;
    share_again(s, from ? from : to);
}

/* Gives up its share. */
static void end_flow(struct sim *s, struct transfer *t)
{
    struct host *end[TRANSFER_ENDS] = {t->end[0], t->end[1]};

    detach(t, 0);
    detach(t, 1);
    for (size_t e = 0; e < TRANSFER_ENDS; e++)
        if (end[e] && end[e]->flow_count > 0)
            share_again(s, end[e]);
}

void transfer_on_drained(struct sim *s, struct transfer *t)
{
    end_flow(s, t);
    t->version++;
    kernel_post(&s->kernel, kernel_after(&s->kernel, t->latency_s),
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
        if (!chunk) {
            sim_fail_memory(s);
            return NULL;
        }
        for (size_t i = 0; i < CHUNK; i++)
            chunk[i].next = i + 1 < CHUNK ? &chunk[i + 1] : NULL;
        t = chunk;
    }
    s->pools.transfers = t->next;
    return t;
}

static void count_bytes(struct sim *s, enum transfer_kind kind, struct host *from,
                        struct host *to, double bytes)
{
    double *const total[] = {
        [TRANSFER_INPUT] = &s->totals.input_bytes,
        [TRANSFER_RESTART] = &s->totals.restart_bytes,
        [TRANSFER_OUTPUT] = &s->totals.output_bytes,
        [TRANSFER_IMAGE] = &s->totals.checkpoint_bytes,
        [TRANSFER_MIGRATION] = &s->totals.restart_bytes,
    };

    *total[kind] += bytes;
    if (from)
        from->stats.sent_bytes += bytes;
    if (to)
        to->stats.received_bytes += bytes;
}

bool transfer_begin(struct sim *s, enum transfer_kind kind, struct replica *r,
                    double bytes, struct host *from, double progress_mi)
{
    bool is_upload = kind == TRANSFER_OUTPUT || kind == TRANSFER_IMAGE;
    const struct sim_network *n = &s->scenario->network;
    struct host *to = is_upload ? NULL : r->host;
    struct transfer *t;

    if (!(bytes > 0))
        return false;
    if (is_upload)
        from = r->host;
    count_bytes(s, kind, from, to, bytes);
    if (n->mode == SIM_NETWORK_NONE)
        return false;
    t = transfer_new(s);
    if (!t)
        return false;
    t->kind = kind;
    t->replica = r;
    t->progress_mi = progress_mi;
    t->next = r->transfers;
    r->transfers = t;
    t->version++;
    if (n->mode == SIM_NETWORK_SHARED)
        begin_flow(s, t, bytes, from, to);
    else
        kernel_post(&s->kernel,
                    kernel_after(&s->kernel, network_estimate_s(s, r->host, bytes)),
                    kind == TRANSFER_IMAGE ? EVENT_CHECKPOINT_STORED : EVENT_TRANSFER, t,
                    t->version);
    return true;
}

void transfer_release(struct sim *s, struct transfer *t)
{
    struct transfer **at = &t->replica->transfers;

    while (*at != t)
        at = &(*at)->next;
    *at = t->next;
    t->version++;
    if (t->end[0] || t->end[1])
        end_flow(s, t);
    t->next = s->pools.transfers;
    s->pools.transfers = t;
}

void transfers_abort(struct sim *s, struct replica *r)
{
    while (r->transfers)
        transfer_release(s, r->transfers);
}

/* workflow/simulation_transfers.c - inputs, outputs and checkpoints on their way.
 *
 * A site is a star: each resource has a link to the switch; switches are joined by
 * routes of which each transfer gets the same fixed bandwidth. What has no resource at
 * an end (storage, a kept checkpoint) begins or ends at the switch. Transfers share the
 * links by the inverse of their round trips (network_share()); only those that share
 * links with the one that begins or ends get new rates. The latency follows once, after
 * the last bit.
 *
 * Source: spec workflows.md 2.2 (5.2), (5.3); simulator.md 6.
 */
#include "algorithms/workflow/simulation_parts.h"

#include <math.h>

double wsim_route_s(const struct wsim *s, size_t from_site, size_t to_site, double bytes)
{
    size_t route = from_site * s->in->grid.site_count + to_site;

    if (!(bytes > 0))
        return 0;
    return 8e-6 * bytes / s->site_mbps[route] + s->site_latency_s[route];
}

static void attach(struct wsim *s, struct wsim_task *t, struct wsim_link *link)
{
    if (link->flow_count == link->flow_size) {
        size_t size = link->flow_size ? 2 * link->flow_size : 4;
        struct wsim_task **flows =
            GROW(s->a, link->flows, struct wsim_task *, link->flow_count, size);

        link->flows = flows;
        link->flow_size = size;
    }
    t->flow.link[t->flow.link_count] = link;
    t->flow.position[t->flow.link_count++] = link->flow_count;
    link->flows[link->flow_count++] = t;
}

static void detach(struct wsim_task *t, size_t e)
{
    struct wsim_link *link = t->flow.link[e];
    struct wsim_task *last = link->flows[--link->flow_count];
    size_t of_last = last->flow.link[0] == link ? 0 : 1;

    last->flow.position[of_last] = t->flow.position[e];
    link->flows[t->flow.position[e]] = last;
}

/* ---- shares ---- */

static void grow_found(struct wsim *s)
{
    size_t size = 2 * s->found_size + 64;

    s->found = GROW(s->a, s->found, struct wsim_task *, s->found_size, size);
    s->found_links = GROW(s->a, s->found_links, struct wsim_link *, s->found_size, size);
    s->found_flows = NEW(s->a, struct network_flow, size);
    s->found_left = NEW(s->a, double, size);
    s->found_weight = NEW(s->a, double, size);
    s->found_size = size;
}

/* Room for two links and a flow more. */
static void make_room(struct wsim *s)
{
    if (s->found_link_count + 2 >= s->found_size || s->found_count >= s->found_size)
        grow_found(s);
}

static void find_link(struct wsim *s, struct wsim_link *link)
{
    if (link->mark == s->mark)
        return;
    link->mark = s->mark;
    link->mark_index = s->found_link_count;
    s->found_links[s->found_link_count++] = link;
}

/* All flows that share links with those of `link`, and all their links. */
static void find_component(struct wsim *s, struct wsim_link *link)
{
    s->mark++;
    s->found_count = s->found_link_count = 0;
    make_room(s);
    find_link(s, link);
    for (size_t i = 0; i < s->found_link_count; i++) {
        for (size_t f = 0; f < s->found_links[i]->flow_count; f++) {
            struct wsim_task *t = s->found_links[i]->flows[f];

            if (t->flow.mark == s->mark)
                continue;
            make_room(s);
            t->flow.mark = s->mark;
            s->found[s->found_count++] = t;
            for (size_t e = 0; e < t->flow.link_count; e++)
                find_link(s, t->flow.link[e]);
        }
    }
}

static void set_rate(struct wsim *s, struct wsim_task *t, double rate_mbps)
{
    struct wsim_flow *f = &t->flow;
    double dt = 1e-3 * (double)(s->kernel.now_ms - f->updated_ms);

    if (f->rate_mbps == rate_mbps)
        return;
    f->left_mbit = fmax(0, f->left_mbit - f->rate_mbps * dt);
    f->updated_ms = s->kernel.now_ms;
    f->rate_mbps = rate_mbps;
    t->version++;
    kernel_post(&s->kernel, kernel_after(&s->kernel, f->left_mbit / rate_mbps),
                EVENT_FLOW, t, t->version);
}

static void share_again(struct wsim *s, struct wsim_link *link)
{
    find_component(s, link);
    for (size_t i = 0; i < s->found_link_count; i++)
        s->found_left[i] = s->in->grid.lan_mbps;
    for (size_t i = 0; i < s->found_count; i++) {
        const struct wsim_flow *from = &s->found[i]->flow;
        struct network_flow *f = &s->found_flows[i];

        f->weight = from->weight;
        f->cap_mbps = from->cap_mbps;
        f->link_count = from->link_count;
        for (size_t e = 0; e < f->link_count; e++)
            f->link[e] = from->link[e]->mark_index;
    }
    network_share(s->found_flows, s->found_count, s->found_left, s->found_weight,
                  s->found_link_count);
    for (size_t i = 0; i < s->found_count; i++)
        set_rate(s, s->found[i], s->found_flows[i].rate_mbps);
}

/* ---- transfers ---- */

void wsim_flow_begin(struct wsim *s, struct wsim_task *t, struct wsim_host *from,
                     size_t from_site, struct wsim_host *to, size_t to_site, double bytes)
{
    size_t route = from_site * s->in->grid.site_count + to_site;
    struct wsim_flow *f = &t->flow;

    *f = (struct wsim_flow){
        .left_mbit = 8e-6 * bytes,
        .latency_s = s->site_latency_s[route],
        .weight = network_weight(s->site_latency_s[route]),
        .cap_mbps = from_site == to_site ? HUGE_VAL : s->in->grid.wan_mbps,
        .updated_ms = s->kernel.now_ms,
    };
    if (s->set->share_lan && from)
        attach(s, t, &from->link);
    if (s->set->share_lan && to && to != from)
        attach(s, t, &to->link);
    if (s->failed)
        return;
    if (f->link_count)
        share_again(s, f->link[0]);
    else
        set_rate(s, t, fmin(f->cap_mbps, s->in->grid.lan_mbps));
}

void wsim_flow_drained(struct wsim *s, struct wsim_task *t)
{
    struct wsim_flow *f = &t->flow;
    size_t count = f->link_count;
    uint64_t before = s->mark;

    f->left_mbit = 0;
    for (size_t e = 0; e < count; e++)
        detach(t, e);
    f->link_count = 0;
    for (size_t e = 0; e < count; e++) /* not those that one before has found */
        if (f->link[e]->flow_count && f->link[e]->mark <= before)
            share_again(s, f->link[e]);
    f->rate_mbps = 0;
    t->version++;
    t->until_ms = kernel_after(&s->kernel, f->latency_s);
    kernel_post(&s->kernel, t->until_ms, EVENT_TRANSFER, t, t->version);
}

double wsim_flow_left_s(const struct wsim *s, const struct wsim_task *t)
{
    const struct wsim_flow *f = &t->flow;
    double dt = 1e-3 * (double)(s->kernel.now_ms - f->updated_ms);

    if (!(f->rate_mbps > 0)) /* the latency */
        return fmax(0, 1e-3 * (double)(t->until_ms - s->kernel.now_ms));
    return fmax(0, f->left_mbit / f->rate_mbps - dt) + f->latency_s;
}

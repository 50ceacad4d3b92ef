/* coallocation_stored.c - stored snapshots as multiclusters.
 *
 * A stored snapshot has resources, each with its site_id, and routes. A site is all
 * resources with the same site_id; one without is a site of its own:
 *
 *     processors_total      the slots of its resources
 *     processors_erroneous  those of failed ones
 *     processors_busy       the slots in use of the others
 *
 * Links are the routes between sites, good for both directions unless the other one is
 * listed too, and wan_mbps with wan_latency_s between all others; files have the copies
 * of their site_ids. A site was measured when the first of its resources was observed.
 */
#include "handlers/sites/coallocation_stored.h"

#include "handlers/common/decision.h"
#include "models/base/names.h"

#include <math.h>

struct stored {
    struct request *rq;
    const struct snapshot *from;
    struct name_index index;
    struct co_site *sites;
    size_t site_count;
    struct co_snapshot *to;
};

static void add_resource(struct co_site *site, const struct resource *r)
{
    /* A part of a cpu is no processor. */
    double slots = isnan(r->n_max) && r->cpus < 1 ? 0 : (double)resource_slots(r);

    site->processors_total += slots;
    if (r->failed)
        site->processors_erroneous += slots;
    else
        site->processors_busy += fmin(slots, r->job_count);
    if (!isnan(r->observed_at_s))
        site->measured_at_s = fmin(site->measured_at_s, r->observed_at_s);
}

static enum error_code sum_up_sites(struct stored *s)
{
    size_t count = s->from->resource_count;

    s->sites = NEW(s->rq->arena, struct co_site, count);
    name_index_create(&s->index, count, s->rq->arena);
    for (size_t i = 0; i < count; i++) {
        const struct resource *r = &s->from->resources[i];
        const char *id = r->site_id ? r->site_id : r->id;
        size_t at = name_index_add(&s->index, id, s->site_count);

        if (at == NAME_NOT_FOUND) {
            at = s->site_count++;
            s->sites[at] = (struct co_site){.id = id,
                                            .processors_idle = NAN,
                                            .usable = true,
                                            .measured_at_s = HUGE_VAL};
        }
        add_resource(&s->sites[at], r);
    }
    for (size_t i = 0; i < s->site_count; i++)
        if (isinf(s->sites[i].measured_at_s))
            s->sites[i].measured_at_s = (double)NAN;
    if (s->site_count > CO_SITES_MAX)
        return fail(s->rq->err, ERR_TOO_LARGE, "/snapshot_id",
                    "the snapshot has %zu sites; at most %d are possible", s->site_count,
                    CO_SITES_MAX);
    return OK;
}

/* Pairs without a route get a link of their own where the latency between sites counts.
 */
static size_t add_wan(const struct stored *s, const char *linked, struct co_link *links)
{
    const struct network *net = &s->from->network;
    size_t n = s->site_count, count = 0;

    if (isnan(net->wan_mbps) || !(net->wan_latency_s > 0))
        return 0;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++)
            if (i != k && !linked[i * n + k] && !linked[k * n + i])
                links[count++] =
                    (struct co_link){s->sites[i].id, s->sites[k].id, net->wan_mbps,
                                     net->wan_latency_s, false};
    return count;
}

static void list_links(struct stored *s)
{
    const struct network *net = &s->from->network;
    size_t n = s->site_count, count = 0;
    char *linked = NEW(s->rq->arena, char, n *n);
    struct co_link *links = NEW(s->rq->arena, struct co_link, net->route_count + n * n);

    for (size_t i = 0; i < net->route_count; i++) {
        const struct network_route *r = &net->routes[i];
        size_t from = name_index_find(&s->index, r->from_site_id);
        size_t to = name_index_find(&s->index, r->to_site_id);

        if (from == NAME_NOT_FOUND || to == NAME_NOT_FOUND || from == to ||
            linked[from * n + to])
            continue;
        linked[from * n + to] = 1;
        links[count++] = (struct co_link){r->from_site_id, r->to_site_id,
                                          r->bandwidth_mbps, r->latency_s, true};
    }
    count += add_wan(s, linked, links + count);
    s->to->links = links;
    s->to->link_count = count;
    s->to->default_bandwidth_mbps = net->wan_mbps;
}

static void list_files(struct stored *s)
{
    const struct snapshot *from = s->from;
    struct co_file *files = NEW(s->rq->arena, struct co_file, from->file_count);

    for (size_t i = 0; i < from->file_count; i++) {
        const struct file *f = &from->files[i];
        const char **ids = NEW(s->rq->arena, const char *, f->site_count);
        size_t count = 0;

        for (size_t k = 0; k < f->site_count; k++)
            if (name_index_find(&s->index, f->site_ids[k]) != NAME_NOT_FOUND)
                ids[count++] = f->site_ids[k];
        files[i] = (struct co_file){f->id, f->bytes, CO_WHOLE, ids, count};
    }
    s->to->files = files;
    s->to->file_count = from->file_count;
}

enum error_code co_snapshot_find(struct request *rq, const struct co_snapshot *given,
                                 const char *snapshot_id, bool required,
                                 const struct co_snapshot **out)
{
    struct stored s = {.rq = rq};

    *out = given;
    if (given || (!snapshot_id && !required))
        return OK;
    if (!snapshot_id)
        return invalid(rq->err, "/snapshot", ITEM_REQUIRED,
                       "the clusters are missing: give snapshot, or the snapshot_id of a "
                       "stored one");
    TRY(decision_snapshot(rq, NULL, snapshot_id, true, &s.from));
    s.to = NEW(rq->arena, struct co_snapshot, 1);
    TRY(sum_up_sites(&s));
    list_links(&s);
    list_files(&s);
    s.to->taken_at_s = s.from->taken_at_s;
    s.to->sites = s.sites;
    s.to->site_count = s.site_count;
    *out = s.to;
    return OK;
}

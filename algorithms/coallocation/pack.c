/* coallocation/pack.c - all components at once, where one by one fails.
 *
 * Depth-first over the components by decreasing size; a branch is left when its FTT is
 * not below the best one found, or when the processors left do not suffice. Components
 * that are alike take sites in order, so that their swaps are not tried. Stops after a
 * million steps or at the time limit and then keeps the best found.
 *
 * Source: spec coallocation.md 6.3 (pack_retry, ours).
 */
#include "algorithms/coallocation/parts.h"

#include <math.h>

enum { STEPS_MOST = 1000000, STEPS_BETWEEN_LOOKS = 1024 };

struct packing {
    const struct co_place_in *in;
    const struct co_component *components;
    size_t count;
    size_t *order;
    double *time_s;    /* [place in order * sites + site]; infinite: not there */
    size_t *file_site; /* likewise */
    size_t *available;
    bool *used;
    size_t *site; /* of each place in order, while searching */
    size_t *best; /* of the best */
    double best_s;
    size_t steps;
    bool stopped;
};

static bool alike(const struct packing *p, size_t i, size_t k)
{
    const struct co_component *a = &p->components[p->order[i]];
    const struct co_component *b = &p->components[p->order[k]];

    return a->processors == b->processors && a->file == b->file && a->bytes == b->bytes &&
           a->fixed_site == b->fixed_site;
}

static bool is_over(struct packing *p)
{
    if (p->steps++ >= STEPS_MOST ||
        (p->steps % STEPS_BETWEEN_LOOKS == 0 && budget_spent(p->in->budget)))
        p->stopped = true;
    return p->stopped;
}

/* Whether place `i` may go to site `e` so that the FTT stays below the best. */
static bool may_go(const struct packing *p, size_t i, size_t e)
{
    return p->time_s[i * p->in->grid->site_count + e] < p->best_s &&
           p->available[e] >= p->components[p->order[i]].processors &&
           !(p->in->job->distinct && p->used[e]);
}

/* Places i, i + 1 ...; at most PACK_MOST deep. */
static void place_rest(struct packing *p, size_t i, double ftt_s)
{
    size_t sites = p->in->grid->site_count, need, first;

    if (i == p->count) {
        p->best_s = ftt_s;
        for (size_t k = 0; k < p->count; k++)
            p->best[k] = p->site[k];
        return;
    }
    need = p->components[p->order[i]].processors;
    first = i > 0 && alike(p, i, i - 1) ? p->site[i - 1] : 0;
    for (size_t e = first; e < sites && ftt_s < p->best_s && !is_over(p); e++) {
        bool before = p->used[e];

        if (!may_go(p, i, e))
            continue;
        p->available[e] -= need;
        p->used[e] = true;
        p->site[i] = e;
        place_rest(p, i + 1, fmax(ftt_s, p->time_s[i * sites + e]));
        p->used[e] = before;
        p->available[e] += need;
    }
}

static void prepare(struct packing *p, bool avoid, struct arena *a)
{
    size_t sites = p->in->grid->site_count;

    p->time_s = NEW(a, double, p->count *sites);
    p->file_site = NEW(a, size_t, p->count * sites);
    p->available = NEW(a, size_t, sites);
    p->used = NEW(a, bool, sites);
    p->site = NEW(a, size_t, p->count);
    p->best = NEW(a, size_t, p->count);
    co_component_order(p->components, p->count, &p->order, a);
    for (size_t e = 0; e < sites; e++)
        p->available[e] = p->in->available[e];
    for (size_t i = 0; i < p->count && !p->stopped; i++) {
        const struct co_component *c = &p->components[p->order[i]];

        p->stopped = budget_step(p->in->budget, co_reach_steps(p->in->grid, c->file));
        for (size_t e = 0; e < sites; e++) {
            size_t at = i * sites + e;

            p->time_s[at] =
                co_replica_s(p->in->grid, e, c->file, c->bytes, &p->file_site[at]);
            if ((c->fixed_site != CO_NONE && c->fixed_site != e) ||
                co_site_bar(p->in->grid, p->in->job, e, avoid) != CO_NO_REASON)
                p->time_s[at] = HUGE_VAL;
        }
    }
}

void co_pack(const struct co_place_in *in, const struct co_component *components,
             size_t count, bool avoid, struct co_choice *choices, bool *found, bool *cut,
             struct arena *a)
{
    struct packing p = {
        .in = in, .components = components, .count = count, .best_s = HUGE_VAL};
    size_t sites = in->grid->site_count;

    prepare(&p, avoid, a);
    place_rest(&p, 0, 0);
    *found = isfinite(p.best_s);
    *cut = p.stopped;
    for (size_t i = 0; *found && i < count; i++) {
        size_t at = i * sites + p.best[i];

        choices[p.order[i]] =
            (struct co_choice){p.best[i], p.file_site[at], p.time_s[at]};
    }
}

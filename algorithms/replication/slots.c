/* replication/slots.c - the free CPUs of a round, and which one a job gets.
 *
 * With n jobs on resource r and sums over the resources of site S that are up and
 * hold no replica of the job,
 *
 *     speed of r = mips / (n + 1)         speed of S = sum of mips / (sum of n + 1)
 *
 * Rule 6.1 takes the site with fewest active replicas of the job, then of largest
 * speed, and in it the resource of largest speed; ties: lower index.
 *
 * Two trees of winners find the best: one over the resources, site by site, one
 * over the sites. A site without a replica of the job has the sums that the tree
 * knows; those with some are few, and are compared one by one, with the replicas'
 * resources taken off the sums. A tree of counts finds the i-th open resource.
 *
 * Source: spec fault-tolerance.md 6.1 (T eq. 4.3; P eq. 3 and 4).
 */
#include "algorithms/replication/slots.h"

#include <assert.h>
#include <string.h>

/* Leaves are at [size .. 2 size); node i is the better of 2i and 2i + 1. */
struct tree {
    size_t *winner; /* NOWHERE: none below this node */
    size_t size;    /* power of two */
};

struct slots_index {
    size_t *position; /* of a resource, in the order of sites */
    size_t *at;       /* the resource at a position */
    size_t *begin;    /* first position of each site; one more at the end */
    double *speed;    /* mips / (n + 1) of each resource */
    double *site_mips, *site_speed;
    size_t *site_jobs, *site_open;
    struct tree resources, sites;
    size_t *open_sum; /* Fenwick tree from 1: open resources by index */
};

struct slots_kept {
    struct slots state;           /* counts and index; job_count and index as the last
                                     round left them, the counts as it found them */
    struct round_resource *shown; /* as it found them */
    size_t count;
    bool is_built;
    bool *is_changed; /* since then, of each resource, by the round or by the caller */
    size_t *changed;  /* these */
    size_t changed_count;
    struct arena *arena;
};

struct slots_kept *slots_keep(size_t resource_count, struct arena *a)
{
    struct slots_kept *kept = NEW(a, struct slots_kept, 1);

    kept->shown = NEW(a, struct round_resource, resource_count);
    kept->is_changed = NEW(a, bool, resource_count);
    kept->changed = NEW(a, size_t, resource_count);
    kept->count = resource_count;
    kept->arena = a;
    return kept;
}

void slots_changed(struct slots_kept *kept, size_t resource)
{
    if (!kept || kept->is_changed[resource])
        return;
    kept->is_changed[resource] = true;
    kept->changed[kept->changed_count++] = resource;
}

static void count_all(struct slots *s, const struct round_in *in, bool by_resource,
                      struct arena *a)
{
    *s = (struct slots){.in = in, .by_resource = by_resource, .arena = a};
    s->job_count = NEW(a, size_t, in->resource_count);
    for (size_t r = 0; r < in->resource_count; r++) {
        const struct round_resource *resource = &in->resources[r];

        s->job_count[r] = resource->job_count;
        s->up_count += resource->up;
        if (!slots_is_open(s, r))
            continue;
        s->open_count++;
        s->free_count += resource->n_max - resource->job_count;
    }
}

bool slots_is_open(const struct slots *s, size_t resource)
{
    return s->in->resources[resource].up &&
           s->job_count[resource] < s->in->resources[resource].n_max;
}

/* ---- trees ---- */

static size_t better(size_t i, size_t j, const double *speed)
{
    if (i == NOWHERE || j == NOWHERE)
        return i == NOWHERE ? j : i;
    if (speed[i] != speed[j])
        return speed[i] > speed[j] ? i : j;
    return i < j ? i : j;
}

static bool tree_create(struct tree *t, size_t count, struct arena *a)
{
    t->size = 1;
    while (t->size < count)
        t->size *= 2;
    t->winner = NEW(a, size_t, 2 * t->size);
    for (size_t i = 0; i < 2 * t->size; i++)
        t->winner[i] = NOWHERE;
    return true;
}

static void tree_build(struct tree *t, const double *speed)
{
    for (size_t i = t->size - 1; i > 0; i--)
        t->winner[i] = better(t->winner[2 * i], t->winner[2 * i + 1], speed);
}

static void tree_set(struct tree *t, size_t leaf, size_t value, const double *speed)
{
    size_t i = t->size + leaf;

    t->winner[i] = value;
    for (i /= 2; i > 0; i /= 2) {
        size_t winner = better(t->winner[2 * i], t->winner[2 * i + 1], speed);

        if (winner == t->winner[i] && winner != value)
            return; /* another one, as before: so it is above */
        t->winner[i] = winner;
    }
}

/* The best of the leaves [first, end). */
static size_t tree_best(const struct tree *t, size_t first, size_t end,
                        const double *speed)
{
    size_t best = NOWHERE;

    for (first += t->size, end += t->size; first < end; first /= 2, end /= 2) {
        if (first % 2)
            best = better(best, t->winner[first++], speed);
        if (end % 2)
            best = better(best, t->winner[--end], speed);
    }
    return best;
}

/* ---- the index ---- */

static bool index_allocate(struct slots_index *x, const struct round_in *in,
                           struct arena *a)
{
    x->position = NEW(a, size_t, in->resource_count);
    x->at = NEW(a, size_t, in->resource_count);
    x->begin = NEW(a, size_t, in->site_count + 1);
    x->speed = NEW(a, double, in->resource_count);
    x->site_mips = NEW(a, double, in->site_count);
    x->site_speed = NEW(a, double, in->site_count);
    x->site_jobs = NEW(a, size_t, in->site_count);
    x->site_open = NEW(a, size_t, in->site_count);
    x->open_sum = NEW(a, size_t, in->resource_count + 1);
    tree_create(&x->resources, in->resource_count, a);
    tree_create(&x->sites, in->site_count, a);
    return true;
}

/* Resources in the order of their sites, by counting. */
static void order_by_site(struct slots_index *x, const struct round_in *in)
{
    for (size_t r = 0; r < in->resource_count; r++)
        x->begin[in->resources[r].site + 1]++;
    for (size_t site = 0; site < in->site_count; site++)
        x->begin[site + 1] += x->begin[site];
    for (size_t r = 0; r < in->resource_count; r++)
        x->position[r] = x->begin[in->resources[r].site]++;
    for (size_t r = 0; r < in->resource_count; r++)
        x->at[x->position[r]] = r;
    for (size_t site = in->site_count; site > 0; site--)
        x->begin[site] = x->begin[site - 1];
    x->begin[0] = 0;
}

enum error_code slots_index(struct slots *s, struct error *err)
{
    const struct round_in *in = s->in;
    struct slots_index *x = s->index;

    (void)err;
    if (x)
        return OK;
    x = NEW(s->arena, struct slots_index, 1);
    index_allocate(x, in, s->arena);
    order_by_site(x, in);
    for (size_t r = 0; r < in->resource_count; r++) {
        const struct round_resource *resource = &in->resources[r];
        bool is_open = slots_is_open(s, r);

        x->speed[r] = resource->mips / ((double)s->job_count[r] + 1);
        x->open_sum[r + 1] = is_open;
        if (is_open)
            x->resources.winner[x->resources.size + x->position[r]] = r;
        if (!resource->up)
            continue;
        x->site_mips[resource->site] += resource->mips;
        x->site_jobs[resource->site] += s->job_count[r];
        x->site_open[resource->site] += is_open;
    }
    for (size_t i = 1; i <= in->resource_count; i++)
        if (i + (i & -i) <= in->resource_count)
            x->open_sum[i + (i & -i)] += x->open_sum[i];
    for (size_t site = 0; site < in->site_count; site++) {
        x->site_speed[site] = x->site_mips[site] / ((double)x->site_jobs[site] + 1);
        if (x->site_open[site])
            x->sites.winner[x->sites.size + site] = site;
    }
    tree_build(&x->resources, x->speed);
    tree_build(&x->sites, x->site_speed);
    s->index = x;
    return OK;
}

/* Offers a resource for choices, or hides it; its leaf and its count only. */
static void offer(struct slots *s, size_t r, bool is_offered)
{
    struct slots_index *x = s->index;
    size_t count = s->in->resource_count;

    tree_set(&x->resources, x->position[r], is_offered ? r : NOWHERE, x->speed);
    for (size_t i = r + 1; i <= count; i += i & -i) {
        if (is_offered)
            x->open_sum[i]++;
        else
            x->open_sum[i]--;
    }
}

/* The index after job_count of a resource that is up has changed. */
static void index_update(struct slots *s, size_t r, bool was_open)
{
    struct slots_index *x = s->index;
    size_t site = s->in->resources[r].site;
    bool is_open = slots_is_open(s, r);

    x->speed[r] = s->in->resources[r].mips / ((double)s->job_count[r] + 1);
    x->site_speed[site] = x->site_mips[site] / ((double)x->site_jobs[site] + 1);
    if (is_open && !was_open)
        x->site_open[site]++;
    else if (was_open && !is_open)
        x->site_open[site]--;
    if (is_open != was_open)
        offer(s, r, is_open);
    else if (is_open)
        tree_set(&x->resources, x->position[r], r, x->speed);
    tree_set(&x->sites, site, x->site_open[site] ? site : NOWHERE, x->site_speed);
}

/* ---- from round to round ---- */

/* Afresh and in the same order, so that the sum has the same last digit. */
static void sum_site(struct slots *s, size_t site)
{
    struct slots_index *x = s->index;

    x->site_mips[site] = 0;
    for (size_t i = x->begin[site]; i < x->begin[site + 1]; i++)
        if (s->in->resources[x->at[i]].up)
            x->site_mips[site] += s->in->resources[x->at[i]].mips;
}

static bool takes_jobs(const struct round_resource *r)
{
    return r->up && r->job_count < r->n_max;
}

/* The counts: from a resource as it was shown to what it is. */
static void recount(struct slots *s, const struct round_resource *before,
                    const struct round_resource *now)
{
    s->up_count = s->up_count - before->up + now->up;
    s->open_count = s->open_count - takes_jobs(before) + takes_jobs(now);
    if (takes_jobs(before))
        s->free_count -= before->n_max - before->job_count;
    if (takes_jobs(now))
        s->free_count += now->n_max - now->job_count;
}

/* The index: from a resource as the last round left it to what it is. */
static void reindex(struct slots *s, size_t r, const struct round_resource *before)
{
    const struct round_resource *now = &s->in->resources[r];
    struct slots_index *x = s->index;
    size_t site = now->site;
    bool was_offered = before->up && s->job_count[r] < before->n_max;

    if (before->up) {
        x->site_jobs[site] -= s->job_count[r];
        x->site_open[site] -= was_offered;
    }
    s->job_count[r] = now->job_count;
    if (now->up) {
        x->site_jobs[site] += now->job_count;
        x->site_open[site] += takes_jobs(now);
    }
    if (before->up != now->up || before->mips != now->mips)
        sum_site(s, site);
    x->speed[r] = now->mips / ((double)now->job_count + 1);
    x->site_speed[site] = x->site_mips[site] / ((double)x->site_jobs[site] + 1);
    if (takes_jobs(now) != was_offered)
        offer(s, r, takes_jobs(now));
    else if (was_offered)
        tree_set(&x->resources, x->position[r], r, x->speed);
    tree_set(&x->sites, site, x->site_open[site] ? site : NOWHERE, x->site_speed);
}

static enum error_code go_on(struct slots_kept *kept, const struct round_in *in,
                             struct error *err)
{
    struct slots *s = &kept->state;

    assert(kept->count == in->resource_count);
    if (!kept->is_built) {
        count_all(s, in, false, kept->arena);
        TRY(slots_index(s, err));
        for (size_t r = 0; r < kept->count; r++)
            kept->shown[r] = in->resources[r];
        kept->is_built = true;
    }
    s->in = in;
    for (size_t i = 0; i < kept->changed_count; i++) {
        size_t r = kept->changed[i];

        recount(s, &kept->shown[r], &in->resources[r]);
        reindex(s, r, &kept->shown[r]);
        kept->shown[r] = in->resources[r];
        kept->is_changed[r] = false;
    }
    kept->changed_count = 0;
    return OK;
}

enum error_code slots_create(struct slots *s, const struct round_in *in, bool by_resource,
                             struct arena *a, struct error *err)
{
    if (!in->kept) {
        count_all(s, in, by_resource, a);
        return OK;
    }
    TRY(go_on(in->kept, in, err));
    *s = in->kept->state;
    s->by_resource = by_resource;
    s->kept = in->kept;
    s->arena = a;
    return OK;
}

void slots_take(struct slots *s, size_t r)
{
    bool was_open = slots_is_open(s, r);

    slots_changed(s->kept, r);
    s->job_count[r]++;
    if (!s->in->resources[r].up)
        return;
    s->free_count -= was_open;
    s->open_count -= was_open && !slots_is_open(s, r);
    if (s->index) {
        s->index->site_jobs[s->in->resources[r].site]++;
        index_update(s, r, was_open);
    }
}

void slots_give(struct slots *s, size_t r)
{
    bool was_open = slots_is_open(s, r);

    if (s->job_count[r] == 0)
        return; /* the caller's count does not know of this job */
    slots_changed(s->kept, r);
    s->job_count[r]--;
    if (!s->in->resources[r].up)
        return;
    s->free_count += slots_is_open(s, r);
    s->open_count += !was_open && slots_is_open(s, r);
    if (s->index) {
        s->index->site_jobs[s->in->resources[r].site]--;
        index_update(s, r, was_open);
    }
}

/* ---- choices ---- */

static bool is_repeated(struct held held, size_t i)
{
    for (size_t j = 0; j < i; j++)
        if (held.resources[j] == held.resources[i])
            return true;
    return false;
}

/* The site of held resource i has been met before. */
static bool is_known_site(const struct round_in *in, struct held held, size_t i)
{
    for (size_t j = 0; j < i; j++)
        if (in->resources[held.resources[j]].site ==
            in->resources[held.resources[i]].site)
            return true;
    return false;
}

/* What is left of a site that holds replicas. */
struct site_rest {
    size_t site, replicas, open;
    double speed;
};

static struct site_rest rest_of(const struct slots *s, size_t site, struct held held)
{
    const struct slots_index *x = s->index;
    struct site_rest rest = {.site = site, .open = x->site_open[site]};
    double mips = x->site_mips[site];
    size_t jobs = x->site_jobs[site];

    for (size_t i = 0; i < held.count; i++) {
        size_t r = held.resources[i];

        if (s->in->resources[r].site != site)
            continue;
        rest.replicas++;
        if (!s->in->resources[r].up || is_repeated(held, i))
            continue;
        mips -= s->in->resources[r].mips;
        jobs -= s->job_count[r];
        rest.open -= slots_is_open(s, r);
    }
    rest.speed = mips / ((double)jobs + 1);
    return rest;
}

static bool is_better_rest(const struct site_rest *a, const struct site_rest *b)
{
    if (a->replicas != b->replicas)
        return a->replicas < b->replicas;
    if (a->speed != b->speed)
        return a->speed > b->speed;
    return a->site < b->site;
}

static void offer_held(struct slots *s, struct held held, bool is_offered)
{
    for (size_t i = 0; i < held.count; i++)
        if (slots_is_open(s, held.resources[i]) && !is_repeated(held, i))
            offer(s, held.resources[i], is_offered);
}

/* Every site with an open resource holds replicas: the best resource of those. */
static size_t spread_over_held(struct slots *s, struct held held)
{
    struct slots_index *x = s->index;
    struct site_rest best = {.replicas = SIZE_MAX};
    size_t resource;

    for (size_t i = 0; i < held.count; i++) {
        struct site_rest rest;

        if (is_known_site(s->in, held, i))
            continue;
        rest = rest_of(s, s->in->resources[held.resources[i]].site, held);
        if (rest.open && is_better_rest(&rest, &best))
            best = rest;
    }
    if (best.replicas == SIZE_MAX)
        return NOWHERE;
    offer_held(s, held, false);
    resource =
        tree_best(&x->resources, x->begin[best.site], x->begin[best.site + 1], x->speed);
    offer_held(s, held, true);
    return resource;
}

size_t slots_spread(struct slots *s, struct held held)
{
    struct slots_index *x = s->index;
    size_t site;

    for (size_t i = 0; i < held.count; i++)
        tree_set(&x->sites, s->in->resources[held.resources[i]].site, NOWHERE,
                 x->site_speed);
    site = x->sites.winner[1];
    for (size_t i = 0; i < held.count; i++) {
        size_t held_site = s->in->resources[held.resources[i]].site;

        if (x->site_open[held_site])
            tree_set(&x->sites, held_site, held_site, x->site_speed);
    }
    if (site == NOWHERE)
        return spread_over_held(s, held);
    return tree_best(&x->resources, x->begin[site], x->begin[site + 1], x->speed);
}

size_t slots_fastest(struct slots *s)
{
    return s->index->resources.winner[1];
}

size_t slots_random(struct slots *s, struct held held, uint64_t *random_state)
{
    struct slots_index *x = s->index;
    size_t open = s->open_count, position = 0, step = 1, left;

    for (size_t i = 0; i < held.count; i++)
        open -= slots_is_open(s, held.resources[i]) && !is_repeated(held, i);
    if (open == 0)
        return NOWHERE;
    left = round_draw(random_state, open);
    offer_held(s, held, false);
    while (2 * step <= s->in->resource_count)
        step *= 2;
    for (; step > 0; step /= 2) { /* the longest prefix with at most `left` open */
        if (position + step <= s->in->resource_count &&
            x->open_sum[position + step] <= left) {
            position += step;
            left -= x->open_sum[position];
        }
    }
    offer_held(s, held, true);
    return position;
}

/* world/lease.c - may an owner have these amounts, at these times?
 *
 * The profiles of the resources that some take is on are made once. What is asked for is
 * compared with every step of its interval; what fits is taken at once, so that the takes
 * of one lease do not get the same twice.
 *
 * Source: world-model.md 8.4.
 */
#include "algorithms/world/lease.h"

#include "algorithms/world/profile.h"

#include <string.h>

struct leasing {
    const struct world *w;
    const struct lease_take *takes;
    size_t count;
    struct profile **nodes;  /* by position; NULL: not looked at yet */
    struct profile **shared; /* by amount, likewise */
    struct arena *arena;
};

static struct profile *node_profile(struct leasing *l, size_t position)
{
    if (!l->nodes[position]) {
        l->nodes[position] = NEW(l->arena, struct profile, 1);
        profile_of_resource(l->w, position, l->nodes[position], l->arena);
    }
    return l->nodes[position];
}

static struct profile *shared_profile(struct leasing *l, size_t amount)
{
    if (!l->shared[amount]) {
        l->shared[amount] = NEW(l->arena, struct profile, 1);
        profile_of_shared(l->w, amount, l->shared[amount], l->arena);
    }
    return l->shared[amount];
}

static const int64_t *needs_of(const struct leasing *l, const struct lease_take *t)
{
    return l->w->jobs[t->job].needs;
}

static void take(struct leasing *l, const struct lease_take *t)
{
    const int64_t *needs = needs_of(l, t);

    for (size_t i = 0; i < t->position_count; i++)
        profile_take_amounts(node_profile(l, t->positions[i]), t->start_s, t->end_s,
                             needs, l->arena);
    for (size_t k = l->w->node_amount_count; k < l->w->amount_count; k++)
        if (needs[k] > 0)
            profile_take_amounts(shared_profile(l, k), t->start_s, t->end_s, &needs[k],
                                 l->arena);
}

/* The step of the take's interval where least is free of one amount; SIZE_MAX: it is
 * never short. */
static size_t shortest_step(const struct leasing *l, const struct profile *p,
                            const struct lease_take *t, size_t amount, int64_t need)
{
    size_t least = SIZE_MAX;

    for (size_t i = profile_at(p, t->start_s);
         i < p->count && p->at_s[i] < t->end_s && !budget_step(l->w->budget, 1); i++) {
        int64_t free = p->free[i * p->amount_count + amount];

        if (free < need &&
            (least == SIZE_MAX || free < p->free[least * p->amount_count + amount]))
            least = i;
    }
    return least;
}

/* Whether `amount` (its place in the profile) is short; fills *r then, but for the
 * owners. */
static bool is_short(struct leasing *l, const struct profile *p,
                     const struct lease_take *t, size_t amount, int64_t need,
                     struct lease_refusal *r)
{
    size_t step = need > 0 ? shortest_step(l, p, t, amount, need) : SIZE_MAX;

    if (step == SIZE_MAX)
        return false;
    r->at_s = fmax(p->at_s[step], t->start_s);
    r->needed = need;
    r->free = p->free[step * p->amount_count + amount];
    return true;
}

/* Whether a take is refused; *r says why, but for the owners. */
static bool is_refused(struct leasing *l, const struct lease_take *t,
                       struct lease_refusal *r)
{
    const struct world *w = l->w;
    const int64_t *needs = needs_of(l, t);

    for (size_t i = 0; i < t->position_count; i++)
        for (size_t k = 0; k < w->node_amount_count; k++)
            if (is_short(l, node_profile(l, t->positions[i]), t, k, needs[k], r)) {
                r->amount = k;
                r->position = t->positions[i];
                return true;
            }
    for (size_t k = w->node_amount_count; k < w->amount_count; k++)
        if (needs[k] > 0 && is_short(l, shared_profile(l, k), t, 0, needs[k], r)) {
            r->amount = k;
            r->position = WORLD_NONE;
            return true;
        }
    return false;
}

static bool is_on(const struct lease_take *t, size_t position)
{
    for (size_t i = 0; i < t->position_count; i++)
        if (t->positions[i] == position)
            return true;
    return position == WORLD_NONE; /* shared */
}

static bool is_listed(const char *const *names, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

/* Who has some of the amount at that time. */
static void find_owners(const struct leasing *l, struct lease_refusal *r)
{
    const char **owners = NEW(l->arena, const char *, l->count);

    for (size_t i = 0; i < l->count && !budget_step(l->w->budget, 1); i++) {
        const struct lease_take *t = &l->takes[i];

        if (t->owner && t->start_s <= r->at_s && r->at_s < t->end_s &&
            needs_of(l, t)[r->amount] > 0 && is_on(t, r->position) &&
            !is_listed(owners, r->owner_count, t->owner))
            owners[r->owner_count++] = t->owner;
    }
    r->owners = owners;
}

size_t lease_check(const struct world *w, const struct lease_take *takes, size_t count,
                   const struct lease_refusal **refusals, struct arena *a)
{
    struct leasing l = {.w = w,
                        .takes = takes,
                        .count = count,
                        .nodes = NEW(a, struct profile *, w->resource_count),
                        .shared = NEW(a, struct profile *, w->amount_count),
                        .arena = a};
    struct lease_refusal *list = NEW(a, struct lease_refusal, count);
    size_t refused = 0;

    *refusals = list;
    for (size_t i = 0; i < count; i++)
        if (takes[i].owner && !budget_step(w->budget, w->amount_count))
            take(&l, &takes[i]);
    for (size_t i = 0; i < count && !budget_step(w->budget, w->amount_count); i++) {
        if (takes[i].owner)
            continue;
        if (!is_refused(&l, &takes[i], &list[refused])) {
            take(&l, &takes[i]);
            continue;
        }
        list[refused].take = i;
        find_owners(&l, &list[refused++]);
    }
    return budget_step(w->budget, 0) ? SIZE_MAX : refused;
}

/* world/now_floors.c - what is free for jobs that start at 0.
 *
 * A job that starts now is only hindered by times at which less is free than at all times
 * before: the other steps of a profile are left out, which leaves one step per resource
 * unless something is reserved for later.
 */
#include "algorithms/world/now_parts.h"
#include "algorithms/world/profile.h"

#include <stdlib.h>
#include <string.h>

static void floor_of(struct now *n, const struct profile *p, struct now_floor *f)
{
    int64_t least[AMOUNTS_MAX];
    size_t width = p->amount_count, kept = 0;

    budget_step(n->w->budget, p->count * width);
    for (size_t step = 0; step < p->count; step++) {
        int64_t *free = p->free + step * width;
        bool falls = step == 0;

        for (size_t k = 0; k < width; k++) {
            falls |= step > 0 && free[k] < least[k];
            least[k] = step > 0 && least[k] < free[k] ? least[k] : free[k];
        }
        if (!falls)
            continue;
        p->at_s[kept] = p->at_s[step];
        memcpy(p->free + kept * width, least, width * sizeof(*least));
        kept++;
    }
    *f = (struct now_floor){p->at_s, p->free, kept, width};
}

static bool is_closed(const struct world *w, size_t position)
{
    const struct world_resource *r = &w->resources[position];

    for (size_t i = 0; i < r->holder_count; i++) {
        const struct world_holder *h = &w->holders[r->holders[i]];

        if (h->all && h->start_s <= 0 && h->end_s > 0)
            return true;
    }
    return false;
}

static int rising(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void add_falls(struct now *n, const struct now_floor *f)
{
    for (size_t i = 0; i < f->count; i++)
        n->falls[n->fall_count++] = f->at_s[i];
}

static void collect_falls(struct now *n)
{
    size_t shared = n->w->amount_count - n->w->node_amount_count, count = 1, kept = 0;

    for (size_t i = 0; i < n->w->resource_count; i++)
        count += n->pools[i].floor.count;
    for (size_t k = 0; k < shared; k++)
        count += n->shared[k].count;
    n->falls = NEW(n->a, double, count);
    n->fall_count = 1; /* 0 */
    for (size_t i = 0; i < n->w->resource_count; i++)
        add_falls(n, &n->pools[i].floor);
    for (size_t k = 0; k < shared; k++)
        add_falls(n, &n->shared[k]);
    qsort(n->falls, n->fall_count, sizeof(*n->falls), rising);
    for (size_t i = 0; i < n->fall_count; i++)
        if (i == 0 || n->falls[i] != n->falls[kept - 1])
            n->falls[kept++] = n->falls[i];
    n->fall_count = kept;
}

void now_floors(struct now *n)
{
    const struct world *w = n->w;
    size_t shared = w->amount_count - w->node_amount_count;

    n->pools = NEW(n->a, struct now_pool, w->resource_count);
    n->shared = NEW(n->a, struct now_floor, shared);
    for (size_t i = 0; i < w->resource_count; i++) {
        struct profile p = {0};

        budget_step(w->budget, w->resources[i].holder_count + 1);
        profile_of_resource(w, i, &p, n->a);
        floor_of(n, &p, &n->pools[i].floor);
        n->pools[i].closed = is_closed(w, i);
    }
    for (size_t k = 0; k < shared; k++) {
        struct profile p = {0};

        budget_step(w->budget, w->holder_count);
        profile_of_shared(w, w->node_amount_count + k, &p, n->a);
        floor_of(n, &p, &n->shared[k]);
    }
    collect_falls(n);
}

double now_held_s(const struct now *n, const struct now_class *c, size_t position)
{
    const struct world_job *j = &n->w->jobs[c->sample];

    return world_held_s(n->w, j, world_run_s(n->w, j, position));
}

/* Without a run time it runs for ever; with one that has no value there, it cannot. */
static bool can_run(const struct world *w, const struct world_job *j, size_t position)
{
    if (!j->etc_s && isnan(j->estimate_ref_s) && isnan(j->estimate_s))
        return true;
    return world_full_run_s(w, j, position) < HUGE_VAL;
}

bool now_is_eligible(const struct now *n, const struct now_class *c, size_t position)
{
    const struct world_job *j = &n->w->jobs[c->sample];

    for (size_t i = 0; i < j->choice_count; i++)
        if (world_mask_has(j->choices[i].mask, position))
            return !n->pools[position].closed && can_run(n->w, j, position) &&
                   world_large_enough(n->w, j, position);
    return false;
}

static int64_t room_of(const struct now_floor *f, const int64_t *needs, double held_s,
                       int64_t most)
{
    for (size_t step = 0; most > 0 && step < f->count && f->at_s[step] < held_s; step++) {
        const int64_t *free = f->free + step * f->width;

        for (size_t k = 0; k < f->width; k++) {
            if (needs[k] <= 0)
                continue;
            if (free[k] < needs[k])
                return 0;
            if (needs[k] > free[k] / most)
                most = free[k] / needs[k];
        }
    }
    return most;
}

int64_t now_room(const struct now *n, const struct now_class *c, size_t position,
                 int64_t most)
{
    size_t nodes = n->w->node_amount_count;
    double held_s = now_held_s(n, c, position);

    budget_step(n->w->budget, n->w->amount_count);
    most = room_of(&n->pools[position].floor, c->needs, held_s, most);
    for (size_t k = nodes; most > 0 && k < n->w->amount_count; k++)
        most = room_of(&n->shared[k - nodes], c->needs + k, held_s, most);
    /* A large enough capacity is all that a job of no length needs. */
    for (size_t k = nodes; most > 0 && k < n->w->amount_count; k++)
        if (c->needs[k] > n->w->shared_capacity[k])
            most = 0;
    return most;
}

static void change(struct now_floor *f, const int64_t *needs, double held_s,
                   int64_t count)
{
    for (size_t step = 0; step < f->count && f->at_s[step] < held_s; step++)
        for (size_t k = 0; k < f->width; k++)
            if (needs[k] > 0 && f->free[step * f->width + k] < AMOUNT_UNLIMITED)
                f->free[step * f->width + k] -= count * needs[k];
}

static void change_shared(struct now *n, const int64_t *needs, double held_s,
                          int64_t count)
{
    size_t nodes = n->w->node_amount_count;

    for (size_t k = nodes; k < n->w->amount_count; k++)
        change(&n->shared[k - nodes], needs + k, held_s, count);
}

void now_change(struct now *n, const struct now_class *c, size_t position, int64_t count)
{
    double held_s = now_held_s(n, c, position);

    budget_step(n->w->budget, n->w->amount_count);
    change(&n->pools[position].floor, c->needs, held_s, count);
    change_shared(n, c->needs, held_s, count);
}

void now_take_before(struct now *n)
{
    const struct world *w = n->w;

    for (size_t j = 0; j < w->job_count; j++) {
        const struct world_placed *p;

        if (n->state[j] != NOW_PLACED)
            continue;
        p = &n->in->before->placed[j];
        budget_step(w->budget, (p->position_count + 1) * w->amount_count);
        for (size_t i = 0; i < p->position_count; i++)
            change(&n->pools[p->positions[i]].floor, w->jobs[j].needs, p->end_s, 1);
        change_shared(n, w->jobs[j].needs, p->end_s, 1);
    }
}

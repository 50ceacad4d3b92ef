/* world/stops.c - what to stop for several jobs, one after the other. */
#include "algorithms/world/stops.h"

#include <stdlib.h>
#include <string.h>

struct stopping {
    struct world *w; /* a copy, from which holders are taken */
    struct world_resource *resources;
    struct world_holder *holders;
    struct world_group *groups;
    struct world_plan plan; /* a copy, in which jobs start instead */
    const int64_t *nothing;
    struct preemption *of;
    size_t *jobs;
    struct arena *a;
};

static const size_t *copy_list(const size_t *list, size_t count, struct arena *a)
{
    size_t *copy = NEW(a, size_t, count);

    if (count)
        memcpy(copy, list, count * sizeof(*list));
    return copy;
}

static void copy_world(struct stopping *s, const struct world *w)
{
    s->w = NEW(s->a, struct world, 1);
    s->resources = NEW(s->a, struct world_resource, w->resource_count);
    s->holders = NEW(s->a, struct world_holder, w->holder_count);
    s->groups = NEW(s->a, struct world_group, w->group_count);
    s->nothing = NEW(s->a, int64_t, w->amount_count);
    *s->w = *w;
    for (size_t i = 0; i < w->resource_count; i++) {
        budget_step(w->budget, w->resources[i].holder_count + 1);
        s->resources[i] = w->resources[i];
        s->resources[i].holders =
            copy_list(w->resources[i].holders, w->resources[i].holder_count, s->a);
    }
    for (size_t i = 0; i < w->holder_count; i++)
        s->holders[i] = w->holders[i];
    for (size_t i = 0; i < w->group_count; i++) {
        budget_step(w->budget, w->groups[i].holder_count + 1);
        s->groups[i] = w->groups[i];
        s->groups[i].holders =
            copy_list(w->groups[i].holders, w->groups[i].holder_count, s->a);
    }
    s->w->resources = s->resources;
    s->w->holders = s->holders;
    s->w->groups = s->groups;
}

static void copy_plan(struct stopping *s, const struct world_plan *plan)
{
    size_t count = s->w->job_count;

    s->plan = *plan;
    s->plan.placed = NEW(s->a, struct world_placed, count);
    s->plan.sequence = NEW(s->a, size_t, count);
    for (size_t i = 0; i < count; i++)
        s->plan.placed[i] = plan->placed[i];
    for (size_t k = 0; k < plan->placed_count; k++)
        s->plan.sequence[k] = plan->sequence[k];
}

/* Takes the number from a list that is ours. */
static size_t without(const size_t *list, size_t count, size_t number)
{
    size_t *own = (size_t *)list, kept = 0;

    for (size_t i = 0; i < count; i++)
        if (own[i] != number)
            own[kept++] = own[i];
    return kept;
}

static void stop_one(struct stopping *s, size_t holder)
{
    struct world_holder *h = &s->holders[holder];

    for (size_t k = 0; k < h->position_count; k++) {
        struct world_resource *r = &s->resources[h->positions[k]];

        budget_step(s->w->budget, r->holder_count);
        r->holder_count = without(r->holders, r->holder_count, holder);
    }
    if (h->group != WORLD_NONE) {
        struct world_group *g = &s->groups[h->group];

        g->holder_count = without(g->holders, g->holder_count, holder);
    }
    h->amounts = s->nothing;
    h->position_count = 0;
    h->start_s = h->end_s = 0;
    h->end_unknown = h->preemptible = false;
}

/* In the plan the job starts now, there. */
static void start_instead(struct stopping *s, size_t job, const struct preemption *x)
{
    const struct world_job *j = &s->w->jobs[job];
    struct world_placed *placed = &s->plan.placed[job];
    double run_s = 0;

    for (size_t k = 0; k < x->position_count; k++)
        run_s = fmax(run_s, world_run_s(s->w, j, x->positions[k]));
    if (!placed->positions)
        s->plan.sequence[s->plan.placed_count++] = job;
    *placed = (struct world_placed){
        .positions = x->positions,
        .position_count = x->position_count,
        .choice = x->choice,
        .run_s = run_s,
        .end_s = world_held_s(s->w, j, run_s),
        .done_s = run_s,
        .wait_on = WORLD_NONE,
    };
}

/* A job that asks. */
struct asker {
    size_t job;
    double priority;
};

static int by_priority(const void *left, const void *right)
{
    const struct asker *a = left, *b = right;

    if (a->priority != b->priority)
        return a->priority > b->priority ? -1 : 1;
    return (a->job > b->job) - (a->job < b->job);
}

static bool asks(const struct world *w, const struct world_plan *plan, size_t job)
{
    const struct world_placed *placed = &plan->placed[job];

    return w->jobs[job].barred == WORLD_WAIT_NONE && w->jobs[job].earliest_s <= 0 &&
           !(placed->positions && placed->start_s <= 0);
}

void world_stop(const struct world *w, const struct world_plan *plan, const bool *wants,
                struct world_stops *out, struct arena *a)
{
    struct stopping s = {.a = a,
                         .of = NEW(a, struct preemption, w->job_count),
                         .jobs = NEW(a, size_t, w->job_count)};
    struct asker *askers = NEW(a, struct asker, w->job_count);
    size_t count = 0;

    copy_world(&s, w);
    copy_plan(&s, plan);
    for (size_t i = 0; i < w->job_count; i++)
        if (wants[i] && asks(w, plan, i))
            askers[count++] = (struct asker){i, w->jobs[i].priority};
    qsort(askers, count, sizeof(*askers), by_priority);
    *out = (struct world_stops){.world = s.w, .jobs = s.jobs, .of = s.of};
    for (size_t i = 0; i < count; i++) {
        struct preemption x;

        if (budget_step(w->budget, w->resource_count + 1))
            break;
        world_preempt(s.w, &s.plan, askers[i].job, 0, &x, a);
        if (!x.possible)
            continue;
        for (size_t k = 0; k < x.stop_count; k++)
            stop_one(&s, x.stop[k]);
        start_instead(&s, askers[i].job, &x);
        if (x.stop_count == 0)
            continue;
        s.jobs[out->count] = askers[i].job;
        s.of[out->count++] = x;
        out->stop_count += x.stop_count;
    }
}

/* world/now.c - which of the ready jobs start at this moment. */
#include "algorithms/world/now_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the plan ---- */

static size_t choice_of(const struct world_job *j, size_t position)
{
    size_t i = 0;

    while (i + 1 < j->choice_count && !world_mask_has(j->choices[i].mask, position))
        i++;
    return i;
}

static struct world_placed place(const struct now *n, size_t job, const size_t *position)
{
    const struct world_job *j = &n->w->jobs[job];
    double full_s = world_full_run_s(n->w, j, *position);
    double run_s = world_run_s(n->w, j, *position);

    return (struct world_placed){
        .positions = position,
        .position_count = 1,
        .choice = choice_of(j, *position),
        .run_s = run_s,
        .end_s = world_held_s(n->w, j, run_s),
        .done_s = run_s,
        .killed = full_s < HUGE_VAL && full_s > j->time_limit_s,
        .wait_on = WORLD_NONE,
    };
}

/* Why a job is not ready: of those that it waits for the first that does not start. */
static void say_wait(const struct now *n, size_t job, struct world_plan *plan)
{
    const struct world_job *j = &n->w->jobs[job];
    struct world_placed *p = &plan->placed[job];

    p->wait = WORLD_WAIT_NOT_RELEASED;
    if (j->barred != WORLD_WAIT_NONE) {
        p->wait = j->barred;
        return;
    }
    if (j->choice_count == 0) {
        p->wait = WORLD_WAIT_FILTERED;
        return;
    }
    budget_step(n->w->budget, j->after_count + 1);
    for (size_t k = 0; k < j->after_count; k++)
        if (!plan->placed[j->after[k].job].positions) {
            p->wait = WORLD_WAIT_AFTER_UNPLACED;
            p->wait_on = j->after[k].job;
            return;
        }
}

/* Members of a class start in their order, on the resources by position. */
static void place_members(const struct now *n, struct world_plan *plan)
{
    size_t *next = NEW(n->a, size_t, n->class_count);
    size_t *position = NEW(n->a, size_t, n->w->resource_count);

    for (size_t i = 0; i < n->w->resource_count; i++) {
        const struct now_pool *pool = &n->pools[i];

        position[i] = i;
        for (size_t t = 0; t < pool->take_count; t++) {
            const struct now_class *c = &n->classes[pool->takes[t].class];

            budget_step(n->w->budget, (size_t)pool->takes[t].count);
            for (int64_t m = 0; m < pool->takes[t].count; m++) {
                size_t job = n->members[c->first + next[pool->takes[t].class]++];

                plan->placed[job] = place(n, job, &position[i]);
                plan->sequence[plan->placed_count++] = job;
            }
        }
    }
}

static int by_job(const void *a, const void *b)
{
    const struct now_start *x = a, *y = b;

    if (x->job != y->job)
        return x->job < y->job ? -1 : 1;
    return (x->position > y->position) - (x->position < y->position);
}

/* Members in their order, each as often as it stands for, on the resources by
 * position. */
static void list_starts(const struct now *n, struct now_out *out)
{
    size_t *next = NEW(n->a, size_t, n->class_count), most = n->ready_count;
    int64_t *used = NEW(n->a, int64_t, n->class_count); /* of members[next] */
    struct now_start *list;

    for (size_t i = 0; i < n->w->resource_count; i++)
        most += n->pools[i].take_count;
    list = NEW(n->a, struct now_start, most);
    for (size_t i = 0; i < n->w->resource_count; i++)
        for (size_t t = 0; t < n->pools[i].take_count; t++) {
            size_t class = n->pools[i].takes[t].class;
            int64_t left = n->pools[i].takes[t].count;

            while (left > 0) {
                size_t job = n->members[n->classes[class].first + next[class]];
                int64_t of = now_alike(n, job) - used[class];

                budget_step(n->w->budget, 1);
                of = of < left ? of : left;
                list[out->start_count++] = (struct now_start){job, i, of};
                left -= of;
                used[class] += of;
                if (used[class] < now_alike(n, job))
                    continue;
                next[class]++;
                used[class] = 0;
            }
        }
    qsort(list, out->start_count, sizeof(*list), by_job);
    out->starts = list;
}

static int rising(const void *a, const void *b)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;

    return (x > y) - (x < y);
}

static size_t started_count(const struct now *n)
{
    size_t count = 0;

    for (size_t i = 0; i < n->class_count; i++)
        count +=
            (size_t)(n->classes[i].apart ? n->classes[i].count : n->classes[i].started);
    return count;
}

static void make_plan(const struct now *n, struct world_plan *plan)
{
    const struct world *w = n->w;

    plan->placed = NEW(n->a, struct world_placed, w->job_count);
    plan->sequence = NEW(n->a, size_t, started_count(n));
    for (size_t j = 0; j < w->job_count; j++) {
        plan->placed[j].wait_on = WORLD_NONE;
        plan->placed[j].wait = WORLD_WAIT_NO_FREE_NOW;
        if (n->state[j] != NOW_PLACED)
            continue;
        plan->placed[j] = n->in->before->placed[j];
        plan->sequence[plan->placed_count++] = j;
    }
    if (!n->in->counts)
        place_members(n, plan);
    for (size_t j = 0; j < w->job_count; j++)
        if (n->state[j] == NOW_WAITS)
            say_wait(n, j, plan);
    qsort(plan->sequence, plan->placed_count, sizeof(*plan->sequence), rising);
    plan->cut = budget_spent(w->budget);
}

/* ---- values and bounds ---- */

static void sum_values(const struct now *n, struct now_tier *tiers, int64_t *scaled)
{
    for (size_t i = 0; i < n->class_count; i++) {
        const struct now_class *c = &n->classes[i];

        int64_t count = c->started;

        for (size_t m = 0; c->apart && m < (size_t)c->count; m++)
            count += n->state[n->members[c->first + m]] == NOW_PLACED;
        tiers[c->rank].value += (double)count * c->weight;
        scaled[c->rank] += count * c->scaled;
    }
}

static bool has_apart(const struct now *n)
{
    for (size_t i = 0; i < n->class_count; i++)
        if (n->classes[i].apart)
            return true;
    return false;
}

static void say_tiers(const struct now *n, const int64_t *values, const int64_t *bounds,
                      struct now_out *out)
{
    out->proven = true;
    for (size_t t = 0; t < n->rank_count; t++) {
        struct now_tier *tier = &out->tiers[t];

        tier->partition_tier = n->tier_of[t];
        tier->priority = n->priority_of[t];
        tier->proven = values[t] >= bounds[t] && !n->rounded;
        tier->bound = tier->proven
                          ? tier->value
                          : fmax(tier->value, ((double)bounds[t] +
                                               (n->scale == 1 ? 0 : n->alike_count)) /
                                                  n->scale);
        out->proven &= tier->proven;
    }
    out->tier_count = n->rank_count;
}

void world_start_now(const struct now_in *in, struct now_out *out, struct arena *a)
{
    struct now n = {.w = in->w, .in = in, .a = a};
    struct knapsack_tier exact[KNAPSACK_TIERS_MAX] = {{0}};
    int64_t values[KNAPSACK_TIERS_MAX] = {0}, bounds[KNAPSACK_TIERS_MAX] = {0};
    bool one;

    *out = (struct now_out){0};
    n.scratch = arena_create_beside(a, arena_cap_bytes(a));
    now_floors(&n);
    now_classes(&n);
    one = in->w->resource_count == 1 && !has_apart(&n);
    if (!one)
        now_sum(&n);
    now_take_before(&n);
    if (one)
        now_solve_pool(&n, 0, in->max_nodes, exact);
    else
        now_solve_pools(&n);
    now_fill(&n);
    make_plan(&n, &out->plan);
    if (in->counts)
        list_starts(&n, out);
    sum_values(&n, out->tiers, values);
    for (size_t t = 0; t < n.rank_count; t++)
        bounds[t] = exact[t].bound;
    if (!one)
        knapsack_bounds(&n.sum, values, bounds, a);
    arena_close(n.scratch);
    say_tiers(&n, values, bounds, out);
    out->class_count = n.class_count;
    out->node_count = n.nodes;
    out->round_count = n.rounds;
}

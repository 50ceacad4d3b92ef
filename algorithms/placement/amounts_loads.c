/* placement/amounts_loads.c - what a plan of amounts means for each resource. */
#include "algorithms/placement/amounts_loads.h"

#include "models/base/precise_sum.h"

#include <stdlib.h>
#include <string.h>

/* Something that is on a resource for a while. */
struct stay {
    size_t position;
    double start_s, end_s;
    size_t number; /* in the order of placing; what runs comes first */
    size_t job;    /* WORLD_NONE: what runs: */
    size_t count;  /* ... so many jobs */
};

static int by_place(const void *a, const void *b)
{
    const struct stay *x = a, *y = b;

    if (x->position != y->position)
        return x->position < y->position ? -1 : 1;
    if ((x->job == WORLD_NONE) != (y->job == WORLD_NONE)) /* what runs is there first */
        return x->job == WORLD_NONE ? -1 : 1;
    if (x->start_s != y->start_s)
        return x->start_s < y->start_s ? -1 : 1;
    if (x->end_s != y->end_s)
        return x->end_s < y->end_s ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

/* What runs where jobs are counted. */
static size_t add_running(const struct world *w, struct stay *list)
{
    size_t count = 0;

    for (size_t h = 0; h < w->holder_count; h++) {
        const struct world_holder *holder = &w->holders[h];

        budget_step(w->budget, 1 + holder->position_count);
        for (size_t k = 0; k < holder->position_count; k++)
            if (holder->amounts[AMOUNT_JOBS] > 0)
                list[count++] = (struct stay){
                    holder->positions[k], holder->start_s,
                    holder->end_s,        0,
                    WORLD_NONE,           (size_t)holder->amounts[AMOUNT_JOBS]};
    }
    return count;
}

static struct stay *list_stays(const struct world *w, const struct world_plan *plan,
                               size_t *count, struct arena *a)
{
    size_t room = 0, filled;
    struct stay *list;

    for (size_t h = 0; h < w->holder_count; h++)
        room += w->holders[h].position_count;
    for (size_t k = 0; k < plan->placed_count; k++)
        room += plan->placed[plan->sequence[k]].position_count;
    list = NEW(a, struct stay, room);
    filled = add_running(w, list);
    for (size_t k = 0; k < plan->placed_count; k++) {
        size_t job = plan->sequence[k];
        const struct world_placed *x = &plan->placed[job];

        budget_step(w->budget, x->position_count);
        for (size_t i = 0; i < x->position_count; i++)
            list[filled++] =
                (struct stay){x->positions[i], x->start_s, x->end_s, k + 1, job, 1};
    }
    qsort(list, filled, sizeof(*list), by_place);
    *count = filled;
    return list;
}

/* The lowest slot that is free at the start, each to its job. end_s: of the slots. */
static void number_slots(const struct world *w, const struct stay *list, size_t count,
                         double *end_s, uint64_t *slots)
{
    size_t used = 0;

    for (size_t i = 0; i < count; i++) {
        const struct stay *s = &list[i];
        size_t slot = 0;

        if (!(s->end_s > s->start_s))
            continue;
        for (size_t n = 0; n < s->count; n++) {
            while (slot < used && end_s[slot] > s->start_s)
                slot++;
            budget_step(w->budget, slot + 1);
            used += slot == used;
            end_s[slot] = s->end_s;
        }
        if (s->job != WORLD_NONE && w->jobs[s->job].nodes == 1)
            slots[s->job] = slot;
    }
}

/* How long a planned job uses what it takes: until it is done, also where plan_with holds
 * its amounts for longer. */
static long double used_s(const struct world_plan *plan, const struct stay *s)
{
    return (long double)fmin(s->end_s, plan->placed[s->job].done_s) - s->start_s;
}

/* The time of a resource that is used by planned jobs, as part of its most used amount;
 * to be divided by the makespan. */
static double most_used_s(const struct world *w, const struct world_plan *plan,
                          const struct stay *list, size_t count)
{
    const int64_t *capacity = w->resources[list->position].capacity;
    double most_s = 0;

    for (size_t k = 0; k < w->node_amount_count; k++) {
        struct precise_sum taken = {0}; /* amount times seconds */

        if (k == AMOUNT_PRESENCE || capacity[k] <= 0 || capacity[k] >= AMOUNT_UNLIMITED)
            continue;
        budget_step(w->budget, count);
        for (size_t i = 0; i < count; i++)
            if (list[i].job != WORLD_NONE && list[i].end_s < HUGE_VAL)
                precise_add(&taken, (long double)w->jobs[list[i].job].needs[k] *
                                        used_s(plan, &list[i]));
        most_s = fmax(most_s, (double)(precise_total(&taken) / capacity[k]));
    }
    return most_s;
}

static struct placement_load load_of(const struct world *w, const struct world_plan *plan,
                                     const struct stay *list, size_t count)
{
    struct placement_load load = {.resource_id = w->resources[list->position].id};
    struct precise_sum busy_s = {0};

    for (size_t i = 0; i < count; i++) {
        if (list[i].job == WORLD_NONE)
            continue;
        load.job_count++;
        if (!(list[i].end_s < HUGE_VAL)) /* not known */
            continue;
        precise_add(&busy_s, used_s(plan, &list[i]));
        load.finish_s = fmax(load.finish_s, plan->placed[list[i].job].done_s);
    }
    load.busy_s = (double)precise_total(&busy_s);
    if (load.job_count)
        load.utilisation_ratio = most_used_s(w, plan, list, count);
    return load;
}

/* In the order of the snapshot. */
static size_t sort_loads(const struct placement_problem *p,
                         const struct placement_load *by_position,
                         struct placement_load *list)
{
    size_t count = 0;

    for (size_t i = 0; i < p->resource_count; i++)
        if (by_position[p->position_of[i]].job_count)
            list[count++] = by_position[p->position_of[i]];
    return count;
}

void amounts_loads(struct placement_problem *p, const struct world *w,
                   const struct world_plan *plan, uint64_t *slots,
                   struct placement_out *out)
{
    struct placement_load *loads =
        NEW(p->arena, struct placement_load, w->resource_count);
    struct placement_load *sorted =
        NEW(p->arena, struct placement_load, w->resource_count);
    size_t count, most = 1, first = 0;
    struct stay *list = list_stays(w, plan, &count, p->arena);
    double *end_s;

    for (size_t i = 0; i < count; i++)
        most += list[i].count;
    end_s = NEW(p->arena, double, most);
    for (size_t i = 0; i < w->job_count; i++)
        slots[i] = UINT64_MAX;
    for (size_t i = 1; i <= count; i++) {
        size_t position = list[first].position;

        if (i < count && list[i].position == position)
            continue;
        loads[position] = load_of(w, plan, &list[first], i - first);
        if (w->resources[position].capacity[AMOUNT_JOBS] < AMOUNT_UNLIMITED)
            number_slots(w, &list[first], i - first, end_s, slots);
        first = i;
    }
    out->load_count = sort_loads(p, loads, sorted);
    out->loads = sorted;
}

void amounts_finish_loads(const struct world *w, struct placement_out *out)
{
    struct placement_load *loads = (struct placement_load *)out->loads;
    double makespan_s = out->objective.makespan_s, sum = 0;

    (void)w;
    for (size_t i = 0; i < out->load_count; i++) {
        loads[i].utilisation_ratio =
            makespan_s > 0 ? loads[i].utilisation_ratio / makespan_s : 0;
        sum += loads[i].utilisation_ratio;
    }
    if (out->load_count)
        out->objective.utilisation_ratio = sum / (double)out->load_count;
}

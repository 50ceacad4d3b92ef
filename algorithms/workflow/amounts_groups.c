/* workflow/amounts_groups.c - rules that tasks keep together.
 *
 * The board of the world keeps them (world/board_groups.c). Tasks of the request that run
 * are members that have their places already, as other running jobs; of a pack those
 * that are done, too.
 *
 * Gangs and packs are placed as one unit (amounts_units.c), when all their parents
 * outside have places, so that no way may lead from one member to another through other
 * tasks. Rounds keep groups by round_members.c and round_units.c.
 */
#include "algorithms/workflow/amounts_parts.h"

#include <stdio.h>
#include <string.h>

/* ---- circles ---- */

/* Jobs and units, by number: a unit behind all jobs; how many each still waits for. */
struct units_graph {
    const struct world *w;
    size_t *waits_for;
    size_t *first, *behind; /* behind[first[i] .. first[i + 1]]: who waits for i */
    size_t count;
};

static size_t node_of(const struct world *w, size_t job)
{
    size_t g = w->jobs[job].group;

    return g != WORLD_NONE && (w->groups[g].policy == GROUP_GANG ||
                               w->groups[g].policy == GROUP_PACK)
               ? w->job_count + g
               : job;
}

/* Between members of one pack tasks may wait for each other. */
static bool is_inside_pack(const struct world *w, size_t job, size_t other)
{
    size_t node = node_of(w, job);

    return node >= w->job_count && node == node_of(w, other) &&
           w->groups[w->jobs[job].group].policy == GROUP_PACK;
}

static void join(struct units_graph *u, struct arena *a)
{
    const struct world *w = u->w;
    size_t edges = 0, *at;

    u->count = w->job_count + w->group_count;
    u->waits_for = NEW(a, size_t, u->count);
    u->first = NEW(a, size_t, u->count + 1);
    at = NEW(a, size_t, u->count);
    for (int fills = 0; fills < 2; fills++) {
        for (size_t i = 0; i < w->job_count; i++)
            for (size_t k = 0; k < w->jobs[i].after_count; k++) {
                size_t other = w->jobs[i].after[k].job, from = node_of(w, other);

                budget_step(w->budget, 1);
                if (is_inside_pack(w, i, other))
                    continue;
                if (fills)
                    u->behind[u->first[from] + at[from]++] = node_of(w, i);
                else
                    u->first[from + 1]++;
                u->waits_for[node_of(w, i)] += !fills;
            }
        for (size_t i = 0; !fills && i < u->count; i++)
            edges = u->first[i + 1] += edges;
        if (!fills)
            u->behind = NEW(a, size_t, edges);
    }
}

/* Takes what waits for nobody, and so on; what stays is on a circle, or behind one. */
static void take_free(struct units_graph *u, struct arena *a)
{
    size_t *list = NEW(a, size_t, u->count), count = 0;

    for (size_t i = 0; i < u->count; i++)
        if (u->waits_for[i] == 0)
            list[count++] = i;
    for (size_t k = 0; k < count; k++)
        for (size_t e = u->first[list[k]]; e < u->first[list[k] + 1]; e++) {
            budget_step(u->w->budget, 1);
            if (--u->waits_for[u->behind[e]] == 0)
                list[count++] = u->behind[e];
        }
}

/* From somebody on or behind a circle back along those that are waited for, as often as
 * there are nodes: then it is on one. */
static size_t on_circle(const struct units_graph *u, struct arena *a)
{
    size_t *waited = NEW(a, size_t, u->count), at = WORLD_NONE;

    for (size_t i = 0; i < u->count; i++) {
        budget_step(u->w->budget, 1 + u->first[i + 1] - u->first[i]);
        for (size_t e = u->first[i]; u->waits_for[i] && e < u->first[i + 1]; e++)
            waited[u->behind[e]] = i;
        if (u->waits_for[i])
            at = i;
    }
    for (size_t k = 0; at != WORLD_NONE && k < u->count; k++)
        at = waited[at];
    for (size_t k = 0; at != WORLD_NONE && at < u->w->job_count && k < u->count; k++)
        at = waited[at]; /* to a unit: tasks alone have no circle */
    return at;
}

void workflow_amounts_check_circles(const struct workflow_amounts *x, struct error *err)
{
    struct units_graph u = {.w = x->w};
    char pointer[64];
    size_t node, job = 0;

    for (size_t g = 0; g < x->w->group_count && job == 0; g++)
        job +=
            x->w->groups[g].policy == GROUP_GANG || x->w->groups[g].policy == GROUP_PACK;
    if (job == 0)
        return;
    join(&u, x->arena);
    take_free(&u, x->arena);
    node = on_circle(&u, x->arena);
    if (node == WORLD_NONE || node < x->w->job_count)
        return;
    job = x->w->groups[node - x->w->job_count].jobs[0];
    for (size_t i = 0; i < x->w->groups[node - x->w->job_count].job_count; i++)
        if (x->w->jobs[x->w->groups[node - x->w->job_count].jobs[i]].after_count)
            job = x->w->groups[node - x->w->job_count].jobs[i];
    snprintf(pointer, sizeof(pointer), "/jobs/%zu/depends_on", job);
    invalid(err, pointer, ITEM_CYCLE,
            "what is placed as one waits for itself: group '%s'",
            x->w->groups[node - x->w->job_count].id);
}

size_t workflow_amounts_group(const struct workflow_amounts *x,
                              const struct workflow_task *t)
{
    size_t g = t->group ? name_index_find(&x->groups, t->group->id) : NAME_NOT_FOUND;

    return g == NAME_NOT_FOUND ? WORLD_NONE : g;
}

size_t workflow_amounts_pack_left(const struct workflow_amounts *x, size_t task)
{
    const struct workflow_task *t = x->problem->tasks[task];
    size_t g =
        t->status == WORKFLOW_DONE ? workflow_amounts_group(x, t) : (size_t)WORLD_NONE;

    return g != WORLD_NONE && x->w->groups[g].policy == GROUP_PACK ? g : WORLD_NONE;
}

void workflow_amounts_name_groups(struct workflow_amounts *x)
{
    budget_step(x->w->budget, x->w->group_count);
    name_index_create(&x->groups, x->w->group_count, x->arena);
    for (size_t g = 0; g < x->w->group_count; g++)
        name_index_add(&x->groups, x->w->groups[g].id, g);
}

void workflow_amounts_join_groups(struct workflow_amounts *x,
                                  const struct world_holder *holders, size_t first,
                                  size_t end)
{
    size_t count = x->w->group_count;
    struct world_group *groups = NEW(x->arena, struct world_group, count);
    size_t *more = NEW(x->arena, size_t, count);

    memcpy(groups, x->w->groups, count * sizeof(*groups));
    for (size_t h = first; h < end; h++)
        if (holders[h].group != WORLD_NONE)
            more[holders[h].group]++;
    for (size_t g = 0; g < count; g++) {
        size_t had = groups[g].holder_count, *list;

        if (more[g] == 0)
            continue;
        budget_step(x->w->budget, had + more[g]);
        list = NEW(x->arena, size_t, had + more[g]);
        memcpy(list, groups[g].holders, had * sizeof(*list));
        groups[g].holders = list;
    }
    for (size_t h = first; h < end; h++)
        if (holders[h].group != WORLD_NONE) {
            struct world_group *g = &groups[holders[h].group];

            ((size_t *)g->holders)[g->holder_count++] = h;
        }
    x->w->groups = groups;
}

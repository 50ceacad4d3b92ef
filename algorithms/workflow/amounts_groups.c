/* workflow/amounts_groups.c - rules that tasks keep together.
 *
 * The board of the world keeps them (world/board_groups.c). Tasks of the request that run
 * are members that have their places already, as other running jobs.
 *
 * Deviation (ours): a gang or a pack is placed as one unit, when the data of all its
 * members could be there; plans of workflows place one task at a time, and refuse them.
 * In a round, which starts what it can, no group is looked at.
 */
#include "algorithms/workflow/amounts_parts.h"

#include <stdio.h>
#include <string.h>

void workflow_amounts_check_groups(const struct workflow_amounts *x,
                                   const struct job *jobs, size_t count,
                                   struct error *err)
{
    for (size_t i = 0; i < count; i++) {
        const struct job_group *g = jobs[i].group;
        char pointer[64];

        if (!g)
            continue;
        snprintf(pointer, sizeof(pointer), "/jobs/%zu/group", i);
        if (x->runs)
            invalid(err, pointer, ITEM_NOT_APPLICABLE,
                    "a round starts task by task and looks at no groups; plan with heft "
                    "or auto, or leave it out");
        else if (g->policy != JOB_SPREAD && g->policy != JOB_EXCLUDE)
            invalid(err, pointer, ITEM_NOT_APPLICABLE,
                    "workflows are planned task by task, with groups that spread or "
                    "exclude; POST /v1/placements takes gangs and packs of ready jobs");
    }
}

size_t workflow_amounts_group(const struct workflow_amounts *x,
                              const struct workflow_task *t)
{
    size_t g = 0;

    if (!t->group)
        return WORLD_NONE;
    budget_step(x->w->budget, x->w->group_count);
    while (g < x->w->group_count && strcmp(x->w->groups[g].id, t->group->id) != 0)
        g++;
    return g < x->w->group_count ? g : WORLD_NONE;
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

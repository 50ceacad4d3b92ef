/* world/queue_units.c - gangs and packs in a queue that is played by events. */
#include "algorithms/world/queue_parts.h"

static const struct world_group *unit_of(const struct board *b, size_t job)
{
    return b->groups && board_is_unit(b, job) ? &b->w->groups[b->w->jobs[job].group]
                                              : NULL;
}

bool queue_unit_is_whole(const struct board *b, size_t job)
{
    const struct world_group *g = unit_of(b, job);
    size_t open = 0;

    if (!g || b->state[job] != BOARD_OPEN)
        return false;
    budget_step(b->w->budget, g->job_count);
    for (size_t i = 0; i < g->job_count; i++) {
        if (b->state[g->jobs[i]] == BOARD_PLACED)
            return false;
        open += b->state[g->jobs[i]] == BOARD_OPEN;
    }
    return g->policy == GROUP_PACK || open == g->job_count;
}

/* It waits for another member. */
static bool waits_inside(const struct board *b, size_t job)
{
    const struct world_job *j = &b->w->jobs[job];

    budget_step(b->w->budget, j->after_count);
    for (size_t k = 0; k < j->after_count; k++)
        if (b->w->jobs[j->after[k].job].group == j->group)
            return true;
    return false;
}

bool queue_unit_is_ready(const struct board *b, size_t job, double now_s)
{
    const struct world_group *g = unit_of(b, job);
    size_t ready = 0, open = 0;

    for (size_t i = 0; i < g->job_count; i++) {
        size_t member = g->jobs[i];

        budget_step(b->w->budget, 1);
        open += b->state[member] == BOARD_OPEN;
        ready += b->state[member] == BOARD_OPEN && !waits_inside(b, member) &&
                 board_release_s(b, member) <= now_s;
    }
    return (g->policy == GROUP_GANG ? ready == open : ready > 0) &&
           board_unit_is_due(b, job);
}

double queue_unit_place(struct board *b, size_t job, double now_s)
{
    const struct world_group *g = unit_of(b, job);
    double last_s = -1;

    board_place_unit_from(b, job, now_s);
    budget_step(b->w->budget, g->job_count);
    for (size_t i = 0; i < g->job_count; i++)
        if (b->state[g->jobs[i]] == BOARD_PLACED)
            last_s = fmax(last_s, b->plan.placed[g->jobs[i]].start_s);
    return last_s < 0 ? HUGE_VAL : last_s;
}

void queue_unit_take_back(struct board *b, size_t job, double after_s)
{
    const struct world_group *g = unit_of(b, job);

    budget_step(b->w->budget, g->job_count);
    for (size_t i = 0; i < g->job_count; i++) {
        size_t member = g->jobs[i];

        if (b->state[member] == BOARD_PLACED && b->plan.placed[member].start_s > after_s)
            board_give(b, member);
    }
}

void queue_unit_reopen(struct board *b, size_t job)
{
    const struct world_group *g = unit_of(b, job);

    budget_step(b->w->budget, g->job_count);
    for (size_t i = 0; i < g->job_count; i++)
        if (b->state[g->jobs[i]] == BOARD_REFUSED &&
            b->w->jobs[g->jobs[i]].barred == WORLD_WAIT_NONE)
            board_reopen(b, g->jobs[i]);
}

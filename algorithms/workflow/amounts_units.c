/* workflow/amounts_units.c - gangs and packs of tasks.
 *
 * A unit has its turn when the parents of all its members have places, those inside a
 * pack apart, at the largest priority of its members.
 *
 * Gang: at one time after another all members are put on resources where their data are
 * by then, those with the largest share of a capacity first, each where it runs shortest.
 * The times are those at which each member alone could start, ends of what is taken, and
 * arrivals of data. Not always the earliest (that is bin packing), but all together.
 *
 * Pack: for each value of the key the members in the order of their turns, each where it
 * ends first there; then the value that takes most of them, with the least last finish,
 * least sum of finishes, first resource.
 *
 * Source: world-model.md 2.4, 4.2, 8.
 * Cost: members * resources for each time, or value, and the fits.
 */
#include "algorithms/workflow/amounts_parts.h"
#include "algorithms/workflow/list.h"
#include "algorithms/world/board_groups.h"

#include <string.h>

/* Times at which a gang is tried; then only the last end. */
enum { TIMES_MAX = 4096 };

/* Members of a group that had their turn. */
struct unit {
    size_t *tasks, count;
};

struct workflow_amounts_units {
    struct unit *of; /* by group */
    struct arena *scratch;
};

/* The unit at hand. */
struct at_hand {
    struct workflow_amounts *x;
    struct workflow_plan *plan;
    const struct world_group *g;
    size_t group;
    const size_t *tasks; /* members, in the order in which they are placed */
    size_t count;
};

/* ---- turns ---- */

static const struct world_group *unit_of(const struct workflow_amounts *x, size_t task)
{
    size_t group = x->w->jobs[x->job_of[task]].group;
    const struct world_group *g = group == WORLD_NONE ? NULL : &x->w->groups[group];

    return g && (g->policy == GROUP_GANG || g->policy == GROUP_PACK) ? g : NULL;
}

bool workflow_amounts_is_unit(const struct workflow_amounts *x, size_t task)
{
    return unit_of(x, task) != NULL;
}

struct workflow_amounts_units *
workflow_amounts_units_make(const struct workflow_amounts *x, struct arena *scratch)
{
    struct workflow_amounts_units *units = NEW(scratch, struct workflow_amounts_units, 1);

    units->scratch = scratch;
    units->of = NEW(scratch, struct unit, x->w->group_count);
    for (size_t g = 0; g < x->w->group_count; g++)
        units->of[g].tasks = NEW(scratch, size_t, x->w->groups[g].job_count);
    return units;
}

const double *workflow_amounts_turns(const struct workflow_amounts *x,
                                     const double *priority, struct arena *scratch)
{
    double *turns, *most;

    if (x->w->group_count == 0)
        return priority;
    turns = NEW(scratch, double, x->problem->task_count);
    most = NEW(scratch, double, x->w->group_count);
    memcpy(turns, priority, x->problem->task_count * sizeof(*turns));
    for (size_t g = 0; g < x->w->group_count; g++)
        most[g] = -HUGE_VAL;
    for (size_t k = 0; k < x->w->job_count; k++)
        if (unit_of(x, x->task_of[k]))
            most[x->w->jobs[k].group] =
                fmax(most[x->w->jobs[k].group], priority[x->task_of[k]]);
    for (size_t k = 0; k < x->w->job_count; k++)
        if (unit_of(x, x->task_of[k]))
            turns[x->task_of[k]] = most[x->w->jobs[k].group];
    return turns;
}

static bool has_place(const struct at_hand *u, size_t task)
{
    return board_plan(u->x->board)->placed[u->x->job_of[task]].positions != NULL;
}

static void give_back(const struct at_hand *u)
{
    budget_step(u->x->w->budget, u->count);
    for (size_t i = 0; i < u->count; i++)
        if (has_place(u, u->tasks[i])) {
            board_give(u->x->board, u->x->job_of[u->tasks[i]]);
            workflow_plan_unset(u->x->problem, u->plan, u->tasks[i]);
        }
}

/* Who could have a place alone waits for the others. */
static void refuse_rest(const struct at_hand *u, enum world_wait wait)
{
    struct workflow_amounts *x = u->x;
    size_t value = board_set_pack_value(x->board, u->group, PACK_ANYWHERE);

    for (size_t i = 0; i < u->count; i++) {
        size_t job = x->job_of[u->tasks[i]];
        struct board_spot alone;

        if (has_place(u, u->tasks[i]))
            continue;
        alone = workflow_amounts_best(x, u->plan, u->tasks[i], 0, x->w->resource_count);
        board_refuse(x->board, job, alone.positions ? wait : x->w->jobs[job].barred,
                     alone.positions ? u->group : WORLD_NONE);
    }
    board_set_pack_value(x->board, u->group, value);
}

/* ---- gang ---- */

static double ready_at(const struct at_hand *u, size_t task, size_t position)
{
    return workflow_plan_ready_s(u->x->problem, u->plan, task,
                                 u->x->w->resources[position].index);
}

static bool may_run_at(const struct world *w, const struct world_job *j, size_t choice,
                       size_t position)
{
    return world_mask_has(j->choices[choice].mask, position) &&
           world_run_s(w, j, position) < HUGE_VAL;
}

/* The least start of the task alone, from from_s on. */
static double first_start(const struct at_hand *u, size_t task, double from_s)
{
    const struct world *w = u->x->w;
    size_t job = u->x->job_of[task];
    const struct world_job *j = &w->jobs[job];
    double first_s = HUGE_VAL;

    budget_step(w->budget, w->resource_count);
    if (j->barred != WORLD_WAIT_NONE || !board_shared_is_enough(u->x->board, job))
        return HUGE_VAL;
    if (j->nodes > 1) {
        struct board_reach reach = {.latest_s = HUGE_VAL};
        struct world_job before;

        reach.from_s =
            fmax(from_s, workflow_amounts_begin_many(u->x, u->plan, task, &before));
        first_s = board_first_nodes(u->x->board, job, &reach);
        workflow_amounts_end_many(u->x, task, &before);
        return first_s;
    }
    for (size_t c = 0; c < j->choice_count; c++)
        for (size_t p = 0; p < w->resource_count && first_s > from_s; p++) {
            double ready_s;

            if (!may_run_at(w, j, c, p))
                continue;
            ready_s = fmax(from_s, ready_at(u, task, p));
            if (ready_s < first_s)
                first_s = fmin(
                    first_s, board_fit(u->x->board, job, c, p, ready_s, first_s).start_s);
        }
    return first_s;
}

/* The least time from from_s on at which each member alone could start. */
static double all_could_start(const struct at_hand *u, double from_s)
{
    double before_s;

    do {
        before_s = from_s;
        for (size_t i = 0; i < u->count && from_s < HUGE_VAL; i++)
            from_s = first_start(u, u->tasks[i], from_s);
        if (budget_step(u->x->w->budget, u->count))
            return HUGE_VAL;
    } while (from_s > before_s && from_s < HUGE_VAL);
    return from_s;
}

/* Where it starts at at_s and runs shortest; ties: the first resource. */
static struct board_spot fastest_at(const struct at_hand *u, size_t task, double at_s)
{
    const struct world *w = u->x->w;
    size_t job = u->x->job_of[task];
    const struct world_job *j = &w->jobs[job];
    struct board_spot best = board_nowhere();

    if (j->nodes > 1) {
        const struct board_reach then = {.from_s = at_s, .latest_s = at_s};
        struct world_job before;

        if (workflow_amounts_begin_many(u->x, u->plan, task, &before) <= at_s)
            best = board_fit_nodes(u->x->board, job, &then);
        workflow_amounts_end_many(u->x, task, &before);
        return best;
    }
    best.run_s = HUGE_VAL;
    budget_step(w->budget, w->resource_count);
    for (size_t c = 0; c < j->choice_count; c++)
        for (size_t p = 0; p < w->resource_count; p++) {
            double run_s = world_run_s(w, j, p);
            struct board_spot spot;

            if (!may_run_at(w, j, c, p) || run_s > best.run_s ||
                (run_s >= best.run_s && best.positions &&
                 w->resources[p].index >= w->resources[best.positions[0]].index) ||
                ready_at(u, task, p) > at_s)
                continue;
            spot = board_fit(u->x->board, job, c, p, at_s, at_s);
            if (spot.positions && spot.start_s <= at_s)
                best = spot;
        }
    return best;
}

/* All members start at at_s, or none has a place. */
static bool start_at(const struct at_hand *u, double at_s)
{
    for (size_t i = 0; i < u->count; i++) {
        struct board_spot spot = fastest_at(u, u->tasks[i], at_s);

        if (budget_step(u->x->w->budget, 8) || !spot.positions ||
            spot.done_s == HUGE_VAL) {
            give_back(u);
            return false;
        }
        workflow_amounts_take(u->x, u->plan, u->tasks[i], &spot);
    }
    return true;
}

/* The first time after at_s at which something ends, or data of a member arrive. */
static double next_time(const struct at_hand *u, double at_s)
{
    const struct world *w = u->x->w;
    double next_s = board_next_end(u->x->board, at_s);

    for (size_t i = 0; i < u->count; i++) {
        budget_step(w->budget, w->resource_count);
        for (size_t p = 0; p < w->resource_count; p++) {
            double ready_s = ready_at(u, u->tasks[i], p);

            if (ready_s > at_s)
                next_s = fmin(next_s, ready_s);
        }
    }
    return next_s;
}

static double last_time(const struct at_hand *u)
{
    double last_s = board_next_end(u->x->board, HUGE_VAL);

    for (size_t i = 0; i < u->count; i++) {
        budget_step(u->x->w->budget, u->x->w->resource_count);
        for (size_t p = 0; p < u->x->w->resource_count; p++) {
            double ready_s = ready_at(u, u->tasks[i], p);

            if (ready_s < HUGE_VAL)
                last_s = fmax(last_s, ready_s);
        }
    }
    return last_s;
}

static bool place_gang(const struct at_hand *u)
{
    double at_s = 0;

    for (size_t tries = 0; tries < TIMES_MAX; tries++) {
        at_s = all_could_start(u, at_s);
        if (at_s == HUGE_VAL)
            return false;
        if (start_at(u, at_s))
            return true;
        at_s = next_time(u, at_s);
    }
    at_s = all_could_start(u, last_time(u));
    return at_s < HUGE_VAL && start_at(u, at_s);
}

/* By falling share of a capacity. */
static void gang_turn(struct at_hand *u, struct arena *a)
{
    size_t *jobs = NEW(a, size_t, u->count);

    u->count = board_members_by_share(u->x->board, u->group, jobs);
    for (size_t i = 0; i < u->count; i++)
        jobs[i] = u->x->task_of[jobs[i]];
    u->tasks = jobs;
    if (!place_gang(u))
        refuse_rest(u, WORLD_WAIT_GROUP_GANG);
}

/* ---- pack ---- */

static struct pack_worth place_on(const struct at_hand *u, size_t value)
{
    struct workflow_amounts *x = u->x;
    bool one = u->g->key == GROUP_BY_RESOURCE;
    struct pack_worth worth = {.value = value, .first_index = SIZE_MAX};

    board_set_pack_value(x->board, u->group, value);
    for (size_t p = 0; p < x->w->resource_count; p++)
        if (group_value(x->w, u->g, p) == value &&
            x->w->resources[p].index < worth.first_index)
            worth.first_index = x->w->resources[p].index;
    for (size_t i = 0; i < u->count; i++) {
        struct board_spot spot =
            workflow_amounts_best(x, u->plan, u->tasks[i], one ? value : 0,
                                  one ? value + 1 : x->w->resource_count);

        if (budget_step(x->w->budget, one ? 8 : x->w->resource_count))
            break;
        if (!spot.positions)
            continue;
        workflow_amounts_take(x, u->plan, u->tasks[i], &spot);
        pack_worth_add(&worth, spot.done_s);
    }
    return worth;
}

static void pack_turn(const struct at_hand *u)
{
    struct board *b = u->x->board;
    size_t fixed = board_pack_value(b, u->group);
    size_t count = group_value_count(u->x->w, u->g);
    struct pack_worth best = {0};

    for (size_t v = 0; v < count && !budget_step(u->x->w->budget, 1); v++) {
        struct pack_worth worth;

        if (fixed != PACK_ANYWHERE && fixed != v)
            continue;
        worth = place_on(u, v);
        give_back(u);
        if (worth.placed_count &&
            (!best.placed_count || pack_is_worth_more(&worth, &best)))
            best = worth;
    }
    board_set_pack_value(b, u->group, fixed);
    if (best.placed_count)
        place_on(u, best.value);
    refuse_rest(u, WORLD_WAIT_GROUP_PACK);
}

/* ---- the turn ---- */

/* Tells the children of the task that are members, or those that are not. */
static void release(const struct workflow_amounts *x, size_t task, bool members,
                    struct workflow_queue *queue)
{
    const struct workflow_problem *problem = x->problem;

    for (size_t c = problem->child_first[task]; c < problem->child_first[task + 1]; c++) {
        size_t child = problem->edges[problem->child_edge[c]].child;
        bool member =
            workflow_is_open(problem, child) && unit_of(x, child) == unit_of(x, task);

        budget_step(problem->in->budget, 1);
        if (member == members)
            workflow_queue_release(queue, child);
    }
}

void workflow_amounts_unit_turn(struct workflow_amounts *x, struct workflow_plan *plan,
                                struct workflow_amounts_units *units, size_t task,
                                struct workflow_queue *queue)
{
    size_t group = x->w->jobs[x->job_of[task]].group;
    struct unit *unit = &units->of[group];
    struct at_hand u = {.x = x,
                        .plan = plan,
                        .g = &x->w->groups[group],
                        .group = group,
                        .tasks = unit->tasks};

    unit->tasks[unit->count++] = task;
    release(x, task, true, queue);
    if (unit->count < u.g->job_count)
        return;
    u.count = unit->count;
    if (u.g->policy == GROUP_GANG)
        gang_turn(&u, units->scratch);
    else
        pack_turn(&u);
    for (size_t i = 0; i < unit->count; i++) {
        budget_step(x->w->budget, 1);
        release(x, unit->tasks[i], false, queue);
    }
}

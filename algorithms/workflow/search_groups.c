/* workflow/search_groups.c - moves of several tasks at once.
 *
 * With u before the group and v behind it on processor p, and its tasks 1..m in order,
 * one directly behind the other, their ends are
 *
 *     f(k) = max(f(k - 1), ready(k, p)) + time(k, p),   f(0) = finish(u)
 *
 * where ready counts parents outside the group only. The longest way through the group is
 *
 *     est = max( max over k: f(k) + follows(k, p),  f(m) + rest(v) )
 *
 * As f(k) is the larger of finish(u) + the times up to k and what the ready times alone
 * make of it, all but u and v is worked out once for each processor: a place costs O(1).
 *
 * An edge is heavy if its data takes longer than half the mean edge's, and than two mean
 * tasks: where transfers are as short as tasks, groups took time and gained nothing.
 *
 * Source: spec search.md 9.1. Deviations: there a group is a task with its direct
 * neighbours on both sides, here what hangs on those comes, too, but in one direction;
 * there one move in eight is one of a group, here the better one of both is made.
 * Intervals in which a processor is blocked are left out of the estimate.
 */
#include "algorithms/workflow/search_groups.h"

#define HEAVY_OF_TRANSFERS 0.5
#define HEAVY_OF_TIMES     2

void workflow_groups_make(struct workflow_groups *groups,
                          const struct workflow_state *state, struct arena *a)
{
    const struct workflow_problem *problem = state->problem;
    double transfers_s = 0, times_s = 0, least_s;

    *groups = (struct workflow_groups){.state = state};
    groups->heavy = NEW(a, bool, problem->edge_count);
    groups->member = NEW(a, double, problem->task_count);
    groups->near = NEW(a, double, problem->processor_count);
    if (problem->edge_count == 0)
        return; /* nothing hangs on anything */
    for (size_t e = 0; e < problem->edge_count; e++)
        transfers_s += workflow_mean_transfer_s(problem, &problem->edges[e]);
    for (size_t i = 0; i < problem->task_count; i++)
        times_s += workflow_mean_time_s(problem, i);
    least_s = fmax(HEAVY_OF_TRANSFERS * transfers_s / (double)problem->edge_count,
                   HEAVY_OF_TIMES * times_s / (double)problem->task_count);
    for (size_t e = 0; e < problem->edge_count; e++) {
        groups->heavy[e] =
            workflow_mean_transfer_s(problem, &problem->edges[e]) > least_s;
        groups->any = groups->any || groups->heavy[e];
    }
}

/* ---- which tasks ---- */

static bool is_member(const struct workflow_groups *groups, size_t task)
{
    return groups->member[task] == groups->number;
}

/* Takes the other end of an edge in, if it is heavy and on the same processor. */
static void take_in(struct workflow_groups *groups, const struct workflow_arc *arc,
                    struct workflow_group *group)
{
    const struct workflow_state *state = groups->state;

    if (group->count == WORKFLOW_GROUP_MOST || !groups->heavy[arc->edge] ||
        state->place[arc->task] == WORKFLOW_NONE ||
        state->spot[arc->task] == WORKFLOW_NONE ||
        state->at[arc->task] != state->at[group->task[0]] || is_member(groups, arc->task))
        return;
    groups->member[arc->task] = groups->number;
    group->task[group->count++] = arc->task;
}

static void make_group(struct workflow_groups *groups, size_t task,
                       enum workflow_direction direction, struct workflow_group *group)
{
    const struct workflow_state *state = groups->state;
    bool down = direction == WORKFLOW_CHILDREN;
    const size_t *first =
        down ? state->problem->child_first : state->problem->parent_first;
    const struct workflow_arc *arcs = down ? state->down : state->up;

    groups->number++;
    groups->member[task] = groups->number;
    group->task[0] = task;
    group->count = 1;
    for (size_t k = 0; k < group->count; k++)
        for (size_t c = first[group->task[k]]; c < first[group->task[k] + 1]; c++)
            take_in(groups, &arcs[c], group);
    for (size_t k = 1; k < group->count; k++) {
        size_t moved = group->task[k], at = k;

        for (; at > 0 && state->spot[group->task[at - 1]] > state->spot[moved]; at--)
            group->task[at] = group->task[at - 1];
        group->task[at] = moved;
    }
}

/* The places of the order between which the group may be, see workflow_state_room(). */
static void group_room(const struct workflow_groups *groups,
                       const struct workflow_group *group, size_t *low, size_t *high)
{
    const struct workflow_state *state = groups->state;
    const struct workflow_problem *problem = state->problem;

    *low = 0;
    *high = state->n;
    for (size_t k = 0; k < group->count; k++) {
        size_t task = group->task[k];

        for (size_t e = problem->parent_first[task]; e < problem->parent_first[task + 1];
             e++) {
            size_t place = state->place[state->up[e].task];

            if (place != WORKFLOW_NONE && place + 1 > *low &&
                !is_member(groups, state->up[e].task))
                *low = place + 1;
        }
        for (size_t c = problem->child_first[task]; c < problem->child_first[task + 1];
             c++) {
            size_t place = state->place[state->down[c].task];

            if (place < *high && !is_member(groups, state->down[c].task))
                *high = place;
        }
    }
}

/* ---- how good it is somewhere ---- */

/* The group on a processor, but for its neighbours there. */
struct passage {
    double time_s;        /* of all its tasks */
    double free_s;        /* end of the last, if the processor is free */
    double free_way_s;    /* the longest way through any task, likewise */
    double waiting_way_s; /* the same, from the start of the first, if that is what all
                             wait for */
};

static double ready_s(const struct workflow_groups *groups, size_t task, size_t p)
{
    const struct workflow_state *state = groups->state;
    const struct workflow_problem *problem = state->problem;
    double ready = state->staged[task] ? workflow_ready_s(problem, task, p)
                                       : problem->release_s[task];

    for (size_t e = problem->parent_first[task]; e < problem->parent_first[task + 1];
         e++) {
        const struct workflow_arc *arc = &state->up[e];

        if (!is_member(groups, arc->task))
            ready = fmax(ready, state->finish_s[arc->task] +
                                    workflow_state_transfer_s(state, arc,
                                                              state->at[arc->task], p));
    }
    return ready;
}

static double follows_s(const struct workflow_groups *groups, size_t task, size_t p)
{
    const struct workflow_state *state = groups->state;
    const struct workflow_problem *problem = state->problem;
    double longest_s = 0;

    for (size_t c = problem->child_first[task]; c < problem->child_first[task + 1]; c++) {
        const struct workflow_arc *arc = &state->down[c];

        if (state->place[arc->task] != WORKFLOW_NONE && !is_member(groups, arc->task))
            longest_s =
                fmax(longest_s,
                     state->rest_s[arc->task] +
                         workflow_state_transfer_s(state, arc, p, state->at[arc->task]));
    }
    return longest_s;
}

/* False: some task cannot run there, or takes no time, or a way is not below most_s. */
static bool pass(const struct workflow_groups *groups, const struct workflow_group *group,
                 size_t p, double most_s, struct passage *x)
{
    *x = (struct passage){0};
    for (size_t k = 0; k < group->count; k++) {
        size_t task = group->task[k];
        double time_s = workflow_state_time_s(groups->state, task, p), rest_s;

        if (!(time_s > 0 && time_s < HUGE_VAL))
            return false;
        rest_s = follows_s(groups, task, p);
        x->time_s += time_s;
        x->free_s = fmax(x->free_s, ready_s(groups, task, p)) + time_s;
        x->free_way_s = fmax(x->free_way_s, x->free_s + rest_s);
        x->waiting_way_s = fmax(x->waiting_way_s, x->time_s + rest_s);
        if (x->free_way_s >= most_s)
            return false;
    }
    return true;
}

/* All places there that may be better than the best; returns their number. */
static size_t weigh_places(const struct workflow_groups *groups,
                           const struct workflow_group *group, size_t p, size_t low,
                           size_t high, struct workflow_group_move *best)
{
    const struct workflow_state *state = groups->state;
    const struct workflow_lane *lane = &state->lanes[p];
    struct passage x;
    size_t weighed = 0;

    if (!pass(groups, group, p, best->est_s, &x))
        return 1; /* none of them */
    for (size_t spot = workflow_state_find(state, p, low); spot <= lane->count;
         spot++, weighed++) {
        double before_s = 0, est_s;

        if (spot > 0 && state->place[lane->task[spot - 1]] >= high)
            break;
        if (spot > 0)
            before_s = state->finish_s[lane->task[spot - 1]];
        if (before_s + x.waiting_way_s >= best->est_s)
            break; /* who stands before later places ends later still */
        est_s = fmax(before_s + x.waiting_way_s, x.free_way_s);
        if (spot < lane->count)
            est_s = fmax(est_s, fmax(before_s + x.time_s, x.free_s) +
                                    state->rest_s[lane->task[spot]]);
        if (est_s < best->est_s)
            *best = (struct workflow_group_move){*group, {p, spot}, low, est_s};
    }
    return weighed;
}

/* On a processor that was not looked at for this group. */
static size_t weigh_on(struct workflow_groups *groups, const struct workflow_group *group,
                       size_t p, const size_t *room, struct workflow_group_move *best)
{
    const struct workflow_problem *problem = groups->state->problem;

    if (p >= problem->processor_count || groups->near[p] == groups->number ||
        !problem->processors[p].usable)
        return 0;
    groups->near[p] = groups->number;
    return weigh_places(groups, group, p, room[0], room[1], best);
}

size_t workflow_groups_weigh(struct workflow_groups *groups, size_t task,
                             enum workflow_direction direction, double *units,
                             struct workflow_group_move *best)
{
    const struct workflow_state *state = groups->state;
    const struct workflow_problem *problem = state->problem;
    struct workflow_group group;
    size_t room[2], weighed = 0;

    if (!groups->any || state->spot[task] == WORKFLOW_NONE)
        return 0;
    make_group(groups, task, direction, &group);
    if (group.count < 2)
        return 0;
    group_room(groups, &group, &room[0], &room[1]);
    if (room[0] > room[1])
        return 0;
    groups->near[state->at[task]] = groups->number; /* it stays there otherwise */
    for (size_t k = 0; k < group.count; k++) {
        size_t i = group.task[k];

        for (size_t e = problem->parent_first[i]; e < problem->parent_first[i + 1]; e++)
            weighed += weigh_on(groups, &group, state->at[state->up[e].task], room, best);
        for (size_t c = problem->child_first[i]; c < problem->child_first[i + 1]; c++)
            if (state->place[state->down[c].task] != WORKFLOW_NONE)
                weighed +=
                    weigh_on(groups, &group, state->at[state->down[c].task], room, best);
    }
    *units += (double)weighed;
    return weighed;
}

/* ---- the move ---- */

/* Members behind the new place come from the first to the last, those before it from the
 * last to the first: so none passes another. */
void workflow_group_put(struct workflow_state *state,
                        const struct workflow_group_move *move)
{
    const struct workflow_group *group = &move->group;
    const struct workflow_lane *lane = &state->lanes[move->to.processor];
    size_t p = move->to.processor, place = move->low, spot = move->to.spot, split = 0;

    if (spot > 0 && state->place[lane->task[spot - 1]] + 1 > place)
        place = state->place[lane->task[spot - 1]] + 1;
    while (split < group->count && state->place[group->task[split]] < place)
        split++;
    for (size_t k = split; k-- > 0; place = state->place[group->task[k]])
        workflow_state_put(state, group->task[k], (struct workflow_spot){p, spot}, place);
    spot += split;
    place = split > 0 ? state->place[group->task[split - 1]] + 1 : place;
    for (size_t k = split; k < group->count; k++, spot++, place++)
        workflow_state_put(state, group->task[k], (struct workflow_spot){p, spot}, place);
}

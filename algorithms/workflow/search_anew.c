/* workflow/search_anew.c - a part of a schedule placed anew.
 *
 * Source: ours; the principle is that of large neighbourhood search (Shaw 1998).
 * Cost: O(tasks + edges + part * processors * (parents + children)).
 */
#include "algorithms/workflow/search_anew.h"

#include "models/base/rng.h"

#include <string.h>

enum { PART_LEAST = 10, PART_MOST = 40 };

#define NOISE 0.3 /* of the numbers that are compared, at most */

void workflow_anew_make(struct workflow_anew *anew, struct workflow_state *state,
                        struct arena *a)
{
    const struct workflow_problem *problem = state->problem;

    *anew = (struct workflow_anew){.state = state};
    anew->drawn = NEW(a, bool, problem->task_count);
    anew->list = NEW(a, size_t, state->n);
    anew->finish_s = NEW(a, double, problem->task_count);
    anew->free_s = NEW(a, double, problem->processor_count);
    workflow_order_make(problem, &anew->order, a);
}

/* ---- which tasks ---- */

static void draw(struct workflow_anew *anew, size_t task)
{
    if (anew->drawn[task] || anew->state->place[task] == WORKFLOW_NONE)
        return;
    anew->drawn[task] = true;
    anew->list[anew->count++] = task;
}

/* From a place of a list to its end, then backwards from there. */
static void draw_around(struct workflow_anew *anew, const size_t *list, size_t count,
                        size_t from, size_t wanted)
{
    for (size_t k = from; k < count && anew->count < wanted; k++)
        draw(anew, list[k]);
    for (size_t k = from; k-- > 0 && anew->count < wanted;)
        draw(anew, list[k]);
}

static void draw_neighbours(struct workflow_anew *anew, size_t task, size_t wanted)
{
    const struct workflow_state *state = anew->state;
    const struct workflow_problem *problem = state->problem;

    draw(anew, task);
    for (size_t k = 0; k < anew->count; k++) {
        size_t i = anew->list[k];

        for (size_t e = problem->parent_first[i];
             e < problem->parent_first[i + 1] && anew->count < wanted; e++)
            draw(anew, state->up[e].task);
        for (size_t c = problem->child_first[i];
             c < problem->child_first[i + 1] && anew->count < wanted; c++)
            draw(anew, state->down[c].task);
    }
}

static void draw_part(struct workflow_anew *anew, struct rng *rng)
{
    enum { STRETCH, LANE, NEIGHBOURS, KINDS };
    const struct workflow_state *state = anew->state;
    size_t wanted = PART_LEAST + rng_index(rng, PART_MOST - PART_LEAST + 1);
    size_t place = rng_index(rng, state->n), task = state->order[place];
    size_t kind = rng_index(rng, KINDS);

    for (size_t k = 0; k < anew->count; k++)
        anew->drawn[anew->list[k]] = false;
    anew->count = 0;
    if (kind == STRETCH)
        draw_around(anew, state->order, state->n, place, wanted);
    else if (kind == LANE && state->spot[task] != WORKFLOW_NONE)
        draw_around(anew, state->lanes[state->at[task]].task,
                    state->lanes[state->at[task]].count, state->spot[task], wanted);
    else
        draw_neighbours(anew, task, wanted);
}

/* ---- where to ---- */

/* Its start on p behind what is placed there so far. */
static double start_s(const struct workflow_anew *anew, size_t task, size_t p)
{
    const struct workflow_state *state = anew->state;
    const struct workflow_problem *problem = state->problem;
    double ready_s = state->staged[task] ? workflow_ready_s(problem, task, p)
                                         : problem->release_s[task];

    for (size_t e = problem->parent_first[task]; e < problem->parent_first[task + 1];
         e++) {
        const struct workflow_arc *arc = &state->up[e];
        size_t from = anew->order.processor[arc->task];

        ready_s = fmax(ready_s, anew->finish_s[arc->task] +
                                    workflow_state_transfer_s(state, arc, from, p));
    }
    return workflow_start_s(problem, p, ready_s, anew->free_s[p],
                            workflow_state_time_s(state, task, p));
}

/* What must follow it; a child that has no place yet may come to p. */
static double follows_s(const struct workflow_anew *anew, size_t task, size_t p)
{
    const struct workflow_state *state = anew->state;
    const struct workflow_problem *problem = state->problem;
    double longest_s = 0;

    for (size_t c = problem->child_first[task]; c < problem->child_first[task + 1]; c++) {
        const struct workflow_arc *arc = &state->down[c];
        double way_s = state->rest_s[arc->task];

        if (state->place[arc->task] == WORKFLOW_NONE)
            continue;
        if (!anew->drawn[arc->task])
            way_s += workflow_state_transfer_s(state, arc, p,
                                               anew->order.processor[arc->task]);
        longest_s = fmax(longest_s, way_s);
    }
    return longest_s;
}

/* Where it is, if it can run nowhere else. */
static size_t choose(const struct workflow_anew *anew, size_t task, struct rng *rng,
                     const size_t *choices, size_t count)
{
    const struct workflow_state *state = anew->state;
    size_t best = anew->order.processor[task];
    double best_s = HUGE_VAL;

    for (size_t k = 0; k < count; k++) {
        size_t p = choices[k];
        double time_s = workflow_state_time_s(state, task, p), way_s;

        if (!(time_s < HUGE_VAL))
            continue;
        way_s = start_s(anew, task, p) + time_s + follows_s(anew, task, p);
        way_s *= 1 + NOISE * rng_uniform(rng);
        if (way_s < best_s) {
            best_s = way_s;
            best = p;
        }
    }
    return best;
}

void workflow_anew_place(struct workflow_anew *anew, struct rng *rng,
                         workflow_choices_fn *choices, void *context)
{
    struct workflow_state *state = anew->state;
    const struct workflow_problem *problem = state->problem;
    struct workflow_order *order = &anew->order;

    draw_part(anew, rng);
    memcpy(order->task, state->order, state->n * sizeof(*order->task));
    memcpy(order->processor, state->at, problem->task_count * sizeof(*order->processor));
    memcpy(anew->finish_s, state->finish_s, problem->task_count * sizeof(double));
    memset(anew->free_s, 0, problem->processor_count * sizeof(double));
    for (size_t k = 0; k < state->n; k++) {
        size_t task = order->task[k], *p = &order->processor[task], count;
        double time_s;

        if (anew->drawn[task]) {
            const size_t *list = choices(context, task, &count);

            *p = choose(anew, task, rng, list, count);
            state->units += 2 * (double)count;
        }
        time_s = workflow_state_time_s(state, task, *p);
        anew->finish_s[task] = start_s(anew, task, *p) + time_s;
        if (time_s > 0)
            anew->free_s[*p] = anew->finish_s[task];
    }
    state->units += (double)(state->n + problem->edge_count);
    workflow_state_load(state, order);
}

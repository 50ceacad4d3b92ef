/* workflow/search_state.h - the present schedule of a search, and its times.
 *
 * An order of the tasks (order.h), and for each processor the tasks that take time there,
 * in that order: its lane. Of every task its start, its finish, and its rest: the longest
 * way from its start to the end of all, over its children and the next one of its lane.
 * A move changes one task; times are worked out again only where they change.
 */
#ifndef GRIDPLAN_WORKFLOW_SEARCH_STATE_H
#define GRIDPLAN_WORKFLOW_SEARCH_STATE_H

#include "algorithms/workflow/search_parts.h"

struct workflow_lane {
    size_t *task;
    size_t count, room;
};

/* A dependency from one of its ends. */
struct workflow_arc {
    uint32_t task, edge; /* the other end; of the problem */
    double transfer_s;   /* between different resources; NAN: it follows from links */
};

/* A task that was moved, and who came next to it there and before that; WORKFLOW_NONE. */
struct workflow_moved {
    size_t task, next, previous, old_next, old_previous;
};
enum { WORKFLOW_MOVED_MOST = 4 };

struct workflow_state {
    const struct workflow_problem *problem;
    size_t n;      /* tasks in the order: open, and with a place */
    size_t *order; /* [n] */
    size_t *place; /* [task]: where it is in the order; WORKFLOW_NONE: not in it */
    size_t *at;    /* [task]: its processor, also of those that have begun, where it may
                      be WORKFLOW_EVERYWHERE; WORKFLOW_NONE: no place */
    size_t *spot;  /* [task]: where it is in its lane; WORKFLOW_NONE: takes no time */
    size_t *before, *behind;     /* [task]: its neighbours there; WORKFLOW_NONE */
    struct workflow_lane *lanes; /* [processor] */
    double *start_s, *finish_s;  /* [task] */
    double *rest_s; /* [task]: run time, and what must follow it; -HUGE_VAL: not in it */
    double *here_s; /* [task]: run time where it is */
    double makespan_s; /* HUGE_VAL: some task finds no time */
    double begun_s;    /* last finish of what has begun */
    double units;      /* of work, since it was asked last */

    const bool *staged; /* [task]: its inputs besides those of parents are moved */
    struct workflow_arc *up, *down; /* as parent_first and child_first of the problem */
    bool alone;                     /* one processor each resource */
    double *time_s;                 /* [task * processors + processor]; NULL: too many */
    size_t *resource_of;            /* [processor] */
    size_t *ends;                   /* tasks without children that may take no time */
    size_t end_count;
    uint64_t *heads_due, *rests_due; /* a bit for each place of the order */
    struct workflow_moved moved[WORKFLOW_MOVED_MOST]; /* since times were worked out */
    size_t moved_count;
    struct arena *arena;
};

/* Where a task could go: before the one at `spot` of the processor's lane, itself still
 * counted; no matter where it takes no time. */
struct workflow_spot {
    size_t processor, spot;
};

/* Room, and tables. s->spent: the time is up, and it is of no use. */
void workflow_state_make(struct workflow_state *state, struct workflow_searching *s);

/* Takes an order over, all times from scratch. */
void workflow_state_load(struct workflow_state *state,
                         const struct workflow_order *order);

/* Moves a task, in the order not before place `low`. The spot must be allowed: behind all
 * its parents and before all its children. After at most WORKFLOW_MOVED_MOST of them the
 * times have to be worked out. */
void workflow_state_put(struct workflow_state *state, size_t task,
                        struct workflow_spot to, size_t low);
void workflow_state_work_out(struct workflow_state *state);

/* Places of the order that the task may not pass: its last parent's + 1, and its first
 * child's (or n). */
void workflow_state_room(const struct workflow_state *state, size_t task, size_t *low,
                         size_t *high);

/* First spot of a lane whose task is at place `low` of the order or behind. */
size_t workflow_state_find(const struct workflow_state *state, size_t processor,
                           size_t low);

/* What the makespan hangs on, last task first; ties by chance. Returns their number. */
struct rng;
size_t workflow_state_critical(const struct workflow_state *state, struct rng *rng,
                               size_t *path);

static inline double workflow_state_time_s(const struct workflow_state *state,
                                           size_t task, size_t p)
{
    return state->time_s ? state->time_s[task * state->problem->processor_count + p]
                         : workflow_time_s(state->problem, task, p);
}

/* workflow_transfer_s(), with the common cases here. `to` is a processor. */
static inline double workflow_state_transfer_s(const struct workflow_state *state,
                                               const struct workflow_arc *arc,
                                               size_t from, size_t to)
{
    if (from == to || from == WORKFLOW_EVERYWHERE)
        return 0;
    if (isnan(arc->transfer_s))
        return workflow_transfer_s(state->problem, &state->problem->edges[arc->edge],
                                   from, to);
    return !state->alone && state->resource_of[from] == state->resource_of[to]
               ? 0
               : arc->transfer_s;
}

/* When its release, inputs and parents let the task start on p. */
static inline double workflow_state_ready_s(const struct workflow_state *state,
                                            size_t task, size_t p)
{
    const struct workflow_problem *problem = state->problem;
    double ready_s = state->staged[task] ? workflow_ready_s(problem, task, p)
                                         : problem->release_s[task];

    for (size_t e = problem->parent_first[task]; e < problem->parent_first[task + 1];
         e++) {
        const struct workflow_arc *arc = &state->up[e];
        double arrived_s = state->finish_s[arc->task] +
                           workflow_state_transfer_s(state, arc, state->at[arc->task], p);

        ready_s = arrived_s > ready_s ? arrived_s : ready_s;
    }
    return ready_s;
}

/* The longest way from the task's end on p to the end of all, through its children. One
 * that has begun waits for nothing, and one without a place may have no processor. */
static inline double workflow_state_follows_s(const struct workflow_state *state,
                                              size_t task, size_t p)
{
    const struct workflow_problem *problem = state->problem;
    double longest_s = 0;

    for (size_t c = problem->child_first[task]; c < problem->child_first[task + 1]; c++) {
        const struct workflow_arc *arc = &state->down[c];
        double rest_s = state->rest_s[arc->task];

        if (rest_s == -HUGE_VAL)
            continue; /* not in the order */
        rest_s += workflow_state_transfer_s(state, arc, p, state->at[arc->task]);
        longest_s = rest_s > longest_s ? rest_s : longest_s;
    }
    return longest_s;
}

#endif

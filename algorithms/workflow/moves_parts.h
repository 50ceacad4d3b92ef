/* workflow/moves_parts.h - what moves of both kinds share: moves.c, where a resource runs
 * one task at a time, and amounts_moves.c, where it runs as many as fit. */
#ifndef GRIDPLAN_WORKFLOW_MOVES_PARTS_H
#define GRIDPLAN_WORKFLOW_MOVES_PARTS_H

#include "algorithms/workflow/moves.h"

#define MOVE_TRIES_MOST 16          /* places that a task is tried on */
#define MOVE_SAME       (1 + 1e-12) /* ends that count as no later */

/* A running task that may move, and its best place that is left. */
struct mover {
    size_t task, place; /* WORKFLOW_NONE: none */
    double here_s, there_s, transfer_s;
    size_t tried[MOVE_TRIES_MOST], tries; /* places */
};

/* All running tasks that have done something; task order. */
struct mover *movers_list(const struct workflow_problem *problem, size_t *count,
                          struct arena *a);

/* Open tasks with a place, as the plan starts them. */
size_t *movers_order(const struct workflow_problem *problem,
                     const struct workflow_plan *plan, size_t *count, struct arena *a);

/* From when an open task is in the way of others where the plan has it: its start, or, if
 * its parents are done, when it may be told to wait there for its inputs. O(parents). */
double movers_held_from_s(const struct workflow_problem *problem,
                          const struct workflow_plan *plan, size_t task);

/* When the task's data are on processor p, with tasks where `processor` says, done at
 * `finish_s`; [task]. */
double mover_ready_s(const struct workflow_problem *problem, size_t task, size_t p,
                     const size_t *processor, const double *finish_s);

/* Seconds until the task would be done on a processor, HUGE_VAL: never; *transfer_s:
 * part of it. */
double mover_there_s(const struct workflow_problem *problem,
                     const struct workflow_move_rules *rules, size_t task, size_t to,
                     double *transfer_s);

bool mover_pays(const struct workflow_move_rules *rules, double here_s, double there_s);

bool mover_was_tried(const struct mover *m, size_t place);

/* The mover that gains most (tie: task order); WORKFLOW_NONE. */
size_t movers_best(const struct mover *movers, size_t count);

/* What is told of a move, the `number`-th from 0. */
struct workflow_action mover_action(const struct workflow_problem *problem,
                                    const struct mover *m, size_t number);

#endif

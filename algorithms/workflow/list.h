/* workflow/list.h - what the list schedulers share: ranks, a queue, the best place.
 *
 *     rank_u(i) = wbar(i) + max over children j (cbar(i,j) + rank_u(j))
 *     rank_d(i) = max over parents j (rank_d(j) + wbar(j) + cbar(j,i))
 *
 * over the tasks that have not begun; a parent that has counts in rank_d with its end,
 * from now. Source: workflows.md 8.1; Topcuoglu, Hariri, Wu 2002.
 */
#ifndef GRIDPLAN_WORKFLOW_LIST_H
#define GRIDPLAN_WORKFLOW_LIST_H

#include "algorithms/workflow/problem.h"

/* rank_u and, unless NULL, rank_d of all tasks. O(tasks + edges). */
void workflow_ranks(const struct workflow_problem *problem, double **up, double **down,
                    struct arena *a);

/* Lowers the priorities of deferred tasks below those of all others. O(tasks). */
void workflow_defer(const struct workflow_problem *problem, double *priority);

/* Tasks whose parents are all planned: largest priority first (tie: lowest number). */
struct workflow_queue {
    const struct workflow_problem *problem;
    const double *priority;
    size_t *heap, *waits_for;
    size_t count;
};

/* The entry tasks, and those whose parents have begun. */
void workflow_queue_make(const struct workflow_problem *problem, const double *priority,
                         struct workflow_queue *queue, struct arena *a);

/* The first one, whose children stay where they are until each is told of it.
 * WORKFLOW_NONE: all done. O(log tasks). */
size_t workflow_queue_take(struct workflow_queue *queue);

/* One parent of the task has been planned. */
void workflow_queue_release(struct workflow_queue *queue, size_t child);

/* The first one; its children become ready. WORKFLOW_NONE: all done. O(log tasks). */
size_t workflow_queue_pop(struct workflow_queue *queue);

/* Places the task where finish + extra is least (tie: lowest processor); `only`: on this
 * processor; WORKFLOW_NONE: any. Leaves a task without a place where there is none. */
enum error_code workflow_place_best(const struct workflow_problem *problem,
                                    struct workflow_plan *plan, size_t task, size_t only,
                                    const double *extra_s, struct arena *a);

/* Is the time for lists up, after so many units of work (tick.h)? Marks the plan then. */
bool workflow_cut(struct workflow_plan *plan, double units);

/* If the plan is cut: a place in haste for what has none, as long as the whole budget
 * lasts: the first of a few processors, those of its parents among them; then processors
 * in turn. The last call of every list policy. */
enum error_code workflow_place_rest(const struct workflow_problem *problem,
                                    struct workflow_plan *plan, struct arena *a);

#endif

/* workflow/symmetry.h - processors and tasks that can be exchanged for each other.
 *
 * Two processors are equal if every task takes the same time on both, can be there at the
 * same time, and moves its data alike from, to and between them, and if they are blocked
 * alike. Two tasks are equal if they take the same time everywhere and have the same
 * parents and children with the same transfers. Exchanging equal ones turns a schedule
 * into one with the same end, so a search needs to look at one of both only.
 */
#ifndef GRIDPLAN_WORKFLOW_SYMMETRY_H
#define GRIDPLAN_WORKFLOW_SYMMETRY_H

#include "algorithms/workflow/problem.h"

/* same_as[p]: the lowest processor that is equal to p; without time p itself.
 * O(tasks * processors + classes * processors) where hashes differ when columns do. */
void workflow_equal_processors(const struct workflow_problem *problem,
                               struct workflow_clock *clock, size_t **same_as,
                               struct arena *a);

/* O(processors + parents + children). */
bool workflow_equal_tasks(const struct workflow_problem *problem, size_t i, size_t j);

#endif
